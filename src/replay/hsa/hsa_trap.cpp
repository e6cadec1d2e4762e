// One work-group of left_memory_registers has a CU for itself: its LDS and all vector registers are
// its own. One of left_memory_scratch is 256 work-items, and there are as many as the GPU holds at
// a time. Both stay for some microseconds, so that they lie beside each other; nobody says that
// each CU got one. What CUs have is from the architecture tables.
#include "replay/hsa/hsa_trap.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "code/object/code_object.h"
#include "hal/arch.h"
#include "left_memory_objects.h"
#include "replay/failures.h"

namespace perflab::replay {
namespace {

constexpr std::uint32_t kScratchGroup = 256;  // of left_memory.cl
/// Work-groups for each CU: what comes late to one finds another that is done already.
constexpr std::uint32_t kGroupsPerCu = 2;
constexpr Nanos kTrapLimit{10'000'000'000};
constexpr std::uint16_t kTrapHeader = hsa::packet_type::kernel_dispatch |
                                      hsa::header::scope_system << hsa::header::acquire_shift |
                                      hsa::header::scope_system << hsa::header::release_shift;

/// Arguments of both kernels, one behind the other, each aligned as packets demand.
struct TrapArguments {
  std::uint32_t pattern = 0, lds_words = 0;
  alignas(16) std::uint32_t same_pattern = 0;
  std::uint32_t scratch_words = 0;
};
static_assert(offsetof(TrapArguments, same_pattern) == 16);

std::string_view object_for(const std::string& processor) {
  for (const EmbeddedFile& file : left_memory_objects())
    if (file.name == processor + ".hsaco") return file.text;
  return {};
}

/// Vector registers of each lane of a SIMD; with the accumulators where those have a file of their
/// own.
std::uint32_t registers_of(const hal::Arch& arch) {
  const hal::WaveSizeLimits* const limits = arch.wave_limits(arch.default_wave_size);
  PERFLAB_CHECK(limits != nullptr);
  const bool apart = arch.agpr_rule == hal::AgprRule::separate;
  return static_cast<std::uint32_t>(limits->vgprs_per_simd + (apart ? arch.addressable_agprs : 0));
}

Launch one_dimension(const LoadedKernel& kernel, std::uint64_t kernarg, std::uint32_t groups,
                     std::uint32_t group) {
  return {.kernel_object = kernel.object,
          .kernarg_address = kernarg,
          .header = kTrapHeader,
          .setup = 1,
          .grid = {groups * group, 1, 1},
          .workgroup = {group, 1, 1},
          .group_segment_bytes = 0,
          .private_segment_bytes = kernel.private_segment_bytes};
}

}  // namespace

Result<std::unique_ptr<HsaTrap>> HsaTrap::open(const HsaRuntime& runtime, const HsaAgent& gpu,
                                               HsaMemory& memory) {
  std::unique_ptr<HsaTrap> trap(new HsaTrap(runtime, gpu, memory));
  PERFLAB_TRY_VOID(trap->load(runtime, gpu));
  return trap;
}

Result<void> HsaTrap::load(const HsaRuntime& runtime, const HsaAgent& gpu) {
  const hal::Arch* const arch = hal::find_arch(gpu.name);
  const std::string_view object = object_for(gpu.name);
  if (arch == nullptr || object.empty()) {
    missing_because_ = fmt::format("no kernel that does it is built in for {}", gpu.name);
    return {};
  }
  PERFLAB_TRY(const code::CodeObject read, code::read_code_object(object, "left_memory"));
  const code::KernelMetadata* const filling = code::kernel_named(read, "left_memory_registers");
  PERFLAB_CHECK(filling != nullptr && filling->max_workgroup_size);
  const auto group = static_cast<std::uint32_t>(*filling->max_workgroup_size);
  std::uint32_t cus = 0;
  PERFLAB_TRY_VOID(check_call(
      runtime.core().agent_get_info(gpu.handle, hsa::agent_info::compute_unit_count, &cus),
      "hsa_agent_get_info(COMPUTE_UNIT_COUNT)"));
  PERFLAB_TRY(const std::optional<std::uint64_t> arguments,
              memory_.allocate(sizeof(TrapArguments)));
  if (!arguments) {
    missing_because_ = "the GPU has no room for the arguments of the kernel that does it";
    return {};
  }
  PERFLAB_TRY_VOID(code_.load(std::as_bytes(std::span(object))));
  PERFLAB_TRY(const LoadedKernel registers, code_.kernel("left_memory_registers"));
  PERFLAB_TRY(const LoadedKernel scratch, code_.kernel("left_memory_scratch"));
  fills_ = {.lds_bytes = static_cast<std::uint32_t>(arch->lds_max_per_workgroup),
            .scratch_bytes = 0,
            .vgprs = registers_of(*arch)};
  registers_ = one_dimension(registers, *arguments, kGroupsPerCu * cus, group);
  registers_.group_segment_bytes = fills_.lds_bytes;
  const auto waves = kScratchGroup / static_cast<std::uint32_t>(arch->default_wave_size);
  scratch_ =
      one_dimension(scratch, *arguments + offsetof(TrapArguments, same_pattern),
                    kGroupsPerCu * cus * static_cast<std::uint32_t>(arch->max_waves_per_cu) / waves,
                    kScratchGroup);
  return {};
}

Result<Dirtied> HsaTrap::dirty(HsaQueue& queue, const Launch& next, std::uint64_t seed) {
  if (!missing_because_.empty())
    return Dirtied{.what = std::nullopt, .missing_because = missing_because_};
  const std::uint32_t pattern = left_memory_pattern(seed);
  const TrapArguments arguments{.pattern = pattern,
                                .lds_words = fills_.lds_bytes / 4,
                                .same_pattern = pattern,
                                .scratch_words = next.private_segment_bytes / 4};
  PERFLAB_TRY_VOID(
      memory_.write(registers_.kernarg_address, std::as_bytes(std::span(&arguments, 1))));
  const auto run = [&](const Launch& launch) -> Result<void> {
    const auto time = queue.run(launch, kTrapLimit);
    if (time) return {};
    // No fault of what is to be launched: the same kernel in every replay.
    return fail(Failure::hsa_call_failed,
                fmt::format("the kernel that dirties LDS, registers and scratch before launches "
                            "did not end well: {}",
                            time.error().message),
                "run it again; when it repeats, the GPU or its driver is broken: `rocm-perf "
                "doctor --self-test`");
  };
  Dirtied dirtied{.what = fills_, .missing_because = {}};
  if (next.private_segment_bytes > 0) {
    Launch scratch = scratch_;
    scratch.private_segment_bytes =
        std::max(scratch.private_segment_bytes, next.private_segment_bytes);
    PERFLAB_TRY_VOID(run(scratch));
    dirtied.what->scratch_bytes = next.private_segment_bytes;
  }
  PERFLAB_TRY_VOID(run(registers_));
  return dirtied;
}

}  // namespace perflab::replay
