// The page that answers: drawn from summary.json alone. How a figure is written follows from the
// name of its field: *_ns is a time, *share a percentage, *factor a multiple, *bytes a size.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text/number_text.h"
#include "report/bottleneck/bottleneck_text.h"
#include "report/kit/quantities.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"
#include "report/summary/parts.h"
#include "report/summary/summary.h"

namespace perflab::report {
namespace {

/// A field of an excerpt, or of an excerpt in it ("verdict.label"), with its value.
using Field = std::pair<std::string, Json>;

void add_fields(const Json& excerpt, const std::string& before, std::vector<Field>& fields) {
  for (const auto& [name, value] : excerpt.items()) {
    if (name == "from" || name == "what") continue;
    if (value.is_object())
      add_fields(value, before + name + ".", fields);
    else
      fields.emplace_back(before + name, value);
  }
}

std::vector<Field> fields_of(const Json& excerpt) {
  std::vector<Field> fields;
  add_fields(excerpt, "", fields);
  return fields;
}

/// How people call a field: by its whole name, else by its last word.
std::string title_of(const std::string& field) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kTitles = {{
      {"verdict.label", "limited by"},
      {"verdict.confidence", "sure"},
      {"twice_as_fast.gain_share", "2x gains"},
      {"binding.roof", "bound by"},
      {"binding.share", "of roof"},
      {"time.total_ns", "total"},
      {"share", "share"},
      {"total_ns", "total"},
      {"median_ns", "median"},
      {"dispatches", "count"},
      {"path_share", "of path"},
      {"path_ns", "on path"},
      {"time_ns", "time"},
      {"kernel_time_ns", "of kernel time"},
      {"span_ns", "from first to last"},
      {"gpu_busy_ns", "with the GPU busy"},
      {"critical_path_ns", "of critical path"},
      {"calls", "host calls"},
      {"count", "found"},
      {"name", "kernel"},
  }};
  const auto* const known = std::ranges::find(
      kTitles, std::string_view(field), &std::pair<std::string_view, std::string_view>::first);
  if (known != kTitles.end()) return std::string(known->second);
  std::string title = field.substr(field.rfind('.') + 1);
  std::ranges::replace(title, '_', ' ');
  return title;
}

std::string value_text(const std::string& field, const Json& value) {
  if (value.is_null()) return kDash;
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  const auto number = value.get<double>();
  if (field.ends_with("_ns")) return duration_text(number);
  if (field.ends_with("share")) return percent(number);
  if (field.ends_with("factor")) return fmt::format("{:.3g}x", number);
  if (field.ends_with("bytes")) return bytes_text(number);
  return number_text(number);
}

bool has_names(const Json& rows) {
  return std::ranges::any_of(rows, [](const Json& row) { return row.contains("name"); });
}

/// What a narrow table does without, the highest first.
int expendable(const std::string& field) {
  if (field == "median_ns") return 3;
  if (field == "verdict.confidence") return 2;
  return field == "dispatches" ? 1 : 0;
}

/// Rows under each other: what they are stands last, because it may be cut.
std::string table_text(const Json& part, std::size_t width) {
  using enum TextTable::Align;
  const Json& rows = part["rows"];
  const std::string key = has_names(rows) ? "name" : "what";
  std::vector<std::string> fields;
  for (const Json& row : rows)
    for (const auto& [field, value] : fields_of(row))
      if (field != key && std::ranges::find(fields, field) == fields.end()) fields.push_back(field);
  std::vector<TextTable::Column> columns;
  for (const std::string& field : fields) {
    const bool text = std::ranges::any_of(rows, [&](const Json& row) {
      for (const auto& [name, value] : fields_of(row))
        if (name == field) return value.is_string();
      return false;
    });
    columns.push_back(
        {.title = title_of(field), .align = text ? left : right, .expendable = expendable(field)});
  }
  columns.push_back({.title = key == "what" ? "" : "kernel", .align = left, .flexible = true});
  TextTable table(columns);
  for (const Json& row : rows) {
    const std::vector<Field> own = fields_of(row);
    std::vector<std::string> cells;
    for (const std::string& field : fields) {
      const auto found = std::ranges::find(own, field, &Field::first);
      cells.push_back(found == own.end() ? kDash : value_text(field, found->second));
    }
    cells.push_back(row.value(key, std::string()));
    table.add(std::move(cells));
  }
  return table.text(width);
}

/// "1304 dispatches, 24.75 ms of kernel time"; what is null is left out.
std::string facts_line(const Json& row) {
  std::vector<std::string> facts;
  for (const auto& [field, value] : fields_of(row)) {
    if (value.is_null()) continue;
    const bool words = value.is_string();
    std::string text = value_text(field, value);
    if (!words) text += " " + (field == "dispatches" ? std::string(field) : title_of(field));
    facts.push_back(std::move(text));
  }
  const std::string what = row.value("what", std::string());
  return (what.empty() ? "" : what + ": ") + fmt::format("{}", fmt::join(facts, ", "));
}

std::string facts_text(const Json& part, std::size_t width) {
  if (part["rows"].empty()) return {};
  std::vector<std::string> lines;
  for (const Json& row : part["rows"]) lines.push_back(facts_line(row));
  return indented(fmt::format("{}", fmt::join(lines, "; ")), width);
}

/// "1.78x as fast at most: the run is 2.58 ms (8.0 %) shorter".
std::string worth_text(const Json& row, std::size_t width) {
  const auto has = [&](const char* field) { return row.contains(field) && !row[field].is_null(); };
  std::vector<std::string> words;
  if (has("kernel_factor"))
    words.push_back(fmt::format("{} as fast at most", value_text("factor", row["kernel_factor"])));
  if (has("end_to_end_ns"))
    words.push_back(fmt::format(
        "the run is {}{} shorter", value_text("_ns", row["end_to_end_ns"]),
        has("end_to_end_share") ? fmt::format(" ({})", value_text("share", row["end_to_end_share"]))
                                : ""));
  return indented(fmt::format("{}", fmt::join(words, ": ")), width);
}

/// "3.17 ms (9.9 %) shorter, 29.00 ms altogether".
std::string what_if_text(const Json& row, std::size_t width) {
  std::string text = fmt::format("the whole run is {}", value_text("_ns", row["gain_ns"]));
  if (!row["gain_share"].is_null())
    text += fmt::format(" ({})", value_text("share", row["gain_share"]));
  text += fmt::format(" shorter, and takes {}", value_text("_ns", row["makespan_ns"]));
  if (row["bound"].get<bool>()) text += "; it can gain no more than this";
  return indented(text, width);
}

/// The verdict, and under it the figures with what they are compared with.
std::string limit_text(const Json& part, std::size_t width) {
  std::string out;
  for (const Json& row : part["rows"]) {
    if (row.contains("confidence")) {
      out += fmt::format("  {}\n", fit(row.value("name", std::string()), width - 2));
      out += indented(fmt::format("{}, confidence {}", row.value("label", std::string()),
                                  row.value("confidence", std::string())),
                      width);
      continue;
    }
    const std::string unit = row.value("unit", std::string());
    out += indented(
        fmt::format("- {} {}, {} {}", row.value("label", std::string()),
                    feature_value_text(row.value("value", 0.0), unit),
                    row.value("comparison", std::string()) == "at_least" ? "at least" : "below",
                    feature_value_text(row.value("threshold", 0.0), unit)),
        width);
  }
  return out;
}

/// What draws the parts of an answer, by the name of the answer's document; nullptr: they are drawn
/// here.
auto own_part_text(const std::string& answer) -> decltype(&comparison_part_text) {
  if (answer == "comparison") return comparison_part_text;
  if (answer == "certificate" || answer == "replay" || answer == "reservation" ||
      answer == "isolate")
    return replay_part_text;
  return nullptr;
}

/// `before`: the title of the part above, under which this one stands when it has the same.
std::string part_text(const std::string& answer, const Json& part, const std::string& before,
                      const TerminalStyle& style, const Paint& paint) {
  const std::string name = part["part"];
  auto* const own = own_part_text(answer);
  const std::optional<std::string> drawn =
      own == nullptr ? std::nullopt : own(part, style.width, paint);
  // What it is worth stands under what limits it.
  std::string out = name == "worth" || part["title"] == before
                        ? ""
                        : heading(paint, part["title"].get<std::string>());
  if (drawn)
    out += *drawn;
  else if (name == "limit")
    out += limit_text(part, style.width);
  else if (name == "worth" && !part["rows"].empty())
    out += worth_text(part["rows"][0], style.width);
  else if (name == "asked")
    out += what_if_text(part["rows"][0], style.width);
  else if (part["rows"].size() > 1 && name != "recorded")
    out += table_text(part, style.width);
  else
    out += facts_text(part, style.width);
  if (part["missing"].is_string())
    out += indented("not known: " + part["missing"].get<std::string>(), style.width);
  if (const auto left = part["left_out"].get<std::size_t>(); left > 0)
    out += fmt::format("  … and {} more{}\n", left,
                       part["details"].is_string()
                           ? fmt::format(": --details {}", part["details"].get<std::string>())
                           : "");
  return out;
}

std::string warnings_text(const Json& summary, const TerminalStyle& style, const Paint& paint) {
  std::string out;
  if (summary["synthetic"].is_string())
    out += synthetic_line(summary["synthetic"].get<std::string>(), style.width, paint);
  const Json& warnings = summary["warnings"];
  std::vector<std::string> texts;
  for (const Json& text : warnings["texts"]) texts.push_back(text);
  if (const auto left = warnings["left_out"].get<std::size_t>(); left > 0)
    texts.push_back(fmt::format("{} more, in {}", left, warnings["from"].get<std::string>()));
  if (!texts.empty()) out += warnings_section(texts, style.width, paint).substr(1);
  return out;
}

/// The first two lines of a reason; "…" where there is more.
std::string reason_text(const std::string& reason, std::size_t width) {
  constexpr std::size_t kReasonLines = 2;
  constexpr std::size_t kRoom = 4;  // the margin, and the mark
  std::vector<std::string> lines = wrapped(reason, std::max<std::size_t>(width, 2 * kRoom) - kRoom);
  if (lines.size() > kReasonLines) {
    lines.resize(kReasonLines);
    lines.back() += " …";
  }
  std::string out;
  for (const std::string& line : lines) out += fmt::format("  {}\n", line);
  return out;
}

std::string page_text(const Json& summary, const TerminalStyle& style, std::string_view more) {
  const Paint paint(style.colour);
  std::string out = warnings_text(summary, style, paint);
  std::string title;
  for (const Json& part : summary["parts"]) {
    out += part_text(summary["made_from"][0], part, title, style, paint);
    title = part["title"];
  }
  if (!summary["next"].empty()) out += heading(paint, "Next");
  for (const Json& step : summary["next"]) {
    if (step["command"].is_string())
      out += fmt::format("  {}\n", printable(step["command"].get<std::string>()));
    out += reason_text(step["why"].get<std::string>(), style.width);
  }
  if (out.starts_with('\n')) out.erase(0, 1);
  if (!more.empty())
    out += fmt::format("\n{}\n",
                       fmt::join(wrapped(fmt::format("The rest: {}", more), style.width), "\n"));
  return out;
}

}  // namespace

std::string indented(const std::string& text, std::size_t width) {
  constexpr std::size_t kMargin = 2;
  constexpr std::size_t kLeastRoom = 20;
  std::string out;
  for (const std::string& line : wrapped(text, std::max(width, kMargin + kLeastRoom) - kMargin))
    out += fmt::format("  {}\n", line);
  return out;
}

std::string summary_text(const Json& summary, const TerminalStyle& style, std::string_view more) {
  Json shown = summary;
  std::string out;
  shorten(shown, [&](const Json& shorter) {
    out = page_text(shorter, style, more);
    return static_cast<std::size_t>(std::ranges::count(out, '\n')) <= kMostSummaryLines;
  });
  return out;
}

}  // namespace perflab::report
