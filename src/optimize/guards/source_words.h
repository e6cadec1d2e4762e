// A source compared as a text of tokens: what stands outside of a kernel, the directives, branches
// that are not compiled, attributes and assembly of its definition. For the guards on the source.
#pragma once

#include <string>
#include <vector>

#include "optimize/model/source_model.h"

namespace perflab::optimize {

/// One token as it is compared: comments left out, lines joined; in a directive blanks count, and
/// where it ends.
struct ComparedToken {
  std::string text;
  std::uint32_t begin = 0;
  friend bool operator==(const ComparedToken& a, const ComparedToken& b) {
    return a.text == b.text;
  }
};
/// Tokens that begin in [begin, end).
std::vector<ComparedToken> compared_tokens(const SourceModel& model, const TextRange& range);

/// The same, one blank between them.
std::string compared_text(const SourceModel& model, const TextRange& range);

/// Texts of the directives in a range; `inside`: of those in it, else of those outside of it.
std::vector<std::string> directives_in(const SourceModel& model, const TextRange& range,
                                       bool inside);

/// "#pragma unroll", "#pragma nounroll", "#pragma clang loop".
bool is_loop_pragma(std::string_view directive);

/// Text of branches of #if in a range that are not compiled.
std::string skipped_text(const SourceModel& model, const TextRange& range);

/// Names of the attributes that are written in a range, without underscores and namespaces.
std::vector<std::string> attributes_in(const SourceModel& model, const TextRange& range);

/// How often an identifier stands in a range.
std::size_t count_of(const SourceModel& model, const TextRange& range, std::string_view word);

}  // namespace perflab::optimize
