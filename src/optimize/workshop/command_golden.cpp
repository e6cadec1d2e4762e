// Files and text are compared by command_outputs, the metric's lines by command_prints.
#include "optimize/workshop/command_golden.h"

#include <fmt/format.h>

#include <utility>

#include "base/text/command_line.h"

namespace perflab::optimize {
namespace {

std::unexpected<Error> differs_from_itself(const CommandRun& run, std::uint64_t seed,
                                           const std::string& difference) {
  return fail(ErrorCode::refused,
              fmt::format("two runs of the original differ with seed {}, so that nothing can be "
                          "proven by its output: {}",
                          seed, difference),
              run.outputs.empty()
                  ? "give --metric-regex for lines with times, --output FILE for what is "
                    "computed, or a --check of your own"
                  : "allow for it (--type with --max-ulp, --rtol or --atol), or leave --output "
                    "out and give a --check of your own");
}

}  // namespace

Result<Golden> make_golden(const CommandRun& run, const OutputRule& rule, std::uint64_t seed,
                           bool checked) {
  Golden golden;
  for (int time = 0; time < 2; ++time) {
    PERFLAB_TRY(RunEnd end, run_command(run));
    if (end.reason)
      return fail(ErrorCode::target_failed,
                  fmt::format("the original itself fails with seed {}: {}", seed, end.sentence),
                  "try the command by hand: " + join_command_line(run.command));
    if (time == 0) {
      golden.outputs = std::move(end.outputs);
      golden.metric = std::move(end.metric);
      continue;
    }
    golden.demand = repeated_by(golden.metric, end.metric);
    golden.not_compared = not_repeated(golden.metric, end.metric);
    const OutputComparison compared =
        compare_outputs(run.outputs, golden.outputs, end.outputs, rule);
    golden.text_repeats = compared.equal;
    if (!compared.equal && !(run.outputs.empty() && checked))
      return differs_from_itself(run, seed, compared.sentence);
  }
  return golden;
}

OutputComparison compare_with_golden(const std::vector<OutputFile>& outputs, const Golden& golden,
                                     const RunEnd& found, const OutputRule& rule) {
  OutputComparison out{
      .equal = true,
      .sentence = "not compared: the original prints something else each time; the check decides",
      .evidence = Json::object()};
  if (!outputs.empty() || golden.text_repeats)
    out = compare_outputs(outputs, golden.outputs, found.outputs, rule);
  if (!out.equal) return out;
  std::string difference = metric_difference(golden.metric, found.metric, golden.demand);
  if (!difference.empty()) {
    out.equal = false;
    out.sentence = std::move(difference);
  } else if (!golden.not_compared.empty()) {
    out.sentence += "; " + golden.not_compared;
  }
  if (golden.metric.matches > 0 || found.metric.matches > 0)
    out.evidence["metric_matches"] = found.metric.matches;
  return out;
}

}  // namespace perflab::optimize
