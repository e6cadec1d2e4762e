// One verdict per kernel: what limits it, by the rules of rules.h over the features of features.h;
// with the evidence, what speaks against it, the runner-up, how much could be gained at most, and
// the cheapest measurement that would settle what is open. Deterministic: the same features give
// the same verdict, and every figure in it can be recomputed from the documents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/bottleneck/features.h"
#include "analyze/bottleneck/rules.h"
#include "analyze/thread_trace/figures.h"
#include "base/missing.h"

namespace perflab::analyze {

struct KernelCriticality;

/// A condition that was looked at, with the figure it met.
struct Evidence {
  std::string_view rule;  ///< id
  Condition condition;
  double value = 0;
};

/// A rule that held.
struct HeldRule {
  const Rule* rule = nullptr;
  std::vector<Evidence> evidence;  ///< its conditions
  std::vector<Evidence> against;   ///< of its counter-conditions, those that hold

  /// What it adds to the score: its weight, less 1 for each of `against`, at least 0.
  [[nodiscard]] int counts() const;
};

/// A verdict with its score: the sum of what the rules that hold count.
struct Candidate {
  Verdict verdict = Verdict::insufficient_data;
  int score = 0;
  std::vector<HeldRule> held;     ///< heaviest first
  std::vector<const Rule*> open;  ///< rules of it that could not be decided: features are missing
};

/// How much could be gained at most, each by a different argument. "roofline", "occupancy" and
/// "lanes" bound the kernel: the smallest of them holds. "launch" is of the kernel's dispatches
/// with the idle time before them, "critical path" of the whole run.
struct GainBound {
  std::string_view from;         ///< "roofline", "occupancy", "lanes", "launch", "critical path"
  std::optional<double> factor;  ///< at most so many times faster; at least 1
  std::string text;              ///< the figures it is from
};

struct Bound {
  std::vector<GainBound> parts;
  std::optional<double> kernel_factor;        ///< smallest; nullopt: nothing bounds it
  std::optional<std::int64_t> end_to_end_ns;  ///< of the run at most, by the critical path
  std::optional<double> end_to_end_share;     ///< of the run
  std::vector<Missing> missing;
};

/// A measurement that would decide what is open.
struct NextMeasurement {
  FeatureSource source{};
  std::string command;  ///< "rocm-perf profile --roofline -- ./app"
  std::string why;
  std::vector<FeatureId> features;  ///< that it would give
  std::vector<Verdict> decides;     ///< that it could make the verdict, or take away
};

struct Advice {
  std::string_view rule;
  std::string text;
  std::vector<std::string> lines;  ///< "file:line" that it is about, most cycles first
};

/// The verdict as it was with less to go by.
struct HistoryStep {
  FeatureSource with{};  ///< the last source that was added
  Verdict verdict = Verdict::insufficient_data;
  int score = 0;
  std::string change;  ///< "": nothing changed; else a sentence: what, and by which evidence
};

struct KernelBottleneck {
  std::string kernel;
  std::string architecture;                    ///< empty: not known
  std::optional<std::size_t> analysis_kernel;  ///< index into Analysis::kernels
  std::optional<std::size_t> thread_trace;     ///< index into ThreadTraces::kernels
  Verdict verdict = Verdict::insufficient_data;
  Confidence confidence = Confidence::low;
  std::vector<std::string> confidence_reasons;
  std::string summary;                ///< one sentence
  std::vector<Candidate> candidates;  ///< best first; only those with held or open rules
  std::optional<Verdict> runner_up;
  Bound bound;
  std::optional<NextMeasurement> next;  ///< nullopt: nothing is in doubt
  std::vector<Advice> advice;
  std::vector<HistoryStep> history;  ///< one per source that gave any feature
  FeatureSet features;
};

struct Bottlenecks {
  std::vector<KernelBottleneck>
      kernels;                 ///< as Analysis::kernels; then those only traced or counted
  std::uint64_t left_out = 0;  ///< kernels beyond kMostBottlenecks, shortest first
};
inline constexpr std::size_t kMostBottlenecks = 50;

/// The score that a verdict must reach.
inline constexpr int kEnoughScore = 2;

/// Scores of all verdicts over the features, best first (equal scores: order of Verdict).
std::vector<Candidate> score(const FeatureSet& features);

/// The verdict of candidates: the first with at least kEnoughScore, else insufficient_data.
Verdict decide(const std::vector<Candidate>& candidates);

/// Everything for one kernel. `kernel`: index into analysis.kernels; `thread_trace` and
/// `criticality` (its row of analysis.critical_path) as far as they are there.
KernelBottleneck judge(const FeatureSet& features, const Measurements& analysis,
                       std::optional<std::size_t> kernel, const KernelThreadTrace* thread_trace,
                       const KernelCriticality* criticality = nullptr);

/// Verdicts of all kernels but runtime helpers (unless there is nothing else).
Bottlenecks find_bottlenecks(const trace::Trace& trace, const TimingScope& scope,
                             const Measurements& analysis);

}  // namespace perflab::analyze
