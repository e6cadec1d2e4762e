// One configuration to evaluate: its commands, what is measured and how often. Self-contained, it
// goes to other machines as JSON.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/system/sandbox.h"
#include "base/text/json.h"
#include "tune/values/launch_values.h"
#include "tune/values/metrics.h"

namespace perflab::tune {

/// What is minimised (or maximised).
enum class ObjectiveKind {
  gpu_time,   ///< of the kernel's dispatches, by rocprofv3, or of a captured one; unit ns
  metric,     ///< numbers that the command prints; unit as the user says
  wall_time,  ///< of the whole command; unit s
};
std::string_view to_string(ObjectiveKind kind);

struct Objective {
  ObjectiveKind kind = ObjectiveKind::wall_time;
  std::string metric_pattern;  ///< RE2 with one group around the number; every match is a sample
  std::string
      kernel_pattern;  ///< gpu_time: kernels by demangled name; empty: the one with most time
  bool maximize = false;
  /// "ns", "s", or for a metric what --metric-unit says (may be empty).
  std::string unit;
  std::vector<Metric> metrics{};  ///< numbers beside it, with their limits
};

/// How often a configuration is run, and when it is steady (docs/facts/tuning.md "Noise": clock
/// ramps; docs/models/times.md "Stability": above 0.10 it is unstable).
struct RepeatRule {
  std::size_t warm_up_runs =
      1;  ///< whole runs that are not counted; none when a run gives many samples
  std::size_t fewest_samples = 3;
  std::size_t most_runs = 10;  ///< adaptive repeats end here
  double steady_cv = 0.05;     ///< enough when the cv is below
  double unstable_cv = 0.10;
};

/// A launch of a capture that is replayed with a configuration's code, instead of a command.
struct CapturedLaunch {
  std::filesystem::path code_object;  ///< that the build leaves; empty: the captured one
  LaunchValues launch{};
};

/// One configuration's commands, filled. Self-contained: it can be sent to another machine.
struct Job {
  std::size_t id = 0;                  ///< the caller's; comes back with the result
  std::vector<std::string> build;      ///< argv; empty: nothing to build
  std::vector<std::string> run;        ///< argv; empty with `captured`
  std::vector<std::string> check;      ///< argv; empty: no check
  std::filesystem::path build_folder;  ///< made before the build; empty: none
  std::filesystem::path code_object;   ///< file to look into after the build; empty: none
  std::string code_object_kernel;      ///< pattern; empty: all kernels
  std::string architecture;            ///< whose limits hold ("gfx942"); empty: not known
  Objective objective;
  RepeatRule repeats;
  std::optional<double> run_limit_seconds;  ///< of one run
  std::optional<double> build_limit_seconds;
  bool already_built = false;  ///< the last comparison: run only
  bool already_checked = false;
  std::size_t exact_runs = 0;  ///< > 0: so many runs, no warm-up, no adaptive repeats
  std::vector<std::pair<std::string, std::string>> environment;  ///< ROCR_VISIBLE_DEVICES, ...
  std::string sensor_gpu{};   ///< PCI address of the GPU that runs it; empty: the only one
  Confinement confinement{};  ///< of a profiled run; in no document
  std::optional<CapturedLaunch> captured{};  ///< likewise: it is replayed on this machine only
};

Json to_json(const Job& job);
Result<Job> job_from_json(const Json& json, std::string_view what);

}  // namespace perflab::tune
