// With fewer results than terms the least-squares solution of smallest norm is taken. Columns are
// scaled to a largest entry of 1 first, so that ACC^4 does not drown the others.
#include "tune/model/polynomial.h"

#include <Eigen/Dense>
#include <Eigen/QR>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "tune/values/value.h"

namespace perflab::tune {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::array<std::string_view, 6> kPublished = {
    "BLOCK_M", "BLOCK_N", "BLOCK_K", "num_warps", "num_stages", "threads_per_block"};

std::optional<double> number_named(const std::vector<Binding>& bindings, std::string_view name) {
  const auto found = std::ranges::find(bindings, name, &Binding::first);
  return found == bindings.end() ? std::nullopt : number_of(found->second);
}

/// 1, the features, and their products of two.
std::vector<double> expand(const std::vector<double>& features) {
  std::vector<double> terms{1};
  terms.insert(terms.end(), features.begin(), features.end());
  for (std::size_t a = 0; a < features.size(); ++a)
    for (std::size_t b = a; b < features.size(); ++b) terms.push_back(features[a] * features[b]);
  return terms;
}

double r2_of(const Eigen::VectorXd& values, const Eigen::VectorXd& residuals) {
  const double total = (values.array() - values.mean()).square().sum();
  return 1 - residuals.squaredNorm() / total;
}

}  // namespace

Polynomial::Polynomial(const Space& space, bool maximize, double prune_factor)
    : space_(&space), maximize_(maximize), prune_factor_(prune_factor) {
  const std::vector<Binding> bindings = space.bindings(0);
  for (const std::string_view name : kPublished)
    if (number_named(bindings, name)) names_.emplace_back(name);
  if (!names_.empty()) return;
  for (const Parameter& parameter : space.parameters())
    if (parameter.values.size() > 1 &&
        std::ranges::all_of(parameter.values,
                            [](const Value& value) { return number_of(value).has_value(); }))
      names_.push_back(parameter.name);
}

std::vector<double> Polynomial::terms(ConfigId id) const {
  const std::vector<Binding> bindings = space_->bindings(id);
  std::vector<double> features;
  const auto m = number_named(bindings, "BLOCK_M");
  const auto n = number_named(bindings, "BLOCK_N");
  if (m && n) features = {*m * *n, *m * *n * *m * *n};
  for (const std::string& name : names_)
    if (!(m && n && (name == "BLOCK_M" || name == "BLOCK_N")))
      features.push_back(number_named(bindings, name).value_or(0));
  return expand(features);
}

void Polynomial::fit(std::span<const Told> results) {
  std::vector<Told> correct;
  std::ranges::copy_if(results, std::back_inserter(correct),
                       [](const Told& told) { return told.value.has_value(); });
  const auto rows = static_cast<Eigen::Index>(correct.size());
  const auto columns = static_cast<Eigen::Index>(terms(0).size());
  RowMatrix matrix(rows, columns);
  Eigen::VectorXd values(rows);
  for (Eigen::Index i = 0; i < rows; ++i) {
    const Told& told = correct[static_cast<std::size_t>(i)];
    matrix.row(i) = Eigen::Map<const Eigen::RowVectorXd>(terms(told.id).data(), columns);
    values[i] = *told.value;
  }
  Eigen::RowVectorXd scale = matrix.cwiseAbs().colwise().maxCoeff();
  scale = (scale.array() > 0).select(scale, 1);
  matrix.array().rowwise() /= scale.array();
  const Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition(matrix);
  const Eigen::VectorXd weights = decomposition.solve(values).array() / scale.transpose().array();

  predictions_.resize(space_->size());
  for (std::size_t id = 0; id < predictions_.size(); ++id) {
    const std::vector<double> row = terms(static_cast<ConfigId>(id));
    predictions_[id] = Eigen::Map<const Eigen::VectorXd>(row.data(), columns).dot(weights);
  }
  ranking_.resize(predictions_.size());
  std::iota(ranking_.begin(), ranking_.end(), ConfigId{0});
  const double sign = maximize_ ? -1 : 1;
  std::ranges::stable_sort(ranking_, {}, [&](ConfigId id) { return sign * predictions_[id]; });
  const double best = predictions_[ranking_.front()];
  kept_ = ranking_.size();
  if (best > 0)
    kept_ = static_cast<std::size_t>(std::ranges::count_if(predictions_, [&](double value) {
      return maximize_ ? value * prune_factor_ >= best : value <= prune_factor_ * best;
    }));

  quality_ = {.r2 = std::nullopt, .samples = correct.size(), .fits = 1};
  const Eigen::MatrixXd inverse = decomposition.pseudoInverse();
  const Eigen::VectorXd leverage = (matrix.array() * inverse.transpose().array()).rowwise().sum();
  const bool varies = (values.array() - values.mean()).abs().maxCoeff() > 0;
  if (varies && leverage.maxCoeff() < 1 - 1e-9) {
    const Eigen::VectorXd residuals = values - matrix * (inverse * values);
    quality_.r2 = r2_of(values, residuals.cwiseQuotient((1 - leverage.array()).matrix()));
  }
}

std::optional<ConfigId> Polynomial::next(const std::vector<bool>& taken, bool allow_pruned) {
  while (at_ < ranking_.size() && taken[ranking_[at_]]) ++at_;
  if (at_ == ranking_.size() || (at_ >= kept_ && !allow_pruned)) return std::nullopt;
  return ranking_[at_];
}

std::size_t Polynomial::pruned(const std::vector<bool>& taken) const {
  return static_cast<std::size_t>(
      std::count_if(ranking_.begin() + static_cast<std::ptrdiff_t>(kept_), ranking_.end(),
                    [&](ConfigId id) { return !taken[id]; }));
}

}  // namespace perflab::tune
