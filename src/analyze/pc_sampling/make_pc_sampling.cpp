// Samples are put to kernels, each kernel is summed and judged by itself.
#include "analyze/pc_sampling/make_pc_sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyze/pc_sampling/kernel_figures.h"
#include "analyze/pc_sampling/kernel_tally.h"
#include "analyze/pc_sampling/quality.h"
#include "analyze/pc_sampling/sampling_config.h"
#include "analyze/pc_sampling/share_maker.h"
#include "analyze/pc_sampling/ticks.h"
#include "pc_sampling/read_pc_samples.h"

namespace perflab::analyze {
namespace {

using pc_sampling::PcSamples;

constexpr const char* kUnknownKernel = "unknown kernel";

/// Which kernel and which GPU rows are of, the same in every run: by name, and by the GPU's place
/// among those of its run.
class Identities {
 public:
  explicit Identities(const PcSamples& samples) {
    std::map<std::string, int, std::less<>> names;
    for (const pc_sampling::Kernel& kernel : samples.kernels) {
      const std::string& name = kernel.mangled_name.empty() ? kernel.name : kernel.mangled_name;
      kernels_.push_back(names.emplace(name, static_cast<int>(names.size())).first->second);
    }
    std::map<pc_sampling::Index, int> seen;
    for (const pc_sampling::Agent& agent : samples.agents) agents_.push_back(seen[agent.source]++);
  }

  [[nodiscard]] std::pair<int, int> of(pc_sampling::Index kernel, pc_sampling::Index agent) const {
    return {kernel == pc_sampling::kNone ? -1 : kernels_[kernel],
            agent == pc_sampling::kNone ? -1 : agents_[agent]};
  }

 private:
  std::vector<int> kernels_, agents_;
};

/// All kernels with samples, most first.
struct Grouped {
  std::vector<KernelRows> kernels;
  std::uint64_t unknown = 0;  ///< samples that are in none
};

std::uint64_t weight_of(const PcSamples& samples, const std::vector<std::uint32_t>& rows) {
  std::uint64_t out = 0;
  for (const std::uint32_t row : rows) out += samples.weight_of(row);
  return out;
}

void add_recorded_dispatches(const PcSamples& samples, const Identities& identities,
                             std::map<std::pair<int, int>, KernelRows>& groups) {
  for (pc_sampling::Index i = 0; i < samples.dispatches.size(); ++i) {
    const pc_sampling::Dispatch& one = samples.dispatches[i];
    if (one.kernel == pc_sampling::kNone || !one.start || !one.end || *one.end < *one.start)
      continue;
    const auto group = groups.find(identities.of(one.kernel, one.agent));
    if (group != groups.end()) group->second.dispatches.push_back(i);
  }
  for (auto& [key, group] : groups) {
    std::ranges::stable_sort(group.dispatches, {},
                             [&](pc_sampling::Index i) { return *samples.dispatches[i].start; });
    for (const std::uint32_t row : group.rows)
      if (const pc_sampling::Index ran =
              samples.dispatch.empty() ? pc_sampling::kNone : samples.dispatch[row];
          ran != pc_sampling::kNone && samples.dispatches[ran].start)
        group.samples_in_dispatches += samples.weight_of(row);
  }
}

Grouped group_rows(const PcSamples& samples) {
  const Identities identities(samples);
  std::map<std::pair<int, int>, KernelRows> groups;
  Grouped out;
  for (std::uint32_t row = 0; row < samples.size(); ++row) {
    const bool decoded = samples.pcs[samples.pc[row]].decoded;
    const pc_sampling::Index kernel = samples.kernel_of(row), agent = samples.agent_of(row);
    if (!decoded && kernel == pc_sampling::kNone) {
      out.unknown += samples.weight_of(row);
      continue;
    }
    KernelRows& group =
        groups
            .try_emplace(identities.of(kernel, agent),
                         KernelRows{.kernel = kernel, .agent = agent, .rows = {}, .dispatches = {}})
            .first->second;
    if (decoded)
      group.rows.push_back(row);
    else
      group.undecoded += samples.weight_of(row);
  }
  add_recorded_dispatches(samples, identities, groups);
  for (auto& [key, group] : groups) out.kernels.push_back(std::move(group));
  std::ranges::stable_sort(out.kernels, std::greater{},
                           [&](const KernelRows& one) { return weight_of(samples, one.rows); });
  return out;
}

void add_names(const PcSamples& samples, const KernelRows& rows, const std::vector<Kernel>& kernels,
               KernelPcSamples& out) {
  if (rows.agent != pc_sampling::kNone) {
    const pc_sampling::Agent& agent = samples.agents[rows.agent];
    out.architecture = agent.arch;
    out.agent = agent.product.empty() ? agent.arch : agent.product;
  }
  out.kernel_unknown = rows.kernel == pc_sampling::kNone;
  out.kernel = kUnknownKernel;
  if (rows.kernel == pc_sampling::kNone) return;
  const pc_sampling::Kernel& sampled = samples.kernels[rows.kernel];
  out.mangled_name = sampled.mangled_name;
  out.kernel = sampled.name.empty() ? sampled.mangled_name : sampled.name;
  auto found = std::ranges::find_if(kernels, [&](const Kernel& one) {
    return !one.mangled_name.empty() && one.mangled_name == sampled.mangled_name;
  });
  if (found == kernels.end()) found = std::ranges::find(kernels, out.kernel, &Kernel::name);
  if (found == kernels.end()) return;
  out.analysis_kernel = static_cast<std::size_t>(found - kernels.begin());
  out.kernel = found->name;
}

std::vector<pc_sampling::Index> sampled_pcs(const PcSamples& samples, const KernelRows& rows) {
  std::set<pc_sampling::Index> pcs;
  for (const std::uint32_t row : rows.rows) pcs.insert(samples.pc[row]);
  return {pcs.begin(), pcs.end()};
}

std::string reason_of_intervals(const ShareMaker& shares) {
  switch (shares.intervals()) {
    case PcIntervals::ticks:
      return "the wider of a bootstrap over ticks and Wilson's of the effective samples";
    case PcIntervals::independent:
      return "nothing tells which samples were taken together: they are taken as independent";
    case PcIntervals::none:
      break;
  }
  return fmt::format("{} ticks have samples of this kernel: {} are needed for an interval",
                     shares.ticks(), kFewestTicks);
}

/// One kernel, from its rows to its figures.
class KernelMaker {
 public:
  KernelMaker(const PcSamples& samples, const PcSampleSet& set, const TickLength& length,
              const Ticks& ticks, const KernelCodes& codes)
      : samples_(samples), set_(set), length_(length), ticks_(ticks), codes_(codes) {}

