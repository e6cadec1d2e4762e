// The answer of analyze and profile, of critical-path, and of roofline: a person asks what was
// recorded, where the time went, what limits the kernel that matters most, what it would be worth
// to mend that, and what to do next.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "report/summary/parts.h"
#include "report/summary/summary.h"

namespace perflab::report {
namespace {

/// The element of `array` whose name is that one; a place without anything else.
DocumentPlace named(const DocumentPlace& array, const std::string& name) {
  for (std::size_t i = 0; i < array.size(); ++i)
    if (array[i]["name"].text() == name) return array[i];
  return DocumentPlace(nullptr);
}

/// What critical_path_ns was spent on, the longest first, without nothing.
Part time_part(const DocumentPlace& path, std::string details) {
  Part part{.part = "time", .title = "Where the time went", .details = std::move(details)};
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

/// Kernels by time, each with its verdict and what the run gains when it is twice as fast.
Part kernels_part(const DocumentPlace& kernels, const DocumentPlace& verdicts,
                  const DocumentPlace& dag) {
  Part part{.part = "kernels", .title = "Kernels by time", .details = "kernels"};
  return rows_of(std::move(part), kernels, [&](const DocumentPlace& kernel) {
    Json row = kernel.excerpt({"name", "share", "total_ns", "dispatches", "median_ns"});
    const std::string name = kernel["name"].text();
    if (const DocumentPlace verdict = named(verdicts, name))
      row["verdict"] = verdict.excerpt({"label", "confidence"});
    if (const DocumentPlace path = named(dag["kernels"], name)) add_twice_as_fast(path, row);
    return row;
  });
}

/// The verdict with the two figures that decide it.
Part limit_part(const DocumentPlace& verdict) {
  Part part{.part = "limit", .title = "What limits it", .details = "bottleneck"};
  part.rows.push_back(verdict.excerpt({"name", "label", "confidence"}));
  const DocumentPlace evidence = verdict["evidence"];
  std::vector<std::string> features;
  for (std::size_t i = 0; i < evidence.size() && features.size() < 2; ++i) {
    const std::string feature = evidence[i]["feature"].text();
    if (std::ranges::find(features, feature) != features.end()) continue;
    features.push_back(feature);
    part.rows.push_back(evidence[i].excerpt({"label", "value", "unit", "comparison", "threshold"}));
  }
  if (!features.empty()) return part;
  const DocumentPlace missing = verdict["missing"];
  part.missing = missing.size() > 0 ? missing[0]["reason"].text() : "no rule holds";
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

void add_verdict(const DocumentPlace& verdict, Json& summary) {
  if (!verdict) return;
  add_part(summary, limit_part(verdict));
  add_part(summary, worth_part(verdict));
  if (const DocumentPlace next = verdict["next"])
    add_next(summary, {next["command"].text(), next["why"].text()});
  const DocumentPlace advice = verdict["advice"];
  if (advice.size() > 0) add_next(summary, {"", advice[0]["text"].text()});
}

/// What --what-if asked, before everything else.
void add_what_if(const DocumentPlace& dag, Json& summary) {
  const DocumentPlace asked = dag["what_if"];
  if (!asked) return;
  Part part{.part = "asked", .title = "What if", .details = "critical-path"};
  part.rows.push_back(
      asked.excerpt({"makespan_ns", "gain_ns", "gain_share", "bound"}, "the whole run"));
  add_part(summary, part);
}

}  // namespace

void summarise_recording(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace analysis = document_of(documents, "analysis");
  const DocumentPlace dag = document_of(documents, "dag");
  Part recorded{.part = "recorded", .title = "Recorded"};
  if (analysis["totals"]["dispatches"].number() > 0)
    recorded.rows.push_back(analysis["totals"].excerpt(
        {"dispatches", "kernels", "kernel_time_ns", "span_ns", "gpu_busy_ns"}));
  const DocumentPlace kernels = analysis["kernels"];
  if (kernels.size() > 0)
    recorded.rows.push_back(kernels[0]["gpu"].excerpt({"product", "architecture"}));
  if (const DocumentPlace segments = analysis["segments"];
      segments && segments["count"].number() > 0)
    recorded.rows.push_back(segments.excerpt({"count", "pattern"}, "repeated segments"));
  if (const DocumentPlace stability = document_of(documents, "profile")["stability"];
      stability["cv"])
    recorded.rows.push_back(stability.excerpt({"label", "cv"}, "runs"));
  add_part(summary, recorded);
  add_what_if(dag, summary);
  if (const DocumentPlace path = analysis["critical_path"]) {
    add_part(summary, time_part(path, "critical-path"));
  }
  const DocumentPlace verdicts = analysis["bottlenecks"]["kernels"];
  add_part(summary, kernels_part(kernels, verdicts, dag));
  if (verdicts.size() > 0) add_verdict(verdict_that_matters(verdicts), summary);
}

void summarise_path(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace dag = document_of(documents, "dag");
  Part recorded{.part = "recorded", .title = "Recorded"};
  recorded.rows.push_back(dag["graph"].excerpt({"dispatches", "copies", "calls"}));
  recorded.rows.push_back(dag.excerpt({"critical_path_ns"}));
  add_part(summary, recorded);
  add_what_if(dag, summary);
  add_part(summary, time_part(dag, "critical-path"));
  Part kernels{.part = "kernels", .title = "Kernels on the path", .details = "critical-path"};
  add_part(summary, rows_of(std::move(kernels), dag["kernels"], [](const DocumentPlace& kernel) {
             Json row = kernel.excerpt({"name", "path_share", "path_ns", "dispatches"});
             add_twice_as_fast(kernel, row);
             return row;
           }));
}

void summarise_roofline(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace roofline = document_of(documents, "roofline");
  Part kernels{.part = "kernels", .title = "Kernels against their roofs", .details = "roofline"};
  add_part(summary,
           rows_of(std::move(kernels), roofline["kernels"], [](const DocumentPlace& kernel) {
             Json row = kernel.excerpt({"name", "dispatches"});
             row["time"] = kernel["time"].excerpt({"total_ns"});
             if (const DocumentPlace binding = kernel["binding"])
               row["binding"] = binding.excerpt({"roof", "share"});
             return row;
           }));
  const DocumentPlace verdicts = roofline["bottlenecks"]["kernels"];
  if (verdicts.size() > 0) add_verdict(verdict_that_matters(verdicts), summary);
}

void summarise_process(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace profile = document_of(documents, "profile");
  Part runs{.part = "recorded", .title = "Runs", .details = "profile"};
  runs = rows_of(std::move(runs), profile["stability"]["runs"], [](const DocumentPlace& run) {
    return run.excerpt({"run", "process_wall_ns", "target"});
  });
  const DocumentPlace missing = profile["missing"];
  for (std::size_t i = 0; i < missing.size() && runs.missing.empty(); ++i)
    if (missing[i]["field"].text() == "kernel") runs.missing = missing[i]["reason"].text();
  add_part(summary, runs);
}

}  // namespace perflab::report
