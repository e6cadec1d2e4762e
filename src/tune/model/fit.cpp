// The study searched by coordinates, without a gradient. With it, two dozen evaluations reach the
// maximum that 60 only came near.
#include "tune/model/fit.h"

#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace perflab::tune {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The longest change of one hyper-parameter in one step.
constexpr double kLongestStep = 1.5;
constexpr double kSufficientDecrease = 1e-4;
constexpr double kLogTwoPi = 1.8378770664093453;

/// Hyper-parameters as one vector: lengths, valuations (where they exist), signal, noise, slope and
/// spreads of priors (where they have a say).
struct Layout {
  std::vector<Prior> lengths;           ///< per coordinate
  std::vector<std::size_t> valuations;  ///< dimensions that have one
  std::size_t priors = 0;               ///< priors that have a say

  Layout(const Encoding& encoding, std::size_t count) : priors(count) {
    for (std::size_t c = 0; c < encoding.coordinates(); ++c)
      lengths.push_back(length_prior(encoding, c));
    for (std::size_t d = 0; d < encoding.dimensions().size(); ++d)
      if (!encoding.dimensions()[d].valuation.empty()) valuations.push_back(d);
  }
  [[nodiscard]] std::size_t size() const { return signal() + 2 + (priors > 0 ? 1 + priors : 0); }
  [[nodiscard]] std::size_t signal() const { return lengths.size() + valuations.size(); }

  [[nodiscard]] VectorXd pack(const Hyper& hyper) const {
    VectorXd theta(static_cast<Index>(size()));
    Index at = 0;
    for (const double length : hyper.length) theta[at++] = length;
    for (const std::size_t d : valuations) theta[at++] = hyper.valuation[d];
    theta[at++] = hyper.signal;
    theta[at++] = hyper.noise;
    if (priors > 0) theta[at++] = hyper.slope;
    for (std::size_t p = 0; p < priors; ++p) theta[at++] = hyper.spread[p];
    return theta;
  }
  [[nodiscard]] Hyper unpack(const VectorXd& theta) const {
    Hyper hyper{.length = std::vector<double>(lengths.size()),
                .valuation = std::vector<double>(lengths.size(), kValuationPrior.mean),
                .spread = {}};
    Index at = 0;
    for (double& length : hyper.length) length = theta[at++];
    for (const std::size_t d : valuations) hyper.valuation[d] = theta[at++];
    hyper.signal = theta[at++];
    hyper.noise = theta[at++];
    if (priors > 0) hyper.slope = theta[at++];
    for (std::size_t p = 0; p < priors; ++p) hyper.spread.push_back(theta[at++]);
    return hyper;
  }
  [[nodiscard]] Prior prior(std::size_t at) const {
    if (at < lengths.size()) return lengths[at];
    if (at < signal()) return kValuationPrior;
    if (at < signal() + 2) return at == signal() ? kSignalPrior : kNoisePrior;
    return at == signal() + 2 ? kSlopePrior : kSpreadPrior;
  }
};

/// What is minimised: minus log_posterior.
class Loss {
 public:
  Loss(const Encoding& encoding, const Observations& data, std::size_t used)
      : layout(encoding, used),
        encoding_(encoding),
        n_(static_cast<Index>(data.ids.size())),
        targets_(Eigen::Map<const VectorXd>(data.targets.data(), n_)) {
    codes_.resize(encoding.coordinates());
    for (const ConfigId id : data.ids) {
      const std::vector<Level> codes = encoding.codes(id);
      for (std::size_t c = 0; c < codes.size(); ++c) codes_[c].push_back(codes[c]);
    }
    priors_.resize(n_, static_cast<Index>(used));
    for (Index i = 0; used > 0 && i < n_; ++i) {
      const std::vector<float> said = encoding.priors(data.ids[static_cast<std::size_t>(i)]);
      for (Index p = 0; p < priors_.cols(); ++p) priors_(i, p) = said[static_cast<std::size_t>(p)];
    }
    // Of a matrix without columns Eigen would take rows of no memory.
    if (used > 0)
      sum_ = priors_.rowwise().sum();
    else
      sum_ = VectorXd::Zero(n_);
  }

