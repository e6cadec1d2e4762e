// Sums run in the order of the observations, so that growing and building anew give the same bits.
#include "tune/model/posterior.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace perflab::tune {
namespace {

/// The part of a variance that rounding may eat; a pivot is never below it.
constexpr double kLeastPivot = 1e-10;

/// sum[c] += over j < count of weights[j] x rows[j][c]; four rows at a time, because reading and
/// writing `sum` is most of the work otherwise. `rows` are kWidth apart.
template <std::size_t kWidth>
void add_rows(float* __restrict sum, const float* __restrict rows,
              const std::vector<float>& weights, std::size_t count) {
  std::size_t j = 0;
  for (; j + 4 <= count; j += 4, rows += 4 * kWidth) {
    const float a = weights[j];
    const float b = weights[j + 1];
    const float c = weights[j + 2];
    const float d = weights[j + 3];
    for (std::size_t i = 0; i < kWidth; ++i)
      sum[i] += (a * rows[i] + b * rows[kWidth + i]) +
                (c * rows[2 * kWidth + i] + d * rows[3 * kWidth + i]);
  }
  for (; j < count; ++j, rows += kWidth)
    for (std::size_t i = 0; i < kWidth; ++i) sum[i] += weights[j] * rows[i];
}

}  // namespace

Posterior::Posterior(const Encoding& encoding, const Hyper& hyper)
    : encoding_(&encoding), kernel_(encoding, hyper) {}

void Posterior::set_pool(std::vector<ConfigId> pool) {
  pool_ = std::move(pool);
  pool_codes_.assign(encoding_->coordinates(), {});
  for (auto& column : pool_codes_) column.reserve(pool_.size());
  for (const ConfigId id : pool_) {
    const std::vector<Level> codes = encoding_->codes(id);
    for (std::size_t c = 0; c < codes.size(); ++c) pool_codes_[c].push_back(codes[c]);
  }
  pool_priors_.assign(encoding_->priors(), {});
  if (!pool_priors_.empty())
    for (const ConfigId id : pool_) {
      const std::vector<float> said = encoding_->priors(id);
      for (std::size_t p = 0; p < said.size(); ++p) pool_priors_[p].push_back(said[p]);
    }
  weigh_pool();
  blocks_.assign((pool_.size() + kBlock - 1) / kBlock, {});
  recompute_blocks();
}

void Posterior::set_hyper(const Hyper& hyper) {
  kernel_ = Covariance(*encoding_, hyper);
  weigh_pool();
  factor_.clear();
  for (std::size_t row = 0; row < observations_.size(); ++row) extend_factor(row);
  recompute_blocks();
  if (!targets_.empty()) set_targets(std::vector<double>(targets_));
}

double Posterior::prior_mean(std::span<const float> priors) const {
  return kernel_.prior_mean() * std::accumulate(priors.begin(), priors.end(), 0.0);
}

double Posterior::prior_covariance(std::span<const float> a, std::span<const float> b) const {
  double sum = 0;
  for (std::size_t p = 0; p < kernel_.prior_variances().size(); ++p)
    sum += kernel_.prior_variances()[p] * a[p] * b[p];
  return sum;
}

void Posterior::weigh_pool() {
  pool_mean_.assign(pool_.size(), 0);
  pool_variance_.assign(pool_.size(), 0);
  for (std::size_t p = 0; p < kernel_.prior_variances().size(); ++p) {
    const auto mean = static_cast<float>(kernel_.prior_mean());
    const auto variance = static_cast<float>(kernel_.prior_variances()[p]);
    for (std::size_t i = 0; i < pool_.size(); ++i) {
      const float said = pool_priors_[p][i];
      pool_mean_[i] += mean * said;
      pool_variance_[i] += variance * said * said;
    }
  }
}

void Posterior::append(ConfigId id) {
  priors_.push_back(encoding_->priors(id));
  observations_.push_back(id);
  codes_.push_back(encoding_->codes(id));
  extend_factor(observations_.size() - 1);
  for (std::size_t block = 0; block < blocks_.size(); ++block)
    extend_block(block, observations_.size() - 1);
}

void Posterior::truncate(std::size_t count) {
  if (count >= observations_.size()) return;
  observations_.resize(count);
  codes_.resize(count);
  priors_.resize(count);
  factor_.resize(count);
  targets_.clear();
  recompute_blocks();
}

void Posterior::extend_factor(std::size_t row) {
  std::vector<double> entries(row + 1);
  for (std::size_t j = 0; j < row; ++j) {
    double value =
        kernel_.covariance(codes_[row], codes_[j]) + prior_covariance(priors_[row], priors_[j]);
    for (std::size_t k = 0; k < j; ++k) value -= entries[k] * factor_[j][k];
    entries[j] = value / factor_[j][j];
  }
  double pivot = kernel_.signal() + kernel_.noise() + prior_covariance(priors_[row], priors_[row]);
  for (std::size_t k = 0; k < row; ++k) pivot -= entries[k] * entries[k];
  entries[row] = std::sqrt(std::max(pivot, kLeastPivot));
  factor_.push_back(std::move(entries));
}

