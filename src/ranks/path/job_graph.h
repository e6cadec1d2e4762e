// The graph of all ranks: their contracted graphs, and a vertex where each matched operation is
// complete. Made anew for each what-if. Model: docs/models/ranks_path.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "ranks/path/dag.h"
#include "ranks/path/joints.h"

namespace perflab::ranks {

/// How the graph differs from the recording.
struct JobChanges {
  std::optional<std::string> scenario;              ///< stored scenario ...
  std::optional<RankIndex> scenario_rank;           ///< ... of one rank; null: of all
  std::array<double, kCollectiveKinds> transfer{};  ///< factor of transfers, by kind
  std::array<bool, kCollectiveKinds> no_wait{};     ///< by kind: exits wait for nobody
  bool balance = false;             ///< work before an operation is the mean over its ranks
  std::optional<RankIndex> median;  ///< this rank's work is the median of the others'

  JobChanges() { transfer.fill(1); }
};

class JobGraph {
 public:
  /// `joints` outlives it. find_previous() was called where `changes` has balance or median.
  /// Errors: those of load_graph; bad_input: a graph that contradicts its rank.
  static Result<JobGraph> make(const Joints& joints, const JobChanges& changes = {});

  /// Orders the graph and runs forward; false: there is a circle, through circle().
  [[nodiscard]] bool solve();
  /// Operations on the circle that solve() found; of a rank's own where nothing is matched.
  [[nodiscard]] Member circle() const;

  [[nodiscard]] const Dag& dag() const { return dag_; }
  /// Aligned, of the earliest rank; of all ranks' ends, the latest.
  [[nodiscard]] std::int64_t begin() const { return begin_; }
  [[nodiscard]] std::int64_t end() const;
  /// Ends of the ranks.
  [[nodiscard]] std::vector<VertexId> ends() const;

  /// Vertex of a rank by its number in LocalGraph.
  [[nodiscard]] VertexId vertex(RankIndex rank, std::uint32_t local) const {
    return base_[rank] + local;
  }
  [[nodiscard]] bool is_taken(RankIndex rank) const { return base_[rank] != kNoVertex; }
  [[nodiscard]] Joint joint(RankIndex rank, std::size_t collective) const {
    return joints_->joint(rank, collective);
  }
  struct Place {
    bool hub = false;
    RankIndex rank = 0;       ///< of all but hubs
    std::uint32_t local = 0;  ///< number in LocalGraph; of a hub the operation
  };
  [[nodiscard]] Place place(VertexId vertex) const;

 private:
  explicit JobGraph(const Joints& joints) : joints_(&joints) {}

  void find_expected(const JobChanges& changes);
  Result<void> add_rank(RankIndex rank, const JobChanges& changes);
  void add_simple_rank(RankIndex rank, const JobChanges& changes);
  void add_exit(RankIndex rank, std::uint32_t collective, const JobChanges& changes);
  void add_hubs();
  [[nodiscard]] std::int64_t expected_gap(RankIndex rank, std::uint32_t collective,
                                          const JobChanges& changes) const;

  /// First vertex of a rank that is taken.
  struct Start {
    VertexId vertex;
    RankIndex rank;
  };

  const Joints* joints_;
  Dag dag_;
  std::vector<VertexId> base_;  ///< by rank; kNoVertex: not taken
  std::vector<Start> starts_;
  VertexId hubs_ = 0;  ///< first one
  VertexId circle_ = kNoVertex;
  std::int64_t begin_ = 0;
  std::vector<std::int64_t> mean_gap_;  ///< by operation, for balance
  std::int64_t tail_ = 0;               ///< mean or median of the ranks' tails
};

}  // namespace perflab::ranks
