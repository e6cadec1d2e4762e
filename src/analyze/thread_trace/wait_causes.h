// The cause of each execution of a wait in one wave: the trace's link where the decoder wrote one,
// else what the counter rule says.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/thread_trace/wait_rule.h"
#include "att/thread_trace.h"

namespace perflab::analyze {

/// One execution of a wait and the code rows that it was for.
struct CausedWait {
  std::uint32_t instruction = 0;       ///< index into Wave::instructions
  std::uint32_t first = 0, count = 0;  ///< a stretch of WaitCauses::rows; 0: nothing is known
  bool from_trace = false;
};

struct WaitCauses {
  std::vector<CausedWait> waits;  ///< in order of execution
  std::vector<att::RowIndex>
      rows;                        ///< one per outstanding instruction: a row can stand there twice
  std::uint64_t links_unused = 0;  ///< links of the trace that fit no execution
  WaveWaits by_rule;               ///< what the rule says; `waits` has the same executions
};

/// The trace lists its links in the order of execution but says not for which execution one is:
/// there can be several of one (a link per counter) or none (nothing was outstanding). Each
/// execution takes, in order, the links of its row that share an instruction with what the rule
/// says was outstanding, and at most one per counter.
void find_wait_causes(const att::Wave& wave, const WaitRule& rule, WaitCauses& out);

}  // namespace perflab::analyze
