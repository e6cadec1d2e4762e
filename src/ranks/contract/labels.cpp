// Sums and maxima of labels, lane by lane.
#include "ranks/contract/labels.h"

#include <algorithm>

namespace perflab::ranks {

PieceId Pieces::add(PieceId before, Name kernel, std::int64_t time) {
  pieces_.push_back({.before = before, .second = kNoPiece, .kernel = kernel, .time = time});
  return static_cast<PieceId>(pieces_.size() - 1);
}

PieceId Pieces::join(PieceId first, PieceId second) {
  if (first == kNoPiece) return second;
  if (second == kNoPiece) return first;
  pieces_.push_back({.before = first, .second = second, .kernel = kNoName, .time = 0});
  return static_cast<PieceId>(pieces_.size() - 1);
}

Pieces::Most Pieces::most(PieceId path) {
  if (path != kNoPiece) stack_.push_back(path);
  while (!stack_.empty()) {
    const PieceId id = stack_.back();
    stack_.pop_back();
    const Piece& piece = pieces_[id];
    if (piece.before != kNoPiece) stack_.push_back(piece.before);
    if (piece.second != kNoPiece) stack_.push_back(piece.second);
    if (piece.kernel == kNoName) continue;
    if (piece.kernel >= time_of_.size()) time_of_.resize(piece.kernel + std::size_t{1}, 0);
    if (time_of_[piece.kernel] == 0) seen_.push_back(piece.kernel);
    time_of_[piece.kernel] += piece.time;
  }
  Most most;
  for (const Name name : seen_) {
    const std::int64_t time = time_of_[name];
    if (time > most.time || (time == most.time && name < most.kernel))
      most = {.kernel = name, .time = time};
    time_of_[name] = 0;
  }
  seen_.clear();
  return most;
}

void LabelSet::clear() {
  roots_.clear();
  weights_.clear();
  facts_.clear();
}

void LabelSet::set_alias(KeptId root, std::int64_t weight, analyze::Spent spent) {
  roots_.assign(1, root);
  weights_.assign(lanes_, weight);
  facts_.assign(1, {});
  facts_[0].spent[static_cast<std::size_t>(spent)] = weight;
}

void LabelSet::raise(KeptId root, std::span<const std::int64_t> weights, const PathFacts& facts) {
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    if (roots_[i] != root) continue;
    std::int64_t* const own = weights_.data() + i * lanes_;
    if (weights[0] > own[0]) facts_[i] = facts;
    for (std::size_t lane = 0; lane < lanes_; ++lane)
      own[lane] = std::max(own[lane], weights[lane]);
    return;
  }
  roots_.push_back(root);
  weights_.insert(weights_.end(), weights.begin(), weights.end());
  facts_.push_back(facts);
}

void LabelSet::raise_all(const LabelSet& other, std::span<const std::int64_t> lag,
                         analyze::Spent spent) {
  sum_.resize(lanes_);
  for (std::size_t i = 0; i < other.size(); ++i) {
    const std::int64_t* const weights = other.weights_.data() + i * lanes_;
    for (std::size_t lane = 0; lane < lanes_; ++lane) sum_[lane] = plus(weights[lane], lag[lane]);
    PathFacts facts = other.facts_[i];
    facts.spent[static_cast<std::size_t>(spent)] += lag[0];
    raise(other.roots_[i], sum_, facts);
  }
}

void LabelSet::delay(std::span<const std::int64_t> lag, analyze::Spent spent) {
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    std::int64_t* const own = weights_.data() + i * lanes_;
    for (std::size_t lane = 0; lane < lanes_; ++lane) own[lane] = plus(own[lane], lag[lane]);
    facts_[i].spent[static_cast<std::size_t>(spent)] += lag[0];
  }
}

void LabelSet::drop(const std::vector<bool>& dropped) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    if (dropped[i]) continue;
    roots_[kept] = roots_[i];
    facts_[kept] = facts_[i];
    std::copy_n(weights_.begin() + static_cast<std::ptrdiff_t>(i * lanes_), lanes_,
                weights_.begin() + static_cast<std::ptrdiff_t>(kept * lanes_));
    ++kept;
  }
  roots_.resize(kept);
  facts_.resize(kept);
  weights_.resize(kept * lanes_);
}

std::uint32_t LabelSet::most_kernels() const {
  std::uint32_t most = 0;
  for (const PathFacts& facts : facts_) most = std::max(most, facts.kernels);
  return most;
}

}  // namespace perflab::ranks
