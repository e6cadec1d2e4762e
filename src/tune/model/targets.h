// What the model learns from the results: logarithms of the values, standardised, the slowest ones
// cut. docs/models/autotuning.md "Target".
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tune/space/space.h"
#include "tune/values/outcome.h"

namespace perflab::tune {

/// A result as the search was told it.
struct Told {
  ConfigId id = 0;
  Outcome outcome = Outcome::run_failed;
  std::optional<double> value;                   ///< of correct outcomes
  bool within = true;                            ///< it keeps every limit
  std::vector<std::optional<double>> metrics{};  ///< of SearchOptions::metrics
};

/// Timed out is known slow, not failing.
constexpr bool is_failure(Outcome outcome) {
  return outcome != Outcome::correct && outcome != Outcome::timed_out;
}

/// From values to losses, of which less is better, and back. A loss is the logarithm of the value,
/// of its reciprocal when more is better; as soon as one value is not positive, it is the value
/// itself (its negative), for all.
struct Scale {
  bool maximize = false;
  bool logarithmic = true;

  [[nodiscard]] double loss(double value) const;
  [[nodiscard]] double value(double loss) const;
};

/// What a target is made of.
enum class TargetForm {
  values,      ///< the values
  logarithms,  ///< their logarithms, where all are positive, and, unless some failed, to a part
               ///< their ranks
  compressed,  ///< logarithms; how far one is above the best counts less the farther it is
};

struct Targets {
  Scale scale;
  double centre = 0, width = 1;  ///< form of a loss = centre + width x standardised
  /// Which losses are compressed, with TargetForm::compressed: those above the best one of the
  /// ranking (of all where that is empty), up to the cut.
  struct Compressed {
    double above = 0, cut = 0;
  };
  std::optional<Compressed> compressed = {};
  /// Forms and losses of the results, ascending, where ranks have a part: between them a form is
  /// interpolated, for there are no ranks there.
  struct Knot {
    double form = 0, loss = 0;
  };
  std::vector<Knot> knots = {};
  double per_form = 1;               ///< change of a loss with its form, below the best
  std::vector<double> standardised;  ///< one per result
  std::vector<bool> exact;           ///< per result: correct, and its loss was not cut
  std::size_t correct = 0;           ///< results that have a value
  double best = 0;  ///< least standardised target of the ranking; 0 where that is empty
  /// Indices of correct results within the limits, best first, ties by index.
  std::vector<std::size_t> ranking;

  /// Change of a loss with its standardised target, below the best.
  [[nodiscard]] double slope() const { return width * per_form; }
  /// Of a compressed target at most the cut.
  [[nodiscard]] double loss(double standardised_target) const;
  /// The other way round, for losses that were not cut.
  [[nodiscard]] double standardised_of(double loss) const;
};

/// Losses above the 90th percentile of the correct ones are cut to it; cut-off configurations get
/// that value, failed ones the 80th percentile. Without a correct result all targets are 0.
Targets targets_of(std::span<const Told> results, bool maximize,
                   TargetForm form = TargetForm::logarithms);

/// Results with two objectives as one: the value is the augmented Tchebycheff norm of both losses
/// (less is better), each from 0 to 1 over the results, with `weight` on the first (Knowles,
/// ParEGO, IEEE Transactions on Evolutionary Computation 10, 2006). `second`: index of
/// Told::metrics.
std::vector<Told> scalarised(std::span<const Told> results, bool maximize, std::size_t second,
                             bool maximize_second, double weight);

}  // namespace perflab::tune
