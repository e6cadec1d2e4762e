// Lists of a kernel's roofline.
#include "analyze/roofline/roofline_details.h"
#include "base/text/number_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace perflab::analyze {
namespace {

using trace::Index;
using trace::kNone;

constexpr double kPercent = 100;

/// Adds one dispatch's value to what is known of its counter.
void take(CounterValue& value, double sum, double min, double max, std::uint64_t instances) {
  const bool first = value.dispatches == 0;
  ++value.dispatches;
  value.mean = value.mean.value_or(0) + sum;  // the sum until the end
  value.min = first ? sum : std::min(*value.min, sum);
  value.max = first ? sum : std::max(*value.max, sum);
  value.instances = std::max(value.instances, instances);
  value.instance_min = first ? min : std::min(*value.instance_min, min);
  value.instance_max = first ? max : std::max(*value.instance_max, max);
}

void judge(const KernelCounters& counters, Index pass, Index counter, CounterValue& value) {
  if (!counters.table->knows(value.name) && counters.table->alias(value.name) == nullptr) {
    value.state = CounterState::unsupported;
    value.reason =
        fmt::format("{} has no counter of that name: it is not used", counters.table->gfx);
  } else if (const std::string& why = counters.doubts.of(pass, counter); !why.empty()) {
    value.state = CounterState::suspicious;
    value.reason = why;
  } else {
    value.state = *value.min == 0 && *value.max == 0 ? CounterState::zero : CounterState::measured;
  }
}

}  // namespace

std::vector<CounterValue> list_counters(const KernelCounters& counters, const CounterIndex& index) {
  const trace::Trace& trace = *counters.trace;
  std::map<std::tuple<std::string_view, Index, Index>, CounterValue> values;
  std::vector<std::unordered_map<Index, CounterValue*>> known;  // by pass, then by counter
  for (const ShapeGroup& shape : counters.kernel->shapes)
    for (Index pass = 0; pass < shape.in_pass.size(); ++pass)
      for (const Index dispatch : shape.in_pass[pass]) {
        if (known.size() <= pass) known.resize(pass + 1);
        const auto [first, last] = index.rows(dispatch);
        for (std::size_t row = first; row < last; ++row) {
          const Index counter = trace.counters.counter[row];
          CounterValue*& value = known[pass][counter];
          if (value == nullptr)
            value = &values[{trace.strings.view(trace.counter_infos[counter].name), pass, counter}];
          take(*value, trace.counters.sum[row], trace.counters.min[row], trace.counters.max[row],
               trace.counters.instances[row]);
        }
      }
  std::vector<CounterValue> list;
  for (auto& [key, value] : values) {
    const auto& [name, pass, counter] = key;
    value.name = name;
    value.pass = counters.passes->passes[pass].info.number;
    value.derived = counters.table->is_derived(name);
    *value.mean /= static_cast<double>(value.dispatches);
    judge(counters, pass, counter, value);
    list.push_back(std::move(value));
  }
  return list;
}

void explain_names(const KernelCounters& counters, KernelRoofline& kernel) {
  std::map<std::string, std::set<std::string>> names;  // by where they are from
  for (const CounterValue& value : kernel.counters) {
    const hal::CounterAlias* const alias = counters.table->alias(value.name);
    if (alias == nullptr) continue;
    const std::string when = !alias->since.empty()   ? " since " + alias->since
                             : !alias->until.empty() ? " before " + alias->until
                                                     : "";
    const std::string other = value.name.substr(0, value.name.find('['));
    names[alias->tool + when].insert(
        fmt::format("{} as {}", other, counters.table->own_name(other)));
  }
  for (const auto& [tool, readings] : names)
    kernel.assumptions.push_back(fmt::format("names of counters as {} has them are read: {}", tool,
                                             fmt::join(readings, ", ")));
}

