// The covariance of two configurations: a product over the parameters of correlations that stand
// in tables, one number per pair of levels. docs/models/autotuning.md "Gaussian process".
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tune/model/encoding.h"

namespace perflab::tune {

/// Hyper-parameters, as logarithms: a length per coordinate (of the size, of a category, of odd
/// factors), a length of the valuation where a dimension has one, signal variance, noise variance;
/// and how far priors are believed.
struct Hyper {
  std::vector<double> length;     ///< per coordinate (Encoding::coordinates)
  std::vector<double> valuation;  ///< the same; used where a dimension has a valuation
  double signal = 0, noise = 0;
  double slope = 0;  ///< mean of the sum of the weights that priors have
  std::vector<double> spread =
      {};  ///< per prior: variance of its weight; empty: no prior has a say

  /// The means of the priors.
  static Hyper prior(const Encoding& encoding);
};

/// Mean and standard deviation of the normal prior of a logarithm. Chosen on the recorded spaces
/// (bench/README.md "What moved it").
struct Prior {
  double mean = 0, sd = 1;
  /// Without its constant.
  [[nodiscard]] double log_density(double value) const {
    return -0.5 * (value - mean) * (value - mean) / (sd * sd);
  }
  [[nodiscard]] double log_density_slope(double value) const { return (mean - value) / (sd * sd); }
};
inline constexpr Prior kLengthPrior{.mean = 0.405465, .sd = 0.5};  // log 1.5
/// Of dimensions with two values, with three, and of the coordinate of odd factors.
inline constexpr Prior kLengthOfTwo{.mean = 0.916291, .sd = 0.5};    // log 2.5
inline constexpr Prior kLengthOfThree{.mean = 0, .sd = 0.5};         // log 1
inline constexpr Prior kOddFactorPrior{.mean = -0.356675, .sd = 1};  // log 0.7
inline constexpr Prior kValuationPrior{.mean = 0.693147, .sd = 1};   // log 2
inline constexpr Prior kSignalPrior{.mean = 0, .sd = 1.5};
/// Of the weights of priors (Hyper::slope, Hyper::spread): chosen on the recorded spaces, 30 seeds.
inline constexpr Prior kSlopePrior{.mean = -1, .sd = 1};
inline constexpr Prior kSpreadPrior{.mean = -2, .sd = 1};
inline constexpr Prior kNoisePrior{.mean = -5.809143, .sd = 2};  // log 3e-3

/// Of the length of a coordinate.
Prior length_prior(const Encoding& encoding, std::size_t coordinate);

/// Correlations of one coordinate: codes x codes, row by row.
struct Table {
  std::size_t codes = 0;
  std::vector<double> values;
  [[nodiscard]] const double* row(Level code) const {
    return values.data() + std::size_t{code} * codes;
  }
};

/// Correlation over the size coordinate (or the category), without the valuation.
Table size_table(const Dimension& dimension, double log_length);
/// Derivative of it by the logarithm of the length, divided by the correlation.
Table size_slope(const Dimension& dimension, double log_length);
/// The same for the valuation coordinate of a dimension that has one.
Table valuation_table(const Dimension& dimension, double log_length);
Table valuation_slope(const Dimension& dimension, double log_length);

/// All tables of one set of hyper-parameters.
class Covariance {
 public:
  Covariance(const Encoding& encoding, const Hyper& hyper);

  [[nodiscard]] const Encoding& encoding() const { return *encoding_; }
  [[nodiscard]] const Table& table(std::size_t coordinate) const { return tables_[coordinate]; }
  [[nodiscard]] double signal() const { return signal_; }  ///< variance
  [[nodiscard]] double noise() const { return noise_; }    ///< variance
  /// Weight of each prior: a normal variable of this mean and this variance. Empty: none has a say.
  [[nodiscard]] double prior_mean() const { return prior_mean_; }
  [[nodiscard]] const std::vector<double>& prior_variances() const { return prior_variances_; }
  /// Covariance of two rows of codes.
  [[nodiscard]] double covariance(std::span<const Level> a, std::span<const Level> b) const;

 private:
  const Encoding* encoding_;
  std::vector<Table> tables_;
  double signal_, noise_;
  double prior_mean_ = 0;
  std::vector<double> prior_variances_;
};

}  // namespace perflab::tune
