// Takes source text apart into words. Types are seen only where they stand in the text.
#include "optimize/transform/code_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace perflab::optimize {
namespace {

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}

constexpr std::array<std::string_view, 24> kLongSymbols{
    "<<=", ">>=", "...", "->*", "<=>", "::", "->", "++", "--", "+=", "-=", "*=",
    "/=",  "%=",  "&=",  "|=",  "^=",  "<<", ">>", "<=", ">=", "==", "!=", "&&"};

class WordReader {
 public:
  WordReader(std::string_view source, const TextRange& range)
      : text_(source.substr(0, std::min<std::size_t>(range.end, source.size()))),
        at_(std::min<std::size_t>(range.begin, text_.size())) {}

  CodeWords all() {
    CodeWords words;
    while (skip_blanks()) {
      const std::size_t begin = at_;
      const CodeWord::Kind kind = take();
      words.push_back({kind, text_.substr(begin, at_ - begin), static_cast<std::uint32_t>(begin)});
    }
    return words;
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  /// Also over comments and joined lines; false: the end.
  bool skip_blanks() {
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == '\n') line_began_ = true;
      if (c == ' ' || (c >= '\t' && c <= '\r') || (c == '\\' && is_line_end(at_ + 1))) {
        ++at_;
      } else if (c == '/' && peek(1) == '/') {
        at_ = line_end();
      } else if (c == '/' && peek(1) == '*') {
        const std::size_t close = text_.find("*/", at_ + 2);
        at_ = close == std::string_view::npos ? text_.size() : close + 2;
      } else {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool is_line_end(std::size_t at) const {
    return at < text_.size() && (text_[at] == '\n' || text_[at] == '\r');
  }
  /// Of the line at at_, joined ones included.
  [[nodiscard]] std::size_t line_end() const {
    std::size_t end = text_.find('\n', at_);
    while (end != std::string_view::npos && end > 0) {
      const std::size_t last = text_[end - 1] == '\r' && end > 1 ? end - 2 : end - 1;
      if (text_[last] != '\\') break;
      end = text_.find('\n', end + 1);
    }
    return end == std::string_view::npos ? text_.size() : end;
  }

  CodeWord::Kind take() {
    const char c = peek();
    if (c == '#' && line_began_) {
      at_ = line_end();
      return CodeWord::Kind::directive;
    }
    line_began_ = false;
    if (starts_name(c)) return name_or_text();
    if (is_decimal(c) || (c == '.' && is_decimal(peek(1)))) return number();
    if (c == '"' || c == '\'') return quoted(c);
    for (const std::string_view symbol : kLongSymbols) {
      if (text_.substr(at_).starts_with(symbol)) {
        at_ += symbol.size();
        return CodeWord::Kind::symbol;
      }
    }
    at_ += text_.substr(at_).starts_with("||") ? 2U : 1U;
    return CodeWord::Kind::symbol;
  }

  CodeWord::Kind name_or_text() {
    const std::size_t begin = at_;
    while (starts_name(peek()) || is_decimal(peek())) ++at_;
    const std::string_view prefix = text_.substr(begin, at_ - begin);
    constexpr std::array<std::string_view, 4> kPrefixes{"u8", "u", "U", "L"};
    if (peek() == '"' && prefix.ends_with('R')) return raw_text();
    if ((peek() == '"' || peek() == '\'') && one_of(kPrefixes, prefix)) return quoted(peek());
    return CodeWord::Kind::name;
  }
  CodeWord::Kind raw_text() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) {
      at_ = text_.size();
      return CodeWord::Kind::text;
    }
    const std::string close = fmt::format("){}\"", text_.substr(at_ + 1, open - at_ - 1));
    const std::size_t end = text_.find(close, open);
    at_ = end == std::string_view::npos ? text_.size() : end + close.size();
    return CodeWord::Kind::text;
  }
  CodeWord::Kind quoted(char quote) {
    ++at_;
    while (at_ < text_.size() && peek() != quote && peek() != '\n') at_ += peek() == '\\' ? 2U : 1U;
    at_ = std::min(at_ + 1, text_.size());
    return CodeWord::Kind::text;
  }
  CodeWord::Kind number() {
    while (at_ < text_.size()) {
      const char c = peek();
      const bool exponent = c == 'e' || c == 'E' || c == 'p' || c == 'P';
      if (exponent && (peek(1) == '+' || peek(1) == '-')) {
        at_ += 2;
      } else if (starts_name(c) || is_decimal(c) || c == '.' ||
                 (c == '\'' && (is_decimal(peek(1)) || starts_name(peek(1))))) {
        ++at_;
      } else {
        break;
      }
    }
    return CodeWord::Kind::number;
  }

  std::string_view text_;
  std::size_t at_;
  bool line_began_ = true;
};

