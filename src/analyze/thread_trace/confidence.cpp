// Each doubt is a sentence; the worst one decides.
#include "analyze/thread_trace/confidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "analyze/thread_trace/occupancy_over_time.h"
#include "base/enum_names.h"

namespace perflab::analyze {
namespace {

class Judge {
 public:
  explicit Judge(KernelThreadTrace& kernel) : kernel_(kernel) {
    kernel_.confidence = Confidence::high;
    kernel_.confidence_reasons.clear();
  }

  void doubt(Confidence at_most, std::string reason) {
    kernel_.confidence = std::min(kernel_.confidence, at_most);
    kernel_.confidence_reasons.push_back(std::move(reason));
  }

  void losses() {
    const TraceCoverage& coverage = kernel_.coverage;
    if (coverage.packets_lost > 0)
      doubt(Confidence::low, fmt::format("the trace lost data {} time(s): its buffer was too small",
                                         coverage.packets_lost));
    if (coverage.trace_stalls > 0)
      doubt(Confidence::medium,
            fmt::format("recording held the waves up {} time(s)", coverage.trace_stalls));
    if (!coverage.dropped.empty()) {
      std::string what;
      for (const auto& [reason, many] : coverage.dropped)
        what += fmt::format("{}{} ({})", what.empty() ? "" : ", ", reason, many);
      doubt(Confidence::low, "parts of the folder were left out: " + what);
    }
    if (coverage.rows_differing > 0)
      doubt(Confidence::low,
            fmt::format("{} code row(s) have other sums than their waves: some waves are not there",
                        coverage.rows_differing));
  }

  void waves() {
    const TraceCoverage& coverage = kernel_.coverage;
    if (coverage.waves < kFewestWaves)
      doubt(Confidence::low, "only one wave was traced");
    else if (coverage.waves < kEnoughWaves)
      doubt(Confidence::medium, fmt::format("only {} waves were traced", coverage.waves));
    const bool whole = coverage.waves_of_dispatch.has_value();
    const std::uint64_t all = whole ? *coverage.waves_of_dispatch : coverage.waves_started;
    if (all == 0) doubt(Confidence::medium, "no start of a wave was recorded");
    const double seen =
        all > 0 ? static_cast<double>(coverage.waves) / static_cast<double>(all) : 1;
    if (seen < kEnoughSeen)
      doubt(Confidence::medium,
            fmt::format("{:.3g} % of the waves {} were traced, less than {:.3g} %", 100 * seen,
                        whole ? "of the dispatch" : "on the traced shader engines",
                        100 * kEnoughSeen));
  }

  void starts(const TraceDoubts& doubts) {
    if (!doubts.several_dispatches.empty()) doubt(Confidence::medium, doubts.several_dispatches);
    const std::uint64_t started = kernel_.coverage.waves_started;
    if (doubts.unended > 0)
      doubt(too_many_unended(doubts.unended, started) ? Confidence::low : Confidence::medium,
            fmt::format("the end of {} of {} waves was not recorded", doubts.unended, started));
  }

  void code(std::uint64_t instructions) {
    const double unattributed = static_cast<double>(kernel_.coverage.unattributed);
    if (instructions > 0 && unattributed > kMostUnattributed * static_cast<double>(instructions))
      doubt(Confidence::low,
            fmt::format("the code of {:.3g} % of the executed instructions is not known",
                        100 * unattributed / static_cast<double>(instructions)));
    const auto memory = static_cast<double>(kernel_.time.wait - kernel_.wait_other);
    const auto unexplained = static_cast<double>(kernel_.wait_unattributed);
    if (memory > 0 && unexplained > kMostUnexplained * memory)
      doubt(Confidence::medium, fmt::format("{:.3g} % of the waits on memory have no known cause",
                                            100 * unexplained / memory));
  }

 private:
  KernelThreadTrace& kernel_;
};

}  // namespace

std::string_view to_string(Confidence confidence) {
  using enum Confidence;
  static constexpr auto kNames =
      enum_names<Confidence>({{low, "low"}, {medium, "medium"}, {high, "high"}});
  return kNames[confidence];
}

std::string_view to_string(WaitLinks links) {
  using enum WaitLinks;
  static constexpr auto kNames =
      enum_names<WaitLinks>({{trace, "trace"}, {rule, "rule"}, {none, "none"}});
  return kNames[links];
}

void judge_confidence(KernelThreadTrace& kernel, std::uint64_t instructions,
                      const TraceDoubts& doubts) {
  Judge judge(kernel);
  if (kernel.from_stats || (kernel.coverage.waves == 0 && kernel.sums.hits > 0)) {
    judge.doubt(Confidence::low, "there are only sums by instruction, no waves");
  } else if (kernel.coverage.waves == 0) {
    judge.doubt(Confidence::low, "none of its waves ran on a traced CU");
  } else {
    judge.waves();
    judge.code(instructions);
  }
  judge.starts(doubts);
  judge.losses();
}

}  // namespace perflab::analyze
