// From a dispatch to resources and occupancy. The agent's own record goes before hal's tables; the
// tables fill gaps.
#include "analyze/kernels/resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analyze/inspect/static_kernel.h"
#include "analyze/kernels/code_figures.h"
#include "analyze/kernels/gpu.h"
#include "hal/arch.h"

namespace perflab::analyze {
namespace {

using trace::Index;
using trace::kNone;

constexpr std::string_view kInspectRemedy = "give the program or its code object with --code";
/// Of recordings that do not say what was loaded (CSV tables, PyTorch's profiler): no code object
/// can be found to be theirs.
constexpr std::string_view kRecordRemedy = "record with rocprofv3 -f rocpd or -f json";

void miss(Kernel& kernel, std::string field, std::string reason, std::string_view remedy) {
  kernel.missing.push_back(
      {.field = std::move(field), .reason = std::move(reason), .remedy = std::string(remedy)});
}

void describe_registers(const trace::KernelSymbol& symbol, RegisterRule rule, Kernel& kernel) {
  Resources& resources = kernel.resources;
  resources.sgprs = symbol.sgprs;
  if (!symbol.arch_vgprs || !symbol.accum_vgprs || *symbol.arch_vgprs < 0 ||
      *symbol.accum_vgprs < 0 || *symbol.arch_vgprs > 4096 || *symbol.accum_vgprs > 4096) {
    miss(kernel, "resources.vgpr_per_thread",
         "the recording has no register counts for this kernel", kInspectRemedy);
    return;
  }
  const std::int64_t total = *symbol.arch_vgprs + *symbol.accum_vgprs;
  switch (rule) {
    case RegisterRule::as_recorded:
      resources.vgprs = total;
      resources.arch_vgprs = symbol.arch_vgprs;
      resources.accum_vgprs = symbol.accum_vgprs;
      break;
    case RegisterRule::doubled:
      resources.vgprs = 2 * total;
      kernel.assumptions.emplace_back(
          "vgpr_per_thread is twice the recorded count: this recorder decodes gfx950 registers in "
          "granules of 4 where the "
          "hardware allocates 8");
      for (const auto* field : {"resources.arch_vgpr", "resources.accum_vgpr"})
        miss(kernel, field, "this recorder does not know how gfx950 splits its registers",
             kInspectRemedy);
      break;
    case RegisterRule::uncertain:
      for (const auto* field :
           {"resources.vgpr_per_thread", "resources.arch_vgpr", "resources.accum_vgpr"})
        miss(kernel, field,
             "recorders of this age decode gfx950 registers as half of what is allocated, and "
             "nothing in the recording shows whether this one does",
             kInspectRemedy);
      break;
  }
}

void describe_memory(const trace::Source& source, const trace::KernelSymbol& symbol,
                     Kernel& kernel) {
  Resources& resources = kernel.resources;
  if (source.lds_known) resources.lds_bytes = kernel.launch.lds_bytes;
  if (source.scratch_known) resources.scratch_bytes = kernel.launch.scratch_bytes;
  resources.kernarg_bytes = symbol.kernarg_bytes;
  resources.static_lds_bytes = symbol.static_lds_bytes;
  if (!source.lds_known && source.platform == trace::Platform::amd)
    for (const auto& [field, value] :
         {std::pair{"resources.lds_bytes_per_workgroup", resources.lds_bytes},
          std::pair{"resources.static_lds_bytes", resources.static_lds_bytes},
          std::pair{"resources.dynamic_lds_bytes", resources.dynamic_lds_bytes},
          std::pair{"resources.kernarg_bytes", resources.kernarg_bytes}})
      if (!value) miss(kernel, field, "the recording does not hold it", kRecordRemedy);
  if (!resources.lds_bytes) return;
  if (symbol.static_lds_bytes && *symbol.static_lds_bytes <= *resources.lds_bytes)
    resources.dynamic_lds_bytes = *resources.lds_bytes - *symbol.static_lds_bytes;
  else if (symbol.static_lds_bytes)
    miss(kernel, "resources.dynamic_lds_bytes",
         "the recording gives the dispatch less LDS than the kernel's static part", kInspectRemedy);
}

bool is_nvidia(const Kernel& kernel) {
  return hal::platform_of(kernel.gpu.architecture) == hal::Platform::nvidia;
}

/// An entry for every resource that is still missing and has none.
void explain_resources(bool known, Kernel& kernel) {
  const Resources& r = kernel.resources;
  const std::array<std::pair<const char*, const std::optional<std::int64_t>*>, 9> fields = {
      {{"vgpr_per_thread", &r.vgprs},
       {"arch_vgpr", &r.arch_vgprs},
       {"accum_vgpr", &r.accum_vgprs},
       {"sgpr_per_wave", &r.sgprs},
       {"lds_bytes_per_workgroup", &r.lds_bytes},
       {"static_lds_bytes", &r.static_lds_bytes},
       {"dynamic_lds_bytes", &r.dynamic_lds_bytes},
       {"scratch_bytes_per_thread", &r.scratch_bytes},
       {"kernarg_bytes", &r.kernarg_bytes}}};
  for (const auto& [name, value] : fields) {
    const std::string field = fmt::format("resources.{}", name);
    if (value->has_value() ||
        std::ranges::find(kernel.missing, field, &Missing::field) != kernel.missing.end())
      continue;
    if (known && is_nvidia(kernel)) {
      miss(kernel, field,
           value == &r.sgprs ? "NVIDIA's GPUs have no such registers for a kernel to take"
                             : "the recorder of CUDA programs does not say it",
           "");
      continue;
    }
    miss(kernel, field,
         known ? "the recording does not hold it"
               : "the recording has no symbol row for this kernel",
         kInspectRemedy);
  }
}

void explain_gpu(bool has_agent, Kernel& kernel) {
  const Gpu& gpu = kernel.gpu;
  if (gpu.architecture.empty() && gpu.product.empty())
    return miss(kernel, "gpu",
                has_agent ? "the agent has no name in the recording"
                          : "the dispatch names no agent of the recording",
                "");
  const std::array<std::pair<const char*, bool>, 7> fields = {
      {{"architecture", !gpu.architecture.empty()},
       {"product", !gpu.product.empty()},
       {"compute_units", gpu.compute_units.has_value()},
       {"xcc_count", gpu.xcc_count.has_value()},
       {"wave_size", gpu.wave_size.has_value()},
       {"clock_mhz", gpu.clock_mhz.has_value()},
       {"facts_from", !gpu.facts_from.empty()}}};
  for (const auto& [name, there] : fields)
    if (!there)
      miss(kernel, fmt::format("gpu.{}", name),
           "neither the recording nor the tables of this version have it for this agent", "");
}

std::optional<std::uint64_t> count_workgroups(const trace::LaunchConfig& launch) {
  std::uint64_t total = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (launch.workgroup[axis] == 0) return std::nullopt;
    const std::uint64_t groups =
        (std::uint64_t{launch.grid[axis]} + launch.workgroup[axis] - 1) / launch.workgroup[axis];
    if (__builtin_mul_overflow(total, groups, &total) || total > INT64_MAX) return std::nullopt;
  }
  return total;
}

/// What was taken for the occupancy that the recording does not say, or says wrong.
void say_assumptions(const hal::Arch& arch, const hal::OccupancyInput& input, Kernel& kernel) {
  const auto assume = [&](std::string text) { kernel.assumptions.push_back(std::move(text)); };
  const hal::Occupancy& occupancy = *kernel.occupancy;
  if (kernel.gpu.wave_size && *kernel.gpu.wave_size != occupancy.wave_size)
    assume(fmt::format("the agent records waves of {}, {} has none: {} is taken",
                       *kernel.gpu.wave_size, arch.gfx, occupancy.wave_size));
  for (std::string& text : unusable_limit_texts(arch, input.recorded)) assume(std::move(text));
  if (arch.wave_sizes.size() > 1)
    assume(
        fmt::format("a trace does not say a kernel's wave size and work-group mode: wave{} and {} "
                    "mode are taken",
                    occupancy.wave_size, hal::to_string(occupancy.mode)));
  if (const auto range = hal::llvm_range_of_granule(arch, input))
    assume(
        fmt::format("occupancy: {} to {} SGPRs are recorded as {}: with the fewest, llvm is {} "
                    "waves per SIMD",
                    range->fewest, range->most, range->most, range->waves_per_simd));
  for (std::string& text : unconfirmed_texts(arch, input.recorded)) assume(std::move(text));
}

void describe_occupancy(const trace::KernelSymbol& symbol, Kernel& kernel) {
  const auto cannot = [&](const std::string& reason, std::string_view remedy) {
    for (const auto* field : {"theoretical", "wave_size", "mode", "models"})
      miss(kernel, fmt::format("occupancy.{}", field), reason, remedy);
  };
  if (kernel.gpu.architecture.empty())
    return cannot("the dispatch names no GPU agent", "record with rocprofv3 -f rocpd");
  const hal::Arch* arch = hal::find_arch(kernel.gpu.architecture);
  if (arch == nullptr) {
    const Error unknown = hal::unknown_architecture(kernel.gpu.architecture);
    return cannot(unknown.message, unknown.remedy);
  }
  if (!kernel.resources.vgprs) return cannot("the register count is missing", kInspectRemedy);
  if (!kernel.resources.lds_bytes)
    return cannot("the recording does not hold the LDS of dispatches", kRecordRemedy);
  hal::TracedKernel traced;
  if (kernel.gpu.wave_size && arch->wave_limits(*kernel.gpu.wave_size) != nullptr)
    traced.wave_size = static_cast<int>(*kernel.gpu.wave_size);
  const auto workgroup = workgroup_size(kernel.launch.workgroup);
  if (!workgroup) return cannot("the work-group size is out of range", "");
  traced.workgroup_size = *workgroup;
  traced.static_lds = symbol.static_lds_bytes.value_or(*kernel.resources.lds_bytes);
  traced.dispatch_lds = *kernel.resources.lds_bytes;
  traced.arch_vgprs = kernel.resources.arch_vgprs.value_or(*kernel.resources.vgprs);
  traced.accum_vgprs = kernel.resources.arch_vgprs ? kernel.resources.accum_vgprs.value_or(0) : 0;
  traced.sgprs = kernel.resources.sgprs;
  traced.recorded = kernel.gpu.recorded_limits;
  const hal::OccupancyInput input = hal::input_from_trace(*arch, traced);
  auto occupancy = hal::compute_occupancy(*arch, input);
  if (!occupancy) return cannot(occupancy.error().message, "");
  kernel.occupancy = std::move(*occupancy);
  if (is_nvidia(kernel)) miss(kernel, "occupancy.mode", "there is one mode on NVIDIA's GPUs", "");
  say_assumptions(*arch, input, kernel);
}

}  // namespace

