// The pairs are drawn with a fixed seed, so that the table does not change from call to call.
#include "tune/model/importance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "tune/model/search_random.h"

namespace perflab::tune {
namespace {

constexpr std::size_t kPairs = 256;
constexpr std::uint64_t kPairSeed = 0x50b01;

/// Predicted value of the worst allowed level over that of the best, others as in `best`.
double worst_over_best(const Encoding& encoding, const Posterior& posterior, const Targets& targets,
                       std::size_t dimension, ConfigId best) {
  const Dimension& of = encoding.dimensions()[dimension];
  const Space& space = encoding.space();
  std::vector<Level> row(space.levels(best).begin(), space.levels(best).end());
  double low = targets.loss(posterior.mean_at(encoding.codes(best)));
  double high = low;
  for (std::size_t level = 0; level < of.code.size(); ++level) {
    row[of.parameter] = static_cast<Level>(level);
    const auto id = space.find(row);
    if (!id) continue;
    const double loss = targets.loss(posterior.mean_at(encoding.codes(*id)));
    low = std::min(low, loss);
    high = std::max(high, loss);
  }
  // A logarithmic loss grows by the logarithm of the ratio, whether more or less is better.
  if (targets.scale.logarithmic) return std::exp(high - low);
  return high > low ? 1 + (high - low) / std::max(std::abs(high), std::abs(low)) : 1;
}

}  // namespace

std::vector<Importance> importance_of(const Encoding& encoding, const Posterior& posterior,
                                      const Targets& targets, ConfigId best) {
  const std::size_t count = encoding.dimensions().size();
  std::vector<double> effects(count, 0);
  Random random(kPairSeed);
  const std::size_t size = encoding.space().size();
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    const std::vector<Level> row = encoding.codes(static_cast<ConfigId>(random.below(size)));
    const std::vector<Level> other = encoding.codes(static_cast<ConfigId>(random.below(size)));
    const double mean = posterior.mean_at(row);
    for (std::size_t d = 0; d < count; ++d) {
      if (row[d] == other[d]) continue;
      std::vector<Level> changed = row;
      changed[d] = other[d];
      encoding.settle(changed);
      const double change = posterior.mean_at(changed) - mean;
      effects[d] += change * change;
    }
  }
  double sum = 0;
  for (const double effect : effects) sum += effect;
  std::vector<Importance> table;
  for (std::size_t d = 0; d < count; ++d)
    table.push_back({.parameter = encoding.dimensions()[d].parameter,
                     .share = sum > 0 ? effects[d] / sum : 0,
                     .best_to_worst = worst_over_best(encoding, posterior, targets, d, best)});
  std::ranges::stable_sort(table, std::ranges::greater{}, &Importance::share);
  return table;
}

}  // namespace perflab::tune
