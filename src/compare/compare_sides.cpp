// Pairing, corrected confidences and the gate. Every comparison that can fail the gate shares its
// error rate with the others (Bonferroni), so that a gate over 100 kernels that did not change
// fails no more often than one over a single kernel.
#include "compare/compare_sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "base/enum_names.h"
#include "compare/pair_up.h"
#include "stats/summary.h"

namespace perflab::compare {
namespace {

constexpr std::size_t kFewestRuns = 3;  // fewer have no interval (stats/bootstrap.h)
// Share of the samples. Of normal ones 6 in 10 million are that far out; a rare interruption stays
// below, and what happens to every 20th sample belongs to the workload.
constexpr double kManyOutliers = 0.05;
// Of the dispatches of a run: so much more work is half of the default threshold by itself.
constexpr double kOtherLaunches = 0.01;

/// ns of a unit of time; nothing: it is none.
std::optional<double> nanoseconds_of(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  for (const auto& [name, factor] : kUnits)
    if (name == unit) return factor;
  return std::nullopt;
}

std::string files_text(const std::vector<std::string>& files) {
  if (files.empty()) return "no file";
  return files.size() == 1 ? files.front()
                           : fmt::format("{} and {} more", files.front(), files.size() - 1);
}

/// One side while it is being compared: in the common unit, only what was asked for.
struct PreparedSide {
  SampleSide side;
  bool larger_is_better = false;
  bool direction_said = false;
  /// Of the time of all kernels, those that were not asked for too, by series; empty: `no_shares`.
  std::vector<double> shares = {};
  std::size_t not_chosen = 0;  ///< series that --kernel left out
  std::optional<double> not_chosen_share = {};
  Missing no_shares{.field = "share", .reason = {}, .remedy = {}};
};

void scale_samples(SampleSide& side, double factor) {
  if (factor == 1) return;
  for (double& total : side.run_totals) total *= factor;
  for (SampleSeries& series : side.series) {
    for (double& sample : series.samples) sample *= factor;
    for (std::optional<double>& sum : series.run_sums)
      if (sum) *sum *= factor;
  }
}

/// The time of a series; missing: it has a negative one, or too much for a double.
std::optional<double> time_of(const SampleSeries& series) {
  double sum = 0;
  for (const double sample : series.samples) {
    if (sample < 0) return std::nullopt;
    if (std::isfinite(sample)) sum += sample;  // the others are counted as rejected
  }
  if (series.samples.empty())
    for (const std::optional<double>& run : series.run_sums) {
      if (run && *run < 0) return std::nullopt;
      if (run && std::isfinite(*run)) sum += *run;
    }
  return std::isfinite(sum) ? std::optional(sum) : std::nullopt;
}

/// The shares of all series, or why there are none.
void find_shares(PreparedSide& out) {
  const SampleSide& side = out.side;
  const auto none = [&](const char* reason, const char* remedy = "") {
    out.shares.clear();
    out.no_shares.reason = reason;
    out.no_shares.remedy = remedy;
  };
  if (out.larger_is_better)
    return none("larger is better: these are rates, and a share of their sum means nothing");
  if (side.samples_are != SampleKind::dispatch && side.samples_are != SampleKind::run)
    return none("these samples are not of whole runs of a program",
                "compare recordings of the program: rocm-perf profile");
  if (side.part_of_kernels)
    return none("the samples of the program's other kernels are not there",
                "compare the databases of the profile");
  double all = 0;
  for (const SampleSeries& series : side.series) {
    const std::optional<double> time = time_of(series);
    if (!time) return none("some samples are negative or too large to be times");
    out.shares.push_back(*time);
    all += *time;
  }
  if (!(all > 0) || !std::isfinite(all)) return none("the sum of all samples is 0 or too large");
  for (double& share : out.shares) share /= all;
}

/// Leaves only the series that --kernel asks for; those without a name stay.
void choose_kernels(PreparedSide& out, const Pattern& kernel) {
  std::vector<SampleSeries> series;
  std::vector<double> shares;
  if (!out.shares.empty()) out.not_chosen_share = 0;
  for (std::size_t i = 0; i < out.side.series.size(); ++i) {
    SampleSeries& one = out.side.series[i];
    if (!one.name.empty() && !kernel.found_in(one.name) &&
        (one.mangled_name.empty() || !kernel.found_in(one.mangled_name))) {
      ++out.not_chosen;
      if (!out.shares.empty()) *out.not_chosen_share += out.shares[i];
      continue;
    }
    series.push_back(std::move(one));
    if (!out.shares.empty()) shares.push_back(out.shares[i]);
  }
  out.side.series = std::move(series);
  out.shares = std::move(shares);
}

PreparedSide prepared(SampleSide&& given, const CompareOptions& options) {
  PreparedSide out{.side = std::move(given)};
  SampleSide& side = out.side;
  if (side.unit.empty()) side.unit = options.unit;
  const std::optional<double> factor = nanoseconds_of(side.unit);
  if (factor) {
    scale_samples(side, *factor);
    side.unit = "ns";
    if (!side.larger_is_better) side.larger_is_better = false;
  }
  out.direction_said = side.larger_is_better.has_value() || options.larger_is_better;
  out.larger_is_better = side.larger_is_better.value_or(options.larger_is_better);
  find_shares(out);
  if (options.kernel) choose_kernels(out, *options.kernel);
  return out;
}

Result<void> check_units(const PreparedSide& a, const PreparedSide& b,
                         const CompareOptions& options) {
  const std::string& of_a = a.side.unit;
  const std::string& of_b = b.side.unit;
  if (of_a != of_b) {
    if (of_a.empty() || of_b.empty())
      return fail(ErrorCode::usage,
                  fmt::format("{} does not say the unit of its numbers, {} is in {}",
                              files_text(of_a.empty() ? a.side.files : b.side.files),
                              files_text(of_a.empty() ? b.side.files : a.side.files),
                              of_a.empty() ? of_b : of_a),
                  "say it: --unit us");
    return fail(ErrorCode::usage,
                fmt::format("{} is in {} and {} in {}: they cannot be compared",
                            files_text(a.side.files), of_a, files_text(b.side.files), of_b));
  }
  if (a.direction_said && b.direction_said && a.larger_is_better != b.larger_is_better)
    return fail(ErrorCode::usage,
                fmt::format("larger is better in {}, and worse in {}",
                            files_text(a.larger_is_better ? a.side.files : b.side.files),
                            files_text(a.larger_is_better ? b.side.files : a.side.files)));
  if (options.larger_is_better && !(a.larger_is_better && b.larger_is_better))
    return fail(ErrorCode::usage,
                fmt::format("--larger-is-better: {} holds what is better when it is smaller",
                            files_text(a.larger_is_better ? b.side.files : a.side.files)));
  return {};
}

std::optional<double> share_of(const PreparedSide& side, std::size_t place) {
  return side.shares.empty() ? std::nullopt : std::optional(side.shares[place]);
}

/// Whether the kernel has this share on a side, as far as is known.
bool may_reach(const KernelComparison& kernel, double share) {
  return kernel.share_a.value_or(share) >= share || kernel.share_b.value_or(share) >= share;
}

std::vector<double> sums_of(const SampleSeries& series) {
  std::vector<double> sums;
  for (const std::optional<double>& sum : series.run_sums)
    if (sum) sums.push_back(*sum);
  return sums;
}

bool has_runs(const SampleSide& side) {
  return side.runs > 0 && std::ranges::any_of(side.series, [](const SampleSeries& series) {
           return !series.run_sums.empty();
         });
}

bool has_single(const SampleSide& side) {
  return std::ranges::any_of(side.series,
                             [](const SampleSeries& series) { return !series.samples.empty(); });
}

/// Everything that compare_sides() does once both sides are prepared.
class Comparer {
 public:
  Comparer(const PreparedSide& a, const PreparedSide& b, const CompareOptions& options)
      : a_(a), b_(b), options_(options) {}

