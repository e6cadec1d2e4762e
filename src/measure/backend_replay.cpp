// Both code objects take turns in one session: same addresses, same data, same queue. Every
// measurement loads its own anew, so that both stand alike whatever ran before.
#include "measure/backend_replay.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/system/interrupt.h"

namespace perflab::measure {
namespace {

class ReplayBackend final : public Backend {
 public:
  ReplayBackend(replay::Session& session, const ReplayBackendOptions& options)
      : session_(session), options_(options), caches_(session, options.caches) {
    PERFLAB_CHECK(options.iterations > 0);
  }

  [[nodiscard]] std::string name() const override { return "replay"; }
  [[nodiscard]] std::string unit() const override { return "ns"; }

  Result<Measured> measure(const Variant& variant) override {
    if (!lost_to_.empty())
      return fail(ErrorCode::missing_tool,
                  fmt::format("the device was lost to {}: nothing can be measured on it any more",
                              lost_to_),
                  "run the command again: what was decided is kept");
    Measured measured;
    std::string wrong;
    if (Result<void> done = take_samples(variant, measured, wrong); !done) {
      Error error = std::move(done).error();
      // A fault or a hang (target_failed), or a code object that cannot be used (bad_input).
      const bool fault = error.code == ErrorCode::target_failed;
      if (!fault && error.code != ErrorCode::bad_input) return std::unexpected(std::move(error));
      if (fault) lost_to_ = variant.name.empty() ? "a fault" : variant.name;
      measured.samples.clear();
      measured.failure = std::move(error.message);
    } else if (!wrong.empty()) {
      measured.samples.clear();
      measured.failure = "a timed dispatch is wrong: " + wrong;
    }
    return measured;
  }

 private:
  /// `wrong`: what a dispatch left that it should not have.
  Result<void> take_samples(const Variant& variant, Measured& measured, std::string& wrong) {
    PERFLAB_TRY_VOID(session_.load(variant.code_object, variant.launch));
    Sensed& sensed = measured.sensed;
    sensed.missing_because = options_.no_sensors_because;
    for (std::uint64_t i = 0; i <= options_.iterations; ++i) {
      if (interrupted()) return fail(ErrorCode::interrupted, "interrupted between dispatches");
      if (i == 1 && options_.sensors != nullptr) sensed.span.before = options_.sensors->read();
      PERFLAB_TRY_VOID(bring_input(i));
      PERFLAB_TRY(wrong, look_first(variant, i));
      if (!wrong.empty()) return {};
      PERFLAB_TRY_VOID(caches_.prepare([&] { return bring_written(i); }));
      PERFLAB_TRY(const Nanos time, session_.run());
      if (i > 0) measured.samples.push_back(static_cast<double>(time.value));
      if (i == options_.iterations && options_.sensors != nullptr) {
        sensed.span.after = options_.sensors->read();
        sensed.source = options_.sensors->source();
        sensed.missing = options_.sensors->missing();
      }
      if (options_.inputs) {
        PERFLAB_TRY(wrong, options_.inputs->check(variant, i));
        if (!wrong.empty()) return {};
      } else if (i == 0 && known_.insert(variant.code_object).second) {
        PERFLAB_TRY_VOID(session_.learn_writes());
      }
    }
    return {};
  }

  Result<void> bring_input(std::uint64_t number) {
    return options_.inputs ? options_.inputs->bring(number) : restore();
  }
  Result<void> bring_written(std::uint64_t number) {
    return options_.inputs ? options_.inputs->bring_written(number) : restore();
  }
  Result<void> restore() {
    PERFLAB_TRY([[maybe_unused]] const replay::Restored restored, session_.restore_writes());
    return {};
  }

  /// What is wrong after a dispatch that is the variant's first on this input. With warm caches two
  /// run before anyone looks: the first could leave a note to the second where nothing is put back,
  /// and the second take it away.
  Result<std::string> look_first(const Variant& variant, std::uint64_t number) {
    if (options_.caches != replay::Caches::warm || !options_.inputs ||
        !options_.inputs->is_new(variant, number))
      return std::string();
    PERFLAB_TRY([[maybe_unused]] const Nanos time, session_.run());
    PERFLAB_TRY(std::string wrong, options_.inputs->check(variant, number));
    if (wrong.empty()) PERFLAB_TRY_VOID(options_.inputs->bring(number));
    return wrong;
  }

  replay::Session& session_;
  ReplayBackendOptions options_;
  replay::CacheState caches_;
  std::set<std::filesystem::path> known_;  ///< code objects whose write sets are known
  std::string lost_to_;                    ///< variant that broke the device; empty: none
};

}  // namespace

std::unique_ptr<Backend> make_replay_backend(replay::Session& session,
                                             const ReplayBackendOptions& options) {
  return std::make_unique<ReplayBackend>(session, options);
}

}  // namespace perflab::measure
