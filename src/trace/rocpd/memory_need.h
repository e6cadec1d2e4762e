// How much memory a database needs, from the row ids of its tables: known before it is read.
#pragma once

#include <cstdint>

#include "trace/rocpd/file.h"

namespace perflab::trace::rocpd {

/// Rows that will be read of a file, and the bytes of a Trace of them with what reading them takes
/// for a while. Row ids without gaps are taken for as many rows: of a file with deleted rows this
/// is too much.
struct MemoryNeed {
  std::uint64_t dispatches = 0;
  std::uint64_t bytes = 0;
};
MemoryNeed memory_need(const File& file);

}  // namespace perflab::trace::rocpd
