// The summary as JSON. Its texts are our own and names of metrics: quotes and backslashes are all
// that has to be escaped.
#include "record/counters/counter_results.h"

#include "base/enum_names.h"

namespace perflab::record {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out += '"';
}

}  // namespace

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
    out += (first ? "" : ", ") + in_quotes(to_string(static_cast<CounterSkip>(i))) + ": " +
           std::to_string(results.skipped[i]);
    first = false;
  }
  out += "}, \"refused\": [";
  for (std::size_t i = 0; i < results.refused.size(); ++i)
    out += (i == 0 ? "" : ", ") + in_quotes(results.refused[i].name);
  out += "]";
  if (results.failure)
    out += ", \"problem\": " + in_quotes(to_string(results.failure->problem)) +
           ", \"reason\": " + in_quotes(results.failure->reason) +
           ", \"remedy\": " + in_quotes(results.failure->remedy);
  else
    out += ", \"problem\": null, \"reason\": null, \"remedy\": null";
  return out + "}";
}

}  // namespace perflab::record
