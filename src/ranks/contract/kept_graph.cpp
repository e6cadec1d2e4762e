// Thinning: an edge that a longer path dominates in every lane goes, and an inner vertex with at
// most one edge in or out is replaced by its paths, so that edges never grow in number.
#include "ranks/contract/kept_graph.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace perflab::ranks {
namespace {

void join_facts(PathFacts& first, const PathFacts& second, Pieces& pieces) {
  for (std::size_t i = 0; i < first.spent.size(); ++i) first.spent[i] += second.spent[i];
  first.piece = pieces.join(first.piece, second.piece);
  first.kernels += second.kernels;
}

/// Whether every lane of `one` is at least that of `other`.
bool dominates(std::span<const std::int64_t> one, std::span<const std::int64_t> other) {
  for (std::size_t lane = 0; lane < one.size(); ++lane)
    if (one[lane] < other[lane]) return false;
  return true;
}

}  // namespace

KeptId KeptGraph::add(std::uint32_t terminal, const LabelSet& labels) {
  const auto id = static_cast<KeptId>(terminal_.size());
  PERFLAB_CHECK(id < kInnerVertex);
  terminal_.push_back(terminal);
  first_edge_.push_back(static_cast<std::uint32_t>(edges_.size()));
  end_edge_.push_back(kNoEdgeId);
  for (std::size_t i = 0; i < labels.size(); ++i)
    append(labels.root(i), id, labels.weights(i), labels.facts(i));
  return id;
}

std::uint32_t KeptGraph::append(KeptId from, KeptId to, std::span<const std::int64_t> weights,
                                const PathFacts& facts) {
  edges_.push_back({.from = from, .to = to, .facts = facts});
  weights_.insert(weights_.end(), weights.begin(), weights.end());
  PERFLAB_CHECK(edges_.size() < kNoEdgeId);
  return static_cast<std::uint32_t>(edges_.size() - 1);
}

void KeptGraph::raise_end(const LabelSet& labels) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const KeptId root = labels.root(i);
    const std::span<const std::int64_t> later = labels.weights(i);
    std::uint32_t& edge = end_edge_[root];
    if (edge == kNoEdgeId) {
      edge = static_cast<std::uint32_t>(ends_.size());
      ends_.push_back({.from = root, .to = kInnerVertex, .facts = labels.facts(i)});
      end_weights_.insert(end_weights_.end(), later.begin(), later.end());
      continue;
    }
    std::int64_t* const own = end_weights_.data() + edge * lanes_;
    if (later[0] > own[0]) ends_[edge].facts = labels.facts(i);
    for (std::size_t lane = 0; lane < lanes_; ++lane) own[lane] = std::max(own[lane], later[lane]);
  }
}

std::size_t KeptGraph::candidate(KeptId id, std::uint32_t label) {
  for (std::size_t i = 0; i < candidates_.size(); ++i)
    if (candidates_[i].id == id) return i;
  candidates_.push_back({.id = id, .label = label, .done = false});
  distances_.resize(candidates_.size() * lanes_, kNoPath);
  return candidates_.size() - 1;
}

void KeptGraph::drop_dominated(LabelSet& labels) {
  if (labels.size() < 2) return;
  candidates_.clear();
  distances_.clear();
  dropped_.assign(labels.size(), false);
  KeptId least = labels.root(0);
  for (std::uint32_t i = 0; i < labels.size(); ++i) {
    candidate(labels.root(i), i);
    least = std::min(least, labels.root(i));
  }
  // Latest vertices first: when one's turn comes, all paths to it over later ones are known.
  std::size_t open = labels.size();
  for (std::size_t turn = 0; turn < kSearch && open > 0; ++turn) {
    std::size_t next = candidates_.size();
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      if (!candidates_[i].done &&
          (next == candidates_.size() || candidates_[i].id > candidates_[next].id))
        next = i;
    if (next == candidates_.size()) break;
    candidates_[next].done = true;
    const KeptId id = candidates_[next].id;
    const std::uint32_t label = candidates_[next].label;
    std::copy_n(distances_.begin() + static_cast<std::ptrdiff_t>(next * lanes_), lanes_,
                alternative_.begin());
    if (label != kNoEdgeId) {
      --open;
      const std::span<const std::int64_t> direct = labels.weights(label);
      dropped_[label] = dominates(alternative_, direct);
      for (std::size_t lane = 0; lane < lanes_; ++lane)
        alternative_[lane] = std::max(alternative_[lane], direct[lane]);
    }
    const std::size_t past = id + 1 < first_edge_.size() ? first_edge_[id + 1] : edges_.size();
    for (std::size_t edge = first_edge_[id]; edge < past; ++edge) {
      if (edges_[edge].from < least) continue;
      const std::size_t at = candidate(edges_[edge].from, kNoEdgeId) * lanes_;
      for (std::size_t lane = 0; lane < lanes_; ++lane)
        distances_[at + lane] = std::max(distances_[at + lane],
                                         plus(alternative_[lane], weights_[edge * lanes_ + lane]));
    }
  }
  labels.drop(dropped_);
}

