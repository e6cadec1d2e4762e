// What must hold of every Trace that a reader of untrusted text leaves: indices are good, times in
// order. Errors are one sentence of the kind "bad input".
#pragma once

#include <cstddef>
#include <vector>

#include "base/error.h"
#include "trace/trace.h"

namespace perflab::fuzz {

inline void check_bad_input(const Error& error) {
  PERFLAB_CHECK(error.code == ErrorCode::bad_input);
  PERFLAB_CHECK(!error.message.empty() && error.message.find('\n') == std::string::npos);
}

inline void check_index(trace::Index index, std::size_t size) {
  PERFLAB_CHECK(index == trace::kNone || index < size);
}

inline void check_rows(const trace::Trace& t) {
  const auto times = [](const auto& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      PERFLAB_CHECK(rows.start[i] > 0 && rows.start[i] <= rows.end[i]);
      PERFLAB_CHECK(i == 0 || rows.start[i - 1] <= rows.start[i]);
    }
  };
  times(t.dispatches);
  times(t.regions);
  times(t.copies);
  times(t.allocations);
  for (std::size_t i = 0; i < t.dispatches.size(); ++i) {
    PERFLAB_CHECK(t.dispatches.kernel[i] < t.kernel_symbols.size());
    PERFLAB_CHECK(t.dispatches.config[i] < t.launch_configs.size());
    PERFLAB_CHECK(t.dispatches.track[i] < t.tracks.size());
    check_index(t.dispatches.launch[i], t.regions.size());
  }
  for (std::size_t i = 0; i < t.regions.size(); ++i) {
    PERFLAB_CHECK(t.regions.name[i] < t.strings.size());
    PERFLAB_CHECK(t.regions.parent[i] != i);
    check_index(t.regions.parent[i], t.regions.size());
    check_index(t.regions.thread[i], t.threads.size());
  }
  for (std::size_t i = 0; i < t.copies.size(); ++i) {
    PERFLAB_CHECK(t.copies.bytes[i] >= 0 && t.copies.track[i] < t.tracks.size());
    check_index(t.copies.launch[i], t.regions.size());
    check_index(t.copies.source_agent[i], t.agents.size());
  }
  for (const trace::Track& track : t.tracks) {
    check_index(track.agent, t.agents.size());
    check_index(track.queue, t.queues.size());
    check_index(track.stream, t.streams.size());
    check_index(track.thread, t.threads.size());
  }
  for (std::size_t i = 0; i < t.counters.size(); ++i) {
    PERFLAB_CHECK(t.counters.dispatch[i] < t.dispatches.size());
    PERFLAB_CHECK(t.counters.counter[i] < t.counter_infos.size());
  }
  for (const trace::Communication& one : t.communications)
    PERFLAB_CHECK(one.row < (one.of_region ? t.regions.size() : t.dispatches.size()));
  for (const trace::Index region : t.ranges.region) PERFLAB_CHECK(region < t.regions.size());
  for (const trace::Index region : t.call_arguments.region)
    PERFLAB_CHECK(region < t.regions.size());
}

}  // namespace perflab::fuzz
