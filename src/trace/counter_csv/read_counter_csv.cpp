// Which table a text is, and the file about the machine beside it.
#include "trace/counter_csv/read_counter_csv.h"

#include "base/byte_source.h"
#include "base/system/files.h"
#include "trace/counter_csv/table.h"

namespace perflab::trace::counter_csv {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCollection = "counter_collection.csv";
constexpr std::string_view kAgentInfo = "agent_info.csv";

/// The recordings of a table with the text of the file about the machine; no name: there is none.
Result<std::vector<Recording>> finish(TableRows rows, std::string_view name,
                                      std::string_view machine_text,
                                      std::string_view machine_name) {
  auto machine = std::make_shared<SystemInfo>();
  if (!machine_name.empty()) {
    PERFLAB_TRY(*machine, rows.kind == Kind::rocprofv3 ? read_agent_info(machine_text, machine_name)
                                                       : read_sysinfo(machine_text, machine_name));
  }
  return finish_rows(std::move(rows), name, std::move(machine));
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
  PERFLAB_TRY(TableRows rows, read_rows(bytes_of_text(table.text), table.name, 1));
  return finish(std::move(rows), table.name, table.machine_text, table.machine_name);
}

Result<std::vector<Recording>> read_file(const fs::path& path, unsigned threads) {
  PERFLAB_TRY(const ReadBytes read, bytes_of_file(path));
  const std::string name = path.string();
  PERFLAB_TRY(TableRows rows, read_rows(read, name, threads));
  const fs::path machine = machine_file(path, rows.kind);
  std::string machine_text;
  if (!machine.empty()) {
    PERFLAB_TRY(machine_text, perflab::read_file(machine));
  }
  return finish(std::move(rows), name, machine_text, machine.string());
}

}  // namespace perflab::trace::counter_csv
