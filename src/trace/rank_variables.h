// Which rank of a job a process is, by its environment, or as a hint by the name of its recording
// (docs/facts/ranks.md "Identity"); the names of variables: base/rank_variables.h.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "trace/trace.h"

namespace perflab::trace {

/// RankFacts::from of a number that stands in a trace of PyTorch's profiler.
inline constexpr std::string_view kDistributedInfo = "distributedInfo";

/// RankFacts::from of a number that nothing but a name says: of the recording's file, or of its
/// folder. It is a hint.
inline constexpr std::string_view kFileName = "file name";

/// The rank that the name of a file hints at, else that of its folder: "rank_3_results.json",
/// "rank0003/kernel_trace.csv". Default: neither has a number behind the word "rank", or several
/// different ones. A local rank ("local_rank_3") is none.
RankFacts rank_of_name(const std::filesystem::path& file);

/// The rank that an environment says; `value` gives a variable, nothing when it is not set. A
/// number that is negative, or not below the size, is none. Default: no variable says it.
RankFacts rank_of(const std::function<std::optional<std::string>(std::string_view name)>& value);

/// The rank of this process.
RankFacts rank_of_this_process();

}  // namespace perflab::trace
