// Kahn's order, and passes over it.
#include "ranks/path/dag.h"

#include <algorithm>

#include "base/error.h"

namespace perflab::ranks {

void Dag::reserve(std::size_t vertices, std::size_t edges) {
  source_.reserve(vertices);
  first_edge_.reserve(vertices);
  from_.reserve(edges);
  weight_.reserve(edges);
}

VertexId Dag::add_vertex(std::int64_t time) {
  PERFLAB_CHECK(source_.size() < kNoVertex);
  source_.push_back(time);
  first_edge_.push_back(static_cast<std::uint32_t>(from_.size()));
  return static_cast<VertexId>(source_.size() - 1);
}

void Dag::add_edge(VertexId from, std::int64_t weight) {
  PERFLAB_CHECK(from_.size() < kNoEdgeInto);
  from_.push_back(from);
  weight_.push_back(weight);
}

void Dag::resolve(VertexId placeholder, VertexId first) {
  for (VertexId& from : from_)
    if (from >= placeholder) from = first + (from - placeholder);
}

std::uint32_t Dag::past_edge(VertexId vertex) const {
  return vertex + std::size_t{1} < first_edge_.size() ? first_edge_[vertex + 1]
                                                      : static_cast<std::uint32_t>(from_.size());
}

VertexId Dag::sort() {
  const std::size_t count = source_.size();
  time_.resize(count);
  std::vector<std::uint32_t> first_out(count + 1, 0), open(count);
  for (const VertexId from : from_) ++first_out[from + std::size_t{1}];
  for (std::size_t v = 0; v < count; ++v) first_out[v + 1] += first_out[v];
  std::vector<VertexId> out(from_.size());
  std::vector<std::uint32_t> next(first_out.begin(), first_out.end() - 1);
  for (VertexId v = 0; v < count; ++v) {
    open[v] = past_edge(v) - first_edge(v);
    for (std::uint32_t edge = first_edge(v); edge < past_edge(v); ++edge)
      out[next[from_[edge]]++] = v;
  }
  order_.clear();
  order_.reserve(count);
  for (VertexId v = 0; v < count; ++v)
    if (open[v] == 0) order_.push_back(v);
  for (std::size_t done = 0; done < order_.size(); ++done) {
    const VertexId v = order_[done];
    for (std::uint32_t i = first_out[v]; i < first_out[v + std::size_t{1}]; ++i)
      if (--open[out[i]] == 0) order_.push_back(out[i]);
  }
  if (order_.size() == count) return kNoVertex;
  // Whoever waits for a circle has an origin that waits too: going back, one comes onto a circle.
  VertexId v = 0;
  while (open[v] == 0) ++v;
  std::vector<bool> seen(count, false);
  while (!seen[v]) {
    seen[v] = true;
    std::uint32_t edge = first_edge(v);
    while (open[from_[edge]] == 0) ++edge;
    v = from_[edge];
  }
  return v;
}

void Dag::run_forward() {
  for (const VertexId v : order_) {
    std::int64_t time = source_[v];
    const std::uint32_t past = past_edge(v);
    for (std::uint32_t edge = first_edge(v); edge < past; ++edge)
      if (const std::int64_t from = time_[from_[edge]]; from != kNever)
        time = std::max(time, from + weight_[edge]);
    time_[v] = time;
  }
}

std::vector<std::int64_t> Dag::latest(std::span<const VertexId> sinks) const {
  std::int64_t end = kNever;
  for (const VertexId sink : sinks) end = std::max(end, time_[sink]);
  constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> latest(source_.size(), kOpen);
  for (const VertexId sink : sinks) latest[sink] = end;
  for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
    if (latest[*it] == kOpen) continue;  // holds up nothing
    const std::uint32_t past = past_edge(*it);
    for (std::uint32_t edge = first_edge(*it); edge < past; ++edge)
      latest[from_[edge]] = std::min(latest[from_[edge]], latest[*it] - weight_[edge]);
  }
  std::ranges::replace(latest, kOpen, end);
  return latest;
}

std::uint32_t Dag::binding(VertexId vertex) const {
  if (time_[vertex] == source_[vertex]) return kNoEdgeInto;
  for (std::uint32_t edge = first_edge(vertex); edge < past_edge(vertex); ++edge)
    if (time_[from_[edge]] != kNever && time_[from_[edge]] + weight_[edge] == time_[vertex])
      return edge;
  return kNoEdgeInto;
}

}  // namespace perflab::ranks
