// The asking half of `autotune --capture`: each configuration is proven by the worker before it is
// timed there. A worker that dies of a configuration has answered.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "capture/model.h"
#include "measure/replay_worker.h"
#include "measure/tuning/capture_bench.h"
#include "sensors/turn.h"
#include "tune/evaluate/evaluator.h"

namespace perflab::measure {

class CaptureTimer {
 public:
  /// Proves that the captured code object repeats itself, each dispatch within `limit`. Errors:
  /// those of replay::Session::open() and replay::verify_captured().
  static Result<std::shared_ptr<CaptureTimer>> open(const capture::Description& description,
                                                    AskBench ask, std::chrono::milliseconds limit);

  /// A tune::GpuTimer: the proof of Job::captured, once for each code object and launch, then its
  /// times: again while the GPU's clock changed or it was throttled, as far as
  /// sensors::TurnLimits allow. From one thread at a time.
  Result<tune::ProfiledRun> time(const tune::Job& job);
  /// What it runs on: "AMD Instinct MI300X gfx942".
  [[nodiscard]] const std::string& gpu() const { return gpu_; }
  /// Of the measurements so far, a turn each.
  [[nodiscard]] const sensors::Conditions& conditions() { return watch_.conditions(); }

 private:
  /// A proof, or what kept a configuration from one.
  struct Proven {
    tune::Outcome outcome = tune::Outcome::correct;
    std::string detail;
    std::optional<tune::Proof> proof;
  };
  CaptureTimer(const capture::Description& description, AskBench ask);
  [[nodiscard]] replay::LaunchChange launch_of(const tune::LaunchValues& values) const;
  Result<Proven> prove(const Json& what, const replay::LaunchChange& launch);
  Result<Proven> proven(const std::filesystem::path& code_object, const Json& what,
                        const replay::LaunchChange& launch);

  Result<tune::ProfiledRun> measure(const Json& what, bool& counts);

  capture::Dispatch dispatch_;
  AskBench ask_;
  sensors::TurnWatch watch_{sensors::TurnLimits{}};
  std::string gpu_;
  bool poison_ = true;                    ///< until the original does not end well on it
  std::map<std::string, Proven> proven_;  ///< by hash of the code object, and launch
};

}  // namespace perflab::measure
