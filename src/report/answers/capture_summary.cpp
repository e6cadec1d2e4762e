// The answer of capture info and check: whether the dispatch can be replayed, at all and on this
// machine, and why not; which dispatch it is; what was found and what was not captured.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text/command_line.h"
#include "base/text/number_text.h"
#include "base/text/pattern.h"
#include "hal/terms.h"
#include "report/answers/answers.h"
#include "report/excerpt/parts.h"
#include "report/kit/quantities.h"
#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

Part replay_part(const DocumentPlace& capture) {
  Part part{.part = "replay", .title = "Can it be replayed?", .details = "findings"};
  part.rows.push_back(capture["replay"].excerpt({"possible", "problem"}, "at all"));
  if (const DocumentPlace here = capture["environment"]["replay"])
    part.rows.push_back(here.excerpt({"possible", "problem"}, "on this machine"));
  if (!capture["replay"]["possible"]) part.missing = "capture info does not look for it";
  return part;
}

Part captured_part(const DocumentPlace& capture) {
  Part part{.part = "captured", .title = "Captured", .details = "dispatch"};
  part.rows.push_back(
      capture["kernel"].excerpt({"name", "ordinal", "grid", "workgroup", "captured_ns"}));
  part.rows.push_back(
      capture["machine"].excerpt({"isa", "product_name", "gpu_index", "rocm_version"}));
  part.rows.push_back(capture["totals"].excerpt(
      {"regions", "bytes", "not_captured", "changed_pages", "file_bytes"}));
  return part;
}

/// Errors, warnings and notes, but for the limits, which are warnings of the summary.
Part findings_part(const DocumentPlace& capture) {
  Part part{.part = "findings", .title = "Found", .details = "findings"};
  const DocumentPlace findings = capture["findings"];
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (findings[i]["rule"].text() == "limit") continue;
    if (part.rows.size() < kMostSummaryRows)
      part.rows.push_back(findings[i].excerpt({"severity", "rule", "sentence", "remedy"}));
    else
      ++part.left_out;
  }
  return part;
}

/// Memory whose contents the capture lacks.
Part not_captured_part(const DocumentPlace& capture) {
  Part part{.part = "not_captured", .title = "Not captured", .details = "regions"};
  const DocumentPlace regions = capture["regions"];
  for (std::size_t i = 0; i < regions.size(); ++i) {
    if (!regions[i]["not_captured"]) continue;
    if (part.rows.size() < kMostSummaryRows)
      part.rows.push_back(regions[i].excerpt({"base", "bytes", "origin", "not_captured"}));
    else
      ++part.left_out;
  }
  return part;
}

NextStep capture_step(const DocumentPlace& capture) {
  const std::string folder = capture["environment"]["capture_folder"].text();
  const DocumentPlace possible = capture["replay"]["possible"];
  const DocumentPlace here = capture["environment"]["replay"];
  if (!possible)
    return {join_command_line({"rocm-perf", "capture", "check", folder}),
            "says whether every file is whole, and whether a replay can restore all of it"};
  if (!possible.holds()) {
    // The pattern that the dispatch was counted with is not recorded: its number could be another.
    std::string why = "takes a dispatch of this kernel again; add --dispatch N for a certain one";
    const DocumentPlace first = capture["findings"][std::size_t{0}];
    if (first["remedy"]) why += "; " + first["remedy"].text();
    return {
        join_command_line({"rocm-perf", "isolate", "--kernel",
                           fmt::format("^{}$", quoted_pattern(capture["kernel"]["symbol"].text())),
                           "--out", folder + ".new", "--", "./app"}),
        why};
  }
  if (here["possible"].holds())
    return {join_command_line({"rocm-perf", "replay", "verify", folder}),
            "proves that the replay computes what was captured"};
  if (here["gpus"].size() > 0)
    return {"", "replay it on a machine with the GPU that it was captured on"};
  return {"rocm-perf doctor replay", "says what a replay lacks on this machine"};
}

/// "yes", or "no" and why, in two lines at most: what was found stands below in full.
std::string yes_or_no(const Json& row, std::size_t room) {
  constexpr std::size_t kMostReasonLines = 2;
  if (row["possible"].get<bool>()) return "yes";
  const std::string problem = row_text(row, "problem");
  std::vector<std::string> lines = wrapped("no" + (problem.empty() ? "" : ": " + problem), room);
  if (lines.size() > kMostReasonLines) {
    lines.resize(kMostReasonLines);
    lines.back() += " …";
  }
  return fmt::format("{}", fmt::join(lines, " "));
}