  const Layout layout;

  /// The loss at theta and, when asked for, its gradient; infinity (gradient unchanged) when the
  /// matrix is not positive definite.
  double at(const VectorXd& theta, VectorXd* gradient) const {
    const Hyper hyper = layout.unpack(theta);
    const Covariance kernel(encoding_, hyper);
    const MatrixXd signal = covariances(kernel);
    MatrixXd matrix = signal;
    for (Index p = 0; p < priors_.cols(); ++p)
      matrix += variance(kernel, p) * priors_.col(p) * priors_.col(p).transpose();
    matrix.diagonal().array() += kernel.noise();
    const VectorXd residual = targets_ - kernel.prior_mean() * sum_;
    const Eigen::LLT<MatrixXd> llt(matrix);
    if (llt.info() != Eigen::Success) return std::numeric_limits<double>::infinity();
    const VectorXd alpha = llt.solve(residual);
    double loss = 0.5 * residual.dot(alpha) + 0.5 * static_cast<double>(n_) * kLogTwoPi;
    for (Index i = 0; i < n_; ++i) loss += std::log(llt.matrixLLT()(i, i));
    if (!std::isfinite(loss)) return std::numeric_limits<double>::infinity();
    if (gradient != nullptr) {
      MatrixXd weights = llt.solve(MatrixXd::Identity(n_, n_));
      weights.noalias() -= alpha * alpha.transpose();
      *gradient = slopes(hyper, kernel, signal, weights);
      add_prior_slopes(kernel, alpha, weights, *gradient);
    }
    for (std::size_t i = 0; i < layout.size(); ++i) {
      const Prior prior = layout.prior(i);
      const auto at = static_cast<Index>(i);
      loss -= prior.log_density(theta[at]);
      if (gradient != nullptr) (*gradient)[at] -= prior.log_density_slope(theta[at]);
    }
    return loss;
  }

 private:
  const Encoding& encoding_;
  Index n_;
  VectorXd targets_;
  MatrixXd priors_;                        ///< observations x priors that have a say
  VectorXd sum_;                           ///< over the priors
  std::vector<std::vector<Level>> codes_;  ///< by coordinate

  [[nodiscard]] static double variance(const Covariance& kernel, Index prior) {
    return kernel.prior_variances()[static_cast<std::size_t>(prior)];
  }
  /// Gradient by the weights of priors: their mean and their variances.
  void add_prior_slopes(const Covariance& kernel, const VectorXd& alpha, const MatrixXd& weights,
                        VectorXd& gradient) const {
    if (priors_.cols() == 0) return;
    auto at = static_cast<Index>(layout.signal()) + 2;
    gradient[at++] = -kernel.prior_mean() * sum_.dot(alpha);
    for (Index p = 0; p < priors_.cols(); ++p)
      gradient[at++] = 0.5 * variance(kernel, p) * priors_.col(p).dot(weights * priors_.col(p));
  }

  /// Multiplies f(i, j), j < i, by the entry of the table for the pair.
  void multiply(MatrixXd& matrix, std::size_t coordinate, const Table& table) const {
    const auto& codes = codes_[coordinate];
    for (Index j = 0; j < n_; ++j) {
      const double* row = table.row(codes[static_cast<std::size_t>(j)]);
      double* column = &matrix(0, j);
      for (Index i = j + 1; i < n_; ++i) column[i] *= row[codes[static_cast<std::size_t>(i)]];
    }
  }
  /// Sum over j < i of matrix(i, j) times the entry of the table for the pair.
  [[nodiscard]] double weigh(const MatrixXd& matrix, std::size_t coordinate,
                             const Table& table) const {
    const auto& codes = codes_[coordinate];
    double sum = 0;
    for (Index j = 0; j < n_; ++j) {
      const double* row = table.row(codes[static_cast<std::size_t>(j)]);
      const double* column = &matrix(0, j);
      for (Index i = j + 1; i < n_; ++i) sum += column[i] * row[codes[static_cast<std::size_t>(i)]];
    }
    return sum;
  }

