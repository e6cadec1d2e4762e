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

/// What of the time in communication kernels is waiting, as a sentence.
std::string waiting_words(const Json& row) {
  const double time = row_number(row, "kernel_time_ns"), judged = row_number(row, "judged_time_ns");
  if (!(row_number(row, "collectives") > 0)) return "no communication kernel was recorded";
  if (!(time > 0))
    return fmt::format(
        "{} in the communication kernels of {}",
        duration_text(row_number(row, "collective_time_ns")),
        counted(static_cast<std::size_t>(row_number(row, "collectives")), "operation"));
  std::string words = fmt::format("{} in their kernels", duration_text(time));
  if (judged > 0)
    words += fmt::format(", {} (± {}) of it waiting", duration_text(row_number(row, "wait_ns")),
                         duration_text(row_number(row, "wait_error_ns")));
  if (judged < time) words += fmt::format("; of {} it is not known", duration_text(time - judged));
  return words;
}

/// "8 ranks of 8 on 2 nodes": as sentences of the page.
std::string recorded_words(const Json& row) {
  std::string ranks = counted(static_cast<std::size_t>(row_number(row, "ranks")), "rank");
  if (has_row_number(row, "size"))
    ranks += fmt::format(" of {}", static_cast<std::size_t>(row_number(row, "size")));
  const auto nodes = row["nodes"]["elements"].get<std::size_t>();
  if (nodes > 0) ranks += fmt::format(" on {}", counted(nodes, "node"));
  const auto operations = static_cast<std::size_t>(row_number(row, "operations"));
  if (operations > 0)
    ranks += fmt::format("; {}, of {} it is known who came last", counted(operations, "operation"),
                         static_cast<std::size_t>(row_number(row, "decided")));
  return fmt::format("{}; {}", ranks, waiting_words(row));
}

/// What was not matched, and why.
std::string unmatched_words(const Json& row) {
  return fmt::format("{} of {} left out: {}",
                     counted(static_cast<std::size_t>(row_number(row, "operations")), "operation"),
                     counted(static_cast<std::size_t>(row_number(row, "ranks")), "rank"),
                     row_text(row, "sentence"));
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
  if (!(ranks["job"]["collectives"].number() > 0))
    add_next(summary, {"",
                       "record with the calls and kernels of RCCL (rocprofv3 --kernel-trace "
                       "--rccl-trace), over some steps of the job"});
  else if (const DocumentPlace sizes = missing_of(ranks, "collectives[].bytes"); sizes["remedy"])
    add_next(summary, {"", "for sizes and bandwidths: " + sizes["remedy"].text()});
  if (ranks["ranks"].size() == 1)
    add_next(summary, {"", "give the recordings of the job's other ranks, too"});
  else if (ranks["job"]["missing_rank_count"].number() > 0)
    add_next(summary, {"", "record the ranks that are missing: one of them may be who is late"});
}

}  // namespace

void summarise_ranks(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace ranks = document_of(documents, "ranks");
  const DocumentPlace job = ranks["job"], answer = ranks["answer"];
  take_warnings(summary, ranks["warnings"], ranks["warnings"].texts());
  Json recorded_row = job.excerpt(
      {"ranks", "size", "operations", "groups", "decided", "collectives", "collective_time_ns",
       "kernel_time_ns", "judged_time_ns", "wait_ns", "wait_error_ns", "missing_rank_count"});
  recorded_row["nodes"] = job["nodes"].count();
  Part recorded{.part = "recorded",
                .title = "Recorded",
                .rows = {std::move(recorded_row)},
                .details = "matching"};
  if (ranks["ranks"].size() > 1)
    recorded = rows_of(std::move(recorded), job["unmatched"], [](const DocumentPlace& one) {
      return one.excerpt({"reason", "sentence", "operations", "ranks"});
    });
  add_part(summary, recorded);
  Part who{.part = "who", .title = "Who makes the others wait", .details = "ranks"};
  who.rows.push_back(answer.excerpt({"who"}));
  if (job["judged_time_ns"].number() > 0)
    who.rows.push_back(ranks["stragglers"].excerpt({"pattern", "sentence"}));
  if (answer["victim"]) who.rows.push_back(answer.excerpt({"victim"}));
  add_part(summary, who);
  Part why{.part = "why", .title = "Why", .details = "stragglers"};
  add_part(summary,
           rows_of(std::move(why), ranks["stragglers"]["causes"], [](const DocumentPlace& cause) {
             return cause.excerpt({"rank", "cause", "sentence", "lateness_ns"});
           }));
  Part worth{.part = "worth_mending", .title = "What it would gain", .details = "path"};
  if (ranks["path"])
    worth.rows.push_back(ranks["path"].excerpt({"makespan_ns", "error_ns", "sentence"}));
  else
    worth.missing = missing_of(ranks, "path")["reason"].text();
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
      const bool unmatched = !row_text(row, "reason").empty();
      out += indented((unmatched ? unmatched_words(row) : recorded_words(row)) + ".", width);
      continue;
    }
    for (const char* field : {"who", "sentence", "victim"})
      if (const std::string text = row_text(row, field); !text.empty())
        out += indented(text, width);
  }
  return out;
}

}  // namespace perflab::report
