// Takes the text of an expression apart: names, symbols, strings, and numbers as Python writes them
// (https://docs.python.org/3/reference/lexical_analysis.html).
#include "tune/space/expression_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/numbers.h"
#include "tune/space/expression_node.h"

namespace perflab::tune {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_name_part(char c) {
  return is_name_start(c) || is_digit(c);
}

/// Takes a text apart.
class TokenReader {
 public:
  TokenReader(std::string_view text, std::size_t& at) : text_(text), at_(at) {}

  Result<Token> next() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    Token token;
    token.column = at_ + 1;
    if (at_ == text_.size()) return token;
    const char c = text_[at_];
    const char after = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (is_digit(c) || (c == '.' && is_digit(after))) return number(std::move(token));
    if (c == '"' || c == '\'') return string(std::move(token));
    if (is_name_start(c)) {
      token.kind = TokenKind::name;
      const std::size_t first = at_;
      while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
      token.text = text_.substr(first, at_ - first);
      return token;
    }
    return symbol(std::move(token));
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  Result<Token> symbol(Token token) {
    constexpr std::array<std::string_view, 29> kSymbols{
        "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "%",
        "&",  "|",  "^",  "~",  "<",  ">",  "(",  ")",  "[",  "]",  ",", ".", "!", "="};
    const std::string_view rest = text_.substr(at_);
    const auto* const found = std::ranges::find_if(
        kSymbols, [&](std::string_view symbol) { return rest.starts_with(symbol); });
    if (found == kSymbols.end())
      return syntax_error(text_, token.column, "a character that no expression has");
    if (*found == "&&" || *found == "||" || *found == "!")
      return syntax_error(text_, token.column,
                          fmt::format("\"{}\", which is written \"{}\" here,", *found,
                                      *found == "&&" ? "and" : (*found == "||" ? "or" : "not")));
    token.kind = TokenKind::symbol;
    token.text = rest.substr(0, found->size());
    at_ += found->size();
    return token;
  }

  Result<Token> string(Token token) {
    token.kind = TokenKind::string;
    const char quote = text_[at_++];
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] != '\\') {
        token.string += text_[at_];
        continue;
      }
      ++at_;
      const char escaped = at_ < text_.size() ? text_[at_] : '\0';
      if (escaped != '\\' && escaped != '\'' && escaped != '"')
        return syntax_error(text_, at_,
                            "a backslash before something other than a quote or a backslash");
      token.string += escaped;
    }
    if (at_ == text_.size())
      return syntax_error(text_, token.column, "a quote that is never closed");
    ++at_;
    return token;
  }

  /// Digits of a base, single underscores between them left out.
  std::string digits(const auto& is_one) {
    std::string found;
    while (at_ < text_.size()) {
      if (is_one(text_[at_])) {
        found += text_[at_++];
      } else if (text_[at_] == '_' && !found.empty() && at_ + 1 < text_.size() &&
                 is_one(text_[at_ + 1])) {
        ++at_;
      } else {
        break;
      }
    }
    return found;
  }

  Result<Token> number(Token token) {
    token.kind = TokenKind::number;
    const std::string_view rest = text_.substr(at_);
    int base = 10;
    if (rest.starts_with("0x") || rest.starts_with("0X")) base = 16;
    if (rest.starts_with("0b") || rest.starts_with("0B")) base = 2;
    if (rest.starts_with("0o") || rest.starts_with("0O")) base = 8;
    std::string text;
    bool real = false;
    if (base != 10) {
      at_ += 2;
      text = digits([&](char c) {
        const int value = is_digit(c) ? c - '0' : (c | 0x20) >= 'a' ? (c | 0x20) - 'a' + 10 : 99;
        return value < base;
      });
    } else {
      text = digits(is_digit);
      if (at_ < text_.size() && text_[at_] == '.') {
        real = true;
        text += text_[at_++];
        text += digits(is_digit);
      }
      real = exponent(text) || real;
    }
    if (text.empty() || (at_ < text_.size() && is_name_part(text_[at_])))
      return syntax_error(text_, token.column, "a number that does not end properly");
    return real ? real_number(std::move(token), text) : whole_number(std::move(token), text, base);
  }

  /// Takes "e-3" when it stands there.
  bool exponent(std::string& text) {
    std::size_t at = at_;
    if (at == text_.size() || (text_[at] | 0x20) != 'e') return false;
    ++at;
    const bool sign = at < text_.size() && (text_[at] == '-' || text_[at] == '+');
    if (at + (sign ? 1 : 0) >= text_.size() || !is_digit(text_[at + (sign ? 1 : 0)])) return false;
    text += 'e';
    if (sign) text += text_[at++];
    at_ = at;
    text += digits(is_digit);
    return true;
  }

  Result<Token> real_number(Token token, std::string_view text) {
    const auto value = finite_number(text);
    if (!value) return syntax_error(text_, token.column, "a real number that does not fit");
    token.number = *value;
    return token;
  }

  Result<Token> whole_number(Token token, std::string_view text, int base) {
    const auto value = perflab::whole_number<std::int64_t>(text, base);
    if (!value)
      return syntax_error(text_, token.column, "a whole number that does not fit 64 bits");
    if (base == 10 && *value != 0 && text[0] == '0')
      return syntax_error(text_, token.column, "a number with zeros before it");
    token.number = *value;
    return token;
  }

  std::string_view text_;
  std::size_t& at_;
};

}  // namespace

std::unexpected<Error> syntax_error(std::string_view text, std::size_t column,
                                    std::string_view why) {
  return fail(ErrorCode::bad_input,
              fmt::format("{}: {} at character {}", shown_text(text), why, column));
}

Result<Token> next_token(std::string_view text, std::size_t& at) {
  return TokenReader(text, at).next();
}

}  // namespace perflab::tune
