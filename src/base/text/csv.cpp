// CSV on libcsv's event parser in its strict mode. The text is handed to it line by line, so that
// messages can name the line that a row begins in. Lines that are plain rows, in profilers' tables
// all of them, are cut here instead: libcsv takes several times as long.
#include "base/text/csv.h"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/parallel.h"

namespace perflab {
namespace {

std::unexpected<Error> bad(std::string message) {
  return fail(ErrorCode::bad_input, std::move(message));
}

/// Rows are held whole. Longer ones are no table, or a quote that nobody closed.
constexpr std::size_t kLongestRow = std::size_t{1} << 24;

/// The error for one; `line` is where it begins.
std::unexpected<Error> too_long(std::string_view name, std::size_t line) {
  return bad(fmt::format("{}: the row of line {} is longer than 16 MiB: is no table", name, line));
}

/// The parser with the fields of the row that is being read. Its callbacks go through C, so that
/// they must not throw; they only collect.
class Parser {
 public:
  Parser() {
    // Fails for a null pointer only.
    csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI);
    // RFC 4180: blanks are part of a field.
    csv_set_space_func(&parser_, [](unsigned char) { return 0; });
    // A long field grows in steps of this; the default of 128 bytes copies it over and over.
    csv_set_blk_size(&parser_, std::size_t{1} << 16);
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser() { csv_free(&parser_); }

  /// False: the text is no CSV. A row that ended is in fields().
  bool feed(std::string_view text) {
    return csv_parse(&parser_, text.data(), text.size(), &on_field, &on_row, this) == text.size();
  }
  bool finish() { return csv_fini(&parser_, &on_field, &on_row, this) == 0; }

  /// Between two rows, not within one.
  [[nodiscard]] bool at_row_start() const { return ends_.empty() && parser_.entry_pos == 0; }

  /// Rows that have ended since the last call; views into this object.
  template <class Visit>
  Result<void> take_rows(const Visit& visit) {
    std::size_t field = 0;
    for (const std::size_t row_end : row_ends_) {
      views_.clear();
      for (; field < row_end; ++field) {
        const std::size_t start = field == 0 ? 0 : ends_[field - 1];
        views_.push_back(std::string_view(bytes_).substr(start, ends_[field] - start));
      }
      PERFLAB_TRY_VOID(visit(std::span<const std::string_view>(views_)));
    }
    if (!row_ends_.empty()) {
      const std::size_t used = row_ends_.back();
      const std::size_t used_bytes = ends_[used - 1];
      bytes_.erase(0, used_bytes);
      ends_.erase(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(used));
      for (std::size_t& end : ends_) end -= used_bytes;
      row_ends_.clear();
    }
    return {};
  }

 private:
  static void on_field(void* bytes, std::size_t size, void* self) {
    auto& parser = *static_cast<Parser*>(self);
    parser.bytes_.append(static_cast<const char*>(bytes), size);
    parser.ends_.push_back(parser.bytes_.size());
  }
  static void on_row(int, void* self) {
    auto& parser = *static_cast<Parser*>(self);
    parser.row_ends_.push_back(parser.ends_.size());
  }

