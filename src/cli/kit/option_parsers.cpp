// Option values that several commands read alike.
#include "cli/kit/option_parsers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "replay/elements/element_type.h"

namespace perflab::cli {

std::optional<double> share_from(std::string_view text, double most) {
  const bool percents = text.ends_with('%');
  const std::string_view digits = text.substr(0, text.size() - (percents ? 1 : 0));
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (percents) value /= 100;
  if (!std::isfinite(value) || value < 0 || value > most) return std::nullopt;
  return value;
}

CLI::Validator whole_from(std::uint64_t least, std::uint64_t most) {
  return CLI::Validator(
      [least, most](std::string& text) -> std::string {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc{} && end == text.data() + text.size() && value >= least &&
            value <= most)
          return {};
        return fmt::format("\"{}\" is no whole number from {} to {}", text, least, most);
      },
      "");
}

CLI::Validator offered(const std::vector<std::string>& names) {
  // As CLI::IsMember writes its set: describe.cpp reads it.
  return CLI::Validator([](std::string&) { return std::string(); },
                        fmt::format("{{{}}}", fmt::join(names, ",")));
}

std::vector<std::string> element_type_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < replay::kElementTypes; ++i)
    names.emplace_back(to_string(static_cast<replay::ElementType>(i)));
  return names;
}

}  // namespace perflab::cli
