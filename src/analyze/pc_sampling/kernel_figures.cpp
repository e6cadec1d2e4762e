// Lists of instructions, lines, classes and reasons, each with shares and the order by samples.
#include "analyze/pc_sampling/kernel_figures.h"

#include <algorithm>
#include <functional>

namespace perflab::analyze {
namespace {

using pc_sampling::PcSamples;

std::uint64_t whole(double samples) {
  return static_cast<std::uint64_t>(samples + 0.5);
}

/// Makes rows of counts, and orders them.
class CountRows {
 public:
  CountRows(const PcSamples& samples, const KernelTally& tally, const ShareMaker& shares)
      : samples_(samples), tally_(tally), shares_(shares) {}

  void fill(const CountTally& from, PcCounts& out) const {
    out.samples = whole(total(from.samples));
    out.issued = whole(total(from.issued));
    out.stalled = samples_.reason.empty() ? 0 : out.samples - out.issued;
    out.share = shares_.share(from.samples);
    if (!samples_.wave_count.empty()) out.wave_time_share = shares_.share(from.waves, tally_.waves);
    if (!samples_.reason.empty() && out.samples >= kFewestForRatio)
      out.issued_share = shares_.share(from.issued, from.samples);
    for (const auto& [reason, many] : from.reasons)
      out.reasons.emplace_back(samples_.reasons[reason].name, many);
    std::ranges::stable_sort(out.reasons, std::greater{},
                             [](const auto& one) { return one.second; });
  }

  /// Rows of keys with their sums, most samples first, ties marked.
  template <class Row, class Key, class SetKey>
  std::vector<Row> sorted(const std::map<Key, CountTally>& sums, const SetKey& set_key) const {
    std::vector<std::pair<const Key*, const CountTally*>> order;
    for (const auto& [key, sum] : sums) order.emplace_back(&key, &sum);
    std::ranges::stable_sort(order, std::greater{},
                             [](const auto& one) { return total(one.second->samples); });
    std::vector<Row> out(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      fill(*order[i].second, out[i]);
      set_key(*order[i].first, out[i]);
      out[i].tied_with_previous =
          i > 0 && shares_.tied(order[i - 1].second->samples, order[i].second->samples);
    }
    return out;
  }

