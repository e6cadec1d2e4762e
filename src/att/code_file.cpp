// code.json: the instructions with their sums (docs/facts/thread_trace.md "code.json"), and the
// table from line numbers to them.
#include <algorithm>

#include "att/json_file.h"
#include "att/parse.h"
#include "att/rows.h"

namespace perflab::att {
namespace {

/// Positions in a row.
constexpr std::size_t kText = 0, kLine = 2, kSource = 3, kObject = 4, kVaddr = 5, kSums = 6,
                      kFields = 10;

/// A row of code.json; nullopt: it has too few fields or one of another kind.
std::optional<CodeRow> code_row(const dom::element& element) {
  dom::array fields;
  if (element.get(fields) != simdjson::SUCCESS) return std::nullopt;
  CodeRow row;
  std::array<std::int64_t*, 4> sums{&row.hits, &row.latency, &row.stall, &row.idle};
  std::string_view text;
  std::size_t at = 0;
  for (const dom::element field : fields) {
    simdjson::error_code error = simdjson::SUCCESS;
    switch (at) {
      case kText:
        error = field.get(text);
        row.text = text;
        break;
      case kSource:
        error = field.get(text);
        row.source = text;
        break;
      case kLine:
        error = field.get(row.line);
        break;
      case kObject:
        error = field.get(row.code_object);
        break;
      case kVaddr:
        error = field.get(row.vaddr);
        break;
      default:
        if (at >= kSums) error = field.get(*sums.at(at - kSums));
    }
    if (error != simdjson::SUCCESS) return std::nullopt;
    if (++at == kFields) return row;
  }
  return std::nullopt;
}

}  // namespace

bool CodeSums::take(const CodeRow& row) {
  const auto fits = [](std::int64_t value, std::int64_t room) {
    return value >= 0 && value <= room;
  };
  if (!fits(row.hits, kMostCodeCycles - hits_) || !fits(row.latency, kMostCodeCycles - cycles_) ||
      !fits(row.idle, kMostCodeCycles - cycles_ - row.latency) || !fits(row.stall, row.latency))
    return false;
  hits_ += row.hits;
  cycles_ += row.latency + row.idle;
  return true;
}

Result<void> take_code(const dom::object& root, std::string_view file, ThreadTrace& trace) {
  take_version(root, trace);
  CodeSums sums;
  return for_each_in(root, "code", file, [&](const dom::element& element) {
    std::optional<CodeRow> row = code_row(element);
    if (row && row->line >= 0 && sums.take(*row))
      trace.code.push_back(std::move(*row));
    else
      ++trace.dropped[std::string(kCodeRowDropped)];
  });
}

LineTable::LineTable(const std::vector<CodeRow>& code) {
  // Numbers normally are the rows' indices. Twice as many leave room for gaps, and a wild number
  // does not take memory.
  const std::size_t limit = 2 * code.size();
  for (std::size_t i = 0; i < code.size(); ++i) {
    const std::int64_t line = code[i].line;
    if (line < 0) continue;  // a stats file has none
    const auto row = static_cast<RowIndex>(i);
    if (static_cast<std::uint64_t>(line) >= limit) {
      sparse_.emplace(line, row);
      continue;
    }
    const auto place = static_cast<std::size_t>(line);
    if (place >= dense_.size()) dense_.resize(place + 1, kNoRow);
    if (dense_[place] == kNoRow) dense_[place] = row;
  }
  // The decoder writes line 0 for an address that it does not know (docs/facts/thread_trace.md
  // "Wave files").
  if (!dense_.empty() && dense_[0] != kNoRow) {
    const CodeRow& first = code[dense_[0]];
    if (first.is_label() || first.hits == 0) dense_[0] = kNoRow;
  }
}

}  // namespace perflab::att
