// Which table a text is, and the file about the machine beside it.
#include "trace/counter_csv/read_counter_csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/system/files.h"
#include "base/text/csv.h"
#include "trace/counter_csv/table.h"

namespace perflab::trace::counter_csv {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCollection = "counter_collection.csv";
constexpr std::string_view kAgentInfo = "agent_info.csv";

/// The kind of a table by its first line; an error when it is none.
Result<Kind> kind_of_text(std::string_view text, std::string_view name) {
  std::optional<Kind> kind;
  const auto read =
      for_each_csv_row(text.substr(0, text.find('\n')), name,
                       [&](std::span<const std::string_view> fields, std::size_t) -> Result<void> {
                         if (!kind) kind = kind_of(fields);
                         return {};
                       });
  if (read && kind) return *kind;
  return fail(ErrorCode::bad_input,
              fmt::format("{}: is not an SQLite database, nor a table of counters (CSV)", name),
              "give rocpd databases (…_results.db), rocprofv3's …_counter_collection.csv, or "
              "rocprof-compute's pmc_perf.csv or results_*.csv");
}

/// <pid>_agent_info.csv beside <pid>_counter_collection.csv, else the only one of the folder; empty
/// when there is none.
fs::path agent_info_beside(const fs::path& table) {
  const std::string name = table.filename().string();
  std::error_code ignored;
  if (name.ends_with(kCollection)) {
    const fs::path same_prefix =
        table.parent_path() /
        (name.substr(0, name.size() - kCollection.size()) + std::string(kAgentInfo));
    if (fs::is_regular_file(same_prefix, ignored)) return same_prefix;
  }
  const fs::path folder = table.parent_path().empty() ? "." : table.parent_path();
  fs::path only;
  for (fs::directory_iterator entry(folder, ignored), end; entry != end; entry.increment(ignored)) {
    if (ignored) break;
    if (!entry->path().filename().string().ends_with(kAgentInfo)) continue;
    if (!only.empty()) return {};  // whose?
    only = entry->path();
  }
  return only;
}

fs::path machine_file(const fs::path& table, Kind kind) {
  if (kind == Kind::rocprofv3) return agent_info_beside(table);
  fs::path sysinfo = table.parent_path() / "sysinfo.csv";
  std::error_code ignored;
  return fs::exists(sysinfo, ignored) ? sysinfo : fs::path{};
}

}  // namespace

Result<std::vector<Recording>> parse(const TableText& table) {
  PERFLAB_TRY(const Kind kind, kind_of_text(table.text, table.name));
  auto machine = std::make_shared<SystemInfo>();
  if (!table.machine_name.empty()) {
    PERFLAB_TRY(*machine, kind == Kind::rocprofv3
                              ? read_agent_info(table.machine_text, table.machine_name)
                              : read_sysinfo(table.machine_text, table.machine_name));
  }
  return read_table(table.text, table.name, kind, std::move(machine));
}

Result<std::vector<Recording>> read_file(const fs::path& path) {
  PERFLAB_TRY(const std::string text, perflab::read_file(path));
  const std::string name = path.string();
  PERFLAB_TRY(const Kind kind, kind_of_text(text, name));
  const fs::path machine = machine_file(path, kind);
  std::string machine_text;
  if (!machine.empty()) {
    PERFLAB_TRY(machine_text, perflab::read_file(machine));
  }
  const std::string machine_name = machine.string();
  return parse(
      {.text = text, .name = name, .machine_text = machine_text, .machine_name = machine_name});
}

}  // namespace perflab::trace::counter_csv
