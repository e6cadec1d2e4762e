// Which stream a handle is: API calls name streams by pointers, dispatches by the profiler's
// numbers. Launches tell both, so they teach it (trace::CallArgumentColumns samples them). A handle
// can be destroyed and reused: the latest launch before a call decides, else the first one after
// it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/critical_path/graph_input.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// What a call names, as CallArgumentColumns has it.
struct NamedArguments {
  std::uint8_t has = 0;
  std::uint64_t stream = 0, event = 0;
  std::int64_t device = 0;
  std::optional<std::uint64_t> record;

  [[nodiscard]] bool name_stream() const {
    using trace::CallArgumentColumns;
    return (has & (CallArgumentColumns::kStream | CallArgumentColumns::kStreamId)) != 0;
  }
};

class StreamHandles {
 public:
  StreamHandles(const trace::Trace& trace, const GraphInput& input);

  /// Whether the handle is the default stream's: 0, or hipStreamLegacy (1) of hip_runtime_api.h.
  [[nodiscard]] static bool is_default(std::uint64_t handle) { return handle <= 1; }

  /// What a call means by the stream that it names: in the per-thread variants of the API (names in
  /// _spt) 0 is hipStreamPerThread (2).
  [[nodiscard]] std::uint64_t handle_of(trace::Index region, std::uint64_t stream) const;

  /// The stream with that id of the process's recording (CallArgumentColumns::kStreamId); kNone:
  /// the recording has none.
  [[nodiscard]] trace::Index stream_of_id(trace::Index process, std::uint64_t id) const;

  /// The stream that `handle` means in a call (region) of the process; kNone: never launched to.
  [[nodiscard]] trace::Index stream(trace::Index process, std::uint64_t handle,
                                    trace::Index region) const;

 private:
  struct Use {
    trace::Index region, stream;
  };
  /// hipStreamPerThread (2) of hip_runtime_api.h is another stream in each thread.
  using Key = std::pair<trace::Index, std::uint64_t>;  ///< process (or thread), handle
  [[nodiscard]] Key key(trace::Index process, std::uint64_t handle, trace::Index region) const;
  /// Whether the process destroyed a stream, then made one, between two calls.
  [[nodiscard]] bool replaced(trace::Index process, trace::Index after, trace::Index before) const;

  const trace::Trace& trace_;
  std::vector<std::vector<trace::Index>> made_, destroyed_;  ///< by process: regions
  std::map<Key, std::vector<Use>> uses_;                     ///< by region
  std::vector<trace::Index> default_stream_;                 ///< by process
  std::map<std::pair<trace::Index, std::uint64_t>, trace::Index> stream_of_id_;  ///< (source, id)
};

}  // namespace perflab::analyze
