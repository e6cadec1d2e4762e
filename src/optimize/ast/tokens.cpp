#include "optimize/ast/tokens.h"

#include <algorithm>

namespace perflab::optimize {
namespace {

/// Whether a line ends in the text, in a way that ends a directive.
std::optional<std::size_t> line_end_in(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n') continue;
    std::size_t before = i;
    while (before > 0 && (text[before - 1] == ' ' || text[before - 1] == '\t' ||
                          text[before - 1] == '\r' || text[before - 1] == '\f'))
      --before;
    if (before == 0 || text[before - 1] != '\\') return i;
  }
  return std::nullopt;
}

/// Text between two tokens; the ends of the file count as tokens.
std::string_view gap_before(const ParsedSource& source, std::size_t index) {
  const auto tokens = source.tokens();
  const std::uint32_t begin = index == 0 ? 0 : tokens[index - 1].range.end;
  const std::uint32_t end = index < tokens.size()
                                ? tokens[index].range.begin
                                : static_cast<std::uint32_t>(source.text().size());
  return begin < end ? source.at({begin, end}) : std::string_view();
}

bool is_hash(std::string_view token) {
  return token == "#" || token == "%:" || token == "\?\?=";
}

bool is_first_on_line(const ParsedSource& source, std::size_t index) {
  while (true) {
    if (line_end_in(gap_before(source, index))) return true;
    if (index == 0) return true;
    --index;
    if (source.tokens()[index].kind != CXToken_Comment) return false;
    // A comment to the end of the line ends it, but is followed by the line end in the gap.
  }
}

std::uint32_t directive_end(const ParsedSource& source, std::size_t index) {
  std::uint32_t end = source.tokens()[index].range.end;
  for (++index; index <= source.tokens().size(); ++index) {
    if (line_end_in(gap_before(source, index)) || index == source.tokens().size()) return end;
    end = source.tokens()[index].range.end;
  }
  return end;
}

}  // namespace

std::string without_splices(std::string_view token) {
  std::string clean;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '\\') {
      std::size_t end = i + 1;
      while (end < token.size() && (token[end] == ' ' || token[end] == '\t' || token[end] == '\r'))
        ++end;
      if (end < token.size() && token[end] == '\n') {
        i = end;
        continue;
      }
    }
    clean.push_back(token[i]);
  }
  return clean;
}

std::vector<TextRange> directives_of(const ParsedSource& source) {
  std::vector<TextRange> found;
  const auto tokens = source.tokens();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == CXToken_Comment || !is_hash(source.token(i))) continue;
    if (!found.empty() && tokens[i].range.begin < found.back().end) continue;
    if (is_first_on_line(source, i))
      found.push_back({tokens[i].range.begin, directive_end(source, i)});
  }
  return found;
}

std::optional<std::size_t> directive_at(const std::vector<TextRange>& directives,
                                        std::uint32_t offset) {
  const auto after = std::ranges::upper_bound(directives, offset, {}, &TextRange::begin);
  if (after == directives.begin() || std::prev(after)->end <= offset) return std::nullopt;
  return static_cast<std::size_t>(std::prev(after) - directives.begin());
}

std::string token_text(const ParsedSource& source, const TextRange& range) {
  std::string text;
  for (std::size_t i = source.token_from(range.begin);
       i < source.tokens().size() && source.tokens()[i].range.begin < range.end; ++i) {
    if (source.tokens()[i].kind == CXToken_Comment) continue;
    if (!text.empty()) text += ' ';
    text += source.token(i);
  }
  return text;
}

}  // namespace perflab::optimize
