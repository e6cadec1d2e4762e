// Finding columns, and numbers of fields.
#include "trace/trace_csv/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text/csv.h"
#include "base/text/numbers.h"
#include "trace/trace_csv/raw_quotes.h"

namespace perflab::trace::trace_csv {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

Result<std::vector<std::optional<std::size_t>>> find_places(
    std::span<const std::string_view> header, std::string_view file,
    std::span<const Wanted> wanted) {
  std::vector<std::optional<std::size_t>> places;
  for (const Wanted& column : wanted) {
    std::optional<std::size_t> place;
    for (const std::string_view name : column.names) {
      const auto found =
          std::ranges::find_if(header, [&](auto field) { return same_name(field, name); });
      if (found == header.end()) continue;
      place = static_cast<std::size_t>(found - header.begin());
      break;
    }
    if (!place && column.required)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: has no column {}", file, *column.names.begin()),
                  "give the tables as rocprofv3 wrote them");
    places.push_back(place);
  }
  return places;
}

/// Whether a text between quotes has quotes or line breaks within.
bool has_odd_texts(std::string_view text) {
  for (std::size_t at = text.find('"'); at != text.npos; at = text.find('"', at + 1)) {
    const std::size_t end = text.find('"', at + 1);
    if (end == text.npos || (at > 0 && text[at - 1] != ',' && text[at - 1] != '\n')) return true;
    const char next = end + 1 < text.size() ? text[end + 1] : '\n';
    if (next != ',' && next != '\n' && next != '\r') return true;
    if (text.substr(at, end - at).find('\n') != text.npos) return true;
    at = end;
  }
  return false;
}

}  // namespace

std::optional<std::uint64_t> Row::whole(std::size_t column) const {
  return number_of(text(column));
}

std::optional<std::int64_t> Row::number(std::size_t column) const {
  const auto value = number_of<std::int64_t>(text(column));
  return value && *value >= 0 ? value : std::nullopt;
}

Result<void> for_each_row(std::string_view text, std::string_view file,
                          std::span<const Wanted> wanted,
                          const std::function<Result<void>(const Row&)>& visit) {
  std::vector<std::optional<std::size_t>> places;
  bool header = true;
  std::optional<std::string> doubled;
  const auto ignored = [](std::span<const std::string_view>, std::size_t) -> Result<void> {
    return {};
  };
  if (has_odd_texts(text) && !for_each_csv_row(text, file, ignored)) {
    doubled = with_doubled_quotes(text);
    if (doubled) text = *doubled;
  }
  return for_each_csv_row(
      text, file, [&](std::span<const std::string_view> fields, std::size_t) -> Result<void> {
        if (header) {
          header = false;
          PERFLAB_TRY(places, find_places(fields, file, wanted));
          return {};
        }
        return visit(Row(fields, places));
      });
}

}  // namespace perflab::trace::trace_csv
