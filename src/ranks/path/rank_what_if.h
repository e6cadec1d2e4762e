// What-if across ranks: its grammar on the command line. What each means for the graph of all
// ranks: docs/models/ranks_path.md "What-if".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "ranks/values/collective.h"

namespace perflab::ranks {

struct RankWhatIf {
  enum class Target : std::uint8_t {
    scenario,  ///< something inside ranks is faster: a stored scenario
    balance,   ///< every rank works as long as the mean of the ranks before each operation
    transfer,  ///< collectives transfer faster
    no_wait,   ///< nobody waits at collectives
    median,    ///< one rank works as long as the median of the others
  };
  std::string text;  ///< as given
  Target target = Target::scenario;
  std::string scenario = {};              ///< as RankSummary::scenarios has it
  std::optional<std::int64_t> rank = {};  ///< of scenario (null: all) and median: the rank's number
  std::optional<CollectiveKind> kind = {};  ///< of transfer and no_wait; null: all
  double factor = 1;                        ///< of transfer: new time / time
};

/// Reads 'regex=2x' and all else that `analyze --what-if` takes (on all ranks), 'rank:3/regex=2x'
/// (on rank 3), 'balance', 'transfer=2x' (twice as fast) or 'transfer:all_reduce=2x', 'wait=0' or
/// 'wait:all_reduce=0', 'rank:3=median'. Error (usage): says what is wrong and shows the forms.
Result<RankWhatIf> parse_rank_what_if(std::string_view text);

}  // namespace perflab::ranks
