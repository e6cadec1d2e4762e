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

#include "trace/trace.h"

namespace perflab::trace {

/// FNV-1a over the 32-bit words of a padding-free struct.
template <class T>
struct WordHash {
  std::size_t operator()(const T& value) const {
    static_assert(std::has_unique_object_representations_v<T> && sizeof(T) % 4 == 0);
    const auto words = std::bit_cast<std::array<std::uint32_t, sizeof(T) / 4>>(value);
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const std::uint32_t word : words) hash = (hash ^ word) * 0x100000001b3;
    return static_cast<std::size_t>(hash ^ (hash >> 32));
  }
};

/// Gives equal values equal indices, in the order of their first appearance.
template <class T>
class Interner {
 public:
  Index intern(const T& value) {
    if (!values_.empty() && values_[last_] == value) return last_;
    const auto [entry, added] = index_.try_emplace(value, static_cast<Index>(values_.size()));
    if (added) values_.push_back(value);
    last_ = entry->second;
    return last_;
  }
  [[nodiscard]] const std::vector<T>& values() const { return values_; }
  [[nodiscard]] std::vector<T> take() && { return std::move(values_); }

 private:
  std::unordered_map<T, Index, WordHash<T>> index_;
  std::vector<T> values_;
  Index last_ = 0;
};

}  // namespace perflab::trace
