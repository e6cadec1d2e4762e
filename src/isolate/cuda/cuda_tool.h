// The library inside a CUDA program: CUPTI's one subscriber of the process, what it has seen of
// memory, modules and streams, and the capture of the launch that was asked for. Facts:
// docs/facts/cuda_cupti.md "Capture", "Injection, exit, forks".
#pragma once

#include <unistd.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "cuda/launch_parameters.h"
#include "cuda/libraries.h"
#include "isolate/cuda/cuda_graphs.h"
#include "isolate/cuda/cuda_memory.h"
#include "isolate/cuda/cuda_modules.h"
#include "isolate/cuda/cuda_snapshot.h"
#include "isolate/cuda/held_calls.h"
#include "isolate/cuda/hold.h"
#include "isolate/protocol/process_state.h"

namespace perflab::isolate {

/// Lives until the process is gone: callbacks may come as long.
class CudaTool {
 public:
  /// Opens the libraries and subscribes. Errors (missing_tool, refused): a library or what is
  /// needed of it is not there; another client of CUPTI is in the process.
  static Result<CudaTool*> start(ProcessState& process);

  /// A callback of CUPTI's; any thread.
  void callback(cuda::CallbackDomain domain, cuda::CallbackId id, const void* data);

 private:
  CudaTool(ProcessState& process, cuda::DriverLibrary driver, cuda::CuptiLibrary cupti)
      : process_(process),
        driver_(std::move(driver)),
        cupti_(std::move(cupti)),
        pid_(::getpid()),
        held_(cupti_.api),
        hold_(std::chrono::milliseconds(process.settings.patience_ms)),
        modules_(process.kernels),
        graphs_(driver_.api, process.kernels, modules_) {}

  Result<void> subscribe();
  void resource(cuda::CallbackId id, const cuda::ResourceData& data);
  void call_begins(cuda::CallbackId id, const cuda::CallbackData& data);
  void call_ends(cuda::CallbackId id, const cuda::CallbackData& data);
  [[nodiscard]] std::string symbol_of(const LaunchCall& call) const;
  void launch_begins(const LaunchCall& call, const cuda::CallbackData& data);
  void graph_begins(const cuda::GraphLaunchParameters& graph, const cuda::CallbackData& data);
  /// Captures a kernel of a graph that is about to be launched: alone, and then takes back what it
  /// did, so that the graph finds everything as it was.
  Result<void> capture_alone(const GraphKernel& kernel, cuda::Context context);
  Result<void> run_and_take_back(const GraphKernel& kernel);
  /// The wanted launch and all that is needed of it.
  Result<CudaTarget> target_of(const LaunchCall& call, const KernelName& name,
                               const cuda::CallbackData& data);

  /// Before the launch: holds the program, drains the GPU, takes the pre-image.
  Result<void> begin_capture(const Result<CudaTarget>& target);
  /// After the launch, which `launched` answers.
  Result<void> end_capture(cuda::DriverResult launched);
  /// The write set, and the end of the folder.
  Result<void> finish_capture(std::vector<std::string> limits);
  void say_captured();
  void give_up(const KernelName& name, const Error& error);
  /// Waits until no context has work left. Error (refused): it did not end in time.
  Result<void> drain(const std::string& what);
  /// Whether a stream of the program is being captured into a graph.
  [[nodiscard]] bool any_stream_captured();
  [[nodiscard]] bool is_captured(cuda::Stream stream) const;
  void pass_over(const KernelName& name);
  std::vector<std::string> limits();
  [[nodiscard]] std::chrono::milliseconds patience() const {
    return std::chrono::milliseconds(process_.settings.patience_ms);
  }

  ProcessState& process_;
  const cuda::DriverLibrary driver_;
  const cuda::CuptiLibrary cupti_;
  const pid_t pid_;
  cuda::Subscriber subscriber_ = nullptr;
  const HeldCalls held_;
  Hold hold_;
  CudaMemory memory_;
  CudaModules modules_;
  CudaGraphs graphs_;
  std::atomic<bool> done_ = false;  ///< the launch was captured or refused
  /// Of the capture under way, which one thread takes.
  std::unique_ptr<CudaSnapshot> snapshot_;
  const KernelName* captured_name_ = nullptr;

  std::mutex mutex_;  ///< of what follows
  std::vector<cuda::Context> contexts_;
  std::map<cuda::Stream, cuda::Context> streams_;
  std::vector<std::string> limits_;
};

}  // namespace perflab::isolate
