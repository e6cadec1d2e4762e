// Layout of text tables.
#include "report/text_table.h"

#include <algorithm>

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

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  return out;
}

std::string padded(const std::string& cell, std::size_t width, TextTable::Align align) {
  const std::size_t used = display_width(cell);
  const std::string blanks(width > used ? width - used : 0, ' ');
  return align == TextTable::Align::left ? cell + blanks : blanks + cell;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return !continues(c); }));
}

std::string fit(std::string_view text, std::size_t width) {
  const std::string clean = printable(text);
  const std::size_t used = display_width(clean);
  if (used <= width) return clean;
  if (width <= 1) return width == 1 ? "…" : "";
  const std::size_t head = (width - 1 + 1) / 2;
  const std::size_t tail = width - 1 - head;
  return clean.substr(0, offset_of(clean, head)) + "…" +
         clean.substr(offset_of(clean, used - tail));
}

std::string TextTable::text(std::size_t width) const {
  std::vector<std::size_t> widths;
  std::size_t fixed = kIndent;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = display_width(columns_[c].title);
    for (const auto& row : rows_) widest = std::max(widest, display_width(row[c]));
    widths.push_back(widest);
    if (c > 0) fixed += kGap;
    if (!columns_[c].flexible) fixed += widest;
  }
  for (std::size_t c = 0; c < columns_.size(); ++c)
    if (columns_[c].flexible)
      widths[c] = std::min(widths[c], std::max(kLeastFlexible, width > fixed ? width - fixed : 0));

  std::string out;
  const auto line = [&](const auto& cell_of) {
    std::string text(kIndent, ' ');
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0) text.append(kGap, ' ');
      text += padded(fit(cell_of(c), widths[c]), widths[c], columns_[c].align);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  line([&](std::size_t c) { return columns_[c].title; });
  for (const auto& row : rows_) line([&](std::size_t c) { return row[c]; });
  return out;
}

}  // namespace perflab::report
