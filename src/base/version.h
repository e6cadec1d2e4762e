// The version of this program, as its documents carry it; CMakeLists.txt has the number.
#pragma once

#include <string_view>

namespace perflab {

/// "0.1.0". A string literal's: data() ends with a NUL.
extern const std::string_view kProgramVersion;

}  // namespace perflab