constexpr std::array<std::string_view, 11> kAssignments{
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
/// Names behind which an operand stands, not a name that is declared.
constexpr std::array<std::string_view, 9> kOperandFollows{
    "return", "case", "else", "do", "sizeof", "throw", "co_return", "co_yield", "delete"};

/// Spellings of the types that shown_type() knows, and their canonical names.
constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kTypeSpellings{{
    {"int", "int"},
    {"unsigned", "unsigned int"},
    {"unsigned int", "unsigned int"},
    {"uint32_t", "unsigned int"},
    {"int32_t", "int"},
    {"long", "long"},
    {"unsigned long", "unsigned long"},
    {"long long", "long long"},
    {"unsigned long long", "unsigned long long"},
    {"size_t", "unsigned long"},
    {"uint64_t", "unsigned long"},
    {"int64_t", "long"},
    {"float", "float"},
    {"double", "double"},
    {"bool", "bool"},
    {"short", "short"},
    {"char", "char"},
    {"_Float16", "_Float16"},
}};

/// Whether the ")" ends the header of an if or a loop: a statement begins behind it.
bool closes_header(std::span<const CodeWord> words, std::size_t close) {
  constexpr std::array<std::string_view, 4> kHeaders{"if", "for", "while", "switch"};
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    if (words[i].is(")")) ++depth;
    if (words[i].is("(") && --depth == 0) return i > 0 && one_of(kHeaders, words[i - 1].text);
  }
  return false;
}

std::optional<std::string> canonical_type(std::string_view spelling) {
  const auto* const found = std::ranges::find(
      kTypeSpellings, spelling, &std::pair<std::string_view, std::string_view>::first);
  if (found == kTypeSpellings.end()) return {};
  return std::string(found->second);
}

/// The words of a type right before `index`: "unsigned int"; blank when there is none.
std::string type_before(std::span<const CodeWord> words, std::size_t index) {
  constexpr std::array<std::string_view, 9> kParts{"int",    "unsigned", "long",   "short", "char",
                                                   "signed", "float",    "double", "bool"};
  std::string type;
  while (index > 0 && words[index - 1].kind == CodeWord::Kind::name) {
    const std::string_view word = words[index - 1].text;
    const bool part = one_of(kParts, word);
    if (!part && (!type.empty() || !canonical_type(word))) break;
    type = type.empty() ? std::string(word) : fmt::format("{} {}", word, type);
    --index;
    if (!part) break;
  }
  return type;
}

bool is_launch_index(std::string_view name) {
  constexpr std::array<std::string_view, 4> kIndices{"threadIdx", "blockIdx", "blockDim",
                                                     "gridDim"};
  return one_of(kIndices, name);
}

bool is_in_capitals(std::string_view name) {
  return std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; }) &&
         std::ranges::any_of(name, [](char c) { return c >= 'A' && c <= 'Z'; });
}

/// Whether "#define NAME(x) ..." gives something made of its parameters, numbers and calls.
bool is_harmless_macro(std::string_view directive) {
  const auto end = static_cast<std::uint32_t>(directive.size());
  const std::size_t name = directive.find("define") + 6;
  CodeWords words = code_words(directive, {static_cast<std::uint32_t>(name), end});
  if (words.empty()) return false;
  std::size_t begin = 1;
  std::set<std::string_view> parameters;
  if (words.size() > 1 && words[1].is("(") && words[1].begin == words[0].end()) {
    const auto close = closing_bracket(words, 1);
    if (!close) return false;
    for (std::size_t i = 2; i < *close; ++i) parameters.insert(words[i].text);
    begin = *close + 1;
  }
  for (std::size_t i = begin; i < words.size(); ++i) {
    const std::string_view text = words[i].text;
    if (changes(words[i]) || text == "{" || text == ";" || text == "#" || text == "##" ||
        (text == "&" && is_unary(words, i)))
      return false;
    const bool called = i + 1 < words.size() && words[i + 1].is("(");
    if (words[i].kind == CodeWord::Kind::name && !parameters.contains(text) && !called)
      return false;
  }
  return true;
}

}  // namespace

bool may_hide_uses(const SourceModel& model, std::span<const CodeWord> words) {
  std::map<std::string_view, bool> harmless;
  const CodeWords all = code_words(model.text, {0, static_cast<std::uint32_t>(model.text.size())});
  for (const CodeWord& word : all) {
    if (word.kind != CodeWord::Kind::directive) continue;
    const std::size_t place = word.text.find_first_not_of("# \t");
    if (place == std::string_view::npos || !word.text.substr(place).starts_with("define")) continue;
    const auto name_begin = static_cast<std::uint32_t>(place + 6);
    const CodeWords name =
        code_words(word.text, {name_begin, static_cast<std::uint32_t>(word.text.size())});
    if (name.empty()) continue;
    const bool good = is_harmless_macro(word.text);
    const auto [entry, added] = harmless.emplace(name.front().text, good);
    if (!added) entry->second = entry->second && good;
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].kind != CodeWord::Kind::name) continue;
    const auto known = harmless.find(words[i].text);
    if (known != harmless.end() && !known->second) return true;
    if (known != harmless.end() || !is_in_capitals(words[i].text)) continue;
    const bool called = i + 1 < words.size() && words[i + 1].is("(");
    const bool statement =
        i == 0 || words[i - 1].is(";") || words[i - 1].is("{") || words[i - 1].is("}");
    if (called ||
        (statement && !(i + 1 < words.size() && words[i + 1].kind == CodeWord::Kind::name)))
      return true;
  }
  return false;
}