  Result<ComparisonResult> run() {
    PERFLAB_TRY_VOID(check_kernels());
    PERFLAB_TRY_VOID(choose_samples());
    out_.unit = a_.side.unit;
    out_.larger_is_better = a_.direction_said ? a_.larger_is_better : b_.larger_is_better;
    out_.a = facts_of(a_);
    out_.b = facts_of(b_);
    list_kernels();
    const bool tested = find_total();
    out_.comparisons =
        static_cast<std::size_t>(std::ranges::count(out_.kernels, true, &KernelComparison::gated)) +
        (tested ? 1 : 0);
    out_.confidence_each = 1 - (1 - options_.confidence) /
                                   static_cast<double>(std::max<std::size_t>(out_.comparisons, 1));
    compare_all();
    judge();
    add_left_out(a_, b_, out_.only_a);
    add_left_out(b_, a_, out_.only_b);
    add_notes();
    add_warnings();
    return std::move(out_);
  }

 private:
  Result<void> check_kernels() {
    pairs_ = pair_up(a_.side, b_.side);
    if (!pairs_.empty()) return {};
    if (a_.side.series.empty() && b_.side.series.empty())
      return fail(
          ErrorCode::usage,
          fmt::format("no kernel of {} or {} matches --kernel '{}'", files_text(a_.side.files),
                      files_text(b_.side.files), options_.kernel ? options_.kernel->text() : ""),
          "rocm-perf analyze FILE lists the kernels of a recording");
    const bool nameless =
        std::ranges::any_of(a_.side.series, &std::string::empty, &SampleSeries::name) ||
        std::ranges::any_of(b_.side.series, &std::string::empty, &SampleSeries::name);
    if (nameless)
      return fail(ErrorCode::usage,
                  fmt::format("{} and {}: one has a single series of samples and the other {} "
                              "kernels",
                              files_text(a_.side.files), files_text(b_.side.files),
                              std::max(a_.side.series.size(), b_.side.series.size())),
                  "choose the kernel: --kernel REGEX");
    return fail(ErrorCode::bad_input,
                fmt::format("{} and {} have no kernel in common", files_text(a_.side.files),
                            files_text(b_.side.files)),
                "where a kernel was renamed, choose it on both sides: --kernel 'old|new'");
  }

