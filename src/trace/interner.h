// Distinct values of a small struct of 32-bit fields, each with an index. Used per chunk (in
// parallel) and then once more over the chunks, so that the big columns carry one index instead of
// the struct.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/equal_bytes.h"
#include "trace/trace.h"

namespace perflab::trace {

/// Of the words of a padding-free struct: a sum of products, which do not wait for each other.
template <class T>
struct WordHash {
  std::size_t operator()(const T& value) const {
    static_assert(std::has_unique_object_representations_v<T> && sizeof(T) % 4 == 0);
    const auto words = std::bit_cast<std::array<std::uint32_t, sizeof(T) / 4>>(value);
    std::uint64_t hash = 0, factor = 0x9e3779b97f4a7c15;
    for (const std::uint32_t word : words) {
      hash += word * factor;
      factor += 0x6a09e667f3bcc908;
    }
    hash *= 0x9e3779b97f4a7c15;
    return static_cast<std::size_t>(hash ^ (hash >> 32));
  }
};

/// Gives equal values equal indices, in the order of their first appearance.
template <class T>
class Interner {
 public:
  /// `hint`: anything that equal values mostly have in common, like the kernel of a launch
  /// configuration. It decides where an equal value is looked for first.
  Index intern(const T& value, std::uint64_t hint) {
    Index& recent = recent_[(hint * 0x9e3779b97f4a7c15) >> kRecentShift];
    if (recent < values_.size() && equal_bytes(&values_[recent], &value, sizeof(T))) return recent;
    const auto [entry, added] = index_.try_emplace(value, static_cast<Index>(values_.size()));
    if (added) values_.push_back(value);
    return recent = entry->second;
  }
  Index intern(const T& value) { return intern(value, 0); }
  [[nodiscard]] const std::vector<T>& values() const { return values_; }
  [[nodiscard]] std::vector<T> take() && { return std::move(values_); }

 private:
  static constexpr int kRecentShift = 64 - 7;

  std::unordered_map<T, Index, WordHash<T>> index_;
  std::array<Index, 1 << 7> recent_{};
  std::vector<T> values_;
};

}  // namespace perflab::trace
