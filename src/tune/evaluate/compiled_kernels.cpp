// Registers as the metadata counts them, else as the kernel descriptor allocates them
// (docs/facts/code_object.md "Metadata", "Kernel descriptor"). analyze/static_kernel.h does the
// same for people, with every assumption said; a model feature needs one number.
#include "tune/evaluate/compiled_kernels.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/text/pattern.h"
#include "code/files/container.h"
#include "code/instructions/disassembly.h"
#include "code/instructions/instruction_mix.h"
#include "code/object/code_object.h"
#include "hal/occupancy.h"
#include "tune/evaluate/process_step.h"

namespace perflab::tune {
namespace {

constexpr std::size_t kLongestDemangledName = 16384;  // time and memory grow with it

std::string readable_name(const std::string& name) {
  if (!name.starts_with("_Z") || name.size() > kLongestDemangledName) return name;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

/// Registers of a wave for occupancy; nothing when neither metadata nor descriptor has a count.
std::optional<hal::KernelResources> resources_of(const hal::Arch* arch,
                                                 const code::KernelMetadata& kernel,
                                                 std::int64_t& vgprs) {
  hal::KernelResources resources;
  resources.static_lds = kernel.lds_bytes;
  resources.sgprs = kernel.sgpr_count;
  if (kernel.vgpr_count) {
    vgprs = *kernel.vgpr_count;
    const std::int64_t accum = kernel.agpr_count.value_or(0);
    if (arch != nullptr && arch->agpr_rule == hal::AgprRule::separate) {
      vgprs = std::max(vgprs, accum);
      resources.vgprs = *kernel.vgpr_count;
      resources.agprs = accum;
    } else {
      resources.allocated_vgprs = vgprs;
    }
    return resources;
  }
  const hal::WaveSizeLimits* wave = arch == nullptr ? nullptr : arch->wave_limits(kernel.wave_size);
  if (wave == nullptr || !kernel.descriptor) return std::nullopt;
  vgprs = std::int64_t{kernel.descriptor->vgpr_granules()} * wave->vgpr_encoding_granule;
  resources.allocated_vgprs = vgprs;
  return resources;
}

/// Work-items of the largest work-group that the kernel takes; nothing when it does not say.
std::optional<std::int64_t> largest_workgroup(const code::KernelMetadata& kernel) {
  if (!kernel.required_workgroup_size) return kernel.max_workgroup_size;
  std::int64_t product = 1;
  for (const std::int64_t axis : *kernel.required_workgroup_size)
    if (axis < 1 || __builtin_mul_overflow(product, axis, &product)) return std::nullopt;
  return product;
}

/// Occupancy at the largest work-group, and a sentence when not even one wave can be launched.
void judge(const hal::Arch& arch, const code::KernelMetadata& kernel,
           hal::KernelResources resources, CompiledKernel& compiled, std::string& not_launchable) {
  hal::OccupancyInput input;
  if (!std::in_range<int>(kernel.wave_size)) return;
  input.wave_size = static_cast<int>(kernel.wave_size);
  std::optional<bool> wgp_mode = kernel.wgp_mode;
  if (!wgp_mode && kernel.descriptor && arch.cus_per_wgp) wgp_mode = kernel.descriptor->wgp_mode();
  if (wgp_mode) input.mode = *wgp_mode ? hal::WorkgroupMode::wgp : hal::WorkgroupMode::cu;
  const std::optional<std::int64_t> largest = largest_workgroup(kernel);

  // How it will be launched is not known: one wave is the least that can be asked of the device.
  input.kernel = resources;
  input.kernel.workgroup_size =
      std::max<std::int64_t>(std::min(kernel.wave_size, largest.value_or(kernel.wave_size)), 1);
  if (const auto one_wave = hal::compute_occupancy(arch, input); !one_wave) {
    if (not_launchable.empty())
      not_launchable = fmt::format("{} cannot be launched on {}: {}", readable_name(kernel.name),
                                   arch.gfx, one_wave.error().message);
    return;
  }
  if (!largest) return;
  input.kernel.workgroup_size = *largest;
  if (const auto occupancy = hal::compute_occupancy(arch, input))
    compiled.occupancy = occupancy->resident.occupancy;
}

/// The disassembler for a processor, looked for once: that starts programs.
const Result<code::Disassembler>& disassembler_for(const std::string& processor) {
  static std::mutex mutex;
  static std::map<std::string, Result<code::Disassembler>> found;
  const std::scoped_lock lock(mutex);
  const auto known = found.find(processor);
  if (known != found.end()) return known->second;
  return found.emplace(processor, code::find_disassembler(processor)).first->second;
}

using Functions = Result<std::vector<code::Function>>;

/// Whole objects: the code of assembly kernels is cut by labels, which only the whole puts
/// together.
Functions functions_of(std::string_view bytes, const std::string& processor) {
  const Result<code::Disassembler>& tool = disassembler_for(processor);
  if (!tool) return std::unexpected(tool.error());
  const std::array<code::ToDisassemble, 1> work = {
      {{.bytes = bytes, .processor = processor, .symbols = {}}}};
  PERFLAB_TRY(auto results, code::disassemble(*tool, work));
  return std::move(results.front());
}

void add_mix(const Functions& functions, const code::KernelMetadata& kernel,
             CompiledKernel& compiled) {
  if (!functions) {
    compiled.why_no_mix = one_line(functions.error().message);
    return;
  }
  const code::Function function =
      code::function_at(*functions, kernel.name, kernel.code_address, kernel.code_bytes);
  if (function.instructions.empty() || (kernel.wave_size != 32 && kernel.wave_size != 64)) {
    compiled.why_no_mix = "the disassembler found no code at the kernel's address";
    return;
  }
  code::InstructionMix mix =
      code::instruction_mix(function.instructions, static_cast<int>(kernel.wave_size),
                            kernel.scratch_bytes > 0 || kernel.dynamic_stack);
  using enum code::InstructionClass;
  compiled.mix = {
      .instructions = mix.instructions,
      .valu = mix.by_class[valu],
      .matrix = mix.by_class[matrix],
      .memory = mix.by_class[vmem_load] + mix.by_class[vmem_store] + mix.by_class[vmem_atomic],
      .lds = mix.by_class[lds],
      .branches = mix.by_class[branch]};
}

void add_kernel(const code::TargetId& target, const code::KernelMetadata& kernel,
                const Functions& functions, BuiltKernels& found) {
  const hal::Arch* arch = hal::find_arch(target.processor);
  CompiledKernel compiled;
  compiled.kernel = kernel.name;
  compiled.target = target.processor;
  const auto resources = resources_of(arch, kernel, compiled.vgprs);
  if (!resources) return;  // without its registers it says nothing
  compiled.sgprs = kernel.sgpr_count.value_or(0);
  compiled.lds_bytes = kernel.lds_bytes;
  compiled.scratch_bytes = kernel.scratch_bytes;
  compiled.spills = kernel.sgpr_spills.value_or(0) + kernel.vgpr_spills.value_or(0);
  if (arch != nullptr) judge(*arch, kernel, *resources, compiled, found.not_launchable);
  add_mix(functions, kernel, compiled);
  found.kernels.push_back(std::move(compiled));
}

}  // namespace

Result<BuiltKernels> read_compiled_kernels(const Job& job) {
  std::optional<Pattern> wanted;
  if (!job.code_object_kernel.empty()) {
    PERFLAB_TRY(wanted, Pattern::compile(job.code_object_kernel));
  }
  const auto architecture = code::parse_target_id(job.architecture);
  PERFLAB_TRY(const code::Container container, code::open_container(job.code_object));
  BuiltKernels found;
  for (const code::EmbeddedObject& embedded : container.objects) {
    if (architecture && embedded.target.processor != architecture->processor) continue;
    PERFLAB_TRY(const code::CodeObject object,
                code::read_code_object(embedded.bytes, job.code_object.string()));
    std::vector<const code::KernelMetadata*> kernels;
    for (const code::KernelMetadata& kernel : object.kernels)
      if (!wanted || wanted->found_in(kernel.name) || wanted->found_in(readable_name(kernel.name)))
        kernels.push_back(&kernel);
    if (kernels.empty()) continue;
    const Functions functions = functions_of(embedded.bytes, object.target.processor);
    if (!functions && functions.error().code == ErrorCode::interrupted)
      return std::unexpected(functions.error());
    for (const code::KernelMetadata* kernel : kernels)
      add_kernel(object.target, *kernel, functions, found);
  }
  return found;
}

}  // namespace perflab::tune
