// Kernels inside executable graphs: what each would be launched with, read from the graph's nodes
// when it is made executable. Facts: docs/facts/cuda_cupti.md "Capture".
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda/api.h"
#include "isolate/cuda/cuda_modules.h"
#include "isolate/cuda/launch_call.h"
#include "isolate/protocol/kernels.h"

namespace perflab::isolate {

/// A kernel node. What is needed to launch it is there for wanted kernels only.
struct GraphKernel {
  KernelName* name = nullptr;
  LaunchCall call{};
  LaunchedFunction function{};
  Arguments arguments{};
  bool first = false;     ///< nothing of the graph has to run before it
  std::string problem{};  ///< why it cannot be launched alone; empty: it can
};

/// Any thread.
class CudaGraphs {
 public:
  CudaGraphs(const cuda::Driver& driver, Kernels& kernels, CudaModules& modules)
      : driver_(driver), kernels_(kernels), modules_(modules) {}

  /// Takes notice of a call of the driver that has come back with success.
  void called(cuda::CallbackId id, const void* parameters);
  /// The kernels of an executable graph, those that nothing has to run before first.
  [[nodiscard]] std::shared_ptr<const std::vector<GraphKernel>> kernels_of(
      cuda::GraphExec executable) const;

 private:
  void read(cuda::GraphExec executable, cuda::Graph graph);
  [[nodiscard]] GraphKernel read_node(cuda::GraphNode node) const;
  Result<void> read_launch(cuda::GraphNode node, const cuda::KernelNodeParameters& given,
                           GraphKernel& out) const;
  void note_change(cuda::GraphExec executable);

  const cuda::Driver& driver_;
  Kernels& kernels_;
  CudaModules& modules_;
  mutable std::mutex mutex_;
  std::map<cuda::GraphExec, std::shared_ptr<const std::vector<GraphKernel>>> graphs_;
};

/// Launches a kernel node's kernel alone, as the graph would. Error (refused): a call fails.
Result<void> launch_alone(const cuda::Driver& driver, const GraphKernel& kernel,
                          cuda::Stream stream);

}  // namespace perflab::isolate
