// Finds what rocprofv3 wrote for each traced dispatch (docs/facts/thread_trace.md "Folders"):
// ui_output folders, and stats files with and without one.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "att/parse.h"
#include "att/read_thread_trace.h"

namespace perflab::att {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolderPrefix = "ui_output_", kStatsPrefix = "stats_",
                           kStatsEnd = ".csv";
constexpr int kMostLevels = 3;

bool is_stats_name(std::string_view name) {
  return name.starts_with(std::string(kStatsPrefix) + std::string(kFolderPrefix)) &&
         name.ends_with(kStatsEnd);
}

/// "stats_ui_output_1.csv" -> "ui_output_1"; other names lose their ".csv" only.
std::string name_of_stats(const fs::path& file) {
  std::string name = file.filename().string();
  if (name.ends_with(kStatsEnd)) name.resize(name.size() - kStatsEnd.size());
  if (name.starts_with(kStatsPrefix)) name.erase(0, kStatsPrefix.size());
  return name;
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// Whether a folder is one of a dispatch, whatever it is called.
bool is_output_folder(const fs::path& folder) {
  return folder.filename().string().starts_with(kFolderPrefix) ||
         is_file(folder / "filenames.json") || is_file(folder / "code.json");
}

Found found_folder(const fs::path& folder) {
  Found found{.folder = folder, .stats = {}, .name = folder.filename().string()};
  fs::path stats =
      folder.parent_path() / (std::string(kStatsPrefix) + found.name + std::string(kStatsEnd));
  if (is_file(stats)) found.stats = std::move(stats);
  return found;
}

/// What lies below a folder.
struct Listing {
  std::vector<Found> found;
  bool raw = false;  ///< .att files: streams that were not decoded
};

/// `level` 0 is the folder that was named.
Result<void> list_below(const fs::path& folder, int level, Listing& listing) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    const std::string name = path.filename().string();
    if (is_folder(path)) {
      if (is_output_folder(path))
        listing.found.push_back(found_folder(path));
      else if (level + 1 < kMostLevels && !entry->is_symlink())
        // What cannot be opened further down is none of ours.
        static_cast<void>(list_below(path, level + 1, listing));
    } else if (is_stats_name(name)) {
      if (!is_folder(folder / name_of_stats(path)))
        listing.found.push_back({.folder = {}, .stats = path, .name = name_of_stats(path)});
    } else if (name.ends_with(".att")) {
      listing.raw = true;
    }
  }
  if (error)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: cannot be listed: {}", folder.string(), error.message()));
  return {};
}

/// A name with its numbers as numbers: ("ui_output_agent_", 7, "_dispatch_", 12, "").
std::vector<std::pair<std::string, std::uint64_t>> by_numbers(std::string_view name) {
  std::vector<std::pair<std::string, std::uint64_t>> parts(1);
  bool in_number = false;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && in_number) parts.emplace_back();
    if (digit)
      parts.back().second = parts.back().second * 10 + static_cast<std::uint64_t>(c - '0');
    else
      parts.back().first += c;
    in_number = digit;
  }
  return parts;
}

/// By name with its numbers as numbers, then by place.
void sort_found(std::vector<Found>& all) {
  std::ranges::sort(all, {}, [](const Found& found) {
    return std::tuple(by_numbers(found.name), found.folder.string(), found.stats.string());
  });
}

std::unexpected<Error> nothing_found(const fs::path& place, bool raw) {
  if (raw)
    return fail(
        ErrorCode::bad_input,
        fmt::format("{}: holds raw thread traces (.att) that were never decoded", place.string()),
        "install librocprof-trace-decoder.so (github.com/ROCm/rocprof-trace-decoder), "
        "name its folder with --att-library-path or ROCPROF_ATT_LIBRARY_PATH, and record "
        "again: rocprofv3 decodes when it has the library");
  return fail(ErrorCode::bad_input,
              fmt::format("{}: holds no thread trace (ui_output_* folder or stats_ui_output_*.csv)",
                          place.string()),
              "give the folder that rocprofv3 --att -d wrote to");
}

}  // namespace

Result<std::vector<Found>> find(const fs::path& place) {
  std::error_code error;
  const fs::file_status status = fs::status(place, error);
  if (!fs::exists(status))
    return fail(ErrorCode::bad_input, fmt::format("{}: does not exist", place.string()));
  if (fs::is_regular_file(status)) {
    if (place.filename().string().contains("pc_sampling_"))
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: is a table of PC samples, and no thread trace", place.string()),
                  "give it with --pc-samples");
    if (!place.filename().string().ends_with(kStatsEnd))
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: is neither a folder with thread traces nor a stats file of one "
                              "(stats_ui_output_*.csv)",
                              place.string()),
                  "give the folder that rocprofv3 --att -d wrote to");
    return std::vector<Found>{{.folder = {}, .stats = place, .name = name_of_stats(place)}};
  }
  if (!fs::is_directory(status))
    return fail(ErrorCode::bad_input,
                fmt::format("{}: is neither a folder nor a file", place.string()));
  // Without "/" at the end and "." in it the last part is the folder's name.
  fs::path folder = fs::weakly_canonical(place, error);
  if (!error && is_output_folder(folder)) {
    // Messages and parents as they were given, where they have the name.
    const bool named = place.has_filename() && place.filename() == folder.filename();
    return std::vector<Found>{found_folder(named ? place : folder)};
  }
  Listing listing;
  PERFLAB_TRY_VOID(list_below(place, 0, listing));
  if (listing.found.empty()) return nothing_found(place, listing.raw);
  sort_found(listing.found);
  return std::move(listing.found);
}

Result<std::vector<Found>> find_all(const std::vector<fs::path>& places) {
  std::vector<Found> all;
  std::set<fs::path> seen;
  for (const fs::path& place : places) {
    PERFLAB_TRY(const std::vector<Found> found, find(place));
    for (const Found& one : found) {
      std::error_code ignored;
      const fs::path& path = one.folder.empty() ? one.stats : one.folder;
      if (seen.insert(fs::weakly_canonical(path, ignored)).second) all.push_back(one);
    }
  }
  sort_found(all);
  return all;
}

}  // namespace perflab::att
