// Which variables of a process's environment say which rank of a job it is (docs/facts/ranks.md
// "Identity"). The one list: no other variable is read for that, and no other is ever shown.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trace/trace.h"

namespace perflab::trace {

/// The variables of one launcher. `size` is asked for where `rank` alone may be something else.
struct RankVariables {
  std::string_view rank, size;
  std::string_view local_rank;  ///< empty: it has none
  bool needs_size = false;
};

/// Best first: torchrun's, which stands inside of MPI or Slurm and knows better; MPI's; Slurm's.
std::span<const RankVariables> rank_variables();

/// The rank that an environment says; `value` gives a variable, nothing when it is not set. A
/// number that is negative, or not below the size, is none. Default: no variable says it.
RankFacts rank_of(const std::function<std::optional<std::string>(std::string_view name)>& value);

/// The rank of this process.
RankFacts rank_of_this_process();

}  // namespace perflab::trace
