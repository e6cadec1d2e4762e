// What bringing back the memory of a capture moved.
#pragma once

#include <cstdint>

namespace perflab::replay {

/// What a restore moved.
struct Restored {
  std::uint64_t bytes = 0;
  bool on_device = false;  ///< copied within the GPU, not from the host
};

}  // namespace perflab::replay
