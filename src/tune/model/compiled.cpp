// Hoerl and Kennard, "Ridge regression", Technometrics 12 (1970), with the penalty that predicts
// best what is left out. What is not known (occupancy, instructions) counts as the mean.
#include "tune/model/compiled.h"

#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace perflab::tune {
namespace {

constexpr std::array<double, 4> kPenalties = {1, 4, 16, 64};
constexpr std::size_t kFeatures = 11;

std::array<double, kFeatures> features_of(const CompiledKernel& kernel, bool with_mix) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::array<double, kFeatures> features = {static_cast<double>(kernel.vgprs),
                                            static_cast<double>(kernel.sgprs),
                                            static_cast<double>(kernel.lds_bytes),
                                            static_cast<double>(kernel.scratch_bytes),
                                            static_cast<double>(kernel.spills),
                                            kernel.occupancy.value_or(kUnknown),
                                            kUnknown,
                                            kUnknown,
                                            kUnknown,
                                            kUnknown,
                                            kUnknown};
  if (!with_mix || !kernel.mix || kernel.mix->instructions <= 0) return features;
  const KernelMix& mix = *kernel.mix;
  const auto all = static_cast<double>(mix.instructions);
  features[6] = std::log(all);
  features[7] = static_cast<double>(mix.valu) / all;
  features[8] = static_cast<double>(mix.matrix) / all;
  features[9] = static_cast<double>(mix.memory) / all;
  features[10] = static_cast<double>(mix.lds) / all;
  return features;
}

}  // namespace

CompiledCorrection::CompiledCorrection(const Posterior& posterior, const CompiledKernels& kernels,
                                       bool with_mix)
    : with_mix_(with_mix) {
  const std::vector<double> left_out = posterior.leave_one_out();
  std::vector<std::array<double, kFeatures>> rows;
  std::vector<double> residuals;
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    const auto found = kernels.find(posterior.observations()[i]);
    if (found == kernels.end()) continue;
    rows.push_back(features_of(found->second, with_mix));
    residuals.push_back(left_out[i]);
  }
  if (rows.size() < kLeastSamples) return;
  const auto count = static_cast<Eigen::Index>(rows.size());
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(count, kFeatures);
  centre_.assign(kFeatures, 0);
  width_.assign(kFeatures, 1);
  for (std::size_t f = 0; f < kFeatures; ++f) {
    double known = 0;
    double sum = 0;
    double squares = 0;
    for (const auto& row : rows) {
      if (std::isnan(row[f])) continue;
      known += 1;
      sum += row[f];
    }
    if (known > 0) centre_[f] = sum / known;
    for (const auto& row : rows)
      if (!std::isnan(row[f])) squares += (row[f] - centre_[f]) * (row[f] - centre_[f]);
    if (squares > 0) width_[f] = std::sqrt(squares / known);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (!std::isnan(rows[i][f]))
        matrix(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(f)) =
            (rows[i][f] - centre_[f]) / width_[f];
  }
  const Eigen::VectorXd errors = Eigen::Map<const Eigen::VectorXd>(residuals.data(), count);
  Eigen::VectorXd solved = Eigen::VectorXd::Zero(kFeatures);
  left_out_ = errors.squaredNorm();
  for (const double penalty : kPenalties) {
    const Eigen::LLT<Eigen::MatrixXd> normal(
        matrix.transpose() * matrix + penalty * Eigen::MatrixXd::Identity(kFeatures, kFeatures));
    const Eigen::VectorXd weights = normal.solve(matrix.transpose() * errors);
    // Allen's PRESS: what each would have been off by, had it not been learned from.
    const Eigen::VectorXd own =
        (matrix.array() * normal.solve(matrix.transpose()).transpose().array()).rowwise().sum();
    const double off =
        ((errors - matrix * weights).array() / (1 - own.array())).matrix().squaredNorm();
    if (off >= left_out_) continue;
    left_out_ = off;
    solved = weights;
  }
  weights_.assign(solved.begin(), solved.end());
}

double CompiledCorrection::at(const CompiledKernel& kernel) const {
  const auto features = features_of(kernel, with_mix_);
  double sum = 0;
  for (std::size_t f = 0; f < weights_.size(); ++f)
    if (!std::isnan(features[f])) sum += weights_[f] * (features[f] - centre_[f]) / width_[f];
  return sum;
}

}  // namespace perflab::tune
