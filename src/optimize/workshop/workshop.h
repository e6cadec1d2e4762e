// Where candidates are built, proven and timed: on a capture (workshop_replay) or with commands
// (workshop_command).
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/system/sandbox.h"
#include "base/text/json.h"
#include "measure/backend.h"
#include "optimize/guards/guards.h"
#include "optimize/reasons.h"
#include "replay/elements/element_diff.h"
#include "replay/session/caches.h"

namespace perflab::optimize {

/// A source that was built.
struct Built {
  std::filesystem::path source, folder;
  std::vector<std::string> command;   ///< that built it, paths as used
  std::filesystem::path code_object;  ///< empty: none (a host build)
  std::string hash;                   ///< content hash over what the build left, by name
  /// Every file that the build left below `folder` (or `code_object` alone), by its name relative
  /// to it, with its content hash; empty: nothing is built before the run.
  std::vector<std::pair<std::string, std::string>> files;
  bool reproducible = false;  ///< built twice, the same bytes
  measure::Variant variant;   ///< to be timed
};

struct BuildOutcome {
  std::optional<Built> built;  ///< missing: it does not compile
  std::string compiler_text;   ///< warnings and errors, at most 16 KiB
};

/// One test of correctness.
struct Check {
  std::string name;  ///< "golden output", "poisoned output", "perturbed input 2", "check", "output"
  bool passed = false;
  std::string detail;  ///< a sentence
  Json evidence;       ///< figures: bytes compared, largest ULP, ...; an object, may be empty
};

struct Correctness {
  std::vector<Check> checks;     ///< in the order made; ends with the first that failed
  std::optional<Reason> reason;  ///< missing: all passed
  std::string sentence;
};

class Workshop {
 public:
  Workshop() = default;
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  Workshop(Workshop&&) = delete;
  Workshop& operator=(Workshop&&) = delete;
  virtual ~Workshop() = default;

  /// What it is, for the key of the ledger and the document: an object with "kind", hashes of the
  /// capture or of the templates, compiler and its version, seeds, tolerance. No times, no pids.
  [[nodiscard]] virtual Json identity() const = 0;
  /// Builds twice (reproducible). Errors: missing_tool, interrupted, usage (the folder).
  virtual Result<BuildOutcome> build(const std::filesystem::path& source,
                                     const std::filesystem::path& folder) = 0;
  /// Guards on the built code object; no results when there is none.
  virtual Result<ObjectGuards> check_object(const Built& original, const Built& candidate) = 0;
  /// Proves that the candidate computes what the original does, or why not. The first call proves
  /// that the original repeats itself. Errors: what is not the candidate's fault.
  virtual Result<Correctness> prove(const Built& original, const Built& candidate) = 0;
  /// What timed runs of two variants have to compute, and on which inputs: needed in each process
  /// before the backend times them, also when their proofs were recorded by an earlier one.
  /// The oracle is `original`, or on a capture the captured code object. Errors: those of prove().
  virtual Result<void> prepare_timing(const Built& original, const Built& before,
                                      const Built& after) = 0;
  /// From now on, until prepare_timing(), times are taken on the captured input. False: they always
  /// are, or there is none.
  virtual bool time_as_captured() { return false; }
  [[nodiscard]] virtual measure::Backend& backend() = 0;
  /// Work-items of the work-group that is launched, when known.
  [[nodiscard]] virtual std::optional<std::int64_t> workgroup_size() const { return {}; }
};

struct ReplayWorkshopOptions {
  std::filesystem::path capture;
  /// The user's: its folder is where includes are looked for, and words of `build` that name it
  /// mean the candidate. Empty: candidates include nothing from beside it.
  std::filesystem::path source;
  std::vector<std::string> compile_arguments;  ///< for the built-in compiler
  /// Instead of the built-in compiler: placeholders {source}, {build_dir}, {code_object}.
  std::string build;
  replay::DiffOptions compare;   ///< the error budget
  int perturbations = 3;         ///< inputs made from the captured ones
  bool ignore_findings = false;  ///< replay::SessionOptions
  std::uint64_t seed = 1;
  std::chrono::milliseconds time_limit{60'000};  ///< of a dispatch, and of a build by command
  std::uint64_t iterations = 5;                  ///< dispatches of one measurement
  replay::Caches caches = replay::Caches::warm;  ///< as those find them
  /// Where builds and the process with the device run; null: none.
  std::shared_ptr<const Sandbox> sandbox{};
};
/// Errors: those of capture::Capture::open, replay's failures, missing_tool (no compiler).
Result<std::unique_ptr<Workshop>> open_replay_workshop(const ReplayWorkshopOptions& options);

struct CommandWorkshopOptions {
  std::filesystem::path source;  ///< the user's: words of `build` that name it mean the candidate
  /// Placeholders {source}, {build_dir}; empty: `run` builds by itself from {source}.
  std::string build;
  /// Qualified name of the kernel: for the guards on code objects, when the build leaves any.
  /// Empty: they are not checked, and say so.
  std::string kernel;
  std::string run;                          ///< {source}, {build_dir}, {seed}
  std::string check;                        ///< likewise; exit code 0: right. Empty: none
  std::string metric_pattern, metric_unit;  ///< empty: wall time
  bool larger_is_better = false;
  bool rocprofv3 = false;      ///< dispatch times instead of wall time
  std::string kernel_pattern;  ///< with rocprofv3; empty: `kernel`
  /// Files that a run writes ("{build_dir}/out.bin") and that are compared with the original's;
  /// "stdout" without the lines that the metric pattern matches is compared when empty.
  std::vector<std::string> outputs;
  std::optional<replay::ElementType> output_type;  ///< of output files; missing: bytes
  replay::DiffOptions compare;
  int perturbations = 3;  ///< runs with other values of {seed}, when `run` has it
  std::uint64_t seed = 1;
  std::chrono::milliseconds time_limit{60'000};  ///< of a build, run or check
  /// Where they run, of candidates and of the original alike; null: none. They may write to
  /// {build_dir} then, and outputs have to lie there.
  std::shared_ptr<const Sandbox> sandbox{};
};
Result<std::unique_ptr<Workshop>> open_command_workshop(const CommandWorkshopOptions& options);

}  // namespace perflab::optimize
