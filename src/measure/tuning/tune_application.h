// The kernels of one application tuned together: what each is worth from a recording, the budget
// shared accordingly, one configuration file, and the application with it against the application
// without it. docs/AUTOTUNE.md "A whole application".
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyze/kernel_groups.h"
#include "base/error.h"
#include "base/text/progress.h"
#include "measure/tuning/autotune.h"
#include "tune/records/read_application.h"
#include "tune/run/budget_shares.h"

namespace perflab::measure {

/// Files in ApplicationRequest::folder.
inline constexpr const char* kConfigurationsFile = "configurations.json";
inline constexpr const char* kDefaultConfigurationsFile = "default_configurations.json";

struct ApplicationRequest {
  tune::Application application;                  ///< files as seen from here
  std::vector<std::filesystem::path> recordings;  ///< of one run; empty: none
  std::filesystem::path folder;                   ///< for configurations and journals; it is there
  tune::Split split = tune::Split::adaptive;
  tune::TuneOptions options;  ///< of every search; the budget is that of all
  bool resume = false;
  /// Told what is done: of a kernel (its name), or of the application (its command's name).
  std::function<void(const std::string& of, const tune::TuneProgress&, const tune::Objective&)>
      progress;
  TellProgress reading;  ///< of recordings
};

using Configuration = std::vector<tune::Binding>;

/// What became of one kernel.
struct TunedKernel {
  tune::Objective objective;
  Configuration default_configuration, configuration;  ///< the second goes into the file
  std::optional<AutotuneRun> run;                      ///< missing: nothing was measured
  std::size_t evaluations = 0;
  std::optional<double> default_value, value;  ///< objective's; missing: it did not work
  std::optional<tune::Gain> gain;              ///< of `configuration` over the default
  /// Its time with the configuration over that with the default; missing: one is not known.
  std::optional<double> factor;
  std::optional<analyze::GroupTimes> times;    ///< missing: there is no recording
  std::optional<analyze::GroupWorth> worth;    ///< of the run as it was recorded; likewise
  std::optional<std::int64_t> alone_makespan;  ///< ns, with this kernel's configuration alone
};

/// Evaluations that one kernel was given together.
struct GivenShare {
  std::size_t kernel = 0, evaluations = 0;
  double promise = 0;           ///< tune::promise_of() then
  std::optional<double> worth;  ///< ns per per cent, then; missing: there is no recording
};

/// The application with both files, in turns.
struct ApplicationProof {
  std::optional<double> default_value, value;  ///< medians; missing: it failed
  std::optional<tune::Gain> gain;
  bool proven = false;  ///< better, and separated after every look at the samples
  std::size_t rounds = 0;
  tune::Objective objective;
  std::vector<std::string> warnings;
};

struct ApplicationRun {
  std::vector<TunedKernel> kernels;  ///< as in the application
  std::vector<GivenShare> shares;    ///< in order; neighbours of one kernel apart
  std::size_t used = 0;              ///< evaluations
  std::string stopped_because;
  std::optional<std::int64_t> recorded;   ///< ns: makespan of the recording
  std::optional<std::int64_t> predicted;  ///< with every kernel's configuration
  std::string no_prediction;              ///< why not; empty: there is one
  std::optional<ApplicationProof> proof;
  std::string no_proof;  ///< why not; empty: there is one
};

/// Errors: of run_autotune() with the kernel's name, of analyze_files() and KernelGroups.
Result<ApplicationRun> tune_application(const ApplicationRequest& request);

}  // namespace perflab::measure
