// Fuzzes the reader of PyTorch's profiler traces: the input is the JSON text. What must hold: one
// error of the kind "bad input", or a Trace whose indices are good, which is the same when the text
// is read again, and with nothing of it twice.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "trace/kineto/read_kineto.h"
#include "trace/load_state.h"

namespace {

using namespace perflab::trace;  // NOLINT(google-build-using-namespace): all of it is used

bool is_row(Index index, std::size_t rows) {
  return index == kNone || index < rows;
}

void check_tracks(const Trace& trace) {
  for (const Thread& thread : trace.threads) PERFLAB_CHECK(thread.process < trace.processes.size());
  for (const Process& process : trace.processes)
    PERFLAB_CHECK(process.source < trace.sources.size() && process.node < trace.nodes.size());
  for (const Track& track : trace.tracks) {
    PERFLAB_CHECK(track.process < trace.processes.size());
    PERFLAB_CHECK(track.stream < trace.streams.size());
    PERFLAB_CHECK(is_row(track.thread, trace.threads.size()));
    PERFLAB_CHECK(is_row(track.agent, trace.agents.size()));
    PERFLAB_CHECK(is_row(track.queue, trace.queues.size()));
  }
}

void check_rows(const Trace& trace) {
  const DispatchColumns& dispatches = trace.dispatches;
  for (std::size_t i = 0; i < dispatches.size(); ++i) {
    PERFLAB_CHECK(dispatches.start[i] > 0 && dispatches.start[i] <= dispatches.end[i]);
    PERFLAB_CHECK(i == 0 || dispatches.start[i - 1] <= dispatches.start[i]);
    PERFLAB_CHECK(dispatches.kernel[i] < trace.kernel_symbols.size());
    PERFLAB_CHECK(dispatches.config[i] < trace.launch_configs.size());
    PERFLAB_CHECK(dispatches.track[i] < trace.tracks.size());
    PERFLAB_CHECK(is_row(dispatches.launch[i], trace.regions.size()));
  }
  for (std::size_t i = 0; i < trace.copies.size(); ++i) {
    PERFLAB_CHECK(trace.copies.start[i] > 0 && trace.copies.start[i] <= trace.copies.end[i]);
    PERFLAB_CHECK(trace.copies.bytes[i] >= 0);
    PERFLAB_CHECK(trace.copies.kind[i] < trace.strings.size());
    PERFLAB_CHECK(is_row(trace.copies.launch[i], trace.regions.size()));
  }
  for (std::size_t i = 0; i < trace.regions.size(); ++i) {
    PERFLAB_CHECK(trace.regions.start[i] > 0 && trace.regions.start[i] <= trace.regions.end[i]);
    PERFLAB_CHECK(trace.regions.thread[i] < trace.threads.size());
  }
  for (const Index region : trace.ranges.region) PERFLAB_CHECK(region < trace.regions.size());
  for (const Index region : trace.call_arguments.region)
    PERFLAB_CHECK(region < trace.regions.size());
  for (const Communication& row : trace.communications)
    PERFLAB_CHECK(!row.of_region && row.row < dispatches.size());
}

bool read_into(Trace& trace, std::string_view text) {
  LoadState state(trace);
  const auto loaded = kineto::load_text(state, std::string(text), "trace.json");
  if (!loaded) {
    const perflab::Error& error = loaded.error();
    PERFLAB_CHECK(error.code == perflab::ErrorCode::bad_input);
    PERFLAB_CHECK(error.message.starts_with("trace.json: "));
    PERFLAB_CHECK(error.message.find('\n') == std::string::npos);
    return false;
  }
  PERFLAB_CHECK(!kineto::load_text(state, std::string(text), "again.json").has_value());
  finish(state);
  check_tracks(trace);
  check_rows(trace);
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Trace first, second;
  const bool loaded = read_into(first, text);
  PERFLAB_CHECK(read_into(second, text) == loaded);
  if (!loaded) return 0;
  PERFLAB_CHECK(first.dispatches.start == second.dispatches.start);
  PERFLAB_CHECK(first.dispatches.kernel == second.dispatches.kernel);
  PERFLAB_CHECK(first.regions.name == second.regions.name);
  PERFLAB_CHECK(first.report.dropped == second.report.dropped);
  return 0;
}
