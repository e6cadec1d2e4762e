// The options of `rocm-perf optimize`, and what they ask for.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/kit/present.h"
#include "optimize/run/optimize_kernel.h"

namespace perflab::cli {

struct OptimizeArguments {
  std::string what;  ///< SOURCE; the application with --source
  std::string source, arch, recheck;
  std::string min_gain = "2%", time_budget, time_limit = "60s", type;
  optimize::OptimizeRequest request;
  std::vector<std::string> sandbox_shown;
  Outputs outputs{.folder = "optimization", .again = "--resume"};
  bool apply = false;
};

void add_optimize_options(CLI::App& command, OptimizeArguments& arguments);

/// What the command line asks for; `behind_dashes`: arguments of the compiler. Errors (usage): a
/// number or time that cannot be read, no source.
Result<optimize::OptimizeRequest> optimize_request(const OptimizeArguments& arguments,
                                                   const std::vector<std::string>& behind_dashes);

}  // namespace perflab::cli
