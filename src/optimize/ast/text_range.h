// A piece of a source's text.
#pragma once

#include <cstdint>

namespace perflab::optimize {

/// Bytes [begin, end) of the source's text.
struct TextRange {
  std::uint32_t begin = 0, end = 0;
  [[nodiscard]] bool contains(const TextRange& other) const {
    return begin <= other.begin && other.end <= end;
  }
  friend bool operator==(const TextRange&, const TextRange&) = default;
};

}  // namespace perflab::optimize
