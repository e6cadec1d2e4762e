// A table's rows by the names of its columns, whatever their order and capitals: rocprofv3 writes
// LDS_Block_Size, `rocpd convert` Lds_Block_Size. Internal to this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace perflab::trace::trace_csv {

/// Columns that are looked for, each by any of its spellings; the first is for messages.
struct Wanted {
  std::initializer_list<std::string_view> names;
  bool required = false;
};

/// One row: fields in the order in which columns were asked for.
class Row {
 public:
  Row(std::span<const std::string_view> fields, std::span<const std::optional<std::size_t>> places)
      : fields_(fields), places_(places) {}

  /// The text of the column; empty where the table has none.
  [[nodiscard]] std::string_view text(std::size_t column) const {
    return places_[column] ? fields_[*places_[column]] : std::string_view{};
  }
  /// Its number from 0 on ("12", "0x0c"); nullopt: none, or no column.
  [[nodiscard]] std::optional<std::int64_t> number(std::size_t column) const;
  /// The same for what uses all 64 bits.
  [[nodiscard]] std::optional<std::uint64_t> whole(std::size_t column) const;

 private:
  std::span<const std::string_view> fields_;
  std::span<const std::optional<std::size_t>> places_;
};

/// Calls visit(row) for each row behind the header. Errors (bad_input) name the file: a column that
/// is required is missing, the table is broken, and those of the visitor.
Result<void> for_each_row(std::string_view text, std::string_view file,
                          std::span<const Wanted> wanted,
                          const std::function<Result<void>(const Row&)>& visit);

}  // namespace perflab::trace::trace_csv