void KeptGraph::drop_ends() {
  // Longest paths to the end, backwards; an edge to the end goes where another way is as long.
  std::vector<std::int64_t> to_end(terminal_.size() * lanes_, kNoPath);
  std::size_t past = edges_.size();
  for (auto id = static_cast<KeptId>(terminal_.size()); id-- > 0;) {
    std::int64_t* const own = to_end.data() + id * lanes_;
    if (const std::uint32_t edge = end_edge_[id]; edge != kNoEdgeId) {
      const std::int64_t* const direct = end_weights_.data() + edge * lanes_;
      if (dominates({own, lanes_}, {direct, lanes_})) end_edge_[id] = kNoEdgeId;
      for (std::size_t lane = 0; lane < lanes_; ++lane)
        own[lane] = std::max(own[lane], direct[lane]);
    }
    for (std::size_t edge = first_edge_[id]; edge < past; ++edge) {
      std::int64_t* const from = to_end.data() + edges_[edge].from * lanes_;
      for (std::size_t lane = 0; lane < lanes_; ++lane)
        from[lane] = std::max(from[lane], plus(own[lane], weights_[edge * lanes_ + lane]));
    }
    past = first_edge_[id];
  }
}

void KeptGraph::link() {
  in_.resize(terminal_.size());
  out_.resize(terminal_.size());
  gone_.assign(terminal_.size(), false);
  for (std::uint32_t edge = 0; edge < edges_.size(); ++edge) {
    ++in_[edges_[edge].to].live;
    ++out_[edges_[edge].from].live;
  }
  for (KeptId id = 0; id < terminal_.size(); ++id) {
    in_[id].edges.reserve(in_[id].live);
    out_[id].edges.reserve(out_[id].live);
  }
  for (std::uint32_t edge = 0; edge < edges_.size(); ++edge) {
    in_[edges_[edge].to].edges.push_back(edge);
    out_[edges_[edge].from].edges.push_back(edge);
  }
}

void KeptGraph::trim(Ends& ends) {
  if (ends.edges.size() < 8 || ends.edges.size() < 2 * std::size_t{ends.live}) return;
  std::erase_if(ends.edges, [this](std::uint32_t edge) { return edges_[edge].dead; });
}

void KeptGraph::kill(std::uint32_t edge) {
  edges_[edge].dead = true;
  Ends& out = out_[edges_[edge].from];
  Ends& in = in_[edges_[edge].to];
  --out.live;
  --in.live;
  trim(out);
  trim(in);
}

std::uint32_t KeptGraph::find(KeptId from, KeptId to) {
  const bool outwards = out_[from].edges.size() < in_[to].edges.size();
  for (const std::uint32_t edge : outwards ? out_[from].edges : in_[to].edges)
    if (!edges_[edge].dead && edges_[edge].from == from && edges_[edge].to == to) return edge;
  return kNoEdgeId;
}

void KeptGraph::connect(std::uint32_t first, std::uint32_t second, KeptId to, Pieces& pieces) {
  const KeptId from = edges_[first].from;
  const bool into_end = to == kInnerVertex;
  std::vector<std::int64_t>& second_weights = into_end ? end_weights_ : weights_;
  std::vector<std::int64_t> sum(lanes_);
  for (std::size_t lane = 0; lane < lanes_; ++lane)
    sum[lane] = plus(weights_[first * lanes_ + lane], second_weights[second * lanes_ + lane]);
  PathFacts facts = edges_[first].facts;
  join_facts(facts, (into_end ? ends_ : edges_)[second].facts, pieces);
  std::uint32_t there = into_end ? end_edge_[from] : find(from, to);
  if (there == kNoEdgeId) {
    if (into_end) {
      end_edge_[from] = static_cast<std::uint32_t>(ends_.size());
      ends_.push_back({.from = from, .to = to, .facts = facts});
      end_weights_.insert(end_weights_.end(), sum.begin(), sum.end());
      return;
    }
    there = append(from, to, sum, facts);
    out_[from].edges.push_back(there);
    in_[to].edges.push_back(there);
    ++out_[from].live;
    ++in_[to].live;
    return;
  }
  std::int64_t* const own = second_weights.data() + there * lanes_;
  if (sum[0] > own[0]) (into_end ? ends_ : edges_)[there].facts = facts;
  for (std::size_t lane = 0; lane < lanes_; ++lane) own[lane] = std::max(own[lane], sum[lane]);
}

