// The version of this program, as its documents carry it; CMakeLists.txt has the number.
#pragma once

#include <string_view>

namespace perflab {

/// A string literal: data() ends with a NUL.
extern const std::string_view kProgramVersion;

}  // namespace perflab