  KernelPcSamples make(const KernelRows& rows, const trace::Trace& trace,
                       const std::vector<Kernel>& kernels) const {
    KernelPcSamples out;
    out.method = samples_.method;
    add_names(samples_, rows, kernels, out);
    std::vector<std::uint32_t> ticks;
    std::vector<std::uint64_t> weights;
    for (const std::uint32_t row : rows.rows) {
      if (ticks_.count > 0) ticks.push_back(ticks_.of_row[row]);
      weights.push_back(samples_.weight_of(row));
    }
    ShareMaker shares(ticks, weights);
    const std::vector<pc_sampling::Index> pcs = sampled_pcs(samples_, rows);
    const auto codes = codes_.by_name.find(out.mangled_name);
    const SampledCode code = sampled_code(
        samples_, pcs, rows.kernel,
        codes == codes_.by_name.end() ? std::span<const CodeOfKernelFile>() : codes->second);
    const KernelTally tally =
        tally_kernel(samples_, rows.rows, ticks, code, shares, out.architecture);
    std::vector<const ClusterSums*> kinds;
    for (const auto& one : tally.instructions)
      if (one) kinds.push_back(&one->samples);
    shares.take_design_effect(kinds);
    out.ticks = shares.ticks();
    out.intervals = shares.intervals();
    out.intervals_reason = reason_of_intervals(shares);
    add_figures(samples_, code, tally, shares, out);
    if (out.ticks > 0)
      out.samples_per_tick = static_cast<double>(out.samples) / static_cast<double>(out.ticks);
    if (shares.intervals() == PcIntervals::ticks) out.design_effect = shares.design_effect();
    add_identity_missing(codes != codes_.by_name.end(), code, out);
    add_quality(samples_, rows, tally, length_, out);
    add_plain_time(samples_, trace, kernels, out);
    judge_samples(set_, out);
    add_features(samples_, tally, shares, out);
    return out;
  }

 private:
  static void add_identity_missing(bool found, const SampledCode& code, KernelPcSamples& out) {
    const auto miss = [&](const char* field, std::string reason, std::string remedy = {}) {
      out.missing.push_back(
          {.field = field, .reason = std::move(reason), .remedy = std::move(remedy)});
    };
    if (!out.analysis_kernel)
      miss("analysis_kernel", "no recording was given, or none has this kernel",
           "give the database of the same program with the samples");
    if (!out.design_effect) miss("design_effect", out.intervals_reason);
    if (out.code_known) return;
    miss("never_sampled",
         !code.code_refused.empty() ? code.code_refused
         : found                    ? "its code could not be disassembled"
                                    : "the code object of the kernel was not found",
         "give the program or its code object: --code FILE");
  }

