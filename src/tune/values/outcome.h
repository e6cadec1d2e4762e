// How the evaluation of one configuration ended, and what it gave. Names follow the T4 format of
// the auto-tuning community (docs/facts/tuning.md "Formats") as far as it has them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text/json.h"
#include "tune/values/metrics.h"

namespace perflab::tune {

enum class Outcome {
  correct,         ///< ran, and the check (if any) agreed
  compile_failed,  ///< the build command failed
  run_failed,      ///< the command failed, crashed, or printed no metric
  timed_out,       ///< cut at the time limit: at least that slow (censored)
  wrong,           ///< the check command, or the proof on a capture, refused its result
  not_launchable,  ///< the compiled kernel needs more than the device has: never run
};

/// Stable names: "correct", "compile", "runtime", "timeout", "correctness", "device_limit".
std::string_view to_string(Outcome outcome);

/// Whether the value `a` is better than `b`.
constexpr bool is_better(double a, double b, bool maximize) {
  return maximize ? a > b : a < b;
}

/// What a kernel's instructions are, each counted once.
struct KernelMix {
  std::int64_t instructions = 0;
  std::int64_t valu = 0, matrix = 0;
  std::int64_t memory = 0;  ///< vector memory, without scratch
  std::int64_t lds = 0;
  std::int64_t branches = 0;
  friend bool operator==(const KernelMix&, const KernelMix&) = default;
};

/// What the compiler gave a configuration's kernel, known before any run.
struct CompiledKernel {
  std::string kernel;                 ///< mangled name
  std::string target;                 ///< "gfx942"
  std::int64_t vgprs = 0, sgprs = 0;  ///< of a wave
  std::int64_t lds_bytes = 0;         ///< static, of a work-group
  std::int64_t scratch_bytes = 0;     ///< of a work-item
  std::int64_t spills = 0;            ///< vector and scalar registers
  std::optional<double> occupancy;    ///< resident model, share of the wave slots
  std::optional<KernelMix> mix{};     ///< missing: it could not be disassembled
  std::string why_no_mix{};           ///< one line; empty where there is one
  friend bool operator==(const CompiledKernel&, const CompiledKernel&) = default;
};

/// What was proven of a configuration on a captured launch before it was timed.
struct Proof {
  std::string verdict;   ///< of the certificate: "bitwise", "within_tolerance", "differs", ...
  std::string sentence;  ///< likewise
  std::uint64_t compared_bytes = 0;
  std::string code_object_hash;
  std::array<std::int64_t, 3> grid{}, workgroup{};  ///< work-items
  std::int64_t dynamic_lds_bytes = 0;
  friend bool operator==(const Proof&, const Proof&) = default;
};

/// One configuration, evaluated. Samples are in the objective's unit.
struct Evaluation {
  Outcome outcome = Outcome::run_failed;
  std::optional<double> value;  ///< median of the samples; set exactly when outcome is correct
  std::vector<double> samples;  ///< in the order measured, without the warm-up
  std::vector<double> warm_up;  ///< dropped: warm-up runs, and repeats while the clock ramped up
  std::optional<double> cv;     ///< of the samples; from two on
  bool unstable = false;        ///< cv > 0.10 after all repeats
  std::string detail;           ///< why it failed, one line; empty when correct
  double build_seconds = 0;     ///< wall time
  double run_seconds = 0;       ///< wall time of all runs
  std::optional<double> longest_run_seconds;  ///< of one run of the command: base of time limits
  std::vector<CompiledKernel> compiled;       ///< empty: no code object was asked for or found
  std::optional<Proof> proof;                 ///< missing: there is no capture, or it never ended
  std::vector<MetricValue> metrics{};         ///< of Objective::metrics, in their order
  friend bool operator==(const Evaluation&, const Evaluation&) = default;
};

/// For journals and for workers on other machines; keys in a fixed order, all of the above; metrics
/// where there are any.
Json to_json(const Evaluation& evaluation);
/// Error (bad_input): names `what` and the field.
Result<Evaluation> evaluation_from_json(const Json& json, std::string_view what);

}  // namespace perflab::tune
