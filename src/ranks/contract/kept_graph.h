// The vertices that a contraction keeps, with the edges between them: built in topological order
// from labels, then thinned. Knows nothing of the graph that it came from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ranks/contract/labels.h"

namespace perflab::ranks {

/// What a kept vertex is: inner, or a terminal by its number in LocalGraph.
inline constexpr std::uint32_t kInnerVertex = 0xFFFF'FFFF;

class KeptGraph {
 public:
  /// `lanes`: weights of an edge.
  explicit KeptGraph(std::size_t lanes) : lanes_(lanes), alternative_(lanes) {}

  /// A vertex that waits for the labels; `terminal`: kInnerVertex, or its number in LocalGraph.
  KeptId add(std::uint32_t terminal, const LabelSet& labels);
  /// The end of the rank comes no earlier than the labels.
  void raise_end(const LabelSet& labels);

  /// Drops labels of an event that a longer or equal path over the others and kept vertices
  /// dominates in every lane. The search is bounded: what it does not find is kept.
  void drop_dominated(LabelSet& labels);

  [[nodiscard]] std::size_t lanes() const { return lanes_; }

  /// Eliminates what is not needed, and writes what is left. `collectives`: how many.
  LocalGraph finish(std::uint32_t collectives, Pieces& pieces);

 private:
  static constexpr std::uint32_t kNoEdgeId = 0xFFFF'FFFF;
  /// Vertices that a search for a dominating path looks at.
  static constexpr std::size_t kSearch = 32;
  /// A path of more pieces than this is never copied: walks along paths stay linear.
  static constexpr std::uint32_t kMostCopied = 256;

  struct Edge {
    KeptId from, to;
    PathFacts facts;
    bool dead = false;
  };
  /// Edges of a vertex, some of them dead.
  struct Ends {
    std::vector<std::uint32_t> edges;
    std::uint32_t live = 0;
  };
  struct Candidate {
    KeptId id;
    std::uint32_t label;  ///< of the set; kNoEdgeId: none
    bool done;
  };

  [[nodiscard]] std::span<std::int64_t> weights(std::uint32_t edge) {
    return {weights_.data() + edge * lanes_, lanes_};
  }
  std::uint32_t append(KeptId from, KeptId to, std::span<const std::int64_t> weights,
                       const PathFacts& facts);
  std::size_t candidate(KeptId id, std::uint32_t label);
  void drop_ends();
  void link();
  void eliminate_all(Pieces& pieces);
  bool eliminate(KeptId vertex, Pieces& pieces);
  void connect(std::uint32_t first, std::uint32_t second, KeptId to, Pieces& pieces);
  void kill(std::uint32_t edge);
  void trim(Ends& ends);
  [[nodiscard]] std::uint32_t find(KeptId from, KeptId to);
  [[nodiscard]] LocalGraph write(std::uint32_t collectives, Pieces& pieces);

  std::size_t lanes_;
  std::vector<std::uint32_t> terminal_;    ///< by vertex
  std::vector<std::uint32_t> first_edge_;  ///< into a vertex, while vertices are added
  std::vector<Edge> edges_;
  std::vector<std::int64_t> weights_;    ///< by edge and lane
  std::vector<std::uint32_t> end_edge_;  ///< by vertex: its edge to the end; kNoEdgeId: none
  std::vector<Edge> ends_;               ///< these edges
  std::vector<std::int64_t> end_weights_;
  std::vector<bool> gone_;  ///< by vertex
  std::vector<Ends> in_, out_;
  std::vector<KeptId> around_;  ///< neighbours of the vertex that went last
  // Of a search.
  std::vector<Candidate> candidates_;
  std::vector<std::int64_t> distances_;
  std::vector<std::int64_t> alternative_;
  std::vector<bool> dropped_;
};

}  // namespace perflab::ranks
