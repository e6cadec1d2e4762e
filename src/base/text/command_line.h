// Command lines as text: splitting the one string of `profile "./app args"`, and quoting an
// argument array for people. Quoting rules are POSIX's (Shell Command Language 2.2); nothing is
// expanded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace perflab {

/// Splits as a POSIX shell would with every expansion off: blanks and newlines separate, '…' is
/// literal, in "…" a backslash escapes $ ` " \ and newline, outside it escapes any character.
/// $, `, *, ? and ~ stay as they are. Errors (usage): an open quote, a backslash at the end, no
/// word at all, a NUL, or an unquoted | & ; < > (it would need a shell, which is never used).
Result<std::vector<std::string>> split_command_line(std::string_view text);

/// One line that split_command_line (and a shell) turns back into the same words.
std::string join_command_line(const std::vector<std::string>& words);

}  // namespace perflab
