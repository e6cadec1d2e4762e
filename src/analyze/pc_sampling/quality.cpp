// Losses are not stated by any file: they are told from dispatches without samples, and from how
// many samples the interval should have given.
#include "analyze/pc_sampling/quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace perflab::analyze {
namespace {

using pc_sampling::PcSamples;

/// CUs that a dispatch can have kept busy.
double busy_cus(const pc_sampling::Dispatch& dispatch, std::uint32_t cus) {
  double groups = 1;
  const auto axis = [&](std::uint32_t grid, std::uint32_t group) {
    if (grid > 0 && group > 0) groups *= (grid + group - 1) / group;
  };
  axis(dispatch.grid.x, dispatch.workgroup.x);
  axis(dispatch.grid.y, dispatch.workgroup.y);
  axis(dispatch.grid.z, dispatch.workgroup.z);
  return dispatch.grid.x == 0 ? cus : std::min<double>(groups, cus);
}

void lack_figure(KernelPcSamples& out, const char* field, std::string reason,
                 std::string remedy = {}) {
  out.missing.push_back({.field = field, .reason = std::move(reason), .remedy = std::move(remedy)});
}

/// Samples that the interval should have given: one of every busy CU per tick.
void add_expected(const PcSamples& samples, const KernelRows& rows, const TickLength& tick,
                  KernelPcSamples& out) {
  const auto missing = [&](std::string reason, std::string remedy = {}) {
    for (const char* const field : {"quality.expected", "quality.delivered"})
      lack_figure(out, field, reason, remedy);
  };
  if (samples.method == pc_sampling::Method::host_trap)
    return missing(
        "a host trap asks one wave slot of each CU, and nothing says how many of them "
        "held waves");
  if (samples.method == pc_sampling::Method::cupti)
    return missing("CUPTI does not say how many there should be");
  if (tick.source == PcIntervalSource::none || tick.source == PcIntervalSource::estimated)
    return missing("the interval of the samples is not stated", "state it: --pc-interval 65536");
  if (rows.dispatches.empty())
    return missing("no times of its dispatches were recorded", "record with --kernel-trace");
  const std::uint32_t cus = rows.agent == pc_sampling::kNone ? 0 : samples.agents[rows.agent].cus;
  if (cus == 0) return missing("the number of CUs is not stated");
  double expected = 0;
  for (const pc_sampling::Index index : rows.dispatches) {
    const pc_sampling::Dispatch& one = samples.dispatches[index];
    expected += static_cast<double>(*one.end - *one.start) / *tick.ns * busy_cus(one, cus);
  }
  if (!(expected > 0)) return missing("its dispatches took no time");
  out.quality.expected = expected;
  out.quality.delivered = static_cast<double>(out.samples + rows.undecoded) / expected;
}

/// Which dispatches had samples; a tail of them without any is a loss where samples would have been
/// likely.
void add_dispatches(const PcSamples& samples, const KernelRows& rows, KernelPcSamples& out) {
  if (rows.dispatches.empty()) {
    for (const char* const field : {"quality.dispatches", "quality.dispatches_sampled",
                                    "quality.dispatches_lost", "quality.sampled_ns"})
      lack_figure(out, field,
                  samples.method == pc_sampling::Method::cupti ? "CUPTI's samples name no launches"
                                                               : "no dispatch of it was recorded",
                  samples.method == pc_sampling::Method::cupti ? "" : "record with --kernel-trace");
    return;
  }
  std::set<pc_sampling::Index> sampled;
  for (const std::uint32_t row : rows.rows)
    if (!samples.dispatch.empty()) sampled.insert(samples.dispatch[row]);
  std::uint64_t seen = 0, tail = 0;
  double time = 0;
  for (const pc_sampling::Index index : rows.dispatches) {
    const bool has = sampled.contains(index);
    seen += has ? 1 : 0;
    tail = has ? 0 : tail + 1;
    time += static_cast<double>(*samples.dispatches[index].end - *samples.dispatches[index].start);
  }
  const std::uint64_t all = rows.dispatches.size();
  out.quality.dispatches = all;
  out.quality.dispatches_sampled = seen;
  out.quality.sampled_ns = time / static_cast<double>(all);
  // So many samples that none of them is no chance (e^-20).
  constexpr double kSurely = 20;
  const double each =
      all > tail ? static_cast<double>(rows.samples_in_dispatches) / static_cast<double>(all - tail)
                 : 0;
  out.quality.dispatches_lost = each * static_cast<double>(tail) >= kSurely ? tail : 0;
}

/// Doubts, the worst of which decides.
class SampleJudge {
 public:
  SampleJudge(const PcSampleSet& set, KernelPcSamples& out) : set_(set), out_(out) {
    out_.confidence = Confidence::high;
  }

