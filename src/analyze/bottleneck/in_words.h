// Features, conditions and lists in words, for the sentences of a verdict. Private to
// src/analyze/bottleneck.
#pragma once

#include <string>
#include <vector>

#include "analyze/bottleneck/score.h"

namespace perflab::analyze {

/// "83 %", "4.2 us", "12 waves".
std::string value_in_words(FeatureId id, double value);
/// "memory bandwidth used 83 % (at least 60 %)".
std::string in_words(const Evidence& evidence);
/// "a, b and c".
std::string list_in_words(const std::vector<std::string>& items);

}  // namespace perflab::analyze
