// The answer about many ranks: what was recorded, who makes the others wait and why, what mending
// it gains, whether the longest collective is slow or waits, what to do next.
#include <fmt/format.h>

#include <algorithm>

#include "base/text/command_line.h"
#include "report/answers/answers.h"
#include "report/excerpt/parts.h"
#include "report/kit/quantities.h"
#include "report/kit/text_parts.h"

namespace perflab::report {
namespace {

/// "8 ranks of 8 on 2 nodes": as a sentence of the page.
std::string recorded_words(const Json& row) {
  std::string ranks = counted(static_cast<std::size_t>(row_number(row, "ranks")), "rank");
  if (has_row_number(row, "size"))
    ranks += fmt::format(" of {}", static_cast<std::size_t>(row_number(row, "size")));
  const auto nodes = row["nodes"]["elements"].get<std::size_t>();
  if (nodes > 0) ranks += fmt::format(" on {}", counted(nodes, "node"));
  return fmt::format(
      "{}; {} in {}, the last arriver of {} is decided; {} of {} in communication kernels is "
      "waiting",
      ranks, counted(static_cast<std::size_t>(row_number(row, "operations")), "operation"),
      counted(static_cast<std::size_t>(row_number(row, "groups")), "group"),
      static_cast<std::size_t>(row_number(row, "decided")),
      duration_text(row_number(row, "wait_ns")), duration_text(row_number(row, "kernel_time_ns")));
}

void add_next_steps(const DocumentPlace& ranks, Json& summary) {
  const DocumentPlace causes = ranks["stragglers"]["causes"];
  if (causes.size() > 0) {
    const DocumentPlace rank = ranks["ranks"][static_cast<std::size_t>(causes[0]["rank"].number())];
    const std::string file = rank["file"].text();
    if (!file.empty() && !ranks["synthetic"])
      add_next(summary, {join_command_line({"rocm-perf", "analyze", file}),
                         fmt::format("what rank {} does, kernel by kernel", rank["label"].text())});
  }
  const DocumentPlace longest = ranks["collectives"][0];
  if (longest && !longest["bytes"])
    add_next(summary, {"",
                       "sizes and bandwidths need RCCL_LOG_ROCTX=1 and markers in the "
                       "recordings (rocprofv3 --rccl-trace --marker-trace)"});
  if (ranks["job"]["missing_rank_count"].number() > 0)
    add_next(summary, {"", "record the ranks that are missing: one of them may be who is late"});
}

}  // namespace

void summarise_ranks(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace ranks = document_of(documents, "ranks");
  const DocumentPlace job = ranks["job"], answer = ranks["answer"];
  take_warnings(summary, ranks["warnings"], ranks["warnings"].texts());
  Json recorded = job.excerpt({"ranks", "size", "operations", "groups", "decided", "wait_ns",
                               "wait_error_ns", "kernel_time_ns", "missing_rank_count"});
  recorded["nodes"] = job["nodes"].count();
  add_part(summary, {.part = "recorded",
                     .title = "Recorded",
                     .rows = {std::move(recorded)},
                     .details = "matching"});
  Part who{.part = "who", .title = "Who makes the others wait", .details = "ranks"};
  who.rows.push_back(answer.excerpt({"who"}));
  who.rows.push_back(ranks["stragglers"].excerpt({"pattern", "sentence"}));
  if (answer["victim"]) who.rows.push_back(answer.excerpt({"victim"}));
  add_part(summary, who);
  Part why{.part = "why", .title = "Why", .details = "stragglers"};
  add_part(summary,
           rows_of(std::move(why), ranks["stragglers"]["causes"], [](const DocumentPlace& cause) {
             return cause.excerpt({"rank", "cause", "sentence", "lateness_ns"});
           }));
  Part worth{.part = "worth_mending", .title = "What it would gain", .details = "path"};
  if (!ranks["path"]) worth.missing = missing_of(ranks, "path")["reason"].text();
  add_part(summary,
           rows_of(std::move(worth), ranks["path"]["what_if"], [](const DocumentPlace& one) {
             return one.excerpt({"text", "gain_ns", "gain_share", "sentence"});
           }));
  Part slow{
      .part = "collectives", .title = "Slow, or waiting for others", .details = "collectives"};
  add_part(summary, rows_of(std::move(slow), ranks["collectives"], [](const DocumentPlace& one) {
             return one.excerpt({"verdict", "sentence", "wait_share", "bus_gb_per_s"});
           }));
  add_next_steps(ranks, summary);
}

std::optional<std::string> ranks_part_text(const Json&, const Json& part, std::size_t width,
                                           const Paint&) {
  std::string out;
  for (const Json& row : part["rows"]) {
    if (part["part"] == "recorded") {
      out += indented(recorded_words(row) + ".", width);
      continue;
    }
    for (const char* field : {"who", "sentence", "victim"})
      if (const std::string text = row_text(row, field); !text.empty())
        out += indented(text, width);
  }
  return out;
}

}  // namespace perflab::report
