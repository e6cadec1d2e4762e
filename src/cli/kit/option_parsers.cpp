// Option values that several commands read alike.
#include "cli/kit/option_parsers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <utility>

#include "base/enum_names.h"
#include "base/text/numbers.h"

namespace perflab::cli {

std::optional<double> share_from(std::string_view text, double most) {
  const bool percents = text.ends_with('%');
  const std::string_view digits = text.substr(0, text.size() - (percents ? 1 : 0));
  auto value = finite_number(digits);
  if (value && percents) *value /= 100;
  return value && *value >= 0 && *value <= most ? value : std::nullopt;
}

CLI::Validator whole_from(std::uint64_t least, std::uint64_t most) {
  return CLI::Validator(
      [least, most](std::string& text) -> std::string {
        const auto value = whole_number(text);
        if (value && *value >= least && *value <= most) return {};
        return fmt::format("\"{}\" is not a whole number from {} to {}", text, least, most);
      },
      "");
}

CLI::Validator offered(const std::vector<std::string>& names) {
  // As CLI::IsMember writes its set: describe.cpp reads it.
  return CLI::Validator([](std::string&) { return std::string(); },
                        fmt::format("{{{}}}", fmt::join(names, ",")));
}

CLI::Option* add_caches_option(CLI::App& command, replay::Caches& caches) {
  std::vector<std::string> names;
  for (const auto one : enumerators<replay::Caches>()) names.emplace_back(to_string(one));
  return command
      .add_option_function<std::string>(
          "--caches",
          [&caches](const std::string& name) {
            caches = from_name<replay::Caches>(name).value_or(caches);
          },
          fmt::format("What timed dispatches find in the caches (default: {})", to_string(caches)))
      ->check(CLI::IsMember(std::move(names)));
}

}  // namespace perflab::cli
