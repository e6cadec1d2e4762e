// Texts with one number per line: what any other tool's times can be brought into.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>

#include "base/text/text.h"
#include "compare/read_samples.h"

namespace perflab::compare {
namespace {

constexpr std::array<std::string_view, 4> kTimeUnits = {"ns", "us", "ms", "s"};

bool is_time_unit(std::string_view word) {
  return std::ranges::find(kTimeUnits, word) != kTimeUnits.end();
}

/// A number and the word behind it.
struct NumberLine {
  double value = 0;
  std::string_view unit;
};

std::optional<NumberLine> number_line(std::string_view line) {
  NumberLine out;
  if (line.starts_with('+')) line.remove_prefix(1);
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), out.value);
  if (error != std::errc()) return std::nullopt;
  std::string_view rest = trimmed(line.substr(static_cast<std::size_t>(end - line.data())));
  if (rest.ends_with(',') || rest.ends_with(';')) rest.remove_suffix(1);
  out.unit = trimmed(rest);
  if (!out.unit.empty() && !is_time_unit(out.unit)) return std::nullopt;
  return out;
}

/// The unit at the end of a title: behind the last "_", "(", "[" or blank.
std::string_view unit_of_title(std::string_view title) {
  while (!title.empty() && std::string_view(")]\", \t").find(title.back()) != title.npos)
    title.remove_suffix(1);
  const std::size_t at = title.find_last_of("_([ \t");
  if (at == std::string_view::npos) return {};
  const std::string_view word = title.substr(at + 1);
  return is_time_unit(word) ? word : std::string_view();
}

}  // namespace

Result<SampleSide> parse_numbers(std::string_view text, std::string_view file) {
  SampleSide side;
  side.files.emplace_back(file);
  side.kind = "numbers";
  side.samples_are = compare::SampleKind::value;
  SampleSeries& series = side.series.emplace_back();
  bool first = true;
  for (std::size_t at = 0, number = 1; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(text.substr(at, end - at));
    at = end + 1;
    if (line.empty() || line.starts_with('#')) continue;
    const std::optional<NumberLine> found = number_line(line);
    const bool title = first && !found;
    first = false;
    if (title) {
      side.unit = unit_of_title(line);
      continue;
    }
    if (!found)
      return fail(ErrorCode::bad_input, fmt::format("{}: line {} is not a number", file, number),
                  "rocm-perf compare takes recordings that analyze reads, profile.json, "
                  "analysis.json, "
                  "replay.json, journals of autotune, and texts with one number per line");
    const bool begins = series.samples.empty() && side.unit.empty();
    if (begins) side.unit = found->unit;
    if (!begins && !found->unit.empty() && found->unit != side.unit)
      return fail(
          ErrorCode::bad_input,
          fmt::format("{}: line {} has another unit than the lines before it", file, number));
    series.samples.push_back(found->value);
  }
  if (series.samples.empty())
    return fail(ErrorCode::bad_input, fmt::format("{}: there is no number in it", file),
                "one number per line");
  return side;
}

}  // namespace perflab::compare
