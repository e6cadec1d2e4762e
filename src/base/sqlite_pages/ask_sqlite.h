// Why a table, or some of its rows, cannot be read from its pages: SQLite itself is then asked.
#pragma once

#include <cstdint>
#include <expected>
#include <string_view>

#include "base/enum_names.h"

namespace perflab::sqlite_pages {

/// None of these is an error: SQLite can read it, or says what is wrong with it.
enum class AskSqlite : std::uint8_t {
  not_wanted,
  unreadable,
  unlocked,
  unusual_header,
  other_encoding,
  write_ahead_log,
  journal,
  no_such_table,
  generated_column,
  indexed,
  damaged_tree,
  damaged_page,
  overflow,
  column_default,
  conversion,
};

inline std::string_view to_string(AskSqlite reason) {
  static constexpr auto kNames = enum_names<AskSqlite>({
      {AskSqlite::not_wanted, "the caller wants SQLite to read it"},
      {AskSqlite::unreadable, "its bytes cannot be read"},
      {AskSqlite::unlocked, "it is read without locks"},
      {AskSqlite::unusual_header, "its header is unusual"},
      {AskSqlite::other_encoding, "its text is not UTF-8"},
      {AskSqlite::write_ahead_log, "its write-ahead log has frames"},
      {AskSqlite::journal, "a journal lies beside it"},
      {AskSqlite::no_such_table, "no table with a tree of row ids"},
      {AskSqlite::generated_column, "a generated or hidden column"},
      {AskSqlite::indexed, "an index may decide the order of the rows"},
      {AskSqlite::damaged_tree, "the tree of its pages is not in order"},
      {AskSqlite::damaged_page, "a page is not what it should be"},
      {AskSqlite::overflow, "a wanted value lies on overflow pages"},
      {AskSqlite::column_default, "rows from before a column with a default was added"},
      {AskSqlite::conversion, "a number where a text is wanted"},
  });
  return kNames[reason];
}

template <class T>
using FromPages = std::expected<T, AskSqlite>;

}  // namespace perflab::sqlite_pages
