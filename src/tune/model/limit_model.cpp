// The metric is seen as the logarithm of its values where all of them and the limits are positive,
// as the objective is. Nothing is cut: where the limit lies is what matters.
#include "tune/model/limit_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stats/shares.h"

namespace perflab::tune {
namespace {

/// Of a fit: as many as the objective's model takes.
constexpr std::size_t kLimitFitPoints = 160;
constexpr std::size_t kLimitFitEvaluations = 25;

Hyper start_of(const Encoding& encoding) {
  Hyper hyper = Hyper::prior(encoding);
  hyper.spread.clear();  // priors say nothing of this metric
  return hyper;
}

}  // namespace

LimitModel::LimitModel(const Encoding& encoding, Metric metric, std::size_t index)
    : encoding_(&encoding),
      metric_(std::move(metric)),
      index_(index),
      hyper_(start_of(encoding)),
      posterior_(encoding, hyper_) {}

void LimitModel::set_pool(const std::vector<ConfigId>& pool) {
  posterior_.set_pool(pool);
}

void LimitModel::learn(std::span<const Told> results) {
  std::vector<ConfigId> ids;
  std::vector<double> values;
  for (const Told& one : results)
    if (index_ < one.metrics.size() && one.metrics[index_]) {
      ids.push_back(one.id);
      values.push_back(*one.metrics[index_]);
    }
  known_ = ids.size() > 1;
  if (!known_) return;
  const bool logarithmic = metric_.at_least.value_or(1) > 0 && metric_.at_most.value_or(1) > 0 &&
                           std::ranges::all_of(values, [](double value) { return value > 0; });
  const auto loss = [&](double value) { return logarithmic ? std::log(value) : value; };
  double centre = 0;
  for (double& value : values) centre += (value = loss(value));
  centre /= static_cast<double>(values.size());
  double squares = 0;
  for (double& value : values) {
    value -= centre;
    squares += value * value;
  }
  double width = std::sqrt(squares / static_cast<double>(values.size()));
  if (!(width > 1e-12)) width = 1;
  for (double& value : values) value /= width;
  const auto standardised = [&](const std::optional<double>& limit) {
    return limit ? std::optional((loss(*limit) - centre) / width) : std::nullopt;
  };
  lowest_ = standardised(metric_.at_least);
  highest_ = standardised(metric_.at_most);

  const auto& seen = posterior_.observations();
  std::size_t same = 0;
  while (same < seen.size() && same < ids.size() && seen[same] == ids[same]) ++same;
  posterior_.truncate(same);
  if (ids.size() >= next_fit_) fit_hyper(ids, values);
  for (; same < ids.size(); ++same) posterior_.append(ids[same]);
  posterior_.set_targets(values);
}

void LimitModel::fit_hyper(const std::vector<ConfigId>& ids, const std::vector<double>& targets) {
  Observations data;
  const std::size_t taken = std::min(kLimitFitPoints, ids.size());
  for (std::size_t i = 0; i < taken; ++i) {
    const std::size_t at = i * ids.size() / taken;  // evenly over the search
    data.ids.push_back(ids[at]);
    data.targets.push_back(targets[at]);
  }
  hyper_ = fit(*encoding_, data, hyper_, kLimitFitEvaluations);
  posterior_.set_hyper(hyper_);
  next_fit_ =
      std::max(ids.size() + 4, static_cast<std::size_t>(1.3 * static_cast<double>(ids.size())));
}

double LimitModel::within(const Prediction& prediction) const {
  const double sd = std::sqrt(prediction.variance);
  const double below_highest =
      highest_ ? stats::normal_share((*highest_ - prediction.mean) / sd) : 1.0;
  const double below_lowest =
      lowest_ ? stats::normal_share((*lowest_ - prediction.mean) / sd) : 0.0;
  return std::max(0.0, below_highest - below_lowest);
}

double LimitModel::at(std::size_t i) const {
  return known_ ? within(posterior_.at(i)) : 1.0;
}

double LimitModel::of(ConfigId id) const {
  return known_ ? within(posterior_.predict(id)) : 1.0;
}

}  // namespace perflab::tune
