// A quoting-only subset of the POSIX shell's token recognition.
#include "base/text/command_line.h"

#include <fmt/format.h>

#include <algorithm>

namespace perflab {
namespace {

constexpr std::string_view kBetweenWords = " \t\r\n";
constexpr std::string_view kOperators = "|&;<>";
constexpr std::string_view kEscapableInDoubleQuotes = "$`\"\\\n";
constexpr std::string_view kRemedy =
    "pass the program and its arguments as words after --, or use: -- sh -c '…'";

bool is_one_of(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

std::unexpected<Error> bad(std::string_view why) {
  return fail(ErrorCode::usage, fmt::format("the command line {}", why), std::string(kRemedy));
}

/// Reads one command line from left to right.
class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> split() {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (is_one_of(c, kBetweenWords)) {
        end_word();
        continue;
      }
      if (is_one_of(c, kOperators))
        return bad(fmt::format("holds an unquoted {}, which only a shell understands", c));
      if (c == '\0') return bad("holds a NUL character");
      in_word_ = true;
      if (c == '\'') {
        PERFLAB_TRY_VOID(single_quoted());
      } else if (c == '"') {
        PERFLAB_TRY_VOID(double_quoted());
      } else if (c == '\\') {
        PERFLAB_TRY_VOID(escaped());
      } else {
        word_ += c;
      }
    }
    end_word();
    if (words_.empty() || words_.front().empty()) return bad("names no program");
    return std::move(words_);
  }

 private:
  void end_word() {
    if (in_word_) words_.push_back(std::exchange(word_, {}));
    in_word_ = false;
  }

  Result<void> single_quoted() {
    const std::size_t close = text_.find('\'', at_);
    if (close == std::string_view::npos) return bad("has an unbalanced '");
    word_ += text_.substr(at_, close - at_);
    at_ = close + 1;
    return {};
  }

  Result<void> double_quoted() {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return {};
      const bool escapes =
          c == '\\' && at_ < text_.size() && is_one_of(text_[at_], kEscapableInDoubleQuotes);
      if (!escapes) {
        word_ += c;
      } else if (const char next = text_[at_++]; next != '\n') {
        word_ += next;
      }
    }
    return bad("has an unbalanced \"");
  }

  Result<void> escaped() {
    if (at_ == text_.size()) return bad("ends in a backslash");
    if (const char next = text_[at_++]; next != '\n') {
      word_ += next;
    } else if (word_.empty()) {
      in_word_ = false;  // a continued line, not an empty word
    }
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string word_;
  bool in_word_ = false;
  std::vector<std::string> words_;
};

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         is_one_of(c, "_@%+=:,./-");
}

}  // namespace

Result<std::vector<std::string>> split_command_line(std::string_view text) {
  return Splitter(text).split();
}

std::string join_command_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && std::ranges::all_of(word, is_plain)) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) {
      if (c == '\'')
        line += "'\\''";
      else
        line += c;
    }
    line += '\'';
  }
  return line;
}

}  // namespace perflab
