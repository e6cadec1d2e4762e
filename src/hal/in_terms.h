// Sentences in a platform's words (terms.h): rules, features and advice are written once, in AMD's.
#pragma once

#include <string>
#include <string_view>

#include "hal/terms.h"

namespace perflab::hal {

/// The text with AMD's words replaced by the platform's, whole words only: "work-groups" becomes
/// "blocks", "a CU" becomes "an SM". As it is on AMD. Not for names of kernels or files.
std::string in_terms(std::string_view text, Platform platform);

}  // namespace perflab::hal
