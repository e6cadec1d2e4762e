// A run of a command is tune's run_step(), its numbers are tune's MetricScanner.
#include "measure/backend_command.h"

#include <utility>

#include "base/text/pattern.h"
#include "tune/evaluate/metric.h"
#include "tune/evaluate/process_step.h"

namespace perflab::measure {
namespace {

class CommandBackend final : public Backend {
 public:
  CommandBackend(CommandBackendOptions options, std::optional<Pattern> metric)
      : options_(std::move(options)), metric_(std::move(metric)) {}

  [[nodiscard]] std::string name() const override {
    return std::string(metric_ ? kMetricBackend : kWallTimeBackend);
  }
  [[nodiscard]] std::string unit() const override { return metric_ ? options_.metric_unit : "s"; }
  [[nodiscard]] bool larger_is_better() const override { return options_.larger_is_better; }

  Result<Measured> measure(const Variant& variant) override {
    PERFLAB_CHECK(!variant.command.empty());
    std::optional<tune::MetricScanner> scanner;
    tune::StepOptions how{
        .environment = variant.environment, .limit_seconds = std::nullopt, .on_stream = {}};
    if (options_.time_limit)
      how.limit_seconds = std::chrono::duration<double>(*options_.time_limit).count();
    how.confinement = variant.confinement;
    if (metric_) scanner.emplace(*metric_);
    how.on_stream = [&](int stream, std::string_view bytes) {
      if (scanner) scanner->feed(stream, bytes);
      if (options_.on_stream) options_.on_stream(stream, bytes);
    };
    PERFLAB_TRY(tune::StepEnd step, tune::run_step(variant.command, how));
    Measured measured;
    if (!step.succeeded) {
      measured.failure = std::move(step.detail);
    } else if (scanner) {
      tune::MetricScanner::Found found = scanner->finish();
      measured.samples = std::move(found.samples);
      measured.failure = std::move(found.problem);
    } else {
      measured.samples = {step.seconds};
    }
    return measured;
  }

 private:
  CommandBackendOptions options_;
  std::optional<Pattern> metric_;
};

}  // namespace

Result<std::unique_ptr<Backend>> make_command_backend(const CommandBackendOptions& options) {
  std::optional<Pattern> metric;
  if (!options.metric_pattern.empty()) {
    PERFLAB_TRY(metric, tune::compile_metric_pattern(options.metric_pattern));
  } else if (options.larger_is_better) {
    return fail(ErrorCode::usage, "a wall time is never better when it is larger",
                "give the pattern of the number that the command prints (--metric-regex)");
  }
  return std::make_unique<CommandBackend>(options, std::move(metric));
}

}  // namespace perflab::measure
