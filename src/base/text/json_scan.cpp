// Grammar: RFC 8259.
#include "base/text/json_scan.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace perflab {
namespace {

/// What a byte is outside of texts.
enum class Mark : std::uint8_t {
  scalar,
  space,
  quote,
  open_object,
  open_array,
  close_object,
  close_array,
  comma,
  colon,
  backslash,
};

constexpr std::array<Mark, 256> kMarks = [] {
  std::array<Mark, 256> marks{};
  for (const char space : {' ', '\n', '\r', '\t'})
    marks[static_cast<unsigned char>(space)] = Mark::space;
  marks['"'] = Mark::quote;
  marks['{'] = Mark::open_object;
  marks['['] = Mark::open_array;
  marks['}'] = Mark::close_object;
  marks[']'] = Mark::close_array;
  marks[','] = Mark::comma;
  marks[':'] = Mark::colon;
  marks['\\'] = Mark::backslash;
  return marks;
}();

Mark mark_of(char c) {
  return kMarks[static_cast<unsigned char>(c)];
}

constexpr std::size_t kDeepest = 512;

/// Behind the quote that ends the text which began before `at`; null: none does.
const char* behind_text(const char* at, const char* end) {
  while (true) {
    at = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
    if (at == nullptr) return nullptr;
    const char* before = at;
    while (before[-1] == '\\') --before;  // the quote in front of the text ends this
    ++at;
    if ((at - 1 - before) % 2 == 0) return at;
  }
}

}  // namespace

JsonScan scan_json_value(const char* at, const char* end) {
  constexpr JsonScan kMalformed{.end = nullptr, .malformed = true};
  enum Next : std::uint8_t { value, value_or_end, key, key_or_end, colon, comma_or_end };
  std::array<Mark, kDeepest + 1> open{};  // brackets that are open, from the second place on
  std::size_t depth = 0;
  Next next = value;
  for (;; ++at) {
    const Mark mark = mark_of(*at);
    switch (mark) {
      case Mark::space:
        if (at >= end) return {};
        continue;
      case Mark::quote:
        if (next == colon || next == comma_or_end) return kMalformed;
        at = behind_text(at + 1, end);
        if (at == nullptr) return {};
        --at;
        next = next == key || next == key_or_end ? colon : comma_or_end;
        break;
      case Mark::open_object:
      case Mark::open_array:
        if (next > value_or_end || depth == kDeepest) return kMalformed;
        open[++depth] = mark;
        next = mark == Mark::open_object ? key_or_end : value_or_end;
        continue;
      case Mark::close_object:
        if (open[depth] != Mark::open_object || (next != comma_or_end && next != key_or_end))
          return kMalformed;
        --depth;
        next = comma_or_end;
        break;
      case Mark::close_array:
        if (open[depth] != Mark::open_array || (next != comma_or_end && next != value_or_end))
          return kMalformed;
        --depth;
        next = comma_or_end;
        break;
      case Mark::comma:
        if (next != comma_or_end) return kMalformed;
        next = open[depth] == Mark::open_object ? key : value;
        continue;
      case Mark::colon:
        if (next != colon) return kMalformed;
        next = value;
        continue;
      case Mark::scalar:
        if (next > value_or_end) return kMalformed;
        while (mark_of(at[1]) == Mark::scalar) ++at;
        if (depth == 0) return at + 1 < end ? JsonScan{.end = at + 1} : JsonScan{};
        next = comma_or_end;
        continue;
      case Mark::backslash:
        return kMalformed;
    }
    if (depth == 0) return {.end = at + 1};
  }
}

}  // namespace perflab
