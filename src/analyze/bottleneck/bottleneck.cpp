// The verdict of a kernel put together: score, confidence, bound, next measurement, advice and
// history; and the kernels of a trace, of thread traces and of counters that get one.
#include "analyze/bottleneck/bottleneck.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "analyze/bottleneck/dispatch_gaps.h"
#include "analyze/bottleneck/in_words.h"
#include "analyze/bottleneck/measurements.h"
#include "analyze/kernels/kernel_table.h"
#include "base/communication_kernels.h"
#include "hal/terms.h"

namespace perflab::analyze {
namespace {

/// How long a communication kernel runs is decided by when the other ranks come, so nothing of it
/// says what limits it.
constexpr std::string_view kCommunicationReason =
    "a communication kernel: its time is other ranks' too; `rocm-perf ranks` says whose";

/// The figures that decide, at most three, and the first rule's sentence.
std::string evidence_in_words(const ScoredBottleneck& winner) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> figures;
  std::set<FeatureId> named;
  for (const HeldRule& held : winner.held)
    for (const Evidence& evidence : held.evidence)
      if (figures.size() < kMostNamed && named.insert(evidence.condition.feature).second)
        figures.push_back(in_words(evidence));
  return fmt::format("{}: {}", winner.held.front().rule->says, list_in_words(figures));
}

std::string summary_of(const KernelBottleneck& kernel) {
  const ScoredBottleneck* const winner = winner_of(kernel.candidates);
  if (winner != nullptr)
    return fmt::format("{}: {}", label_of(winner->verdict), evidence_in_words(*winner));
  if (kernel.next)
    return fmt::format("{}: no rule is met strongly enough; `{}` would tell more",
                       label_of(Bottleneck::insufficient_data), kernel.next->command);
  return fmt::format("{}: no rule is met strongly enough", label_of(Bottleneck::insufficient_data));
}

/// Lowers the confidence to at most `level`, with a reason.
void lower(KernelBottleneck& kernel, Confidence level, std::string reason) {
  kernel.confidence = std::min(kernel.confidence, level);
  kernel.confidence_reasons.push_back(std::move(reason));
}

bool rests_on(const ScoredBottleneck& winner, FeatureSource source) {
  return std::ranges::any_of(winner.held, [&](const HeldRule& held) {
    return std::ranges::any_of(held.evidence, [&](const Evidence& evidence) {
      return info(evidence.condition.feature).source == source;
    });
  });
}

/// The feature depends on how long dispatches took.
bool is_of_times(FeatureId id) {
  using enum FeatureId;
  return id == dispatch_median || id == idle_before || id == hbm_share || id == l2_share ||
         id == lds_share || id == compute_share || id == nearest_roof;
}

constexpr int kClearScore = 3, kClearMargin = 2;

/// How sure scores alone make the verdict without the thread trace; low: it is not the verdict
/// then.
Confidence confidence_without_trace(const KernelBottleneck& kernel) {
  const std::vector<ScoredBottleneck> candidates =
      score(kernel.features.only_up_to(FeatureSource::pc_sampling));
  if (decide(candidates) != kernel.verdict) return Confidence::low;
  const int runner_up = candidates.size() > 1 ? std::max(candidates[1].score, 0) : 0;
  const int margin = candidates.front().score - runner_up;
  if (margin == 0) return Confidence::low;
  return candidates.front().score >= kClearScore && margin >= kClearMargin ? Confidence::high
                                                                           : Confidence::medium;
}

/// What PC samples do to the confidence. They alone make it medium at most: a sample says how
/// often, never how long.
void judge_samples(const ScoredBottleneck& winner, const KernelPcSamples* samples,
                   KernelBottleneck& kernel) {
  for (const CrossCheck& check : kernel.cross_checks)
    if (!check.agrees) lower(kernel, Confidence::medium, check.text);
  if (samples == nullptr || !rests_on(winner, FeatureSource::pc_sampling)) return;
  if (decide(score(kernel.features.without(FeatureSource::pc_sampling))) == kernel.verdict) return;
  lower(kernel, std::min(Confidence::medium, samples->confidence),
        "only PC samples make it the verdict");
  kernel.confidence_reasons.insert(kernel.confidence_reasons.end(),
                                   samples->confidence_reasons.begin(),
                                   samples->confidence_reasons.end());
}

void find_confidence(const Measurements& analysis, const KernelThreadTrace* traced,
                     const KernelPcSamples* samples, KernelBottleneck& kernel) {
  const ScoredBottleneck* const winner = winner_of(kernel.candidates);
  if (winner == nullptr) {
    kernel.confidence = Confidence::low;
    kernel.confidence_reasons.push_back(
        fmt::format("no verdict reaches a score of {}", kEnoughScore));
    return;
  }
  kernel.confidence = Confidence::high;
  if (winner->score < kClearScore)
    lower(kernel, Confidence::medium, fmt::format("its score is only {}", winner->score));
  if (kernel.runner_up) {
    const int margin = winner->score - kernel.candidates[1].score;
    if (margin < kClearMargin)
      lower(kernel, margin == 0 ? Confidence::low : Confidence::medium,
            fmt::format("{} scores {}", label_of(*kernel.runner_up),
                        margin == 0 ? "the same" : "nearly the same"));
  }
  if (kernel.next) {
    const bool weak = winner->score < kClearScore;
    lower(
        kernel, weak ? Confidence::low : Confidence::medium,
        fmt::format("something that was not measured could change it ({})", kernel.next->command));
  }
  const bool timed = std::ranges::any_of(winner->held, [](const HeldRule& held) {
    return std::ranges::any_of(held.evidence, [](const Evidence& evidence) {
      return is_of_times(evidence.condition.feature);
    });
  });
  if (analysis.timed_under_counters && timed)
    lower(kernel, Confidence::medium, "times were taken while counters were collected");
  judge_samples(*winner, samples, kernel);
  if (traced == nullptr || !rests_on(*winner, FeatureSource::thread_trace)) return;
  // What stands without the trace is not less sure with it.
  const Confidence level = std::max(traced->confidence, confidence_without_trace(kernel));
  if (level < Confidence::high) {
    lower(kernel, level, "the thread trace saw only a part");
    kernel.confidence_reasons.insert(kernel.confidence_reasons.end(),
                                     traced->confidence_reasons.begin(),
                                     traced->confidence_reasons.end());
  }
}

bool gives_any(const FeatureSet& features, FeatureSource source) {
  return std::ranges::any_of(features.all(), [&](const Feature& feature) {
    return feature.value && info(feature.id).source == source;
  });
}

/// What the step's source changed: evidence of it in rules of the verdict before and after.
std::string change_between(const std::vector<ScoredBottleneck>& before,
                           const std::vector<ScoredBottleneck>& after, FeatureSource added) {
  const ScoredBottleneck* const old_winner = winner_of(before);
  const ScoredBottleneck* const winner = winner_of(after);
  const Bottleneck old_verdict = decide(before), verdict = decide(after);
  const int old_score = old_winner == nullptr ? 0 : old_winner->score;
  const int new_score = winner == nullptr ? 0 : winner->score;
  if (old_verdict == verdict && old_score == new_score) return "";
  std::vector<std::string> figures;
  std::set<FeatureId> named;
  const auto name = [&](const std::vector<Evidence>& list) {
    for (const Evidence& evidence : list)
      if (info(evidence.condition.feature).source == added &&
          named.insert(evidence.condition.feature).second)
        figures.push_back(in_words(evidence));
  };
  for (const ScoredBottleneck& candidate : after) {
    if (candidate.verdict != verdict && candidate.verdict != old_verdict) continue;
    for (const HeldRule& held : candidate.held) {
      name(held.evidence);
      name(held.against);
    }
  }
  std::string text =
      old_verdict == verdict
          ? fmt::format("still {}, score {} instead of {}", label_of(verdict), new_score, old_score)
          : fmt::format("{} instead of {}", label_of(verdict), label_of(old_verdict));
  if (!figures.empty()) text += ": " + list_in_words(figures);
  return text;
}

std::vector<HistoryStep> find_history(const FeatureSet& features) {
  std::vector<HistoryStep> history;
  std::vector<ScoredBottleneck> before;
  for (std::size_t i = 0; i < kFeatureSources; ++i) {
    const auto source = static_cast<FeatureSource>(i);
    if (!gives_any(features, source)) continue;
    std::vector<ScoredBottleneck> now = score(features.only_up_to(source));
    const ScoredBottleneck* const winner = winner_of(now);
    history.push_back({.with = source,
                       .verdict = decide(now),
                       .score = winner == nullptr ? 0 : winner->score,
                       .change = history.empty() ? "" : change_between(before, now, source)});
    before = std::move(now);
  }
  return history;
}

}  // namespace

