// From the ids of a recording to indices of the Trace. Ids are mostly small numbers: those are
// places of a vector.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace perflab::trace::rocpd {

/// Filled by one thread, then read by any.
class IdMap {
 public:
  /// The index of an id, kNone when it has none.
  [[nodiscard]] Index find(std::int64_t id) const {
    const auto place = static_cast<std::uint64_t>(id);
    if (place < small_.size()) return small_[place];
    if (large_.empty()) return kNone;
    const auto found = large_.find(id);
    return found == large_.end() ? kNone : found->second;
  }
  [[nodiscard]] Index find(std::optional<std::int64_t> id) const { return id ? find(*id) : kNone; }
  [[nodiscard]] bool empty() const { return small_.empty() && large_.empty(); }

  /// Gives an id an index, in place of an earlier one.
  void set(std::int64_t id, Index index) {
    const auto place = static_cast<std::uint64_t>(id);
    if (place >= kMostSmall) {
      large_[id] = index;
      return;
    }
    if (place >= small_.size()) small_.resize(place + place / 2 + 16, kNone);
    small_[place] = index;
  }

 private:
  static constexpr std::uint64_t kMostSmall = 1 << 18;

  std::vector<Index> small_;
  std::unordered_map<std::int64_t, Index> large_;
};

}  // namespace perflab::trace::rocpd
