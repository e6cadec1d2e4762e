// From sums by code row to the figures of a kernel: classes, hot instructions, hot source lines,
// waits and what they were for.
#pragma once

#include <vector>

#include "analyze/thread_trace/cycle_figures.h"
#include "analyze/thread_trace/fold.h"
#include "analyze/thread_trace/row_table.h"
#include "analyze/thread_trace/wait_rule.h"
#include "att/thread_trace.h"

namespace perflab::analyze {

/// One row of a kernel with its sums.
struct RowSum {
  att::RowIndex row = att::kNoRow;
  CycleSums sums;
  std::int64_t wait_caused = 0;
};

/// The executed rows of a kernel over its waves, ascending.
std::vector<RowSum> row_sums(const KernelFold& fold);
/// The same as the code has them, of those of `rows` (ascending) that were executed.
std::vector<RowSum> row_sums(const att::ThreadTrace& trace, const std::vector<att::RowIndex>& rows);

/// All waits of a kernel's waves and what they were for, most cycles first; without texts.
std::vector<WaitPair> wait_pairs(const KernelFold& fold);

/// Fills everything of `out` that comes from the waves.
void add_fold(const att::ThreadTrace& trace, const RowTable& table, const KernelFold& fold,
              KernelThreadTrace& out);

/// Fills what the sums of code rows alone say (a stats file, or a folder without waves): `rows` are
/// those of the kernel. Time is then split by what the instructions are, not by what was recorded
/// of each execution.
void add_code_rows(const att::ThreadTrace& trace, const RowTable& table, const WaitRule& rule,
                   const std::vector<att::RowIndex>& rows, KernelThreadTrace& out);

/// "file:line -> file:line" in its parts, innermost first.
std::vector<std::string> chain_of(std::string_view source);

}  // namespace perflab::analyze
