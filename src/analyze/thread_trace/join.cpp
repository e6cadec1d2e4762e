// Names are compared whole: two kernels whose names differ in their arguments are two kernels.
#include "analyze/thread_trace/join.h"

#include <algorithm>
#include <string_view>

namespace perflab::analyze {
namespace {

bool is_mangled(const TraceKernel& kernel, std::string_view mangled) {
  return !kernel.mangled.empty() && kernel.mangled == mangled;
}

/// Extern "C" kernels have one name for both.
bool is_displayed(const TraceKernel& kernel, std::string_view display) {
  return !display.empty() && (kernel.mangled == display || kernel.demangled == display);
}

/// Waves of a launch: whole work-groups of whole waves.
std::optional<std::uint64_t> waves_of(const trace::LaunchConfig& launch,
                                      std::optional<std::int64_t> wave_size) {
  if (!wave_size || *wave_size <= 0) return std::nullopt;
  std::uint64_t items = 1;
  double groups = 1;
  for (std::size_t i = 0; i < launch.grid.size(); ++i) {
    if (launch.workgroup[i] == 0 || launch.grid[i] == 0) return std::nullopt;
    items *= std::min<std::uint64_t>(launch.workgroup[i], 1U << 20);
    groups *= static_cast<double>((std::uint64_t{launch.grid[i]} + launch.workgroup[i] - 1) /
                                  launch.workgroup[i]);
  }
  const auto size = static_cast<std::uint64_t>(*wave_size);
  const std::uint64_t waves_per_group = (items + size - 1) / size;
  const double waves = groups * static_cast<double>(waves_per_group);
  if (waves > 1e15) return std::nullopt;
  return static_cast<std::uint64_t>(waves);
}

std::optional<std::size_t> find_kernel(const std::vector<Kernel>& kernels,
                                       std::string_view display) {
  const auto found = std::ranges::find(kernels, display, &Kernel::name);
  if (found == kernels.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kernels.begin());
}

}  // namespace

TraceJoin join_kernel(const TraceKernel& kernel, std::optional<std::int64_t> dispatch_id,
                      const trace::Trace& trace, const std::vector<Kernel>& kernels) {
  TraceJoin join;
  const trace::DispatchColumns& all = trace.dispatches;
  for (std::size_t i = 0; dispatch_id && i < all.size(); ++i) {
    if (all.dispatch_id[i] != *dispatch_id) continue;
    const trace::KernelSymbol& symbol = trace.kernel_symbols[all.kernel[i]];
    const std::string_view display = trace.strings.view(symbol.name);
    if (!is_mangled(kernel, trace.strings.view(symbol.mangled_name)) &&
        !is_displayed(kernel, display))
      continue;
    join.kernel = find_kernel(kernels, display);
    if (!join.kernel) continue;
    join.by_dispatch = true;
    join.waves_of_dispatch =
        waves_of(trace.launch_configs[all.config[i]], kernels[*join.kernel].gpu.wave_size);
    return join;
  }
  auto found = std::ranges::find_if(
      kernels, [&](const Kernel& one) { return is_mangled(kernel, one.mangled_name); });
  if (found == kernels.end())
    found = std::ranges::find_if(kernels,
                                 [&](const Kernel& one) { return is_displayed(kernel, one.name); });
  if (found == kernels.end()) return join;
  join.kernel = static_cast<std::size_t>(found - kernels.begin());
  if (found->launch_shapes == 1)
    join.waves_of_dispatch = waves_of(found->launch, found->gpu.wave_size);
  return join;
}

}  // namespace perflab::analyze
