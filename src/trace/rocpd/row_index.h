// From a row id to the row's position in what was read. Ids are nearly always 1, 2, 3, …
// (AUTOINCREMENT): then nothing is stored but the first; otherwise a sorted list is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "trace/trace.h"

namespace perflab::trace::rocpd {

/// Filled by add() in the order of the rows, then seal(), then find() from any thread.
class RowIndex {
 public:
  void add(std::int64_t id) {
    if (ids_.empty() && (count_ == 0 || id == first_ + static_cast<std::int64_t>(count_))) {
      if (count_ == 0) first_ = id;
      ++count_;
      return;
    }
    if (ids_.empty()) {
      ids_.resize(count_);
      std::iota(ids_.begin(), ids_.end(), first_);
    }
    ids_.push_back(id);
    ++count_;
  }

  /// Sorts when the rows did not come in the order of their ids.
  void seal() {
    if (std::ranges::is_sorted(ids_)) return;
    positions_.resize(ids_.size());
    std::iota(positions_.begin(), positions_.end(), Index{0});
    std::ranges::stable_sort(positions_, {}, [&](Index position) { return ids_[position]; });
    std::vector<std::int64_t> sorted(ids_.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = ids_[positions_[i]];
    ids_ = std::move(sorted);
  }

  /// Position of the row with this id (the first one when an id repeats), or kNone.
  [[nodiscard]] Index find(std::int64_t id) const {
    if (ids_.empty()) {
      const std::uint64_t offset =
          static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(first_);
      return offset < count_ ? static_cast<Index>(offset) : kNone;
    }
    const auto found = std::ranges::lower_bound(ids_, id);
    if (found == ids_.end() || *found != id) return kNone;
    const auto at = static_cast<std::size_t>(found - ids_.begin());
    return positions_.empty() ? static_cast<Index>(at) : positions_[at];
  }

  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  std::int64_t first_ = 0;
  std::size_t count_ = 0;
  std::vector<std::int64_t> ids_;
  std::vector<Index> positions_;
};

}  // namespace perflab::trace::rocpd
