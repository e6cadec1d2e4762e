// Scans of rocpd_region (host API calls and user ranges), rocpd_memory_copy and
// rocpd_memory_allocate.
#include "trace/rocpd/recording_loader.h"

namespace perflab::trace::rocpd {
namespace {

/// Start and end of a row into `to`. False: it is no finished one, and counted.
template <class Row, class To>
bool read_times(const Row& row, To& to, LeftOut& left_out) {
  if (!row.integer(0, to.start) || !row.integer(1, to.end)) {
    ++left_out.malformed;
    return false;
  }
  if (to.start <= 0 || to.end < to.start) {
    ++left_out.unfinished;
    return false;
  }
  return true;
}

constexpr std::array<std::string_view, 5> kRegionColumns = {"start", "end", "event_id", "name_id",
                                                            "tid"};

struct RegionRow {
  std::int64_t start = 0, end = 0, thread = 0;
  Index event = kNone, name = 0;
  std::uint32_t stack = 0, parent_stack = 0;
  std::uint16_t category = 0;  ///< of the event table
  bool has_thread = false;
};
struct RegionChunk {
  std::vector<RegionRow> rows;
  LeftOut left_out;

  void clear() {
    rows.clear();
    left_out = {};
  }
};

constexpr std::array<std::string_view, 10> kCopyColumns = {
    "start", "end",          "event_id",     "name_id",  "tid",
    "size",  "dst_agent_id", "src_agent_id", "queue_id", "stream_id"};

struct CopyRow {
  std::int64_t start = 0, end = 0, bytes = -1;
  Index event = kNone;
  std::optional<std::int64_t> name, thread, destination, source, queue, stream;
};
struct CopyChunk {
  std::vector<CopyRow> rows;
  LeftOut left_out;

