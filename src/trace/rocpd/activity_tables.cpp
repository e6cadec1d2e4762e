// Scans of rocpd_region (host API calls and user ranges), rocpd_memory_copy and
// rocpd_memory_allocate.
#include "trace/rocpd/recording_loader.h"

namespace perflab::trace::rocpd {
namespace {

constexpr std::string_view kUnfinished =
    "unfinished: no start time, or its end is before its start";
constexpr std::string_view kMalformed = "a time or size is missing or no number";

/// Rows that a scan left out, by reason.
struct Rejected {
  std::uint64_t unfinished = 0, malformed = 0;
};

/// Start and end of a row, if it is a finished one; counted otherwise.
template <class Row>
std::optional<std::pair<std::int64_t, std::int64_t>> read_times(const Row& row,
                                                                Rejected& rejected) {
  const auto start = row.integer(0);
  const auto end = row.integer(1);
  if (!start || !end) {
    ++rejected.malformed;
    return std::nullopt;
  }
  if (*start <= 0 || *end < *start) {
    ++rejected.unfinished;
    return std::nullopt;
  }
  return std::pair{*start, *end};
}

constexpr std::array<std::string_view, 5> kRegionColumns = {"start", "end", "event_id", "name_id",
                                                            "tid"};

struct RegionRow {
  std::int64_t start, end;
  Index event;
  std::optional<std::int64_t> name, thread;
};
struct RegionChunk {
  std::vector<RegionRow> rows;
  Rejected rejected;
};

constexpr std::array<std::string_view, 10> kCopyColumns = {
    "start", "end",          "event_id",     "name_id",  "tid",
    "size",  "dst_agent_id", "src_agent_id", "queue_id", "stream_id"};

struct CopyRow {
  std::int64_t start, end, bytes;
  Index event;
  std::optional<std::int64_t> name, thread, destination, source, queue, stream;
};
struct CopyChunk {
  std::vector<CopyRow> rows;
  Rejected rejected;
};

template <class Row>
Index event_of(const Row& row, int column, const EventTable& events) {
  const auto id = row.integer(column);
  return id ? events.index.find(*id) : kNone;
}

}  // namespace

Result<void> RecordingLoader::load_regions() {
  const Table* table = set_.find("region");
  if (table == nullptr) return {};
  RegionColumns& all = trace_.regions;
  const std::size_t extra = row_bound(*table, file_.size_bytes());
  for (auto* column : {&all.start, &all.end}) reserve_more(*column, extra);
  for (auto* column : {&all.name, &all.category, &all.thread, &all.parent, &state_.region_stack})
    reserve_more(*column, extra);
  std::vector<Index> categories;
  for (const std::int64_t id : events_.categories) categories.push_back(string_of(id));

  const auto decode = [&](const auto& row, RegionChunk& chunk) {
    const auto times = read_times(row, chunk.rejected);
    if (!times) return;
    chunk.rows.push_back({.start = times->first,
                          .end = times->second,
                          .event = event_of(row, 2, events_),
                          .name = row.integer(3),
                          .thread = row.integer(4)});
  };
  const auto commit = [&](RegionChunk&& chunk) {
    for (const RegionRow& row : chunk.rows) {
      const bool linked = row.event != kNone;
      const Index name = string_of(row.name);
      if (linked)
        wanted_.note(static_cast<Index>(all.size()), row.event, name, events_.category[row.event],
                     trace_.strings);
      all.start.push_back(row.start);
      all.end.push_back(row.end);
      all.name.push_back(name);
      all.category.push_back(linked ? categories[events_.category[row.event]] : 0);
      all.thread.push_back(thread_of(row.thread));
      all.parent.push_back(linked ? global_stack(events_.parent_stack[row.event]) : 0);
      state_.region_stack.push_back(linked ? global_stack(events_.stack[row.event]) : 0);
    }
    trace_.report.rows["region"] += chunk.rows.size();
    dropped("region", kUnfinished, chunk.rejected.unfinished);
    dropped("region", kMalformed, chunk.rejected.malformed);
  };
  return scan<RegionChunk>(file_, *table, filter_, kRegionColumns, decode, commit);
}

Result<void> RecordingLoader::load_copies() {
  const Table* table = set_.find("memory_copy");
  if (table == nullptr) return {};
  CopyColumns& all = trace_.copies;
  const auto decode = [&](const auto& row, CopyChunk& chunk) {
    const auto times = read_times(row, chunk.rejected);
    const auto bytes = row.integer(5);
    if (times && (!bytes || *bytes < 0)) ++chunk.rejected.malformed;
    if (!times || !bytes || *bytes < 0) return;
    chunk.rows.push_back({.start = times->first,
                          .end = times->second,
                          .bytes = *bytes,
                          .event = event_of(row, 2, events_),
                          .name = row.integer(3),
                          .thread = row.integer(4),
                          .destination = row.integer(6),
                          .source = row.integer(7),
                          .queue = row.integer(8),
                          .stream = row.integer(9)});
  };
  const auto commit = [&](CopyChunk&& chunk) {
    for (const CopyRow& row : chunk.rows) {
      const Index thread = thread_of(row.thread);
      all.start.push_back(row.start);
      all.end.push_back(row.end);
      all.bytes.push_back(row.bytes);
      all.kind.push_back(string_of(row.name));
      all.source_agent.push_back(lookup(agents_, row.source));
      all.track.push_back(state_.tracks.intern(
          {.process = thread == kNone ? default_process_ : trace_.threads[thread].process,
           .thread = thread,
           .agent = lookup(agents_, row.destination),
           .queue = lookup(queues_, row.queue),
           .stream = lookup(streams_, row.stream)}));
      all.launch.push_back(row.event == kNone ? 0 : global_stack(events_.stack[row.event]));
    }
    trace_.report.rows["memory_copy"] += chunk.rows.size();
    dropped("memory_copy", kUnfinished, chunk.rejected.unfinished);
    dropped("memory_copy", kMalformed, chunk.rejected.malformed);
  };
  return scan<CopyChunk>(file_, *table, filter_, kCopyColumns, decode, commit);
}

Result<void> RecordingLoader::load_allocations() {
  constexpr std::array<std::string_view, 8> kColumns = {"start",   "end",  "type",     "level",
                                                        "address", "size", "agent_id", "tid"};
  AllocationColumns& all = trace_.allocations;
  Rejected rejected;
  PERFLAB_TRY_VOID(each("memory_allocate", kColumns, [&](const Statement& row) {
    const auto times = read_times(row, rejected);
    if (!times) return;
    const auto bytes = row.integer(5);
    if (!bytes || *bytes < 0) {
      ++rejected.malformed;
      return;
    }
    const Index thread = thread_of(row.integer(7));
    all.start.push_back(times->first);
    all.end.push_back(times->second);
    all.address.push_back(static_cast<std::uint64_t>(row.integer(4).value_or(0)));
    all.bytes.push_back(*bytes);
    all.type.push_back(trace_.strings.intern(row.text(2)));
    all.level.push_back(trace_.strings.intern(row.text(3)));
    all.agent.push_back(lookup(agents_, row.integer(6)));
    all.process.push_back(thread == kNone ? default_process_ : trace_.threads[thread].process);
  }));
  dropped("memory_allocate", kUnfinished, rejected.unfinished);
  dropped("memory_allocate", kMalformed, rejected.malformed);
  return {};
}

}  // namespace perflab::trace::rocpd
