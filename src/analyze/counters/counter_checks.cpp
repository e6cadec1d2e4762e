// The checks, pass by pass. The names of the few counters that they are about stand here, with why
// each check is true of working hardware (docs/facts/counters.md "Time base", "Units").
#include "analyze/counters/counter_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/text/number_text.h"
#include "hal/arch.h"

namespace perflab::analyze {
namespace {

using trace::Index;
using trace::kNone;

constexpr const char* kVectorInstructions = "SQ_INSTS_VALU";
constexpr const char* kScalarInstructions = "SQ_INSTS_SALU";

/// Waves that may be counted differently from what was launched: waves saved and restored by the
/// driver count twice. Measured on vecCopy: exactly as launched, on every GPU.
constexpr double kFewestWaves = 0.98, kMostWaves = 1.05;

/// A GPU under load runs far above a twentieth of its highest clock, and never above it but for
/// the rounding of the tables. GRBM_GUI_ACTIVE also counts launch and cache flush around the
/// kernel: up to 150 us on a recorded MI300X; twice that is allowed.
constexpr double kLowestClock = 0.05, kHighestClock = 1.1;
constexpr double kLaunchOverheadNs = 3e5;

/// One event counted twice at the same time: two hardware counters start a few cycles apart.
constexpr double kSameCount = 1e-3;

/// One pass of a kernel, added up over launch geometries and counter sets.
struct PassView {
  const trace::Trace& trace;
  const JoinedKernel& kernel;
  const KernelSums& sums;
  const CounterNames& names;
  Index pass;

  /// Sum over all dispatches that have it; nullopt: none has.
  [[nodiscard]] std::optional<double> sum(std::string_view name) const {
    std::optional<double> total;
    for (const Index counter : names.candidates(name)) {
      for (const auto& shape : sums.sets)
        for (const CounterSet& set : shape[pass])
          if (const auto at = set.find(counter)) total = total.value_or(0) + set.sums[*at];
      if (total) break;
    }
    return total;
  }

  /// Calls visit(counter) for each that some dispatch has.
  template <class Visit>
  void each_counter(const Visit& visit) const {
    for (const auto& shape : sums.sets)
      for (const CounterSet& set : shape[pass])
        for (const Index counter : set.counters) visit(counter);
  }

