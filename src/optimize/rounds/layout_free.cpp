// A small lexer: comments, string and character literals (raw ones too) and preprocessor lines are
// told apart; everything else is copied.
#include <cctype>
#include <string>

#include "optimize/rounds/candidate.h"

namespace perflab::optimize {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c < 0;
}

/// Characters of operators that can grow: "+ +" is not "++".
bool is_operator(char c) {
  return std::string_view("+-&|<>=!*/%^:.#").find(c) != std::string_view::npos;
}

class LayoutLexer {
 public:
  explicit LayoutLexer(std::string_view source) : source_(source) {}

  std::string run() {
    while (at_ < source_.size()) step();
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool next_is(std::string_view text) const {
    return source_.substr(at_).starts_with(text);
  }

  void step() {
    const char c = source_[at_];
    if (next_is("\\\n") || next_is("\\\r\n")) {  // a spliced line goes on
      at_ = source_.find('\n', at_) + 1;
      blank_ = true;
    } else if (c == '\n') {
      ++at_;
      if (directive_) out_ += '\n';
      blank_ = !directive_;
      directive_ = false;
      at_line_start_ = true;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
      blank_ = true;
    } else if (next_is("//")) {
      at_ = std::min(source_.find('\n', at_), source_.size());
    } else if (next_is("/*")) {
      const std::size_t end = source_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? source_.size() : end + 2;
      blank_ = true;
    } else {
      token(c);
    }
  }

  void token(char c) {
    if (at_line_start_ && c == '#') {
      directive_ = true;
      if (!out_.empty() && out_.back() != '\n') out_ += '\n';
      blank_ = false;
    }
    at_line_start_ = false;
    separate(c);
    const bool raw = c == '"' && !out_.empty() && out_.back() == 'R';
    if (raw)
      copy_raw();
    else if (c == '"' || (c == '\'' && !in_number()))
      copy_literal(c);
    else
      out_ += source_[at_++];
  }

  /// A blank that stood here is kept where two tokens could become one, or a macro another.
  void separate(char next) {
    const bool was_blank = blank_;
    blank_ = false;
    const bool begins = out_.empty() || out_.back() == '\n' || (directive_ && out_.back() == '#');
    if (!was_blank || begins) return;
    const char last = out_.back();
    const auto quote = [](char c) { return c == '"' || c == '\''; };
    const bool joins_words = (is_word(last) || quote(last)) && (is_word(next) || quote(next));
    if (directive_ || joins_words || (is_operator(last) && is_operator(next))) out_ += ' ';
  }

  /// 1'000: the quote separates digits.
  [[nodiscard]] bool in_number() const {
    std::size_t begin = out_.size();
    while (begin > 0 && (is_word(out_[begin - 1]) || out_[begin - 1] == '\'')) --begin;
    return begin < out_.size() && std::isdigit(static_cast<unsigned char>(out_[begin])) != 0;
  }

  void copy_literal(char quote) {
    out_ += source_[at_++];
    while (at_ < source_.size() && source_[at_] != '\n') {
      const char c = source_[at_++];
      out_ += c;
      if (c == quote) return;
      if (c == '\\' && at_ < source_.size()) out_ += source_[at_++];
    }
  }

  void copy_raw() {
    const std::size_t open = source_.find('(', at_);
    std::size_t end = source_.size();
    if (open != std::string_view::npos) {
      const std::string close = ")" + std::string(source_.substr(at_ + 1, open - at_ - 1)) + "\"";
      const std::size_t found = source_.find(close, open);
      if (found != std::string_view::npos) end = found + close.size();
    }
    out_ += source_.substr(at_, end - at_);
    at_ = end;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::string out_;
  bool blank_ = false, directive_ = false, at_line_start_ = true;
};

}  // namespace

std::string layout_free(std::string_view source) {
  std::string text = LayoutLexer(source).run();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace perflab::optimize