 private:
  const PcSamples& samples_;
  const KernelTally& tally_;
  const ShareMaker& shares_;
};

/// Sums over instructions that have the same key.
template <class Key, class KeyOf>
std::map<Key, CountTally> by_key(const KernelPcSamples& kernel, const KernelTally& tally,
                                 const ShareMaker& shares, const KeyOf& key_of) {
  std::map<Key, CountTally> out;
  for (std::size_t i = 0; i < tally.instructions.size(); ++i)
    if (tally.instructions[i])
      out.try_emplace(key_of(kernel.instructions[i]), shares.zero())
          .first->second.add(*tally.instructions[i]);
  return out;
}

/// Instructions by samples; ties are marked for the first kMostTies of them.
void order_instructions(const KernelTally& tally, const ShareMaker& shares, KernelPcSamples& out) {
  constexpr std::size_t kMostTies = 100;
  for (std::size_t i = 0; i < out.instructions.size(); ++i)
    if (out.instructions[i].samples > 0) out.hot.push_back(i);
  std::ranges::stable_sort(out.hot, std::greater{},
                           [&](std::size_t i) { return out.instructions[i].samples; });
  for (std::size_t i = 1; i < out.hot.size() && i < kMostTies; ++i)
    out.instructions[out.hot[i]].tied_with_previous = shares.tied(
        tally.instructions[out.hot[i - 1]]->samples, tally.instructions[out.hot[i]]->samples);
}

void add_lists(const PcSamples& samples, const KernelTally& tally, const ShareMaker& shares,
               KernelPcSamples& out) {
  const CountRows rows(samples, tally, shares);
  for (std::size_t i = 0; i < tally.instructions.size(); ++i)
    if (tally.instructions[i]) rows.fill(*tally.instructions[i], out.instructions[i]);
  order_instructions(tally, shares, out);
  const auto set_line = [](const std::string& line, PcLine& row) { row.line = line; };
  const bool lines = std::ranges::any_of(
      out.instructions, [](const PcInstruction& one) { return !one.chain.empty(); });
  if (lines) {
    out.lines = rows.sorted<PcLine>(
        by_key<std::string>(out, tally, shares,
                            [](const PcInstruction& one) {
                              return one.chain.empty() ? std::string() : one.chain.front();
                            }),
        set_line);
    out.call_sites = rows.sorted<PcLine>(
        by_key<std::string>(out, tally, shares,
                            [](const PcInstruction& one) {
                              return one.chain.empty() ? std::string() : one.chain.back();
                            }),
        set_line);
  }
  out.classes = rows.sorted<PcClass>(
      by_key<code::InstructionClass>(
          out, tally, shares, [](const PcInstruction& one) { return one.instruction_class; }),
      [](code::InstructionClass one, PcClass& row) { row.instruction_class = one; });
}

void add_reasons(const PcSamples& samples, const KernelTally& tally, const ShareMaker& shares,
                 KernelPcSamples& out) {
  for (const auto& [reason, sums] : tally.reasons) {
    PcReason& row = out.reasons.emplace_back();
    row.name = samples.reasons[reason].name;
    row.kind = samples.reasons[reason].kind;
    row.samples = whole(total(sums.samples));
    row.of_stalled = shares.share(sums.samples, tally.stalled);
    row.of_all = shares.share(sums.samples);
    if (!samples.wave_count.empty()) row.of_wave_time = shares.share(sums.waves, tally.waves);
  }
  std::ranges::stable_sort(out.reasons, std::greater{}, &PcReason::samples);
  if (samples.reason.empty()) return;
  if (samples.method == pc_sampling::Method::cupti) return;
  for (std::size_t i = 0; i < kPcWaits; ++i) out.waits[i] = shares.counted(tally.waits[i]);
  for (const auto& [one, sums] : tally.refused)
    out.refused_by_class.emplace_back(one, shares.counted(sums));
  std::ranges::stable_sort(out.refused_by_class, std::greater{},
                           [](const auto& one) { return one.second.samples; });
}

/// The waits' samples, at what they waited for.
void add_causes(const PcSamples& samples, const KernelTally& tally, KernelPcSamples& out) {
  std::map<std::size_t, std::uint64_t> causes;
  for (std::size_t i = 0; i < tally.instructions.size(); ++i) {
    if (!tally.instructions[i] || out.instructions[i].waits_for.empty()) continue;
    for (const auto& [reason, many] : tally.instructions[i]->reasons)
      if (samples.reasons[reason].kind == pc_sampling::StallKind::waitcnt)
        causes[out.instructions[i].waits_for.back()] += many;
  }
  for (const auto& [instruction, many] : causes)
    out.causes.push_back({.instruction = instruction, .samples = many});
  std::ranges::stable_sort(out.causes, std::greater{}, &PcCause::samples);
}

void add_arbiter(const KernelTally& tally, const ShareMaker& shares, KernelPcSamples& out) {
  PcArbiter arbiter;
  for (std::size_t i = 0; i < kPcPipes; ++i) {
    PcPipe& pipe = arbiter.pipes.emplace_back();
    pipe.pipe = static_cast<pc_sampling::Pipe>(i);
    pipe.available = pipe_available(out.architecture, pipe.pipe, tally.seen_pipes);
    if (!pipe.available) continue;
    pipe.used = shares.counted(tally.used[i]);
    pipe.backpressured = shares.counted(tally.pushed_back[i]);
    ClusterSums idle = shares.all();
    for (std::size_t k = 0; k < idle.size(); ++k)
      idle[k] -= tally.used[i][k] + tally.pushed_back[i][k];
    pipe.idle = shares.counted(idle);
  }
  arbiter.no_pipe_used = shares.counted(tally.no_pipe_used);
  arbiter.nobody_asked = shares.counted(tally.nobody_asked);
  arbiter.issued_per_cycle = shares.mean(tally.pipes_used, shares.all());
  arbiter.contradictions = tally.arbiter_contradictions;
  out.arbiter = std::move(arbiter);
}

void add_waves(const KernelTally& tally, const ShareMaker& shares, KernelPcSamples& out) {
  std::uint64_t all = 0;
  for (const auto& [waves, samples] : tally.wave_counts) all += samples;
  if (all == 0) return;
  const auto quantile = [&](double share) {
    std::uint64_t seen = 0;
    for (const auto& [waves, samples] : tally.wave_counts)
      if (static_cast<double>(seen += samples) >= share * static_cast<double>(all))
        return static_cast<double>(waves);
    return static_cast<double>(tally.wave_counts.rbegin()->first);
  };
  out.waves = PcWaves{.mean = shares.mean(tally.waves, shares.all()),
                      .p10 = quantile(0.1),
                      .median = quantile(0.5),
                      .p90 = quantile(0.9),
                      .most = tally.wave_counts.rbegin()->first,
                      .per_simd = out.architecture.starts_with("gfx12")};
}

/// Whether every XCC was asked at one wave slot, and they at different ones: the driver's cursor
/// advances from XCC to XCC, so such samples tell nothing of their balance.
bool slots_alias(const std::map<std::uint8_t, XccTally>& xccs) {
  constexpr double kNearlyAll = 0.9;
  constexpr std::uint64_t kFewest = 20;
  std::set<std::uint8_t> slots;
  for (const auto& [number, xcc] : xccs) {
    std::uint64_t all = 0;
    for (const auto& [slot, many] : xcc.slots) all += many;
    const auto top =
        std::ranges::max_element(xcc.slots, {}, [](const auto& one) { return one.second; });
    if (all < kFewest || static_cast<double>(top->second) < kNearlyAll * static_cast<double>(all))
      return false;
    slots.insert(top->first);
  }
  return slots.size() > 1;
}

void add_xccs(const PcSamples& samples, const KernelTally& tally, const ShareMaker& shares,
              KernelPcSamples& out) {
  if (samples.method == pc_sampling::Method::host_trap) {
    out.slots_alias = slots_alias(tally.xccs);
    return;
  }
  for (const auto& [number, xcc] : tally.xccs)
    out.xccs.push_back({.xcc = number,
                        .samples = shares.counted(xcc.samples),
                        .cus = xcc.cus.size(),
                        .ticks = xcc.ticks.size()});
}

/// Where a stall feature is kept.
PcEstimate& feature_at(PcFeatures& features, StallFeature feature) {
  switch (feature) {
    case StallFeature::memory_wait:
      return features.memory_wait;
    case StallFeature::lds_wait:
      return features.lds_wait;
    case StallFeature::scalar_wait:
      return features.scalar_wait;
    case StallFeature::wait_unknown:
      return features.wait_unknown;
    case StallFeature::barrier:
      return features.barrier;
    case StallFeature::vmem_backpressure:
      return features.vmem_backpressure;
    case StallFeature::lds_backpressure:
      return features.lds_backpressure;
    case StallFeature::matrix_busy:
      return features.matrix_busy;
    case StallFeature::valu_busy:
      return features.valu_busy;
    case StallFeature::contention:
      return features.contention;
    case StallFeature::dependency:
      return features.dependency;
    case StallFeature::instruction_fetch:
      break;
  }
  return features.instruction_fetch;
}

/// Why a feature is missing that the method or form cannot give.
void explain_missing(const PcSamples& samples, KernelPcSamples& out) {
  const bool csv = samples.form == pc_sampling::Form::rocprofv3_csv;
  const auto miss = [&](const char* field, std::string reason, std::string remedy = {}) {
    out.missing.push_back(
        {.field = field, .reason = std::move(reason), .remedy = std::move(remedy)});
  };
  const PcFeatures& features = out.features;
  constexpr const char* kTrap = "host traps say where waves were, not whether or why they stalled";
  constexpr const char* kStochastic =
      "sample with --pc-sampling-method stochastic (gfx942, gfx950)";
  if (samples.reason.empty())
    for (const char* const field :
         {"issued", "stalled", "waits", "features.issued", "features.memory_wait",
          "features.lds_wait", "features.scalar_wait", "features.wait_unknown", "features.barrier",
          "features.vmem_backpressure", "features.lds_backpressure", "features.matrix_busy",
          "features.valu_busy", "features.contention", "features.dependency",
          "features.instruction_fetch"})
      miss(field, kTrap, kStochastic);
  if (samples.method == pc_sampling::Method::cupti) {
    for (const char* const field : {"waits", "features.matrix_busy"})
      miss(field, "CUPTI has no such reason");
    for (const char* const field : {"features.lds_wait", "features.lds_backpressure"})
      miss(field, "CUPTI's reasons do not tell shared memory from special functions");
  }
  const char* const no_arbiter = samples.method == pc_sampling::Method::host_trap ? kTrap
                                 : csv ? "the CSV table has no states of the arbiter"
                                       : "these samples have no states of the arbiter";
  if (!out.arbiter) miss("arbiter", no_arbiter, csv ? "give the JSON of the run" : "");
  if (!features.simd_latency.value)
    miss("features.simd_latency", no_arbiter, csv ? "give the JSON of the run" : "");
  if (!out.waves)
    for (const char* const field : {"waves", "features.waves_per_busy_cu"})
      miss(field, samples.method == pc_sampling::Method::host_trap
                      ? kTrap
                      : "these samples count no waves");
  if (!features.lanes_active.value)
    miss("features.lanes_active", "these samples have no mask of the lanes");
}

}  // namespace

bool pipe_available(std::string_view architecture, pc_sampling::Pipe pipe, std::uint16_t seen) {
  using enum pc_sampling::Pipe;
  if (architecture.starts_with("gfx9")) return pipe != lds_direct && pipe != brmsg;
  if (architecture.starts_with("gfx12")) return pipe != matrix && pipe != flat && pipe != misc;
  return (seen >> static_cast<unsigned>(pipe) & 1U) != 0;
}

void add_figures(const PcSamples& samples, const SampledCode& code, const KernelTally& tally,
                 const ShareMaker& shares, KernelPcSamples& out) {
  out.samples = whole(total(shares.all()));
  out.instructions = code.instructions;
  out.code_known = code.code_known;
  if (!samples.reason.empty()) {
    out.issued = shares.counted(tally.issued);
    out.stalled = shares.counted(tally.stalled);
  }
  add_reasons(samples, tally, shares, out);
  add_lists(samples, tally, shares, out);
  add_causes(samples, tally, out);
  if (!samples.arbiter_issue.empty()) add_arbiter(tally, shares, out);
  if (!samples.wave_count.empty()) add_waves(tally, shares, out);
  if (!samples.hardware.empty()) add_xccs(samples, tally, shares, out);
}

void add_features(const PcSamples& samples, const KernelTally& tally, const ShareMaker& shares,
                  KernelPcSamples& out) {
  if (out.refusals.empty()) {
    PcFeatures& features = out.features;
    if (!samples.reason.empty()) {
      features.issued = out.issued.share;
      for (std::size_t i = 0; i < kStallFeatures; ++i)
        feature_at(features, static_cast<StallFeature>(i)) = shares.share(tally.features[i]);
    }
    if (samples.method == pc_sampling::Method::cupti)
      features.lds_wait = features.lds_backpressure = features.matrix_busy = PcEstimate{};
    if (!samples.exec_mask.empty()) features.lanes_active = shares.mean(tally.lanes, shares.all());
    if (out.waves) features.waves_per_busy_cu = out.waves->mean;
    if (out.arbiter)
      features.simd_latency = out.arbiter->no_pipe_used.share;
    else if (samples.method == pc_sampling::Method::cupti)
      features.simd_latency = shares.share(tally.no_pipe_used);
    explain_missing(samples, out);
    return;
  }
  explain_missing(samples, out);
  std::erase_if(out.missing, [](const Missing& one) { return one.field.starts_with("features."); });
  out.missing.push_back({.field = "features", .reason = out.refusals.front(), .remedy = {}});
}

}  // namespace perflab::analyze
