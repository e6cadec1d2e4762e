// `rocm-perf optimize` from its options to its result: profile and choose a kernel when an
// application is given, open the workshop and the proposer, run the loop, project the gain.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyze/pipeline.h"
#include "base/error.h"
#include "base/text/progress.h"
#include "llm/exec_proposer.h"
#include "llm/llm_proposer.h"
#include "optimize/rounds/loop.h"
#include "optimize/rounds/optimization_document.h"
#include "optimize/sandboxing.h"
#include "optimize/workshop/workshop.h"

namespace perflab::optimize {

struct OptimizeRequest {
  std::filesystem::path source;
  /// Program and arguments: profiled first, and its hottest critical kernel is worked on. Empty:
  /// none.
  std::vector<std::string> application;
  std::string kernel;                  ///< qualified or its unique last part; empty: the only one
  std::vector<std::string> arguments;  ///< of the compiler
  bool host = false;                   ///< a source for this machine
  std::string arch;  ///< empty: the capture's, the trace's, gfx942, or sm_90 where nvcc builds
  /// Replay when its capture is set, else commands. Source, kernel and compile arguments are filled
  /// in.
  ReplayWorkshopOptions replay;
  CommandWorkshopOptions command;
  std::string proposer = "rules";  ///< "rules", "llm", "exec:COMMAND"
  llm::LlmOptions llm;
  llm::ExecOptions exec;
  /// What the user said of the sandbox; the rest is filled in.
  SandboxRequest sandbox;
  std::filesystem::path trace, analysis;  ///< a recording; documents about it; empty: none
  /// Judge, limits, folder, resume. The rest is filled in; `patience` missing: 8, but none for
  /// rules.
  LoopOptions loop;
};

struct KernelOptimization {
  Optimization optimization;
  std::optional<Projection> projection;
  Missing projection_missing;
  std::string trace, capture;

  [[nodiscard]] OptimizationData data() const {
    return {.optimization = &optimization,
            .projection = projection,
            .projection_missing = projection_missing,
            .trace = trace,
            .capture = capture};
  }
};

/// What is said while it runs.
struct OptimizeTalk {
  ProgressLine* progress = nullptr;  ///< for the profiled application
  decltype(LoopTools::on_step) on_step;
  decltype(LoopTools::on_decided) on_decided;
  decltype(LoopTools::note) note;
};

/// Errors: usage (options that do not fit), and those of the parts.
Result<KernelOptimization> optimize_kernel(const OptimizeRequest& request,
                                           const OptimizeTalk& talk);

/// Name in the folder of what a proposer was asked and answered, when no other was given.
inline constexpr std::string_view kTranscriptName = "transcript.jsonl";
/// Of an exec: proposer's own folder there.
inline constexpr std::string_view kProposerName = "proposer";

}  // namespace perflab::optimize
