// From rows to a recording: times, instances, order. Sums run over sorted values, so that they are
// the same to the last bit whatever the order of the rows.
#include "trace/counter_csv/csv_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>

namespace perflab::trace::counter_csv {
namespace {

/// Whether the times are to be believed, made into an order only where they are not.
bool settle_times(Draft& draft) {
  const auto is_point = [](const Dispatch& dispatch) { return dispatch.start == dispatch.end; };
  if (draft.has_times && !draft.lost_digits && !std::ranges::all_of(draft.dispatches, is_point))
    return true;
  // A start of 0 would mean a dispatch that never started: the ids order as well.
  const bool by_id =
      std::ranges::any_of(draft.dispatches, [](const Dispatch& d) { return d.start <= 0; });
  for (Dispatch& dispatch : draft.dispatches) {
    if (by_id) dispatch.start = std::max<std::int64_t>(dispatch.id, 0) + 1;
    dispatch.end = dispatch.start;
  }
  return draft.dispatches.empty();
}

bool has_ended(const Dispatch& dispatch) {
  return dispatch.start > 0 && dispatch.start <= dispatch.end;
}

/// New positions of old ones in time order; kNone for dispatches that did not end. They are left
/// out.
std::vector<Index> order_dispatches(std::vector<Dispatch>& dispatches) {
  std::vector<Index> order(dispatches.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::erase_if(order, [&](Index i) { return !has_ended(dispatches[i]); });
  std::ranges::stable_sort(order, {}, [&](Index i) -> const Dispatch& { return dispatches[i]; });
  std::vector<Index> position(dispatches.size(), kNone);
  std::vector<Dispatch> sorted;
  for (const Index i : order) {
    position[i] = static_cast<Index>(sorted.size());
    sorted.push_back(std::move(dispatches[i]));
  }
  dispatches = std::move(sorted);
  return position;
}

/// New positions of the counters' names when these are sorted, as they then are.
std::vector<Index> order_counters(std::vector<std::string>& counters) {
  std::vector<Index> order(counters.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::sort(order, {}, [&](Index i) -> const std::string& { return counters[i]; });
  std::vector<Index> position(counters.size());
  std::vector<std::string> sorted;
  for (const Index i : order) {
    position[i] = static_cast<Index>(sorted.size());
    sorted.push_back(std::move(counters[i]));
  }
  counters = std::move(sorted);
  return position;
}

/// Why instances cannot be added up to the counter's total; empty when they can. Sorted by channel.
std::string missing_instances(std::span<const Cell> cells, std::string_view counter,
                              std::optional<std::int64_t> l2_channels) {
  if (cells.front().channel == kNone) return {};
  std::size_t distinct = 1;
  for (std::size_t i = 1; i < cells.size(); ++i)
    if (cells[i].channel != cells[i - 1].channel) ++distinct;
  // Whole numbers of 64 bits: a channel number can be anything below kNone.
  std::size_t expected = std::size_t{cells.back().channel} + 1;
  if (counter.starts_with("TCC_") && l2_channels)
    expected = std::max(expected, static_cast<std::size_t>(*l2_channels));
  if (counter.starts_with("TCC_") && l2_channels &&
      expected != static_cast<std::size_t>(*l2_channels))
    return fmt::format("{}: channel {} of a GPU with {} channels", counter, expected - 1,
                       *l2_channels);
  if (distinct == expected) return {};
  return fmt::format("{}: only {} of {} channels are there, so there is no total", counter,
                     distinct, expected);
}

/// By dispatch, counter, channel, value. Dispatches mostly come in order already.
void sort_cells(std::vector<Cell>& cells) {
  const auto key = [](const Cell& cell) {
    return std::tuple(cell.dispatch, cell.counter, cell.channel, cell.value);
  };
  if (!std::ranges::is_sorted(cells, {}, &Cell::dispatch)) {
    std::ranges::sort(cells, {}, key);
    return;
  }
  for (auto first = cells.begin(); first != cells.end();) {
    const auto last = std::find_if(first, cells.end(),
                                   [&](const Cell& c) { return c.dispatch != first->dispatch; });
    std::ranges::sort(first, last, {}, key);
    first = last;
  }
}

/// The value of cells of one dispatch and counter.
Value total_of(std::span<Cell> cells) {
  std::ranges::sort(cells, {}, &Cell::value);
  Value total{.dispatch = cells.front().dispatch,
              .counter = cells.front().counter,
              .instances = static_cast<std::uint32_t>(cells.size()),
              .sum = 0,
              .min = cells.front().value,
              .max = cells.back().value};
  for (const Cell& cell : cells) total.sum += cell.value;
  return total;
}

/// Cells of one dispatch and counter, sorted by channel, those without a channel last.
void add_value(std::span<Cell> cells, std::optional<std::int64_t> l2_channels, Content& content,
               ReadReport& report) {
  const std::string& counter = content.counters[cells.front().counter];
  const auto plain = std::ranges::find(cells, kNone, &Cell::channel);
  const auto channels = static_cast<std::size_t>(plain - cells.begin());
  if (channels > 0 && channels < cells.size()) {
    count(report.dropped,
          {kTable,
           fmt::format("{}: single channels next to the total, which has them already", counter)},
          channels);
    cells = cells.subspan(channels);
  }
  if (std::string why = missing_instances(cells, counter, l2_channels); !why.empty()) {
    count(report.dropped, {kTable, std::move(why)}, cells.size());
    return;
  }
  content.values.push_back(total_of(cells));
}

}  // namespace

Recording finish_draft(Draft draft, std::optional<std::int64_t> l2_channels) {
  Recording recording;
  recording.guid = std::move(draft.guid);
  recording.report = std::move(draft.report);
  recording.merged = draft.merged;
  Content& content = recording.content;
  content.pid = draft.pid;
  content.times_known = settle_times(draft);
  const std::size_t before = draft.dispatches.size();
  const std::vector<Index> dispatch_at = order_dispatches(draft.dispatches);
  content.dispatches = std::move(draft.dispatches);
  count(recording.report.dropped,
        {kTable, "unfinished dispatch: no start time, or its end is before its start"},
        before - content.dispatches.size());
  if (draft.times_shared && content.times_known)
    count(recording.report.odd,
          {kTable, "dispatch of a merged table: its times are means over the merged passes"},
          content.dispatches.size());
  const std::vector<Index> counter_at = order_counters(draft.counters);
  content.counters = std::move(draft.counters);

  for (Cell& cell : draft.cells) {
    cell.dispatch = dispatch_at[cell.dispatch];
    cell.counter = counter_at[cell.counter];
  }
  const auto lost = std::erase_if(draft.cells, [](const Cell& c) { return c.dispatch == kNone; });
  count(recording.report.dropped, {kTable, "value of an unfinished dispatch"}, lost);
  sort_cells(draft.cells);
  content.values.reserve(draft.cells.size());
  for (std::size_t first = 0; first < draft.cells.size();) {
    const Cell& cell = draft.cells[first];
    std::size_t last = first + 1;
    while (last < draft.cells.size() && draft.cells[last].dispatch == cell.dispatch &&
           draft.cells[last].counter == cell.counter)
      ++last;
    add_value(std::span(draft.cells).subspan(first, last - first), l2_channels, content,
              recording.report);
    first = last;
  }
  return recording;
}

void sort_recordings(std::vector<Recording>& recordings) {
  const auto first_start = [](const Recording& recording) {
    const auto& dispatches = recording.content.dispatches;
    return dispatches.empty() ? std::int64_t{0} : dispatches.front().start;
  };
  std::ranges::stable_sort(recordings, [&](const Recording& a, const Recording& b) {
    if (first_start(a) != first_start(b)) return first_start(a) < first_start(b);
    return std::tie(a.content.counters, a.content, a.guid, a.file) <
           std::tie(b.content.counters, b.content, b.guid, b.file);
  });
}

}  // namespace perflab::trace::counter_csv
