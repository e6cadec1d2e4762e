// Grouping of recordings into passes.
#include "analyze/scope/passes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace perflab::analyze {
namespace {

using trace::Index;
using trace::kNone;

/// What a recording shows of its pass.
struct CounterEvidence {
  std::set<std::string_view> counters;
  std::int64_t first_start = std::numeric_limits<std::int64_t>::max();
  std::uint64_t dispatches = 0;  ///< with counters
  bool counted = false;          ///< not every value is 0
};

std::vector<CounterEvidence> collect_evidence(const trace::Trace& trace) {
  std::vector<CounterEvidence> evidence(trace.sources.size());
  std::vector<std::vector<bool>> seen(trace.sources.size());
  const trace::CounterColumns& all = trace.counters;
  Index last_dispatch = kNone;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Index dispatch = all.dispatch[i];
    const Index source = trace.source_of_track(trace.dispatches.track[dispatch]);
    CounterEvidence& one = evidence[source];
    if (dispatch != last_dispatch) ++one.dispatches;
    last_dispatch = dispatch;
    one.first_start = std::min(one.first_start, trace.dispatches.start[dispatch]);
    one.counted = one.counted || all.max[i] != 0 || all.min[i] != 0;
    std::vector<bool>& known = seen[source];
    known.resize(trace.counter_infos.size());
    if (known[all.counter[i]]) continue;
    known[all.counter[i]] = true;
    one.counters.insert(trace.strings.view(trace.counter_infos[all.counter[i]].name));
  }
  return evidence;
}

/// Whether a table holds what a database holds as well: `rocprofv3 -f rocpd csv` writes both.
bool repeats(const CounterEvidence& table, const CounterEvidence& database) {
  return table.first_start == database.first_start && table.dispatches == database.dispatches &&
         std::ranges::includes(database.counters, table.counters);
}

/// What recordings of one pass share: the folder's number, or the counters.
using PassKey = std::pair<std::optional<int>, std::set<std::string_view>>;

PassKey key_of(const trace::Source& source, const CounterEvidence& evidence) {
  return source.pass ? PassKey{source.pass, {}} : PassKey{std::nullopt, evidence.counters};
}

Pass make_pass(std::vector<Index> sources, const std::vector<CounterEvidence>& evidence,
               const trace::Trace& trace) {
  Pass pass;
  std::set<std::string_view> counters;
  for (const Index source : sources) {
    counters.insert(evidence[source].counters.begin(), evidence[source].counters.end());
    pass.info.dispatches += evidence[source].dispatches;
  }
  pass.info.counters.assign(counters.begin(), counters.end());
  std::ranges::stable_sort(sources, {}, [&](Index source) {
    return std::tuple(evidence[source].first_start, std::string_view(trace.sources[source].guid));
  });
  pass.sources = std::move(sources);
  return pass;
}

}  // namespace

Passes find_passes(const trace::Trace& trace) {
  const std::vector<CounterEvidence> evidence = collect_evidence(trace);
  std::map<PassKey, std::vector<Index>> groups;
  Passes result;
  for (Index i = 0; i < trace.sources.size(); ++i) {
    if (evidence[i].dispatches == 0) continue;
    bool repeated = false;
    for (Index j = 0; j < trace.sources.size() && trace.sources[i].counter_table; ++j)
      repeated = repeated || (!trace.sources[j].counter_table && repeats(evidence[i], evidence[j]));
    if (repeated)
      ++result.duplicates;
    else
      groups[key_of(trace.sources[i], evidence[i])].push_back(i);
  }
  std::vector<std::pair<PassKey, Pass>> unnumbered;
  int highest = 0;
  for (auto& [key, sources] : groups) {
    Pass pass = make_pass(std::move(sources), evidence, trace);
    if (!key.first) {
      unnumbered.emplace_back(key, std::move(pass));
      continue;
    }
    pass.info.number = *key.first;
    pass.info.numbered_by_folder = true;
    highest = std::max(highest, *key.first);
    result.passes.push_back(std::move(pass));
  }
  std::ranges::stable_sort(result.passes, {}, [](const Pass& pass) { return pass.info.number; });
  std::ranges::stable_sort(unnumbered, {}, [&](const auto& entry) {
    return std::pair(evidence[entry.second.sources.front()].first_start, entry.first.second);
  });
  for (auto& [key, pass] : unnumbered) {
    pass.info.number = ++highest;
    result.passes.push_back(std::move(pass));
  }

  result.pass_of_source.assign(trace.sources.size(), kNone);
  for (Index pass = 0; pass < result.passes.size(); ++pass)
    for (const Index source : result.passes[pass].sources) result.pass_of_source[source] = pass;
  for (const CounterEvidence& one : evidence) result.source_counted.push_back(one.counted);
  return result;
}

}  // namespace perflab::analyze