  Result<void> choose_samples() {
    const bool runs = has_runs(a_.side) && has_runs(b_.side);
    switch (options_.samples) {
      case SampleChoice::automatic:
        by_runs_ = runs && ((a_.side.runs >= kFewestRuns && b_.side.runs >= kFewestRuns) ||
                            !has_single(a_.side) || !has_single(b_.side));
        break;
      case SampleChoice::runs:
        if (!runs)
          return fail(ErrorCode::usage, fmt::format("--samples runs: {} holds no runs",
                                                    files_text(without(has_runs))));
        by_runs_ = true;
        break;
      case SampleChoice::single:
        by_runs_ = false;
    }
    if (!by_runs_ && !(has_single(a_.side) && has_single(b_.side)))
      return fail(ErrorCode::bad_input,
                  fmt::format("{} holds sums of runs only, and no single samples",
                              files_text(without(has_single))),
                  "compare the databases of the profile");
    return {};
  }
  template <class Has>
  [[nodiscard]] const std::vector<std::string>& without(const Has& has) const {
    return has(a_.side) ? b_.side.files : a_.side.files;
  }

  [[nodiscard]] SideFacts facts_of(const PreparedSide& side) const {
    std::vector<std::string> recordings;
    for (const std::filesystem::path& path : side.side.recordings)
      recordings.push_back(path.string());
    return {.files = side.side.files,
            .recordings = std::move(recordings),
            .kind = side.side.kind,
            .synthetic = side.side.synthetic,
            .samples_are = by_runs_ ? SampleKind::run : side.side.samples_are,
            .runs = side.side.runs,
            .kernels = side.side.series.size(),
            .no_shares = side.no_shares};
  }

  [[nodiscard]] std::vector<double> samples_of(const SampleSeries& series) const {
    return by_runs_ ? sums_of(series) : series.samples;
  }

  /// Dispatches per run, where both are known.
  [[nodiscard]] static std::optional<double> launches_of(const PreparedSide& side,
                                                         std::size_t place) {
    const SampleSeries& series = side.side.series[place];
    if (side.side.samples_are != SampleKind::dispatch || side.side.runs == 0 ||
        series.samples.empty())
      return std::nullopt;
    return static_cast<double>(series.samples.size()) / static_cast<double>(side.side.runs);
  }

