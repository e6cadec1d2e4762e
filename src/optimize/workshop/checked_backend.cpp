// A timed run is one of the runs of the proof once more: the same seeds, outputs and lines with the
// metric, compared after each.
#include "optimize/workshop/checked_backend.h"

#include <fmt/format.h>

namespace perflab::optimize {

void CheckedBackend::expect(const measure::Variant& variant, std::vector<TimedRun> runs) {
  PERFLAB_CHECK(!runs.empty());
  variants_.insert_or_assign(variant.command, TimedVariant{.runs = std::move(runs), .next = 0});
}

Result<measure::Measured> CheckedBackend::measure(const measure::Variant& variant) {
  const auto timed = variants_.find(variant.command);
  if (timed == variants_.end())
    return fail(
        ErrorCode::internal,
        fmt::format("{} would be timed without knowing what it has to compute", variant.name));
  TimedVariant& turns = timed->second;
  const TimedRun& expected = turns.runs[turns.next++ % turns.runs.size()];
  measure::Variant now = variant;
  now.command = expected.command;
  PERFLAB_TRY_VOID(remove_outputs(expected.outputs));
  const OutputsRemoved afterwards(expected.outputs);
  if (prints_) (void)prints_->take();  // of a run that failed
  PERFLAB_TRY(measure::Measured measured, inner_->measure(now));
  if (measured.failure.empty()) measured.failure = difference(expected);
  if (!measured.failure.empty()) measured.samples.clear();
  return measured;
}

std::string CheckedBackend::difference(const TimedRun& expected) {
  const RunEnd end = collect_outputs(expected.outputs, prints_ ? prints_->take() : Printed{});
  if (end.reason) return fmt::format("a timed run is wrong: {}", end.sentence);
  if (!prints_ && expected.outputs.empty()) return {};
  const OutputComparison compared =
      prints_ ? compare_with_golden(expected.outputs, *expected.golden, end, rule_)
              : compare_outputs(expected.outputs, expected.golden->outputs, end.outputs, rule_);
  return compared.equal ? std::string()
                        : fmt::format("a timed run is wrong: {}", compared.sentence);
}

}  // namespace perflab::optimize
