// The order of reading a database: recording by recording.
#include "trace/rocpd/read_rocpd.h"

#include "trace/rocpd/recording_loader.h"

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
        units += scan_ranges(*table, file.size_bytes()).size() * set.guids.size();
  return units;
}

/// Makes room for the rows of all recordings at once.
void reserve_rows(LoadState& state, const File& file) {
  std::size_t dispatches = 0, regions = 0;
  const auto add = [&](const TableSet& set, std::string_view base, std::size_t& rows) {
    if (const Table* table = set.find(base)) rows += row_bound(*table, file.size_bytes());
    // No file holds more rows, whatever its row ids say.
    rows = std::min<std::size_t>(rows, file.size_bytes() / 16 + 1);
  };
  for (const TableSet& set : file.table_sets()) {
    add(set, "kernel_dispatch", dispatches);
    add(set, "region", regions);
  }
  DispatchColumns& to = state.trace.dispatches;
  for (auto* column : {&to.start, &to.end, &to.dispatch_id}) reserve_more(*column, dispatches);
  for (auto* column : {&to.kernel, &to.config, &to.track, &to.launch})
    reserve_more(*column, dispatches);
  RegionColumns& calls = state.trace.regions;
  for (auto* column : {&calls.start, &calls.end}) reserve_more(*column, regions);
  for (auto* column :
       {&calls.name, &calls.category, &calls.thread, &calls.parent, &state.region_stack})
    reserve_more(*column, regions);
}

}  // namespace

Result<void> load(LoadState& state, const fs::path& path, const ReadOptions& options) {
  PERFLAB_TRY(File file, File::open(path, thread_count(options.threads)));
  if (options.sqlite_only) file.ask_sqlite_only();
  if (options.progress)
    file.meter = {.tell = options.progress,
                  .what = "reading " + path.filename().string(),
                  .units = units_of(file)};
  if (file.rejected_tables() > 0)
    count(state.trace.report.dropped,
          {"(table names)", "a table whose name holds other characters than letters, digits and _"},
          file.rejected_tables());
  reserve_rows(state, file);
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
                             static_cast<Index>(state.trace.sources.size() - 1));
      PERFLAB_TRY_VOID(loader.load());
    }
  }
  count(state.trace.report.dropped,
        {"(any table)", "row of a recording that the process table does not name"}, strangers);
  for (const auto& [range, many] : file.ranges) state.trace.report.ranges[range] += many;
  return file.check_unchanged();
}

Result<Trace> read(std::span<const fs::path> files, const ReadOptions& options) {
  Trace trace;
  LoadState state(trace);
  for (const fs::path& path : files) PERFLAB_TRY_VOID(load(state, path, options));
  PERFLAB_TRY_VOID(finish(state, options.threads));
  return trace;
}

}  // namespace perflab::trace::rocpd
