// Tuning from what a user names: space file, command templates, recordings, executor, journal. It
// puts them together, runs tune/ and writes nothing but the journal and the builds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "capture/model.h"
#include "measure/tuning/autotune_metrics.h"
#include "measure/tuning/autotune_templates.h"
#include "replay/elements/element_diff.h"
#include "replay/session/caches.h"
#include "sensors/turn.h"
#include "tune/evaluate/executor.h"
#include "tune/records/journal.h"
#include "tune/run/tune.h"

namespace perflab::measure {

/// Of one captured dispatch: what hangs is found soon, and every known kernel is faster.
inline constexpr double kCaptureTimeoutSeconds = 10;

/// A captured launch that is replayed with each configuration's code, instead of a command.
struct AutotuneCapture {
  std::filesystem::path folder;  ///< empty: there is none
  tune::LaunchTexts launch;
  replay::DiffOptions compare;                   ///< how far outputs may differ
  bool ignore_findings = false;                  ///< replay::SessionOptions
  std::uint64_t iterations = 5;                  ///< dispatches of one measurement
  replay::Caches caches = replay::Caches::warm;  ///< as those find them
};

struct AutotuneRequest {
  std::filesystem::path space;                        ///< empty: the configurations of `simulate`
  std::optional<tune::SpaceDescription> described{};  ///< instead of the file
  std::vector<tune::Binding> default_values{};        ///< instead of the space's default
  AutotuneTemplates templates;
  AutotuneCapture capture;
  std::string kernel;        ///< pattern: kernels to time, and to look at in the code object
  std::string architecture;  ///< empty: that of the local GPU, if there is one
  /// Unset: the metric when there is a pattern for it, GPU time where rocprofv3 and a GPU are, else
  /// wall time, with a note.
  std::optional<tune::ObjectiveKind> objective;
  std::string metric_pattern, metric_unit;
  bool maximize = false;
  MetricTexts further;             ///< metrics beside the objective, and their limits
  tune::TuneOptions options;       ///< budget, limits, search, repeats; the rest is filled here
  std::filesystem::path simulate;  ///< recording to search; empty: commands are run
  std::filesystem::path warm_start;
  std::vector<std::string> priors;  ///< recordings to learn from: other GPUs, sizes, versions
  std::filesystem::path journal;    ///< empty: none
  bool resume = false;
  bool slurm = false;                ///< else this machine
  tune::SlurmOptions slurm_options;  ///< partition, workers, extra; the rest is filled here
  std::vector<std::string> gpus;     ///< ids, or the word "all"; empty: one worker
  std::size_t build_jobs = 0;        ///< 0: half of the cores, at most four
  std::filesystem::path builds;      ///< folder to keep them in; empty: they are removed
  std::function<void(const std::string&)> note;  ///< told what was decided for the user
};

/// A finished search and what it was about.
struct AutotuneRun {
  tune::Space space;
  tune::TuneResult result;
  std::string gpu;                               ///< of the workers; empty: none is known
  std::optional<capture::Description> captured;  ///< the launch that was replayed
  std::string capture_hash;
  std::optional<sensors::Conditions> conditions;  ///< of this process's measurements on a capture
  /// Filled with the winner, {build_dir} as "tuned"; empty: no winner, or no template.
  std::vector<std::string> best_command, best_build;
};

/// What is shown while it runs, and what its values are.
using OnAutotuneProgress = std::function<void(const tune::TuneProgress&, const tune::Objective&)>;

/// A tuning that goes on in portions, with all that it rests on.
class AutotuneSession {
 public:
  struct State;
  /// Reads, opens the journal and starts what measures; nothing is measured. Errors: of
  /// run_autotune().
  static Result<AutotuneSession> open(const AutotuneRequest& request,
                                      OnAutotuneProgress progress = {});
  AutotuneSession(AutotuneSession&&) noexcept;
  AutotuneSession& operator=(AutotuneSession&&) = delete;
  ~AutotuneSession();

  [[nodiscard]] tune::OpenTuning& tuning();
  [[nodiscard]] const tune::OpenTuning& tuning() const;
  [[nodiscard]] const tune::Space& space() const;
  [[nodiscard]] const tune::Objective& objective() const;
  /// The last comparison; nothing but the destructor after it.
  Result<AutotuneRun> finish() &&;

 private:
  explicit AutotuneSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Errors: usage (options that exclude each other, templates, a journal that is there already),
/// bad_input (space, recordings, a journal of other measurements), missing_tool (rocprofv3, GPUs,
/// Slurm), interrupted (the journal has what was finished).
Result<AutotuneRun> run_autotune(const AutotuneRequest& request,
                                 const OnAutotuneProgress& progress = {});

/// Hash of what a command starts: its program and the files that it names first (the script of an
/// interpreter) or that are executable; only words without placeholders count. Empty: no such file.
/// The template has to be one that CommandTemplate takes.
std::string hash_of_programs(const std::string& command_template);

/// "template | FILE xxh3:…": the build, and the source files that it names (words without
/// placeholders, but for what follows -o). Files that those include are not looked at.
std::string build_key(const std::string& build_template);

}  // namespace perflab::measure