KernelBottleneck judge(const FeatureSet& features, const Measurements& analysis,
                       std::optional<std::size_t> kernel_index,
                       const KernelThreadTrace* thread_trace, const KernelCriticality* criticality,
                       const KernelPcSamples* samples) {
  KernelBottleneck result;
  result.features = features;
  result.analysis_kernel = kernel_index;
  const Kernel* const kernel = kernel_index ? &analysis.kernels[*kernel_index] : nullptr;
  if (kernel != nullptr) {
    result.kernel = kernel->name;
    result.architecture = kernel->gpu.architecture;
  } else if (thread_trace != nullptr) {
    result.kernel = thread_trace->kernel;
  } else if (samples != nullptr) {
    result.kernel = samples->kernel;
    result.architecture = samples->architecture;
  }
  result.candidates = score(features);
  result.verdict = decide(result.candidates);
  const ScoredBottleneck* const winner = winner_of(result.candidates);
  const std::size_t second = winner == nullptr ? 0 : 1;
  if (result.candidates.size() > second && result.candidates[second].score > 0)
    result.runner_up = result.candidates[second].verdict;
  result.next = find_next_measurement(features, result.candidates);
  // Without an option only the kernel with most time gets figures of samples.
  if (result.next && result.next->source == FeatureSource::pc_sampling && kernel_index &&
      kernel_index != kernel_with_most_time(analysis.kernels))
    result.next->command = "rocm-perf profile --pc-sampling --pc-sampling-all-kernels -- ./app";
  result.bound = find_bound(features, result.verdict, analysis, criticality);
  if (winner != nullptr) result.advice = find_advice(*winner, kernel, thread_trace);
  result.cross_checks = cross_check(features);
  find_confidence(analysis, thread_trace, samples, result);
  result.history = find_history(features);
  result.summary = summary_of(result);
  return result;
}

