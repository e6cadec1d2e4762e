// Which rank of a job a process is, by its environment (docs/facts/ranks.md "Identity"); the names:
// base/rank_variables.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "trace/trace.h"

namespace perflab::trace {

/// RankFacts::from of a number that stands in a trace of PyTorch's profiler.
inline constexpr std::string_view kDistributedInfo = "distributedInfo";

/// The rank that an environment says; `value` gives a variable, nothing when it is not set. A
/// number that is negative, or not below the size, is none. Default: no variable says it.
RankFacts rank_of(const std::function<std::optional<std::string>(std::string_view name)>& value);

/// The rank of this process.
RankFacts rank_of_this_process();

}  // namespace perflab::trace
