// Layout of text tables.
#include "report/kit/text_table.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace perflab::report {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kGap = 2;
constexpr std::size_t kLeastFlexible = 16;

bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

/// Byte offset of the n-th code point, or the size.
std::size_t offset_of(std::string_view text, std::size_t n) {
  std::size_t at = 0;
  while (at < text.size() && n > 0) {
    ++at;
    while (at < text.size() && continues(text[at])) ++at;
    --n;
  }
  return at;
}

/// Characters of a text that is printable() already.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return !continues(c); }));
}

std::string padded(const std::string& cell, std::size_t width, TextTable::Align align) {
  const std::size_t used = display_width(cell);
  const std::string blanks(width > used ? width - used : 0, ' ');
  return align == TextTable::Align::left ? cell + blanks : blanks + cell;
}

/// A text cut to a short head, and what stands around code point `at`.
std::string fit_around(const std::string& text, std::size_t at, std::size_t width) {
  const std::size_t used = display_width(text);
  const std::size_t head = width / 4;
  const std::size_t window = width - head - 2;  // two ellipses
  const std::size_t from = std::min(std::max(at, head + 4) - 4, used - std::min(used, window));
  const std::string middle =
      text.substr(offset_of(text, from), offset_of(text, from + window) - offset_of(text, from));
  return text.substr(0, offset_of(text, head)) + "…" + middle + (from + window < used ? "…" : "");
}

/// First code point at which two texts differ.
std::size_t first_difference(const std::string& a, const std::string& b) {
  const std::size_t byte = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  return characters(std::string_view(a).substr(0, byte));
}

/// Texts that differed are the same now.
bool confuses(const std::vector<std::string>& texts, const std::vector<std::string>& shorter) {
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (std::size_t other = 0; other < i; ++other)
      if (shorter[i] == shorter[other] && texts[i] != texts[other]) return true;
  return false;
}

/// What the column calls its cells in so many columns, or in more where they would become the same.
std::vector<std::string> shortened(const std::vector<std::string>& cells,
                                   const TextTable::Column& column, std::size_t width) {
  constexpr std::size_t kTries = 3;
  for (std::size_t i = 0; i < kTries; ++i, width *= 2) {
    std::vector<std::string> out;
    for (const std::string& cell : cells)
      out.push_back(display_width(cell) > width ? column.shorter(cell, width) : cell);
    if (!confuses(cells, out)) return out;
  }
  return cells;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return characters(printable(text));
}

std::string fit(std::string_view text, std::size_t width) {
  std::string clean = printable(text);
  const std::size_t used = display_width(clean);
  if (used <= width) return clean;
  if (width <= 1) return width == 1 ? "…" : "";
  const std::size_t head = (width - 1 + 1) / 2;
  const std::size_t tail = width - 1 - head;
  return clean.substr(0, offset_of(clean, head)) + "…" +
         clean.substr(offset_of(clean, used - tail));
}

std::vector<std::string> fit_distinct(const std::vector<std::string>& texts, std::size_t width) {
  std::vector<std::string> out;
  for (const std::string& text : texts) out.push_back(fit(text, width));
  if (width < 16) return out;
  // Each round parts the texts that still look the same at their own first difference.
  constexpr int kRounds = 6;
  for (int round = 0; round < kRounds; ++round) {
    std::map<std::string, std::vector<std::size_t>> same;
    for (std::size_t i = 0; i < texts.size(); ++i) same[out[i]].push_back(i);
    for (const auto& [shown, rows] : same) {
      std::size_t at = std::string::npos;
      for (const std::size_t row : rows)
        if (texts[row] != texts[rows.front()])
          at =
              std::min(at, first_difference(printable(texts[row]), printable(texts[rows.front()])));
      if (at == std::string::npos) continue;
      for (const std::size_t row : rows)
        if (display_width(printable(texts[row])) > width)
          out[row] = fit_around(printable(texts[row]), at, width);
    }
  }
  return out;
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = display_width(columns_[c].title);
    for (const auto& row : rows_) widest = std::max(widest, display_width(row[c]));
    widths.push_back(widest);
  }
  return widths;
}

std::vector<std::size_t> TextTable::kept(const std::vector<std::size_t>& widths,
                                         std::size_t width) const {
  std::vector<std::size_t> kept(columns_.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  const auto needed = [&] {
    std::size_t sum = kIndent + kGap * (kept.size() - 1);
    for (const std::size_t c : kept)
      sum += columns_[c].flexible ? std::min(widths[c], kLeastFlexible) : widths[c];
    return sum;
  };
  const auto rank = [&](std::size_t c) { return columns_[c].expendable; };
  while (needed() > width) {
    const auto next = std::ranges::max_element(kept, {}, rank);
    if (rank(*next) == 0) break;
    kept.erase(next);
  }
  return kept;
}

std::string TextTable::text(std::size_t width) const {
  std::vector<std::size_t> wide = widths();
  const std::vector<std::size_t> shown = kept(wide, width);
  std::size_t fixed = kIndent + kGap * (shown.size() - 1);
  for (const std::size_t c : shown)
    if (!columns_[c].flexible) fixed += wide[c];
  for (const std::size_t c : shown)
    if (columns_[c].flexible)
      wide[c] = std::min(wide[c], std::max(kLeastFlexible, width > fixed ? width - fixed : 0));

  std::vector<std::string> lines(rows_.size() + 1, std::string(kIndent, ' '));
  for (const std::size_t c : shown) {
    std::vector<std::string> cells = {columns_[c].title};
    for (const auto& row : rows_) cells.push_back(row[c]);
    if (columns_[c].shorter != nullptr) cells = shortened(cells, columns_[c], wide[c]);
    cells = fit_distinct(cells, wide[c]);
    for (std::size_t r = 0; r < lines.size(); ++r)
      lines[r] += std::string(c != shown.front() ? kGap : 0, ' ') +
                  padded(cells[r], wide[c], columns_[c].align);
  }
  std::string out;
  for (std::string& line : lines) out += line.erase(line.find_last_not_of(' ') + 1) + "\n";
  return out;
}

}  // namespace perflab::report
