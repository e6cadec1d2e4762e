// The page that answers: drawn from summary.json alone. How a figure is written follows from the
// name of its field: *_ns is a time, *share a percentage, *factor a multiple, *bytes a size.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text/number_text.h"
#include "hal/terms.h"
#include "report/answers/answers.h"
#include "report/bottleneck/bottleneck_text.h"
#include "report/excerpt/parts.h"
#include "report/kit/kernel_name.h"
#include "report/kit/quantities.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"
#include "report/summary/shorten.h"
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
  static constexpr auto kTitles = std::to_array<std::pair<std::string_view, std::string_view>>({
      {"verdict.label", "limited by"},
      {"twice_as_fast.gain_share", "2x gains"},
      {"bound.end_to_end_share", "can gain"},
      {"binding.roof", "bound by"},
      {"binding.share", "of roof"},
      {"time.total_ns", "total"},
      {"compute.gflops", "GFLOP/s"},
      {"memory.gb_per_s", "GB/s"},
      {"cycles.cost", "cycles"},
      {"cost_share", "cost"},
      {"stall", "stalled"},
      {"wait_caused", "waited for"},
      {"hits", "executed"},
      {"confidence", "sure"},
      {"dispatch_id", "dispatch"},
      {"waves", "waves traced"},
      {"waves_of_dispatch", "in the dispatch"},
      {"cv", "variation"},
      {"process_wall_ns", "wall time"},
      {"target", "ended"},
      {"share", "share"},
      {"share.value", "share"},
      {"share.low", "at least"},
      {"share.high", "at most"},
      {"quality.delivered", "of the expected"},
      {"total_ns", "total"},
      {"median_ns", "median"},
      {"dispatches", "count"},
      {"path_share", "of path"},
      {"path_ns", "on path"},
      {"time_ns", "time"},
      {"kernel_time_ns", "of kernel time"},
      {"span_ns", "from the first to the last"},
      {"gpu.gpu_busy_ns", "with the GPU busy"},
      {"critical_path_ns", "from the first call to the last end"},
      {"calls", "host calls"},
      {"count", "found"},
      {"name", "kernel"},
  });
  const auto* const known = std::ranges::find(
      kTitles, std::string_view(field), &std::pair<std::string_view, std::string_view>::first);
  if (known != kTitles.end()) return std::string(known->second);
  std::string title = field.substr(field.rfind('.') + 1);
  std::ranges::replace(title, '_', ' ');
  return title;
}

std::string value_text(const std::string& field, const Json& value) {
  if (value.is_null()) return kDash;
  if (value.is_array()) {
    std::vector<std::string> texts;
    for (const Json& one : value) texts.push_back(value_text(field, one));
    return fmt::format("{}", fmt::join(texts, ", "));
  }
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  const auto number = value.get<double>();
  if (field.ends_with("_ns")) return duration_text(number);
  if (field.ends_with("share") || field.ends_with("cv") || field.starts_with("share.") ||
      field.ends_with("delivered"))
    return percent(number);
  if (field.ends_with("factor")) return factor_text(number);
  if (field.ends_with("bytes")) return bytes_text(number);
  if (field.ends_with("gflops") || field.ends_with("gb_per_s"))
    return fmt::format("{:.{}f}", number, number < 1000 ? 1 : 0);
  return number_text(number);
}

/// The field that says what a row is of: it stands last, because it may be cut.
std::string key_of(const Json& rows) {
  for (const char* key : {"name", "what", "text", "line"})
    if (std::ranges::any_of(rows, [&](const Json& row) { return row.contains(key); })) return key;
  return "what";
}

/// The title above it.
std::string key_title(const std::string& key) {
  if (key == "text") return "instruction";
  if (key == "line") return "source line";
  return key == "what" ? "" : "kernel";
}

/// What a narrow table does without, the highest first.
int expendable(const std::string& field) {
  if (field == "twice_as_fast.gain_share") return 3;
  if (field == "stall" || field == "wait_caused") return 2;
  return field == "dispatches" || field == "hits" ? 1 : 0;
}

/// What stands in the summary and would only take room from the names.
bool shown_in_tables(const std::string& field) {
  return field != "verdict.confidence";
}

/// "kernel.hip:12" of "/build/src/kernel.hip:12".
std::string without_folders(std::string_view line) {
  const std::size_t slash = line.find_last_of("/\\");
  return std::string(slash == std::string_view::npos ? line : line.substr(slash + 1));
}

