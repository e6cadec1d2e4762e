// The answer of analyze and profile, of critical-path, and of roofline: a person asks what was
// recorded, where the time went, what limits the kernel that matters most, what it would be worth
// to mend that, and what to do next.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text/command_line.h"
#include "report/answers/answers.h"
#include "report/answers/next_steps.h"
#include "report/answers/samples_summary.h"
#include "report/answers/trace_summary.h"
#include "report/excerpt/parts.h"

namespace perflab::report {
namespace {

/// The element of `array` whose name is that one; a place without anything else.
DocumentPlace named(const DocumentPlace& array, const std::string& name) {
  for (std::size_t i = 0; i < array.size(); ++i)
    if (array[i]["name"].text() == name) return array[i];
  return DocumentPlace(nullptr);
}

/// What critical_path_ns was spent on, the longest first, without nothing. `what_if`: the page also
/// has a run that was simulated, of which this is not.
Part time_part(const DocumentPlace& path, bool what_if) {
  Part part{.part = "time",
            .title = what_if ? "Where the time went, as recorded" : "Where the time went",
            .details = "critical-path"};
  const DocumentPlace attribution = path["attribution"];
  const DocumentPlace host = attribution["host"];
  struct Share {
    const char* what;
    DocumentPlace at;
  };
  std::vector<Share> all = {{"kernels", attribution["kernel"]},
                            {"copies", attribution["copy"]},
                            {"launch latency", attribution["launch_latency"]},
                            {"host: inside API calls", host["calls"]},
                            {"host: return from waiting", host["sync_return"]},
                            {"host: own code", host["code"]},
                            {"idle", attribution["idle"]}};
  std::erase_if(all, [](const Share& one) { return one.at["time_ns"].number() <= 0; });
  std::ranges::stable_sort(all, std::ranges::greater{},
                           [](const Share& one) { return one.at["time_ns"].number(); });
  for (const Share& one : all) {
    if (part.rows.size() == kMostSummaryRows) break;
    part.rows.push_back(one.at.excerpt({"share", "time_ns"}, one.what));
  }
  part.left_out = all.size() - part.rows.size();
  return part;
}

/// The verdict whose kernel shortens the run most; without such a figure, that of the kernel with
/// the most time.
DocumentPlace verdict_that_matters(const DocumentPlace& verdicts) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const double share = verdicts[i]["bound"]["end_to_end_share"].number();
    if (share > (best ? verdicts[*best]["bound"]["end_to_end_share"].number() : 0.0)) best = i;
  }
  return verdicts[best.value_or(0)];
}

/// What the run gains when the kernel, an element of dag.json's `kernels`, is twice as fast.
void add_twice_as_fast(const DocumentPlace& kernel, Json& row) {
  const DocumentPlace gains = kernel["gains"];
  for (std::size_t i = 0; i < gains.size(); ++i)
    if (gains[i]["factor"].number() == 2) row["twice_as_fast"] = gains[i].excerpt({"gain_share"});
}

/// Kernels by time, each with its verdict and what the run gains when it is twice as fast, and at
/// most.
Part kernels_part(const DocumentPlace& kernels, const DocumentPlace& verdicts,
                  const DocumentPlace& dag) {
  Part part{.part = "kernels", .title = "Kernels by time", .details = "kernels"};
  return rows_of(std::move(part), kernels, [&](const DocumentPlace& kernel) {
    Json row = kernel.excerpt({"name", "share", "total_ns", "dispatches"});
    const std::string name = kernel["name"].text();
    if (const DocumentPlace path = named(dag["kernels"], name)) add_twice_as_fast(path, row);
    if (const DocumentPlace verdict = named(verdicts, name)) {
      if (verdict["bound"]["end_to_end_share"])
        row["bound"] = verdict["bound"].excerpt({"end_to_end_share"});
      row["verdict"] = verdict.excerpt({"label", "confidence"});
    }
    return row;
  });
}

/// How the kernel of the verdict was chosen (verdict_that_matters).
std::string limit_title(const DocumentPlace& verdict, const DocumentPlace& kernels) {
  if (verdict["bound"]["end_to_end_share"].number() > 0)
    return "What limits the kernel that could shorten the run most";
  if (kernels.size() == 0) return "What limits the traced kernel";
  return kernels[0]["name"].text() == verdict["name"].text()
             ? "What limits the kernel with the most time"
             : "What limits the kernel with the most time of those with counters";
}

