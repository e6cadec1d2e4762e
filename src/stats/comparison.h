// Two sets of samples against each other: which is faster, how sure that is, and what would make it
// sure. The ratio is that of medians with a bootstrap interval (bootstrap.h); the verdict is that
// of a test of equivalence (Schuirmann 1987: the whole interval has to lie within the margin).
// Nothing is left out of the samples: outliers and drift are reported, never mended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "stats/bootstrap.h"

namespace perflab::stats {

enum class SpeedVerdict : std::uint8_t { same, faster, slower, undecided };
/// "SAME", "FASTER", "SLOWER", "UNDECIDED".
std::string_view to_string(SpeedVerdict verdict);

struct ComparisonOptions {
  double margin = 0.02;  ///< ratios within [1 / (1 + margin), 1 + margin] are the same
  double confidence = 0.95;
  bool larger_is_better = false;  ///< rates; else times
  std::uint64_t seed = 1;
  int resamples = 2000;
};

/// What is odd about one side's samples. They all stay in.
struct SampleHealth {
  /// Farther than 5 scaled MADs (1.4826 x MAD) from the median; where the MAD is 0, 1.2533 x the
  /// mean distance stands for it.
  std::size_t outliers = 0;
  /// Change over the run: Theil-Sen slope over the samples in order, times their number, as a share
  /// of the median. The slopes are those of all pairs: of more than 500 samples, the medians of 500
  /// groups of neighbours stand for them. Missing: fewer than 8 samples, no positive median.
  std::optional<double> drift;
  bool drifting = false;  ///< |drift| above 2 % and Kendall's tau significant at 1 %
};

/// B against A.
struct Comparison {
  std::size_t samples_a = 0, samples_b = 0;  ///< finite ones
  std::size_t rejected = 0;                  ///< infinite or not a number
  std::optional<double> median_a, median_b;
  std::optional<double> ratio;  ///< median(B) / median(A); missing: one of them is not positive
  std::optional<Interval> interval;  ///< of the ratio; missing: bootstrap.h says when
  std::optional<double> effect;      ///< Cliff's delta: P(B > A) - P(B < A), -1 to 1
  SpeedVerdict verdict = SpeedVerdict::undecided;
  /// Samples of each side that would decide, at the spread seen: the interval's width shrinks with
  /// the square root of their number. Missing: decided already, no interval, or the ratio lies so
  /// near a border of the margin that more than a million are needed.
  std::optional<std::size_t> samples_to_decide;
  SampleHealth health_a, health_b;
};

/// SAME: the whole interval is within the margin. FASTER, SLOWER: else, and the whole interval is
/// on that side of 1. UNDECIDED: else, or no interval, or too few samples for the confidence: even
/// samples that do not overlap at all come about by chance with 2 / (a + b over a), which has to be
/// half of 1 - confidence at most, so that 95 % takes 5 of each side and 99.5 % takes 6. Exchanging
/// A and B inverts ratio and interval exactly. At high confidences more than options.resamples are
/// taken (5 of them in each tail, at most 20,000).
Comparison compare(std::span<const double> a, std::span<const double> b,
                   const ComparisonOptions& options = {});

/// When interleaved sampling may end. The samples are looked at several times while they grow, so
/// the confidence of each look allows for all of them (Bonferroni over `looks`).
struct StoppingRule {
  std::size_t fewest = 7, most = 60;  ///< samples of each side
  std::size_t looks = 8;              ///< at most; evenly spread on a logarithmic scale
};
/// Whether this number of samples of each side is one at which to look.
bool is_look(const StoppingRule& rule, std::size_t samples);
/// Confidence of one look so that all looks together have `confidence`.
double confidence_of_look(const StoppingRule& rule, double confidence);

}  // namespace perflab::stats
