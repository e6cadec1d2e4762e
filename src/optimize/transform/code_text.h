// The words of C++ source text, for what the source model does not tell: which names stand in a
// piece of a body, and what is done to them. It knows comments, strings and directives and nothing
// of types, so every question about it is answered towards "may be". Words: [lex] of the C++
// standard.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "optimize/model/source_model.h"

namespace perflab::optimize {

/// Whether a text is one of a list.
constexpr bool one_of(const auto& list, std::string_view text) {
  return std::ranges::find(list, text) != std::ranges::end(list);
}

struct CodeWord {
  enum class Kind : std::uint8_t { name, number, text, symbol, directive };
  Kind kind = Kind::symbol;
  std::string_view text;
  std::uint32_t begin = 0;  ///< byte of the source
  [[nodiscard]] std::uint32_t end() const {
    return begin + static_cast<std::uint32_t>(text.size());
  }
  [[nodiscard]] bool is(std::string_view other) const { return text == other; }
};
using CodeWords = std::vector<CodeWord>;

/// The words of a range of the source, without comments. A directive is one word up to its line's
/// end. The views point into `source`.
CodeWords code_words(std::string_view source, const TextRange& range);

/// Index of the bracket that closes the one at `open`; nothing: it is not closed.
std::optional<std::size_t> closing_bracket(std::span<const CodeWord> words, std::size_t open);

/// Whether the word may be the end of a type, with a declared name behind it.
bool may_end_type(const CodeWord& word);

/// Whether the word is an assignment, "++" or "--".
bool changes(const CodeWord& word);

/// Whether a name is or may be declared, assigned, stepped, or its address taken in these words.
bool may_change(std::span<const CodeWord> words, std::string_view name);

/// Whether the word at `index` is the unary operator of that text ("&", "*"), not the binary one.
bool is_unary(std::span<const CodeWord> words, std::size_t index);

/// Whether the name is there at all.
bool has_name(std::span<const CodeWord> words, std::string_view name);

/// Whether the word at `index` stands behind "." or "->" and so names a member.
bool is_member(std::span<const CodeWord> words, std::size_t index);

/// Whether a macro in these words may touch variables that the words do not show: one of this file
/// whose text has other names than its parameters, or steps or assigns something; one of a header
/// that is called or stands as a statement (capitals tell it).
bool may_hide_uses(const SourceModel& model, std::span<const CodeWord> words);

/// A name that is not in the source yet: `wish`, or `wish` with "_2", "_3", ...; the kernels of one
/// source never share one.
std::string unused_name(std::string_view source, std::string wish);

/// The type that a variable of the kernel has: of a parameter, of "threadIdx.x" and the like, or of
/// a local variable that is declared with the name of a built-in type everywhere. Nothing: the text
/// does not show it.
std::optional<std::string> shown_type(const SourceModel& model, const SourceKernel& kernel,
                                      std::string_view name);

/// Whether an expression has an integer value that is compared with a `type` without changing the
/// type: all its names have that type, its numbers are plain.
bool has_type(const SourceModel& model, const SourceKernel& kernel, const TextRange& expression,
              std::string_view type);

}  // namespace perflab::optimize
