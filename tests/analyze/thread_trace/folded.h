// Waves in memory folded into figures, with the sums that hold for all of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "analyze/thread_trace/cycles.h"
#include "analyze/thread_trace/fold.h"

namespace perflab::analyze {

/// A trace of one kernel and what its waves add up to.
class Folded {
 public:
  explicit Folded(std::vector<att::CodeRow> code, int gfxip = 9, bool keep_states = false) {
    trace.code = std::move(code);
    trace.gfxip = gfxip;
    table = std::make_unique<RowTable>(trace.code);
    kernels = std::make_unique<TraceKernels>(trace);
    rule = std::make_unique<WaitRule>(trace.code, gfxip);
    fold = std::make_unique<WaveFold>(*table, *kernels, *rule, keep_states);
  }

  /// Figures of the first kernel (the only one).
  KernelThreadTrace figures() {
    KernelThreadTrace out;
    add_fold(trace, *table, fold->folds().front(), out);
    const std::int64_t caused =
        std::accumulate(out.wait_by_class.begin(), out.wait_by_class.end(), std::int64_t{0},
                        [](std::int64_t sum, const auto& one) { return sum + one.second; });
    EXPECT_EQ(caused + out.wait_unattributed + out.wait_other, out.time.wait);
    EXPECT_EQ(out.time.total(), out.sums.cost());
    return out;
  }

  att::ThreadTrace trace;
  std::unique_ptr<RowTable> table;
  std::unique_ptr<TraceKernels> kernels;
  std::unique_ptr<WaitRule> rule;
  std::unique_ptr<WaveFold> fold;
};

}  // namespace perflab::analyze