namespace {

/// Of two traced dispatches of a kernel the one that says more of it: any cycles at all, then
/// confidence, then how much was seen.
bool says_more(const KernelThreadTrace& a, const KernelThreadTrace& b) {
  const auto key = [](const KernelThreadTrace& one) {
    return std::tuple(one.time.total() > 0, one.confidence, one.coverage.waves, one.sums.cost());
  };
  return key(a) > key(b);
}

/// Makes `candidate` the one that stands for its kernel where it says more. Equal ones: the first.
void choose_trace(const std::vector<KernelThreadTrace>& traced, std::size_t candidate,
                  std::optional<std::size_t>& chosen) {
  if (!chosen || says_more(traced[candidate], traced[*chosen])) chosen = candidate;
}

std::vector<std::optional<std::size_t>> traces_of_kernels(const Measurements& analysis) {
  std::vector<std::optional<std::size_t>> best(analysis.kernels.size());
  if (!analysis.thread_traces) return best;
  const std::vector<KernelThreadTrace>& traced = analysis.thread_traces->kernels;
  for (std::size_t i = 0; i < traced.size(); ++i)
    if (traced[i].analysis_kernel) choose_trace(traced, i, best[*traced[i].analysis_kernel]);
  return best;
}

/// Of kernels that are in no recording, in the order in which they come first. Names for people can
/// be the same for two kernels: those of the code tell them apart.
std::vector<std::size_t> traces_without_kernel(const std::vector<KernelThreadTrace>& traced) {
  std::vector<std::optional<std::size_t>> best;
  std::map<std::string_view, std::size_t> groups;
  for (std::size_t i = 0; i < traced.size(); ++i) {
    if (traced[i].analysis_kernel) continue;
    const std::string& name =
        traced[i].mangled_name.empty() ? traced[i].kernel : traced[i].mangled_name;
    const auto [group, added] = groups.emplace(name, best.size());
    if (added) best.emplace_back();
    choose_trace(traced, i, best[group->second]);
  }
  std::vector<std::size_t> chosen;
  for (const std::optional<std::size_t>& one : best) chosen.push_back(*one);
  return chosen;
}

/// A verdict in the words of NVIDIA's GPUs. No tool takes thread traces of those.
void say_in_cuda_terms(KernelBottleneck& one) {
  const auto say = [](std::string& text) { text = hal::in_terms(text, hal::Platform::nvidia); };
  say(one.summary);
  for (std::string& reason : one.confidence_reasons) say(reason);
  for (CrossCheck& check : one.cross_checks) say(check.text);
  for (GainBound& part : one.bound.parts) say(part.text);
  for (Advice& advice : one.advice) say(advice.text);
  for (HistoryStep& step : one.history) say(step.change);
  if (one.next) say(one.next->why);
  if (one.next && one.next->source == FeatureSource::thread_trace) one.next.reset();
}

class BottleneckFinder {
 public:
  BottleneckFinder(const trace::Trace& trace, const TimingScope& scope,
                   const Measurements& analysis, const DispatchGaps* gaps)
      : trace_(trace), scope_(scope), analysis_(analysis), gaps_(gaps) {
    if (!analysis.critical_path) return;
    for (const KernelCriticality& row : analysis.critical_path->kernels)
      criticality_.emplace(trace.strings.view(row.name), &row);
  }

