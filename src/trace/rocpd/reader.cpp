// The order of reading: file by file, recording by recording; then everything is sorted and linked.
#include "trace/rocpd/reader.h"

#include <fmt/format.h>

#include <charconv>
#include <set>

#include "trace/rocpd/loader.h"

namespace perflab::trace::rocpd {
namespace {

namespace fs = std::filesystem;

/// N of the nearest folder named pass_N or pmc_N: rocprofv3 puts each counter pass in one
/// (facts/rocpd.md section 2).
std::optional<int> pass_of(const fs::path& file) {
  for (fs::path folder = file.parent_path(); !folder.empty() && folder != folder.root_path();
       folder = folder.parent_path()) {
    const std::string name = folder.filename().string();
    for (const std::string_view prefix : {"pass_", "pmc_"}) {
      if (!name.starts_with(prefix)) continue;
      int number = 0;
      const char* const end = name.data() + name.size();
      const auto parsed = std::from_chars(name.data() + prefix.size(), end, number);
      if (parsed.ec == std::errc{} && parsed.ptr == end) return number;
    }
  }
  return std::nullopt;
}

Result<void> read_file(LoadState& state, std::set<std::string>& seen, const fs::path& path,
                       unsigned threads) {
  PERFLAB_TRY(File file, File::open(path, threads));
  if (file.rejected_tables() > 0)
    count(state.trace.report.dropped,
          {"(table names)", "a table whose name holds other characters than letters, digits and _"},
          file.rejected_tables());
  std::atomic<std::uint64_t> strangers{0};
  for (const TableSet& set : file.table_sets()) {
    for (const std::string& guid : set.guids) {
      if (!guid.empty() && !seen.insert(guid).second)
        return fail(
            ErrorCode::bad_input,
            fmt::format("{}: recording {} was given already, by this file or an earlier one",
                        path.string(), guid),
            "name every database once");
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
  return file.check_unchanged();
}

}  // namespace

Result<Trace> read(std::span<const fs::path> files, const ReadOptions& options) {
  Trace trace;
  LoadState state{.trace = trace,
                  .region_stack = {},
                  .tracks = {},
                  .configs = {},
                  .nodes = {},
                  .agents = {},
                  .counter_by_name = {}};
  std::set<std::string> seen;
  for (const fs::path& path : files)
    PERFLAB_TRY_VOID(read_file(state, seen, path, thread_count(options.threads)));
  PERFLAB_TRY_VOID(finish(state));
  return trace;
}

}  // namespace perflab::trace::rocpd
