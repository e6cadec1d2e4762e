// Grouping of millions of dispatches by kernel: one pass counts, one puts the durations of each
// kernel side by side, and the statistics are taken kernel by kernel. Peak extra memory: 8 bytes
// per dispatch.
#include "analyze/kernels/kernel_table.h"

#include <algorithm>
#include <limits>
#include <ranges>
#include <set>
#include <span>
#include <tuple>

#include "analyze/kernels/resources.h"
#include "stats/grouped.h"
#include "stats/summary.h"

namespace perflab::analyze {
namespace {

using trace::Index;
using trace::kNone;

/// What is gathered about one kernel name before it becomes a Kernel.
struct SymbolGroup {
  Index name = 0;
  bool runtime_helper = true;  ///< all symbols of this name are
  std::uint64_t count = 0, linked = 0;
  Index longest = kNone;  ///< dispatch
  std::vector<Index> symbols;
  std::set<Index> shapes;
};

/// Group of each kernel symbol; groups in the order of their first symbol.
std::vector<Index> group_symbols(const trace::Trace& trace, std::vector<SymbolGroup>& groups) {
  std::vector<Index> by_name(trace.strings.size(), kNone);
  std::vector<Index> group_of;
  for (Index i = 0; i < trace.kernel_symbols.size(); ++i) {
    const trace::KernelSymbol& symbol = trace.kernel_symbols[i];
    Index& group = by_name[symbol.name];
    if (group == kNone) {
      group = static_cast<Index>(groups.size());
      groups.emplace_back().name = symbol.name;
    }
    groups[group].symbols.push_back(i);
    groups[group].runtime_helper = groups[group].runtime_helper && is_runtime_helper(trace, symbol);
    group_of.push_back(group);
  }
  return group_of;
}

void gather(const trace::Trace& trace, const TimingScope& scope, const std::vector<Index>& group_of,
            std::vector<SymbolGroup>& groups) {
  const trace::DispatchColumns& all = trace.dispatches;
  std::vector<Index> last_shape(groups.size(), kNone);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!scope.track_counts[all.track[i]]) continue;
    const Index g = group_of[all.kernel[i]];
    SymbolGroup& group = groups[g];
    ++group.count;
    if (all.launch[i] != kNone) ++group.linked;
    if (all.config[i] != last_shape[g]) {
      last_shape[g] = all.config[i];
      group.shapes.insert(all.config[i]);
    }
    if (group.longest == kNone ||
        all.end[i] - all.start[i] > all.end[group.longest] - all.start[group.longest])
      group.longest = static_cast<Index>(i);
  }
}

stats::GroupedValues<std::int64_t> durations_of(const trace::Trace& trace, const TimingScope& scope,
                                                const std::vector<Index>& group_of,
                                                const std::vector<SymbolGroup>& groups) {
  stats::GroupedValues<std::int64_t> durations(std::views::transform(groups, &SymbolGroup::count));
  const trace::DispatchColumns& all = trace.dispatches;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (scope.track_counts[all.track[i]])
      durations.add(group_of[all.kernel[i]], all.end[i] - all.start[i]);
  return durations;
}

std::uint64_t count_variants(const trace::Trace& trace, const SymbolGroup& group) {
  std::set<std::tuple<std::optional<std::int64_t>, std::optional<std::int64_t>,
                      std::optional<std::int64_t>, std::optional<std::int64_t>>>
      variants;
  for (const Index i : group.symbols) {
    const trace::KernelSymbol& symbol = trace.kernel_symbols[i];
    variants.emplace(symbol.arch_vgprs, symbol.accum_vgprs, symbol.sgprs, symbol.static_lds_bytes);
  }
  return variants.size();
}

Kernel make_kernel(const trace::Trace& trace, const SymbolGroup& group,
                   std::span<std::int64_t> durations, const RegisterRules& registers,
                   const CodeJoin& join) {
  Kernel kernel;
  kernel.name = trace.strings.view(group.name);
  kernel.runtime_helper = group.runtime_helper;
  kernel.launches_linked = group.linked;
  kernel.resource_variants = count_variants(trace, group);
  kernel.launch_shapes = group.shapes.size();
  kernel.durations = summarize_durations(durations);
  describe_launch(trace, group.longest, registers, join, kernel);
  return kernel;
}

}  // namespace

bool is_runtime_helper(const trace::Trace& trace, const trace::KernelSymbol& symbol) {
  const std::string_view name = trace.strings.view(symbol.name);
  if (name.starts_with("__amd_rocclr_")) return true;
  const bool of_runtime =
      symbol.code_object != kNone && trace.code_objects[symbol.code_object].of_runtime;
  return of_runtime && (name.starts_with("hip") || name.starts_with("hsa_"));
}

Durations summarize_durations(std::span<std::int64_t> durations) {
  const stats::DurationSummary summary = stats::summarize_durations(durations);
  Durations out;
  out.count = summary.count;
  out.total = summary.sum.value_or(std::numeric_limits<std::int64_t>::max());
  out.min = summary.min.value_or(0);
  out.max = summary.max.value_or(0);
  out.median = summary.median.value_or(0);
  out.mean = summary.mean.value_or(0);
  out.cv = summary.cv;
  return out;
}

std::vector<Kernel> make_kernel_table(const trace::Trace& trace, const TimingScope& scope,
                                      const CodeJoin& join) {
  std::vector<SymbolGroup> groups;
  const std::vector<Index> group_of = group_symbols(trace, groups);
  gather(trace, scope, group_of, groups);
  stats::GroupedValues<std::int64_t> durations = durations_of(trace, scope, group_of, groups);
  const RegisterRules registers = find_register_rules(trace);

  std::vector<Kernel> kernels;
  double total = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].count == 0) continue;
    kernels.push_back(make_kernel(trace, groups[i], durations.of(i), registers, join));
    total += static_cast<double>(kernels.back().durations.total);
  }
  for (Kernel& kernel : kernels)
    kernel.share = total > 0 ? static_cast<double>(kernel.durations.total) / total : 0;
  std::ranges::sort(kernels, [](const Kernel& a, const Kernel& b) {
    return a.durations.total != b.durations.total ? a.durations.total > b.durations.total
                                                  : a.name < b.name;
  });
  return kernels;
}

std::optional<Selection> select_kernel(const std::vector<Kernel>& kernels) {
  std::optional<Selection> best;
  for (const bool helpers : {false, true}) {
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (kernels[i].runtime_helper && !helpers) continue;
      if (!best || kernels[i].durations.max > best->longest_dispatch)
        best = Selection{.kernel = i,
                         .longest_dispatch = kernels[i].durations.max,
                         .only_runtime_helpers = helpers};
    }
    if (best) return best;
  }
  return best;
}

std::optional<std::size_t> kernel_with_most_time(const std::vector<Kernel>& kernels,
                                                 const Pattern* pattern) {
  for (const bool helpers : {false, true})
    for (std::size_t i = 0; i < kernels.size(); ++i)
      if (kernels[i].runtime_helper == helpers &&
          (pattern == nullptr || pattern->found_in(kernels[i].name)))
        return i;
  return std::nullopt;
}

}  // namespace perflab::analyze