  Bottlenecks find() {
    const bool only_helpers = std::ranges::all_of(
        analysis_.kernels, [](const Kernel& kernel) { return kernel.runtime_helper; });
    dispatched(only_helpers);
    traced_only();
    sampled_only();
    counted_only();
    for (KernelBottleneck& one : out_.kernels)
      if (hal::platform_of(one.architecture) == hal::Platform::nvidia) say_in_cuda_terms(one);
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool full() {
    if (out_.kernels.size() < kMostBottlenecks) return false;
    ++out_.left_out;
    return true;
  }

  /// Notes a communication kernel as one without a verdict.
  bool communicates(const std::string& name, std::optional<std::size_t> index) {
    if (!waits_for_ranks(name)) return false;
    out_.without_verdict.push_back({name, index, std::string(kCommunicationReason)});
    return true;
  }

  void dispatched(bool only_helpers) {
    if (analysis_.kernels.empty()) return;
    std::optional<DispatchGaps> own;
    const DispatchGaps& gaps = gaps_ != nullptr ? *gaps_ : own.emplace(trace_, scope_);
    const auto traces = traces_of_kernels(analysis_);
    const auto sampled = samples_of_kernels(analysis_);
    for (std::size_t i = 0; i < analysis_.kernels.size(); ++i) {
      const Kernel& kernel = analysis_.kernels[i];
      if ((kernel.runtime_helper && !only_helpers) || communicates(kernel.name, i) || full())
        continue;
      const KernelThreadTrace* const traced =
          traces[i] ? &analysis_.thread_traces->kernels[*traces[i]] : nullptr;
      const auto found = criticality_.find(kernel.name);
      const KernelPcSamples* const samples =
          sampled[i] ? &analysis_.pc_sampling->kernels[*sampled[i]] : nullptr;
      const FeatureSet features =
          features_of_kernel(trace_, scope_, analysis_, i, traced, &gaps, samples);
      out_.kernels.push_back(judge(features, analysis_, i, traced,
                                   found == criticality_.end() ? nullptr : found->second, samples));
      out_.kernels.back().thread_trace = traces[i];
      out_.kernels.back().pc_samples = sampled[i];
    }
  }

  void sampled_only() {
    if (!analysis_.pc_sampling) return;
    for (const std::size_t i : samples_without_kernel(*analysis_.pc_sampling)) {
      const KernelPcSamples& samples = analysis_.pc_sampling->kernels[i];
      if (communicates(samples.kernel, std::nullopt) || full()) continue;
      out_.kernels.push_back(judge(features_of_pc_samples(samples), analysis_, std::nullopt,
                                   nullptr, nullptr, &samples));
      out_.kernels.back().pc_samples = i;
    }
  }

  void traced_only() {
    if (!analysis_.thread_traces) return;
    const std::vector<KernelThreadTrace>& traced = analysis_.thread_traces->kernels;
    for (const std::size_t i : traces_without_kernel(traced)) {
      if (full()) continue;
      out_.kernels.push_back(
          judge(features_of_thread_trace(traced[i]), analysis_, std::nullopt, &traced[i]));
      out_.kernels.back().thread_trace = i;
    }
  }

  void counted_only() {
    if (!analysis_.roofline) return;
    std::set<std::string_view> known;
    for (const Kernel& kernel : analysis_.kernels) known.insert(kernel.name);
    for (const KernelRoofline& roofline : analysis_.roofline->kernels) {
      if (roofline.runtime_helper || known.contains(roofline.kernel) ||
          communicates(roofline.kernel, std::nullopt) || full())
        continue;
      KernelBottleneck made =
          judge(features_of_roofline(roofline), analysis_, std::nullopt, nullptr);
      made.kernel = roofline.kernel;
      made.architecture = roofline.architecture;
      out_.kernels.push_back(std::move(made));
    }
  }

  const trace::Trace& trace_;
  const TimingScope& scope_;
  const Measurements& analysis_;
  const DispatchGaps* gaps_;
  std::unordered_map<std::string_view, const KernelCriticality*> criticality_;
  Bottlenecks out_;
};

}  // namespace

Bottlenecks find_bottlenecks(const trace::Trace& trace, const TimingScope& scope,
                             const Measurements& analysis, const DispatchGaps* gaps) {
  return BottleneckFinder(trace, scope, analysis, gaps).find();
}

}  // namespace perflab::analyze