RegisterRules find_register_rules(const trace::Trace& trace) {
  struct Seen {
    bool gfx950 = false, accumulation = false, odd_granule = false;
  };
  std::vector<Seen> seen(trace.sources.size());
  for (const trace::KernelSymbol& symbol : trace.kernel_symbols) {
    if (symbol.code_object == kNone || !symbol.arch_vgprs) continue;
    const Index agent = trace.code_objects[symbol.code_object].agent;
    if (agent == kNone || architecture_of(trace.agents[agent]) != "gfx950") continue;
    Seen& source = seen[symbol.source];
    source.gfx950 = true;
    source.accumulation = source.accumulation || symbol.accum_vgprs.value_or(0) != 0;
    source.odd_granule = source.odd_granule ||
                         (*symbol.arch_vgprs % 8 + symbol.accum_vgprs.value_or(0) % 8) % 8 != 0;
  }
  RegisterRules rules;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    // Recorders that name a full version (3.0.0, 3.0.1) know gfx950; those that write "3" do not
    // (docs/facts/rocpd.md "Registers").
    const std::string& version = trace.sources[i].schema_version;
    const bool may_be_wrong =
        seen[i].gfx950 && !seen[i].accumulation && (version == "3" || version == "unknown");
    rules.push_back(!may_be_wrong         ? RegisterRule::as_recorded
                    : seen[i].odd_granule ? RegisterRule::doubled
                                          : RegisterRule::uncertain);
  }
  return rules;
}

