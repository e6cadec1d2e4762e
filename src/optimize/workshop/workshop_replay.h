// The replay workshop without its process, for tests.
#pragma once

#include <memory>
#include <optional>

#include "capture/capture_reader.h"
#include "code/tools/compiler.h"
#include "measure/replay_worker.h"
#include "optimize/workshop/replay_bench.h"
#include "optimize/workshop/workshop.h"

namespace perflab::optimize {

/// What the worker is told of them.
BenchSetup setup_of(const ReplayWorkshopOptions& options);

/// `compiler`: missing when `options.build` says how candidates are built. Errors (usage): a build
/// template that cannot be read, or has no {code_object}; a CUDA capture without one; bad_input:
/// the capture's ISA is none.
Result<std::unique_ptr<Workshop>> make_replay_workshop(const capture::Capture& capture,
                                                       const ReplayWorkshopOptions& options,
                                                       std::optional<code::Compiler> compiler,
                                                       measure::AskBench ask);

}  // namespace perflab::optimize
