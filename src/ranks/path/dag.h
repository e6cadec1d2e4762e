// A large directed graph without circles as columns: longest paths from its sources and to its
// sinks, each in one pass. Knows nothing of ranks.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace perflab::ranks {

using VertexId = std::uint32_t;
inline constexpr VertexId kNoVertex = 0xFFFF'FFFF;

/// Time of a vertex that nothing leads to.
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

/// Vertices get their edges in their order, then sort() finds the order of passes.
/// Memory: 24 bytes a vertex and 12 an edge; 12 and 4 more while sort() runs.
class Dag {
 public:
  /// Room for about so many; what is not used is never touched.
  void reserve(std::size_t vertices, std::size_t edges);

  /// The next vertex; a source begins at `time`, others at kNever.
  VertexId add_vertex(std::int64_t time = kNever);
  /// Of the vertex that was added last: it comes at least `weight` after `from`, which may be added
  /// later.
  void add_edge(VertexId from, std::int64_t weight);

  /// Edges from `placeholder` + i come from `first` + i: for vertices whose number was not known.
  void resolve(VertexId placeholder, VertexId first);

  /// Orders the vertices. kNoVertex, or a vertex on a circle (the lowest one that has a place on
  /// one): then no pass is possible.
  [[nodiscard]] VertexId sort();

  /// Earliest times of all vertices.
  void run_forward();
  /// Latest times of all vertices, if the last of `sinks` is to come no later than at its time;
  /// that time for a vertex that leads to no sink.
  [[nodiscard]] std::vector<std::int64_t> latest(std::span<const VertexId> sinks) const;

  /// Vertices so far.
  [[nodiscard]] std::size_t vertices() const { return source_.size(); }
  [[nodiscard]] std::int64_t time(VertexId vertex) const { return time_[vertex]; }
  /// Of the edges that bind a vertex, the first; kNoEdgeInto: it is a source that nothing holds up.
  static constexpr std::uint32_t kNoEdgeInto = 0xFFFF'FFFF;
  [[nodiscard]] std::uint32_t binding(VertexId vertex) const;
  [[nodiscard]] VertexId from(std::uint32_t edge) const { return from_[edge]; }
  [[nodiscard]] std::int64_t weight(std::uint32_t edge) const { return weight_[edge]; }
  [[nodiscard]] std::uint32_t first_edge(VertexId vertex) const { return first_edge_[vertex]; }
  [[nodiscard]] std::uint32_t past_edge(VertexId vertex) const;

 private:
  std::vector<std::int64_t> source_, time_;
  std::vector<std::uint32_t> first_edge_;
  std::vector<VertexId> from_;
  std::vector<std::int64_t> weight_;
  std::vector<VertexId> order_;
};

}  // namespace perflab::ranks
