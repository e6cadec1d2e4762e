// The order of the analysis, and the warnings that a person should see next to the figures.
#include "analyze/pipeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <set>

#include "analyze/activity/activity.h"
#include "analyze/bottleneck/dispatch_gaps.h"
#include "analyze/kernels/kernel_table.h"
#include "analyze/pc_sampling/make_pc_sampling.h"
#include "analyze/roofline/explain_occupancy.h"
#include "analyze/roofline/make_roofline.h"
#include "analyze/roofline/own_calibration.h"
#include "analyze/roofline/packed_code.h"
#include "analyze/scope/passes.h"
#include "analyze/scope/timing_scope.h"
#include "analyze/thread_trace/make_thread_traces.h"
#include "base/parallel.h"
#include "base/units.h"
#include "hal/terms.h"
#include "trace/api_calls.h"
#include "trace/read/read_trace.h"

namespace perflab::analyze {
namespace {

/// Tells which step of analyze_files() begins. Where each stands in the whole was measured on runs
/// of 1 to 10 million dispatches (bench/README.md); without the critical path the rest is quick.
struct Stages {
  explicit Stages(const AnalyzeOptions& options)
      : tell_(options.progress), path_(options.find_critical_path) {}
  [[nodiscard]] double read() const { return path_ ? 0.62 : 0.86; }
  void begin(std::string_view what, double done) const {
    if (tell_) tell_(what, done);
  }

