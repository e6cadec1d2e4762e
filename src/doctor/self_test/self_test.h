// `rocm-perf doctor --self-test`: programs of our own, compiled with this machine's compiler and
// run on its HIP runtime, through the real commands. What cannot run is skipped with its reason.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "base/error.h"
#include "base/text/progress.h"
#include "doctor/self_test/test_outcome.h"

namespace perflab::doctor {

struct SelfTestRequest {
  Places places;
  std::string program;         ///< starts rocm-perf itself
  std::string only;            ///< RE2 over case ids; empty: all
  std::filesystem::path keep;  ///< folder for everything; empty: a temporary one
  std::chrono::milliseconds budget{600'000};
  std::function<void(const CaseRun&)> on_run;
  std::function<void(std::string_view what, double done)> on_progress;
};

/// Errors: usage (the pattern, or no case matches; the folder exists or cannot be made),
/// interrupted.
Result<SelfTest> run_self_test(const SelfTestRequest& request);

/// The document "self_test" (schemas/self_test.schema.json).
Json self_test_document(const SelfTest& test);

}  // namespace perflab::doctor
