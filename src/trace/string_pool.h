// Interned strings: a name is stored once and referred to by a 32-bit index from every column.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace perflab::trace {

/// Append-only pool. Index 0 is always the empty string. Views stay valid for the life of the pool.
class StringPool {
 public:
  StringPool() { intern(""); }
  // A copy would keep keys that point into the original; moving keeps every node in place.
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;
  StringPool(StringPool&&) noexcept = default;
  StringPool& operator=(StringPool&&) noexcept = default;
  ~StringPool() = default;

  /// Index of `text`, added when it is new.
  std::uint32_t intern(std::string_view text) {
    if (const auto found = index_.find(text); found != index_.end()) return found->second;
    const auto index = static_cast<std::uint32_t>(strings_.size());
    strings_.emplace_back(text);
    index_.emplace(strings_.back(), index);
    return index;
  }

  [[nodiscard]] std::string_view view(std::uint32_t index) const { return strings_[index]; }
  [[nodiscard]] std::size_t size() const { return strings_.size(); }

 private:
  std::deque<std::string> strings_;
  std::unordered_map<std::string_view, std::uint32_t> index_;
};

}  // namespace perflab::trace
