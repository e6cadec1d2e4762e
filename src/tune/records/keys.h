// Keys of values and configurations that are equal exactly when same_value() is: for finding
// duplicates and levels. Internal to src/tune/records.
#pragma once

#include <string>
#include <string_view>

#include "tune/values/value.h"

namespace perflab::tune {

/// Appends the value; what is appended for one value is never the beginning of what is appended for
/// another followed by a comma or the end. 16, 16.0 give 16; true gives 1; texts are in quotes.
void append_key(std::string& out, const Value& value);
/// Text in double quotes, with quotes and backslashes escaped.
void append_quoted(std::string& out, std::string_view text);

}  // namespace perflab::tune
