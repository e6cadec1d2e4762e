// How many bytes a rank gives and gets in an operation, from what the recording says of it.
// Facts: docs/facts/ranks.md "Bandwidth".
#pragma once

#include <cstdint>
#include <optional>

#include "ranks/rank/calls.h"

namespace perflab::ranks {

struct MessageBytes {
  std::optional<std::int64_t> send, receive;
  /// For one other rank, of an AllToAll among an unknown number of ranks.
  std::optional<std::int64_t> part;
};

/// Missing: counts, the type or the number of ranks is not known, or the product is none.
MessageBytes message_bytes(CollectiveKind kind, const Said& said);

}  // namespace perflab::ranks
