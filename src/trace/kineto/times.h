// Times of Chrome trace events: microseconds as decimal numbers. Read from their digits, because a
// double holds no nanoseconds of a date (docs/facts/kineto.md "Times").
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace perflab::trace::kineto {

/// Microseconds as JSON writes them ("12", "12.345", "1.2e3") in nanoseconds, further digits cut
/// off. Nothing: it is no number, or 64 bits do not hold it.
std::optional<std::int64_t> microseconds(std::string_view number);

}  // namespace perflab::trace::kineto
