// Two measurements of the same kernels against each other: paired by name, each pair compared
// (stats/comparison.h), and whether any of it is a regression. Where the samples come from is up to
// compare/read_samples.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/missing.h"
#include "base/text/pattern.h"
#include "compare/not_compared.h"
#include "compare/sample_side.h"
#include "stats/comparison.h"
#include "trace/trace.h"

namespace perflab::compare {

enum class SampleChoice : std::uint8_t {
  automatic,  ///< runs where both sides have three or more, else the single ones
  runs,
  single,
};

struct CompareOptions {
  double threshold = 0.02;   ///< margin of SAME, and how much slower is a regression
  double confidence = 0.95;  ///< of all comparisons together
  /// Of the time: kernels that are below it on both sides cannot fail the gate. Shares that are not
  /// known are not below it.
  double min_share = 0;
  std::optional<Pattern> kernel = {};
  SampleChoice samples = SampleChoice::automatic;
  std::string unit = {};          ///< of sides that do not say theirs
  bool larger_is_better = false;  ///< of sides that do not say
  bool fail_undecided = false;
};

/// One kernel that both sides have.
struct KernelComparison {
  std::string name;         ///< A's
  std::string name_b = {};  ///< where B's differs; else empty
  /// Of the time of all kernels of the side, 0 to 1; missing: SideFacts::no_shares.
  std::optional<double> share_a = {}, share_b = {};
  std::optional<double> launches_a = {}, launches_b = {};  ///< dispatches per run
  bool gated = true;                                       ///< it can fail the gate
  bool regression = false;  ///< SLOWER, and by more than the threshold
  stats::Comparison comparison = {};
};

/// A kernel that only one side has.
struct UnpairedKernel {
  std::string name;
  std::optional<double> share;  ///< of the time of all kernels of the side; missing as above
  std::size_t samples = 0;
  std::optional<double> median;
};

/// All kernels together.
struct TotalComparison {
  bool tested = false;  ///< sums of runs; else an estimate without a verdict
  bool regression = false;
  stats::Comparison comparison = {};  ///< not tested: medians (of estimates) and ratio only
};

/// What the samples show of everything that can fail the gate.
enum class GateVerdict : std::uint8_t {
  pass,        ///< all of it is decided, and nothing is a regression
  regression,  ///< something is one
  undecided,   ///< nothing is shown to be one, but not all is decided, or nothing was compared
};
/// "pass", "regression", "undecided".
std::string_view to_string(GateVerdict verdict);

struct SideFacts {
  std::vector<std::string> files;       ///< as given
  std::vector<std::string> recordings;  ///< that were read, run after run; those of SampleSide
  std::string kind, synthetic;
  SampleKind samples_are = SampleKind::value;
  std::size_t runs = 0, kernels = 0;
  Missing no_shares{.field = "share", .reason = {}, .remedy = {}};  ///< why; empty: there are some
};

/// The answer. Times are ns whatever the sides' units.
struct ComparisonResult {
  SideFacts a, b;
  std::string unit;  ///< empty: neither side says
  bool larger_is_better = false;
  std::size_t comparisons = 0;            ///< that share the confidence
  double confidence_each = 0.95;          ///< Bonferroni: 1 - (1 - confidence) / comparisons
  std::vector<KernelComparison> kernels;  ///< most time first
  std::vector<UnpairedKernel> only_a, only_b;
  std::vector<NotCompared> not_compared;  ///< A's before B's
  std::optional<TotalComparison> total;
  Missing total_missing{.field = "total", .reason = {}, .remedy = {}};  ///< why there is none
  std::size_t regressions = 0, undecided = 0;  ///< among what can fail the gate, total included
  GateVerdict verdict = GateVerdict::undecided;
  bool fails = false;              ///< a regression; undecided and CompareOptions::fail_undecided
  std::vector<std::string> notes;  ///< about the samples and what was paired
  /// Kernels that were not compared for want of databases; drift, outliers, other amounts of work.
  std::vector<std::string> warnings;
};

/// Compares B with A. Errors: usage (units or directions that do not go together, a pattern that no
/// kernel matches, samples of a kind that a side does not have), bad_input (no kernel in common, no
/// samples).
Result<ComparisonResult> compare_sides(SampleSide a, SampleSide b, const CompareOptions& options);

}  // namespace perflab::compare
