// What one rank hands over to the analysis of all: who it is, its collectives, what it did between
// them, and its graph contracted to the entries and exits of collectives (docs/models/ranks.md).
// Made from one Trace; everything across ranks is computed from these alone.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyze/critical_path/solve.h"
#include "ranks/values/collective.h"
#include "trace/trace.h"

namespace perflab::ranks {

/// Index into RankSummary::names. No name.
using Name = std::uint32_t;
inline constexpr Name kNoName = 0xFFFF'FFFF;

/// A rank is a process on an agent.
struct RankIdentity {
  trace::RankFacts facts;  ///< number, size, and the variable they are from
  std::string hostname, machine_id;
  std::int64_t pid = 0;
  std::int64_t gpu = 0;  ///< type index of the agent: the n-th GPU
  std::string gpu_name;  ///< "gfx942"
  trace::Platform platform = trace::Platform::amd;
};

/// A communicator as one rank sees it.
struct Communicator {
  KeySource key = KeySource::kernels;
  /// What the source calls it: process group, low 32 bits of the communicator's hash. Of calls and
  /// kernels, which name none: "" (matching ties them by their sequences).
  std::string id;
  std::optional<std::int64_t> size;        ///< ranks
  std::vector<std::int64_t> members = {};  ///< global ranks, where listed
  std::int64_t lane = 0;                   ///< stream (else queue) of its kernels, as recorded
};

/// One communication kernel (or several that one call launched), ordered by entry, then exit.
struct Collective {
  std::int64_t entry = 0, exit = 0;  ///< ns on the rank's clock: start and end of its kernels
  CollectiveKind kind = CollectiveKind::unknown;
  bool inside_graph = false;  ///< launched by a graph: of calls nothing is known
  std::uint32_t communicator = 0;
  Name function = kNoName;     ///< the outermost call, or what the recording names it
  Name kernel = kNoName;       ///< without arguments and template parameters
  std::uint32_t kernels = 1;   ///< of this operation
  std::uint32_t channels = 0;  ///< work-groups of the first kernel: a fingerprint
  std::optional<std::int64_t> sequence = {};    ///< the source's number within the communicator
  std::optional<std::int64_t> send_bytes = {};  ///< that this rank gives
  std::optional<std::int64_t> receive_bytes = {};
  /// Of an AllToAll that does not say among how many ranks: what it gives, and gets, each of them.
  std::optional<std::int64_t> part_bytes = {};
  Name data_type = kNoName;
  std::optional<std::int64_t> root = {}, peer = {};  ///< ranks within the communicator
};

/// Time of one kernel (by name) in a stretch.
struct KernelTime {
  Name kernel = kNoName;
  std::uint64_t dispatches = 0;
  std::int64_t time = 0;  ///< ns, sum of their durations
};

/// What the rank's GPU did between the exit of its previous collective (of any communicator; its
/// begin, for the first) and the entry of this one.
struct Work {
  std::int64_t length = 0;          ///< ns; 0 where they overlap
  std::int64_t busy = 0;            ///< ns with any kernel or copy running, communication aside
  std::int64_t copies = 0;          ///< ns, sum of copies' durations
  std::vector<KernelTime> kernels;  ///< at most four, most time first
  std::int64_t other_kernels = 0;   ///< ns of the rest
};

/// Weight of what is not there (the edges that sync=drop takes away). Sums with it are never made.
inline constexpr std::int64_t kNoPath = std::numeric_limits<std::int64_t>::min();

/// The rank's graph between its terminals, contracted without loss (max, +): for any times of
/// exits the entries and the end are those of the whole graph. Vertices are numbered: 0 the begin,
/// 1 + 2k the entry of collective k, 2 + 2k its exit, 1 + 2K the end, and after it inner vertices
/// that were kept. An edge's origin is at or before its target in `order`.
struct LocalGraph {
  struct Edge {
    std::uint32_t from = 0, to = 0;
    std::int64_t weight = 0;  ///< ns as recorded; may be negative (begins before a return)
    /// What the longest path behind it was spent on (analyze::Spent); adds up to `weight`.
    std::array<std::int64_t, analyze::kSpentKinds> spent{};
    Name kernel = kNoName;         ///< of the most kernel time on that path
    std::int64_t kernel_time = 0;  ///< ns of it
    /// Weight in each of RankSummary::scenarios; kNoPath: that scenario has no such path.
    std::vector<std::int64_t> scenarios = {};
  };
  std::uint32_t inner = 0;           ///< inner vertices
  std::vector<std::uint32_t> order;  ///< of all vertices, topological
  std::vector<Edge> edges;           ///< by place of `to` in `order`, then of `from`
};

/// The files of a recording, to know them again.
struct Origin {
  std::uint64_t bytes = 0, hash = 0;  ///< in all; XXH3 (ranks/rank/made_before.h)
  std::uint32_t ranks = 0;            ///< summaries made of the recording; 0: nothing is known
  friend bool operator==(const Origin&, const Origin&) = default;
};

/// One rank. Version: kRankSummaryVersion.
struct RankSummary {
  std::string tool_version;
  std::string options;  ///< what the command line decided, as canonical text: summaries of other
                        ///< options are not merged
  std::string file;     ///< of the recording, as it was given
  Origin origin = {};   ///< of that
  std::string guid;
  std::string synthetic;  ///< note of a made-up recording
  RankIdentity identity;
  std::int64_t begin = 0, end = 0;  ///< ns, first start and last end of the graph
  std::vector<std::string> names;
  std::vector<Communicator> communicators;
  std::vector<Collective> collectives;
  std::vector<Work> work;           ///< one per collective, and one from the last exit to the end
  std::vector<KernelTime> kernels;  ///< all kernels but communication, most time first
  std::vector<std::string> scenarios = {};  ///< --what-if of the command line, one scenario each
  LocalGraph graph;
  /// What is not there, and why: field and sentence.
  std::vector<std::pair<std::string, std::string>> missing;

  [[nodiscard]] std::uint32_t entry_vertex(std::size_t collective) const {
    return static_cast<std::uint32_t>(1 + 2 * collective);
  }
  [[nodiscard]] std::uint32_t exit_vertex(std::size_t collective) const {
    return static_cast<std::uint32_t>(2 + 2 * collective);
  }
  [[nodiscard]] std::uint32_t end_vertex() const {
    return static_cast<std::uint32_t>(1 + 2 * collectives.size());
  }
};

/// Of the file format (docs/RANKS.md "The file of a summary"); another version is refused by name.
inline constexpr std::int64_t kRankSummaryVersion = 2;

}  // namespace perflab::ranks
