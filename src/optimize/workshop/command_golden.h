// What the original computes and prints for one seed, and whether a run of a candidate does the
// same: in a proof, and while it is timed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "optimize/workshop/command_outputs.h"
#include "optimize/workshop/command_prints.h"

namespace perflab::optimize {

/// Made of two runs of the original.
struct Golden {
  RunOutputs outputs;
  bool text_repeats = true;  ///< false: its stdout says something else each time
  MetricLines metric;
  MetricDemand demand;       ///< what of `metric` the two runs have in common
  std::string not_compared;  ///< the rest of it, as a sentence; empty: nothing
};

/// Runs the original twice; its files stay until remove_outputs(). `checked`: there is a check of
/// the user's, so that stdout need not repeat. Errors: target_failed (a run fails), refused (two
/// runs differ), those of run_command().
Result<Golden> make_golden(const CommandRun& run, const OutputRule& rule, std::uint64_t seed,
                           bool checked);

/// Outputs, then the metric's lines. A text that does not repeat is not compared, which the
/// sentence says.
OutputComparison compare_with_golden(const std::vector<OutputFile>& outputs, const Golden& golden,
                                     const RunEnd& found, const OutputRule& rule);

}  // namespace perflab::optimize
