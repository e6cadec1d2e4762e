// The forms of ID: clang's CodeGenModule::printPostfixForExternalizedDecl and
// ASTContext::getCUIDHash, as observed in what clang 16, 19 and 22 emit.
#include "code/object/unit_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

namespace perflab::code {
namespace {

constexpr std::string_view kMarker = "__hip_cuid_";
constexpr std::string_view kHexDigits = "0123456789abcdef";
/// Digits of a 64-bit hash at most; those of the hash of macros at least.
constexpr std::size_t kMostHashDigits = 16, kLeastMacroDigits = 8;

bool all_hex(std::string_view text) {
  return text.find_first_not_of(kHexDigits) == std::string_view::npos;
}

bool is_unit_id(std::string_view text) {
  const std::size_t bar = text.find('_');
  if (bar == std::string_view::npos)
    return !text.empty() && text.size() <= kMostHashDigits && all_hex(text);
  const std::string_view file = text.substr(0, bar), macros = text.substr(bar + 1);
  return !file.empty() && file.size() <= 2 * kMostHashDigits && all_hex(file) &&
         macros.size() >= kLeastMacroDigits && macros.size() <= kMostHashDigits && all_hex(macros);
}

/// The number at `at`, in decimal digits; its end is `at` behind it. 0: there is none, or a huge
/// one.
std::size_t take_length(std::string_view text, std::size_t& at) {
  constexpr std::size_t kMostLength = 100'000;
  std::size_t value = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && value < kMostLength; ++at)
    value = 10 * value + static_cast<std::size_t>(text[at] - '0');
  return value < kMostLength ? value : 0;
}

/// What nvcc writes for a unit: "_643c1924_4_b_cu_table", an underscore and eight digits first.
bool is_nvcc_unit(std::string_view text) {
  constexpr std::size_t kHashDigits = 8;
  return text.size() > kHashDigits + 1 && text.front() == '_' &&
         all_hex(text.substr(1, kHashDigits)) && text[kHashDigits + 1] == '_';
}

/// Every unit of nvcc's in a name gives way to the same word.
std::string without_nvcc_unit(std::string_view symbol) {
  constexpr std::string_view kStatic = "__nv_static_", kUnnamed = "_GLOBAL__N_";
  constexpr std::string_view kUnit = "UNIT";
  std::string out;
  if (symbol.starts_with(kStatic)) {
    std::size_t at = kStatic.size();
    const std::size_t length = take_length(symbol, at);
    // One underscore is between the length and the unit.
    if (length != 0 && at < symbol.size() && at + 1 + length <= symbol.size() &&
        is_nvcc_unit(symbol.substr(at + 1, length))) {
      (out = kStatic) += kUnit;
      symbol.remove_prefix(at + 1 + length);
    }
  }
  for (std::size_t found = symbol.find(kUnnamed); found != std::string_view::npos;
       found = symbol.find(kUnnamed)) {
    std::size_t digits = found;
    while (digits > 0 && symbol[digits - 1] >= '0' && symbol[digits - 1] <= '9') --digits;
    std::size_t at = digits;
    const std::size_t length = take_length(symbol, at);
    const bool fits =
        at == found && length > kUnnamed.size() && length <= symbol.size() - found &&
        is_nvcc_unit(symbol.substr(found + kUnnamed.size(), length - kUnnamed.size()));
    out += symbol.substr(0, fits ? digits : found + kUnnamed.size());
    if (fits) (out += kUnnamed) += kUnit;
    symbol.remove_prefix(fits ? found + length : found + kUnnamed.size());
  }
  return out.append(symbol);
}

}  // namespace

bool is_unit_marker_name(std::string_view symbol) {
  if (!symbol.starts_with(kMarker)) return false;
  const std::string_view id = symbol.substr(kMarker.size());
  return id.size() <= kMostHashDigits && all_hex(id);
}

std::string without_unit(std::string_view symbol) {
  constexpr std::array<std::string_view, 2> kWords{".static.", ".intern."};
  for (const std::string_view word : kWords) {
    const std::size_t at = symbol.rfind(word);
    if (at == std::string_view::npos || at == 0) continue;
    const std::string_view rest = symbol.substr(at + word.size());
    const std::string_view id = rest.substr(0, rest.find('.'));
    const std::string_view behind = rest.substr(id.size());
    if (is_unit_id(id) && (behind.empty() || behind == ".kd" || behind == ".managed"))
      return std::string(symbol.substr(0, at)).append(behind);
  }
  return without_nvcc_unit(symbol);
}

NamePairs pair_names(std::vector<std::string> before, std::vector<std::string> after) {
  NamePairs out;
  std::ranges::sort(before);
  std::ranges::sort(after);
  std::vector<std::string> gone, fresh;
  std::ranges::set_difference(before, after, std::back_inserter(gone));
  std::ranges::set_difference(after, before, std::back_inserter(fresh));
  for (std::string& name : before)
    if (std::ranges::binary_search(after, name)) out.same.emplace(name, name);
  using Named = std::map<std::string, std::vector<const std::string*>>;
  const auto by_name = [](const std::vector<std::string>& names) {
    Named named;
    for (const std::string& name : names)
      if (std::string plain = without_unit(name); plain != name)
        named[std::move(plain)].push_back(&name);
    return named;
  };
  const Named old_ones = by_name(gone), new_ones = by_name(fresh);
  for (const auto& [plain, names] : old_ones) {
    const auto other = new_ones.find(plain);
    if (names.size() == 1 && other != new_ones.end() && other->second.size() == 1)
      out.same.emplace(*names.front(), *other->second.front());
  }
  std::ranges::copy_if(gone, std::back_inserter(out.gone),
                       [&](const std::string& name) { return !out.same.contains(name); });
  std::ranges::copy_if(fresh, std::back_inserter(out.fresh), [&](const std::string& name) {
    return std::ranges::none_of(out.same, [&](const auto& pair) { return pair.second == name; });
  });
  return out;
}

}  // namespace perflab::code