void describe_launch(const trace::Trace& trace, Index dispatch, const RegisterRules& registers,
                     const CodeJoin& join, Kernel& kernel) {
  const trace::DispatchColumns& all = trace.dispatches;
  const trace::KernelSymbol& symbol = trace.kernel_symbols[all.kernel[dispatch]];
  kernel.mangled_name = trace.strings.view(symbol.mangled_name);
  if (kernel.mangled_name.empty())
    miss(kernel, "mangled_name",
         symbol.known ? "the recording does not hold it"
                      : "the recording has no symbol row for this kernel",
         "");
  kernel.launch = trace.launch_configs[all.config[dispatch]];
  kernel.workgroups = count_workgroups(kernel.launch);
  if (!kernel.workgroups)
    miss(kernel, "launch.workgroups",
         std::ranges::find(kernel.launch.workgroup, 0U) != kernel.launch.workgroup.end()
             ? "the recorded work-group size is 0"
             : "the recorded grid has more work-groups than fit 63 bits",
         "");
  const Index agent = trace.tracks[all.track[dispatch]].agent;
  if (agent != kNone) kernel.gpu = describe_gpu(trace.agents[agent]);
  explain_gpu(agent != kNone, kernel);
  describe_registers(symbol, registers[symbol.source], kernel);
  describe_memory(trace.sources[symbol.source], symbol, kernel);
  explain_resources(symbol.known, kernel);
  describe_occupancy(symbol, kernel);
  if (const code::KernelMetadata* code = join.kernel_of(trace, symbol))
    apply_code(*join.object_of(symbol), *code, kernel);
  // Behind the code object, which may know better what else was assumed.
  for (const std::string& field : kernel.gpu.unconfirmed)
    kernel.assumptions.push_back(fmt::format("gpu: the tables have no source for {}", field));
}

}  // namespace perflab::analyze
