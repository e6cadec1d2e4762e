// What to try, by the rules that hold: the rule's own sentence, with the limiter and the next step
// of the occupancy where that is what is short, and the source lines that the thread trace names.
#include "analyze/bottleneck/advice.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/bottleneck/in_words.h"
#include "analyze/bottleneck/measurements.h"
#include "hal/occupancy.h"

namespace perflab::analyze {
namespace {

constexpr std::size_t kMostLines = 5;

std::string change_in_words(const hal::Change& change) {
  std::string_view what;
  switch (change.resource) {
    case hal::Resource::vgpr:
      what = "vector registers";
      break;
    case hal::Resource::sgpr:
      what = "scalar registers";
      break;
    case hal::Resource::lds:
      what = "bytes of LDS per work-group";
      break;
    case hal::Resource::block:
      what = "work-items per work-group";
      break;
  }
  return fmt::format("from {} to {} {}", change.from, change.to, what);
}

/// What limits the waves and the smallest change that lets more in; empty: not known.
std::string occupancy_step(const Kernel* kernel) {
  if (kernel == nullptr || !kernel->occupancy || !kernel->resources.vgprs) return "";
  const hal::ModelOccupancy& now = kernel->occupancy->hardware();
  std::vector<std::string> limiters;
  for (const hal::Limiter limiter : now.limiters) limiters.emplace_back(hal::to_string(limiter));
  std::string text =
      fmt::format(": {:.3g} of {} waves per SIMD fit, limited by {}", now.waves_per_simd,
                  now.max_waves_per_simd, list_in_words(limiters));
  const hal::Arch* const arch = hal::find_arch(kernel->gpu.architecture);
  if (arch == nullptr) return text;
  const trace::LaunchConfig& launch = kernel->launch;
  const hal::OccupancyInput input = {
      .wave_size = kernel->occupancy->wave_size,
      .mode = kernel->occupancy->mode,
      .kernel = {.workgroup_size =
                     std::int64_t{launch.workgroup[0]} * launch.workgroup[1] * launch.workgroup[2],
                 .static_lds = kernel->resources.static_lds_bytes.value_or(launch.lds_bytes),
                 .dynamic_lds = kernel->resources.dynamic_lds_bytes.value_or(0),
                 .allocated_vgprs = kernel->resources.vgprs,
                 .sgprs = kernel->resources.sgprs},
      .recorded = kernel->gpu.recorded_limits};
  const auto advice = hal::advise_occupancy(*arch, input);
  if (!advice) return text;
  const auto& best = advice->of(hal::hardware_model_of(arch->platform)).next_step.best;
  if (!best) return text;
  const hal::Step& step = *best;
  std::vector<std::string> changes;
  for (const hal::Change& change : step.changes) changes.push_back(change_in_words(change));
  return text + fmt::format("; {} gives {:.3g}", list_in_words(changes), step.waves_per_simd);
}

void add_line(std::vector<std::string>& lines, const std::string& line) {
  if (line.empty() || lines.size() >= kMostLines) return;
  if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
}

/// Lines that the advice of a rule is about. Waits: the instructions that were waited for;
/// barriers: the barriers; everything else: the lines with the most cycles.
std::vector<std::string> lines_of(const Rule& rule, const KernelThreadTrace* traced) {
  std::vector<std::string> lines;
  if (traced == nullptr || !rule.advice_at_lines) return lines;
  const auto of = [&](const std::vector<InstructionCycles>& rows, const auto& wanted) {
    for (const InstructionCycles& row : rows)
      if (!row.chain.empty() && wanted(row)) add_line(lines, row.chain.front());
  };
  const auto needs = rule.needs();
  const auto about = [&](FeatureId id) { return std::ranges::find(needs, id) != needs.end(); };
  if (about(FeatureId::att_barrier)) {
    of(traced->hot, [](const InstructionCycles& row) {
      return row.instruction_class == code::InstructionClass::barrier;
    });
    return lines;
  }
  if (about(FeatureId::att_lds_wait)) {
    of(traced->causes, [](const InstructionCycles& row) {
      return row.instruction_class == code::InstructionClass::lds;
    });
    return lines;
  }
  if (rule.verdict == Bottleneck::latency || rule.verdict == Bottleneck::memory_bandwidth ||
      rule.verdict == Bottleneck::under_occupied)
    of(traced->causes, [](const InstructionCycles& row) { return row.wait_caused > 0; });
  if (lines.empty())
    for (const SourceCycles& line : traced->lines) add_line(lines, line.line);
  return lines;
}

}  // namespace

std::vector<Advice> find_advice(const ScoredBottleneck& winner, const Kernel* kernel,
                                const KernelThreadTrace* thread_trace) {
  std::vector<Advice> advice;
  for (const HeldRule& held : winner.held) {
    const Rule& rule = *held.rule;
    Advice made{.rule = rule.id, .text = std::string(rule.advice), .lines = {}};
    const auto needs = rule.needs();
    if (std::ranges::find(needs, FeatureId::theoretical_occupancy) != needs.end())
      made.text += occupancy_step(kernel);
    const bool said = std::ranges::any_of(
        advice, [&](const Advice& earlier) { return earlier.text == made.text; });
    if (said) continue;
    made.lines = lines_of(rule, thread_trace);
    advice.push_back(std::move(made));
  }
  return advice;
}

}  // namespace perflab::analyze
