// Every configuration is run as seldom as possible at first. Then the one whose next run promises
// most is run again, as long as that is more than what the model expects of a new configuration:
// the knowledge gradient (Frazier, Powell, Dayanik, SIAM J. Control Optim. 47, 2008; Chick, Branke,
// Schmidt, INFORMS J. Comput. 22, 2010). So near-ties at the top get more runs and what is clearly
// worse none, as in races (Maron, Moore, NIPS 1993; F-race: Birattari et al., GECCO 2002) and in
// OCBA (Chen et al., Discrete Event Dyn. Syst. 10, 2000); and a new best is run again before its
// only reading is believed, as incumbents are in SMAC and irace.
#include "tune/search/racing.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stats/shares.h"
#include "stats/summary.h"

namespace perflab::tune {
namespace {

/// Those that can be the best, and those whose spread is that of the best.
constexpr std::size_t kRivals = 10;
constexpr std::size_t kPooled = 20;
/// Assumed of a run before anything ran twice (the recorded spaces have 0.001 to 0.026,
/// docs/facts/tuning.md "Noise"), and as how many runs that counts. Of 0.01 early runs are wasted
/// where there is no noise: .003 less after 25.
constexpr double kAssumedSpread = 0.003;
constexpr double kAssumedRuns = 2;
/// The best one is doubted as if it were tied until it has so many runs: of many readings the least
/// is a lucky one.
constexpr std::size_t kDoubtedBelow = 2;

/// Less than this share is not worth a run (the indifference zone of Kim and Nelson, ACM TOMACS 11,
/// 2001): with nothing left to expect, ties would run up to the last.
constexpr double kIndifferent = 2e-4;

/// E[max(0, Z - x)] of a standard normal Z.
double normal_loss(double x) {
  return std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi) - x * stats::normal_share(-x);
}

}  // namespace

void Racing::add(ConfigId id, double value) {
  runs_[id].push_back(value);
}

std::optional<double> Racing::value(ConfigId id) const {
  const auto found = runs_.find(id);
  return found == runs_.end() ? std::nullopt : stats::summarize(found->second).median;
}

std::size_t Racing::runs(ConfigId id) const {
  const auto found = runs_.find(id);
  return found == runs_.end() ? 0 : found->second.size();
}

/// The best ones, best first; none when a value has no logarithm.
std::vector<Racing::Rival> Racing::ranked() const {
  std::vector<Rival> all;
  for (const auto& [id, values] : runs_) {
    const std::optional<double> median = stats::summarize(values).median;
    if (!median || !(*std::ranges::min_element(values) > 0)) return {};
    const double loss = std::log(*median);
    all.push_back({.id = id, .loss = maximize_ ? -loss : loss, .runs = values.size()});
  }
  std::ranges::stable_sort(all, {}, &Rival::loss);
  if (all.size() > kPooled) all.resize(kPooled);
  return all;
}

Racing::Pooled Racing::pooled(const std::vector<Rival>& ranked) const {
  double squares = kAssumedRuns * kAssumedSpread * kAssumedSpread;
  double degrees = kAssumedRuns;
  for (const Rival& rival : ranked) {
    const std::vector<double>& values = runs_.at(rival.id);
    double mean = 0;
    for (const double value : values) mean += std::log(value) / static_cast<double>(rival.runs);
    for (const double value : values)
      squares += (std::log(value) - mean) * (std::log(value) - mean);
    degrees += static_cast<double>(rival.runs - 1);
  }
  return {.spread = std::sqrt(squares / degrees), .measured = degrees > kAssumedRuns};
}

std::optional<double> Racing::spread() const {
  const Pooled found = pooled(ranked());
  return found.measured ? std::optional(found.spread) : std::nullopt;
}

std::vector<ConfigId> Racing::next(double expected_gain, std::size_t most) const {
  const std::vector<Rival> rivals = ranked();
  if (rivals.size() < 2) return {};
  const double spread = pooled(rivals).spread;
  struct Worth {
    ConfigId id = 0;
    double gain = 0;
  };
  std::vector<Worth> worth;
  for (std::size_t i = 0; i < std::min(kRivals, rivals.size()); ++i) {
    const Rival& rival = rivals[i];
    if (rival.runs >= most_runs_ || left_.contains(rival.id)) continue;
    // What one more run moves its mean by, and how far it is from taking or losing the first place.
    const auto runs = static_cast<double>(rival.runs);
    const double moves = spread / std::sqrt(runs * (runs + 1));
    double distance = std::abs(rival.loss - rivals[i == 0 ? 1 : 0].loss);
    if (i == 0 && rival.runs < kDoubtedBelow) distance = 0;
    const double gain = moves * normal_loss(distance / moves);
    if (gain > std::max(expected_gain, kIndifferent))
      worth.push_back({.id = rival.id, .gain = gain});
  }
  std::ranges::stable_sort(worth, [](const Worth& a, const Worth& b) {
    return a.gain != b.gain ? a.gain > b.gain : a.id < b.id;
  });
  if (worth.size() > most) worth.resize(most);
  std::vector<ConfigId> ids;
  for (const Worth& one : worth) ids.push_back(one.id);
  return ids;
}

}  // namespace perflab::tune