CodeWords code_words(std::string_view source, const TextRange& range) {
  return WordReader(source, range).all();
}

std::optional<std::size_t> closing_bracket(std::span<const CodeWord> words, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < words.size(); ++i) {
    if (words[i].kind != CodeWord::Kind::symbol) continue;
    const std::string_view text = words[i].text;
    if (text == "(" || text == "[" || text == "{") ++depth;
    if ((text == ")" || text == "]" || text == "}") && --depth == 0) return i;
  }
  return {};
}

bool may_end_type(const CodeWord& word) {
  if (word.kind == CodeWord::Kind::name) return !one_of(kOperandFollows, word.text);
  return word.is(">");
}

bool is_unary(std::span<const CodeWord> words, std::size_t index) {
  if (index == 0) return true;
  const CodeWord& before = words[index - 1];
  if (before.kind == CodeWord::Kind::number || before.kind == CodeWord::Kind::text) return false;
  if (before.kind == CodeWord::Kind::name) return one_of(kOperandFollows, before.text);
  if (before.is(")")) return closes_header(words, index - 1);
  return !before.is("]");  // behind "}" a statement begins more often than a product goes on
}

bool is_member(std::span<const CodeWord> words, std::size_t index) {
  return index > 0 && (words[index - 1].is(".") || words[index - 1].is("->"));
}

bool changes(const CodeWord& word) {
  return one_of(kAssignments, word.text) || word.is("++") || word.is("--");
}

bool may_change(std::span<const CodeWord> words, std::string_view name) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].is("[")) {
      const bool binding =
          i > 0 && (words[i - 1].is("auto") || words[i - 1].is("&") || words[i - 1].is("&&"));
      const bool capture = is_unary(words, i) && i + 1 < words.size() && words[i + 1].is("&");
      if (binding || capture) return true;
    }
    if (words[i].kind != CodeWord::Kind::name || !words[i].is(name) || is_member(words, i))
      continue;
    if (i + 1 < words.size()) {
      if (changes(words[i + 1])) return true;
    }
    if (i == 0) continue;
    const CodeWord& before = words[i - 1];
    if (before.is("++") || before.is("--") || may_end_type(before)) return true;
    if (before.is("&")) {
      if (is_unary(words, i - 1) || may_end_type(words[i - 2])) return true;
    }
  }
  return false;
}

bool has_name(std::span<const CodeWord> words, std::string_view name) {
  return std::ranges::any_of(words, [&](const CodeWord& word) {
    return word.kind == CodeWord::Kind::name && word.is(name);
  });
}

std::string unused_name(std::string_view source, std::string wish) {
  if (!source.contains(wish)) return wish;
  for (int number = 2;; ++number) {
    std::string name = fmt::format("{}_{}", wish, number);
    if (!source.contains(name)) return name;
  }
}

std::optional<std::string> shown_type(const SourceModel& model, const SourceKernel& kernel,
                                      std::string_view name) {
  const auto parameter = std::ranges::find(kernel.parameters, name, &Parameter::name);
  const CodeWords words = code_words(model.text, kernel.body);
  std::optional<std::string> shown;
  if (parameter != kernel.parameters.end()) shown = parameter->type;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].kind != CodeWord::Kind::name || !words[i].is(name) || is_member(words, i))
      continue;
    const bool declared =
        may_end_type(words[i - 1]) || ((words[i - 1].is("*") || words[i - 1].is("&")) && i > 1 &&
                                       canonical_type(words[i - 2].text).has_value());
    if (!declared) continue;
    const std::optional<std::string> type = canonical_type(type_before(words, i));
    if (!type || (shown && *shown != *type)) return {};
    shown = type;
  }
  return shown;
}

bool has_type(const SourceModel& model, const SourceKernel& kernel, const TextRange& expression,
              std::string_view type) {
  constexpr std::array<std::string_view, 7> kSymbols{"+", "-", "*", "/", "%", "(", ")"};
  const CodeWords words = code_words(model.text, expression);
  bool typed = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const CodeWord& word = words[i];
    if (word.kind == CodeWord::Kind::number) {
      if (!std::ranges::all_of(word.text, is_decimal) || word.text.size() > 9) return false;
    } else if (word.kind == CodeWord::Kind::name) {
      const bool launch_index =
          is_launch_index(word.text) && i + 2 < words.size() && words[i + 1].is(".");
      if (launch_index ? type != "unsigned int" : shown_type(model, kernel, word.text) != type)
        return false;
      if (launch_index) i += 2;
    } else if (!one_of(kSymbols, word.text)) {
      return false;
    }
    typed = true;
  }
  return typed;
}

}  // namespace perflab::optimize
