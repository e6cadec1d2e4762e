// What to try under a verdict, and which source lines it is about.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyze/bottleneck/score.h"
#include "analyze/thread_trace/cycle_figures.h"

namespace perflab::analyze {

struct Kernel;

struct Advice {
  std::string_view rule;
  std::string text;
  std::vector<std::string> lines;  ///< "file:line" that it is about, most cycles first
};

/// What to try, by the rules that hold for the verdict. `kernel`: nullptr without one.
std::vector<Advice> find_advice(const ScoredBottleneck& winner, const Kernel* kernel,
                                const KernelThreadTrace* thread_trace);

}  // namespace perflab::analyze
