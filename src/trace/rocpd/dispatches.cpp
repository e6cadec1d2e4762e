// Scan of rocpd_kernel_dispatch. A row that cannot be a finished dispatch is dropped and counted;
// everything else is kept.
#include <array>
#include <type_traits>

#include "base/equal_bytes.h"
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

/// The ids that decide a dispatch's track, as the file has them: thread, agent, queue, stream.
struct RawTrack {
  std::array<std::int64_t, 4> ids{};
  std::uint64_t present = 0;  ///< a bit of each

  [[nodiscard]] bool same(const RawTrack& other) const {
    static_assert(std::has_unique_object_representations_v<RawTrack>);
    return equal_bytes(this, &other, sizeof other);
  }
  [[nodiscard]] std::optional<std::int64_t> id(std::size_t which) const {
    return (present >> which & 1) != 0 ? std::optional(ids[which]) : std::nullopt;
  }
};

/// A dispatch of a chunk; `config` and `track` are indices into the chunk's own lists.
struct DispatchRow {
  std::int64_t start = 0, end = 0, dispatch_id = 0, kernel = 0;
  Index config = 0, track = 0, event = kNone;
  std::uint32_t stack = 0;
};

/// Dispatches of one row-id range.
struct DispatchChunk {
  std::vector<DispatchRow> rows;
  Interner<LaunchConfig> configs;
  std::vector<RawTrack> tracks;
  LeftOut left_out;
  std::uint64_t zero_length = 0, no_event = 0;

  void clear() {
    rows.clear();
    configs = {};
    tracks.clear();
    left_out = {};
    zero_length = no_event = 0;
  }
  Index track_index(const RawTrack& raw) {
    // A process has a handful of tracks and runs of the same one: a search from the back is
    // fastest.
    for (std::size_t i = tracks.size(); i-- > 0;)
      if (tracks[i].same(raw)) return static_cast<Index>(i);
    tracks.push_back(raw);
    return static_cast<Index>(tracks.size() - 1);
  }
};

/// A size that must fit 32 bits; NULL is 0.
template <class Row>
[[gnu::always_inline]] inline bool read_size(const Row& row, int column, std::uint32_t& out) {
  std::int64_t value = 0;
  if (!row.integer(column, value)) return row.is_null(column);
  out = static_cast<std::uint32_t>(value);
  return value == out;
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
RawTrack read_track(const Row& row) {
  constexpr std::array<int, 4> kColumns = {8, 5, 6, 7};
  RawTrack track;
  for (std::size_t i = 0; i < 4; ++i)
    track.present |= std::uint64_t{row.integer(kColumns[i], track.ids[i])} << i;
  return track;
}

/// Takes a row of a dispatch. `is_wanted`: by its start and the id of its kernel.
template <class Row, class IsWanted>
void decode(const Row& row, const EventTable& events, const IsWanted& is_wanted,
            DispatchChunk& chunk) {
  DispatchRow dispatch;
  LaunchConfig config;
  if (!row.integer(0, dispatch.start) || !row.integer(1, dispatch.end) ||
      !row.integer(4, dispatch.kernel) || !read_config(row, config)) {
    ++chunk.left_out.malformed;
    return;
  }
  if (dispatch.start <= 0 || dispatch.end < dispatch.start) {
    ++chunk.left_out.unfinished;
    return;
  }
  if (!is_wanted(dispatch.start, dispatch.kernel)) {
    ++chunk.left_out.outside;
    return;
  }
  std::int64_t event_id = 0;
  if (row.integer(2, event_id)) dispatch.event = events.index.find(event_id);
  if (dispatch.start == dispatch.end) ++chunk.zero_length;
  if (dispatch.event == kNone)
    ++chunk.no_event;
  else
    dispatch.stack = events.stack[dispatch.event];
  if (!row.integer(3, dispatch.dispatch_id)) dispatch.dispatch_id = 0;
  dispatch.config = chunk.configs.intern(
      config, static_cast<std::uint64_t>(dispatch.kernel) ^ std::uint64_t{config.grid[0]} << 32);
  dispatch.track = chunk.track_index(read_track(row));
  if (chunk.rows.capacity() == 0) chunk.rows.reserve(kRowsPerChunk);
  chunk.rows.push_back(dispatch);
}

}  // namespace

Result<void> RecordingLoader::load_dispatches() {
  const Table* table = set_.find("kernel_dispatch");
  if (table == nullptr) return {};
  DispatchColumns& all = trace_.dispatches;
  const bool has_counters = !counters_.empty();
  if (has_counters) event_to_dispatch_.assign(events_.index.size(), kNone);

  const auto commit = [&](const DispatchChunk& chunk) {
    std::vector<Index> configs, tracks;
    for (const LaunchConfig& config : chunk.configs.values())
      configs.push_back(state_.configs.intern(config));
    for (const RawTrack& raw : chunk.tracks) {
      const Index thread = thread_of(raw.id(0));
      tracks.push_back(state_.tracks.intern(
          {.process = thread == kNone ? default_process_ : trace_.threads[thread].process,
           .thread = thread,
           .agent = agents_.find(raw.id(1)),
           .queue = queues_.find(raw.id(2)),
           .stream = streams_.find(raw.id(3))}));
    }
    if (has_counters)
      for (std::size_t i = 0; i < chunk.rows.size(); ++i)
        if (chunk.rows[i].event != kNone)
          event_to_dispatch_[chunk.rows[i].event] = static_cast<Index>(all.size() + i);
    std::uint64_t no_symbol = 0;
    all.kernel.append(chunk.rows, [&](const DispatchRow& row) {
      const Index kernel = kernel_of(row.kernel);
      if (!trace_.kernel_symbols[kernel].known) ++no_symbol;
      return kernel;
    });
    all.config.append(chunk.rows, [&](const DispatchRow& row) { return configs[row.config]; });
    all.track.append(chunk.rows, [&](const DispatchRow& row) { return tracks[row.track]; });
    all.launch.append(chunk.rows, [&](const DispatchRow& row) { return global_stack(row.stack); });
    all.start.append(chunk.rows, &DispatchRow::start);
    all.end.append(chunk.rows, &DispatchRow::end);
    all.dispatch_id.append(chunk.rows, &DispatchRow::dispatch_id);
    trace_.report.rows["kernel_dispatch"] += chunk.rows.size();
    left_out("kernel_dispatch", chunk.left_out);
    if (part_.kernel)
      for (const DispatchRow& row : chunk.rows) launching_[row.stack] = true;
    odd("kernel_dispatch", "zero length", chunk.zero_length);
    odd("kernel_dispatch", "kernel without a symbol row", no_symbol);
    odd("kernel_dispatch", "no event row: cannot be linked to its launch", chunk.no_event);
  };
  const auto is_wanted = [this](std::int64_t start, std::int64_t kernel) {
    return window_.has(start) && is_wanted_kernel(kernel);
  };
  return scan<DispatchChunk>(
      file_, *table, filter_, kDispatchColumns,
      [&](const auto& row, DispatchChunk& chunk) { decode(row, events_, is_wanted, chunk); },
      commit);
}

}  // namespace perflab::trace::rocpd
