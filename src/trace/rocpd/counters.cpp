// Scan of rocpd_pmc_event: one row per hardware instance, summed here per (dispatch, counter) with
// the spread kept (docs/facts/rocpd.md "Counters"). Rows of telemetry samples belong to no
// dispatch and are only counted.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "trace/rocpd/recording_loader.h"

namespace perflab::trace::rocpd {
namespace {

constexpr std::array<std::string_view, 3> kCounterColumns = {"event_id", "pmc_id", "value"};

struct CounterRow {
  Index dispatch, counter;
  double value;
};
struct CounterChunk {
  std::vector<CounterRow> rows;
  std::uint64_t malformed = 0, of_no_dispatch = 0;

  void clear() {
    rows.clear();
    malformed = of_no_dispatch = 0;
  }
};

/// Appends a row, or adds it to the last one when that is of the same dispatch and counter.
void accumulate(CounterColumns& all, const CounterRow& row) {
  const std::size_t n = all.size();
  if (n > 0 && all.dispatch[n - 1] == row.dispatch && all.counter[n - 1] == row.counter) {
    ++all.instances[n - 1];
    all.sum[n - 1] += row.value;
    all.min[n - 1] = std::min(all.min[n - 1], row.value);
    all.max[n - 1] = std::max(all.max[n - 1], row.value);
    return;
  }
  all.dispatch.push_back(row.dispatch);
  all.counter.push_back(row.counter);
  all.instances.push_back(1);
  all.sum.push_back(row.value);
  all.min.push_back(row.value);
  all.max.push_back(row.value);
}

}  // namespace

Result<void> RecordingLoader::load_counters() {
  const Table* table = set_.find("pmc_event");
  if (table == nullptr) return {};
  const auto decode = [&](const auto& row, CounterChunk& chunk) {
    const auto event_id = row.integer(0);
    const Index counter = counters_.find(row.integer(1));
    const auto value = row.real(2);
    if (counter == kNone || !value || std::abs(*value) > kLargestCounter) {
      ++chunk.malformed;
      return;
    }
    const Index event = event_id ? events_.index.find(*event_id) : kNone;
    const Index dispatch = event == kNone ? kNone : event_to_dispatch_[event];
    if (dispatch == kNone) {
      ++chunk.of_no_dispatch;
      return;
    }
    chunk.rows.push_back({.dispatch = dispatch, .counter = counter, .value = *value});
  };
  const auto commit = [&](CounterChunk& chunk) {
    // Instances of one counter are spread over the rows of a dispatch: sorting brings them
    // together.
    std::ranges::stable_sort(
        chunk.rows, {}, [](const CounterRow& row) { return std::pair{row.dispatch, row.counter}; });
    for (const CounterRow& row : chunk.rows) accumulate(trace_.counters, row);
    trace_.report.rows["pmc_event"] += chunk.rows.size();
    dropped("pmc_event", "unknown counter, or a value that no counter can have", chunk.malformed);
    dropped("pmc_event",
            part_.is_all() ? "not of a kernel dispatch (device telemetry)"
                           : "not of a dispatch that was read",
            chunk.of_no_dispatch);
  };
  if (event_to_dispatch_.empty()) event_to_dispatch_.assign(events_.index.size(), kNone);
  const std::size_t first_row = trace_.counters.size();
  PERFLAB_TRY_VOID(scan<CounterChunk>(file_, *table, filter_, kCounterColumns, decode, commit));
  name_accumulators(state_, first_row, "pmc_event");
  return {};
}

}  // namespace perflab::trace::rocpd
