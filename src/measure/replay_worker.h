// The process that holds the device, and the folder in which it is asked: `rocm-perf
// optimize-worker` and `rocm-perf autotune-capture-worker`, which are not in the help. A kernel
// that faults, or hangs the GPU, ends this process and not the search. Requests and answers are
// files of a folder that only we may enter, renamed into place, so that nothing that is printed can
// spoil them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/system/sandbox.h"
#include "base/text/json.h"

namespace perflab::measure {

/// An answer, or how the process ended instead and in which step (empty: before any).
struct BenchAnswer {
  std::optional<Json> answer;
  std::string ended, step;
};
/// Errors: those of WorkerBench, and what keeps the worker from working at all.
using AskBench = std::function<Result<BenchAnswer>(const Json& request)>;

/// Starts the worker with the first request, and again after it ended or lost its device.
class ReplayWorker {
 public:
  /// `command`: the worker's, to which the folder is added. `setup`: what OpenBench gets.
  /// `sandbox`: where it runs; null: none.
  ReplayWorker(std::vector<std::string> command, Json setup,
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

/// This program with a hidden subcommand.
std::vector<std::string> own_worker_command(std::string subcommand);

/// What answers requests in the worker's process.
class WorkerBench {
 public:
  WorkerBench() = default;
  WorkerBench(const WorkerBench&) = delete;
  WorkerBench& operator=(const WorkerBench&) = delete;
  WorkerBench(WorkerBench&&) = delete;
  WorkerBench& operator=(WorkerBench&&) = delete;
  virtual ~WorkerBench() = default;

  virtual Result<Json> answer(const Json& request) = 0;
  /// The device is of no use any more: the process ends after this answer.
  [[nodiscard]] virtual bool lost() const = 0;
};
/// Who runs from now on; when the process dies in a step, it died of that.
using OnStep = std::function<Result<void>(std::string_view)>;
/// Opens capture and device with the first request, whose answer an error becomes.
using OpenBench =
    std::function<Result<std::unique_ptr<WorkerBench>>(const Json& setup, const OnStep& step)>;

/// The worker: answers requests in `folder` until the one that started it goes away, or the device
/// is lost. Returns the exit code.
int replay_worker_main(const std::string& folder, const OpenBench& open);

}  // namespace perflab::measure
