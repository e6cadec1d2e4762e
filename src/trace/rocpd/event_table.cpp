// Scan of rocpd_event: the largest table of a trace (two rows per dispatch), so only three small
// columns are kept.
#include "trace/rocpd/event_table.h"

namespace perflab::trace::rocpd {
namespace {

struct EventChunk {
  std::vector<std::int64_t> id, category;
  std::vector<std::uint32_t> stack, parent_stack;
  std::uint64_t without_id = 0;
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
  const std::size_t bound = row_bound(*table, file.size_bytes());
  StackCodes codes(bound);
  reserve_more(events.stack, bound);
  reserve_more(events.parent_stack, bound);
  reserve_more(events.category, bound);

  const auto decode = [&](const auto& row, EventChunk& chunk) {
    const auto id = row.integer(0);
    if (!id) {
      ++chunk.without_id;
      return;
    }
    chunk.id.push_back(*id);
    chunk.category.push_back(row.integer(1).value_or(0));
    chunk.stack.push_back(codes.code(row.integer(2)));
    chunk.parent_stack.push_back(codes.code(row.integer(3)));
  };
  std::int64_t last_category = 0;
  std::uint16_t last_index = 0;
  const auto commit = [&](EventChunk&& chunk) {
    count(report.dropped, {"event", "row without an id"}, chunk.without_id);
    report.rows["event"] += chunk.id.size();
    for (std::size_t i = 0; i < chunk.id.size(); ++i) {
      events.index.add(chunk.id[i]);
      if (chunk.category[i] != last_category) {
        last_category = chunk.category[i];
        last_index = category_index(events.categories, last_category);
      }
      events.category.push_back(last_index);
    }
    events.stack.insert(events.stack.end(), chunk.stack.begin(), chunk.stack.end());
    events.parent_stack.insert(events.parent_stack.end(), chunk.parent_stack.begin(),
                               chunk.parent_stack.end());
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
