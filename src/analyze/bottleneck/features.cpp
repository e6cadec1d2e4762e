// Features of a kernel from dispatches, resources and critical path, and the sets that are put
// together from all sources. Formulas: feature_table.cpp.
#include "analyze/bottleneck/features.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyze/bottleneck/dispatch_gaps.h"
#include "analyze/bottleneck/feature_parts.h"
#include "analyze/bottleneck/measurements.h"
#include "analyze/kernels/cu_room.h"
#include "analyze/roofline/explain_occupancy.h"
#include "base/text/number_text.h"
#include "hal/arch.h"
#include "trace/api_calls.h"

namespace perflab::analyze {
namespace {

using enum FeatureId;

/// Index of the kernel's name in strings; nullopt: no dispatch has it.
std::optional<trace::Index> name_index(const trace::Trace& trace, std::string_view name) {
  for (const trace::KernelSymbol& symbol : trace.kernel_symbols)
    if (trace.strings.view(symbol.name) == name) return symbol.name;
  return std::nullopt;
}

void add_times(const trace::Trace& trace, const TimingScope& scope, const Measurements& analysis,
               const Kernel& kernel, const DispatchGaps* gaps, FeatureSet& set) {
  const bool many = kernel.launch_shapes > 1;
  give(set, dispatch_count, static_cast<double>(kernel.durations.count),
       scope.under_counters ? "of one counter pass" : "of the timing recording");
  if (!scope.times_known) {
    for (const FeatureId id : {dispatch_median, idle_before})
      lack(set, id, "the recording's timestamps have lost their digits", kTimesRemedy);
    return;
  }
  give(set, dispatch_median, kernel.durations.median,
       fmt::format("median of {} dispatch{}{}{}", kernel.durations.count,
                   kernel.durations.count == 1 ? "" : "es",
                   many ? fmt::format(" of {} launch shapes", kernel.launch_shapes) : "",
                   analysis.timed_under_counters ? ", under counters" : ""));
  if (analysis.timed_under_counters)
    return lack(set, idle_before, "under counters dispatches run one at a time, with gaps",
                kTimesRemedy);
  if (analysis.of_chosen_kernels)
    return lack(set, idle_before, "what other kernels did before its dispatches was not read",
                "leave out --kernel");
  std::optional<DispatchGaps> own;
  if (gaps == nullptr) gaps = &own.emplace(trace, scope);
  const auto name = name_index(trace, kernel.name);
  const auto found = name ? gaps->of(*name) : std::nullopt;
  if (!found)
    return lack(set, idle_before, "no dispatch ran on its GPU before this kernel's only one", "");
  const double together = found->median_idle + found->median_duration;
  if (together == 0) return lack(set, idle_before, "its dispatches take no time", "");
  give(set, idle_before, found->median_idle / together,
       fmt::format("median of {} dispatch{}: {} ns idle, {} ns running", found->dispatches,
                   found->dispatches == 1 ? "" : "es", number_text(found->median_idle),
                   number_text(found->median_duration)));
}

void add_work(const Kernel& kernel, const CuRoom& room, FeatureSet& set) {
  const auto both = [&](std::string reason) {
    lack(set, work_fill, reason, "");
    lack(set, work_per_cu, std::move(reason), "");
  };
  if (!kernel.workgroups || *kernel.workgroups == 0)
    return both("the launch has no work-group size");
  if (!kernel.gpu.compute_units || *kernel.gpu.compute_units <= 0)
    return both("the number of CUs of its GPU is not known");
  const auto cus = static_cast<double>(*kernel.gpu.compute_units);
  const auto groups = static_cast<double>(*kernel.workgroups);
  give(set, work_per_cu, groups / cus,
       fmt::format("{} work-groups, {} CUs", *kernel.workgroups, *kernel.gpu.compute_units));
  const std::uint64_t waves = waves_per_workgroup(kernel);
  if (wave_size_of(kernel) == 0) return lack(set, work_fill, "the wave size is not known", "");
  const std::optional<double> per_cu = room.resident_waves ? room.resident_waves : room.wave_slots;
  if (!per_cu || *per_cu <= 0)
    return lack(set, work_fill, "how many waves a CU can hold is not known", "");
  const double fill = groups * static_cast<double>(waves) / (cus * *per_cu);
  // Every wave slot is more than the kernel may be able to use: the GPU is at least that full.
  const auto why = std::ranges::find(kernel.missing, "occupancy.theoretical", &Missing::field);
  if (!room.resident_waves && fill < 1)
    return lack(set, work_fill,
                fmt::format("it would fill {:.6g} of all wave slots; how many of them it can use "
                            "is not known without its registers and LDS",
                            fill),
                why == kernel.missing.end() ? kCodeRemedy : std::string_view(why->remedy));
  give(set, work_fill, fill,
       fmt::format(
           "{} work-groups of {} waves, {} CUs of {:.6g} waves{}", *kernel.workgroups, waves,
           *kernel.gpu.compute_units, *per_cu,
           room.resident_waves ? "" : " (every wave slot, at least: its resources are not known)"));
}

/// What the kernel's `missing` says of a field, else `otherwise`.
void lack_as(const Kernel& kernel, std::string_view field, std::string_view otherwise, FeatureId id,
             FeatureSet& set) {
  const auto found = std::ranges::find(kernel.missing, field, &Missing::field);
  if (found == kernel.missing.end())
    lack(set, id, std::string(otherwise), "");
  else
    lack(set, id, found->reason, found->remedy);
}

void add_resources(const Kernel& kernel, FeatureSet& set) {
  if (kernel.occupancy) {
    const hal::ModelOccupancy& model = kernel.occupancy->hardware();
    std::string limiters;
    for (const hal::Limiter limiter : model.limiters)
      limiters += fmt::format("{}{}", limiters.empty() ? "" : ", ", hal::to_string(limiter));
    give(set, theoretical_occupancy, model.occupancy,
         fmt::format("{:.6g} of {} waves per SIMD; limited by {}", model.waves_per_simd,
                     model.max_waves_per_simd, limiters));
  } else {
    lack_as(kernel, "occupancy.theoretical", "its occupancy is not known", theoretical_occupancy,
            set);
  }
  if (kernel.resources.scratch_bytes)
    give(set, scratch_bytes, static_cast<double>(*kernel.resources.scratch_bytes), "the launch");
  else
    lack_as(kernel, "resources.scratch_bytes_per_thread", "it was not recorded", scratch_bytes,
            set);
}

/// ns of launch calls in the stretches of the path, as far as those name them.
std::int64_t time_in_launch_calls(const trace::Trace& trace, const CriticalPath& path) {
  std::int64_t sum = 0;
  for (const PathSegment& segment : path.segments)
    for (const auto& [name, time] : segment.names)
      if (trace::call_kind(trace.strings.view(name)) == trace::CallKind::launch) sum += time;
  return sum;
}

void add_critical_path(const trace::Trace& trace, const Measurements& analysis,
                       const Kernel& kernel, FeatureSet& set) {
  if (!analysis.critical_path || analysis.critical_path->length <= 0) {
    const Missing& missing = analysis.critical_path_missing;
    return lack_all(set, FeatureSource::critical_path,
                    missing.reason.empty() ? "there is no critical path" : missing.reason,
                    missing.remedy);
  }
  const CriticalPath& path = *analysis.critical_path;
  const auto length = static_cast<double>(path.length);
  if (trace.regions.size() == 0) {
    lack(set, path_launch_share, "the recording has no host calls",
         "record them: rocm-perf profile -- ./app");
  } else {
    const std::int64_t latency = path.spent[static_cast<std::size_t>(Spent::launch_latency)];
    const std::int64_t calls = time_in_launch_calls(trace, path);
    give(set, path_launch_share, static_cast<double>(latency + calls) / length,
         fmt::format("{} ns of launch latency and {} ns in launch calls, of {} ns", latency, calls,
                     path.length));
  }
  for (const KernelCriticality& row : path.kernels) {
    if (trace.strings.view(row.name) != kernel.name) continue;
    return give(set, path_kernel_share, static_cast<double>(row.path_time) / length,
                fmt::format("{} of {} ns", row.path_time, path.length));
  }
  lack(set, path_kernel_share, "the kernel is not in the graph of the critical path", "");
}

/// A launch of whole work-groups of whole waves has no wave that is not full.
void add_whole_waves(const Kernel& kernel, FeatureSet& set) {
  if (set[partial_waves].value || !set[lanes_active].value) return;
  const std::uint64_t wave_size = wave_size_of(kernel);
  const std::uint64_t items = workgroup_items(kernel.launch);
  if (wave_size == 0 || items == 0 || items % wave_size != 0) return;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (kernel.launch.grid[axis] % kernel.launch.workgroup[axis] != 0) return;
  give(set, partial_waves, 0,
       fmt::format("whole work-groups of {} work-items are whole waves of {}", items, wave_size));
}

/// Shares of the occupancy gap. Where counters are there and do not tell them, no measurement
/// would.
void add_gap(const Kernel& kernel, FeatureSet& set) {
  for (const auto& [id, cause] :
       {std::pair{gap_tail, GapCause::tail}, std::pair{gap_imbalance, GapCause::imbalance}}) {
    if (!kernel.occupancy_gap) {
      lack(set, id, kernel.occupancy_gap_missing.reason, "");
      continue;
    }
    const OccupancyGap& gap = *kernel.occupancy_gap;
    if (!gap[cause].share)
      lack(set, id, gap[cause].reason, "");
    else
      give(set, id, *gap[cause].share,
           fmt::format("of a gap of {:.6g}: {:.6g} possible, {:.6g} achieved", gap.gap,
                       gap.theoretical, gap.achieved));
  }
}

}  // namespace

FeatureSet features_of_kernel(const trace::Trace& trace, const TimingScope& scope,
                              const Measurements& analysis, std::size_t kernel_index,
                              const KernelThreadTrace* thread_trace, const DispatchGaps* gaps,
                              const KernelPcSamples* samples) {
  FeatureSet set;
  const Kernel& kernel = analysis.kernels[kernel_index];
  const CuRoom room = room_of(kernel);
  add_times(trace, scope, analysis, kernel, gaps, set);
  add_work(kernel, room, set);
  add_resources(kernel, set);
  add_critical_path(trace, analysis, kernel, set);
  if (const KernelRoofline* const roofline = roofline_of(analysis.roofline, kernel)) {
    add_counter_features(*roofline, room, set);
    add_whole_waves(kernel, set);
    add_gap(kernel, set);
  } else if (analysis.roofline) {
    lack_all(set, FeatureSource::counters, "no pass counted this kernel on its GPU",
             kCountersRemedy);
  } else {
    lack_all(set, FeatureSource::counters,
             analysis.roofline_missing.reason.empty() ? "no hardware counters were collected"
                                                      : analysis.roofline_missing.reason,
             analysis.roofline_missing.reason.empty() ? kCountersRemedy
                                                      : analysis.roofline_missing.remedy);
  }
  if (samples != nullptr)
    add_pc_sampling_features(*samples, set);
  else if (analysis.pc_sampling)
    lack_pc_sampling(kernel.gpu.architecture,
                     {.field = {}, .reason = "no PC sample is of this kernel", .remedy = {}}, set);
  else
    lack_pc_sampling(kernel.gpu.architecture, analysis.pc_sampling_missing, set);
  if (thread_trace != nullptr)
    add_thread_trace_features(*thread_trace, set);
  else
    lack_all(
        set, FeatureSource::thread_trace,
        analysis.thread_traces ? "no thread trace is of this kernel" : "no thread trace was given",
        kThreadTraceRemedy);
  return set;
}

FeatureSet features_of_thread_trace(const KernelThreadTrace& thread_trace) {
  FeatureSet set;
  constexpr std::string_view kOnly = "only a thread trace of this kernel was given";
  for (const FeatureSource source :
       {FeatureSource::dispatches, FeatureSource::resources, FeatureSource::critical_path})
    lack_all(set, source, kOnly, "add the database of a run: rocm-perf profile -- ./app");
  lack_all(set, FeatureSource::counters, kOnly, kCountersRemedy);
  lack_all(set, FeatureSource::pc_sampling, kOnly, "");
  add_thread_trace_features(thread_trace, set);
  return set;
}

FeatureSet features_of_pc_samples(const KernelPcSamples& samples) {
  FeatureSet set;
  constexpr std::string_view kOnly = "only PC samples of this kernel were given";
  for (const FeatureSource source :
       {FeatureSource::dispatches, FeatureSource::resources, FeatureSource::critical_path})
    lack_all(set, source, kOnly, kTimesRemedy);
  lack_all(set, FeatureSource::counters, kOnly, kCountersRemedy);
  add_pc_sampling_features(samples, set);
  lack_all(set, FeatureSource::thread_trace, "no thread trace was given", kThreadTraceRemedy);
  return set;
}

FeatureSet features_of_roofline(const KernelRoofline& roofline) {
  FeatureSet set;
  constexpr std::string_view kOnly = "only counters of this kernel were given";
  for (const FeatureSource source :
       {FeatureSource::dispatches, FeatureSource::resources, FeatureSource::critical_path})
    lack_all(set, source, kOnly, kTimesRemedy);
  lack_all(set, FeatureSource::thread_trace, "no thread trace was given", kThreadTraceRemedy);
  lack_pc_sampling(roofline.architecture,
                   {.field = {}, .reason = "no PC samples were given", .remedy = {}}, set);
  add_counter_features(roofline, room_of(roofline.architecture), set);
  return set;
}

}  // namespace perflab::analyze