  /// Pairs and rest, most time first.
  void list_kernels() {
    std::ranges::sort(pairs_, [&](const auto& left, const auto& right) {
      const auto share = [&](const auto& pair) {
        return std::max(share_of(a_, pair.first).value_or(0),
                        share_of(b_, pair.second).value_or(0));
      };
      if (share(left) != share(right)) return share(left) > share(right);
      return a_.side.series[left.first].name < a_.side.series[right.first].name;
    });
    std::vector<bool> paired_a(a_.side.series.size()), paired_b(b_.side.series.size());
    for (const auto& [i, j] : pairs_) {
      paired_a[i] = paired_b[j] = true;
      KernelComparison kernel{.name = a_.side.series[i].name,
                              .share_a = share_of(a_, i),
                              .share_b = share_of(b_, j),
                              .launches_a = launches_of(a_, i),
                              .launches_b = launches_of(b_, j)};
      const std::string& name_b = b_.side.series[j].name;
      if (kernel.name.empty()) kernel.name = name_b;
      if (!name_b.empty() && name_b != kernel.name) kernel.name_b = name_b;
      kernel.gated = may_reach(kernel, options_.min_share);
      out_.kernels.push_back(std::move(kernel));
    }
    out_.only_a = unpaired(a_, paired_a);
    out_.only_b = unpaired(b_, paired_b);
  }

  [[nodiscard]] std::vector<UnpairedKernel> unpaired(const PreparedSide& side,
                                                     const std::vector<bool>& paired) const {
    std::vector<UnpairedKernel> rest;
    for (std::size_t i = 0; i < paired.size(); ++i) {
      if (paired[i]) continue;
      const std::vector<double> samples = samples_of(side.side.series[i]);
      rest.push_back({.name = side.side.series[i].name,
                      .share = share_of(side, i),
                      .samples = samples.size(),
                      .median = stats::summarize(samples).median});
    }
    std::ranges::sort(rest, [](const UnpairedKernel& left, const UnpairedKernel& right) {
      return left.share != right.share ? left.share > right.share : left.name < right.name;
    });
    return rest;
  }

  /// Whether there is a total that can be tested; an estimate is filled in.
  bool find_total() {
    const auto none = [&](std::string reason) {
      out_.total_missing.reason = std::move(reason);
      return false;
    };
    if (a_.side.part_of_kernels || b_.side.part_of_kernels) {
      // Without their databases, profiles still say how long all kernels took in each run.
      if (!by_runs_ || options_.kernel || a_.side.run_totals.empty() || b_.side.run_totals.empty())
        return none("one side has the samples of some of its kernels only");
      out_.total = TotalComparison{.tested = true};
      return true;
    }
    if (a_.side.series.size() == 1 && b_.side.series.size() == 1)
      return none("there is only one kernel on either side: its line is the total");
    if (by_runs_) {
      out_.total = TotalComparison{.tested = true};
      return true;
    }
    const std::optional<double> sum_a = estimate(a_), sum_b = estimate(b_);
    if (!sum_a || !sum_b || !(*sum_a > 0) || !(*sum_b > 0))
      return none("it is not known how often the kernels ran in one run");
    TotalComparison total;
    total.comparison.median_a = *sum_a;
    total.comparison.median_b = *sum_b;
    total.comparison.ratio = *sum_b / *sum_a;
    out_.total = total;
    return false;
  }

  /// Sum of the medians times the dispatches of one run.
  [[nodiscard]] static std::optional<double> estimate(const PreparedSide& side) {
    double sum = 0;
    for (std::size_t i = 0; i < side.side.series.size(); ++i) {
      const std::optional<double> launches = launches_of(side, i);
      const std::optional<double> median = stats::summarize(side.side.series[i].samples).median;
      if (!launches || !median) return std::nullopt;
      sum += *launches * *median;
    }
    return sum;
  }

  /// The time of all kernels in every run.
  [[nodiscard]] static std::vector<double> totals_of(const PreparedSide& side) {
    if (side.side.part_of_kernels) return side.side.run_totals;
    std::vector<double> totals(side.side.runs, 0.0);
    for (const SampleSeries& series : side.side.series)
      for (std::size_t run = 0; run < series.run_sums.size() && run < totals.size(); ++run)
        totals[run] += series.run_sums[run].value_or(0);
    return totals;
  }

