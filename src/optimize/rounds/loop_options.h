// What the loop is asked for and works with, and the names in its folder.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text/json.h"
#include "llm/proposer.h"
#include "optimize/guards/guards.h"
#include "optimize/model/source_model.h"
#include "optimize/rounds/candidate.h"
#include "optimize/sandboxing.h"
#include "optimize/workshop/workshop.h"

namespace perflab::optimize {

struct LoopOptions {
  std::filesystem::path source;  ///< the user's file: its name, and where nothing may be written
  std::filesystem::path folder;  ///< for the ledger, candidates and builds
  std::string kernel;            ///< qualified or unique last part; empty: the only one
  ParseOptions parse;
  JudgeOptions judge;
  std::optional<unsigned> max_candidates;  ///< proposals, repairs not counted
  std::optional<unsigned> patience;        ///< refusals in a row that end it
  std::optional<std::chrono::milliseconds> time_budget;
  unsigned most_repairs = 2;  ///< of one proposal that does not compile
  bool resume = false;
  SandboxRecord sandbox;          ///< where the proposer and the workshop run what others wrote
  std::string sandbox_warning;    ///< empty: nothing to warn of
  Json context = Json::object();  ///< what proposers are told beside the source (context.h)
};

/// What the loop works with. `parse` and `check`: parse_source() and check_source() unless given.
struct LoopTools {
  llm::Proposer* proposer = nullptr;
  Workshop* workshop = nullptr;
  std::function<Result<SourceModel>(std::string text)> parse;
  std::function<Result<GuardResults>(const SourceModel& original, const std::string& candidate,
                                     const SourceGuardOptions& options)>
      check;
  /// A step begins: "guards", "build", "proof", "timing" (again at every turn), "proposal".
  std::function<void(const Candidate&, std::string_view step, std::size_t turns)> on_step;
  std::function<void(const Candidate&)> on_decided;
  std::function<void(const std::string&)> note;  ///< warnings as they come
};

/// Names in the folder.
inline constexpr std::string_view kLedgerName = "ledger.jsonl";
inline constexpr std::string_view kCandidatesName = "candidates";
inline constexpr std::string_view kBuildsName = "builds";

}  // namespace perflab::optimize
