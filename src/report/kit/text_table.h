// Aligned text tables for the terminal: columns as wide as needed, one flexible column that is cut
// to fit the width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/printable.h"

namespace perflab::report {

/// Number of terminal columns that a UTF-8 text takes (one per code point; invalid bytes count one
/// each).
std::size_t display_width(std::string_view text);

/// The text in at most `width` columns: the middle is replaced by "…" when it is longer, because
/// kernel names differ at both ends. The result is printable().
std::string fit(std::string_view text, std::size_t width);

/// fit() for a list: texts that would look the same when cut in the middle are cut around the place
/// where they differ.
std::vector<std::string> fit_distinct(const std::vector<std::string>& texts, std::size_t width);

/// A table. The flexible column takes what the others leave of the width (at least 16 columns).
class TextTable {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::right;
    bool flexible = false;
    /// Above 0: left out where the table would be wider than its room, the highest first.
    int expendable = 0;
    /// What a cell is called in so many columns, before it is cut; in more of them where cells
    /// would become the same.
    std::string (*shorter)(std::string_view text, std::size_t width) = nullptr;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One row; as many cells as there are columns.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// The table's lines, each ending in a newline, without trailing blanks, indented by two.
  [[nodiscard]] std::string text(std::size_t width) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths() const;
  /// Columns that fit in the width, in order.
  [[nodiscard]] std::vector<std::size_t> kept(const std::vector<std::size_t>& widths,
                                              std::size_t width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace perflab::report
