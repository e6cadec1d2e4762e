// Dispatches of one function come in the plan's order: the program launches and waits.
#include "calibrate/samples.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "analyze/counters/counter_join.h"
#include "analyze/counters/counter_sums.h"

namespace perflab::calibrate {
namespace {

using trace::Index;

/// The dispatches of each function, in order of start.
std::map<std::string_view, std::vector<Index>> dispatches_by_function(const trace::Trace& trace) {
  std::map<std::string_view, std::vector<Index>> by_function;
  for (std::size_t i = 0; i < trace.dispatches.size(); ++i) {
    const trace::KernelSymbol& symbol = trace.kernel_symbols[trace.dispatches.kernel[i]];
    const std::string_view mangled = trace.strings.view(symbol.mangled_name);
    const std::string_view name = mangled.empty() ? trace.strings.view(symbol.name) : mangled;
    by_function[name].push_back(static_cast<Index>(i));
  }
  return by_function;
}

Counted counted_by(const trace::Trace& trace, const analyze::CounterIndex& index,
                   const std::map<std::string, std::vector<Index>>& candidates, Index dispatch) {
  Counted counted;
  for (const auto& [name, infos] : candidates)
    for (const Index info : infos) {
      const std::size_t row = index.row(dispatch, info);
      if (row == trace::kNone) continue;
      counted.emplace(name, trace.counters.sum[row]);
      break;
    }
  return counted;
}

}  // namespace

Result<std::vector<LaunchSamples>> samples_of(const trace::Trace& trace,
                                              std::span<const Launch> launches,
                                              const std::set<std::string>& names) {
  const auto by_function = dispatches_by_function(trace);
  const analyze::CounterIndex index(trace);
  const analyze::CounterNames known(trace);
  std::map<std::string, std::vector<Index>> candidates;
  for (const std::string& name : names)
    if (std::vector<Index> infos = known.candidates(name); !infos.empty())
      candidates.emplace(name, std::move(infos));
  std::map<std::string_view, std::size_t> planned;
  for (const Launch& launch : launches)
    planned[launch.work->function] += static_cast<std::size_t>(launch.repetitions);
  for (const auto& [function, many] : planned) {
    const auto found = by_function.find(function);
    const std::size_t there = found == by_function.end() ? 0 : found->second.size();
    if (there != many)
      return fail(ErrorCode::bad_input,
                  fmt::format("the recording has {} dispatches of {} instead of {}", there,
                              function, many));
  }
  std::vector<LaunchSamples> samples;
  for (const Launch& launch : launches) {
    LaunchSamples& of_launch = samples.emplace_back();
    const std::vector<Index>& dispatches = by_function.at(launch.work->function);
    for (int i = 1; i < launch.repetitions; ++i) {
      const Index dispatch = dispatches[launch.first + static_cast<std::size_t>(i)];
      of_launch.counted.push_back(counted_by(trace, index, candidates, dispatch));
      of_launch.nanoseconds.push_back(
          static_cast<double>(trace.dispatches.end[dispatch] - trace.dispatches.start[dispatch]));
    }
  }
  return samples;
}

RecordedGpu gpu_of(const trace::Trace& trace, std::span<const Launch> launches) {
  RecordedGpu gpu;
  if (launches.empty()) return gpu;
  const auto by_function = dispatches_by_function(trace);
  const auto found = by_function.find(launches.front().work->function);
  if (found == by_function.end()) return gpu;
  const Index agent = trace.tracks[trace.dispatches.track[found->second.front()]].agent;
  if (agent == trace::kNone) return gpu;
  gpu.product = trace.agents[agent].product;
  const trace::AgentFacts& facts = trace.agents[agent].facts;
  gpu.cus = static_cast<double>(facts.compute_units.value_or(0));
  gpu.xccs = static_cast<double>(facts.xcc_count.value_or(0));
  return gpu;
}

}  // namespace perflab::calibrate
