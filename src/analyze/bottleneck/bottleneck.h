// One verdict per kernel: what limits it, by the rules of rules.h over the features of features.h;
// with the evidence, what speaks against it, the runner-up, how much could be gained at most, and
// the cheapest measurement that would settle what is open. Deterministic: the same features give
// the same verdict, and every figure in it can be recomputed from the documents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/bottleneck/advice.h"
#include "analyze/bottleneck/features.h"
#include "analyze/bottleneck/gain_bound.h"
#include "analyze/bottleneck/next_measurement.h"
#include "analyze/bottleneck/pc_samples.h"
#include "analyze/bottleneck/rules.h"
#include "analyze/bottleneck/score.h"
#include "analyze/thread_trace/cycle_figures.h"
#include "base/missing.h"

namespace perflab::analyze {

struct KernelCriticality;

/// The verdict as it was with less to go by.
struct HistoryStep {
  FeatureSource with{};  ///< the last source that was added
  Bottleneck verdict = Bottleneck::insufficient_data;
  int score = 0;
  std::string change;  ///< "": nothing changed; else a sentence: what, and by which evidence
};

struct KernelBottleneck {
  std::string kernel;
  std::string architecture;                    ///< empty: not known
  std::optional<std::size_t> analysis_kernel;  ///< index into Analysis::kernels
  std::optional<std::size_t> thread_trace;     ///< index into ThreadTraces::kernels
  std::optional<std::size_t> pc_samples;       ///< index into PcSampling::kernels
  Bottleneck verdict = Bottleneck::insufficient_data;
  Confidence confidence = Confidence::low;
  std::vector<std::string> confidence_reasons;
  std::vector<CrossCheck> cross_checks;      ///< PC samples against counters and thread trace
  std::string summary;                       ///< one sentence
  std::vector<ScoredBottleneck> candidates;  ///< best first; only those with held or open rules
  std::optional<Bottleneck> runner_up;
  Bound bound;
  std::optional<NextMeasurement> next;  ///< nullopt: nothing is in doubt
  std::vector<Advice> advice;
  std::vector<HistoryStep> history;  ///< one per source that gave any feature
  FeatureSet features;
};

/// A kernel that no rule can judge.
struct WithoutVerdict {
  std::string kernel;
  std::optional<std::size_t> analysis_kernel;  ///< index into Analysis::kernels
  std::string reason;
};

struct Bottlenecks {
  std::vector<KernelBottleneck>
      kernels;  ///< as Analysis::kernels; then those only traced or counted
  std::vector<WithoutVerdict> without_verdict{};  ///< communication kernels
  std::uint64_t left_out = 0;  ///< kernels beyond kMostBottlenecks, shortest first
};
inline constexpr std::size_t kMostBottlenecks = 50;

/// Everything for one kernel. `kernel`: index into analysis.kernels; `thread_trace` and
/// `criticality` (its row of analysis.critical_path) and `samples` as far as they are there.
KernelBottleneck judge(const FeatureSet& features, const Measurements& analysis,
                       std::optional<std::size_t> kernel, const KernelThreadTrace* thread_trace,
                       const KernelCriticality* criticality = nullptr,
                       const KernelPcSamples* samples = nullptr);

/// Verdicts of all kernels but runtime helpers (unless there is nothing else) and communication
/// kernels, whose time other ranks decide. `gaps`: of the trace in that scope, where they are known
/// already.
Bottlenecks find_bottlenecks(const trace::Trace& trace, const TimingScope& scope,
                             const Measurements& analysis, const DispatchGaps* gaps = nullptr);

}  // namespace perflab::analyze
