// autotune.json: what a search for the best configuration did and found. Schema:
// schemas/autotune.schema.json. Model: tune/run/tune.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/text/json.h"
#include "sensors/turn.h"
#include "tune/evaluate/evaluator.h"
#include "tune/run/tune.h"

namespace perflab::report {

/// What is not the same for identical input: `environment` of the document. Empty: not given.
struct AutotuneEnvironment {
  std::string command, build, check, code_object;  ///< templates
  std::vector<std::string> best_command;           ///< filled with the best configuration
  std::vector<std::string> best_build;
  std::string best_build_folder;  ///< that best_build writes to, for the text
  std::string space_file, simulated, warm_start;
  std::vector<std::string> priors{};  ///< files
  std::string journal;
  std::string executor;                             ///< "local", "slurm"
  std::string capture{};                            ///< folder
  std::optional<sensors::Conditions> conditions{};  ///< of measurements on a capture
};

/// The captured launch that was replayed instead of a command.
struct AutotuneCaptureData {
  std::string hash, kernel, demangled, platform, isa;
  std::string workgroup, grid, blocks, dynamic_lds;  ///< expressions as typed; empty: as captured
  Json tolerance;                                    ///< an object of the schema's form
  std::uint64_t iterations = 0;
  std::string caches;
};

/// A finished search. `space` and `result` have to outlive it.
struct AutotuneData {
  const tune::Space* space = nullptr;
  const tune::TuneResult* result = nullptr;
  std::string gpu;  ///< of the workers; empty: none is known
  AutotuneEnvironment environment;
  std::optional<AutotuneCaptureData> capture{};
};

/// autotune.json. Steps that a journal answered stand in the history like others: but for
/// `environment` the document of a resumed search is that of one without a break.
Json autotune_document(const AutotuneData& data);

}  // namespace perflab::report