 private:
  const TellProgress& tell_;
  bool path_;
};

/// What the graph, its solutions and the documents take at their peak beside the Trace
/// (bench/README.md, "Huge recordings").
constexpr std::uint64_t kPathBytesPerDispatch = 45;

/// What a recording says that it does not hold. Figures are then of a part of the program.
void add_losses(const trace::Trace& trace, const TimingScope& scope, Analysis& analysis) {
  std::size_t unfinished = 0;
  std::int64_t lost = 0;
  std::set<std::string> others;
  for (std::size_t i = 0; i < trace.sources.size(); ++i) {
    const trace::Source& source = trace.sources[i];
    if (!scope.source_counts[i]) continue;
    unfinished += source.complete ? 0 : 1;
    lost = add_saturating(lost, source.lost_records);
    if (!source.second_client.empty()) others.insert(source.second_client);
  }
  const auto warn = [&](std::string text) { analysis.warnings.push_back(std::move(text)); };
  if (unfinished > 0)
    warn(fmt::format(
        "{} not finished: the program ended before its last records were written, so "
        "that what it did at the end is missing from every figure",
        unfinished == 1 ? "a recording is" : fmt::format("{} recordings are", unfinished)));
  if (lost > 0)
    warn(fmt::format("{} dropped by CUPTI: counts and times are too small by them",
                     lost == 1 ? "1 record was" : fmt::format("{} records were", lost)));
  if (!others.empty())
    warn(
        fmt::format("the program itself used CUPTI ({}): one of the two profilers saw less than "
                    "there was; run it without its own profiling",
                    fmt::join(others, ", ")));
}

void add_warnings(const trace::Trace& trace, const TimingScope& scope, Analysis& analysis) {
  const auto warn = [&](std::string text) { analysis.warnings.push_back(std::move(text)); };
  add_losses(trace, scope, analysis);
  if (analysis.timed_under_counters && scope.times_known)
    warn(
        "times were taken while counters were collected: dispatches ran one after the other, and "
        "each pass differs");
  if (scope.unlabelled_counter_sources > 1)
    warn(
        fmt::format("{} recordings hold counters but are in no pass_N folder: they are taken as "
                    "processes of one run",
                    scope.unlabelled_counter_sources));
  if (scope.sequential > 1)
    warn(
        fmt::format("{} recordings of the same command ran one after the other: they are taken as "
                    "processes of one run; analyse them one by one if each is a run",
                    scope.sequential));
  if (analysis.selection && analysis.selection->only_runtime_helpers)
    warn(
        "only kernels of the runtime (its copies and fills) were dispatched: the longest of them "
        "is reported");
  const hal::Terms& words = hal::terms(
      !analysis.kernels.empty() ? hal::platform_of(analysis.kernels.front().gpu.architecture)
                                : hal::Platform::amd);
  if (const auto many = analysis.activity.overlapping_on_queue; many > 0)
    warn(fmt::format("{} {} began before an earlier one of {} {} had ended: their times overlap",
                     many, many == 1 ? words.dispatch : words.dispatches,
                     many == 1 ? "its" : "their", words.queue));
  if (analysis.activity.dispatch_total == INT64_MAX)
    warn("the durations add up to more than 292 years: the recording's timestamps are not times");
  std::set<trace::Index> nodes;
  for (const trace::Process& process : trace.processes) nodes.insert(process.node);
  if (nodes.size() > 1)
    warn(fmt::format(
        "{} nodes: their clocks are not aligned, times of different nodes cannot be compared",
        nodes.size()));
  std::uint64_t suspicious = 0;
  for (const Counter& counter : analysis.counters)
    if (counter.state == CounterState::suspicious) ++suspicious;
  if (suspicious > 0)
    warn(fmt::format(
        "{} counters are suspicious: every counter of every dispatch is 0, so nothing was counted",
        suspicious));
  std::uint64_t graph_launches = 0;
  for (const ApiCall& call : analysis.api_calls)
    if (trace::is_graph_launch(call.name)) graph_launches += call.count;
  if (graph_launches > 0 && analysis.timed_dispatches == 0)
    warn(fmt::format(
        "{} graph launches but no dispatch: this profiler does not see kernels inside graphs",
        graph_launches));
}

Result<trace::Selection> rows_of(const trace::Trace& trace, const TimingScope& scope,
                                 const FoundSegments& segments, std::size_t index) {
  if (!segments.segments)
    return fail(
        ErrorCode::usage,
        fmt::format("--segment {}: there are no segments: {}", index, segments.missing.reason),
        segments.missing.remedy);
  return rows_of_segment(trace, scope, *segments.segments, index);
}

/// What repeats shows when everything is there.
FoundSegments segments_of_chosen_kernels() {
  FoundSegments none;
  none.missing = {.field = "segments",
                  .reason = "only dispatches of some kernels were read",
                  .remedy = "leave out --kernel"};
  return none;
}

/// What all figures are of, when that is not the whole run.
void add_part_warnings(const trace::Part& part, Analysis& analysis) {
  const auto time = [](std::int64_t ns) {
    return fmt::format("{} s", static_cast<double>(ns) / 1e9);
  };
  if (part.has_window())
    analysis.warnings.push_back(fmt::format(
        "all figures are of what began {}{}{}, counted from the earliest start of the recording",
        part.from ? "from " + time(*part.from) + " on" : "", part.from && part.to ? " and " : "",
        part.to ? "before " + time(*part.to) : ""));
  if (part.kernel)
    analysis.warnings.push_back(
        fmt::format("all figures are of kernels whose names match '{}' and of the calls that "
                    "launched them: time in which others ran counts as idle",
                    part.kernel->text()));
}

/// Times further apart would overflow when they are added up; 2^60 ns are 36.5 years.
constexpr std::int64_t kLongestRun = std::int64_t{1} << 60;

/// From the first begin to the last end of anything, in ns.
std::int64_t recorded_span(const trace::Trace& trace) {
  std::int64_t first = INT64_MAX, last = 0;
  const auto extend = [&](const auto& rows) {
    if (rows.size() == 0) return;
    first = std::min(first, rows.start.front());  // rows are ordered by start
    last = std::max(last, rows.end.max());
  };
  extend(trace.dispatches);
  extend(trace.copies);
  extend(trace.regions);
  return last > first ? last - first : 0;
}

/// Where there is no critical path, over which it lies then.
void add_timeline(const trace::Trace& trace, const TimingScope& scope,
                  const AnalyzeOptions& options, Analysis& analysis) {
  if (!options.timeline || analysis.timeline) return;
  if (!scope.times_known || analysis.timed_dispatches == 0 || recorded_span(trace) > kLongestRun)
    return;
  TimelineWindow window = whole_window(trace, scope, longest_machine(trace, scope));
  if (analysis.segment) {
    const Segments& segments = *analysis.segments.segments;
    const Segment& segment = segments.segments[*analysis.segment];
    window = {.node = trace.processes[segments.process].node,
              .begin = segment.start,
              .span = segment.period};
  }
  analysis.timeline = make_timeline(trace, scope, window, nullptr);
}

Result<void> read_thread_traces(const trace::Trace& trace,
                                const std::vector<std::filesystem::path>& places, unsigned threads,
                                bool keep_detail, const TellProgress& progress,
                                Analysis& analysis) {
  if (places.empty()) return {};
  PERFLAB_TRY(analysis.thread_traces,
              make_thread_traces(places, trace, analysis.kernels, threads, keep_detail, progress));
  std::ranges::copy(analysis.thread_traces->warnings, std::back_inserter(analysis.warnings));
  return {};
}

Result<void> read_pc_samples(const trace::Trace& trace, const PcSamplesRequest& request,
                             Analysis& analysis) {
  if (request.places.empty()) return {};
  PERFLAB_TRY(analysis.pc_sampling, make_pc_sampling(request, trace, analysis.kernels));
  std::ranges::copy(analysis.pc_sampling->warnings, std::back_inserter(analysis.warnings));
  return {};
}

PcSamplesRequest pc_samples_of(const AnalyzeOptions& options) {
  return {.places = options.pc_samples,
          .interval = options.pc_interval,
          .code_files = options.code_files,
          .search_code = options.search_code,
          .progress = options.progress};
}

/// A trace, with which of its recordings count for what. The trace must outlive it.
struct ScopedTrace {
  explicit ScopedTrace(const trace::Trace& whole)
      : trace(whole), passes(find_passes(whole)), scope(find_timing_scope(whole, passes)) {}

