// Fuzzes the reader of tables of counters: the input is a table, behind a NUL byte the file about
// the machine, behind another one a second table. What must hold: one error of the kind "bad
// input", or a Trace whose indices are good and which is the same when the table's recordings come
// in another order.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/counter_csv/read_counter_csv.h"
#include "trace/load_state.h"

namespace {

using perflab::Result;
using namespace perflab::trace;  // NOLINT(google-build-using-namespace): all of it is used

void check_error(const perflab::Error& error) {
  PERFLAB_CHECK(error.code == perflab::ErrorCode::bad_input);
  PERFLAB_CHECK(!error.message.empty() && error.message.find('\n') == std::string::npos);
}

void check_trace(const Trace& trace) {
  const DispatchColumns& dispatches = trace.dispatches;
  for (std::size_t i = 0; i < dispatches.size(); ++i) {
    PERFLAB_CHECK(dispatches.start[i] > 0 && dispatches.start[i] <= dispatches.end[i]);
    PERFLAB_CHECK(i == 0 || dispatches.start[i - 1] <= dispatches.start[i]);
    PERFLAB_CHECK(dispatches.kernel[i] < trace.kernel_symbols.size());
    PERFLAB_CHECK(dispatches.config[i] < trace.launch_configs.size());
    PERFLAB_CHECK(dispatches.track[i] < trace.tracks.size());
    PERFLAB_CHECK(trace.tracks[dispatches.track[i]].agent < trace.agents.size());
    PERFLAB_CHECK(dispatches.launch[i] == kNone);
  }
  const CounterColumns& counters = trace.counters;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    PERFLAB_CHECK(counters.dispatch[i] < dispatches.size());
    PERFLAB_CHECK(counters.counter[i] < trace.counter_infos.size());
    PERFLAB_CHECK(counters.instances[i] > 0 && counters.min[i] >= 0);
    PERFLAB_CHECK(counters.min[i] <= counters.max[i] && counters.max[i] <= counters.sum[i]);
    PERFLAB_CHECK(i == 0 || counters.dispatch[i - 1] < counters.dispatch[i] ||
                  counters.counter[i - 1] < counters.counter[i]);
  }
}

/// Loads the recordings, in the other order when `reversed`.
bool load_all(Trace& trace, std::vector<counter_csv::Recording> recordings, bool reversed) {
  if (reversed) std::ranges::reverse(recordings);
  LoadState state(trace);
  if (const Result<void> loaded = counter_csv::load(state, std::move(recordings)); !loaded) {
    check_error(loaded.error());
    return false;
  }
  finish(state);
  check_trace(trace);
  return true;
}

/// What stands before the next NUL byte; it and the byte are taken off.
std::string_view next_piece(std::string_view& input) {
  const std::size_t end = std::min(input.find('\0'), input.size());
  const std::string_view piece = input.substr(0, end);
  input.remove_prefix(std::min(end + 1, input.size()));
  return piece;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view first = next_piece(input);
  const std::string_view machine = next_piece(input);
  std::vector<counter_csv::Recording> recordings;
  for (const auto& [text, name] : {std::pair{first, "table.csv"}, std::pair{input, "other.csv"}}) {
    if (text.empty() && !recordings.empty()) continue;
    auto found = counter_csv::parse({.text = text,
                                     .name = name,
                                     .machine_text = machine,
                                     .machine_name = machine.empty() ? "" : "machine.csv"});
    if (!found) {
      check_error(found.error());
      return 0;
    }
    std::ranges::move(*found, std::back_inserter(recordings));
  }
  Trace forward, backward;
  const bool loaded = load_all(forward, recordings, false);
  PERFLAB_CHECK(load_all(backward, recordings, true) == loaded);
  if (!loaded) return 0;
  PERFLAB_CHECK(forward.dispatches.start == backward.dispatches.start);
  PERFLAB_CHECK(forward.dispatches.kernel == backward.dispatches.kernel);
  PERFLAB_CHECK(forward.counters.sum == backward.counters.sum);
  PERFLAB_CHECK(forward.report.dropped == backward.report.dropped);
  return 0;
}
