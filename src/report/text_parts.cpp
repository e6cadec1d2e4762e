// Shared pieces of the text views.
#include "report/text_parts.h"

#include <fmt/format.h>

#include "report/text_table.h"

namespace perflab::report {

std::string heading(const Paint& paint, std::string_view text) {
  return fmt::format("\n{}{}{}\n", paint.heading, text, paint.end);
}

std::string percent(double fraction) {
  return fmt::format("{:.1f} %", 100 * fraction);
}

std::string number_or_dash(const std::optional<std::int64_t>& value) {
  return value ? fmt::format("{}", *value) : "—";
}

std::string cut_note(std::size_t all, std::size_t shown) {
  return all > shown ? fmt::format("  … and {} more\n", all - shown) : "";
}

std::string limiter_names(const std::vector<hal::Limiter>& limiters) {
  std::vector<std::string_view> names;
  for (const hal::Limiter limiter : limiters) names.push_back(hal::to_string(limiter));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string counted(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string warnings_section(const std::vector<std::string>& warnings, const Paint& paint) {
  std::string out;
  for (const std::string& warning : warnings)
    out += fmt::format("{}warning:{} {}\n", paint.warning, paint.end, printable(warning));
  return out.empty() ? out : "\n" + out;
}

}  // namespace perflab::report
