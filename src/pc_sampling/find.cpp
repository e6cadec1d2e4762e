// Names that rocprofv3 gives its files (docs/facts/pc_sampling.md "Files").
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <system_error>

#include "pc_sampling/read_database.h"
#include "pc_sampling/read_pc_samples.h"

namespace perflab::pc_sampling {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLevels = 3;
constexpr std::string_view kJsonEnd = "results.json";
constexpr std::array<std::string_view, 2> kCsvEnds = {"pc_sampling_stochastic.csv",
                                                      "pc_sampling_host_trap.csv"};

/// What lies below a folder.
struct PcFiles {
  std::vector<fs::path> found;
  bool databases = false, thread_traces = false;
};

bool is_csv_of_json(const fs::path& csv) {
  const std::string name = csv.filename().string();
  for (const std::string_view end : kCsvEnds)
    if (name.ends_with(end)) {
      std::error_code ignored;
      std::string json = name.substr(0, name.size() - end.size());
      json += kJsonEnd;
      return fs::is_regular_file(csv.parent_path() / json, ignored);
    }
  return false;
}

Result<void> list_pc_files(const fs::path& folder, int level, PcFiles& files) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    const std::string name = path.filename().string();
    std::error_code ignored;
    if (entry->is_directory(ignored)) {
      if (name.starts_with("ui_output_")) files.thread_traces = true;
      if (level + 1 < kMostLevels && !entry->is_symlink(ignored))
        // What cannot be opened further down is none of ours.
        static_cast<void>(list_pc_files(path, level + 1, files));
      continue;
    }
    const bool is_csv = std::ranges::any_of(
        kCsvEnds, [&](std::string_view csv_end) { return name.ends_with(csv_end); });
    if (name.ends_with(kJsonEnd) || (is_csv && !is_csv_of_json(path))) files.found.push_back(path);
    if (!name.ends_with(".db")) continue;
    files.databases = true;
    if (has_pc_samples(path)) files.found.push_back(path);
  }
  if (error)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: cannot be listed: {}", folder.string(), error.message()));
  return {};
}

}  // namespace

Result<std::vector<fs::path>> find(const fs::path& place) {
  std::error_code error;
  const fs::file_status status = fs::status(place, error);
  if (!fs::exists(status))
    return fail(ErrorCode::bad_input, fmt::format("{}: does not exist", place.string()));
  if (!fs::is_directory(status)) return std::vector<fs::path>{place};
  PcFiles files;
  PERFLAB_TRY_VOID(list_pc_files(place, 0, files));
  if (files.found.empty()) {
    const std::string_view instead = files.databases
                                         ? ": its databases have none, whatever was sampled"
                                     : files.thread_traces ? ": its thread traces are for --att"
                                                           : "";
    return fail(ErrorCode::bad_input,
                fmt::format("{}: holds no PC samples{}", place.string(), instead),
                std::string(kRecordAgain));
  }
  std::ranges::sort(files.found);
  return std::move(files.found);
}

}  // namespace perflab::pc_sampling
