// rocm-perf optimize-worker: what `optimize` starts for a capture, to hold the device. Not in the
// help.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/kit/command.h"
#include "optimize/workshop/optimize_worker.h"

namespace perflab::cli {

void add_optimize_worker(CLI::App& app, int& exit_code) {
  const auto folder = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("optimize-worker", "")->group("");
  command->add_option("FOLDER", *folder)->required();
  command->callback([folder, &exit_code] { exit_code = optimize::optimize_worker_main(*folder); });
}

}  // namespace perflab::cli