/// The verdict with the two figures that decide it. `kernels`: by time, none without times.
Part limit_part(const DocumentPlace& verdict, const DocumentPlace& kernels) {
  Part part{.part = "limit", .title = limit_title(verdict, kernels), .details = "bottleneck"};
  part.rows.push_back(verdict.excerpt({"name", "label", "confidence"}));
  const DocumentPlace evidence = verdict["evidence"];
  std::vector<std::string> features;
  for (std::size_t i = 0; i < evidence.size() && features.size() < 2; ++i) {
    const std::string feature = evidence[i]["feature"].text();
    if (std::ranges::find(features, feature) != features.end()) continue;
    features.push_back(feature);
    part.rows.push_back(evidence[i].excerpt({"label", "value", "unit", "comparison", "threshold"}));
  }
  if (features.empty()) part.missing = "no rule is met strongly enough";
  return part;
}

/// What the run gains at most, with the kernel at its nearest roof.
Part worth_part(const DocumentPlace& verdict) {
  Part part{.part = "worth", .title = "What it would be worth", .details = "bottleneck"};
  const DocumentPlace bound = verdict["bound"];
  if (bound["kernel_factor"] || bound["end_to_end_ns"]) {
    part.rows.push_back(
        bound.excerpt({"kernel_factor", "end_to_end_ns", "end_to_end_share"}, "at most"));
    return part;
  }
  const DocumentPlace missing = bound["missing"];
  if (missing.size() > 0) part.missing = missing[0]["reason"].text();
  return part;
}

void add_verdict(const DocumentPlace& verdict, const DocumentPlace& kernels, Json& summary) {
  if (!verdict) return;
  const Part limit = limit_part(verdict, kernels);
  const Part worth = worth_part(verdict);
  add_part(summary, limit);
  // Without a verdict, why nothing bounds it says no more.
  if (limit.missing.empty() || !worth.rows.empty()) add_part(summary, worth);
}

std::vector<std::string> kernel_names(const DocumentPlace& kernels) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kernels.size(); ++i) names.push_back(kernels[i]["name"].text());
  return names;
}

/// The run with the kernel at its bound, simulated. Nothing where the bound says too little, or
/// when a what-if was asked already.
std::optional<NextStep> what_if_step(const DocumentPlace& dag, const DocumentPlace& verdict,
                                     const RecordedRun& run) {
  constexpr double kWorthwhile = 0.005;
  const DocumentPlace bound = verdict["bound"];
  const std::string pattern = kernel_pattern(verdict["name"].text(), kernel_names(dag["kernels"]));
  if (!dag || dag["what_if"] || !bound["kernel_factor"] || pattern.empty() || run.files.empty() ||
      bound["end_to_end_share"].number() < kWorthwhile)
    return std::nullopt;
  std::vector<std::string> words = {"rocm-perf", "critical-path"};
  words.insert(words.end(), run.files.begin(), run.files.end());
  if (dag["segment"])
    words.insert(words.end(), {"--segment", fmt::format("{}", dag["segment"].number())});
  // What --what-if calls copies, launches and waiting.
  const bool taken = pattern == "copy" || pattern == "launch" || pattern == "sync";
  words.insert(words.end(),
               {"--what-if", fmt::format("{}{}={}", taken ? "kernel:" : "", pattern,
                                         factor_text(bound["kernel_factor"].number()))});
  return NextStep{.command = join_command_line(words),
                  .why = "the whole run with this kernel that much faster, simulated"};
}

/// Where the longest kernel is one of a communication library: it takes the recordings of all ranks
/// to tell waiting from transfer.
void add_ranks_step(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace analysis = document_of(documents, "analysis");
  const DocumentPlace without = analysis["bottlenecks"]["without_verdict"];
  const std::vector<std::string> names = kernel_names(without);
  const RecordedRun run = recorded_run(documents);
  if (names.empty() || run.files.empty() ||
      std::ranges::find(names, analysis["kernels"][0]["name"].text()) == names.end())
    return;
  std::vector<std::string> words = {"rocm-perf", "ranks"};
  words.insert(words.end(), run.files.begin(), run.files.end());
  add_next(summary, {join_command_line(words),
                     "with the recordings of the other ranks: which of them the longest kernel "
                     "waits for, and why"});
}

