// Tokens and preprocessor lines of a parsed source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimize/ast/syntax_tree.h"

namespace perflab::optimize {

/// A token whose lines are joined: a backslash at the end of a line does not count.
std::string without_splices(std::string_view token);

/// Lines that begin a preprocessor directive, '#' to the last character of the logical line.
std::vector<TextRange> directives_of(const ParsedSource& source);

/// Tokens of a range without comments, as written, one blank between them.
std::string token_text(const ParsedSource& source, const TextRange& range);

/// Index of the directive around a byte.
std::optional<std::size_t> directive_at(const std::vector<TextRange>& directives,
                                        std::uint32_t offset);

}  // namespace perflab::optimize
