// Preprocessing tokens and directives: [lex.pptoken], [cpp] of the C++ standard; attributes: GNU's
// and [dcl.attr.grammar].
#include "optimize/guards/source_words.h"

#include <algorithm>

#include "optimize/ast/tokens.h"
#include "optimize/model/modelled_source.h"

namespace perflab::optimize {
namespace {

std::size_t first_token(const SourceModel& model, std::uint32_t offset) {
  return static_cast<std::size_t>(
      std::ranges::lower_bound(model.tokens, offset, {}, &TextRange::begin) - model.tokens.begin());
}

/// Index of the bracket that closes the one at `open`.
std::size_t closing_token(const SourceModel& model, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < model.tokens.size(); ++i) {
    const std::string_view text = model.at(model.tokens[i]);
    if (text == "(" || text == "[" || text == "{") ++depth;
    if ((text == ")" || text == "]" || text == "}") && --depth == 0) return i;
  }
  return model.tokens.size();
}

bool starts_name(std::string_view word) {
  return !word.empty() && (word.front() == '_' || (word.front() >= 'a' && word.front() <= 'z') ||
                           (word.front() >= 'A' && word.front() <= 'Z'));
}

std::string bare_name(std::string_view name) {
  while (name.starts_with('_')) name.remove_prefix(1);
  while (name.ends_with('_')) name.remove_suffix(1);
  return std::string(name);
}

/// The attributes of a list: names at its top level, the last part of each.
void names_of_list(const SourceModel& model, std::size_t begin, std::size_t end,
                   std::vector<std::string>& names) {
  for (std::size_t i = begin; i < end; ++i) {
    const std::string_view text = model.at(model.tokens[i]);
    if (text == "(" || text == "[" || text == "{") {
      i = closing_token(model, i);
      continue;
    }
    const bool is_scope = i + 1 < end && model.at(model.tokens[i + 1]) == "::";
    if (starts_name(text) && text != "using" && !is_scope) names.push_back(bare_name(text));
  }
}

}  // namespace

std::vector<ComparedToken> compared_tokens(const SourceModel& model, const TextRange& range) {
  std::vector<ComparedToken> found;
  std::optional<std::size_t> directive;
  for (std::size_t i = first_token(model, range.begin);
       i < model.tokens.size() && model.tokens[i].begin < range.end; ++i) {
    const TextRange& token = model.tokens[i];
    const auto here = directive_at(model.directives, token.begin);
    if (directive && here != directive) found.push_back({"\n", token.begin});
    const bool goes_on = here && here == directive;
    directive = here;
    const bool apart = goes_on && i > 0 && model.tokens[i - 1].end != token.begin;
    found.push_back({(apart ? " " : "") + without_splices(model.at(token)), token.begin});
  }
  if (directive) found.push_back({"\n", range.end});
  return found;
}

std::string compared_text(const SourceModel& model, const TextRange& range) {
  std::string text;
  for (const ComparedToken& token : compared_tokens(model, range))
    text += (text.empty() ? "" : " ") + token.text;
  return text;
}

std::vector<std::string> directives_in(const SourceModel& model, const TextRange& range,
                                       bool inside) {
  std::vector<std::string> found;
  for (const TextRange& directive : model.directives)
    if ((directive.begin >= range.begin && directive.begin < range.end) == inside)
      found.push_back(compared_text(model, directive));
  return found;
}

bool is_loop_pragma(std::string_view directive) {
  std::vector<std::string_view> words;
  while (!directive.empty() && words.size() < 4) {
    const std::size_t end = std::min(directive.find(' '), directive.size());
    if (end != 0) words.push_back(directive.substr(0, end));
    directive.remove_prefix(std::min(end + 1, directive.size()));
  }
  if (words.size() < 3 || words[0] != "#" || words[1] != "pragma") return false;
  return words[2] == "unroll" || words[2] == "nounroll" ||
         (words[2] == "clang" && words.size() > 3 && words[3] == "loop");
}

std::string skipped_text(const SourceModel& model, const TextRange& range) {
  std::string text;
  for (const TextRange& skipped : model.skipped) {
    const TextRange both{std::max(range.begin, skipped.begin), std::min(range.end, skipped.end)};
    if (both.begin < both.end) text += compared_text(model, both) + "\n";
  }
  return text;
}

std::vector<std::string> attributes_in(const SourceModel& model, const TextRange& range) {
  std::vector<std::string> names;
  for (std::size_t i = first_token(model, range.begin);
       i + 1 < model.tokens.size() && model.tokens[i].begin < range.end; ++i) {
    const std::string word = without_splices(model.at(model.tokens[i]));
    const std::string_view next = model.at(model.tokens[i + 1]);
    if (word == "__attribute__" || word == "__attribute" || word == "__declspec") {
      const std::size_t close = closing_token(model, i + 1);
      const bool twice = word != "__declspec" && i + 2 < model.tokens.size() &&
                         model.at(model.tokens[i + 2]) == "(";
      const std::size_t begin = i + (twice ? 3 : 2);
      names_of_list(model, begin, twice ? closing_token(model, i + 2) : close, names);
      i = std::min(close, model.tokens.size());
    } else if ((word == "[" || word == "<:") && (next == "[" || next == "<:")) {
      names_of_list(model, i + 2, word == "[" ? closing_token(model, i + 1) : i + 3, names);
    }
  }
  std::ranges::sort(names);
  return names;
}

std::size_t count_of(const SourceModel& model, const TextRange& range, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t i = first_token(model, range.begin);
       i < model.tokens.size() && model.tokens[i].begin < range.end; ++i)
    if (without_splices(model.at(model.tokens[i])) == word) ++count;
  return count;
}

}  // namespace perflab::optimize
