#include "optimize/workshop/checked_backend.h"

#include <fmt/format.h>

namespace perflab::optimize {

void CheckedBackend::expect(const measure::Variant& variant, TimedRun run, bool first) {
  TimedVariant& timed = variants_[variant.command];
  if (first) timed = {};
  timed.runs.push_back(std::move(run));
}

Result<measure::Measured> CheckedBackend::measure(const measure::Variant& variant) {
  const auto timed = variants_.find(variant.command);
  if (timed == variants_.end()) return inner_->measure(variant);
  TimedVariant& turns = timed->second;
  const TimedRun& expected = turns.runs[turns.next++ % turns.runs.size()];
  measure::Variant now = variant;
  now.command = expected.command;
  PERFLAB_TRY_VOID(remove_outputs(expected.outputs));
  const OutputsRemoved afterwards(expected.outputs);
  printed_->clear();
  PERFLAB_TRY(measure::Measured measured, inner_->measure(now));
  if (measured.failure.empty() && expected.golden != nullptr)
    measured.failure = difference(expected);
  if (!measured.failure.empty()) measured.samples.clear();
  return measured;
}

std::string CheckedBackend::difference(const TimedRun& expected) const {
  RunEnd end = collect_files(expected.outputs);
  if (end.reason) return fmt::format("a timed run is wrong: {}", end.sentence);
  if (expected.outputs.empty()) {
    // Under rocprofv3 stdout is the profiler's, too.
    if (!expected.golden->text_repeats || inner_->name() == "rocprofv3") return {};
    end.outputs.text = without_lines(*printed_, metric_);
  }
  const OutputComparison compared =
      compare_outputs(expected.outputs, expected.golden->outputs, end.outputs, rule_);
  return compared.equal ? std::string()
                        : fmt::format("a timed run is wrong: {}", compared.sentence);
}

}  // namespace perflab::optimize