/// What to measure, to try and to simulate for the kernel of the verdict.
void add_steps(std::span<const NamedDocument> documents, const DocumentPlace& verdict,
               Json& summary) {
  if (!verdict) return;
  const RecordedRun run = recorded_run(documents);
  const bool counted = static_cast<bool>(document_of(documents, "roofline"));
  if (verdict["next"] && !run.synthetic) add_next(summary, measuring_step(verdict, run, counted));
  const DocumentPlace advice = verdict["advice"];
  if (advice.size() > 0) add_next(summary, {"", advice[0]["text"].text()});
  if (const auto step = what_if_step(document_of(documents, "dag"), verdict, run))
    add_next(summary, *step);
}

/// What --what-if asked, before everything else.
void add_what_if(const DocumentPlace& dag, Json& summary) {
  const DocumentPlace asked = dag["what_if"];
  if (!asked) return;
  Part part{.part = "asked", .title = "What if", .details = "critical-path"};
  Json row = asked.excerpt({"makespan_ns", "gain_ns", "gain_share", "bound"}, "the whole run");
  row["now"] = dag.excerpt({"critical_path_ns"});
  part.rows.push_back(std::move(row));
  const DocumentPlace changes = asked["changes"];
  for (std::size_t i = 0; i < changes.size(); ++i)
    if (i < kMostSummaryRows)
      part.rows.push_back(changes[i].excerpt({"text", "matched"}));
    else
      ++part.left_out;
  add_part(summary, part);
}

/// The program, the work, the GPU, and how steady it was.
Part recorded_part(std::span<const NamedDocument> documents) {
  const DocumentPlace analysis = document_of(documents, "analysis");
  Part recorded{.part = "recorded", .title = "Recorded"};
  const DocumentPlace process = analysis["environment"]["recordings"][0]["processes"][0];
  if (!process["command"].text().empty()) recorded.rows.push_back(process.excerpt({"command"}));
  if (const DocumentPlace totals = analysis["totals"]; totals["dispatches"].number() > 0) {
    recorded.rows.push_back(totals.excerpt({"dispatches", "kernels", "kernel_time_ns"}));
    const DocumentPlace path = analysis["critical_path"];
    Json row = path ? path.excerpt({"critical_path_ns"}) : totals.excerpt({"span_ns"});
    row["gpu"] = totals.excerpt({"gpu_busy_ns"});
    recorded.rows.push_back(std::move(row));
  } else {
    recorded.missing = missing_of(analysis, "selected_kernel")["reason"].text();
  }
  if (analysis["kernels"].size() > 0)
    recorded.rows.push_back(analysis["kernels"][0]["gpu"].excerpt({"product", "architecture"}));
  if (const DocumentPlace segments = analysis["segments"];
      segments && segments["count"].number() > 0)
    recorded.rows.push_back(segments.excerpt({"count", "pattern"}, "repeated segments"));
  if (const DocumentPlace stability = document_of(documents, "profile")["stability"];
      stability["cv"])
    recorded.rows.push_back(stability.excerpt({"label", "cv"}, "runs"));
  return recorded;
}

}  // namespace

void summarise_recording(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace analysis = document_of(documents, "analysis");
  const DocumentPlace dag = document_of(documents, "dag");
  const DocumentPlace kernels = analysis["kernels"];
  const DocumentPlace verdicts = analysis["bottlenecks"]["kernels"];
  const DocumentPlace traces = analysis["thread_traces"];
  const DocumentPlace samples = analysis["pc_sampling"];
  if (kernels.size() == 0 && traces) {
    const DocumentPlace traced = main_trace(traces);
    add_trace(traces, traced, summary);
    const DocumentPlace verdict = verdict_of_trace(verdicts, traces, traced);
    add_verdict(verdict, kernels, summary);
    add_sampled_parts(main_samples(samples), summary);
    add_steps(documents, verdict, summary);
    return;
  }
  if (kernels.size() == 0 && samples) {
    add_samples(samples, main_samples(samples), summary);
    if (verdicts.size() > 0) {
      add_verdict(verdict_that_matters(verdicts), kernels, summary);
      add_steps(documents, verdict_that_matters(verdicts), summary);
    }
    return;
  }
  add_part(summary, recorded_part(documents));
  add_what_if(dag, summary);
  Part time = time_part(analysis["critical_path"], static_cast<bool>(dag["what_if"]));
  if (time.rows.empty()) time.missing = missing_of(analysis, "critical_path")["reason"].text();
  add_part(summary, time);
  add_part(summary, kernels_part(kernels, verdicts, dag));
  add_ranks_step(documents, summary);
  if (verdicts.size() == 0) return;
  const DocumentPlace verdict = verdict_that_matters(verdicts);
  add_verdict(verdict, kernels, summary);
  if (const DocumentPlace traced = verdict["thread_trace"])
    add_part(summary, hot_part(traces["kernels"][static_cast<std::size_t>(traced.number())]));
  if (samples && verdict["kernel"])
    add_sampled_parts(main_samples(samples, static_cast<std::size_t>(verdict["kernel"].number())),
                      summary);
  add_steps(documents, verdict, summary);
}

