// Runs cuda_sim_gpu with the library in its CUDA driver, and looks at the capture.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "isolate/isolated.h"
#include "isolate/protocol/settings.h"

namespace perflab::test {

/// What is asked of one run of cuda_sim_gpu.
struct CudaAsk {
  std::vector<std::string> options;
  std::string kernel = "^inplace";
  std::uint64_t dispatch = 1;
  std::vector<std::pair<const char*, std::string>> environment{};
  bool stop = false;
};

/// One run and its capture.
class CudaIsolated : public Isolated {
 public:
  explicit CudaIsolated(const CudaAsk& ask) : Isolated(command_of(ask), ask_of(ask)) {}

 private:
  static std::vector<std::string> command_of(const CudaAsk& ask) {
    std::vector<std::string> command = {PERFLAB_CUDA_SIM_FOLDER "/cuda_sim_gpu"};
    command.insert(command.end(), ask.options.begin(), ask.options.end());
    return command;
  }
  static Ask ask_of(const CudaAsk& ask) {
    Ask out{.options = {},
            .kernel = ask.kernel,
            .dispatch = ask.dispatch,
            .environment = ask.environment,
            .stop = ask.stop};
    // Where the library finds the stand-in for CUPTI.
    out.environment.emplace_back("LD_LIBRARY_PATH", PERFLAB_CUDA_SIM_FOLDER);
    return out;
  }
};

/// For runs that have to be given up soon.
inline const std::pair<const char*, std::string> kLittlePatience = {isolate::kPatienceVariable,
                                                                    "400"};

}  // namespace perflab::test