/// Rows under each other: what they are stands last, because it may be cut.
std::string table_text(const Json& part, hal::Platform platform, std::size_t width) {
  using enum TextTable::Align;
  const Json& rows = part["rows"];
  const std::string key = key_of(rows);
  std::vector<std::string> fields;
  for (const Json& row : rows)
    for (const auto& [field, value] : fields_of(row))
      if (field != key && !value.is_null() && shown_in_tables(field) &&
          std::ranges::find(fields, field) == fields.end())
        fields.push_back(field);
  std::vector<TextTable::Column> columns;
  for (const std::string& field : fields) {
    const bool text = std::ranges::any_of(rows, [&](const Json& row) {
      for (const auto& [name, value] : fields_of(row))
        if (name == field) return value.is_string();
      return false;
    });
    columns.push_back({.title = hal::in_terms(title_of(field), platform),
                       .align = text ? left : right,
                       .expendable = expendable(field)});
  }
  columns.push_back({.title = key_title(key),
                     .align = left,
                     .flexible = true,
                     .shorter = key == "name" ? short_kernel_name : nullptr});
  TextTable table(columns);
  for (const Json& row : rows) {
    const std::vector<Field> own = fields_of(row);
    std::vector<std::string> cells;
    for (const std::string& field : fields) {
      const auto found = std::ranges::find(own, field, &Field::first);
      std::string cell = found == own.end() ? kDash : value_text(field, found->second);
      if (field == "binding.roof" && platform == hal::Platform::nvidia)
        cell = hal::field_in_terms(cell, platform);
      cells.push_back(std::move(cell));
    }
    const auto own_key = row.find(key);
    const std::string name = own_key == row.end() ? std::string() : value_text(key, *own_key);
    cells.push_back(key == "line" ? without_folders(name) : name);
    table.add(std::move(cells));
  }
  return table.text(width);
}

/// Where the answer of critical-path says whose GPUs ran; that of others names architectures.
constexpr std::string_view kPlatformField = "environment.platform";

/// Whose words the answer has.
hal::Platform platform_of(const Json& summary) {
  for (const Json& part : summary["parts"])
    for (const Json& row : part["rows"])
      for (const auto& [field, value] : fields_of(row)) {
        if (!value.is_string()) continue;
        if (field == "architecture") return hal::platform_of(value.get_ref<const std::string&>());
        if (field == kPlatformField && value == "cuda") return hal::Platform::nvidia;
      }
  return hal::Platform::amd;
}

/// "1304 dispatches, 24.75 ms of kernel time"; what is null is left out.
std::string facts_line(const Json& row, hal::Platform platform) {
  std::vector<std::string> facts;
  for (const auto& [field, value] : fields_of(row)) {
    if (value.is_null() || field == kPlatformField) continue;
    const bool words = value.is_string();
    const std::string text = value_text(field, value);
    if (words) {
      facts.push_back(field.ends_with("confidence") ? "confidence " + text : text);
      continue;
    }
    std::string title =
        field == "dispatches" ? std::string(hal::terms(platform).dispatches) : title_of(field);
    if (value == 1 && title.ends_with('s'))
      title.erase(title.size() - (title.ends_with("ches") ? 2 : 1));
    facts.push_back(fmt::format("{} {}", text, title));
  }
  const std::string what = row.value("what", std::string());
  return (what.empty() ? "" : what + ": ") + fmt::format("{}", fmt::join(facts, ", "));
}

std::string facts_text(const Json& part, hal::Platform platform, std::size_t width) {
  if (part["rows"].empty()) return {};
  std::string out;
  for (const Json& row : part["rows"]) out += indented(facts_line(row, platform), width);
  return out;
}

/// "1.78x as fast at best: the run gets at most 2.58 ms (8.0 %) shorter".
std::string worth_text(const Json& row, std::size_t width) {
  const auto has = [&](const char* field) { return row.contains(field) && !row[field].is_null(); };
  std::string text;
  if (has("kernel_factor"))
    text = fmt::format("{} as fast at best", value_text("factor", row["kernel_factor"]));
  if (has("end_to_end_ns")) {
    const std::string share =
        has("end_to_end_share") ? fmt::format(" ({})", value_text("share", row["end_to_end_share"]))
                                : "";
    text += text.empty() ? "even if it took no time: " : ": ";
    text += row["end_to_end_ns"].get<double>() > 0
                ? fmt::format("the run gets at most {}{} shorter",
                              value_text("_ns", row["end_to_end_ns"]), share)
                : "the run gets no shorter, since it waits for other work";
  }
  return indented(text, width);
}

/// "paged_attention=2x (256 matched): the whole run takes 29.00 ms instead of 32.17 ms, 3.17 ms
/// (9.9 %) less".
std::string what_if_text(const Json& rows, std::size_t width) {
  const Json& row = rows[0];
  std::vector<std::string> changes;
  for (std::size_t i = 1; i < rows.size(); ++i)
    changes.push_back(fmt::format("{} ({} matched)", rows[i]["text"].get<std::string>(),
                                  rows[i]["matched"].get<std::size_t>()));
  std::string text = fmt::format(
      "{}{}the whole run takes {} instead of {}, {}", fmt::join(changes, ", "),
      changes.empty() ? "" : ": ", value_text("_ns", row["makespan_ns"]),
      value_text("_ns", row["now"]["critical_path_ns"]), value_text("_ns", row["gain_ns"]));
  if (!row["gain_share"].is_null())
    text += fmt::format(" ({})", value_text("share", row["gain_share"]));
  text += " less";
  if (row["bound"].get<bool>()) text += "; it can gain no more than this";
  return indented(text, width);
}

