// Matern 5/2 correlations (Rasmussen and Williams, "Gaussian Processes for Machine Learning", MIT
// Press 2006, equation 4.17) of the coordinates; exp(-1/length) between two categories.
#include "tune/model/covariance.h"

#include <cmath>
#include <utility>

namespace perflab::tune {
namespace {

constexpr double kRoot5 = 2.23606797749979;

double matern(double distance, double length) {
  const double t = kRoot5 * distance / length;
  return (1 + t + t * t / 3) * std::exp(-t);
}

/// d log(matern) / d log(length): t^2 (1 + t) / 3 over 1 + t + t^2 / 3.
double matern_slope(double distance, double length) {
  const double t = kRoot5 * distance / length;
  return t * t * (1 + t) / (3 * (1 + t + t * t / 3));
}

template <class F>
Table table_of(const std::vector<double>& coordinates, F f) {
  Table table{.codes = coordinates.size(), .values = {}};
  table.values.reserve(table.codes * table.codes);
  for (const double a : coordinates)
    for (const double b : coordinates) table.values.push_back(f(std::abs(a - b)));
  return table;
}

Table category_table(std::size_t codes, double same, double different) {
  Table table{.codes = codes, .values = std::vector<double>(codes * codes, different)};
  for (std::size_t code = 0; code < codes; ++code) table.values[code * codes + code] = same;
  return table;
}

}  // namespace

Hyper Hyper::prior(const Encoding& encoding) {
  std::vector<double> length(encoding.coordinates());
  for (std::size_t c = 0; c < length.size(); ++c) length[c] = length_prior(encoding, c).mean;
  return {.length = std::move(length),
          .valuation = std::vector<double>(encoding.coordinates(), kValuationPrior.mean),
          .signal = kSignalPrior.mean,
          .noise = kNoisePrior.mean,
          .slope = kSlopePrior.mean,
          .spread = std::vector<double>(encoding.priors(), kSpreadPrior.mean)};
}

Prior length_prior(const Encoding& encoding, std::size_t coordinate) {
  if (encoding.is_of_odd_factors(coordinate)) return kOddFactorPrior;
  const std::size_t codes = encoding.coordinate(coordinate).codes;
  return codes <= 2 ? kLengthOfTwo : codes == 3 ? kLengthOfThree : kLengthPrior;
}

Table size_table(const Dimension& dimension, double log_length) {
  const double length = std::exp(log_length);
  if (dimension.categorical) return category_table(dimension.codes, 1, std::exp(-1 / length));
  return table_of(dimension.size, [&](double distance) { return matern(distance, length); });
}

Table size_slope(const Dimension& dimension, double log_length) {
  const double length = std::exp(log_length);
  if (dimension.categorical) return category_table(dimension.codes, 0, 1 / length);
  return table_of(dimension.size, [&](double distance) { return matern_slope(distance, length); });
}

Table valuation_table(const Dimension& dimension, double log_length) {
  const double length = std::exp(log_length);
  return table_of(dimension.valuation, [&](double distance) { return matern(distance, length); });
}

Table valuation_slope(const Dimension& dimension, double log_length) {
  const double length = std::exp(log_length);
  return table_of(dimension.valuation,
                  [&](double distance) { return matern_slope(distance, length); });
}

Covariance::Covariance(const Encoding& encoding, const Hyper& hyper)
    : encoding_(&encoding), signal_(std::exp(hyper.signal)), noise_(std::exp(hyper.noise)) {
  for (const double spread : hyper.spread) prior_variances_.push_back(std::exp(spread));
  if (!hyper.spread.empty())
    prior_mean_ = std::exp(hyper.slope) / static_cast<double>(hyper.spread.size());
  for (std::size_t c = 0; c < encoding.coordinates(); ++c) {
    const Dimension& dimension = encoding.coordinate(c);
    Table table = size_table(dimension, hyper.length[c]);
    if (!dimension.valuation.empty()) {
      const Table second = valuation_table(dimension, hyper.valuation[c]);
      for (std::size_t i = 0; i < table.values.size(); ++i) table.values[i] *= second.values[i];
    }
    tables_.push_back(std::move(table));
  }
}

double Covariance::covariance(std::span<const Level> a, std::span<const Level> b) const {
  double product = signal_;
  for (std::size_t d = 0; d < tables_.size(); ++d) product *= tables_[d].row(a[d])[b[d]];
  return product;
}

}  // namespace perflab::tune
