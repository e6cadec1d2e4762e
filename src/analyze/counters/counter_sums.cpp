// One scan over the counter rows of a kernel's dispatches.
#include "analyze/counters/counter_sums.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

namespace perflab::analyze {
namespace {

using trace::Index;
using trace::kNone;

std::vector<CounterSet> sum_pass(const trace::Trace& trace, const CounterIndex& index,
                                 const std::vector<Index>& dispatches) {
  const trace::CounterColumns& all = trace.counters;
  std::map<std::vector<Index>, std::size_t> known;
  std::vector<CounterSet> sets;
  std::size_t at = 0;  // the set of the last dispatch, mostly that of the next one
  for (const Index dispatch : dispatches) {
    const auto [first, last] = index.rows(dispatch);
    if (first == last) continue;
    const std::span counted = std::span(all.counter).subspan(first, last - first);
    if (sets.empty() || !std::ranges::equal(counted, sets[at].counters)) {
      const auto [entry, added] =
          known.try_emplace(std::vector<Index>(counted.begin(), counted.end()), sets.size());
      if (added) {
        sets.emplace_back().counters = entry->first;
        sets.back().sums.resize(entry->first.size());
      }
      at = entry->second;
    }
    CounterSet& set = sets[at];
    ++set.dispatches;
    for (std::size_t i = 0; i < set.sums.size(); ++i) set.sums[i] += all.sum[first + i];
  }
  return sets;
}

}  // namespace

std::optional<std::size_t> CounterSet::find(Index counter) const {
  const auto found = std::ranges::lower_bound(counters, counter);
  if (found == counters.end() || *found != counter) return std::nullopt;
  return static_cast<std::size_t>(found - counters.begin());
}

KernelSums sum_counters(const trace::Trace& trace, const CounterIndex& index,
                        const JoinedKernel& kernel) {
  KernelSums sums;
  bool timed = false;
  for (const ShapeGroup& shape : kernel.shapes) timed = timed || !shape.timed.empty();
  for (const ShapeGroup& shape : kernel.shapes) {
    auto& by_pass = sums.sets.emplace_back();
    std::size_t most = 0;
    for (const std::vector<Index>& dispatches : shape.in_pass) {
      by_pass.push_back(sum_pass(trace, index, dispatches));
      most = std::max(most, dispatches.size());
    }
    sums.weights.push_back(timed ? shape.timed.size() : most);
  }
  sums.dispatches = std::accumulate(sums.weights.begin(), sums.weights.end(), std::uint64_t{0});
  return sums;
}

CounterNames::CounterNames(const trace::Trace& trace) {
  for (Index i = 0; i < trace.counter_infos.size(); ++i)
    by_name_.emplace_back(trace.strings.view(trace.counter_infos[i].name), i);
  std::ranges::sort(by_name_);
}

Index CounterNames::find(std::string_view name) const {
  const auto found =
      std::ranges::lower_bound(by_name_, name, {}, [](const auto& entry) { return entry.first; });
  return found != by_name_.end() && found->first == name ? found->second : kNone;
}

std::vector<Index> CounterNames::candidates(std::string_view name) const {
  constexpr std::string_view kSum = "_sum";
  std::vector<Index> found;
  const auto add = [&](std::string_view spelling) {
    if (const Index counter = find(spelling); counter != kNone) found.push_back(counter);
  };
  add(name);
  if (name.ends_with(kSum))
    add(name.substr(0, name.size() - kSum.size()));
  else
    add(std::string(name) + std::string(kSum));
  return found;
}

}  // namespace perflab::analyze
