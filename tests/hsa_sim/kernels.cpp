// See kernels.h: which body runs for a packet.
#include "kernels.h"

#include <dlfcn.h>

#include <algorithm>

#include "kernel_bodies.h"

namespace perflab::hsa::sim {
namespace {

// Of a work-group on gfx9: docs/facts/code_object.md "Allocated registers".
constexpr std::uint32_t kMostLds = 64 << 10;

std::uint64_t work_items(const KernelDispatchPacket& packet) {
  return std::uint64_t{packet.grid_size_x} * std::max(packet.grid_size_y, 1U) *
         std::max(packet.grid_size_z, 1U);
}

// The body that the code object names for the kernel, else the kernel's own name.
std::string_view body_of(const LoadedObject& object, std::string_view kernel) {
  std::string_view list = object.bodies;
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(';'));
    list.remove_prefix(std::min(item.size() + 1, list.size()));
    const std::size_t equals = item.find('=');
    if (equals != std::string_view::npos && item.substr(0, equals) == kernel)
      return item.substr(equals + 1);
  }
  return kernel;
}

// Runs a kernel of the library that its code object carries; false: it has no such kernel.
bool run_in_library(const KernelDispatchPacket& packet, void* library, const std::string& kernel,
                    std::optional<std::uint64_t>& work_ns) {
  using Call = void (*)(const void*, const std::uint32_t*, const std::uint32_t*);
  const auto call = reinterpret_cast<Call>(::dlsym(library, ("hsa_sim_call_" + kernel).c_str()));
  if (call == nullptr) return false;
  const auto at_least_one = [](std::uint32_t size) { return std::max(size, 1U); };
  const std::uint32_t grid[] = {packet.grid_size_x, at_least_one(packet.grid_size_y),
                                at_least_one(packet.grid_size_z)};
  const std::uint32_t group[] = {at_least_one(packet.workgroup_size_x),
                                 at_least_one(packet.workgroup_size_y),
                                 at_least_one(packet.workgroup_size_z)};
  using Work = std::uint64_t (*)();
  const auto work = reinterpret_cast<Work>(::dlsym(library, "hsa_sim_work"));
  const std::uint64_t before = work == nullptr ? 0 : work();
  call(packet.kernarg_address, grid, group);
  if (work != nullptr) work_ns = work() - before;
  return true;
}

}  // namespace

bool is_trap(std::uint64_t kernel_object) {
  const auto kernel = kernel_at(kernel_object);
  return kernel && kernel->name.starts_with("left_memory_");
}

bool run_kernel(const KernelDispatchPacket& packet, const std::atomic<bool>& stop,
                std::optional<std::uint64_t>& work_ns) {
  const auto kernel = kernel_at(packet.kernel_object);
  if (!kernel || packet.group_segment_size > kMostLds) return false;
  if (kernel->object->library != nullptr)
    return run_in_library(packet, kernel->object->library, kernel->name, work_ns);
  if (is_trap(packet.kernel_object) && setting_is_on("HSA_SIM_NO_TRAP")) return true;
  const std::string_view name = body_of(*kernel->object, kernel->name);
  const auto variable = [&](std::string_view wanted, std::uint64_t bytes) -> void* {
    const LoadedSymbol* const symbol = kernel->object->find(wanted);
    return symbol == nullptr || symbol->bytes < bytes ? nullptr
                                                      : reinterpret_cast<void*>(symbol->address);
  };
  if (!test::run_body(name, {.arguments = packet.kernarg_address,
                             .work_items = work_items(packet),
                             .group = packet.workgroup_size_x,
                             .compute_units = kComputeUnits,
                             .group_segment_bytes = packet.group_segment_size,
                             .private_segment_bytes = packet.private_segment_size,
                             .variable = variable,
                             .stop = stop}))
    misuse("a kernel has no body in the stand-in");
  return true;
}

}  // namespace perflab::hsa::sim
