// CUPTI's names of calls: docs/facts/cuda_cupti.md "Records". Demangling: the C++ ABI's own
// (https://itanium-cxx-abi.github.io/cxx-abi/abi.html#demangler).
#include "record/activity/text.h"

#include <cxxabi.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace perflab::record {
namespace {

/// Bytes of the UTF-8 sequence at the start of the text; 0: it is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length == 0 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const unsigned char second = byte(1);  // too long forms, surrogates, above U+10FFFF
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
    return 0;
  return length;
}

}  // namespace

std::string_view call_name(std::string_view name) {
  constexpr std::size_t kLeastDigits = 4;  // _v3020 is a runtime's version, _v2 a driver's function
  const std::size_t digits = name.size() - (name.find_last_not_of("0123456789") + 1);
  if (digits < kLeastDigits || digits + 2 >= name.size()) return name;
  const std::string_view rest = name.substr(0, name.size() - digits);
  return rest.ends_with("_v") ? rest.substr(0, rest.size() - 2) : name;
}

std::string demangled(const std::string& name) {
  int failed = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &failed);
  if (text == nullptr) return name;
  std::string result = failed == 0 ? text : name;
  std::free(text);
  return result;
}

std::string json_text(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char c = text[0];
    if (length == 0) {
      quoted += "\xef\xbf\xbd";
    } else if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
      quoted += escape.data();
    } else {
      quoted += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return quoted + '"';
}

}  // namespace perflab::record
