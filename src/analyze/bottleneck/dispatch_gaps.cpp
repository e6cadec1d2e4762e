// One walk in order of start: rows of a Trace are ordered so, and the latest ends so far are kept
// for each agent.
#include "analyze/bottleneck/dispatch_gaps.h"

#include <algorithm>
#include <span>
#include <vector>

#include "stats/grouped.h"
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
  std::vector<std::size_t> slot_of_symbol;
  std::unordered_map<trace::Index, std::size_t> slot_of_name;
  for (const trace::KernelSymbol& symbol : trace.kernel_symbols)
    slot_of_symbol.push_back(
        slot_of_name.try_emplace(symbol.name, slot_of_name.size()).first->second);
  const trace::DispatchColumns& all = trace.dispatches;
  std::vector<std::size_t> counts(slot_of_name.size(), 0);
  for (const trace::Index kernel : all.kernel) ++counts[slot_of_symbol[kernel]];
  // Room for both figures in turn: a trace can have tens of millions of rows.
  stats::GroupedValues<std::int64_t> values(counts);
  const auto gather = [&](const auto& value_of) {
    values.clear();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (scope.track_counts[all.track[i]])
        if (const std::optional<std::int64_t> value = value_of(i))
          values.add(slot_of_symbol[all.kernel[i]], *value);
  };
  const auto each = [&](const auto& visit) {
    for (const auto& [name, slot] : slot_of_name)
      if (const std::span own = values.of(slot); !own.empty()) visit(by_name_[name], own);
  };
  BusyUntil busy(trace, scope);
  std::vector<std::size_t> alone;  // rows without one before them
  gather([&](std::size_t i) -> std::optional<std::int64_t> {
    const std::optional<std::int64_t> until = busy.before(i);
    if (until) return std::max<std::int64_t>(all.start[i] - *until, 0);
    alone.push_back(i);
    return std::nullopt;
  });
  each([](KernelGaps& kernel, std::span<std::int64_t> idle) {
    kernel.dispatches = idle.size();
    kernel.median_idle = stats::median_duration(idle);
  });
  auto next_alone = alone.begin();
  gather([&](std::size_t i) -> std::optional<std::int64_t> {
    if (next_alone == alone.end() || *next_alone != i) return all.end[i] - all.start[i];
    ++next_alone;
    return std::nullopt;
  });
  each([](KernelGaps& kernel, std::span<std::int64_t> durations) {
    kernel.median_duration = stats::median_duration(durations);
  });
}

std::optional<KernelGaps> DispatchGaps::of(trace::Index name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

}  // namespace perflab::analyze