  void compare_all() {
    const stats::ComparisonOptions options{.margin = options_.threshold,
                                           .confidence = out_.confidence_each,
                                           .larger_is_better = out_.larger_is_better};
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      const auto& [i, j] = pairs_[k];
      out_.kernels[k].comparison =
          stats::compare(samples_of(a_.side.series[i]), samples_of(b_.side.series[j]), options);
    }
    if (out_.total && out_.total->tested)
      out_.total->comparison = stats::compare(totals_of(a_), totals_of(b_), options);
  }

  /// SLOWER, and the ratio beyond the threshold.
  [[nodiscard]] bool regressed(const stats::Comparison& comparison) const {
    if (comparison.verdict != stats::SpeedVerdict::slower || !comparison.ratio) return false;
    return out_.larger_is_better ? *comparison.ratio * (1 + options_.threshold) < 1
                                 : *comparison.ratio > 1 + options_.threshold;
  }

  void judge() {
    const auto count = [&](const stats::Comparison& comparison, bool gated) {
      const bool regression = gated && regressed(comparison);
      out_.regressions += regression ? 1 : 0;
      out_.undecided += gated && comparison.verdict == stats::SpeedVerdict::undecided ? 1 : 0;
      return regression;
    };
    for (KernelComparison& kernel : out_.kernels)
      kernel.regression = count(kernel.comparison, kernel.gated);
    if (out_.total && out_.total->tested)
      out_.total->regression = count(out_.total->comparison, true);
    if (out_.regressions > 0)
      out_.verdict = GateVerdict::regression;
    else if (out_.undecided == 0 && out_.comparisons > 0)
      out_.verdict = GateVerdict::pass;
    out_.fails = out_.verdict == GateVerdict::regression ||
                 (options_.fail_undecided && out_.verdict == GateVerdict::undecided);
  }

  /// What of the side was compared with nothing.
  void add_left_out(const PreparedSide& side, const PreparedSide& other,
                    const std::vector<UnpairedKernel>& only_here) {
    const bool of_b = &side == &b_;
    const auto add = [&](NotComparedReason reason, std::optional<std::size_t> kernels,
                         std::optional<double> share) {
      out_.not_compared.push_back(
          {.of_b = of_b, .reason = reason, .kernels = kernels, .share = share});
    };
    if (side.side.part_of_kernels)
      add(NotComparedReason::no_databases, side.side.other_kernels, side.side.other_share);
    if (side.not_chosen > 0)
      add(NotComparedReason::not_chosen, side.not_chosen, side.not_chosen_share);
    if (only_here.empty()) return;
    std::optional<double> share = 0.0;
    for (const UnpairedKernel& one : only_here)
      share = share && one.share ? std::optional(*share + *one.share) : std::nullopt;
    add(other.side.part_of_kernels ? NotComparedReason::other_without_databases
                                   : NotComparedReason::only_in_side,
        only_here.size(), share);
  }

  void add_notes() {
    for (const std::string& note : a_.side.notes) out_.notes.push_back("A: " + note);
    for (const std::string& note : b_.side.notes) out_.notes.push_back("B: " + note);
    if (by_runs_) {
      out_.notes.emplace_back("a sample is the sum of a kernel's dispatches in one run");
    } else if (a_.side.samples_are == SampleKind::dispatch ||
               b_.side.samples_are == SampleKind::dispatch) {
      out_.notes.emplace_back(
          "samples are single dispatches: what differs from run to run (clocks, placement in "
          "memory, other work on the machine) is not in the intervals; record three runs or more "
          "of each side (rocm-perf profile --runs 7) to have it there");
    }
    if (options_.min_share > 0)
      for (const auto& [name, side] : {std::pair{"A", &a_}, {"B", &b_}})
        if (side->shares.empty())
          out_.notes.push_back(
              fmt::format("--min-share leaves no kernel out: the shares of {} are not known ({})",
                          name, side->no_shares.reason));
    if (out_.total && (a_.side.part_of_kernels || b_.side.part_of_kernels))
      out_.notes.emplace_back(
          "the total is that of all kernels of a run, those that were not compared and the "
          "runtime's own among them");
    if (out_.total && options_.kernel)
      out_.notes.emplace_back("the total is that of the kernels that --kernel chose");
    if (out_.total && !out_.total->tested)
      out_.notes.emplace_back(
          "the total is an estimate, medians times the dispatches of one run, and has no verdict: "
          "that takes three runs or more of each side");
    if (out_.comparisons > 1)
      out_.notes.push_back(fmt::format(
          "{} comparisons share the confidence: each is at {:.6g} % (Bonferroni), so that all "
          "together are wrong at most as often as one at {:.6g} % would be",
          out_.comparisons, 100 * out_.confidence_each, 100 * options_.confidence));
    for (const KernelComparison& kernel : out_.kernels)
      if (!kernel.name_b.empty())
        out_.notes.push_back(
            fmt::format("'{}' of A was compared with '{}' of B", kernel.name, kernel.name_b));
  }

