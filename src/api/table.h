// A table of the C interface: columns over memory that somebody else owns (the Trace), or that was
// made for the column. Names are codes with a list of the distinct ones, as pandas (Categorical)
// and Arrow (dictionary) keep them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/perflab.h"
#include "base/error.h"
#include "trace/trace.h"

namespace perflab::api {

/// The distinct names of a column, in the order of their bytes: name i is
/// bytes[offsets[i], offsets[i + 1]), always valid UTF-8.
struct Names {
  std::vector<std::int32_t> offsets = {0};
  std::string bytes;

  [[nodiscard]] std::size_t size() const { return offsets.size() - 1; }
  /// Appends a name. Throws std::length_error when all of them exceed 2 GiB.
  void add(std::string_view name);
};

/// One column. `data` has as many values as the table has rows.
struct Column {
  const char* name = "";
  const char* unit = "";  ///< "ns", "bytes"; empty: none
  int type = 0;           ///< PERFLAB_INT8, ...
  const void* data = nullptr;
  bool may_be_none = false;                 ///< -1 stands for none
  const char* of = nullptr;                 ///< the table whose row numbers the values are
  std::shared_ptr<const Names> names = {};  ///< what the values are codes of
  std::shared_ptr<const void> made = {};    ///< owns `data` where it is not the Trace's
};

struct Table {
  std::size_t rows = 0;
  std::vector<Column> columns = {};
};

/// PERFLAB_INT8 and so on of a C++ type.
template <class T>
constexpr int type_of() {
  if constexpr (std::is_same_v<T, std::int8_t>) return PERFLAB_INT8;
  if constexpr (std::is_same_v<T, std::int16_t>) return PERFLAB_INT16;
  if constexpr (std::is_same_v<T, std::int32_t>) return PERFLAB_INT32;
  if constexpr (std::is_same_v<T, std::int64_t>) return PERFLAB_INT64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return PERFLAB_BOOL8;
  if constexpr (std::is_same_v<T, std::uint32_t>) return PERFLAB_UINT32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return PERFLAB_UINT64;
  if constexpr (std::is_same_v<T, double>) return PERFLAB_FLOAT64;
}

/// Makes a table column by column.
class TableMaker {
 public:
  explicit TableMaker(std::size_t rows) : table_{.rows = rows} {}

  /// A column as it is, which has to outlive the table.
  template <class T>
  void numbers(const char* name, const char* unit, const std::vector<T>& values) {
    PERFLAB_CHECK(values.size() == table_.rows);
    table_.columns.push_back(
        {.name = name, .unit = unit, .type = type_of<T>(), .data = values.data()});
  }

  /// Row numbers of the table `of` as they are: the Trace's kNone has the bits of -1.
  void rows_of(const char* name, const char* of, const std::vector<trace::Index>& values) {
    PERFLAB_CHECK(values.size() == table_.rows);
    table_.columns.push_back({.name = name,
                              .type = PERFLAB_INT32,
                              .data = values.data(),
                              .may_be_none = true,
                              .of = of});
  }

  /// A column of what `value_of(row)` returns.
  template <class ValueOf>
  Column& make(const char* name, const char* unit, ValueOf&& value_of) {
    using T = std::decay_t<decltype(value_of(std::size_t{}))>;
    auto values = std::make_shared<std::vector<T>>(table_.rows);
    for (std::size_t row = 0; row < table_.rows; ++row) (*values)[row] = value_of(row);
    const void* data = values->data();
    table_.columns.push_back({.name = name,
                              .unit = unit,
                              .type = type_of<T>(),
                              .data = data,
                              .made = std::move(values)});
    return table_.columns.back();
  }

  /// Row numbers of the table `of` that `row_of(row)` returns, kNone among them.
  template <class RowOf>
  void make_rows_of(const char* name, const char* of, RowOf&& row_of) {
    Column& column = make(name, "", [&](std::size_t row) {
      return static_cast<std::int32_t>(static_cast<trace::Index>(row_of(row)));
    });
    column.may_be_none = true;
    column.of = of;
  }

  /// A packed column, unpacked.
  template <class T>
  void numbers(const char* name, const char* unit, const PackedColumn<T>& values) {
    make(name, unit, [&](std::size_t row) { return values[row]; });
  }
  void rows_of(const char* name, const char* of, const PackedColumn<trace::Index>& values) {
    make_rows_of(name, of, [&](std::size_t row) { return values[row]; });
  }

  /// Names, by codes of the narrowest type: `key_of(row)` is less than `keys` or kNone, and
  /// `name_of(key)` its name. Keys of one name get one code; names that no row has are left out.
  template <class NameOf, class KeyOf>
  void names(const char* name, std::size_t keys, NameOf&& name_of, KeyOf&& key_of) {
    std::vector<std::int32_t> code_of(keys, -1);
    for (std::size_t row = 0; row < table_.rows; ++row)
      if (const trace::Index key = key_of(row); key != trace::kNone) code_of[key] = 0;
    std::vector<std::pair<std::string, trace::Index>> used;
    for (trace::Index key = 0; key < keys; ++key)
      if (code_of[key] == 0) used.emplace_back(name_of(key), key);
    auto names = number_names(std::move(used), code_of);
    const auto codes = [&]<class Code>(Code) -> Column& {
      return make(name, "", [&](std::size_t row) {
        const trace::Index key = key_of(row);
        return key == trace::kNone ? Code{-1} : static_cast<Code>(code_of[key]);
      });
    };
    // The type that pandas would convert them to (docs/facts/arrow.md "Columns of pandas").
    Column& column = names->size() < INT8_MAX    ? codes(std::int8_t{})
                     : names->size() < INT16_MAX ? codes(std::int16_t{})
                                                 : codes(std::int32_t{});
    column.may_be_none = true;
    column.names = std::move(names);
  }

  /// Names that `name_of(row)` returns, for tables of few rows.
  template <class NameOf>
  void texts(const char* name, NameOf&& name_of) {
    names(name, table_.rows, name_of,
          [](std::size_t row) { return static_cast<trace::Index>(row); });
  }

  [[nodiscard]] Table finish() && { return std::move(table_); }

 private:
  /// Numbers the names in the order of their bytes, and sets the code of each key.
  static std::shared_ptr<const Names> number_names(
      std::vector<std::pair<std::string, trace::Index>> used, std::vector<std::int32_t>& code_of);

  Table table_;
};

/// The Trace of a recording and the tables over it. Tables stay where they are.
class Recording {
 public:
  /// Error (bad_input): a table has more rows than its row numbers can tell (2^31 - 1).
  static Result<std::shared_ptr<Recording>> of(trace::Trace trace);

  /// Name of a table; nullptr from the number of tables on.
  static const char* table_name(std::size_t index);
  /// A table, made when it is first asked for; nullptr: there is none of that name.
  const Table* table(std::string_view name);

 private:
  explicit Recording(trace::Trace trace) : trace_(std::move(trace)) {}

  trace::Trace trace_;
  std::map<std::string, Table, std::less<>> made_;
};

}  // namespace perflab::api