  void clear() {
    rows.clear();
    left_out = {};
  }
};

template <class Row>
Index event_of(const Row& row, int column, const EventTable& events) {
  std::int64_t id = 0;
  return row.integer(column, id) ? events.index.find(id) : kNone;
}

}  // namespace

Result<void> RecordingLoader::load_regions() {
  const Table* table = set_.find("region");
  if (table == nullptr) return {};
  RegionColumns& all = trace_.regions;
  std::vector<Index> categories;
  for (const std::int64_t id : events_.categories) categories.push_back(string_of(id));

  const auto decode = [&](const auto& row, RegionChunk& chunk) {
    RegionRow region;
    if (!read_times(row, region, chunk.left_out)) return;
    if (!window_.has(region.start)) {
      ++chunk.left_out.outside;
      return;
    }
    std::int64_t name = 0;
    if (row.integer(3, name)) region.name = string_of(name);
    region.has_thread = row.integer(4, region.thread);
    region.event = event_of(row, 2, events_);
    if (region.event != kNone) {
      region.stack = events_.stack[region.event];
      region.parent_stack = events_.parent_stack[region.event];
      region.category = events_.category[region.event];
    }
    if (part_.kernel && (region.stack == 0 || !launching_[region.stack])) {
      ++chunk.left_out.outside;
      return;
    }
    if (chunk.rows.capacity() == 0) chunk.rows.reserve(kRowsPerChunk);
    chunk.rows.push_back(region);
  };
  const auto commit = [&](const RegionChunk& chunk) {
    auto region = static_cast<Index>(all.size());
    for (const RegionRow& row : chunk.rows) {
      if (row.event != kNone)
        wanted_.note(region, row.event, row.name, row.category, trace_.strings);
      ++region;
    }
    all.start.append(chunk.rows, &RegionRow::start);
    all.end.append(chunk.rows, &RegionRow::end);
    all.name.append(chunk.rows, &RegionRow::name);
    all.category.append(chunk.rows, [&](const RegionRow& row) {
      return row.event == kNone ? 0 : categories[row.category];
    });
    all.thread.append(chunk.rows, [&](const RegionRow& row) {
      return row.has_thread ? thread_of(row.thread) : kNone;
    });
    all.parent.append(chunk.rows,
                      [&](const RegionRow& row) { return global_stack(row.parent_stack); });
    state_.region_stack.append(chunk.rows,
                               [&](const RegionRow& row) { return global_stack(row.stack); });
    trace_.report.rows["region"] += chunk.rows.size();
    left_out("region", chunk.left_out);
  };
  return scan<RegionChunk>(file_, *table, filter_, kRegionColumns, decode, commit);
}

Result<void> RecordingLoader::load_copies() {
  const Table* table = set_.find("memory_copy");
  if (table == nullptr) return {};
  CopyColumns& all = trace_.copies;
  const auto decode = [&](const auto& row, CopyChunk& chunk) {
    CopyRow copy;
    if (!read_times(row, copy, chunk.left_out)) return;
    if (part_.kernel || !window_.has(copy.start)) {
      ++chunk.left_out.outside;
      return;
    }
    if (!row.integer(5, copy.bytes) || copy.bytes < 0) {
      ++chunk.left_out.malformed;
      return;
    }
    copy.event = event_of(row, 2, events_);
    copy.name = row.integer(3);
    copy.thread = row.integer(4);
    copy.destination = row.integer(6);
    copy.source = row.integer(7);
    copy.queue = row.integer(8);
    copy.stream = row.integer(9);
    chunk.rows.push_back(copy);
  };
  const auto commit = [&](const CopyChunk& chunk) {
    for (const CopyRow& row : chunk.rows) {
      const Index thread = thread_of(row.thread);
      all.start.push_back(row.start);
      all.end.push_back(row.end);
      all.bytes.push_back(row.bytes);
      all.kind.push_back(string_of(row.name));
      all.source_agent.push_back(agents_.find(row.source));
      all.track.push_back(state_.tracks.intern(
          {.process = thread == kNone ? default_process_ : trace_.threads[thread].process,
           .thread = thread,
           .agent = agents_.find(row.destination),
           .queue = queues_.find(row.queue),
           .stream = streams_.find(row.stream)}));
      all.launch.push_back(row.event == kNone ? 0 : global_stack(events_.stack[row.event]));
    }
    trace_.report.rows["memory_copy"] += chunk.rows.size();
    left_out("memory_copy", chunk.left_out);
  };
  return scan<CopyChunk>(file_, *table, filter_, kCopyColumns, decode, commit);
}

Result<void> RecordingLoader::load_allocations() {
  constexpr std::array<std::string_view, 8> kColumns = {"start",   "end",  "type",     "level",
                                                        "address", "size", "agent_id", "tid"};
  AllocationColumns& all = trace_.allocations;
  LeftOut rejected;
  PERFLAB_TRY_VOID(each("memory_allocate", kColumns, [&](const Statement& row) {
    struct {
      std::int64_t start = 0, end = 0;
    } times;
    if (!read_times(row, times, rejected)) return;
    if (part_.kernel || !window_.has(times.start)) {
      ++rejected.outside;
      return;
    }
    const auto bytes = row.integer(5);
    if (!bytes || *bytes < 0) {
      ++rejected.malformed;
      return;
    }
    const Index thread = thread_of(row.integer(7));
    all.start.push_back(times.start);
    all.end.push_back(times.end);
    all.address.push_back(static_cast<std::uint64_t>(row.integer(4).value_or(0)));
    all.bytes.push_back(*bytes);
    all.type.push_back(trace_.strings.intern(row.text(2)));
    all.level.push_back(trace_.strings.intern(row.text(3)));
    all.agent.push_back(agents_.find(row.integer(6)));
    all.process.push_back(thread == kNone ? default_process_ : trace_.threads[thread].process);
  }));
  left_out("memory_allocate", rejected);
  return {};
}

}  // namespace perflab::trace::rocpd