  csv_parser parser_{};
  std::string bytes_;              ///< of all fields that were not taken
  std::vector<std::size_t> ends_;  ///< of the fields, in bytes_
  std::vector<std::size_t> row_ends_;
  std::vector<std::string_view> views_;
};

/// Appends the fields of a line that is a row without doubled quotes or line breaks in it, as views
/// into it (none: the line is empty). False: it is not that simple, and libcsv has to say what it
/// is.
bool cut_plain_row(std::string_view line, std::vector<std::string_view>& fields) {
  if (!line.ends_with('\n')) return false;
  line.remove_suffix(line.ends_with("\r\n") ? 2 : 1);
  if (line.empty()) return true;
  const char* at = line.data();
  const char* const end = at + line.size();
  while (true) {
    const char* field = at;
    if (at != end && *at == '"') {
      ++field;
      at = static_cast<const char*>(std::memchr(field, '"', static_cast<std::size_t>(end - field)));
      if (at == nullptr) return false;
      fields.emplace_back(field, at);
      ++at;
    } else {
      while (at != end && *at != ',' && *at != '"' && *at != '\r') ++at;
      fields.emplace_back(field, at);
    }
    if (at == end) return true;
    if (*at++ != ',') return false;
  }
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

/// The line that a text begins with, its end included.
std::string_view first_line(std::string_view text) {
  const std::size_t end = text.find('\n');
  return end == std::string_view::npos ? text : text.substr(0, end + 1);
}

/// Some lines of a text, cut into rows as far as all of them are plain.
struct Piece {
  struct Row {
    std::size_t end = 0;   ///< of its fields
    std::size_t line = 0;  ///< within the piece, from 1 on
  };
  std::string_view text;
  bool plain = true;
  std::vector<std::string_view> fields;
  std::vector<Row> rows;
  std::size_t lines = 0;

  void cut() {
    fields.clear();
    rows.clear();
    lines = 0;
    plain = text.find('\0') == std::string_view::npos;
    for (std::string_view rest = text; plain && !rest.empty();) {
      const std::string_view line = first_line(rest);
      rest.remove_prefix(line.size());
      ++lines;
      const std::size_t before = fields.size();
      plain = cut_plain_row(line, fields);
      if (fields.size() > before) rows.push_back({.end = fields.size(), .line = lines});
    }
  }
};

/// Pieces of a text, which end where lines do, in a buffer each. A piece that was handed out is
/// valid until the call after the next one.
class Pieces {
 public:
  Pieces(const ReadBytes& read, std::string_view name) : read_(read), name_(name) {}

  /// The next piece, cut; nullptr: there is none. Errors: those of reading, and (bad_input) a line
  /// that is too long.
  Result<const Piece*> next() {
    constexpr std::size_t kSize = std::size_t{1} << 19;  // of text and rows: a core's cache
    std::vector<char>& buffer = buffers_[turn_];
    buffer.resize(std::max(buffer.size(), rest_.size() + kSize));
    std::ranges::copy(rest_, buffer.begin());
    std::size_t size = rest_.size(), whole = 0;
    while (whole == 0) {
      if (size > kLongestRow) return too_long(name_, lines_ + 1);
      if (size == buffer.size()) buffer.resize(2 * size);
      PERFLAB_TRY(const std::size_t many, read_(buffer.data() + size, buffer.size() - size));
      size += many;
      const std::string_view text(buffer.data(), size);
      whole = many == 0 ? size : text.rfind('\n') + 1;  // npos + 1: a line longer than that
      if (size == 0) return nullptr;
    }
    Piece& piece = pieces_[turn_];
    piece.text = std::string_view(buffer.data(), whole);
    rest_ = std::string_view(buffer.data(), size).substr(whole);
    if (std::exchange(first_, false)) piece.text = without_byte_order_mark(piece.text);
    piece.cut();
    lines_ +=
        piece.plain ? piece.lines : static_cast<std::size_t>(std::ranges::count(piece.text, '\n'));
    turn_ = 1 - turn_;
    return &piece;
  }

 private:
  const ReadBytes& read_;
  std::string_view name_;
  std::size_t lines_ = 0;  ///< of the pieces before
  std::array<std::vector<char>, 2> buffers_;
  std::array<Piece, 2> pieces_;
  std::size_t turn_ = 0;
  std::string_view rest_;  ///< of the other buffer: a line that has not ended
  bool first_ = true;
};

/// Hands over the rows of a text that comes in pieces.
class Rows {
 public:
  Rows(std::string_view name, const CsvRowVisitor& visit) : name_(name), visit_(visit) {}

  Result<void> feed(const Piece& piece) {
    if (!piece.plain || !parser_.at_row_start()) return feed(piece.text);
    const std::span fields(piece.fields);
    std::size_t begin = 0;
    for (const Piece::Row& row : piece.rows) {
      row_line_ = line_ + row.line;
      PERFLAB_TRY_VOID(take(fields.subspan(begin, row.end - begin)));
      begin = row.end;
    }
    line_ += piece.lines;
    return {};
  }

  /// Takes whole lines; only the last piece of all may end within one.
  Result<void> feed(std::string_view text) {
    const bool has_nul = text.find('\0') != std::string_view::npos;
    while (!text.empty()) {
      const std::string_view line = first_line(text);
      text.remove_prefix(line.size());
      ++line_;
      if (parser_.at_row_start()) {
        row_line_ = line_;
        row_bytes_ = 0;
        plain_.clear();
        if (!has_nul && cut_plain_row(line, plain_)) {
          if (!plain_.empty()) PERFLAB_TRY_VOID(take(plain_));
          continue;
        }
      }
      row_bytes_ += line.size();
      if (row_bytes_ > kLongestRow) return too_long(name_, row_line_);
      if (has_nul && line.find('\0') != std::string_view::npos)
        return bad(fmt::format("{}: line {} holds a NUL byte", name_, line_));
      if (!parser_.feed(line))
        return bad(fmt::format("{}: line {} has a quote in the middle of a field", name_, line_));
      PERFLAB_TRY_VOID(parser_.take_rows([&](auto fields) { return take(fields); }));
    }
    return {};
  }

  Result<void> finish() {
    if (!parser_.finish())
      return bad(fmt::format("{}: the quote of line {} is never closed", name_, row_line_));
    PERFLAB_TRY_VOID(parser_.take_rows([&](auto fields) { return take(fields); }));
    if (columns_ == 0) return bad(fmt::format("{}: has no header line", name_));
    return {};
  }

 private:
  Result<void> take(std::span<const std::string_view> fields) {
    if (columns_ == 0) columns_ = fields.size();
    if (fields.size() != columns_)
      return bad(fmt::format("{}: line {} has {} field{}, the header has {}", name_, row_line_,
                             fields.size(), fields.size() == 1 ? "" : "s", columns_));
    return visit_(fields, row_line_);
  }

  std::string_view name_;
  const CsvRowVisitor& visit_;
  Parser parser_;
  std::vector<std::string_view> plain_;
  std::size_t columns_ = 0;  ///< 0: no header yet
  std::size_t line_ = 0, row_line_ = 1;
  std::size_t row_bytes_ = 0;  ///< of a row that libcsv has not ended
};

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::ranges::find(header, name);
  if (found == header.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header.begin());
}

Result<void> for_each_csv_row(std::string_view text, std::string_view name,
                              const CsvRowVisitor& visit) {
  Rows rows(name, visit);
  PERFLAB_TRY_VOID(rows.feed(without_byte_order_mark(text)));
  return rows.finish();
}

Result<void> for_each_csv_row(const ReadBytes& read, std::string_view name,
                              const CsvRowVisitor& visit, unsigned threads) {
  Rows rows(name, visit);
  Pieces pieces(read, name);
  PERFLAB_TRY(const Piece* piece, pieces.next());
  while (piece != nullptr) {
    Result<const Piece*> next = nullptr;
    PERFLAB_TRY_VOID(
        parallel_for(2, thread_count(threads), [&](unsigned, std::size_t part) -> Result<void> {
          if (part == 0) return rows.feed(*piece);
          next = pieces.next();
          return {};
        }));
    PERFLAB_TRY(piece, std::move(next));
  }
  return rows.finish();
}

Result<CsvTable> parse_csv(std::string_view text, std::string_view name) {
  CsvTable table;
  PERFLAB_TRY_VOID(for_each_csv_row(
      text, name, [&](std::span<const std::string_view> fields, std::size_t) -> Result<void> {
        std::vector<std::string> row(fields.begin(), fields.end());
        if (table.header.empty())
          table.header = std::move(row);
        else
          table.rows.push_back(std::move(row));
        return {};
      }));
  return table;
}

}  // namespace perflab
