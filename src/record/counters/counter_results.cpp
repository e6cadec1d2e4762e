// The summary as JSON.
#include "record/counters/counter_results.h"

#include "base/enum_names.h"
#include "record/json_text.h"

namespace perflab::record {

std::string_view to_string(CounterSkip skip) {
  using enum CounterSkip;
  static constexpr auto kNames = enum_names<CounterSkip>({{graph, "graph"},
                                                          {other_ranks, "other_ranks"},
                                                          {enough, "enough"},
                                                          {time, "time"},
                                                          {memory, "memory"},
                                                          {failed, "failed"}});
  return kNames[skip];
}

std::string counters_json(const CounterResults& results) {
  std::string out = "{\"counted\": " + std::to_string(results.launches_counted) +
                    ", \"seen\": " + std::to_string(results.launches_seen) +
                    ", \"passes\": " + std::to_string(results.passes) + ", \"skipped\": {";
  bool first = true;
  for (std::size_t i = 0; i < kCounterSkips; ++i) {
    if (results.skipped[i] == 0) continue;
    out += (first ? "" : ", ") + json_text(to_string(static_cast<CounterSkip>(i))) + ": " +
           std::to_string(results.skipped[i]);
    first = false;
  }
  out += "}, \"refused\": [";
  for (std::size_t i = 0; i < results.refused.size(); ++i)
    out += (i == 0 ? "" : ", ") + json_text(results.refused[i].name);
  out += "]";
  if (results.failure)
    out += ", \"problem\": " + json_text(to_string(results.failure->problem)) +
           ", \"reason\": " + json_text(results.failure->reason) +
           ", \"remedy\": " + json_text(results.failure->remedy);
  else
    out += ", \"problem\": null, \"reason\": null, \"remedy\": null";
  return out + "}";
}

}  // namespace perflab::record