void Posterior::extend_block(std::size_t index, std::size_t from) {
  Block& block = blocks_[index];
  const std::size_t first = index * kBlock;
  const std::size_t width = std::min(kBlock, pool_.size() - first);
  block.rows.resize(observations_.size() * kBlock);
  block.mean.resize(kBlock);
  block.explained.resize(kBlock);
  std::array<float, kMostCodes> correlations{};
  std::vector<float> factors(observations_.size());
  for (std::size_t i = from; i < observations_.size(); ++i) {
    float* row = block.rows.data() + i * kBlock;
    std::fill_n(row, kBlock, static_cast<float>(kernel_.signal()));
    for (std::size_t d = 0; d < pool_codes_.size(); ++d) {
      const Table& table = kernel_.table(d);
      std::copy_n(table.row(codes_[i][d]), table.codes, correlations.begin());
      const Level* codes = pool_codes_[d].data() + first;
      for (std::size_t c = 0; c < width; ++c) row[c] *= correlations[codes[c]];
    }
    for (std::size_t p = 0; p < kernel_.prior_variances().size(); ++p) {
      const float weight = static_cast<float>(kernel_.prior_variances()[p]) * priors_[i][p];
      const float* own = pool_priors_[p].data() + first;
      for (std::size_t c = 0; c < width; ++c) row[c] += weight * own[c];
    }
    for (std::size_t j = 0; j < i; ++j) factors[j] = static_cast<float>(-factor_[i][j]);
    add_rows<kBlock>(row, block.rows.data(), factors, i);
    const auto inverse = static_cast<float>(1 / factor_[i][i]);
    for (std::size_t c = 0; c < kBlock; ++c) {
      row[c] *= inverse;
      block.explained[c] += row[c] * row[c];
    }
  }
}

void Posterior::recompute_blocks() {
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    std::ranges::fill(blocks_[block].explained, 0.0F);
    std::ranges::fill(blocks_[block].mean, 0.0F);
    extend_block(block, 0);
  }
}

void Posterior::set_targets(std::span<const double> targets) {
  targets_.assign(targets.begin(), targets.end());
  const std::size_t count = targets_.size();
  whitened_ = targets_;
  for (std::size_t i = 0; i < count; ++i) whitened_[i] -= prior_mean(priors_[i]);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < i; ++j) whitened_[i] -= factor_[i][j] * whitened_[j];
    whitened_[i] /= factor_[i][i];
  }
  weights_ = whitened_;
  for (std::size_t i = count; i-- > 0;) {
    weights_[i] /= factor_[i][i];
    for (std::size_t j = 0; j < i; ++j) weights_[j] -= factor_[i][j] * weights_[i];
  }
  const std::vector<float> weights(whitened_.begin(), whitened_.end());
  for (Block& block : blocks_) {
    std::ranges::fill(block.mean, 0.0F);
    add_rows<kBlock>(block.mean.data(), block.rows.data(), weights, count);
  }
}

Prediction Posterior::at(std::size_t index) const {
  const Block& block = blocks_[index / kBlock];
  const std::size_t c = index % kBlock;
  return {.mean = block.mean[c] + pool_mean_[index],
          .variance = std::max(
              kernel_.signal() + pool_variance_[index] - double{block.explained[c]}, kLeastPivot)};
}

Prediction Posterior::predict(ConfigId id) const {
  if (id < pool_.size() && pool_[id] == id) return at(id);
  const std::vector<Level> codes = encoding_->codes(id);
  const auto own = encoding_->priors(id);
  Prediction prediction{.mean = prior_mean(own),
                        .variance = kernel_.signal() + prior_covariance(own, own)};
  std::vector<double> row(observations_.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double covariance =
        kernel_.covariance(codes, codes_[i]) + prior_covariance(own, priors_[i]);
    if (i < weights_.size()) prediction.mean += weights_[i] * covariance;
    row[i] = covariance;
    for (std::size_t j = 0; j < i; ++j) row[i] -= factor_[i][j] * row[j];
    row[i] /= factor_[i][i];
    prediction.variance -= row[i] * row[i];
  }
  prediction.variance = std::max(prediction.variance, kLeastPivot);
  return prediction;
}

std::vector<double> Posterior::prior_weights() const {
  std::vector<double> weights(encoding_->priors(), 0);
  for (std::size_t p = 0; p < kernel_.prior_variances().size(); ++p) {
    weights[p] = kernel_.prior_mean();
    for (std::size_t i = 0; i < weights_.size(); ++i)
      weights[p] += kernel_.prior_variances()[p] * priors_[i][p] * weights_[i];
  }
  return weights;
}

double Posterior::mean_at(std::span<const Level> codes) const {
  double mean = 0;
  for (std::size_t i = 0; i < weights_.size(); ++i)
    mean += weights_[i] * kernel_.covariance(codes, codes_[i]);
  return mean;
}

std::vector<double> Posterior::leave_one_out() const {
  const std::size_t count = weights_.size();
  // Column c of L^-1 gives the diagonal of K^-1: sum over rows of its squares.
  std::vector<double> residuals(count);
  std::vector<double> column(count);
  for (std::size_t c = 0; c < count; ++c) {
    double diagonal = 0;
    for (std::size_t i = c; i < count; ++i) {
      double value = i == c ? 1 : 0;
      for (std::size_t j = c; j < i; ++j) value -= factor_[i][j] * column[j];
      column[i] = value / factor_[i][i];
      diagonal += column[i] * column[i];
    }
    residuals[c] = weights_[c] / diagonal;
  }
  return residuals;
}

}  // namespace perflab::tune
