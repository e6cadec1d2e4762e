// Which files are one set, and the order in which its tables are read.
#include "trace/trace_csv/read_trace_csv.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "base/system/files.h"
#include "trace/counter_csv/read_counter_csv.h"
#include "trace/trace_csv/table_set.h"

namespace perflab::trace::trace_csv {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".csv";
constexpr std::uint64_t kMostTableBytes = std::uint64_t{1} << 33;
/// Bytes of a row, at least.
constexpr std::size_t kBytesPerRow = 64;

/// Tables with times; without any of them there is no set.
constexpr auto kTraces = std::to_array<std::string_view>(
    {kKernelTrace, "hip_api_trace", "hsa_api_trace", "marker_api_trace", "rccl_api_trace",
     "rocdecode_api_trace", "rocjpeg_api_trace", kCopyTrace, kAllocationTrace, kScratchTrace});

/// What stands before the table's name; nullopt: the file is not that table.
std::optional<std::string> prefix_of(std::string_view file, std::string_view table) {
  if (!file.ends_with(kEnding)) return std::nullopt;
  file.remove_suffix(kEnding.size());
  if (!file.ends_with(table)) return std::nullopt;
  file.remove_suffix(table.size());
  if (!file.empty() && !file.ends_with('_')) return std::nullopt;
  return std::string(file);
}

fs::path file_of(const TableSet& set, std::string_view table) {
  return set.folder / (set.prefix + std::string(table) + std::string(kEnding));
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool has_trace(const TableSet& set) {
  return std::ranges::any_of(kTraces,
                             [&](std::string_view table) { return is_there(file_of(set, table)); });
}

/// Gives a table to the part that reads it.
Result<void> read_table(SetLoader& loader, std::string_view table, std::string_view text,
                        std::string_view file) {
  if (table == kAgentInfo) return loader.agents(text, file);
  if (table == kKernelTrace) return loader.kernels(text, file);
  if (table == kCopyTrace) return loader.copies(text, file);
  if (table == kAllocationTrace || table == kScratchTrace) return loader.allocations(text, file);
  return loader.calls(text, file);
}

/// Agents first, since all rows name them; kernels before copies, since a label of both is a GPU.
std::vector<std::string_view> tables_in_order() {
  std::vector<std::string_view> tables = {kAgentInfo, kKernelTrace};
  tables.insert(tables.end(), kCallTraces.begin(), kCallTraces.end());
  tables.insert(tables.end(), {kCopyTrace, kAllocationTrace, kScratchTrace});
  return tables;
}

}  // namespace

std::optional<TableSet> set_of(const fs::path& file) {
  const std::string name = file.filename().string();
  for (const std::string_view table : kTraces)
    if (auto prefix = prefix_of(name, table))
      return TableSet{.folder = file.parent_path(), .prefix = std::move(*prefix)};
  for (const std::string_view table : {kAgentInfo, kCounters})
    if (auto prefix = prefix_of(name, table)) {
      TableSet set{.folder = file.parent_path(), .prefix = std::move(*prefix)};
      if (has_trace(set)) return set;
    }
  return std::nullopt;
}

std::vector<TableSet> sets_in(const fs::path& folder) {
  std::set<TableSet> found;
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, ignored), end; entry != end; entry.increment(ignored)) {
    if (ignored) break;
    if (auto set = set_of(entry->path())) found.insert(std::move(*set));
  }
  return {found.begin(), found.end()};
}

Result<void> load(LoadState& state, const TableSet& set) {
  std::uintmax_t bytes = 0;
  fs::path first;
  for (const std::string_view table : tables_in_order()) {
    const fs::path path = file_of(set, table);
    if (!is_there(path)) continue;
    std::error_code ignored;
    bytes += fs::file_size(path, ignored);
    if (first.empty() && table != kAgentInfo) first = path;
  }
  SetLoader loader(state, first.string(), static_cast<std::size_t>(bytes) / kBytesPerRow);
  for (const std::string_view table : tables_in_order()) {
    const fs::path path = file_of(set, table);
    if (!is_there(path)) continue;
    PERFLAB_TRY(const std::string text, read_file(path, kMostTableBytes));
    PERFLAB_TRY_VOID(read_table(loader, table, text, path.string()));
  }
  if (const fs::path path = file_of(set, kCounters); is_there(path)) {
    PERFLAB_TRY(const std::vector<counter_csv::Recording> recordings, counter_csv::read_file(path));
    for (const counter_csv::Recording& recording : recordings) loader.counters(recording);
  }
  return loader.finish_set();
}

std::vector<fs::path> files_of(const TableSet& set) {
  std::vector<fs::path> files;
  for (const std::string_view table : tables_in_order())
    if (fs::path path = file_of(set, table); is_there(path)) files.push_back(std::move(path));
  if (fs::path path = file_of(set, kCounters); is_there(path)) files.push_back(std::move(path));
  return files;
}

Result<void> load_tables(LoadState& state, const std::vector<NamedTable>& tables,
                         const std::string& file) {
  std::size_t bytes = 0;
  for (const NamedTable& table : tables) bytes += table.text.size();
  SetLoader loader(state, file, bytes / kBytesPerRow);
  for (const std::string_view name : tables_in_order())
    for (const NamedTable& table : tables)
      if (table.name == name)
        PERFLAB_TRY_VOID(read_table(loader, name, table.text, table.name + std::string(kEnding)));
  for (const NamedTable& table : tables) {
    if (table.name != kCounters) continue;
    const std::string name = table.name + std::string(kEnding);
    PERFLAB_TRY(const std::vector<counter_csv::Recording> recordings,
                counter_csv::parse(
                    {.text = table.text, .name = name, .machine_text = {}, .machine_name = {}}));
    for (const counter_csv::Recording& recording : recordings) loader.counters(recording);
  }
  return loader.finish_set();
}

}  // namespace perflab::trace::trace_csv