  void warn_about_side(const std::string& name, std::string_view side, std::size_t samples,
                       const stats::SampleHealth& health) {
    if (health.drifting && health.drift)
      out_.warnings.push_back(fmt::format(
          "{}: {}'s samples drift by {:+.1f} % over the measurement: a warm-up, a clock, or "
          "something else that changed meanwhile",
          name, side, 100 * *health.drift));
    if (static_cast<double>(health.outliers) > kManyOutliers * static_cast<double>(samples))
      out_.warnings.push_back(
          fmt::format("{}: {} of {} samples of {} are outliers (they count all the same)", name,
                      health.outliers, samples, side));
  }

  void warn_about(const std::string& name, const stats::Comparison& comparison) {
    warn_about_side(name, "A", comparison.samples_a, comparison.health_a);
    warn_about_side(name, "B", comparison.samples_b, comparison.health_b);
    if (comparison.rejected > 0)
      out_.warnings.push_back(fmt::format(
          "{}: {} samples that are not finite numbers were left out", name, comparison.rejected));
    if (!comparison.ratio)
      out_.warnings.push_back(fmt::format(
          "{}: there is no ratio, one side has no samples or a median that is not positive", name));
  }

  void add_warnings() {
    if (out_.kernels.size() == 1 && !out_.kernels[0].name.empty() &&
        !out_.kernels[0].name_b.empty())
      out_.warnings.push_back(
          fmt::format("each side has one kernel, and they are called "
                      "differently: A's {} is compared with B's {}",
                      out_.kernels[0].name, out_.kernels[0].name_b));
    std::string others = no_databases_warning(out_.not_compared, out_.total && out_.total->tested);
    if (!others.empty()) out_.warnings.push_back(std::move(others));
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      const KernelComparison& kernel = out_.kernels[k];
      const std::string name = kernel.name.empty() ? "the samples" : kernel.name;
      warn_about(name, kernel.comparison);
      if (kernel.launches_a && kernel.launches_b &&
          std::abs(*kernel.launches_a - *kernel.launches_b) >
              kOtherLaunches * std::max(*kernel.launches_a, *kernel.launches_b))
        out_.warnings.push_back(
            fmt::format("{}: dispatched {:.6g} times in a run of A and {:.6g} "
                        "times in one of B",
                        name, *kernel.launches_a, *kernel.launches_b));
      const std::size_t shapes = std::max(a_.side.series[pairs_[k].first].launches.size(),
                                          b_.side.series[pairs_[k].second].launches.size());
      if (!by_runs_ && shapes > 1)
        out_.warnings.push_back(
            fmt::format("{}: it was launched in {} shapes, and the medians are over all of them",
                        name, shapes));
    }
    if (out_.total && out_.total->tested) warn_about("the total", out_.total->comparison);
  }

  const PreparedSide& a_;
  const PreparedSide& b_;
  const CompareOptions& options_;
  Pairs pairs_;
  bool by_runs_ = false;
  ComparisonResult out_;
};

}  // namespace

std::string_view to_string(GateVerdict verdict) {
  using enum GateVerdict;
  static constexpr auto kNames = enum_names<GateVerdict>(
      {{pass, "pass"}, {regression, "regression"}, {undecided, "undecided"}});
  return kNames[verdict];
}

Result<ComparisonResult> compare_sides(SampleSide a, SampleSide b, const CompareOptions& options) {
  const PreparedSide of_a = prepared(std::move(a), options), of_b = prepared(std::move(b), options);
  PERFLAB_TRY_VOID(check_units(of_a, of_b, options));
  return Comparer(of_a, of_b, options).run();
}

}  // namespace perflab::compare
