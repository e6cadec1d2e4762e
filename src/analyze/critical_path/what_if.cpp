// The grammar of --what-if: WHAT=CHANGE.
#include "analyze/critical_path/what_if.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace perflab::analyze {
namespace {

constexpr std::string_view kForms =
    "write WHAT=CHANGE: 'regex=2x' (kernels, twice as fast), 'regex=0', 'regex=+10us' or "
    "'regex=-3us' (each dispatch), 'copy=2x', 'launch=0', 'sync=drop'; a kernel called copy is "
    "'kernel:copy=2x'";

/// Beyond these, sums over tens of millions of nodes would leave 64 bits, and nobody means it.
constexpr double kLeastSpeedup = 1e-3, kMostSpeedup = 1e9, kMostPlus = 100e9;

std::unexpected<Error> no_what_if(std::string_view text, std::string_view why) {
  return fail(ErrorCode::usage, fmt::format("what-if '{}': {}", text, why), std::string(kForms));
}

/// A plain decimal number at the begin of the text, and what follows it.
std::optional<std::pair<double, std::string_view>> leading_number(std::string_view text) {
  // from_chars would read "inf", "nan" and "-1" too.
  if (text.empty() || !((text[0] >= '0' && text[0] <= '9') || text[0] == '.')) return {};
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (parsed.ec != std::errc{}) return {};
  return std::pair{number,
                   std::string_view(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr))};
}

/// ns of "10us" and the like.
std::optional<double> nanoseconds(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  const auto number = leading_number(text);
  if (!number) return {};
  for (const auto& [unit, factor] : kUnits)
    if (number->second == unit) return number->first * factor;
  return {};
}

Result<Change> parse_change(std::string_view text, std::string_view change) {
  if (change == "0") return Change{.factor = 0, .plus = 0};
  if (!change.empty() && (change[0] == '+' || change[0] == '-')) {
    const std::optional<double> plus = nanoseconds(change.substr(1));
    if (!plus)
      return no_what_if(text, fmt::format("'{}' is not a time in ns, us, ms or s", change));
    if (*plus > kMostPlus)
      return no_what_if(text, fmt::format("'{}' is more than 100s per node", change));
    const std::int64_t rounded = std::llround(*plus);
    return Change{.factor = 1, .plus = change[0] == '-' ? -rounded : rounded};
  }
  if (const auto number = leading_number(change); number && number->second == "x") {
    if (number->first < kLeastSpeedup || number->first > kMostSpeedup)
      return no_what_if(text, fmt::format("'{}' is not between 0.001x and 1000000000x", change));
    return Change{.factor = 1 / number->first, .plus = 0};
  }
  return no_what_if(text, fmt::format("'{}' is not a change", change));
}

}  // namespace

Result<WhatIf> parse_what_if(std::string_view text) {
  constexpr std::string_view kKernel = "kernel:";
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) return no_what_if(text, "there is no '='");
  std::string_view what = text.substr(0, equals);
  const std::string_view change = text.substr(equals + 1);
  WhatIf result;
  result.text = text;
  if (what == "copy") {
    result.target = WhatIf::Target::copies;
  } else if (what == "launch") {
    result.target = WhatIf::Target::launches;
  } else if (what == "sync") {
    if (change != "drop") return no_what_if(text, "sync can only be dropped");
    result.target = WhatIf::Target::syncs;
    result.drop = true;
    return result;
  } else {
    if (what.starts_with(kKernel)) what.remove_prefix(kKernel.size());
    if (what.empty()) return no_what_if(text, "nothing is named before the '='");
    auto pattern = Pattern::compile(what);
    if (!pattern) return no_what_if(text, pattern.error().message);
    result.pattern = what;
  }
  if (change == "drop") return no_what_if(text, "only sync can be dropped");
  PERFLAB_TRY(result.change, parse_change(text, change));
  return result;
}

}  // namespace perflab::analyze
