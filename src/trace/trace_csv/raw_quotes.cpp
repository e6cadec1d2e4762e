// Finds the end of a text by what follows it: the right number of fields without quotes within,
// then the end of the line. Origin: rocprofiler-sdk source/lib/output/csv.hpp.
#include "trace/trace_csv/raw_quotes.h"

#include <cstddef>
#include <vector>

namespace perflab::trace::trace_csv {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;
/// A text is not longer: the search for its end stops there.
constexpr std::size_t kLongestText = std::size_t{1} << 16;

bool at_line_end(std::string_view text, std::size_t at) {
  return at == text.size() || text[at] == '\n' || text.substr(at, 2) == "\r\n";
}

std::size_t behind_line_end(std::string_view text, std::size_t at) {
  if (at == text.size()) return at;
  return at + (text[at] == '\n' ? 1 : 2);
}

/// Where the field ends that begins here and has no quotes within; kNowhere: it has.
std::size_t end_of_plain(std::string_view text, std::size_t at) {
  std::size_t end = at;
  if (at < text.size() && text[at] == '"') {
    end = text.find('"', at + 1);
    if (end == kNowhere) return kNowhere;
    ++end;
  } else {
    while (!at_line_end(text, end) && text[end] != ',' && text[end] != '"') ++end;
  }
  return at_line_end(text, end) || text[end] == ',' ? end : kNowhere;
}

/// Where the line ends if just these fields follow, a comma before each; kNowhere: they do not.
std::size_t end_of_row(std::string_view text, std::size_t at, std::size_t fields) {
  for (; fields > 0; --fields) {
    if (at >= text.size() || text[at] != ',') return kNowhere;
    at = end_of_plain(text, at + 1);
    if (at == kNowhere) return kNowhere;
  }
  return at_line_end(text, at) ? at : kNowhere;
}

void append_doubled(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
}

/// Appends the row that begins here; where the next one begins, or kNowhere.
std::size_t append_row(std::string& out, std::string_view text, std::size_t row,
                       std::size_t columns) {
  std::vector<std::size_t> starts = {row};  // of fields, as far as those before have no quotes
  std::size_t end = end_of_plain(text, row);
  while (end != kNowhere && !at_line_end(text, end) && starts.size() < columns) {
    starts.push_back(end + 1);
    end = end_of_plain(text, end + 1);
  }
  if (end != kNowhere && starts.size() == columns && at_line_end(text, end)) {
    const std::size_t next = behind_line_end(text, end);
    out.append(text.substr(row, next - row));
    return next;
  }
  for (std::size_t before = starts.size(); before-- > 0;) {
    const std::size_t start = starts[before];
    if (start >= text.size() || text[start] != '"') continue;
    const std::string_view near = text.substr(0, start + 1 + kLongestText);
    for (std::size_t quote = near.find('"', start + 1); quote != kNowhere;
         quote = near.find('"', quote + 1)) {
      const std::size_t line_end = end_of_row(text, quote + 1, columns - 1 - before);
      if (line_end == kNowhere) continue;
      const std::size_t next = behind_line_end(text, line_end);
      out.append(text.substr(row, start + 1 - row));
      append_doubled(out, text.substr(start + 1, quote - start - 1));
      out.append(text.substr(quote, next - quote));
      return next;
    }
  }
  return kNowhere;
}

}  // namespace

std::optional<std::string> with_doubled_quotes(std::string_view table) {
  std::size_t columns = 0, at = 0;  // of the header, which has no quotes within
  for (std::size_t end = 0; columns == 0 || !at_line_end(table, end); ++columns) {
    at = columns == 0 ? 0 : end + 1;
    end = end_of_plain(table, at);
    if (end == kNowhere) return std::nullopt;
    at = end;
  }
  at = behind_line_end(table, at);
  std::string out(table.substr(0, at));
  out.reserve(table.size() + table.size() / 16);
  while (at < table.size()) {
    if (at_line_end(table, at)) {  // an empty line
      at = behind_line_end(table, at);
      continue;
    }
    at = append_row(out, table, at, columns);
    if (at == kNowhere) return std::nullopt;
  }
  return out;
}

}  // namespace perflab::trace::trace_csv
