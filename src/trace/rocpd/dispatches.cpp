// Scan of rocpd_kernel_dispatch. A row that cannot be a finished dispatch is dropped and counted;
// everything else is kept.
#include <limits>

#include "trace/rocpd/recording_loader.h"

namespace perflab::trace::rocpd {
namespace {

constexpr std::array<std::string_view, 18> kDispatchColumns = {"start",
                                                               "end",
                                                               "event_id",
                                                               "dispatch_id",
                                                               "kernel_id",
                                                               "agent_id",
                                                               "queue_id",
                                                               "stream_id",
                                                               "tid",
                                                               "private_segment_size",
                                                               "group_segment_size",
                                                               "workgroup_size_x",
                                                               "workgroup_size_y",
                                                               "workgroup_size_z",
                                                               "grid_size_x",
                                                               "grid_size_y",
                                                               "grid_size_z",
                                                               "region_name_id"};

/// The ids that decide a dispatch's track, as the file has them.
struct RawTrack {
  std::optional<std::int64_t> thread, agent, queue, stream;
  bool operator==(const RawTrack&) const = default;
};

/// Dispatches of one row-id range. `config` and `track` are indices into the chunk's own lists.
struct DispatchChunk {
  std::vector<std::int64_t> start, end, dispatch_id, kernel;
  std::vector<Index> config, track, event;
  Interner<LaunchConfig> configs;
  std::vector<RawTrack> tracks;
  std::uint64_t unfinished = 0, malformed = 0, zero_length = 0, no_event = 0;

  Index track_index(const RawTrack& raw) {
    // A process has a handful of tracks and runs of the same one: a search from the back is
    // fastest.
    for (std::size_t i = tracks.size(); i-- > 0;)
      if (tracks[i] == raw) return static_cast<Index>(i);
    tracks.push_back(raw);
    return static_cast<Index>(tracks.size() - 1);
  }
};

/// A size that must fit 32 bits; NULL is 0.
template <class Row>
bool read_size(const Row& row, int column, std::uint32_t& out) {
  const auto value = row.integer(column);
  if (!value) return row.is_null(column);
  if (*value < 0 || *value > std::numeric_limits<std::uint32_t>::max()) return false;
  out = static_cast<std::uint32_t>(*value);
  return true;
}

template <class Row>
bool read_config(const Row& row, LaunchConfig& config) {
  bool good = read_size(row, 9, config.scratch_bytes) && read_size(row, 10, config.lds_bytes);
  for (int axis = 0; axis < 3; ++axis) {
    good = good && read_size(row, 11 + axis, config.workgroup[static_cast<std::size_t>(axis)]);
    good = good && read_size(row, 14 + axis, config.grid[static_cast<std::size_t>(axis)]);
  }
  return good;
}

template <class Row>
void decode(const Row& row, const EventTable& events, DispatchChunk& chunk) {
  const auto start = row.integer(0);
  const auto end = row.integer(1);
  const auto kernel = row.integer(4);
  LaunchConfig config;
  if (!start || !end || !kernel || !read_config(row, config)) {
    ++chunk.malformed;
    return;
  }
  if (*start <= 0 || *end < *start) {
    ++chunk.unfinished;
    return;
  }
  const auto event_id = row.integer(2);
  const Index event = event_id ? events.index.find(*event_id) : kNone;
  if (*start == *end) ++chunk.zero_length;
  if (event == kNone) ++chunk.no_event;
  chunk.start.push_back(*start);
  chunk.end.push_back(*end);
  chunk.event.push_back(event);
  chunk.dispatch_id.push_back(row.integer(3).value_or(0));
  chunk.kernel.push_back(*kernel);
  chunk.config.push_back(chunk.configs.intern(config));
  chunk.track.push_back(chunk.track_index({.thread = row.integer(8),
                                           .agent = row.integer(5),
                                           .queue = row.integer(6),
                                           .stream = row.integer(7)}));
}

void reserve_dispatches(DispatchColumns& all, std::size_t extra) {
  for (auto* column : {&all.start, &all.end, &all.dispatch_id}) reserve_more(*column, extra);
  for (auto* column : {&all.kernel, &all.config, &all.track, &all.launch})
    reserve_more(*column, extra);
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Result<void> RecordingLoader::load_dispatches() {
  const Table* table = set_.find("kernel_dispatch");
  if (table == nullptr) return {};
  DispatchColumns& all = trace_.dispatches;
  reserve_dispatches(all, row_bound(*table, file_.size_bytes()));
  const bool has_counters = !counters_.empty();
  if (has_counters) event_to_dispatch_.assign(events_.index.size(), kNone);

  const auto commit = [&](DispatchChunk&& chunk) {
    std::vector<Index> configs, tracks;
    for (const LaunchConfig& config : chunk.configs.values())
      configs.push_back(state_.configs.intern(config));
    for (const RawTrack& raw : chunk.tracks) {
      const Index thread = thread_of(raw.thread);
      tracks.push_back(state_.tracks.intern(
          {.process = thread == kNone ? default_process_ : trace_.threads[thread].process,
           .thread = thread,
           .agent = lookup(agents_, raw.agent),
           .queue = lookup(queues_, raw.queue),
           .stream = lookup(streams_, raw.stream)}));
    }
    std::uint64_t no_symbol = 0;
    for (std::size_t i = 0; i < chunk.start.size(); ++i) {
      const Index event = chunk.event[i];
      if (has_counters && event != kNone)
        event_to_dispatch_[event] = static_cast<Index>(all.kernel.size());
      all.kernel.push_back(kernel_of(chunk.kernel[i]));
      if (!trace_.kernel_symbols[all.kernel.back()].known) ++no_symbol;
      all.config.push_back(configs[chunk.config[i]]);
      all.track.push_back(tracks[chunk.track[i]]);
      all.launch.push_back(event == kNone ? 0 : global_stack(events_.stack[event]));
    }
    append(all.start, chunk.start);
    append(all.end, chunk.end);
    append(all.dispatch_id, chunk.dispatch_id);
    trace_.report.rows["kernel_dispatch"] += chunk.start.size();
    dropped("kernel_dispatch", "unfinished: no start time, or its end is before its start",
            chunk.unfinished);
    dropped("kernel_dispatch", "a time, kernel id or size is missing or no number",
            chunk.malformed);
    odd("kernel_dispatch", "zero length", chunk.zero_length);
    odd("kernel_dispatch", "kernel without a symbol row", no_symbol);
    odd("kernel_dispatch", "no event row: cannot be linked to its launch", chunk.no_event);
  };
  return scan<DispatchChunk>(
      file_, *table, filter_, kDispatchColumns,
      [&](const auto& row, DispatchChunk& chunk) { decode(row, events_, chunk); }, commit);
}

}  // namespace perflab::trace::rocpd