  /// Dispatches that have the counter, with their shape.
  template <class Visit>
  void each_dispatch_with(const CounterIndex& index, Index counter, const Visit& visit) const {
    for (const ShapeGroup& shape : kernel.shapes)
      for (const Index dispatch : shape.in_pass[pass])
        if (const std::size_t row = index.row(dispatch, counter); row != kNone)
          visit(shape.shape, dispatch, trace.counters.sum[row]);
  }
};

/// Whether the kernel ran in a recording of the pass that counted nothing at all.
bool ran_uncounted(const PassView& view, const Passes& passes) {
  for (const ShapeGroup& shape : view.kernel.shapes)
    for (const Index dispatch : shape.in_pass[view.pass])
      if (!passes.source_counted[view.trace.source_of_track(view.trace.dispatches.track[dispatch])])
        return true;
  return false;
}

/// Waves that a launch has with waves of one size; nullopt where products hide it.
std::optional<double> launched_waves(const Shape& shape, bool flat, int wave_size) {
  /// Along one axis: whole work-groups and the one at the edge, with their work-items.
  struct Part {
    double groups, items;
  };
  std::array<std::array<Part, 2>, 3> parts{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::uint32_t size = shape.workgroup[axis];
    if (size == 0) return std::nullopt;
    const std::uint32_t rest = shape.grid[axis] % size;
    if (flat && rest != 0) return std::nullopt;
    parts[axis] = {{{static_cast<double>(shape.grid[axis] / size), static_cast<double>(size)},
                    {rest != 0 ? 1.0 : 0.0, static_cast<double>(rest)}}};
  }
  double waves = 0;
  for (const Part& x : parts[0])
    for (const Part& y : parts[1])
      for (const Part& z : parts[2])
        waves +=
            x.groups * y.groups * z.groups * std::ceil(x.items * y.items * z.items / wave_size);
  return waves;
}

/// Waves that a launch has at least and at most (a recording does not say RDNA's wave size).
std::optional<std::pair<double, double>> launched_range(const Shape& shape, bool flat,
                                                        const hal::Arch& arch) {
  double fewest = 0, most = 0;
  for (const hal::WaveSizeLimits& size : arch.wave_sizes) {
    const auto waves = launched_waves(shape, flat, size.wave_size);
    if (!waves) return std::nullopt;
    fewest = fewest == 0 ? *waves : std::min(fewest, *waves);
    most = std::max(most, *waves);
  }
  return std::pair{fewest, most};
}

void doubt_block(const PassView& view, const hal::CounterTable& table, std::string_view block,
                 const std::string& why, CounterDoubts& doubts) {
  view.each_counter([&](Index counter) {
    const std::string_view name = view.trace.strings.view(view.trace.counter_infos[counter].name);
    if (table.block_of(name) == block) doubts.doubt(view.pass, counter, why);
  });
}

/// Doubts everything but the cycles of the whole GPU.
void doubt_all(const PassView& view, const hal::CounterTable& table, const std::string& why,
               CounterDoubts& doubts) {
  view.each_counter([&](Index counter) {
    const std::string_view name = view.trace.strings.view(view.trace.counter_infos[counter].name);
    if (name != table.in_every_pass) doubts.doubt(view.pass, counter, why);
  });
}

/// Returns false when the waves counted are not those that were launched: the counters of waves are
/// then not to be believed in any pass.
bool check_waves(const PassView& view, const CounterIndex& index, bool flat,
                 const hal::CounterTable& table, CounterDoubts& doubts) {
  const std::optional<double> waves = view.sum(table.waves);
  if (!waves) return true;
  const std::optional<double> instructions = view.sum(table.instructions);
  const std::optional<double> vector = view.sum(kVectorInstructions);
  const std::optional<double> scalar = view.sum(kScalarInstructions);
  const bool none =
      instructions ? *instructions == 0 : vector && scalar && *vector == 0 && *scalar == 0;
  if (*waves > 0 && none) {
    doubt_block(view, table, table.block_of(table.waves),
                fmt::format("{:.0f} waves were counted, but no instruction: every wave has "
                            "at least one",
                            *waves),
                doubts);
    return true;
  }
  const hal::Arch* const arch = hal::find_arch(table.gfx);
  if (arch == nullptr) return true;
  double counted = 0, fewest = 0, most = 0;
  for (const Index counter : view.names.candidates(table.waves)) {
    view.each_dispatch_with(index, counter, [&](const Shape& shape, Index, double value) {
      const auto launched = launched_range(shape, flat, *arch);
      if (!launched) return;
      counted += value;
      fewest += launched->first;
      most += launched->second;
    });
    if (most > 0) break;
  }
  if (most == 0 || (counted >= kFewestWaves * fewest && counted <= kMostWaves * most)) return true;
  doubt_all(view, table,
            fmt::format("{:.0f} waves were counted where {:.0f} were launched: the counters did "
                        "not see the whole GPU, or saw other work",
                        counted, counted < fewest ? fewest : most),
            doubts);
  return false;
}

/// How long a dispatch took while it was counted, in ns; nullopt: the recording does not say. Where
/// the profiler repeats a dispatch for all passes, its recorded times are not those of the counts.
std::optional<double> counted_time(const PassView& view, const CounterIndex& index,
                                   const hal::CounterTable& table, Index dispatch) {
  if (table.duration.empty()) {
    const Index source = view.trace.source_of_track(view.trace.dispatches.track[dispatch]);
    if (!view.trace.sources[source].times_known) return std::nullopt;
    return static_cast<double>(view.trace.dispatches.end[dispatch] -
                               view.trace.dispatches.start[dispatch]);
  }
  for (const Index counter : view.names.candidates(table.duration))
    if (const std::size_t row = index.row(dispatch, counter); row != kNone)
      return view.trace.counters.sum[row];
  return std::nullopt;
}

void check_cycles(const PassView& view, const CounterIndex& index, const hal::CounterTable& table,
                  const Gpu& gpu, CounterDoubts& doubts) {
  if (gpu.clock_mhz.value_or(0) < 1 || gpu.xcc_count.value_or(0) < 1) return;
  const auto xcc = static_cast<double>(*gpu.xcc_count);
  const double cycles_per_ns = static_cast<double>(*gpu.clock_mhz) / 1e3;
  for (const Index counter : view.names.candidates(table.in_every_pass)) {
    double cycles = 0, ns = 0, overhead_ns = 0;
    view.each_dispatch_with(index, counter, [&](const Shape&, Index dispatch, double value) {
      const auto took = counted_time(view, index, table, dispatch);
      if (!took) return;
      cycles += value / xcc;
      ns += *took;
      overhead_ns += kLaunchOverheadNs;
    });
    if (ns == 0) continue;
    const double lowest = kLowestClock * cycles_per_ns * ns;
    const double highest = kHighestClock * cycles_per_ns * (ns + overhead_ns);
    if (cycles >= lowest && cycles <= highest) continue;
    doubts.doubt(view.pass, counter,
                 fmt::format("{:.0f} cycles in {:.0f} ns: no clock up to {} MHz allows it", cycles,
                             ns, *gpu.clock_mhz));
  }
}

/// Two names of one counter in one dispatch: the same event, counted at the same time.
void check_names(const PassView& view, const CounterIndex& index, const hal::CounterTable& table,
                 CounterDoubts& doubts) {
  const auto name_of = [&](Index counter) {
    return view.trace.strings.view(view.trace.counter_infos[counter].name);
  };
  for (const auto& [other, alias] : table.aliases)
    for (const Index second : view.names.candidates(other))
      for (const Index first : view.names.candidates(alias.counter))
        view.each_dispatch_with(index, second, [&](const Shape&, Index dispatch, double value) {
          const std::size_t row = index.row(dispatch, first);
          if (row == kNone) return;
          const double expected = view.trace.counters.sum[row];
          if (std::abs(value - expected) <= kSameCount * std::max(value, expected)) return;
          for (const Index counter : {first, second})
            doubts.doubt(view.pass, counter,
                         fmt::format("{} and {} are names of one counter, and one dispatch has {} "
                                     "and {} of them",
                                     name_of(first), name_of(second), number_text(expected),
                                     number_text(value)));
        });
}

}  // namespace

const std::string& CounterDoubts::of(Index pass, Index counter) const {
  static const std::string kNoReason;
  const auto found = reasons_.find({pass, counter});
  return found == reasons_.end() ? kNoReason : found->second;
}

void CounterDoubts::doubt(Index pass, Index counter, std::string why) {
  reasons_.try_emplace({pass, counter}, std::move(why));
}

std::optional<int> wave_size_of(const trace::Trace& trace, const Passes& passes,
                                const JoinedKernel& kernel, const CounterIndex& index,
                                const CounterNames& names, const hal::CounterTable& table) {
  const hal::Arch* const arch = hal::find_arch(kernel.architecture);
  if (arch == nullptr) return std::nullopt;
  if (arch->wave_sizes.size() == 1) return arch->wave_sizes.front().wave_size;
  const bool flat = joins_flat_sizes(trace, passes);
  std::set<int> fitting;
  for (const hal::WaveSizeLimits& size : arch->wave_sizes) {
    double counted = 0, launched = 0;
    for (const Index counter : names.candidates(table.waves))
      for (const ShapeGroup& shape : kernel.shapes)
        for (Index pass = 0; pass < passes.passes.size(); ++pass)
          for (const Index dispatch : shape.in_pass[pass]) {
            const std::size_t row = index.row(dispatch, counter);
            const auto waves = launched_waves(shape.shape, flat, size.wave_size);
            const Index source = trace.source_of_track(trace.dispatches.track[dispatch]);
            if (row == kNone || !waves || !passes.source_counted[source]) continue;
            counted += trace.counters.sum[row];
            launched += *waves;
          }
    if (launched > 0 && counted >= kFewestWaves * launched && counted <= kMostWaves * launched)
      fitting.insert(size.wave_size);
  }
  return fitting.size() == 1 ? std::optional(*fitting.begin()) : std::nullopt;
}

CounterDoubts check_counters(const trace::Trace& trace, const Passes& passes,
                             const JoinedKernel& kernel, const CounterIndex& index,
                             const KernelSums& sums, const CounterNames& names,
                             const hal::CounterTable& table, const Gpu& gpu) {
  CounterDoubts doubts;
  const bool flat = joins_flat_sizes(trace, passes);
  std::optional<int> partial;  // a pass whose counters did not see the waves of the launches
  for (Index pass = 0; pass < passes.passes.size(); ++pass) {
    const PassView view{
        .trace = trace, .kernel = kernel, .sums = sums, .names = names, .pass = pass};
    if (ran_uncounted(view, passes))
      view.each_counter([&](Index counter) {
        doubts.doubt(pass, counter,
                     "a recording of this pass has 0 for every counter of every dispatch: nothing "
                     "was counted there");
      });
    if (!check_waves(view, index, flat, table, doubts) && !partial)
      partial = passes.passes[pass].info.number;
    check_cycles(view, index, table, gpu, doubts);
    check_names(view, index, table, doubts);
  }
  for (Index pass = 0; partial && pass < passes.passes.size(); ++pass) {
    const PassView view{
        .trace = trace, .kernel = kernel, .sums = sums, .names = names, .pass = pass};
    if (!view.sum(table.waves))
      doubt_all(view, table,
                fmt::format("this pass does not count waves, and pass {} counted others than were "
                            "launched",
                            *partial),
                doubts);
  }
  return doubts;
}

}  // namespace perflab::analyze
