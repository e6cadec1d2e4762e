// What was dirtied before the launches of a replay, as documents and texts say it.
#pragma once

#include <string>
#include <vector>

#include "base/missing.h"
#include "base/text/json.h"
#include "replay/left_memory.h"

namespace perflab::report {

/// The field left_memory: an object; null with an entry in `missing`.
Json left_memory_json(const replay::Dirtied& dirtied, std::vector<Missing>& missing);
/// A line's text: "LDS of 65536 bytes, 512 vector registers, no scratch".
std::string left_memory_words(const replay::Dirtied& dirtied);

}  // namespace perflab::report