void list_dispatches(const KernelCounters& counters, const CounterIndex& index,
                     const TimingScope& scope, KernelRoofline& kernel) {
  std::vector<const hal::CounterFormula*> work;
  for (const Work& one : kernel.work)
    if (one.flops.unit == "FLOP" && one.flops.state != CounterState::zero)
      if (const auto* formula = counters.table->find(one.flops.name)) work.push_back(formula);
  const auto figure = [&](const hal::CounterFormula* formula, const ShapeGroup& shape,
                          std::size_t ordinal) -> std::optional<double> {
    if (formula == nullptr) return std::nullopt;
    return dispatch_figure(counters, index, *formula, shape, ordinal);
  };
  const auto flops_of = [&](const ShapeGroup& shape, std::size_t ordinal) {
    std::optional<double> total = kernel.flops_raw ? std::optional(0.0) : std::nullopt;
    for (const hal::CounterFormula* formula : work)
      if (const auto part = figure(formula, shape, ordinal); part && total)
        *total += *part;
      else
        total.reset();
    return total;
  };
  const hal::CounterFormula* const read = counters.table->find("fabric.read_bytes");
  const hal::CounterFormula* const write = counters.table->find("fabric.write_bytes");
  const hal::CounterFormula* const waves = counters.table->find("occupancy.waves_in_flight");
  for (const ShapeGroup& shape : counters.kernel->shapes) {
    std::size_t fewest = SIZE_MAX, most = shape.timed.size();
    if (most > 0) fewest = most;
    for (const auto& dispatches : shape.in_pass) {
      if (dispatches.empty()) continue;
      fewest = std::min(fewest, dispatches.size());
      most = std::max(most, dispatches.size());
    }
    if (fewest != most) {
      kernel.dispatches_left_out += most;
      continue;
    }
    for (std::size_t i = 0; i < most; ++i) {
      if (kernel.per_dispatch.size() == kMostDispatchFigures) {
        kernel.dispatches_left_out += most - i;
        break;
      }
      DispatchFigures row{.ordinal = i + 1,
                          .gpu = shape.gpu,
                          .grid = shape.shape.grid,
                          .workgroup = shape.shape.workgroup,
                          .duration_ns = {},
                          .flops = flops_of(shape, i),
                          .hbm_read_bytes = figure(read, shape, i),
                          .hbm_write_bytes = figure(write, shape, i),
                          .waves_in_flight = {},
                          .waves_across_passes = {}};
      if (waves != nullptr)
        row.waves_in_flight = dispatch_figure(counters, index, *waves, shape, i, PassChoice::one);
      if (!row.waves_in_flight) row.waves_across_passes = figure(waves, shape, i);
      if (i < shape.timed.size() && scope.times_known)
        row.duration_ns = static_cast<double>(counters.trace->dispatches.end[shape.timed[i]] -
                                              counters.trace->dispatches.start[shape.timed[i]]);
      kernel.per_dispatch.push_back(row);
    }
  }
}

void explain_shares(bool infinity_cache, KernelRoofline& kernel) {
  const auto explain = [&](std::string text) { kernel.explanations.push_back(std::move(text)); };
  bool binding_explained = false;
  const auto is_binding = [&](std::string_view roof) {
    return kernel.binding && kernel.binding->roof == roof;
  };
  for (const LevelTraffic& level : kernel.levels) {
    if (!level.share || *level.share <= 1) continue;
    binding_explained = binding_explained || is_binding(level.name);
    const std::string what =
        fmt::format("{:.0f} % of the {} ceiling of {} GB/s: ", kPercent * *level.share, level.name,
                    number_text(*level.ceiling.value));
    if (level.name == "hbm" && infinity_cache)
      explain(what +
              "these bytes left L2, and the Infinity Cache behind it served part of them "
              "faster than memory could");
    else if (level.ceiling.from == "measured")
      explain(what + "faster than the benchmark that measured the ceiling");
    else
      explain(what +
              "bytes are counted per request at full size, and the clock of the ceiling may "
              "be lower than the real one; or the times do not belong to these counters");
  }
  if (kernel.compute_share && *kernel.compute_share > 1) {
    binding_explained = binding_explained || is_binding("compute");
    const bool overlapped =
        kernel.overlapped_roof && kernel.gflops && *kernel.gflops <= *kernel.overlapped_roof;
    explain(fmt::format(
        "{:.0f} % of the compute roof of {} GFLOP/s: {}", kPercent * *kernel.compute_share,
        number_text(*kernel.compute_roof.value),
        kernel.flops_are == "estimate" ? "the estimate counts every vector instruction as FP32 work"
        : overlapped ? "the roof takes vector and matrix instructions one after the "
                       "other, and here they overlapped"
                     : "the real clock was above the one of the ceiling, or the "
                       "times do not belong to these counters"));
  }
  if (kernel.binding && kernel.binding->share && *kernel.binding->share > 1 && !binding_explained)
    explain(
        fmt::format("{:.0f} % of the roof that binds ({}): vector and matrix work overlapped, "
                    "or the real clock was above the one of the ceiling",
                    kPercent * *kernel.binding->share, kernel.binding->roof));
  for (const Figure& feature : kernel.features)
    if (feature.unit == "%" && feature.value && *feature.value > kPercent)
      explain(
          fmt::format("{} is {:.1f} %: blocks of the GPU start and stop counting a few cycles "
                      "apart; read it as 100 %",
                      feature.label, *feature.value));
}

}  // namespace perflab::analyze