  /// Lower triangle with diagonal, without noise.
  [[nodiscard]] MatrixXd covariances(const Covariance& kernel) const {
    MatrixXd matrix = MatrixXd::Constant(n_, n_, kernel.signal());
    for (std::size_t c = 0; c < codes_.size(); ++c) multiply(matrix, c, kernel.table(c));
    return matrix;
  }

  /// Gradient of the likelihood's part: half the sum over i, j of weights x dK.
  [[nodiscard]] VectorXd slopes(const Hyper& hyper, const Covariance& kernel,
                                const MatrixXd& signal, const MatrixXd& weights) const {
    VectorXd gradient(static_cast<Index>(layout.size()));
    const MatrixXd product = signal.cwiseProduct(weights);
    Index at = 0;
    for (std::size_t c = 0; c < codes_.size(); ++c)
      gradient[at++] = weigh(product, c, size_slope(encoding_.coordinate(c), hyper.length[c]));
    for (const std::size_t d : layout.valuations)
      gradient[at++] =
          weigh(product, d, valuation_slope(encoding_.dimensions()[d], hyper.valuation[d]));
    double below = 0;
    for (Index j = 0; j < n_; ++j)
      for (Index i = j + 1; i < n_; ++i) below += product(i, j);
    gradient[at++] = below + 0.5 * product.diagonal().sum();
    gradient[at] = 0.5 * kernel.noise() * weights.diagonal().sum();
    return gradient;
  }
};

/// One accepted step of a line search that halves.
struct LineStep {
  VectorXd theta, gradient;
  double loss = 0;
};

std::optional<LineStep> search_line(const Loss& loss, const LineStep& from,
                                    const VectorXd& direction, std::size_t& left) {
  const double longest = direction.cwiseAbs().maxCoeff();
  double scale = longest > kLongestStep ? kLongestStep / longest : 1;
  const double slope = from.gradient.dot(direction);
  for (; left > 0 && scale > 1e-3; scale /= 3) {
    --left;
    LineStep step{.theta = from.theta + scale * direction, .gradient = from.gradient};
    step.loss = loss.at(step.theta, &step.gradient);
    if (step.loss <= from.loss + kSufficientDecrease * scale * slope) return step;
  }
  return std::nullopt;
}

}  // namespace

double log_posterior(const Encoding& encoding, const Observations& data, const Hyper& hyper) {
  const Loss loss(encoding, data, hyper.spread.size());
  return -loss.at(loss.layout.pack(hyper), nullptr);
}

double log_prior_of_lengths(const Encoding& encoding, const Hyper& hyper) {
  double sum = 0;
  for (std::size_t c = 0; c < hyper.length.size(); ++c)
    sum += length_prior(encoding, c).log_density(hyper.length[c]);
  return sum;
}

Hyper fit(const Encoding& encoding, const Observations& data, const Hyper& start,
          std::size_t most) {
  if (data.ids.empty() || encoding.dimensions().empty()) return start;
  const Loss loss(encoding, data, start.spread.size());
  const auto size = static_cast<Index>(loss.layout.size());
  LineStep now{.theta = loss.layout.pack(start), .gradient = VectorXd::Zero(size)};
  now.loss = loss.at(now.theta, &now.gradient);
  if (!std::isfinite(now.loss)) return start;
  MatrixXd inverse = MatrixXd::Identity(size, size) * (1 / std::max(1.0, now.gradient.norm()));
  for (std::size_t left = most > 0 ? most - 1 : 0; left > 0;) {
    auto next = search_line(loss, now, -inverse * now.gradient, left);
    if (!next) break;
    const VectorXd s = next->theta - now.theta;
    const VectorXd y = next->gradient - now.gradient;
    const double gained = now.loss - next->loss;
    now = std::move(*next);
    if (gained < 1e-3) break;
    const double curvature = s.dot(y);
    if (curvature <= 1e-10) continue;
    const MatrixXd left_factor = MatrixXd::Identity(size, size) - s * y.transpose() / curvature;
    inverse = left_factor * inverse * left_factor.transpose() + s * s.transpose() / curvature;
  }
  return loss.layout.unpack(now.theta);
}

}  // namespace perflab::tune
