#include "llm/model_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text/text.h"

namespace perflab::llm {
namespace {

/// A line that opens or closes a block.
struct Fence {
  char mark = '`';
  std::size_t length = 0;
  bool bare = false;  ///< nothing behind it: it can close
};

/// At most three blanks, three or more of one mark; behind backticks no other backtick.
std::optional<Fence> fence_in(std::string_view line) {
  constexpr std::size_t kMostIndent = 3, kLeastMarks = 3;
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == std::string_view::npos || begin > kMostIndent) return std::nullopt;
  const char mark = line[begin];
  if (mark != '`' && mark != '~') return std::nullopt;
  const std::size_t end = std::min(line.find_first_not_of(mark, begin), line.size());
  if (end - begin < kLeastMarks) return std::nullopt;
  const std::string_view behind = trimmed(line.substr(end));
  if (mark == '`' && behind.find('`') != std::string_view::npos) return std::nullopt;
  return Fence{.mark = mark, .length = end - begin, .bare = behind.empty()};
}

/// An answer taken apart.
struct Parts {
  std::string prose;
  std::vector<std::string> codes;
  bool open = false;  ///< the last block does not end
};

Parts parts_of(std::string_view text) {
  Parts parts;
  std::optional<Fence> opened;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, length);
    text.remove_prefix(length);
    const std::optional<Fence> fence = fence_in(line.substr(0, line.find_last_not_of("\r\n") + 1));
    if (!opened && fence) {
      opened = fence;
      parts.codes.emplace_back();
    } else if (opened && fence && fence->bare && fence->mark == opened->mark &&
               fence->length >= opened->length) {
      opened.reset();
    } else {
      (opened ? parts.codes.back() : parts.prose) += line;
    }
  }
  parts.open = opened.has_value();
  return parts;
}

bool has_include(std::string_view code) {
  for (std::size_t at = code.find('#'); at != std::string_view::npos; at = code.find('#', at + 1)) {
    const std::size_t line = code.rfind('\n', at) + 1;  // npos + 1 is 0
    const std::string_view behind = trimmed(code.substr(at + 1, 64));
    if (trimmed(code.substr(line, at - line)).empty() && behind.starts_with("include")) return true;
  }
  return false;
}

/// Bytes of the UTF-8 character at the front; 0: none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i) {
    return i < text.size() && (byte(i) & 0xC0U) == 0x80U;
  };
  if (byte(0) < 0x80U) return 1;
  if (byte(0) >= 0xC2U && byte(0) < 0xE0U) return continues(1) ? 2 : 0;
  if ((byte(0) & 0xF0U) == 0xE0U) {
    if (!continues(1) || !continues(2)) return 0;
    const bool overlong = byte(0) == 0xE0U && byte(1) < 0xA0U;
    const bool surrogate = byte(0) == 0xEDU && byte(1) >= 0xA0U;
    return overlong || surrogate ? 0 : 3;
  }
  if (byte(0) >= 0xF0U && byte(0) < 0xF5U) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    const bool overlong = byte(0) == 0xF0U && byte(1) < 0x90U;
    const bool beyond = byte(0) == 0xF4U && byte(1) >= 0x90U;
    return overlong || beyond ? 0 : 4;
  }
  return 0;
}

/// Characters that change how a terminal shows what stands around them: C1 controls, marks of the
/// direction of writing, and what has no width.
bool misleads(std::string_view character) {
  if (character.size() == 2 && character[0] == '\xC2')
    return static_cast<unsigned char>(character[1]) < 0xA0U;
  if (character.size() == 3 && character[0] == '\xE2')
    return (character[1] == '\x80' && ((character[2] >= '\x8B' && character[2] <= '\x8F') ||
                                       (character[2] >= '\xA8' && character[2] <= '\xAE'))) ||
           (character[1] == '\x81' && character[2] >= '\xA0' && character[2] <= '\xAF');
  return character == "\xEF\xBB\xBF";
}

Proposal problem(std::string name, std::string detail, std::string summary) {
  Proposal proposal;
  proposal.problem = std::move(name);
  proposal.problem_detail = std::move(detail);
  proposal.summary = std::move(summary);
  return proposal;
}

}  // namespace

std::string one_printable_line(std::string_view text, std::size_t most) {
  const std::string_view rest = trimmed(text);
  std::string_view line = rest.substr(0, rest.find_first_of("\r\n"));
  const std::size_t words = line.find_first_not_of("#*->_ \t");
  if (words != std::string_view::npos) line.remove_prefix(words);
  std::string out;
  while (!line.empty()) {
    const std::size_t length = utf8_length(line);
    const std::string_view character = line.substr(0, std::max<std::size_t>(length, 1));
    line.remove_prefix(character.size());
    const bool control = length == 1 && (character[0] < ' ' || character[0] == '\x7F');
    const std::string_view shown = control                              ? " "
                                   : length == 0 || misleads(character) ? ""
                                                                        : character;
    if (out.size() + shown.size() > most) break;
    out += shown;
  }
  return std::string(trimmed(out));
}

Proposal parse_answer(std::string_view text, Proposal::Form wanted) {
  Parts parts = parts_of(text);
  std::string summary = one_printable_line(parts.prose);
  if (parts.codes.empty())
    return problem("no_code", "the answer holds no code block", std::move(summary));
  if (parts.codes.size() > 1)
    return problem(
        "several_codes",
        fmt::format("the answer holds {} code blocks, one was asked for", parts.codes.size()),
        std::move(summary));
  std::string& code = parts.codes.front();
  if (code.size() > kMostProposalBytes)
    return problem("too_large",
                   fmt::format("the code is larger than {} KiB", kMostProposalBytes / 1024),
                   std::move(summary));
  if (parts.open)
    return problem("bad_answer", "the code block does not end: the answer was cut off",
                   std::move(summary));
  if (code.find('\0') != std::string::npos)
    return problem("bad_answer", "the code holds a NUL character", std::move(summary));
  if (trimmed(code).empty())
    return problem("no_code", "the code block is empty", std::move(summary));
  Proposal proposal;
  proposal.form = has_include(code) ? Proposal::Form::file : wanted;
  proposal.text = std::move(code);
  proposal.summary = std::move(summary);
  return proposal;
}

bool says_no_more(std::string_view text) {
  const Parts parts = parts_of(text);
  return parts.codes.empty() && one_printable_line(parts.prose).starts_with(kNoMore);
}

}  // namespace perflab::llm