  const PcSamples& samples_;
  const PcSampleSet& set_;
  const TickLength& length_;
  const Ticks& ticks_;
  const KernelCodes& codes_;
};

/// Reasons over all samples, whatever they are of.
std::vector<PcReason> unfiltered_reasons(const PcSamples& samples) {
  std::map<std::uint8_t, std::uint64_t> counts;
  std::uint64_t stalled = 0, all = 0;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    all += samples.weight_of(row);
    if (!samples.stall(row)) continue;
    stalled += samples.weight_of(row);
    counts[samples.reason[row]] += samples.weight_of(row);
  }
  std::vector<PcReason> out;
  for (const auto& [reason, many] : counts) {
    PcReason& row = out.emplace_back();
    row.name = samples.reasons[reason].name;
    row.kind = samples.reasons[reason].kind;
    row.samples = many;
    row.of_stalled.value = static_cast<double>(many) / static_cast<double>(stalled);
    row.of_all.value = static_cast<double>(many) / static_cast<double>(all);
  }
  std::ranges::stable_sort(out, std::greater{}, &PcReason::samples);
  return out;
}

PcSampleSet set_of(const PcSamples& samples) {
  PcSampleSet out;
  for (const pc_sampling::Source& source : samples.sources)
    if (source.element == 0)
      out.files.push_back(std::filesystem::path(source.file).filename().string());
  out.method = samples.method;
  out.form = samples.form;
  out.interval = samples.interval;
  out.counts = samples.counts;
  for (std::size_t row = 0; row < samples.size(); ++row) out.samples += samples.weight_of(row);
  out.reasons = unfiltered_reasons(samples);
  return out;
}

/// On however many GPUs it ran.
void add_other(std::string name, std::uint64_t many, PcSampleSet& set) {
  if (many == 0) return;
  set.other_kernels += many;
  const auto known = std::ranges::find(set.others, name, &PcOtherKernel::name);
  if (known != set.others.end())
    known->samples += many;
  else if (set.others.size() < kMostPcKernels)
    set.others.push_back({.name = std::move(name), .samples = many});
}

void add_warnings(const PcSamples& samples, const PcSampleSet& set,
                  const std::vector<KernelPcSamples>& kernels, std::vector<std::string>& warnings) {
  if (set.samples == 0)
    warnings.emplace_back(
        "the PC samples hold none: the kernels were too short for the interval, or the GPU gave "
        "none");
  for (const auto& [name, many] : set.counts.unknown_names)
    warnings.push_back(fmt::format("PC samples: {} is not known here ({} samples)", name, many));
  if (set.counts.dropped > 0)
    warnings.push_back(
        fmt::format("PC samples: {} damaged rows were left out", set.counts.dropped));
  for (const pc_sampling::Source& source : samples.sources)
    if (!source.problem.empty())
      warnings.push_back(fmt::format("PC samples: not all could be taken: {}", source.problem));
  for (const KernelPcSamples& kernel : kernels) {
    if (kernel.slots_alias)
      warnings.push_back(fmt::format(
          "PC samples of {}: each XCC was asked at one wave slot of its own, so the samples do not "
          "tell how the XCCs were loaded",
          kernel.kernel));
    if (kernel.quality.dispatches_lost.value_or(0) > 0)
      warnings.push_back(
          fmt::format("PC samples of {}: none in the last {} of {} dispatches: samples were lost",
                      kernel.kernel, *kernel.quality.dispatches_lost, *kernel.quality.dispatches));
  }
}

}  // namespace

PcSampling analyze_pc_samples(const PcSamples& samples, PcIntervalSource source,
                              const KernelCodes& codes, const trace::Trace& trace,
                              const std::vector<Kernel>& kernels,
                              std::optional<std::size_t> only_kernel) {
  PcSampling out;
  PcSampleSet set = set_of(samples);
  const TickLength length = tick_length(samples, source);
  set.interval_source = samples.interval ? source : length.source;
  set.tick_ns = length.ns;
  const Ticks ticks = find_ticks(samples, length.ns);
  Grouped grouped = group_rows(samples);
  set.kernel_unknown = grouped.unknown;
  const KernelMaker maker(samples, set, length, ticks, codes);
  for (const KernelRows& rows : grouped.kernels) {
    set.kernel_unknown += rows.undecoded;
    KernelPcSamples identity;
    add_names(samples, rows, kernels, identity);
    if (out.kernels.size() < kMostPcKernels &&
        (!only_kernel || identity.analysis_kernel == only_kernel)) {
      out.kernels.push_back(maker.make(rows, trace, kernels));
      set.in_kernels += out.kernels.back().samples;
    } else {
      add_other(std::move(identity.kernel), weight_of(samples, rows.rows), set);
    }
  }
  std::ranges::stable_sort(set.others, std::greater{}, &PcOtherKernel::samples);
  add_warnings(samples, set, out.kernels, out.warnings);
  std::ranges::copy(codes.warnings, std::back_inserter(out.warnings));
  out.sets.push_back(std::move(set));
  return out;
}

Result<PcSampling> make_pc_sampling(const PcSamplesRequest& request, const trace::Trace& trace,
                                    const std::vector<Kernel>& kernels) {
  PERFLAB_TRY(PcSamples samples, pc_sampling::read(request.places, {.interval = std::nullopt,
                                                                    .progress = request.progress}));
  PcIntervalSource source = PcIntervalSource::none;
  if (samples.interval) {
    source = PcIntervalSource::recorded;
  } else if (request.interval) {
    source = PcIntervalSource::given;
    samples.interval = interval_of(samples.method, *request.interval);
  } else if (const auto configured = configured_interval(samples)) {
    source = PcIntervalSource::config;
    samples.interval = configured;
  }
  PERFLAB_TRY(const KernelCodes codes,
              find_kernel_codes(samples, request.code_files, request.search_code));
  return analyze_pc_samples(samples, source, codes, trace, kernels, request.only_kernel);
}

}  // namespace perflab::analyze
