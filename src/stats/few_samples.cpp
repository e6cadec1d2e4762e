// Counts of the rank test's orders (Mann and Whitney 1947): each is as likely as the others.
#include "stats/few_samples.h"

namespace perflab::stats {

bool can_decide(std::size_t a, std::size_t b, double confidence) {
  const double most = (1 - confidence) / 2;
  double chance = 2;
  for (std::size_t i = 1; i <= a && chance > most; ++i)
    chance *= static_cast<double>(i) / static_cast<double>(b + i);
  return chance <= most;
}

std::size_t fewest_to_decide(double confidence) {
  std::size_t samples = 1;
  while (!can_decide(samples, samples, confidence)) ++samples;
  return samples;
}

}  // namespace perflab::stats
