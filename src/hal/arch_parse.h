// From the text of one table (archs/*.json) to an Arch. Every field must be there and no other;
// null is allowed where the Arch has an optional.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "hal/arch.h"

namespace perflab::hal {

/// Parses one architecture table. The error (bad_input) names `what` and the field.
Result<Arch> parse_arch(std::string_view text, std::string_view what);

/// Meaning of source keys, in the order of the file.
using SourceTable = std::vector<std::pair<std::string, std::string>>;

/// Parses archs/sources.json: an object of strings. The error (bad_input) names `what`.
Result<SourceTable> parse_sources(std::string_view text, std::string_view what);

}  // namespace perflab::hal
