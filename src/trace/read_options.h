// How recordings are read.
#pragma once

#include <cstdint>
#include <string>

#include "base/text/progress.h"
#include "trace/part.h"

namespace perflab::trace {

/// What reading databases, and what is done with the Trace, may take: more is refused before it is
/// tried.
struct MemoryLimit {
  std::uint64_t bytes = 0;         ///< 0: no limit
  std::uint64_t per_dispatch = 0;  ///< bytes that the caller takes beside the Trace
  std::string remedy = {};         ///< how to do with less
};

struct ReadOptions {
  unsigned threads = 0;  ///< 0: as many as the process may run on; the result does not depend on it
  TellProgress progress = {};
  /// Databases through SQLite alone, never from their pages: the same Trace, slower. Tests compare.
  bool sqlite_only = false;
  Part part = {};
  MemoryLimit memory = {};
};

}  // namespace perflab::trace
