// Proving and timing code objects on one capture: the half of the replay workshop that holds the
// device. It takes requests and gives answers as JSON, because it runs in a process of its own: a
// kernel that faults takes its process with it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text/json.h"
#include "capture/capture_reader.h"
#include "measure/backend.h"
#include "optimize/workshop/workshop.h"
#include "replay/device.h"
#include "replay/inputs/perturb.h"
#include "replay/inputs/timed_inputs.h"
#include "replay/session/caches.h"
#include "replay/session/session.h"
#include "replay/verify/verify.h"

namespace perflab::optimize {

/// What holds for all requests.
struct BenchSetup {
  std::filesystem::path capture{};
  replay::DiffOptions compare{};
  int perturbations = 3;         ///< 0: none
  bool ignore_findings = false;  ///< replay::SessionOptions
  std::uint64_t seed = 1;
  std::chrono::milliseconds time_limit{60'000};  ///< of a dispatch
  std::uint64_t iterations = 5;                  ///< dispatches of one measurement
  replay::Caches caches = replay::Caches::warm;  ///< as those find them
};
Json to_json(const BenchSetup& setup);
/// Error (bad_input) naming `what`.
Result<BenchSetup> bench_setup_from_json(const Json& json, std::string_view what);

Json correctness_json(const Correctness& correctness);
Result<Correctness> correctness_from_json(const Json& json, std::string_view what);

/// Who runs when; when the process dies in a step, it died of that.
namespace bench_step {
inline constexpr std::string_view kOriginal = "original";    ///< as captured, and poisoned
inline constexpr std::string_view kCandidate = "candidate";  ///< likewise, and timed
inline constexpr std::string_view kOriginalPerturbed = "original_perturbed";
inline constexpr std::string_view kCandidatePerturbed = "candidate_perturbed";
/// The captured code object on the captured input, before others are timed on that.
inline constexpr std::string_view kOracle = "oracle";
}  // namespace bench_step

/// Seed of the inputs that a comparison is timed on, from the set-up's and the bytes of the
/// candidate's code object: no source can know them, because they follow from what it becomes.
std::uint64_t seed_of_timed_inputs(std::uint64_t seed, std::string_view code_object);

/// A request is one of
///   {"prove": {"original", "candidate": paths of code objects, "poison": "written" or "none",
///              "inputs": below}}
///   {"measure": {"name", "code_object": a path, or empty for the captured one,
///                "inputs": below, or missing: the captured one}}
/// with "inputs": {"scope": of perturbations or null, "no_scope_because": text,
///                 "seed": of those that are timed on},
/// and the answer one of
///   {"correctness"}
///   {"poison_failed": how the original ended on poisoned memory}: ask again without
///   {"perturbation_failed": how the original ended on a perturbed or timed input}: ask with a
///                           milder scope
///   {"samples", "failure", "sensed": sensed_json() of src/measure}.
class ReplayBench {
 public:
  using OnStep = std::function<Result<void>(std::string_view)>;

  /// `capture` and `device` have to outlive it. Errors: those of replay::Session::open().
  static Result<std::unique_ptr<ReplayBench>> open(const capture::Capture& capture,
                                                   replay::Device& device, const BenchSetup& setup,
                                                   OnStep on_step);
  /// Errors: refused (the capture does not reproduce itself, or the original source does not
  /// compute what was captured), interrupted, bad_input (no such request), failures.h.
  Result<Json> answer(const Json& request);
  /// A dispatch failed: the device is of no use for further requests.
  [[nodiscard]] bool lost() const { return lost_; }

 private:
  ReplayBench(replay::Session session, const BenchSetup& setup, OnStep on_step);

  struct Proof;
  Result<Json> prove(const Json& request);
  Result<Json> measure(const Json& request);
  Result<void> prove_capture(Proof& proof);
  Result<void> check_loads(Proof& proof);
  Result<void> check_captured_input(Proof& proof);
  Result<void> check_perturbed(Proof& proof);
  Result<void> check_timed(Proof& proof);
  Result<void> prepare_inputs(const Json& request);
  [[nodiscard]] replay::VerifyOptions verify_options(const Proof& proof,
                                                     const std::filesystem::path& object) const;

  replay::Session session_;
  BenchSetup setup_;
  OnStep on_step_;
  sensors::Opened sensed_;
  replay::TimedInputs timed_;
  std::unique_ptr<measure::Backend> backend_;
  bool capture_proven_ = false;
  bool measured_ = false;  ///< since the last restore
  bool lost_ = false;
};

}  // namespace perflab::optimize
