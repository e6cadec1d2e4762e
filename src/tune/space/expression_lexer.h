// Tokens of expressions. Private to src/tune/space.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "tune/space/expression_item.h"

namespace perflab::tune {

enum class TokenKind { end, number, string, name, symbol };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;  ///< of names and symbols
  std::size_t column = 1;
  Item number;
  std::string string;  ///< what a string literal says
};

/// The token that begins at `at` or after blanks there; `at` moves behind it. `end` at the end.
/// Errors (bad_input): those of syntax_error().
Result<Token> next_token(std::string_view text, std::size_t& at);

/// "TEXT": WHY at character COLUMN.
std::unexpected<Error> syntax_error(std::string_view text, std::size_t column,
                                    std::string_view why);

}  // namespace perflab::tune
