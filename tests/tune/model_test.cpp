// src/tune/model: the incremental posterior against a direct solution, the gradient of the fit
// against differences, leave-one-out against refits, coordinates and targets against their
// definitions.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <set>

#include "tune/model/covariance.h"
#include "tune/model/encoding.h"
#include "tune/model/feasibility.h"
#include "tune/model/fit.h"
#include "tune/model/posterior.h"
#include "tune/model/search_random.h"
#include "tune/model/targets.h"
#include "tune/written_space.h"

namespace perflab::tune {
namespace {

Space mixed_space() {
  return product_space({{"size", {16, 32, 48, 64, 80, 96}},
                        {"flag", {false, true}},
                        {"layout", {"nchw", "nhwc", "blocked"}},
                        {"fixed", {1}},
                        {"depth", {0, 2, 4, 9}}});
}

Hyper some_hyper(const Encoding& encoding) {
  Hyper hyper = Hyper::prior(encoding);
  for (std::size_t d = 0; d < hyper.length.size(); ++d)
    hyper.length[d] -= 0.3 * static_cast<double>(d);
  hyper.signal = 0.2;
  hyper.noise = std::log(1e-2);
  return hyper;
}

/// Different configurations with made-up targets.
Observations some_data(const Space& space, std::size_t count) {
  Observations data;
  Random random(7);
  for (const std::size_t id : random.sample(space.size(), count)) {
    data.ids.push_back(static_cast<ConfigId>(id));
    data.targets.push_back(std::sin(static_cast<double>(id)) + 0.02 * static_cast<double>(id));
  }
  return data;
}

Eigen::MatrixXd covariances(const Covariance& kernel, const std::vector<ConfigId>& a,
                            const std::vector<ConfigId>& b) {
  Eigen::MatrixXd matrix(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j)
      matrix(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
          kernel.covariance(kernel.encoding().codes(a[i]), kernel.encoding().codes(b[j]));
  return matrix;
}

/// Mean and variance at `ids` by Rasmussen and Williams equations 2.25 and 2.26.
std::vector<Prediction> direct(const Covariance& kernel, const Observations& data,
                               const std::vector<ConfigId>& ids) {
  Eigen::MatrixXd matrix = covariances(kernel, data.ids, data.ids);
  matrix.diagonal().array() += kernel.noise();
  const Eigen::LLT<Eigen::MatrixXd> llt(matrix);
  const Eigen::MatrixXd cross = covariances(kernel, data.ids, ids);
  const Eigen::VectorXd weights = llt.solve(Eigen::Map<const Eigen::VectorXd>(
      data.targets.data(), static_cast<Eigen::Index>(data.targets.size())));
  const Eigen::VectorXd mean = cross.transpose() * weights;
  const Eigen::VectorXd explained = (cross.array() * llt.solve(cross).array()).colwise().sum();
  std::vector<Prediction> predictions;
  for (Eigen::Index i = 0; i < mean.size(); ++i)
    predictions.push_back({.mean = mean[i], .variance = kernel.signal() - explained[i]});
  return predictions;
}

TEST(TuneEncoding, TellsWhetherAnyNumberHasAnOddFactor) {
  const Space space = product_space(
      {{"x", {16, 32, 48}}, {"pad", {0, 1, 2}}, {"flag", {5, 7}}, {"share", {0.5, 0.3, 0.1}}});
  const Encoding encoding(space);
  ASSERT_EQ(encoding.coordinates(), 5U);
  EXPECT_TRUE(encoding.is_of_odd_factors(4));
  EXPECT_FALSE(encoding.is_of_odd_factors(3));
  for (std::size_t id = 0; id < space.size(); ++id) {
    const auto config = static_cast<ConfigId>(id);
    std::vector<Level> codes = encoding.codes(config);
    EXPECT_EQ(codes[4], number_at(space, config, 0) == 48 ? 1 : 0)
        << "0 counts as a power of two; two values and fractions do not count";
    codes[0] = 2;
    encoding.settle(codes);
    EXPECT_EQ(codes[4], 1);
  }
  // Such configurations are alike as two categories are.
  const Covariance kernel(encoding, Hyper::prior(encoding));
  EXPECT_EQ(kernel.table(4).row(1)[1], 1);
  EXPECT_NEAR(kernel.table(4).row(0)[1], 0.3114, 1e-4) << "Matern 5/2 over 1 / 0.7";
  EXPECT_EQ(encoding.distance(0, 0), 0);
  EXPECT_EQ(Encoding(product_space({{"x", {3, 6, 12}}, {"y", {1, 2}}})).coordinates(), 2U)
      << "every configuration has an odd factor";
}

TEST(TuneEncoding, HasSizesValuationsAndCategories) {
  const Space space = mixed_space();
  const Encoding encoding(space);
  const auto& dimensions = encoding.dimensions();
  ASSERT_EQ(dimensions.size(), 4U);
  EXPECT_EQ(dimensions[3].parameter, 4U);
  // log2 of 16 .. 96; 16 = 2^4, 32 = 2^5, 48 = 2^4 x 3, 64 = 2^6, 80 = 2^4 x 5, 96 = 2^5 x 3.
  EXPECT_NEAR(dimensions[0].size[1], 1 / std::log2(6), 1e-12);
  EXPECT_EQ(dimensions[0].size[5], 1);
  EXPECT_EQ(dimensions[0].valuation, (std::vector<double>{0, 0.5, 0, 1, 0, 0.5}));
  EXPECT_EQ(dimensions[1].size, (std::vector<double>{0, 1}));
  EXPECT_TRUE(dimensions[2].categorical);
  // 0 has no logarithm: ranks; and no valuation.
  EXPECT_NEAR(dimensions[3].size[1], 1.0 / 3, 1e-12);
  EXPECT_TRUE(dimensions[3].valuation.empty());
  EXPECT_EQ(encoding.neighbours(0).size(), 5U + 1U + 2U + 3U);
  EXPECT_EQ(encoding.distance(0, 0), 0);
  // The last configuration: sizes 1, valuation 0.5, flag 1, another category, depth 1.
  EXPECT_NEAR(encoding.distance(0, static_cast<ConfigId>(space.size() - 1)), 1 + 0.25 + 1 + 1 + 1,
              1e-12);
}

TEST(TuneEncoding, PutsManyLevelsTogether) {
  std::vector<Value> values = whole_numbers(1, 3000);
  std::ranges::reverse(values);
  const Space space = product_space({{"n", values}, {"m", {1, 2}}});
  const Encoding encoding(space);
  const Dimension& dimension = encoding.dimensions()[0];
  EXPECT_EQ(dimension.codes, kMostCodes);
  EXPECT_EQ(dimension.size.size(), kMostCodes);
  EXPECT_TRUE(std::ranges::is_sorted(dimension.size));
  EXPECT_EQ(dimension.code[0], kMostCodes - 1);
  EXPECT_EQ(dimension.code[2999], 0);
}

TEST(TunePosterior, GrownOneByOneEqualsTheDirectSolution) {
  const Space space = mixed_space();
  const Encoding encoding(space);
  const Hyper hyper = some_hyper(encoding);
  const Observations data = some_data(space, 40);
  std::vector<ConfigId> pool;
  for (std::size_t id = 0; id < space.size(); ++id) pool.push_back(static_cast<ConfigId>(id));
  Posterior posterior(encoding, Hyper::prior(encoding));
  posterior.append(data.ids[0]);
  posterior.set_pool(pool);
  posterior.append(data.ids[1]);
  posterior.set_hyper(hyper);
  for (std::size_t i = 2; i < data.ids.size(); ++i) posterior.append(data.ids[i]);
  posterior.append(5);  // believed, then forgotten
  posterior.truncate(data.ids.size());
  posterior.set_targets(data.targets);

  const Covariance kernel(encoding, hyper);
  const auto expected = direct(kernel, data, pool);
  const auto residuals = posterior.leave_one_out();
  for (std::size_t i = 0; i < pool.size(); ++i) {
    EXPECT_NEAR(posterior.at(i).mean, expected[i].mean, 2e-4) << i;
    EXPECT_NEAR(posterior.at(i).variance, expected[i].variance, 2e-4) << i;
    EXPECT_NEAR(posterior.mean_at(encoding.codes(pool[i])), expected[i].mean, 1e-9) << i;
  }
  Posterior without_pool(encoding, hyper);
  for (const ConfigId id : data.ids) without_pool.append(id);
  without_pool.set_targets(data.targets);
  EXPECT_NEAR(without_pool.predict(33).mean, expected[33].mean, 1e-9);
  EXPECT_NEAR(without_pool.predict(33).variance, expected[33].variance, 1e-9);

  for (std::size_t left = 0; left < data.ids.size(); ++left) {
    Observations others = data;
    others.ids.erase(others.ids.begin() + static_cast<std::ptrdiff_t>(left));
    others.targets.erase(others.targets.begin() + static_cast<std::ptrdiff_t>(left));
    const auto prediction = direct(kernel, others, {data.ids[left]});
    EXPECT_NEAR(residuals[left], data.targets[left] - prediction[0].mean, 1e-8) << left;
  }
}

TEST(TunePosterior, ABelievedObservationMovesNoMean) {
  const Space space = mixed_space();
  const Encoding encoding(space);
  const Observations data = some_data(space, 10);
  Posterior posterior(encoding, some_hyper(encoding));
  posterior.set_pool({0, 1, 2, 3, 100});
  for (const ConfigId id : data.ids) posterior.append(id);
  posterior.set_targets(data.targets);
  const Prediction before = posterior.at(4);
  posterior.append(100);
  EXPECT_EQ(posterior.at(4).mean, before.mean);
  EXPECT_LT(posterior.at(4).variance, before.variance);
}

TEST(TuneFit, ReachesAMaximumFromAnyStart) {
  const Space space = mixed_space();
  const Encoding encoding(space);
  Observations data = some_data(space, 60);
  Random random(3);
  for (std::size_t i = 0; i < data.ids.size(); ++i) {
    const double noise = static_cast<double>(random.below(1000)) / 1000 - 0.5;
    data.targets[i] = number_at(space, data.ids[i], 0) / 40 - 1 +
                      (space.levels(data.ids[i])[2] == 1 ? 0.5 : -0.3) + noise;
  }
  const Hyper prior = Hyper::prior(encoding);
  Hyper start = prior;
  start.length.assign(start.length.size(), -1.5);
  const Hyper found = fit(encoding, data, prior, 100);
  const double best = log_posterior(encoding, data, found);
  EXPECT_GT(best, log_posterior(encoding, data, prior) + 5);
  EXPECT_NEAR(log_posterior(encoding, data, fit(encoding, data, start, 100)), best, 0.1);
  // No step along any one of them leads up: the gradient was right.
  const auto worse = [&](Hyper other) {
    EXPECT_LT(log_posterior(encoding, data, other), best + 2e-2);
  };
  for (const double step : {-0.1, 0.1}) {
    for (std::size_t d = 0; d < found.length.size(); ++d) {
      Hyper other = found;
      other.length[d] += step;
      worse(other);
    }
    Hyper other = found;
    other.valuation[0] += step;
    worse(other);
    other = found;
    other.signal += step;
    worse(other);
    other = found;
    other.noise += step;
    worse(other);
  }
}

TEST(TuneTargets, CutsTheSlowAndStandardises) {
  std::vector<Told> results;
  for (int i = 1; i <= 11; ++i)
    results.push_back({.id = static_cast<ConfigId>(i), .outcome = Outcome::correct, .value = i});
  results.push_back({.id = 20, .outcome = Outcome::run_failed, .value = {}});
  const Targets targets = targets_of(results, false);
  EXPECT_TRUE(targets.scale.logarithmic);
  EXPECT_EQ(targets.correct, 11U);
  EXPECT_TRUE(targets.exact[9]);
  EXPECT_FALSE(targets.exact[10]);
  EXPECT_FALSE(targets.exact[11]);
  EXPECT_EQ(targets.standardised[9], targets.standardised[10]);
  // What failed counts as 9, the 80th percentile; what was cut off as the cut.
  EXPECT_NEAR(targets.standardised[11], targets.standardised[8], 1e-12);
  results.back().outcome = Outcome::timed_out;
  const Targets with_cut_off = targets_of(results, false);
  EXPECT_EQ(with_cut_off.standardised[9], with_cut_off.standardised[11]);
  EXPECT_NEAR(targets.scale.value(targets.loss(targets.best)), 1, 1e-12);
  double sum = 0;
  double squares = 0;
  for (const double target : targets.standardised) {
    sum += target;
    squares += target * target;
  }
  EXPECT_NEAR(sum, 0, 1e-12);
  EXPECT_NEAR(squares, 12, 1e-9);

  results[3].value = 0;
  const Targets raw = targets_of(results, true);
  EXPECT_FALSE(raw.scale.logarithmic);
  EXPECT_EQ(raw.ranking.front(), 10U);
  EXPECT_NEAR(raw.scale.value(raw.loss(raw.best)), 11, 1e-12);
  EXPECT_EQ(targets_of({}, false).correct, 0U);
}

TEST(TuneTargets, RanksHaveAPart) {
  std::vector<Told> results;
  for (const double value : {8.0, 1.0, 2.0, 2.0, 4.0})
    results.push_back(
        {.id = static_cast<ConfigId>(results.size()), .outcome = Outcome::correct, .value = value});
  const Targets targets = targets_of(results, false);
  EXPECT_EQ(targets.standardised[2], targets.standardised[3]);
  // Losses 0, 1, 1, 2 and 2.6 (the cut) in units of log 2; probabilities of their ranks 0.1, 0.4,
  // 0.4, 0.7, 0.9, whose normal scores are -1.2816, -0.2533, -0.2533, 0.5244, 1.2816.
  const double mean = 6.6 / 5, width = std::sqrt((0.0 + 1 + 1 + 4 + 6.76) / 5 - mean * mean);
  const auto blended = [&](double loss, double score) {
    return 0.7 * (loss - mean) / width + 0.3 * score;
  };
  const double step = (targets.standardised[4] - targets.standardised[1]) * targets.width;
  EXPECT_NEAR(step, blended(2, 0.5244) - blended(0, -1.2816), 1e-3);
  for (std::size_t i = 1; i < 5; ++i) {
    const double loss = targets.loss(targets.standardised[i]);
    EXPECT_NEAR(targets.scale.value(loss), *results[i].value, 1e-9);
    EXPECT_NEAR(targets.standardised_of(loss), targets.standardised[i], 1e-9);
  }
  // Between two results a target is interpolated; below the best one its step is the slope.
  const double third = targets.loss((targets.standardised[2] + targets.standardised[4]) / 2);
  EXPECT_NEAR(third, 1.5 * std::log(2), 1e-9);
  EXPECT_NEAR(targets.loss(targets.best) - targets.loss(targets.best - 1), targets.slope(), 1e-9);
  EXPECT_NEAR(targets.standardised_of(std::log(0.5)), targets.best - std::log(2) / targets.slope(),
              1e-9);
  results.push_back({.id = 5, .outcome = Outcome::run_failed, .value = {}});
  EXPECT_TRUE(targets_of(results, false).knots.empty()) << "nobody knows the rank of a failure";
}

TEST(TuneTargets, CompressesWhatIsAboveTheBest) {
  std::vector<Told> results;
  for (int i = 1; i <= 11; ++i)
    results.push_back({.id = static_cast<ConfigId>(i), .outcome = Outcome::correct, .value = i});
  const Targets plain = targets_of(results, false);
  const Targets targets = targets_of(results, false, TargetForm::compressed);
  EXPECT_EQ(targets.ranking, plain.ranking);
  const auto loss = [&](std::size_t i) { return targets.loss(targets.standardised[i]); };
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_NEAR(targets.scale.value(loss(i)), static_cast<double>(i + 1), 1e-9);
    EXPECT_NEAR(targets.standardised_of(loss(i)), targets.standardised[i], 1e-9);
  }
  EXPECT_EQ(targets.standardised[9], targets.standardised[10]);
  // The same step counts less the farther it is above the best, and the same below it.
  const auto target = [&](double value) { return targets.standardised_of(std::log(value)); };
  EXPECT_NEAR((target(2) - target(1)) * targets.width, std::log(1.43208), 1e-5);
  EXPECT_NEAR((target(1) - target(0.5)) * targets.width, std::log(2), 1e-9);
  EXPECT_NEAR(targets.scale.value(targets.loss(target(0.5))), 0.5, 1e-9);
  EXPECT_NEAR(targets.scale.value(targets.loss(1e6)), 10, 1e-9);

  // What is outside of the limits is no best one: gains over the best within them stay exact.
  results[0].within = results[1].within = false;
  const Targets limited = targets_of(results, false, TargetForm::compressed);
  EXPECT_NEAR((limited.standardised[2] - limited.standardised[0]) * limited.width, std::log(3),
              1e-9);

  results[3].value = 0;
  const Targets raw = targets_of(results, true, TargetForm::compressed);
  EXPECT_FALSE(raw.scale.logarithmic);
  EXPECT_FALSE(raw.compressed);
  EXPECT_NEAR(raw.scale.value(raw.loss(raw.standardised[5])), 6, 1e-9);
}

TEST(TuneFeasibility, VotesOfNearConfigurationsCount) {
  const Space space = product_space({{"a", whole_numbers(1, 50)}, {"b", {1, 2}}});
  const Encoding encoding(space);
  Feasibility feasibility(encoding);
  feasibility.set_pool({0, 6, 99});
  feasibility.add(0, true);
  feasibility.add(1, true);
  EXPECT_EQ(feasibility.at(2), 1);
  for (ConfigId id = 95; id < 99; ++id) feasibility.add(id, false);
  EXPECT_GT(feasibility.at(0), 0.6);
  EXPECT_LT(feasibility.at(2), 0.25);
  EXPECT_GT(feasibility.at(1), feasibility.at(2));
}

TEST(TuneRandom, SamplesAreDifferentAndCoverEverything) {
  Random random(1);
  const auto picks = random.sample(1000, 300);
  EXPECT_EQ(std::set(picks.begin(), picks.end()).size(), 300U);
  EXPECT_LT(*std::ranges::max_element(picks), 1000U);
  EXPECT_EQ(random.sample(5, 9).size(), 5U);
  std::vector<int> counts(7, 0);
  for (int i = 0; i < 7000; ++i) ++counts[random.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
}

}  // namespace
}  // namespace perflab::tune
