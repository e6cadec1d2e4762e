// Builder of analysis.json.
#include "report/analysis/analysis_document.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "report/bottleneck/bottleneck_json.h"
#include "report/bottleneck/occupancy_gap.h"
#include "report/code/kernel_json.h"
#include "report/critical_path/dag_document.h"
#include "report/kit/document.h"
#include "report/pc_sampling/pc_sampling_json.h"
#include "report/thread_trace/thread_trace_json.h"

namespace perflab::report {
namespace {

Json recordings_json(const trace::Trace& trace) {
  Json out = Json::array();
  for (const trace::Source& source : trace.sources) {
    out.push_back({{"guid", source.guid},
                   {"schema_version", source.schema_version},
                   {"collector", source.collector},
                   {"pass", or_null(source.pass)}});
    if (source.platform != trace::Platform::cuda) continue;
    Json& row = out.back();
    row["platform"] = "cuda";
    row["complete"] = source.complete;
    row["lost_records"] = source.lost_records;
    row["second_client"] = or_null(source.second_client);
    row["not_counted"] = source.not_counted;
  }
  return out;
}

Json agents_json(const trace::Trace& trace) {
  std::vector<std::uint64_t> dispatches(trace.agents.size(), 0);
  for (const trace::Index track : trace.dispatches.track)
    if (const trace::Index agent = trace.tracks[track].agent; agent != trace::kNone)
      ++dispatches[agent];
  Json out = Json::array();
  for (std::size_t i = 0; i < trace.agents.size(); ++i) {
    const trace::Agent& agent = trace.agents[i];
    out.push_back({{"index", agent.absolute_index},
                   {"type", agent.type},
                   {"name", agent.name},
                   {"product", or_null(agent.product)},
                   {"dispatches", dispatches[i]}});
  }
  return out;
}

Json totals_json(const analyze::Analysis& analysis) {
  const analyze::Activity& activity = analysis.activity;
  // Like dispatches, the rest counts only in the timing pass.
  std::uint64_t api_calls = 0;
  std::uint64_t copies = 0;
  std::uint64_t allocations = 0;
  for (const analyze::ApiCall& call : analysis.api_calls) api_calls += call.count;
  for (const analyze::CopyKind& kind : analysis.copies) copies += kind.count;
  for (const analyze::AllocationKind& kind : analysis.allocations) allocations += kind.count;
  return {{"dispatches", analysis.timed_dispatches},
          {"other_pass_dispatches", analysis.other_pass_dispatches},
          {"kernels", analysis.kernels.size()},
          {"api_calls", api_calls},
          {"copies", copies},
          {"allocations", allocations},
          {"span_ns", activity.last_end - activity.first_start},
          {"kernel_time_ns", activity.dispatch_total},
          {"gpu_busy_ns", activity.gpu_busy},
          {"overlapping_dispatches", activity.overlapping_on_queue}};
}

Json selection_json(const analyze::Analysis& analysis) {
  if (!analysis.selection) return nullptr;
  return {{"name", analysis.kernels[analysis.selection->kernel].name},
          {"longest_dispatch_ns", analysis.selection->longest_dispatch},
          {"only_runtime_helpers", analysis.selection->only_runtime_helpers}};
}

Json kernel_json(const analyze::Kernel& kernel) {
  std::vector<Missing> missing = kernel.missing;
  if (!kernel.durations.cv)
    missing.push_back(
        {"cv",
         kernel.durations.count < 2 ? "a single dispatch has no spread" : "the mean duration is 0",
         ""});
  Json out = {{"name", kernel.name},
              {"mangled_name", or_null(kernel.mangled_name)},
              {"runtime_helper", kernel.runtime_helper},
              {"dispatches", kernel.durations.count},
              {"share", kernel.share}};
  out.update(durations_json(kernel.durations));
  out["launches_linked"] = kernel.launches_linked;
  out["launch_shapes"] = kernel.launch_shapes;
  out["resource_variants"] = kernel.resource_variants;
  out["launch"] = launch_json(kernel);
  out["resources"] = resources_json(kernel.resources);
  out["code_object"] = code_json(kernel, missing);
  out["gpu"] = gpu_json(kernel.gpu);
  out["occupancy"] = occupancy_json(kernel.occupancy);
  out["occupancy_gap"] = occupancy_gap_json(kernel, missing);
  out["assumptions"] = kernel.assumptions;
  out["missing"] = missing_json(missing);
  return out;
}

Json api_json(const analyze::Analysis& analysis) {
  Json out = Json::array();
  for (const analyze::ApiCall& call : analysis.api_calls)
    out.push_back({{"category", call.category},
                   {"name", call.name},
                   {"calls", call.count},
                   {"total_ns", call.total},
                   {"min_ns", call.min},
                   {"max_ns", call.max}});
  return out;
}

Json copies_json(const analyze::Analysis& analysis, std::vector<Missing>& missing) {
  Json out = Json::array();
  for (const analyze::CopyKind& kind : analysis.copies) {
    constexpr const char* kNoSizes = "the recording's tables have no sizes of copies";
    constexpr const char* kRemedy = "record with -f rocpd or -f json";
    if (!kind.bytes)
      missing.push_back({fmt::format("copies[{}].bytes", out.size()), kNoSizes, kRemedy});
    if (!kind.gb_per_s)
      missing.push_back({fmt::format("copies[{}].gb_per_s", out.size()),
                         kind.bytes ? "the copies took no time by the trace clock" : kNoSizes,
                         kind.bytes ? "" : kRemedy});
    out.push_back({{"kind", kind.kind},
                   {"copies", kind.count},
                   {"bytes", or_null(kind.bytes)},
                   {"total_ns", kind.total},
                   {"gb_per_s", or_null(kind.gb_per_s)}});
  }
  return out;
}

Json allocations_json(const analyze::Analysis& analysis) {
  Json out = Json::array();
  for (const analyze::AllocationKind& kind : analysis.allocations)
    out.push_back(
        {{"type", kind.type}, {"level", kind.level}, {"count", kind.count}, {"bytes", kind.bytes}});
  return out;
}

Json counters_json(const analyze::Analysis& analysis, std::vector<Missing>& missing) {
  Json out = Json::array();
  for (const analyze::Counter& counter : analysis.counters) {
    if (!counter.total)
      missing.push_back({fmt::format("counters[{}].total", out.size()),
                         "a derived counter is a ratio: its values do not add up", ""});
    out.push_back({{"kernel", counter.kernel},
                   {"name", counter.name},
                   {"pass", counter.pass},
                   {"derived", counter.derived},
                   {"state", analyze::to_string(counter.state)},
                   {"dispatches", counter.dispatches},
                   {"instances", counter.instances},
                   {"total", or_null(counter.total)},
                   {"mean", counter.mean},
                   {"min", counter.min},
                   {"max", counter.max}});
  }
  return out;
}

Json row_counts_json(const std::map<trace::ReadReport::Key, std::uint64_t>& counts) {
  Json out = Json::array();
  for (const auto& [key, rows] : counts)
    out.push_back({{"table", key.first}, {"reason", key.second}, {"rows", rows}});
  return out;
}

Json environment_json(const trace::Trace& trace) {
  std::vector<Json> processes(trace.sources.size(), Json::array());
  for (const trace::Process& process : trace.processes)
    processes[process.source].push_back({{"pid", process.pid}, {"command", process.command}});
  Json recordings = Json::array();
  for (std::size_t i = 0; i < trace.sources.size(); ++i)
    recordings.push_back({{"guid", trace.sources[i].guid},
                          {"file", trace.sources[i].file},
                          {"processes", std::move(processes[i])}});
  return {{"recordings", recordings}};
}

/// Null, and the reason of it in `missing`.
Json explained_null(Missing why, std::vector<Missing>& missing) {
  if (why.reason.empty()) why.reason = "it was not looked for";
  missing.push_back(std::move(why));
  return nullptr;
}

}  // namespace

Json analysis_document(const trace::Trace& trace, const analyze::Analysis& analysis) {
  std::vector<Missing> missing;
  if (!analysis.selection)
    missing.push_back(trace.sources.empty() && (analysis.thread_traces || analysis.pc_sampling)
                          ? Missing{"selected_kernel", analysis.roofline_missing.reason,
                                    analysis.roofline_missing.remedy}
                          : Missing{"selected_kernel", "no kernel dispatch was recorded",
                                    "profile a run that uses the GPU"});
  Json document = {{"schema_version", "1.3.0"},
                   {"document", "analysis"},
                   {"generator", generator_json()},
                   {"synthetic", or_null(trace::synthetic_note(trace))},
                   {"recordings", recordings_json(trace)},
                   {"agents", agents_json(trace)},
                   {"segment", or_null(analysis.segment)},
                   {"totals", totals_json(analysis)},
                   {"timed_under_counters", analysis.timed_under_counters},
                   {"selected_kernel", selection_json(analysis)}};
  document["kernels"] = array_of(analysis.kernels.size(), [&](std::size_t index) {
    return kernel_json(analysis.kernels[index]);
  });
  document["critical_path"] = analysis.critical_path
                                  ? critical_path_summary(trace, *analysis.critical_path)
                                  : explained_null(analysis.critical_path_missing, missing);
  document["segments"] = analysis.segments.segments
                             ? segments_summary(*analysis.segments.segments)
                             : explained_null(analysis.segments.missing, missing);
  document["thread_traces"] = analysis.thread_traces
                                  ? thread_traces_json(*analysis.thread_traces)
                                  : explained_null(analysis.thread_traces_missing, missing);
  document["pc_sampling"] = analysis.pc_sampling
                                ? pc_sampling_json(*analysis.pc_sampling)
                                : explained_null(analysis.pc_sampling_missing, missing);
  document["bottlenecks"] = bottlenecks_json(analysis.bottlenecks);
  document["api_calls"] = api_json(analysis);
  document["copies"] = copies_json(analysis, missing);
  document["allocations"] = allocations_json(analysis);
  document["counters"] = counters_json(analysis, missing);
  document["rows_read"] = trace.report.rows;
  document["rows_dropped"] = row_counts_json(trace.report.dropped);
  document["rows_odd"] = row_counts_json(trace.report.odd);
  document["warnings"] = analysis.warnings;
  document["missing"] = missing_json(missing);
  document["environment"] = environment_json(trace);
  return document;
}

}  // namespace perflab::report