  const trace::Trace& trace;
  Passes passes;
  TimingScope scope;
};

/// Whether a dispatch of the scope is there.
bool has_timed_dispatches(const ScopedTrace& scoped) {
  return std::ranges::any_of(scoped.trace.dispatches.track, [&](trace::Index track) {
    return static_cast<bool>(scoped.scope.track_counts[track]);
  });
}

/// The critical path, or why there is none, and the timeline, which shows it.
struct PathAnswer {
  std::optional<CriticalPath> path;
  std::string reason, remedy;
  std::optional<Timeline> timeline;
};

/// A dispatch under counters waits for the one before it whatever the application wanted: such
/// times say nothing about who waits for whom. `seen`: the whole run, or the rows of `part`.
Result<PathAnswer> answer_critical_path(const ScopedTrace& whole, const ScopedTrace& seen,
                                        const PathPart* part, const AnalyzeOptions& options) {
  const auto& [trace, passes, scope] = whole;
  PathAnswer answer;
  if (options.part.kernel) {
    answer.reason = "only dispatches of some kernels were read";
    answer.remedy = "leave out --kernel";
  } else if (!options.find_critical_path) {
    answer.reason = "it was not asked for";
    answer.remedy = "leave out --no-critical-path";
  } else if (scope.under_counters || !scope.times_known) {
    answer.reason =
        "only counter passes were given: under counters dispatches run one after the other";
    answer.remedy = "add the database of a run without counters";
  } else if (!has_timed_dispatches(seen)) {
    answer.reason = "no dispatch of this part of the run is in the trace";
    answer.remedy = "choose another segment";
  } else if (recorded_span(trace) > kLongestRun) {
    answer.reason = "timestamps lie more than 36 years apart: they cannot be of one run";
    answer.remedy = "record it again";
  }
  if (!answer.reason.empty()) {
    if (!options.critical_path.what_if.empty())
      return fail(ErrorCode::usage,
                  fmt::format("--what-if needs a critical path: {}", answer.reason), answer.remedy);
    return answer;
  }
  CriticalPathOptions path_options = options.critical_path;
  path_options.threads = options.threads;
  std::function<Timeline(const Graph*)> finish_timeline;
  if (options.timeline) {
    path_options.see_extent = [&](const CriticalPath& path) {
      finish_timeline = begin_timeline(
          whole.trace, whole.scope, {.node = path.node, .begin = path.begin, .span = path.length});
    };
    path_options.see_graph = [&](const Graph& graph) { answer.timeline = finish_timeline(&graph); };
  }
  path_options.progress = part_of(options.progress, Stages(options).read(), 1);
  PERFLAB_TRY(answer.path, find_critical_path(trace, scope, path_options, part));
  return answer;
}

void put(PathAnswer&& answer, Analysis& analysis) {
  analysis.critical_path = std::move(answer.path);
  analysis.critical_path_missing.reason = std::move(answer.reason);
  analysis.critical_path_missing.remedy = std::move(answer.remedy);
  analysis.timeline = std::move(answer.timeline);
}

/// The part of a run that a segment is.
PathPart part_of_segment(const trace::Trace& trace, const Segments& segments, std::size_t index,
                         const trace::Selection& rows) {
  const Segment& segment = segments.segments[index];
  return {.from = segment.start,
          .to = segment.start + segment.period,
          .node = trace.processes[segments.process].node,
          .rows = &rows};
}

/// Verdicts from everything else of the analysis, which is of the whole of `trace`.
void judge_kernels(const trace::Trace& trace, Analysis& analysis) {
  analysis.bottlenecks = find_bottlenecks(trace, ScopedTrace(trace).scope, analysis);
}

Analysis analyze_scoped(const ScopedTrace& scoped, const CodeJoin& join, const RoofChoice& roofs) {
  const auto& [trace, passes, scope] = scoped;
  Analysis analysis;
  analysis.timed_under_counters = scope.under_counters;
  analysis.kernels = make_kernel_table(trace, scope, join);
  for (const Kernel& kernel : analysis.kernels) analysis.timed_dispatches += kernel.durations.count;
  analysis.other_pass_dispatches = trace.dispatches.size() - analysis.timed_dispatches;
  analysis.selection = select_kernel(analysis.kernels);
  analysis.activity = measure_activity(trace, scope);
  analysis.api_calls = summarize_api(trace, scope);
  analysis.copies = summarize_copies(trace, scope);
  analysis.allocations = summarize_allocations(trace, scope);
  analysis.counters = summarize_counters(trace, passes);
  MadeRoofline made = make_roofline(trace, passes, scope, roofs, analysis.kernels);
  analysis.roofline = std::move(made.roofline);
  analysis.roofline_missing = std::move(made.missing);
  explain_occupancy(analysis.roofline, analysis.roofline_missing, analysis.kernels);
  add_warnings(trace, scope, analysis);
  std::ranges::copy(join.warnings, std::back_inserter(analysis.warnings));
  return analysis;
}

/// The recordings, or what is wanted of them. Error (bad_input, usage): there is no dispatch.
Result<trace::Trace> read_recordings(const std::vector<std::filesystem::path>& files,
                                     const AnalyzeOptions& options) {
  std::vector<std::filesystem::path> all = files;
  std::ranges::copy(options.counter_files, std::back_inserter(all));
  trace::MemoryLimit memory = options.memory;
  memory.per_dispatch = options.find_critical_path ? kPathBytesPerDispatch : 0;
  PERFLAB_TRY(trace::Trace trace,
              trace::read(all, {.threads = options.threads,
                                .progress = part_of(options.progress, 0, Stages(options).read()),
                                .part = options.part,
                                .memory = memory}));
  if (trace.dispatches.size() == 0 && !options.part.is_all())
    return fail(ErrorCode::usage,
                fmt::format("{}: no kernel dispatch is in the part of the run that was asked for",
                            files.front().string()),
                "times count from the earliest start of anything; --kernel is searched for in "
                "the names that the kernels have without it");
  if (trace.dispatches.size() == 0) {
    const auto is_cuda = [](const trace::Source& one) {
      return one.platform == trace::Platform::cuda;
    };
    std::uint64_t dropped = 0;
    for (const auto& [key, rows] : trace.report.dropped)
      if (key.first == "kernel_dispatch") dropped += rows;
    return fail(
        ErrorCode::bad_input,
        dropped > 0 ? fmt::format("{}: holds no finished kernel dispatch ({} unfinished or damaged "
                                  "ones were left out)",
                                  files.front().string(), dropped)
                    : fmt::format("{}: holds no kernel dispatch{}", files.front().string(),
                                  files.size() > 1 ? ", nor does any other file given" : ""),
        std::ranges::any_of(trace.sources, is_cuda)
            ? "record a run that launches kernels: rocm-perf profile --platform cuda -- ./app"
            : "record a run that launches kernels, with rocprofv3 --kernel-trace -f rocpd");
  }
  return trace;
}

FoundSegments find_segments_of(const ScopedTrace& whole, const AnalyzeOptions& options) {
  return options.part.kernel ? segments_of_chosen_kernels()
                             : find_segments(whole.trace, whole.scope);
}

/// What is added up from the tables of `seen`, which is `whole` or a part of it.
Result<Analysis> analyze_tables(const trace::Trace& whole, const ScopedTrace& seen,
                                const AnalyzeOptions& options) {
  CodeJoin join;
  if (options.search_code) {
    PERFLAB_TRY(join, join_code(seen.trace, options.code_files));
  }
  std::vector<std::string> calibration_warnings;
  std::optional<hal::Calibration> calibration = options.calibration;
  if (!calibration && options.find_calibration)
    calibration = own_calibration(whole, calibration_warnings);
  RoofChoice roofs{.measured = options.roofs ? &*options.roofs : nullptr,
                   .device = nullptr,
                   .calibration = calibration ? &*calibration : nullptr};
  if (options.roofs_device) {
    PERFLAB_TRY(roofs.device, gpu_of_number(seen.trace, *options.roofs_device));
  }
  Analysis analysis = analyze_scoped(seen, join, roofs);
  analysis.of_chosen_kernels = options.part.kernel.has_value();
  std::ranges::move(calibration_warnings, std::back_inserter(analysis.warnings));
  if (analysis.roofline) find_packed_code(seen.trace, join, *analysis.roofline);
  add_part_warnings(options.part, analysis);
  if (options.segment)
    analysis.warnings.push_back(
        fmt::format("all figures are of segment {} alone", *options.segment));
  return analysis;
}

}  // namespace

Analysis analyze_trace(const trace::Trace& trace, const CodeJoin& join,
                       const hal::MeasuredRoofs* roofs) {
  return analyze_scoped(ScopedTrace(trace), join,
                        {.measured = roofs, .device = nullptr, .calibration = nullptr});
}

Result<AnalyzedTrace> analyze_files(const std::vector<std::filesystem::path>& files,
                                    const AnalyzeOptions& options) {
  PERFLAB_TRY(trace::Trace trace, read_recordings(files, options));
  const Stages stages(options);
  const ScopedTrace whole(trace);
  const TimingScope& scope = whole.scope;
  FoundSegments segments;
  std::optional<trace::Selection> rows;  // of one segment; the critical path needs the others too
  std::optional<trace::Trace> part;
  std::optional<PathPart> path_part;
  if (options.segment) {
    stages.begin("looking for repeated segments", stages.read());
    segments = find_segments_of(whole, options);
    PERFLAB_TRY(rows, rows_of(trace, scope, segments, *options.segment));
    part = trace::select(trace, *rows);
    path_part = part_of_segment(trace, *segments.segments, *options.segment, *rows);
  }
  const std::optional<ScopedTrace> scoped_part =
      part ? std::optional<ScopedTrace>(*part) : std::nullopt;
  const ScopedTrace& seen = scoped_part ? *scoped_part : whole;
  stages.begin("analysing kernels", stages.read());
  Analysis analysis;
  PathAnswer path;
  std::optional<DispatchGaps> gaps;
  // They need nothing of each other. The longest first.
  const auto answers = std::to_array<std::function<Result<void>()>>({
      [&]() -> Result<void> {
        PERFLAB_TRY(path,
                    answer_critical_path(whole, seen, path_part ? &*path_part : nullptr, options));
        return {};
      },
      [&]() -> Result<void> {
        PERFLAB_TRY(analysis, analyze_tables(trace, seen, options));
        return {};
      },
      [&]() -> Result<void> {
        // One after the other: both need memory for every dispatch.
        if (!options.segment) segments = find_segments_of(whole, options);
        gaps.emplace(seen.trace, seen.scope);
        return {};
      },
  });
  PERFLAB_TRY_VOID(parallel_for(answers.size(), thread_count(options.threads),
                                [&](unsigned, std::size_t which) { return answers[which](); }));
  analysis.segments = std::move(segments);
  analysis.segment = options.segment;
  put(std::move(path), analysis);
  add_timeline(trace, scope, options, analysis);
  // Beside the stages: how long that takes nobody knows before it begins.
  PERFLAB_TRY_VOID(read_thread_traces(seen.trace, options.thread_traces, options.threads,
                                      options.keep_trace_detail, options.progress, analysis));
  PERFLAB_TRY_VOID(read_pc_samples(seen.trace, pc_samples_of(options), analysis));
  analysis.bottlenecks = find_bottlenecks(seen.trace, seen.scope, analysis, &*gaps);
  return AnalyzedTrace{.trace = std::move(trace), .analysis = std::move(analysis)};
}

Result<AnalyzedTrace> analyze_thread_traces(const AnalyzeOptions& options) {
  PERFLAB_CHECK(!options.thread_traces.empty() || !options.pc_samples.empty());
  AnalyzedTrace result;
  Analysis& analysis = result.analysis;
  const bool traced = !options.thread_traces.empty();
  const char* const reason = options.pc_samples.empty() ? "only thread traces were given"
                             : traced ? "only thread traces and PC samples were given"
                                      : "only PC samples were given";
  const char* const remedy =
      traced ? "add the database of a run: rocm-perf analyze run.db --att DIR"
             : "add the database of a run: rocm-perf analyze run.db --pc-samples FILE";
  analysis.roofline_missing = {.field = "roofline", .reason = reason, .remedy = remedy};
  analysis.critical_path_missing = {.field = "critical_path", .reason = reason, .remedy = remedy};
  analysis.segments.missing = {.field = "segments", .reason = reason, .remedy = remedy};
  PERFLAB_TRY_VOID(read_thread_traces(result.trace, options.thread_traces, options.threads,
                                      options.keep_trace_detail, options.progress, analysis));
  PERFLAB_TRY_VOID(read_pc_samples(result.trace, pc_samples_of(options), analysis));
  judge_kernels(result.trace, analysis);
  return result;
}

Result<void> add_thread_traces(const std::vector<std::filesystem::path>& places,
                               const std::vector<std::string>& losses, unsigned threads,
                               bool keep_detail, AnalyzedTrace& analyzed) {
  PERFLAB_CHECK(!places.empty());
  Analysis& analysis = analyzed.analysis;
  PERFLAB_TRY_VOID(read_thread_traces(analyzed.trace, places, threads, keep_detail, {}, analysis));
  if (!losses.empty()) {
    const std::string reason =
        fmt::format("not all of it was recorded: {}", fmt::join(losses, "; "));
    for (KernelThreadTrace& traced : analysis.thread_traces->kernels) {
      traced.confidence = Confidence::low;
      traced.confidence_reasons.push_back(reason);
    }
    analysis.warnings.push_back("thread trace: " + reason);
  }
  judge_kernels(analyzed.trace, analysis);
  return {};
}

Result<void> add_pc_samples(const PcSamplesRequest& request, AnalyzedTrace& analyzed) {
  PERFLAB_CHECK(!request.places.empty());
  PERFLAB_TRY_VOID(read_pc_samples(analyzed.trace, request, analyzed.analysis));
  judge_kernels(analyzed.trace, analyzed.analysis);
  return {};
}

Result<AnalyzedRuns> analyze_runs(const std::vector<std::vector<std::filesystem::path>>& runs,
                                  const AnalyzeOptions& options) {
  PERFLAB_CHECK(!runs.empty());
  PERFLAB_CHECK(runs.size() == 1 || options.counter_files.empty());
  AnalyzedRuns result;
  result.failed.resize(runs.size());
  // Of several runs the representative one may be read again.
  const std::size_t readings = runs.size() == 1 ? 1 : runs.size() + 1;
  const auto share = [&](std::size_t reading) {
    return static_cast<double>(reading) / static_cast<double>(readings);
  };
  std::vector<std::optional<Analysis>> analyses(runs.size());
  std::optional<std::size_t> kept;  // only the last good run's trace is kept: traces can be large
  for (std::size_t i = 0; i < runs.size(); ++i) {
    AnalyzeOptions one = options;
    one.progress = part_of(options.progress, share(i), share(i + 1));
    Result<AnalyzedTrace> analyzed = analyze_files(runs[i], one);
    if (!analyzed) {
      result.failed[i] = std::move(analyzed).error();
      continue;
    }
    analyses[i] = std::move(analyzed->analysis);
    result.representative = std::move(*analyzed);
    kept = i;
  }
  if (!kept) return std::unexpected(std::move(*result.failed.front()));
  result.representative_index = representative_run(analyses);
  if (result.representative_index == *kept) {
    result.representative.analysis = *analyses[*kept];
  } else {
    AnalyzeOptions again = options;
    again.progress = part_of(options.progress, share(runs.size()), 1);
    PERFLAB_TRY(result.representative, analyze_files(runs[result.representative_index], again));
  }
  if (std::ranges::all_of(result.representative.trace.sources, &trace::Source::counter_table))
    return fail(ErrorCode::usage,
                fmt::format("{}: a table of counters is not a trace",
                            runs[result.representative_index].front().string()),
                "add the database of a run, or use: rocm-perf roofline FILE.csv");
  const Analysis& analysis = result.representative.analysis;
  result.stability = measure_stability(analyses, analysis.kernels[analysis.selection->kernel].name);
  return result;
}

}  // namespace perflab::analyze
