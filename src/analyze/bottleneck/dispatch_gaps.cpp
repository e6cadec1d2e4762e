// One walk in order of start: rows of a Trace are ordered so, and the latest ends so far are kept
// for each agent.
#include "analyze/bottleneck/dispatch_gaps.h"

#include <algorithm>
#include <vector>

#include "stats/summary.h"

namespace perflab::analyze {
namespace {

/// Until when each agent was at work, dispatch by dispatch.
class BusyUntil {
 public:
  BusyUntil(const trace::Trace& trace, const TimingScope& scope)
      : trace_(trace), scope_(scope), dispatch_(trace.agents.size() + 1), copy_(dispatch_.size()) {}

  /// ns; nullopt: no dispatch before this one on its agent. Rows in order.
  std::optional<std::int64_t> before(std::size_t row) {
    const trace::DispatchColumns& all = trace_.dispatches;
    take_copies_until(all.start[row]);
    const std::size_t agent = slot(trace_.tracks[all.track[row]].agent);
    std::optional<std::int64_t> until = dispatch_[agent];
    dispatch_[agent] = std::max(until.value_or(all.end[row]), all.end[row]);
    if (!until) return until;
    until = std::max(*until, copy_[agent]);
    if (all.launch[row] != trace::kNone)
      until = std::max(*until, trace_.regions.start[all.launch[row]]);
    return until;
  }

 private:
  /// The last one: not named.
  [[nodiscard]] std::size_t slot(std::size_t agent) const {
    return std::min(agent, trace_.agents.size());
  }

  void take_copies_until(std::int64_t time) {
    const trace::CopyColumns& copies = trace_.copies;
    for (; next_copy_ < copies.size() && copies.start[next_copy_] <= time; ++next_copy_) {
      if (!scope_.track_counts[copies.track[next_copy_]]) continue;
      for (const std::size_t agent : {slot(trace_.tracks[copies.track[next_copy_]].agent),
                                      slot(copies.source_agent[next_copy_])})
        copy_[agent] = std::max(copy_[agent], copies.end[next_copy_]);
    }
  }

  const trace::Trace& trace_;
  const TimingScope& scope_;
  std::vector<std::optional<std::int64_t>> dispatch_;  // latest end, by agent
  std::vector<std::int64_t> copy_;
  std::size_t next_copy_ = 0;
};

}  // namespace

DispatchGaps::DispatchGaps(const trace::Trace& trace, const TimingScope& scope) {
  struct Times {
    std::vector<std::int64_t> idle, duration;
  };
  std::vector<Times> times;  // by name, in slots: a trace can have tens of millions of rows
  std::vector<std::size_t> slot_of_symbol;
  std::unordered_map<trace::Index, std::size_t> slot_of_name;
  for (const trace::KernelSymbol& symbol : trace.kernel_symbols)
    slot_of_symbol.push_back(
        slot_of_name.try_emplace(symbol.name, slot_of_name.size()).first->second);
  times.resize(slot_of_name.size());
  BusyUntil busy(trace, scope);
  const trace::DispatchColumns& all = trace.dispatches;
  std::vector<std::size_t> dispatches(times.size(), 0);
  for (const trace::Index kernel : all.kernel) ++dispatches[slot_of_symbol[kernel]];
  for (std::size_t slot = 0; slot < times.size(); ++slot) {
    times[slot].idle.reserve(dispatches[slot]);
    times[slot].duration.reserve(dispatches[slot]);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!scope.track_counts[all.track[i]]) continue;
    const std::optional<std::int64_t> until = busy.before(i);
    if (!until) continue;
    Times& kernel = times[slot_of_symbol[all.kernel[i]]];
    kernel.idle.push_back(std::max<std::int64_t>(all.start[i] - *until, 0));
    kernel.duration.push_back(all.end[i] - all.start[i]);
  }
  for (const auto& [name, slot] : slot_of_name)
    if (Times& kernel = times[slot]; !kernel.idle.empty())
      by_name_[name] = {.dispatches = kernel.idle.size(),
                        .median_idle = stats::median_duration(kernel.idle),
                        .median_duration = stats::median_duration(kernel.duration)};
}

std::optional<KernelGaps> DispatchGaps::of(trace::Index name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

}  // namespace perflab::analyze
