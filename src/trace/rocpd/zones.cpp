// One scan of three columns per table; then intervals against intervals.
#include "trace/rocpd/zones.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "trace/rocpd/file.h"
#include "trace/rocpd/scan.h"

namespace perflab::trace::rocpd {
namespace {

constexpr std::array<std::string_view, 3> kTimed = {"kernel_dispatch", "region", "memory_copy"};
constexpr std::array<std::string_view, 3> kZoneColumns = {"start", "end", "event_id"};

struct ZoneChunk {
  Zone zone;
  void clear() { zone = {}; }
};

Result<std::vector<Zone>> zones_of(File& file, const Table& table) {
  std::vector<Zone> zones;
  const auto decode = [](const auto& row, ZoneChunk& chunk) {
    Zone& zone = chunk.zone;
    ++zone.rows;
    std::int64_t start = 0, end = 0, event = 0;
    if (!row.integer(0, start) || !row.integer(1, end) || start <= 0 || end < start) return;
    zone.first_start = std::min(zone.first_start, start);
    zone.last_start = std::max(zone.last_start, start);
    if (!row.integer(2, event)) return;
    zone.first_event = std::min(zone.first_event, event);
    zone.last_event = std::max(zone.last_event, event);
  };
  PERFLAB_TRY_VOID(scan<ZoneChunk>(file, table, RowFilter{}, kZoneColumns, decode,
                                   [&](const ZoneChunk& chunk) { zones.push_back(chunk.zone); }));
  return zones;
}

using Interval = std::pair<std::int64_t, std::int64_t>;  ///< inclusive

/// Sorted, and those that overlap made one.
std::vector<Interval> merged(std::vector<Interval> intervals) {
  std::ranges::sort(intervals);
  std::vector<Interval> out;
  for (const Interval& one : intervals) {
    if (!out.empty() && one.first <= out.back().second)
      out.back().second = std::max(out.back().second, one.second);
    else
      out.push_back(one);
  }
  return out;
}

/// Ranges of the table of events that have ids of the intervals; nothing: all have to be read.
std::vector<bool> event_ranges(const Table& table, std::uint64_t file_bytes,
                               const std::vector<Interval>& events) {
  std::vector<bool> wanted;
  if (!table.id_is_rowid) return wanted;
  for (const auto& range : scan_ranges(table, file_bytes)) {
    if (!range) return {};
    const auto next = std::ranges::lower_bound(events, range->first, {}, &Interval::second);
    wanted.push_back(next != events.end() && next->first <= range->second);
  }
  return wanted;
}

}  // namespace

std::int64_t Zones::earliest() const {
  std::int64_t earliest = Zone::kMost;
  for (const auto& [table, zones] : of)
    for (const Zone& zone : zones) earliest = std::min(earliest, zone.first_start);
  return earliest;
}

Result<Zones> find_zones(File& file) {
  Zones zones;
  for (const TableSet& set : file.table_sets())
    for (const std::string_view base : kTimed)
      if (const Table* table = set.find(base)) {
        PERFLAB_TRY(zones.of[table->name], zones_of(file, *table));
      }
  return zones;
}

std::map<std::string, std::uint64_t> read_only(const Window& window, const Zones& zones,
                                               File& file) {
  std::map<std::string, std::uint64_t> passed_over;
  for (const TableSet& set : file.table_sets()) {
    std::vector<Interval> events;
    for (const std::string_view base : kTimed) {
      const Table* table = set.find(base);
      if (table == nullptr) continue;
      std::vector<bool>& wanted = file.wanted_ranges[table->name];
      for (const Zone& zone : zones.of.at(table->name)) {
        wanted.push_back(zone.last_start >= window.begin && zone.first_start < window.end);
        if (!wanted.back())
          passed_over[table->base] += zone.rows;
        else if (zone.first_event <= zone.last_event)
          events.emplace_back(zone.first_event, zone.last_event);
      }
    }
    const Table* table = set.find("event");
    if (table == nullptr) continue;
    std::vector<bool> wanted = event_ranges(*table, file.size_bytes(), merged(std::move(events)));
    if (!wanted.empty()) file.wanted_ranges[table->name] = std::move(wanted);
  }
  return passed_over;
}

}  // namespace perflab::trace::rocpd
