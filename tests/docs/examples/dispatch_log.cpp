#include "docs/examples/dispatch_log.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>

#include "base/hash.h"
#include "base/system/files.h"
#include "base/text/json.h"

namespace perflab::trace::dispatch_log {
namespace {

struct Row {
  std::string kernel;
  std::int64_t start = 0, end = 0;
  std::array<std::uint32_t, 3> grid{}, workgroup{};
};

Result<Row> read_row(const std::string& line, const std::string& place) {
  PERFLAB_TRY(const Json json, parse_json(line, place));
  try {
    return Row{.kernel = json.at("kernel"),
               .start = json.at("start"),
               .end = json.at("end"),
               .grid = json.at("grid"),
               .workgroup = json.at("workgroup")};
  } catch (const Json::exception&) {  // a field that is not there, or of another type
    return fail(
        ErrorCode::bad_input, fmt::format("{}: not a line of a dispatch log", place),
        R"({"kernel": "k", "start": 1, "end": 2, "grid": [64,1,1], "workgroup": [64,1,1]})");
  }
}

/// The kernel of that name in this recording, added when it is new.
Index kernel_of(Trace& trace, std::map<std::string, Index>& known, const std::string& name) {
  const auto [entry, added] =
      known.try_emplace(name, static_cast<Index>(trace.kernel_symbols.size()));
  if (added) {
    KernelSymbol symbol;
    symbol.source = static_cast<Index>(trace.sources.size() - 1);
    symbol.id = entry->second;
    symbol.name = trace.strings.intern(name);
    symbol.known = true;  // registers stay missing: the log does not say them
    trace.kernel_symbols.push_back(symbol);
  }
  return entry->second;
}

}  // namespace

Result<void> load(LoadState& state, const std::filesystem::path& path) {
  PERFLAB_TRY(const std::string text, read_file(path));
  const std::string guid = content_hash_text(text);
  if (!state.recordings.insert(guid).second)
    return given_twice(path.string(), guid, "give each file once");
  Trace& trace = state.trace;
  const auto process = static_cast<Index>(trace.processes.size());
  Source source;
  source.file = path.string();
  source.guid = guid;
  source.collector = "dispatch log";
  trace.sources.push_back(source);
  trace.processes.emplace_back().source = static_cast<Index>(trace.sources.size() - 1);

  std::istringstream lines(text);
  std::string line;
  std::map<std::string, Index> kernels;
  for (std::int64_t number = 1; std::getline(lines, line); ++number) {
    PERFLAB_TRY(const Row row, read_row(line, fmt::format("{}: line {}", path.string(), number)));
    ++trace.report.rows["dispatch_log"];
    if (row.start <= 0 || row.end < row.start) {  // damaged rows are counted, never just skipped
      count(trace.report.dropped, {"dispatch_log", "it ends before it starts"}, 1);
      continue;
    }
    DispatchColumns& all = trace.dispatches;
    all.start.push_back(row.start);
    all.end.push_back(row.end);
    all.dispatch_id.push_back(number);
    all.kernel.push_back(kernel_of(trace, kernels, row.kernel));
    LaunchConfig config;
    config.grid = row.grid;
    config.workgroup = row.workgroup;
    all.config.push_back(state.configs.intern(config));
    Track track;
    track.process = process;
    all.track.push_back(state.tracks.intern(track));
    all.launch.push_back(0);  // no API call is known
  }
  return {};
}

}  // namespace perflab::trace::dispatch_log
