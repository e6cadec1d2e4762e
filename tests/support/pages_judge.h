// SQLite as the judge of what src/base/sqlite_pages reads: every table of a file, whole and by
// ranges of row ids, must have the same rows, or SQLite must have been asked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "base/error.h"
#include "base/sqlite_pages/ask_sqlite.h"

namespace perflab::test {

/// What came of reading a file both ways.
struct Judgement {
  /// Why SQLite was asked, how often; a file that cannot be read from its pages counts once.
  std::map<sqlite_pages::AskSqlite, std::uint64_t> asked;
  std::uint64_t scans_from_pages = 0, rows_from_pages = 0;
  std::string difference = {};  ///< the first one in words; empty: there is none
};

/// Error: SQLite cannot even open the file or list its tables.
Result<Judgement> judge_pages(const std::filesystem::path& path);

}  // namespace perflab::test