  void refuse(std::string reason) {
    out_.confidence = Confidence::low;
    out_.refusals.push_back(std::move(reason));
  }
  void doubt(Confidence at_most, std::string reason) {
    out_.confidence = std::min(out_.confidence, at_most);
    out_.confidence_reasons.push_back(std::move(reason));
  }

  void refusals() {
    constexpr double kMostUndecoded = 0.2, kFewestDelivered = 0.2, kMostSlower = 2;
    constexpr std::uint64_t kMany = 10;
    const PcQuality& quality = out_.quality;
    if (out_.kernel_unknown)
      refuse("which kernel these samples are of is not known: record with --kernel-trace");
    if (out_.samples < kFewestPcSamples)
      refuse(fmt::format("{} samples of this kernel are too few: {} are needed", out_.samples,
                         kFewestPcSamples));
    const std::uint64_t all = out_.samples + quality.undecoded;
    const double undecoded =
        all > 0 ? static_cast<double>(quality.undecoded) / static_cast<double>(all) : 0;
    if (undecoded > kMostUndecoded)
      refuse(fmt::format("{:.0f} % of its samples could not be decoded", 100 * undecoded));
    else if (quality.undecoded > 0)
      doubt(undecoded > 0.05 ? Confidence::medium : Confidence::high,
            fmt::format("{} of its samples could not be decoded", quality.undecoded));
    if (quality.delivered && *quality.delivered < kFewestDelivered)
      refuse(
          fmt::format("{:.0f} % of the expected samples were delivered", 100 * *quality.delivered));
    if (quality.sampled_ns && quality.plain_ns &&
        *quality.sampled_ns > kMostSlower * *quality.plain_ns)
      refuse(fmt::format("sampling made it {:.1f} times as slow: it was another program",
                         *quality.sampled_ns / *quality.plain_ns));
    if (quality.dispatches.value_or(0) >= kMany && quality.dispatches_sampled == 1U)
      refuse(fmt::format("only 1 of its {} dispatches has samples", *quality.dispatches));
  }

