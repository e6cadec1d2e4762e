// Scan of rocpd_event: the largest table of a trace (two rows per dispatch), so only three small
// columns are kept.
#include "trace/rocpd/event_table.h"

namespace perflab::trace::rocpd {
namespace {

struct EventRow {
  std::int64_t id = 0, category = 0;
  std::uint32_t stack = 0, parent_stack = 0;
};
struct EventChunk {
  std::vector<EventRow> rows;
  std::uint64_t without_id = 0;

  void clear() {
    rows.clear();
    without_id = 0;
  }
};

constexpr std::array<std::string_view, 4> kEventColumns = {"id", "category_id", "stack_id",
                                                           "parent_stack_id"};

/// Index of a category in the short list of categories; the 65536th and later ones share the last
/// place.
std::uint16_t category_index(std::vector<std::int64_t>& categories, std::int64_t string_id) {
  for (std::size_t i = 0; i < categories.size(); ++i)
    if (categories[i] == string_id) return static_cast<std::uint16_t>(i);
  if (categories.size() > 0xFFFF) return 0;
  categories.push_back(string_id);
  return static_cast<std::uint16_t>(categories.size() - 1);
}

}  // namespace

Result<EventTable> read_events(File& file, const TableSet& set, const RowFilter& filter,
                               ReadReport& report) {
  EventTable events;
  events.categories.push_back(0);
  const Table* table = set.find("event");
  if (table == nullptr) return events;
  StackCodes codes(row_bound(*table, file.size_bytes()));

  const auto decode = [&](const auto& row, EventChunk& chunk) {
    EventRow event;
    if (!row.integer(0, event.id)) {
      ++chunk.without_id;
      return;
    }
    if (chunk.rows.capacity() == 0) chunk.rows.reserve(kRowsPerChunk);
    if (!row.integer(1, event.category)) event.category = 0;
    std::int64_t stack = 0;
    if (row.integer(2, stack)) event.stack = codes.code(stack);
    if (row.integer(3, stack)) event.parent_stack = codes.code(stack);
    chunk.rows.push_back(event);
  };
  std::int64_t last_category = 0;
  std::uint16_t last_index = 0;
  const auto commit = [&](const EventChunk& chunk) {
    count(report.dropped, {"event", "row without an id"}, chunk.without_id);
    report.rows["event"] += chunk.rows.size();
    for (const EventRow& row : chunk.rows) events.index.add(row.id);
    events.category.append(chunk.rows, [&](const EventRow& row) {
      if (row.category != last_category) {
        last_category = row.category;
        last_index = category_index(events.categories, last_category);
      }
      return last_index;
    });
    events.stack.append(chunk.rows, &EventRow::stack);
    events.parent_stack.append(chunk.rows, &EventRow::parent_stack);
  };
  PERFLAB_TRY_VOID(scan<EventChunk>(file, *table, filter, kEventColumns, decode, commit));
  events.index.seal();
  for (const auto* column : {&events.stack, &events.parent_stack})
    if (!column->empty())
      events.stack_limit =
          std::max<std::uint64_t>(events.stack_limit, std::ranges::max(*column) + std::uint64_t{1});
  return events;
}

}  // namespace perflab::trace::rocpd
