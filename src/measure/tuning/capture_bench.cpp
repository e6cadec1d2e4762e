// One configuration: its code object is loaded, launched with its geometry, compared with the
// captured output and on poisoned outputs (replay/verify), and timed only in a later request.
// Verdicts of replay become outcomes of the tuning here.
#include "measure/tuning/capture_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/enum_names.h"
#include "base/text/json_names.h"
#include "measure/backend_replay.h"
#include "measure/sensed_json.h"
#include "measure/tolerance_json.h"
#include "replay/failures.h"
#include "replay/session/open_device.h"
#include "replay/verify/verify.h"
#include "replay/verify/verify_captured.h"

namespace perflab::measure {
namespace {

using replay::Certificate;
using replay::Failure;
using tune::Outcome;

/// Runs of the original beside each configuration, once it is known to repeat itself.
constexpr int kFirstRuns = 3, kLaterRuns = 1;

/// What stops a code object before it is launched, or while it is.
Outcome outcome_of(const std::optional<Failure>& failure) {
  if (!failure) return Outcome::run_failed;
  switch (*failure) {
    case Failure::timed_out:
      return Outcome::timed_out;
    case Failure::not_replayable:
      return Outcome::not_launchable;
    case Failure::kernel_not_found:
    case Failure::kernel_mismatch:
    case Failure::isa_mismatch:
      return Outcome::compile_failed;
    default:
      return Outcome::run_failed;
  }
}

Json proof_json(const Certificate& certificate) {
  std::uint64_t compared = 0;
  for (const replay::RegionVerdict& region : certificate.regions) compared += region.compared_bytes;
  return {{"verdict", to_string(certificate.verdict)},
          {"sentence", certificate.sentence},
          {"compared_bytes", compared},
          {"code_object_hash", certificate.code_object_hash}};
}

std::string gpu_text(const replay::DeviceFacts& facts) {
  return fmt::format("{}{}{}", facts.product_name, facts.product_name.empty() ? "" : " ",
                     facts.agent_name);
}

}  // namespace

Json to_json(const CaptureBenchSetup& setup) {
  return {{"capture", setup.capture.string()},
          {"tolerance", tolerance_json(setup.compare)},
          {"ignore_findings", setup.ignore_findings},
          {"iterations", setup.iterations},
          {"caches", to_string(setup.caches)}};
}

Result<CaptureBenchSetup> capture_bench_setup_from_json(const Json& json, std::string_view what) {
  JsonFields in(json, what);
  CaptureBenchSetup setup;
  in.read("capture", setup.capture);
  setup.compare = tolerance_from(in.object("tolerance"));
  in.read("ignore_findings", setup.ignore_findings);
  in.read("iterations", setup.iterations, 1);
  read_name(in, "caches", setup.caches);
  PERFLAB_TRY_VOID(in.result());
  return setup;
}

Json launch_json(const replay::LaunchChange& launch) {
  return {{"grid", or_null(launch.grid)},
          {"workgroup", or_null(launch.workgroup)},
          {"dynamic_lds_bytes", or_null(launch.dynamic_lds_bytes)}};
}

struct CaptureBench::Asked {
  Variant variant;
  bool poison = true;
  std::chrono::milliseconds limit{};
  [[nodiscard]] bool captured() const { return variant.code_object.empty(); }
};

CaptureBench::CaptureBench(replay::Session session, const CaptureBenchSetup& setup, OnStep on_step)
    : session_(std::move(session)),
      setup_(setup),
      on_step_(std::move(on_step)),
      sensed_(sensors::open_sensors(session_.device().facts().pci_address)),
      backend_(make_replay_backend(session_, {.iterations = setup.iterations,
                                              .inputs = {},
                                              .caches = setup.caches,
                                              .sensors = sensed_.sensors.get(),
                                              .no_sensors_because = sensed_.missing_because})) {}

Result<std::unique_ptr<CaptureBench>> CaptureBench::open(const capture::Capture& capture,
                                                         replay::Device& device,
                                                         const CaptureBenchSetup& setup,
                                                         OnStep on_step) {
  PERFLAB_TRY(replay::Session session,
              replay::Session::open(capture, device, {.ignore_findings = setup.ignore_findings}));
  return std::unique_ptr<CaptureBench>(
      new CaptureBench(std::move(session), setup, std::move(on_step)));
}

Result<CaptureBench::Asked> CaptureBench::read(const Json& request) const {
  JsonFields in(request, "a request");
  Asked asked;
  in.read("code_object", asked.variant.code_object);
  std::int64_t limit_ms = 0;
  in.read("limit_ms", limit_ms, 1);
  asked.limit = std::chrono::milliseconds(limit_ms);
  if (in.has("poison")) in.read("poison", asked.poison);
  JsonFields launch = in.object("launch");
  launch.read("grid", asked.variant.launch.grid);
  launch.read("workgroup", asked.variant.launch.workgroup);
  launch.read("dynamic_lds_bytes", asked.variant.launch.dynamic_lds_bytes);
  PERFLAB_TRY_VOID(in.result());
  asked.variant.name = asked.captured() ? capture_step::kCaptured : capture_step::kConfiguration;
  return asked;
}

Result<Json> CaptureBench::answer(const Json& request) {
  if (lost_) return fail(ErrorCode::internal, "the device was lost in an earlier request");
  const bool proves = request.contains("prove");
  if (!proves && !request.contains("measure"))
    return fail(ErrorCode::bad_input, "the replay worker was asked for neither a proof nor a time");
  PERFLAB_TRY(const Asked asked, read(request[proves ? "prove" : "measure"]));
  session_.set_time_limit(Nanos{std::chrono::nanoseconds(asked.limit).count()});
  PERFLAB_TRY_VOID(on_step_(asked.variant.name));
  if (!proves) return measure(asked);
  if (measured_) {  // and left its last outputs behind
    PERFLAB_TRY_VOID(session_.load({}));
    PERFLAB_TRY([[maybe_unused]] const replay::Restored restored, session_.restore_all());
    measured_ = false;
  }
  return asked.captured() ? prove_captured(asked) : prove(asked);
}

Result<Json> CaptureBench::failed(const Error& error, bool ran) {
  // Ctrl-C, a full disk and bugs of ours are no configuration's fault.
  if (error.code == ErrorCode::interrupted || error.code == ErrorCode::internal ||
      error.code == ErrorCode::usage)
    return std::unexpected(error);
  lost_ = lost_ || ran;
  const std::optional<Failure> failure = replay::failure_of(error);
  const bool no_object = !failure && error.code == ErrorCode::bad_input;  // what the build left
  return Json{{"outcome", to_string(no_object ? Outcome::compile_failed : outcome_of(failure))},
              {"detail", error.message},
              {"proof", nullptr},
              {"gpu", gpu_text(session_.device().facts())}};
}

Result<Json> CaptureBench::prove_captured(const Asked& asked) {
  PERFLAB_TRY(const Certificate certificate,
              replay::verify_captured(session_, {.code_object = {},
                                                 .poison = asked.poison ? replay::Poison::written
                                                                        : replay::Poison::none,
                                                 .runs = kFirstRuns,
                                                 .compare = setup_.compare}));
  if (!certificate.poison_note.empty()) {
    lost_ = true;
    return Json{{"poison_failed", certificate.poison_note}};
  }
  repeatable_ = certificate.verdict == replay::ProofVerdict::bitwise;
  return Json{{"outcome", to_string(Outcome::correct)},
              {"detail", ""},
              {"proof", proof_json(certificate)},
              {"gpu", gpu_text(session_.device().facts())}};
}

Result<Json> CaptureBench::prove(const Asked& asked) {
  if (const auto loaded = session_.load(asked.variant.code_object, asked.variant.launch); !loaded)
    return failed(loaded.error(), loaded.error().code == ErrorCode::missing_tool);
  const Result<Certificate> certificate =
      verify(session_, {.code_object = asked.variant.code_object,
                        .launch = asked.variant.launch,
                        .poison = asked.poison ? replay::Poison::written : replay::Poison::none,
                        .runs = repeatable_ ? kLaterRuns : kFirstRuns,
                        .compare = setup_.compare});
  if (!certificate) return failed(certificate.error(), true);
  if (!certificate->reproduces)
    return fail(ErrorCode::refused, certificate->sentence,
                "the captured dispatch has to repeat itself: a tolerance may cover how it varies "
                "(--max-ulp, --rtol, --atol)");
  repeatable_ = repeatable_ ||
                std::ranges::none_of(certificate->regions, [](const replay::RegionVerdict& one) {
                  return one.not_deterministic_bytes > 0;
                });
  const bool ended = certificate->run_failure.empty();
  lost_ = !certificate->poison_note.empty() ||
          (!ended && certificate->failure != Failure::kernel_mismatch);
  if (ended && !certificate->poison_note.empty())
    return Json{{"poison_failed", certificate->poison_note}};
  const Outcome outcome = !ended                          ? outcome_of(certificate->failure)
                          : certificate->exit_code() == 0 ? Outcome::correct
                                                          : Outcome::wrong;
  return Json{{"outcome", to_string(outcome)},
              {"detail", outcome == Outcome::correct ? ""
                         : ended                     ? certificate->sentence
                                                     : certificate->run_failure},
              {"proof", proof_json(*certificate)},
              {"gpu", gpu_text(session_.device().facts())}};
}

Result<Json> CaptureBench::measure(const Asked& asked) {
  measured_ = true;
  const Result<Measured> measured = backend_->measure(asked.variant);
  if (!measured) return failed(measured.error(), true);
  // Which failures leave the device behind is not told: a fresh one costs a second.
  lost_ = !measured->failure.empty();
  return Json{{"outcome", to_string(lost_ ? Outcome::run_failed : Outcome::correct)},
              {"detail", measured->failure},
              {"samples", measured->samples},
              {"sensed", sensed_json(measured->sensed)}};
}

namespace {

/// Capture, device and bench, opened one after another.
class HeldCaptureBench final : public WorkerBench {
 public:
  static Result<std::unique_ptr<WorkerBench>> open(const Json& json, const OnStep& step) {
    PERFLAB_TRY(const CaptureBenchSetup setup, capture_bench_setup_from_json(json, "setup.json"));
    auto held = std::make_unique<HeldCaptureBench>();
    PERFLAB_TRY(held->capture_, capture::Capture::open(setup.capture));
    PERFLAB_TRY(held->device_, replay::open_device(held->capture_->description()));
    PERFLAB_TRY(held->bench_, CaptureBench::open(*held->capture_, *held->device_, setup, step));
    return held;
  }
  Result<Json> answer(const Json& request) override { return bench_->answer(request); }
  [[nodiscard]] bool lost() const override { return bench_->lost(); }

 private:
  std::optional<capture::Capture> capture_;
  std::unique_ptr<replay::Device> device_;
  std::unique_ptr<CaptureBench> bench_;  ///< last: it uses the two before
};

}  // namespace

int autotune_capture_worker_main(const std::string& folder) {
  return replay_worker_main(folder, HeldCaptureBench::open);
}

}  // namespace perflab::measure
