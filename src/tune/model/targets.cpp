// Percentiles are those of the sorted losses with linear interpolation.
#include "tune/model/targets.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "stats/bootstrap.h"
#include "stats/shares.h"

namespace perflab::tune {
namespace {

constexpr double kCut = 0.9;
/// What failed counts as slow as this share of the losses: the votes say that it fails, and the
/// fastest are often next to it. At kCut eleven spaces nobody tuned to scored .003 less.
constexpr double kFailed = 0.8;
/// Compressed, d above the best is c log(1 + d / c): twice the best counts as 1.43 times, ten times
/// as 1.9. With priors, what tells bad configurations apart is then not what the model explains
/// first. On the recorded spaces 0.2 and 0.25 scored as 0.3, 0.1 and 0.6 less. Without priors it
/// gained .013 on the GEMM after 50 evaluations, and lost .009 on the convolution.
constexpr double kCompression = 0.3;

double compress(double above) {
  return above > 0 ? kCompression * std::log1p(above / kCompression) : above;
}
double expand(double compressed) {
  return compressed > 0 ? kCompression * std::expm1(compressed / kCompression) : compressed;
}

/// Of all targets, in place.
void standardise(Targets& targets) {
  const auto count = static_cast<double>(targets.standardised.size());
  targets.centre =
      std::accumulate(targets.standardised.begin(), targets.standardised.end(), 0.0) / count;
  double squares = 0;
  for (double& target : targets.standardised) {
    target -= targets.centre;
    squares += target * target;
  }
  targets.width = std::sqrt(squares / count);
  if (!(targets.width > 1e-12)) targets.width = 1;
  for (double& target : targets.standardised) target /= targets.width;
}

/// The share of ranks in a target: 0.2 to 0.4 scored the same, 0 less by .002. Where something
/// failed there are none: with failures among them the 3x3 convolution on a GPU nobody tuned to
/// scored .938 instead of .998 after 100.
constexpr double kRanks = 0.3;

/// From one coordinate of the knots to the other, with this slope beyond them.
double along(const std::vector<Targets::Knot>& knots, double at, double Targets::Knot::* from,
             double Targets::Knot::* to, double slope) {
  const auto above = std::ranges::lower_bound(knots, at, {}, from);
  if (above == knots.begin()) return knots.front().*to + slope * (at - knots.front().*from);
  if (above == knots.end()) return knots.back().*to + slope * (at - knots.back().*from);
  const Targets::Knot& below = *std::prev(above);
  return std::lerp(below.*to, (*above).*to, (at - below.*from) / ((*above).*from - below.*from));
}

/// Standardised losses become 0.7 of themselves and 0.3 of the normal scores of their ranks.
void blend_with_ranks(Targets& targets) {
  standardise(targets);
  std::vector<double> sorted = targets.standardised;
  std::ranges::sort(sorted);
  const auto rank = [&](auto at) { return static_cast<double>(at - sorted.begin()); };
  const double twice = 2 * static_cast<double>(sorted.size());
  const auto loss = [&](double target) { return targets.centre + targets.width * target; };
  for (auto at = sorted.begin(); at != sorted.end();) {
    const auto next = std::ranges::upper_bound(at, sorted.end(), *at);
    const double form =
        std::lerp(*at, stats::normal_quantile((rank(at) + rank(next)) / twice), kRanks);
    targets.knots.push_back({.form = form, .loss = loss(*at)});
    at = next;
  }
  targets.per_form = targets.width / (1 - kRanks);
  using Knot = Targets::Knot;
  for (double& target : targets.standardised)
    target = along(targets.knots, loss(target), &Knot::loss, &Knot::form, 1 / targets.per_form);
}

}  // namespace

double Scale::loss(double value) const {
  const double number = logarithmic ? std::log(value) : value;
  return maximize ? -number : number;
}

double Scale::value(double loss) const {
  const double number = maximize ? -loss : loss;
  return logarithmic ? std::exp(number) : number;
}

double Targets::loss(double standardised_target) const {
  const double form = centre + width * standardised_target;
  if (!knots.empty()) return along(knots, form, &Knot::form, &Knot::loss, per_form);
  if (!compressed) return form;
  return std::min(compressed->cut, compressed->above + expand(form - compressed->above));
}

double Targets::standardised_of(double loss) const {
  double form = loss;
  if (!knots.empty()) form = along(knots, loss, &Knot::loss, &Knot::form, 1 / per_form);
  if (compressed) form = compressed->above + compress(loss - compressed->above);
  return (form - centre) / width;
}

Targets targets_of(std::span<const Told> results, bool maximize, TargetForm form) {
  Targets targets;
  targets.scale.maximize = maximize;
  targets.scale.logarithmic =
      form != TargetForm::values &&
      std::ranges::all_of(results, [](const Told& told) { return !told.value || *told.value > 0; });
  std::vector<double> losses;
  for (const Told& told : results)
    if (told.value) losses.push_back(targets.scale.loss(*told.value));
  targets.correct = losses.size();
  targets.standardised.assign(results.size(), 0);
  targets.exact.assign(results.size(), false);
  if (losses.empty()) return targets;

  std::ranges::sort(losses);
  const double cut = stats::quantile_of_sorted(losses, kCut);
  const double failed = stats::quantile_of_sorted(losses, kFailed);
  std::vector<double> exact_losses(results.size(), cut);
  for (std::size_t i = 0; i < results.size(); ++i) {
    targets.standardised[i] = is_failure(results[i].outcome) ? failed : cut;
    if (!results[i].value) continue;
    exact_losses[i] = targets.scale.loss(*results[i].value);
    targets.standardised[i] = std::min(exact_losses[i], cut);
    targets.exact[i] = exact_losses[i] <= cut;
    if (results[i].within) targets.ranking.push_back(i);
  }
  std::ranges::stable_sort(targets.ranking, {}, [&](std::size_t i) { return exact_losses[i]; });
  if (form == TargetForm::compressed && targets.scale.logarithmic) {
    const double least = targets.ranking.empty() ? *std::ranges::min_element(targets.standardised)
                                                 : targets.standardised[targets.ranking.front()];
    targets.compressed = {.above = least, .cut = cut};
    for (double& target : targets.standardised) target = least + compress(target - least);
  }
  if (form == TargetForm::logarithms && std::ranges::none_of(results, is_failure, &Told::outcome))
    blend_with_ranks(targets);
  standardise(targets);
  if (!targets.ranking.empty()) targets.best = targets.standardised[targets.ranking.front()];
  return targets;
}

namespace {

/// Losses of one objective from 0 (the best) to 1; above the 90th percentile they are cut to it.
std::vector<double> normalised(const std::vector<double>& values, bool maximize) {
  const bool logarithmic = std::ranges::all_of(values, [](double value) { return value > 0; });
  const Scale scale{.maximize = maximize, .logarithmic = logarithmic};
  std::vector<double> losses;
  for (const double value : values) losses.push_back(scale.loss(value));
  std::vector<double> sorted = losses;
  std::ranges::sort(sorted);
  const double cut = stats::quantile_of_sorted(sorted, kCut), least = sorted.front();
  for (double& loss : losses)
    loss = cut > least ? std::min(1.0, (loss - least) / (cut - least)) : 0;
  return losses;
}

}  // namespace

std::vector<Told> scalarised(std::span<const Told> results, bool maximize, std::size_t second,
                             bool maximize_second, double weight) {
  constexpr double kAugmentation = 0.05;  // ParEGO's
  std::vector<Told> out(results.begin(), results.end());
  std::vector<std::size_t> known;
  std::vector<double> first, other;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i].value && second < out[i].metrics.size() && out[i].metrics[second]) {
      known.push_back(i);
      first.push_back(*out[i].value);
      other.push_back(*out[i].metrics[second]);
    }
    out[i].value.reset();
  }
  if (known.empty()) return out;
  first = normalised(first, maximize);
  other = normalised(other, maximize_second);
  for (std::size_t k = 0; k < known.size(); ++k) {
    const double a = weight * first[k], b = (1 - weight) * other[k];
    out[known[k]].value = std::max(a, b) + kAugmentation * (a + b);
  }
  return out;
}

}  // namespace perflab::tune
