// Shared pieces of the text views.
#include "report/kit/text_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/kit/text_table.h"

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

namespace {

/// What an NVIDIA programmer calls it; the other limiters are not among that platform's.
std::string_view cuda_limiter_name(hal::Limiter limiter) {
  switch (limiter) {
    case hal::Limiter::waves:
      return "warps";
    case hal::Limiter::workgroup_slots:
      return "warps of a whole block";
    case hal::Limiter::workgroups:
      return "blocks";
    case hal::Limiter::vgpr:
      return "registers";
    case hal::Limiter::lds:
      return "shared memory";
    default:
      return hal::to_string(limiter);
  }
}

}  // namespace

std::string limiter_names(const std::vector<hal::Limiter>& limiters, hal::Platform platform) {
  std::vector<std::string_view> names;
  for (const hal::Limiter limiter : limiters)
    names.push_back(platform == hal::Platform::amd ? hal::to_string(limiter)
                                                   : cuda_limiter_name(limiter));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string counted(std::size_t count, std::string_view thing) {
  if (count == 1) return fmt::format("1 {}", thing);
  return fmt::format("{} {}{}", count, thing, thing.ends_with("ch") ? "es" : "s");
}

std::vector<std::string> wrapped(std::string_view text, std::size_t room) {
  const std::string clean = printable(text);
  std::vector<std::string> lines(1);
  for (std::size_t at = 0; at < clean.size();) {
    std::size_t end = std::min(clean.find(' ', at), clean.size());
    if (clean.substr(end, 2) == " %") end = std::min(clean.find(' ', end + 1), clean.size());
    const std::string word = clean.substr(at, end - at);
    if (!lines.back().empty() && display_width(lines.back()) + 1 + display_width(word) > room)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    at = end + 1;
  }
  return lines;
}

std::string indented(std::string_view text, std::size_t width) {
  constexpr std::size_t kMargin = 2;
  constexpr std::size_t kLeastRoom = 20;
  std::string out;
  const std::size_t room = std::max(width, kMargin + kLeastRoom) - kMargin;
  for (const std::string& line : wrapped(text, room)) out += fmt::format("  {}\n", fit(line, room));
  return out;
}

std::string labelled(std::string_view label, std::string_view text, std::size_t width) {
  constexpr std::size_t kNameColumns = 13;
  constexpr std::size_t kLeastRoom = 20;
  std::string out;
  for (const std::string& line :
       wrapped(text, std::max(width, kNameColumns + kLeastRoom) - kNameColumns))
    out += fmt::format("  {:<10} {}\n", out.empty() ? label : "", line);
  return out;
}

std::string synthetic_line(std::string_view note, std::size_t width, const Paint& paint) {
  return fmt::format("{}{}{}\n", paint.warning,
                     fmt::join(wrapped(fmt::format("SYNTHETIC: {}", note), width), "\n"),
                     paint.end);
}

std::string warnings_section(const std::vector<std::string>& warnings, std::size_t width,
                             const Paint& paint) {
  constexpr std::string_view kLabel = "warning:";
  constexpr std::size_t kLeastRoom = 20;
  const std::size_t margin = kLabel.size() + 1;
  std::string out;
  for (const std::string& warning : warnings) {
    const auto lines = wrapped(warning, std::max(width, margin + kLeastRoom) - margin);
    out += fmt::format("{}{}{} {}\n", paint.warning, kLabel, paint.end, lines.front());
    for (std::size_t i = 1; i < lines.size(); ++i)
      out += fmt::format("{:{}}{}\n", "", margin, lines[i]);
  }
  return out.empty() ? out : "\n" + out;
}

}  // namespace perflab::report
