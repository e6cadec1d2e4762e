// Coefficient of variation over runs.
#include "analyze/stability.h"

#include <algorithm>

#include "base/error.h"

namespace perflab::analyze {

RunStability measure_stability(const std::vector<std::optional<Analysis>>& runs,
                               const std::string& kernel_name) {
  RunStability stability;
  std::vector<double> totals;
  for (const std::optional<Analysis>& run : runs) {
    RunTime& time = stability.runs.emplace_back();
    if (!run) continue;
    time.all_kernels_total = run->activity.dispatch_total;
    const auto kernel = std::ranges::find(run->kernels, kernel_name, &Kernel::name);
    if (kernel == run->kernels.end()) continue;
    time.kernel_total = kernel->durations.total;
    time.dispatches = kernel->durations.count;
    totals.push_back(static_cast<double>(kernel->durations.total));
  }
  stability.cv = stats::summarize(totals).cv;
  if (stability.cv) stability.label = stats::classify(*stability.cv);
  return stability;
}

std::size_t representative_run(const std::vector<std::optional<Analysis>>& runs) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i]) order.push_back(i);
  PERFLAB_CHECK(!order.empty());
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return runs[i]->activity.dispatch_total; });
  return order[(order.size() - 1) / 2];
}

}  // namespace perflab::analyze
