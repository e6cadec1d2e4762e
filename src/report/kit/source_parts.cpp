// Lines end at "\n"; a "\r" before it belongs to the end.
#include "report/kit/source_parts.h"

#include <algorithm>

namespace perflab::report {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string shown_line(std::string_view line) {
  if (line.size() <= kMostLineBytes) return std::string(line);
  std::size_t cut = kMostLineBytes;
  // Not inside a character: its further bytes are 10xxxxxx.
  while (cut > 0 && (static_cast<unsigned char>(line[cut]) & 0xc0U) == 0x80U) --cut;
  return std::string(line.substr(0, cut)) + "…";
}

SourcePart part_of(const std::vector<std::string_view>& lines, std::int64_t first,
                   std::int64_t last) {
  SourcePart part{.first_line = first, .text = {}};
  for (std::int64_t line = first; line <= last; ++line)
    part.text.push_back(shown_line(lines[static_cast<std::size_t>(line - 1)]));
  return part;
}

}  // namespace

std::size_t SourceParts::lines_shown() const {
  std::size_t shown = 0;
  for (const SourcePart& part : parts) shown += part.text.size();
  return shown;
}

SourceParts source_parts(std::string_view text, const std::set<std::int64_t>& lines) {
  const std::vector<std::string_view> all = lines_of(text);
  SourceParts out{.line_count = static_cast<std::int64_t>(all.size()), .parts = {}};
  if (out.line_count == 0) return out;
  if (out.line_count <= kWholeFileLines) {
    out.parts.push_back(part_of(all, 1, out.line_count));
    return out;
  }
  std::int64_t first = 0;  // of the part that is being made; 0: none
  std::int64_t last = 0;
  for (const std::int64_t line : lines) {
    if (line < 1 || line > out.line_count) continue;
    const std::int64_t from = std::max<std::int64_t>(line - kLinesAround, 1);
    if (first != 0 && from > last + 1) {
      out.parts.push_back(part_of(all, first, last));
      first = 0;
    }
    if (first == 0) first = from;
    last = std::min(line + kLinesAround, out.line_count);
  }
  if (first != 0) out.parts.push_back(part_of(all, first, last));
  return out;
}

}  // namespace perflab::report
