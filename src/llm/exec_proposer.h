// Proposals from another program, any agent: one JSON object on its stdin, the whole source file on
// its stdout. Where it is not in a sandbox, or has the network there, it gets our environment, keys
// included. docs/OPTIMIZER.md has the contract.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/system/sandbox.h"
#include "llm/proposer.h"

namespace perflab::llm {

struct ExecOptions {
  /// Command line, split as a shell would split it; no shell runs it. Exit code 0 and nothing on
  /// stdout: there are no more proposals. The last line on its stderr is the summary.
  std::string command{};
  std::chrono::milliseconds time_limit{600'000};  ///< of one proposal
  std::uint64_t most_proposals = 100;             ///< repairs included
  /// Played back when it has exchanges, else recorded; empty: neither.
  std::filesystem::path transcript{};
  bool resume = false;  ///< go on recording behind what is there
  /// Its own, kept from one start to the next; it exists, and kWorkFolderVariable names it. Empty:
  /// none.
  std::filesystem::path work_folder{};
  std::shared_ptr<const Sandbox> sandbox{};  ///< it may write to `work_folder` there; null: none
};

/// The environment variable with ExecOptions::work_folder.
inline constexpr const char* kWorkFolderVariable = "ROCM_PERF_PROPOSER_DIR";

/// What the program reads: "format" 1, "round", "kernel", "kernel_source", "source", "context",
/// "compiler_text", "rejected_source".
Json exec_request(const Task& task);

/// Errors: usage (the command line, a transcript that does not fit), bad_input (a damaged
/// transcript).
Result<std::unique_ptr<Proposer>> make_exec_proposer(const ExecOptions& options);

}  // namespace perflab::llm