void summarise_path(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace dag = document_of(documents, "dag");
  Part recorded{.part = "recorded", .title = "Recorded"};
  const DocumentPlace process = dag["environment"]["processes"][0];
  if (!process["command"].text().empty()) recorded.rows.push_back(process.excerpt({"command"}));
  Json graph = dag["graph"].excerpt({"dispatches", "copies", "calls"});
  graph["environment"] = dag["environment"].excerpt({"platform"});
  recorded.rows.push_back(std::move(graph));
  recorded.rows.push_back(dag.excerpt({"critical_path_ns"}));
  add_part(summary, recorded);
  add_what_if(dag, summary);
  add_part(summary, time_part(dag, static_cast<bool>(dag["what_if"])));
  const DocumentPlace on_path = dag["kernels"];
  Part kernels{.part = "kernels", .title = "Kernels on the path", .details = "critical-path"};
  add_part(summary, rows_of(std::move(kernels), on_path, [](const DocumentPlace& kernel) {
             Json row = kernel.excerpt({"name", "path_share", "path_ns", "dispatches"});
             add_twice_as_fast(kernel, row);
             return row;
           }));
  const RecordedRun run = recorded_run(documents);
  if (on_path.size() == 0 || run.files.empty()) return;
  std::vector<std::string> words = {"rocm-perf", "analyze"};
  words.insert(words.end(), run.files.begin(), run.files.end());
  add_next(summary, {join_command_line(words), "what limits these kernels, and what to try"});
}

void summarise_roofline(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace roofline = document_of(documents, "roofline");
  Part recorded{.part = "recorded", .title = "Recorded"};
  if (const DocumentPlace first = roofline["kernels"][0])
    recorded.rows.push_back(first.excerpt({"product", "architecture"}));
  add_part(summary, recorded);
  Part kernels{.part = "kernels", .title = "Kernels against their roofs", .details = "roofline"};
  add_part(summary,
           rows_of(std::move(kernels), roofline["kernels"], [](const DocumentPlace& kernel) {
             Json row = kernel.excerpt({"name", "dispatches"});
             row["time"] = kernel["time"].excerpt({"total_ns"});
             row["compute"] = kernel["compute"].excerpt({"gflops"});
             if (const DocumentPlace memory = kernel["levels"][0])
               row["memory"] = memory.excerpt({"gb_per_s"});
             if (const DocumentPlace binding = kernel["binding"])
               row["binding"] = binding.excerpt({"roof", "share"});
             return row;
           }));
  const DocumentPlace verdicts = roofline["bottlenecks"]["kernels"];
  if (verdicts.size() == 0) return;
  const DocumentPlace verdict = verdict_that_matters(verdicts);
  add_verdict(verdict, roofline["kernels"], summary);
  add_steps(documents, verdict, summary);
}

void summarise_process(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace profile = document_of(documents, "profile");
  Part runs{.part = "runs", .title = "Timed runs", .details = "profile"};
  add_part(summary,
           rows_of(std::move(runs), profile["stability"]["runs"], [](const DocumentPlace& run) {
             return run.excerpt({"run", "process_wall_ns", "target"});
           }));
  add_part(summary, {.part = "time",
                     .title = "Where the time went",
                     .missing = missing_of(profile, "kernel")["reason"].text()});
  if (const std::string program = recorded_run(documents).program; !program.empty())
    add_next(summary, {"rocm-perf profile -- " + program, "the times of its kernels"});
}

}  // namespace perflab::report
