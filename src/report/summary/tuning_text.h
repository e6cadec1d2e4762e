// Parts of the answers of autotune and optimize as people read them.
#pragma once

#include <cstddef>
#include <string>

#include "base/text/json.h"

namespace perflab::report {

/// The rows of a part of the summary of autotune.json, without its title.
std::string autotune_part_text(const Json& part, std::size_t width);
/// The same of optimization.json.
std::string optimization_part_text(const Json& part, std::size_t width);

}  // namespace perflab::report
