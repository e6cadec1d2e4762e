// See kernels.h. A work-item of the grid handles the element of its number, as in the usual kernels
// with a bound n; blocks run one after the other.
#include "kernels.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "kernel_arguments.h"

namespace perflab::hsa::sim {
namespace {

// Of a work-group on gfx9: docs/facts/code_object.md "Allocated registers".
constexpr std::uint32_t kMostLds = 64 << 10;

struct Invocation {
  const KernelDispatchPacket& packet;
  const LoadedObject& object;
  const std::atomic<bool>& stop;
};
using Body = void (*)(const Invocation&);

template <class T>
T arguments(const Invocation& run) {
  T typed;
  std::memcpy(&typed, run.packet.kernarg_address, sizeof typed);
  return typed;
}

std::uint64_t work_items(const KernelDispatchPacket& packet) {
  return std::uint64_t{packet.grid_size_x} * std::max(packet.grid_size_y, 1U) *
         std::max(packet.grid_size_z, 1U);
}

// Elements that both the grid and the bound cover.
std::uint64_t elements(const Invocation& run, std::uint32_t n) {
  return std::min<std::uint64_t>(n, work_items(run.packet));
}

template <class T>
T* variable(const Invocation& run, std::string_view name) {
  const LoadedSymbol* symbol = run.object.find(name);
  if (symbol == nullptr || symbol->bytes < sizeof(T)) misuse("a kernel lacks its variable");
  return reinterpret_cast<T*>(symbol->address);
}

void vadd(const Invocation& run) {
  const auto is = arguments<VaddArguments>(run);
  for (std::uint64_t i = 0; i < elements(run, is.n); ++i) is.c[i] = is.a[i] + is.b[i];
}
void vadd_skips(const Invocation& run) {
  const auto is = arguments<VaddArguments>(run);
  for (std::uint64_t i = 0; i < elements(run, is.n); ++i)
    if (i % 7 != 6) is.c[i] = is.a[i] + is.b[i];
}
void vadd_oob(const Invocation& run) {
  vadd(run);
  const auto is = arguments<VaddArguments>(run);
  is.c[is.n] = -1;
}

void inplace(const Invocation& run) {
  const auto is = arguments<ArrayArguments>(run);
  for (std::uint64_t i = 0; i < elements(run, is.n); ++i) is.x[i] += 1;
}
void inplace_skips(const Invocation& run) {
  const auto is = arguments<ArrayArguments>(run);
  for (std::uint64_t i = 0; i < elements(run, is.n); ++i)
    if (i % 7 != 6) is.x[i] += 1;
}

void slow(const Invocation& run) {
  const auto is = arguments<SlowArguments>(run);
  wait_for([&] { return run.stop.load(); }, std::uint64_t{is.milliseconds} * 1'000'000);
  if (run.stop) return;
  for (std::uint64_t i = 0; i < elements(run, is.n); ++i) is.x[i] = is.value;
}

// What lies outside of the group's LDS is neither written nor read as it was.
void reverse(const Invocation& run) {
  const auto is = arguments<ArrayArguments>(run);
  const std::uint64_t group = std::max<std::uint64_t>(run.packet.workgroup_size_x, 1);
  std::vector<float> lds(run.packet.group_segment_size / sizeof(float));
  for (std::uint64_t first = 0; first < elements(run, is.n); first += group) {
    const std::uint64_t count = std::min(group, elements(run, is.n) - first);
    for (std::uint64_t i = 0; i < count; ++i)
      if (i < lds.size()) lds[i] = is.x[first + i];
    for (std::uint64_t i = 0; i < count; ++i)
      is.x[first + i] = count - 1 - i < lds.size() ? lds[count - 1 - i] : -1;
  }
}

void chase(const Invocation& run) {
  const auto is = arguments<ChaseArguments>(run);
  std::uint64_t sum = 0;
  const ChaseNode* node = is.head;
  for (std::uint32_t i = 0; i < is.steps && node != nullptr; ++i, node = node->next)
    sum += node->value;
  *is.sum = sum;
}

void scale(const Invocation& run) {
  const auto is = arguments<ArrayArguments>(run);
  const float factor = *variable<const float>(run, "factor");
  for (std::uint64_t i = 0; i < elements(run, is.n); ++i) is.x[i] *= factor;
}
void accumulate(const Invocation& run) {
  const auto is = arguments<ArrayArguments>(run);
  float& total = *variable<float>(run, "total");
  for (std::uint64_t i = 0; i < elements(run, is.n); ++i) total += is.x[i];
}

void atomic_order(const Invocation& run) {
  const auto is = arguments<ArrayArguments>(run);
  // Below 2^20, so that sums with an index are exact.
  std::random_device random;
  const auto number = static_cast<float>(random() >> 12U);
  for (std::uint64_t i = 0; i < elements(run, is.n); ++i) is.x[i] = number + static_cast<float>(i);
}

void sum_f32(const Invocation& run) {
  const auto is = arguments<SumArguments>(run);
  float sum = 0;
  for (std::uint32_t i = 0; i < is.n; ++i) sum += is.x[i];
  *is.out = sum;
}
void sum_f32_reassociated(const Invocation& run) {
  const auto is = arguments<SumArguments>(run);
  float sums[8] = {};
  for (std::uint32_t i = 0; i < is.n; ++i) sums[i % 8] += is.x[i];
  *is.out =
      ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

void empty(const Invocation&) {}

struct NamedBody {
  std::string_view name;
  Body body;
};
constexpr NamedBody kBodies[] = {
    {"vadd", vadd},
    {"vadd_skips", vadd_skips},
    {"vadd_oob", vadd_oob},
    {"inplace", inplace},
    {"inplace_skips", inplace_skips},
    {"slow", slow},
    {"reverse", reverse},
    {"chase", chase},
    {"scale", scale},
    {"accumulate", accumulate},
    {"atomic_order", atomic_order},
    {"sum_f32", sum_f32},
    {"sum_f32_reassociated", sum_f32_reassociated},
    {"empty", empty},
};

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

bool run_kernel(const KernelDispatchPacket& packet, const std::atomic<bool>& stop,
                std::optional<std::uint64_t>& work_ns) {
  const auto kernel = kernel_at(packet.kernel_object);
  if (!kernel || packet.group_segment_size > kMostLds) return false;
  if (kernel->object->library != nullptr)
    return run_in_library(packet, kernel->object->library, kernel->name, work_ns);
  const std::string_view name = body_of(*kernel->object, kernel->name);
  const auto* const found = std::ranges::find(kBodies, name, &NamedBody::name);
  if (found == std::end(kBodies)) misuse("a kernel has no body in the stand-in");
  found->body({.packet = packet, .object = *kernel->object, .stop = stop});
  return true;
}

}  // namespace perflab::hsa::sim
