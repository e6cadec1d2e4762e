// The order of reading a database: recording by recording.
#include "trace/rocpd/read_rocpd.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "trace/rocpd/memory_need.h"
#include "trace/rocpd/recording_loader.h"
#include "trace/rocpd/zones.h"

namespace perflab::trace::rocpd {

namespace fs = std::filesystem;

namespace {

/// Units of scan() that reading the whole file takes, about: which rows name call arguments that
/// are wanted is known only then.
std::size_t units_of(const File& file) {
  std::size_t units = 0;
  for (const TableSet& set : file.table_sets())
    for (const std::string_view base :
         {"string", "event", "region", "kernel_dispatch", "memory_copy", "pmc_event"})
      if (const Table* table = set.find(base))
        units += wanted_ranges(file, *table).size() * set.guids.size();
  return units;
}

/// Whether what was read before and this file fit into the memory that there is.
Result<void> check_memory(LoadState& state, const File& file, const MemoryLimit& limit) {
  const MemoryNeed need = memory_need(file);
  state.memory_need += need.bytes + need.dispatches * limit.per_dispatch;
  if (limit.bytes == 0 || state.memory_need <= limit.bytes) return {};
  constexpr double kGb = 1e9;
  return fail(ErrorCode::bad_input,
              fmt::format("{}: needs about {:.1f} GB of memory, and there are {:.1f}{}",
                          file.path(), static_cast<double>(state.memory_need) / kGb,
                          static_cast<double>(limit.bytes) / kGb,
                          state.trace.sources.empty() ? "" : " (with what was read before it)"),
              limit.remedy);
}

}  // namespace

Opened::Opened() = default;
Opened::Opened(Opened&&) noexcept = default;
Opened::~Opened() = default;

Result<Opened> open(const fs::path& path, const ReadOptions& options) {
  // Unpacking takes about a third of reading a packed file; of others it takes nothing.
  constexpr double kUnpacked = 0.3;
  Opened opened;
  PERFLAB_TRY(File file, File::open(path, thread_count(options.threads),
                                    part_of(options.progress, 0, kUnpacked)));
  if (options.sqlite_only) file.ask_sqlite_only();
  opened.progress = file.is_packed() ? part_of(options.progress, kUnpacked, 1) : options.progress;
  opened.file = std::make_unique<File>(std::move(file));
  return opened;
}

Result<void> choose_window(std::span<Opened> databases, const Part& part) {
  std::vector<Zones> zones;
  std::int64_t earliest = Zone::kMost;
  for (Opened& database : databases) {
    PERFLAB_TRY(Zones found, find_zones(*database.file));
    earliest = std::min(earliest, found.earliest());
    zones.push_back(std::move(found));
  }
  for (std::size_t i = 0; i < databases.size(); ++i) {
    databases[i].window = window_of(part, earliest);
    databases[i].passed_over = read_only(databases[i].window, zones[i], *databases[i].file);
  }
  return {};
}

Result<void> load(LoadState& state, Opened& database, const ReadOptions& options) {
  File& file = *database.file;
  const fs::path path = file.path();
  PERFLAB_TRY_VOID(check_memory(state, file, options.memory));
  if (database.progress)
    file.meter = {.tell = database.progress,
                  .what = "reading " + path.filename().string(),
                  .units = units_of(file)};
  std::map<ReadReport::Key, std::uint64_t>& dropped = state.trace.report.dropped;
  count(dropped,
        {"(table names)", "a table whose name holds other characters than letters, digits and _"},
        file.rejected_tables());
  for (const auto& [table, rows] : database.passed_over)
    count(dropped, {table, std::string(kOutsideOfPart)}, rows);
  std::atomic<std::uint64_t> strangers{0};
  for (const TableSet& set : file.table_sets()) {
    for (const std::string& guid : set.guids) {
      if (!guid.empty() && !state.recordings.insert(guid).second)
        return given_twice(path.string(), guid, "name every database once");
      state.trace.sources.push_back({.file = path.string(),
                                     .guid = guid,
                                     .schema_version = set.schema_version,
                                     .collector = set.collector,
                                     .synthetic = set.synthetic,
                                     .pass = pass_of(path)});
      const RowFilter filter{.guid = guid,
                             .all_guids = set.guids,
                             .strangers = guid == set.guids.front() ? &strangers : nullptr};
      RecordingLoader loader(state, file, set, filter,
                             static_cast<Index>(state.trace.sources.size() - 1), options.part,
                             database.window);
      PERFLAB_TRY_VOID(loader.load());
    }
  }
  count(dropped, {"(any table)", "row of a recording that the process table does not name"},
        strangers);
  for (const auto& [range, many] : file.ranges) state.trace.report.ranges[range] += many;
  return file.check_unchanged();
}

Result<void> load(LoadState& state, const fs::path& path, const ReadOptions& options) {
  PERFLAB_TRY(Opened database, open(path, options));
  return load(state, database, options);
}

Result<Trace> read(std::span<const fs::path> files, const ReadOptions& options) {
  Trace trace;
  LoadState state(trace);
  for (const fs::path& path : files) PERFLAB_TRY_VOID(load(state, path, options));
  finish(state, options.threads);
  return trace;
}

}  // namespace perflab::trace::rocpd
