// The event table of one recording: every dispatch, copy and API region points to an event, and
// events that share a stack id belong together (docs/facts/rocpd.md "Links"). Held only while the
// recording is read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/packed_column.h"
#include "trace/rocpd/row_index.h"
#include "trace/rocpd/scan.h"
#include "trace/stack_codes.h"

namespace perflab::trace::rocpd {

/// One column per fact that the joins need; position = RowIndex::find(event id).
struct EventTable {
  RowIndex index;
  PackedColumn<std::uint32_t> stack, parent_stack;  ///< StackCodes
  PackedColumn<std::uint16_t> category;             ///< into categories
  std::vector<std::int64_t> categories;             ///< string ids; 0 = none
  std::uint64_t stack_limit = 1;                    ///< every stack code is below this
};

/// Reads the event table of one recording; an empty table when there is none. Rows are counted in
/// `report`.
Result<EventTable> read_events(File& file, const TableSet& set, const RowFilter& filter,
                               ReadReport& report);

}  // namespace perflab::trace::rocpd
