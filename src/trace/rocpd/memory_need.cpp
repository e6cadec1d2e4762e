// Bytes by row of the columns of trace.h as they are packed, with what finding segments needs
// beside them, and of the events what is there until all is linked.
#include "trace/rocpd/memory_need.h"

#include <array>
#include <string_view>
#include <utility>

#include "trace/rocpd/scan.h"

namespace perflab::trace::rocpd {
namespace {

/// Measured on written databases of 1 to 10 million dispatches (bench/README.md, "Huge
/// recordings"). pmc_event: eight rows, one by XCC, become one.
constexpr auto kBytesPerRow = std::to_array<std::pair<std::string_view, std::uint64_t>>({
    {"kernel_dispatch", 36},
    {"region", 24},
    {"memory_copy", 36},
    {"memory_allocate", 44},
    {"event", 4},
    {"pmc_event", 5},
});

}  // namespace

MemoryNeed memory_need(const File& file) {
  MemoryNeed need;
  for (const TableSet& set : file.table_sets())
    for (const auto& [base, bytes] : kBytesPerRow) {
      const Table* table = set.find(base);
      if (table == nullptr) continue;
      const std::uint64_t rows = rows_to_read(file, *table);
      need.bytes += rows * bytes;
      if (base == "kernel_dispatch") need.dispatches += rows;
    }
  return need;
}

}  // namespace perflab::trace::rocpd
