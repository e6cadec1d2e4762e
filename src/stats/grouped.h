// Values of several groups in one column, those of a group side by side: statistics by kernel of
// tens of millions of dispatches, without a vector for each kernel that grows.
#pragma once

#include <cstddef>
#include <ranges>
#include <span>
#include <vector>

namespace perflab::stats {

template <class Value>
class GroupedValues {
 public:
  /// How many values each group gets at most.
  template <std::ranges::input_range Counts>
  explicit GroupedValues(Counts&& counts) {
    std::size_t count = 0;
    for (const std::size_t most : counts) {
      first_.push_back(count);
      count += most;
    }
    past_ = first_;
    values_.resize(count);
  }

  /// Precondition: the group has room.
  void add(std::size_t group, Value value) { values_[past_[group]++] = value; }

  /// What was added, in that order until somebody puts it into another.
  [[nodiscard]] std::span<Value> of(std::size_t group) {
    return std::span(values_).subspan(first_[group], past_[group] - first_[group]);
  }

  /// Empties all groups, which keep their room.
  void clear() { past_ = first_; }

 private:
  std::vector<std::size_t> first_, past_;  ///< by group, into `values_`
  std::vector<Value> values_;
};

}  // namespace perflab::stats