  void doubts() {
    const PcQuality& quality = out_.quality;
    if (out_.method == pc_sampling::Method::host_trap)
      doubt(Confidence::low, "host traps say where waves were, up to two instructions late");
    if (out_.intervals != PcIntervals::ticks)
      doubt(out_.intervals == PcIntervals::none ? Confidence::low : Confidence::medium,
            out_.intervals_reason);
    constexpr std::uint64_t kEnough = 1000, kEnoughTicks = 30;
    if (out_.samples < kEnough)
      doubt(Confidence::medium, fmt::format("{} samples are less than {}", out_.samples, kEnough));
    if (out_.intervals == PcIntervals::ticks && out_.ticks < kEnoughTicks)
      doubt(Confidence::medium, fmt::format("{} ticks are less than {}", out_.ticks, kEnoughTicks));
    if (quality.dispatches_lost.value_or(0) > 0)
      doubt(Confidence::low,
            fmt::format("samples stop before the last {} of {} dispatches: they were lost",
                        *quality.dispatches_lost, *quality.dispatches));
    if (quality.delivered && *quality.delivered < 0.5)
      doubt(Confidence::medium, fmt::format("{:.0f} % of the expected samples were delivered",
                                            100 * *quality.delivered));
    many("state of the arbiter that cannot be", out_.arbiter ? out_.arbiter->contradictions : 0);
    many("reason that their instruction cannot have", quality.reason_contradictions);
    many("kernel other than that of their dispatch", quality.kernel_disagrees);
    if (quality.lock_errors.value_or(0) > 0)
      doubt(Confidence::medium,
            fmt::format("{} samples locked a wave out: the interval is too short",
                        *quality.lock_errors));
    if (quality.sampled_ns && quality.plain_ns && *quality.sampled_ns > 1.2 * *quality.plain_ns)
      doubt(Confidence::medium, fmt::format("sampling made it {:.2f} times as slow",
                                            *quality.sampled_ns / *quality.plain_ns));
    const std::uint64_t lost = set_.counts.lost;
    if (lost > 0)
      doubt(Confidence::medium, fmt::format("{} samples were dropped by the tool", lost));
  }

 private:
  void many(const char* what, std::uint64_t count) {
    if (count == 0 || out_.samples == 0) return;
    const double share = static_cast<double>(count) / static_cast<double>(out_.samples);
    doubt(share > 0.2    ? Confidence::low
          : share > 0.02 ? Confidence::medium
                         : Confidence::high,
          fmt::format("{} of its samples have a {}", count, what));
  }

  const PcSampleSet& set_;
  KernelPcSamples& out_;
};

/// Whether a recording is of the run that was sampled: one of its dispatches began at that time.
bool is_sampled_run(const PcSamples& samples, const trace::Trace& trace) {
  return std::ranges::any_of(samples.dispatches, [&](const pc_sampling::Dispatch& one) {
    return one.start && std::ranges::binary_search(trace.dispatches.start,
                                                   static_cast<std::int64_t>(*one.start));
  });
}

}  // namespace

void add_quality(const PcSamples& samples, const KernelRows& rows, const KernelTally& tally,
                 const TickLength& tick, KernelPcSamples& out) {
  out.quality.undecoded = rows.undecoded;
  out.quality.reason_contradictions = tally.reason_contradictions;
  for (const std::uint32_t row : rows.rows)
    if (samples.kernel_of(row) != samples.pcs[samples.pc[row]].kernel &&
        samples.pcs[samples.pc[row]].kernel != pc_sampling::kNone)
      out.quality.kernel_disagrees += samples.weight_of(row);
  if (std::ranges::any_of(samples.sources, &pc_sampling::Source::states_lock_errors) &&
      !out.architecture.starts_with("gfx9"))
    out.quality.lock_errors = tally.lock_errors;
  else
    lack_figure(out, "quality.lock_errors",
                "this GPU, or this version of the profiler, does not say");
  add_expected(samples, rows, tick, out);
  add_dispatches(samples, rows, out);
}

void add_plain_time(const PcSamples& samples, const trace::Trace& trace,
                    const std::vector<Kernel>& kernels, KernelPcSamples& out) {
  if (!out.analysis_kernel)
    return lack_figure(out, "quality.plain_ns",
                       trace.sources.empty() ? "no recording of a run without sampling was given"
                                             : "the kernel is in none of the recordings",
                       "give the database of a run without sampling");
  if (is_sampled_run(samples, trace))
    return lack_figure(out, "quality.plain_ns", "the recording is of the run that was sampled",
                       "give the database of a run without sampling");
  out.quality.plain_ns = kernels[*out.analysis_kernel].durations.mean;
}

void judge_samples(const PcSampleSet& set, KernelPcSamples& out) {
  SampleJudge judge(set, out);
  judge.refusals();
  judge.doubts();
}

}  // namespace perflab::analyze
