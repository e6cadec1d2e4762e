// Numbered folders by mkdir(2), and a walk over what a run left.
#include "collect/run_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "base/system/files.h"
#include "base/text/numbers.h"

namespace perflab::collect {
namespace {

namespace fs = std::filesystem;

constexpr int kAttempts = 10'000;  // as many processes would have to take a number from us

/// The number that a folder's name stands for, if it is one.
std::optional<std::uint32_t> number_of(const std::string& name) {
  constexpr std::size_t kMostDigits = 9;  // no overflow, and no one collects more often
  return name.size() > kMostDigits ? std::nullopt : whole_number<std::uint32_t>(name);
}

constexpr const char* kFirstRun = "run_1";

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

std::uint32_t highest_number_in(const fs::path& root) {
  std::uint32_t highest = 0;
  std::error_code error;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error))
    highest = std::max(highest, number_of(it->path().filename().string()).value_or(0));
  return highest;
}

std::unexpected<Error> cannot_make(const fs::path& path, int error_number) {
  return fail(
      ErrorCode::usage,
      fmt::format("{}: the folder cannot be made: {}", path.string(), errno_text(error_number)),
      "choose a place that can be written with --out");
}

bool has_database_name(const fs::path& path) {
  const std::string name = path.filename().string();
  return name == "results.db" || name.ends_with("_results.db");
}

/// SQLite keeps a non-empty rollback journal exactly while a transaction is open.
bool has_hot_journal(const fs::path& database) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(database.string() + "-journal", error);
  return !error && size > 0;
}

/// Why a file of a database's name is none; nothing when it is one, and `size` is set.
std::optional<std::string> fault_of(const fs::directory_entry& entry, std::uintmax_t& size) {
  std::error_code error;
  const fs::file_status status = entry.symlink_status(error);
  if (error || !fs::is_regular_file(status)) return "is not a regular file";
  size = entry.file_size(error);
  if (error) return fmt::format("cannot be examined: {}", error.message());
  if (size == 0) return "is empty (0 bytes)";
  return std::nullopt;
}

void examine(const fs::directory_entry& entry, FoundDatabases& found) {
  std::uintmax_t size = 0;
  if (const auto fault = fault_of(entry, size)) {
    found.rejected.push_back(fmt::format("{}: {}", entry.path().string(), *fault));
    return;
  }
  found.databases.push_back({.path = entry.path(),
                             .size = Bytes{static_cast<std::int64_t>(size)},
                             .unfinished = has_hot_journal(entry.path())});
}

}  // namespace

Result<fs::path> make_collection_folder(const fs::path& root) {
  PERFLAB_TRY_VOID(make_directories(root));
  std::error_code error;
  const fs::path absolute_root = fs::absolute(root, error).lexically_normal();
  if (error) return cannot_make(root, error.value());
  std::uint32_t number = highest_number_in(absolute_root);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    fs::path folder = absolute_root / fmt::format("{:04}", ++number);
    if (::mkdir(folder.c_str(), 0777) == 0) return folder;
    if (errno != EEXIST) return cannot_make(folder, errno);
  }
  return cannot_make(absolute_root, EEXIST);
}

Result<fs::path> make_run_folder(const fs::path& collection, int number) {
  fs::path folder = collection / fmt::format("run_{}", number);
  if (::mkdir(folder.c_str(), 0777) != 0) return cannot_make(folder, errno);
  return folder;
}

fs::path latest_run(const fs::path& place) {
  if (is_folder(place / kFirstRun)) return place / kFirstRun;
  const fs::path kept = place / kProfileRoot, root = is_folder(kept) ? kept : place;
  std::uint32_t highest = 0;
  fs::path newest = place;
  std::error_code error;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    const std::uint32_t number = number_of(it->path().filename().string()).value_or(0);
    if (number <= highest || !is_folder(it->path() / kFirstRun)) continue;
    highest = number;
    newest = it->path() / kFirstRun;
  }
  return newest;
}

std::vector<fs::path> latest_runs_of_ranks(const fs::path& place) {
  constexpr std::string_view kRank = "rank_";
  std::vector<std::pair<std::uint32_t, fs::path>> ranks;
  std::error_code error;
  for (fs::directory_iterator it(place, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(kRank) || !is_folder(it->path())) continue;
    if (const auto number = number_of(name.substr(kRank.size())))
      ranks.emplace_back(*number, latest_run(it->path()));
  }
  if (ranks.empty()) return {latest_run(place)};
  std::ranges::sort(ranks);
  std::vector<fs::path> runs;
  for (auto& [number, run] : ranks) runs.push_back(std::move(run));
  return runs;
}

FoundDatabases find_databases(const fs::path& run_folder) {
  FoundDatabases found;
  std::error_code error;
  for (fs::recursive_directory_iterator
           it(run_folder, fs::directory_options::skip_permission_denied, error),
       end;
       !error && it != end; it.increment(error)) {
    if (has_database_name(it->path())) examine(*it, found);
  }
  if (error)
    found.rejected.push_back(
        fmt::format("{}: cannot be searched: {}", run_folder.string(), error.message()));
  std::ranges::sort(found.databases, {}, &DatabaseFile::path);
  std::ranges::sort(found.rejected);
  return found;
}

}  // namespace perflab::collect
