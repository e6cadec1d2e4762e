// One tuning from beginning to end: seed, predict, prune, confirm (docs/AUTOTUNE.md "Three
// phases"). It knows no file but the journal and no clock but the time limit; what it did stands in
// TuneResult.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "tune/evaluate/executor.h"
#include "tune/records/journal.h"
#include "tune/records/recording.h"
#include "tune/run/tuning.h"
#include "tune/search/search.h"
#include "tune/space/command_template.h"
#include "tune/space/launch_expressions.h"
#include "tune/space/space.h"

namespace perflab::tune {

/// The commands of live evaluations.
struct Commands {
  std::optional<CommandTemplate> run;  ///< missing: a captured launch is replayed
  std::optional<CommandTemplate> build, check;
  std::optional<CommandTemplate> code_object;  ///< one argument: the path of the file to look into
  std::string code_object_kernel;              ///< pattern
  /// Of a capture: the file that a build leaves (one argument), and what it is launched with.
  std::optional<CommandTemplate> launched{};
  LaunchExpressions launch{};
};

/// A tuning that goes on in portions.
class OpenTuning {
 public:
  OpenTuning() = default;
  OpenTuning(const OpenTuning&) = delete;
  OpenTuning& operator=(const OpenTuning&) = delete;
  virtual ~OpenTuning() = default;

  /// Goes on until so many configurations are evaluated, TuneOptions::budget at most, or the search
  /// is over. In portions of batch() it does what it does in one go.
  virtual Result<void> search_to(std::size_t evaluations) = 0;
  [[nodiscard]] virtual TuningState state() const = 0;
  /// Configurations that are proposed together.
  [[nodiscard]] virtual std::size_t batch() const = 0;
  /// The last comparison. Call once; nothing but the destructor after it.
  virtual Result<TuneResult> finish() = 0;
};

/// As tune() and simulate(), before the first evaluation. What is given by reference or pointer
/// must outlive the tuning.
std::unique_ptr<OpenTuning> open_tuning(const Space& space, const Commands& commands,
                                        Executor& executor, Journal* journal, TuneOptions options,
                                        OnProgress progress = {});
Result<std::unique_ptr<OpenTuning>> open_simulation(const Space& space, const Recording& recording,
                                                    Journal* journal, TuneOptions options,
                                                    OnProgress progress = {});

/// Live tuning. Errors: usage and bad_input of templates, what the executor cannot go on from,
/// interrupted (the journal has everything that was finished).
Result<TuneResult> tune(const Space& space, const Commands& commands, Executor& executor,
                        Journal* journal, TuneOptions options, const OnProgress& progress = {});

/// Tuning against a recording: no command is run, the recorded value of a configuration is its
/// result, the recorded repeats decide the last comparison. The journal is optional.
Result<TuneResult> simulate(const Space& space, const Recording& recording, Journal* journal,
                            TuneOptions options, const OnProgress& progress = {});

}  // namespace perflab::tune
