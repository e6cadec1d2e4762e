// Where work of a run stands: what the critical path and the timeline say of their parts.
#pragma once

#include <cstdint>

namespace perflab::analyze {

/// Calls stand on their host thread; dispatches and copies on their stream, else in their queue.
enum class Place : std::uint8_t {
  host_thread,
  stream,
  queue,
  several,  ///< short stretches of several places, folded into one: never a lane of a timeline
  nowhere,  ///< the recording names neither stream nor queue
};

}  // namespace perflab::analyze