std::string replay_lines(const Json& rows, std::size_t width) {
  constexpr std::size_t kMargin = 19, kLeastRoom = 20, kMark = 2;
  std::string out;
  for (const Json& row : rows) {
    if (row["possible"].is_null()) continue;  // the part says why
    const std::size_t room = std::max(width, kMargin + kLeastRoom) - kMargin - kMark;
    std::string lines = margined(yes_or_no(row, room), width, kMargin);
    lines.replace(0, kMargin, fmt::format("  {:<{}}", row_text(row, "what"), kMargin - 2));
    out += lines;
  }
  return out;
}

std::string sizes_of(const Json& sizes) {
  std::vector<std::string> texts;
  for (const Json& one : sizes) texts.push_back(number_text(one.get<double>()));
  return fmt::format("{}", fmt::join(texts, " x "));
}

/// The words of the platform that the rows are of: one of them has the GPU.
const hal::Terms& terms_of_rows(const Json& rows) {
  for (const Json& row : rows)
    if (row.contains("isa")) return hal::terms(hal::platform_of(row_text(row, "isa")));
  return hal::terms(hal::Platform::amd);
}

std::string captured_lines(const Json& rows, std::size_t width) {
  const hal::Terms& t = terms_of_rows(rows);
  std::string out;
  for (const Json& row : rows) {
    std::string text;
    if (row.contains("grid")) {
      out += fmt::format("  {}\n", fit(row_text(row, "name"), width - 2));
      text =
          fmt::format("{} {}: {} {} in {} of {}, {}", t.dispatch, row_number(row, "ordinal"),
                      sizes_of(row["grid"]), t.work_items, t.workgroups, sizes_of(row["workgroup"]),
                      has_row_number(row, "captured_ns")
                          ? duration_text(row_number(row, "captured_ns")) + " on the GPU"
                          : std::string("not timed"));
    } else if (row.contains("isa")) {
      const std::string product = row_text(row, "product_name");
      const std::string rocm = row_text(row, "rocm_version");
      text = fmt::format("on GPU {}, {}{}{}", row_number(row, "gpu_index"), row_text(row, "isa"),
                         product.empty() ? product : fmt::format(" ({})", product),
                         rocm.empty() ? rocm : fmt::format(", ROCm {}", rocm));
    } else {
      text = fmt::format(
          "{} of memory, {} on disk; the {} changed {}", bytes_text(row_number(row, "bytes")),
          bytes_text(row_number(row, "file_bytes")), t.dispatch,
          counted(static_cast<std::size_t>(row_number(row, "changed_pages")), "page"));
      if (row_number(row, "not_captured") > 0)
        text +=
            fmt::format("; {} of {} not captured", row_number(row, "not_captured"),
                        counted(static_cast<std::size_t>(row_number(row, "regions")), "region"));
    }
    out += margined(text, width, 2);
  }
  return out;
}

std::string findings_lines(const Json& rows, std::size_t width, const Paint& paint) {
  constexpr std::size_t kMargin = 4;
  std::string out;
  for (const Json& row : rows) {
    const std::string severity = row_text(row, "severity");
    const std::string_view colour = severity == "error"     ? paint.bad
                                    : severity == "warning" ? paint.warning
                                                            : std::string_view();
    out += fmt::format("  {}{}{} {}\n", colour, severity, colour.empty() ? colour : paint.end,
                       row_text(row, "rule"));
    out += margined(row_text(row, "sentence"), width, kMargin);
    if (const std::string remedy = row_text(row, "remedy"); !remedy.empty())
      out += margined("remedy: " + remedy, width, kMargin);
  }
  return out;
}

std::string not_captured_lines(const Json& rows, std::size_t width) {
  std::string out;
  for (const Json& row : rows)
    out += margined(
        fmt::format("{}, {} ({}): {}", row_text(row, "base"), bytes_text(row_number(row, "bytes")),
                    row_text(row, "origin"), row_text(row, "not_captured")),
        width, 2);
  return out;
}

}  // namespace

void summarise_capture(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace capture = document_of(documents, "capture");
  // What could not be captured as it was changes the answer: it stands above it.
  take_warnings(summary, capture["limits"], capture["limits"].texts());
  add_part(summary, replay_part(capture));
  add_part(summary, captured_part(capture));
  add_part(summary, findings_part(capture));
  add_part(summary, not_captured_part(capture));
  add_next(summary, capture_step(capture));
}

std::optional<std::string> capture_part_text(const Json& /*summary*/, const Json& part,
                                             std::size_t width, const Paint& paint) {
  const std::string name = part["part"];
  const Json& rows = part["rows"];
  if (name == "replay") return replay_lines(rows, width);
  if (name == "captured") return captured_lines(rows, width);
  if (name == "findings") return findings_lines(rows, width, paint);
  if (name == "not_captured") return not_captured_lines(rows, width);
  return std::nullopt;
}

}  // namespace perflab::report
