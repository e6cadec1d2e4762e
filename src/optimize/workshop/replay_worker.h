// The process that holds the device: `rocm-perf optimize-worker FOLDER`, which is not in the help.
// A candidate that faults, or hangs the GPU, ends this process and not the search. Requests and
// answers are files of a folder that only we may enter, renamed into place, so that nothing that is
// printed can spoil them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/system/sandbox.h"
#include "base/text/json.h"
#include "optimize/workshop/replay_bench.h"

namespace perflab::optimize {

/// An answer, or how the process ended instead and in which step (bench_step; empty: before any).
struct BenchAnswer {
  std::optional<Json> answer;
  std::string ended, step;
};
/// Errors: those of ReplayBench, and what keeps the worker from working at all.
using AskBench = std::function<Result<BenchAnswer>(const Json& request)>;

/// Starts the worker with the first request, and again after it ended or lost its device.
class ReplayWorker {
 public:
  /// `command`: the worker's, to which the folder is added. `sandbox`: where it runs; null: none.
  ReplayWorker(std::vector<std::string> command, const BenchSetup& setup,
               std::shared_ptr<const Sandbox> sandbox = {});
  ReplayWorker(const ReplayWorker&) = delete;
  ReplayWorker(ReplayWorker&&) = delete;
  ReplayWorker& operator=(const ReplayWorker&) = delete;
  ReplayWorker& operator=(ReplayWorker&&) = delete;
  ~ReplayWorker();

  /// Errors: those that the worker answers with, missing_tool (it cannot be started), usage (no
  /// temporary folder), interrupted.
  Result<BenchAnswer> ask(const Json& request);

 private:
  class Running;
  std::vector<std::string> command_;
  Json setup_;
  std::shared_ptr<const Sandbox> sandbox_;
  std::unique_ptr<Running> running_;
};

/// This program with the hidden subcommand.
std::vector<std::string> own_worker_command();

/// The worker: answers requests in `folder` until the one that started it goes away, or the device
/// is lost. Returns the exit code.
int optimize_worker_main(const std::string& folder);

}  // namespace perflab::optimize