/// The verdict, and under it the figures with what they are compared with.
std::string limit_text(const Json& part, std::size_t width) {
  std::string out;
  for (const Json& row : part["rows"]) {
    if (row.contains("confidence")) {
      const std::size_t room = width - 2;
      out += fmt::format("  {}\n",
                         fit(short_kernel_name(row.value("name", std::string()), room), room));
      const std::string why = part["missing"].is_string()
                                  ? part["missing"].get<std::string>()
                                  : "confidence " + row.value("confidence", std::string());
      out += indented(fmt::format("{}{} {}", row.value("label", std::string()),
                                  part["missing"].is_string() ? ":" : ",", why),
                      width);
      continue;
    }
    const std::string unit = row.value("unit", std::string());
    out += indented(
        fmt::format("- {}: {}, which is {} {}", row.value("label", std::string()),
                    feature_value_text(row.value("value", 0.0), unit),
                    row.value("comparison", std::string()) == "at_least" ? "at least" : "below",
                    feature_value_text(row.value("threshold", 0.0), unit)),
        width);
  }
  return out;
}

/// The lines below the heading of a part that has no form of its own.
std::string drawn_as_all(const Json& part, hal::Platform platform, const TerminalStyle& style) {
  const std::string name = part["part"];
  if (name == "limit") return limit_text(part, style.width);
  if (name == "worth" && !part["rows"].empty()) return worth_text(part["rows"][0], style.width);
  if (name == "asked") return what_if_text(part["rows"], style.width);
  if (!part["rows"].empty() && name != "recorded") return table_text(part, platform, style.width);
  return facts_text(part, platform, style.width);
}

/// `before`: the title of the part above, under which this one stands when it has the same.
std::string part_text(const Json& summary, DrawPart draw, const Json& part,
                      const std::string& before, const TerminalStyle& style, const Paint& paint) {
  const std::string name = part["part"];
  const std::optional<std::string> own =
      draw == nullptr ? std::nullopt : draw(summary, part, style.width, paint);
  // What it is worth stands under what limits it.
  std::string out = name == "worth" || part["title"] == before
                        ? ""
                        : heading(paint, part["title"].get<std::string>());
  out += own ? *own : drawn_as_all(part, platform_of(summary), style);
  if (part["missing"].is_string() && name != "limit")
    out += indented(fmt::format("{}not known: {}", name == "worth" ? "what that is worth is " : "",
                                part["missing"].get<std::string>()),
                    style.width);
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

/// The first lines of a reason, behind `first` and under it; "…" where there is more.
std::string reason_text(std::string_view first, const std::string& reason, std::size_t width) {
  constexpr std::size_t kReasonLines = 3;
  constexpr std::size_t kLeastRoom = 20, kMark = 2;
  const std::size_t margin = first.size();
  std::vector<std::string> lines =
      wrapped(reason, std::max(width, margin + kMark + kLeastRoom) - margin - kMark);
  if (lines.size() > kReasonLines) {
    lines.resize(kReasonLines);
    lines.back() += " …";
  }
  std::string out;
  for (const std::string& line : lines)
    out += fmt::format("{:{}}{}\n", out.empty() ? first : "", margin, line);
  return out;
}

/// A command with its reason under it, or what is no command.
std::string next_step_text(const Json& step, std::size_t width) {
  const std::string why = step["why"];
  if (!step["command"].is_string()) return reason_text("  - ", why, width);
  return fmt::format("  {}\n{}", printable(step["command"].get<std::string>()),
                     reason_text("    ", why, width));
}

/// The ways to the rest, "; " between them: a line is broken only there.
std::string more_lines(std::string_view more, std::size_t width) {
  constexpr std::string_view kLabel = "The rest: ", kBetween = "; ";
  std::string out, line(kLabel);
  for (std::size_t at = 0; at < more.size();) {
    const std::size_t end = std::min(more.find(kBetween, at), more.size());
    const std::string_view way = more.substr(at, end - at);
    at = end == more.size() ? end : end + kBetween.size();
    if (line.size() > kLabel.size() && line.size() + way.size() + 1 > width) {
      out += fmt::format("{}\n", line.substr(0, line.size() - 1));
      line = std::string(kLabel.size(), ' ');
    }
    line += fmt::format("{}{}", way, at < more.size() ? kBetween : "");
  }
  return fmt::format("\n{}{}\n", out, line);
}

std::string page_text(const Json& summary, const TerminalStyle& style, std::string_view more) {
  const Paint paint(style.colour);
  std::string out = warnings_text(summary, style, paint);
  const Json& made_from = summary["made_from"];
  const Answer* const answer = answer_of(
      [&](std::string_view name) { return std::ranges::count(made_from, Json(name)) > 0; });
  std::string title;
  for (const Json& part : summary["parts"]) {
    out +=
        part_text(summary, answer == nullptr ? nullptr : answer->draw, part, title, style, paint);
    title = part["title"];
  }
  if (!summary["next"].empty()) out += heading(paint, "Next");
  for (const Json& step : summary["next"]) out += next_step_text(step, style.width);
  if (out.starts_with('\n')) out.erase(0, 1);
  if (!more.empty()) out += more_lines(more, style.width);
  return out;
}

}  // namespace

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
