// Proving and timing configurations of a kernel on a captured launch: the half of `autotune
// --capture` that holds the device, in a process of its own (replay_worker.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text/json.h"
#include "capture/capture_reader.h"
#include "measure/backend.h"
#include "measure/replay_worker.h"
#include "replay/device.h"
#include "replay/session/caches.h"
#include "replay/session/session.h"
#include "replay/verify/certificate.h"
#include "sensors/sensors.h"
#include "tune/values/outcome.h"

namespace perflab::measure {

/// What holds for all requests.
struct CaptureBenchSetup {
  std::filesystem::path capture{};
  replay::DiffOptions compare{};
  bool ignore_findings = false;                  ///< replay::SessionOptions
  std::uint64_t iterations = 5;                  ///< dispatches of one measurement
  replay::Caches caches = replay::Caches::warm;  ///< as those find them
};
Json to_json(const CaptureBenchSetup& setup);
/// Error (bad_input) naming `what`.
Result<CaptureBenchSetup> capture_bench_setup_from_json(const Json& json, std::string_view what);

/// A change of the launch as it travels: an object; what is as captured is null.
Json launch_json(const replay::LaunchChange& launch);

/// Steps of the worker, beside none.
namespace capture_step {
inline constexpr std::string_view kCaptured = "captured";
inline constexpr std::string_view kConfiguration = "configuration";
}  // namespace capture_step

/// A request is one of
///   {"prove": {"code_object": a path, or empty for the captured one, "launch": launch_json(),
///              "limit_ms": of a dispatch, "poison": whether outputs are}}
///   {"measure": {"code_object", "launch", "limit_ms"}}
/// and the answer one of
///   {"outcome": of the proof (tune::Outcome), "detail": why, "proof": a certificate in short,
///    "gpu": what it ran on}
///   {"poison_failed": how the original ended on poisoned memory}: ask again without
///   {"outcome", "detail", "samples": in ns, "sensed": sensed_json()}.
/// Errors: what is no configuration's fault.
class CaptureBench final : public WorkerBench {
 public:
  /// `capture` and `device` have to outlive it. Errors: those of replay::Session::open().
  static Result<std::unique_ptr<CaptureBench>> open(const capture::Capture& capture,
                                                    replay::Device& device,
                                                    const CaptureBenchSetup& setup, OnStep on_step);

  Result<Json> answer(const Json& request) override;
  [[nodiscard]] bool lost() const override { return lost_; }

 private:
  struct Asked;
  CaptureBench(replay::Session session, const CaptureBenchSetup& setup, OnStep on_step);
  Result<Asked> read(const Json& request) const;
  Result<Json> prove(const Asked& asked);
  Result<Json> prove_captured(const Asked& asked);
  Result<Json> measure(const Asked& asked);
  /// A configuration that did not get to its proof or its times.
  Result<Json> failed(const Error& error, bool ran);

  replay::Session session_;
  CaptureBenchSetup setup_;
  OnStep on_step_;
  sensors::Opened sensed_;
  std::unique_ptr<Backend> backend_;
  bool repeatable_ = false;  ///< the captured code object leaves the same bytes in every run
  bool measured_ = false;    ///< since the last restore
  bool lost_ = false;
};

inline constexpr const char* kCaptureWorkerCommand = "autotune-capture-worker";

/// The worker: `rocm-perf autotune-capture-worker FOLDER`. Returns the exit code.
int autotune_capture_worker_main(const std::string& folder);

}  // namespace perflab::measure
