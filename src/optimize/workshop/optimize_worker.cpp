// Capture, device and bench of the worker, opened one after another.
#include "optimize/workshop/optimize_worker.h"

#include <memory>
#include <optional>
#include <utility>

#include "capture/capture_reader.h"
#include "measure/replay_worker.h"
#include "optimize/workshop/replay_bench.h"
#include "replay/session/open_device.h"

namespace perflab::optimize {
namespace {

class HeldBench final : public measure::WorkerBench {
 public:
  static Result<std::unique_ptr<WorkerBench>> open(const Json& json, const measure::OnStep& step) {
    PERFLAB_TRY(const BenchSetup setup, bench_setup_from_json(json, "setup.json"));
    auto held = std::make_unique<HeldBench>();
    PERFLAB_TRY(held->capture_, capture::Capture::open(setup.capture));
    PERFLAB_TRY(held->device_, replay::open_device(held->capture_->description()));
    PERFLAB_TRY(held->bench_, ReplayBench::open(*held->capture_, *held->device_, setup, step));
    return held;
  }
  Result<Json> answer(const Json& request) override { return bench_->answer(request); }
  [[nodiscard]] bool lost() const override { return bench_->lost(); }

 private:
  std::optional<capture::Capture> capture_;
  std::unique_ptr<replay::Device> device_;
  std::unique_ptr<ReplayBench> bench_;  ///< last: it uses the two before
};

}  // namespace

int optimize_worker_main(const std::string& folder) {
  return measure::replay_worker_main(folder, HeldBench::open);
}

}  // namespace perflab::optimize