bool KeptGraph::eliminate(KeptId vertex, Pieces& pieces) {
  const bool ends = end_edge_[vertex] != kNoEdgeId;
  const std::size_t in = in_[vertex].live, out = out_[vertex].live + std::size_t{ends};
  if (in > 1 && out > 1) return false;
  std::vector<std::uint32_t> before, after;
  for (const std::uint32_t edge : in_[vertex].edges)
    if (!edges_[edge].dead) before.push_back(edge);
  for (const std::uint32_t edge : out_[vertex].edges)
    if (!edges_[edge].dead) after.push_back(edge);
  const auto is_long = [this](std::uint32_t edge) {
    return edges_[edge].facts.kernels > kMostCopied;
  };
  if (out > 1 && std::ranges::any_of(before, is_long)) return false;
  if (in > 1 && (std::ranges::any_of(after, is_long) ||
                 (ends && ends_[end_edge_[vertex]].facts.kernels > kMostCopied)))
    return false;
  around_.clear();
  for (const std::uint32_t edge : before) around_.push_back(edges_[edge].from);
  for (const std::uint32_t edge : after) around_.push_back(edges_[edge].to);
  for (const std::uint32_t first : before) {
    for (const std::uint32_t second : after) connect(first, second, edges_[second].to, pieces);
    if (ends) connect(first, end_edge_[vertex], kInnerVertex, pieces);
  }
  for (const std::uint32_t edge : before) kill(edge);
  for (const std::uint32_t edge : after) kill(edge);
  end_edge_[vertex] = kNoEdgeId;
  gone_[vertex] = true;
  return true;
}

void KeptGraph::eliminate_all(Pieces& pieces) {
  std::vector<KeptId> todo, next;
  for (KeptId id = 0; id < terminal_.size(); ++id)
    if (terminal_[id] == kInnerVertex) todo.push_back(id);
  while (!todo.empty()) {
    next.clear();
    for (auto it = todo.rbegin(); it != todo.rend(); ++it) {
      if (gone_[*it] || !eliminate(*it, pieces)) continue;
      for (const KeptId other : around_)  // they may have become thin
        if (terminal_[other] == kInnerVertex) next.push_back(other);
    }
    std::ranges::sort(next);
    const auto repeated = std::ranges::unique(next);
    next.erase(repeated.begin(), repeated.end());
    todo.swap(next);
  }
}

LocalGraph KeptGraph::finish(std::uint32_t collectives, Pieces& pieces) {
  drop_ends();
  link();
  eliminate_all(pieces);
  return write(collectives, pieces);
}

LocalGraph KeptGraph::write(std::uint32_t collectives, Pieces& pieces) {
  LocalGraph result;
  const std::uint32_t end = 1 + 2 * collectives;
  std::vector<std::uint32_t> number(terminal_.size(), kInnerVertex);
  for (KeptId id = 0; id < terminal_.size(); ++id) {
    if (gone_[id]) continue;
    number[id] = terminal_[id] == kInnerVertex ? end + 1 + result.inner++ : terminal_[id];
    result.order.push_back(number[id]);
  }
  result.order.push_back(end);
  PERFLAB_CHECK(result.order.size() == std::size_t{end} + 1 + result.inner);
  const auto write_edge = [&](const Edge& edge, std::uint32_t to,
                              std::span<const std::int64_t> lanes) {
    const Pieces::Most most = pieces.most(edge.facts.piece);
    result.edges.push_back({.from = number[edge.from],
                            .to = to,
                            .weight = lanes[0],
                            .spent = edge.facts.spent,
                            .kernel = most.kernel,
                            .kernel_time = most.time,
                            .scenarios = {lanes.begin() + 1, lanes.end()}});
  };
  std::vector<std::uint32_t> into;
  for (KeptId id = 0; id < terminal_.size(); ++id) {
    if (gone_[id]) continue;
    into.clear();
    for (const std::uint32_t edge : in_[id].edges)
      if (!edges_[edge].dead) into.push_back(edge);
    std::ranges::sort(into, {}, [this](std::uint32_t edge) { return edges_[edge].from; });
    for (const std::uint32_t edge : into) write_edge(edges_[edge], number[id], weights(edge));
  }
  for (KeptId id = 0; id < terminal_.size(); ++id)
    if (const std::uint32_t edge = end_edge_[id]; !gone_[id] && edge != kNoEdgeId)
      write_edge(ends_[edge], end, {end_weights_.data() + edge * lanes_, lanes_});
  return result;
}

}  // namespace perflab::ranks
