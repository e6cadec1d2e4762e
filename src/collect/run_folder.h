// The folders that runs write to, and the databases found in them. Every collection gets the next
// free number below the root (".rocpd_profile/0001"), every run its own folder in it ("run_1"): no
// run can ever read another's database. File names: rocprofv3's "<host>/<pid>_results.db".
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace perflab::collect {

/// The folder in which collections stand, below the one that a profile was taken in.
inline constexpr const char* kProfileRoot = ".rocpd_profile";

/// One database that a run left.
struct DatabaseFile {
  std::filesystem::path path;
  Bytes size;
  bool unfinished = false;  ///< a rollback journal lies beside it: the writer was ended mid-write
};

/// What lies in a run's folder. Both lists are sorted by path.
struct FoundDatabases {
  std::vector<DatabaseFile> databases;  ///< regular, not empty; symbolic links are not followed
  std::vector<std::string> rejected;    ///< one clause for each other file of a database's name
};

/// Makes root/NNNN, NNNN one above the highest number there (at least four digits), together with
/// the root when it is missing. mkdir(2) decides between processes that try at the same time.
/// The path is absolute. Error (usage): the place cannot be written.
Result<std::filesystem::path> make_collection_folder(const std::filesystem::path& root);

/// Makes collection/run_<number>. Error (usage): it exists or cannot be made.
Result<std::filesystem::path> make_run_folder(const std::filesystem::path& collection, int number);

/// The folder of one run that a profile's folder stands for: of a folder with kProfileRoot in
/// it, of that root itself, or of one collection, run_1 of the collection with the highest number
/// that has one. Any other place is itself.
std::filesystem::path latest_run(const std::filesystem::path& place);

/// The newest run of each rank of a job: of every folder "rank_NNNN" below `place` (each rank of a
/// job that is profiled writes to its own), by number. Without such folders latest_run(place), in
/// which a launcher's processes left a database each.
std::vector<std::filesystem::path> latest_runs_of_ranks(const std::filesystem::path& place);

/// Every "*_results.db" and "results.db" below the folder. What cannot be read is in `rejected`.
FoundDatabases find_databases(const std::filesystem::path& run_folder);

}  // namespace perflab::collect
