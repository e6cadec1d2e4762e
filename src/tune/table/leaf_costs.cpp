#include "tune/table/leaf_costs.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace perflab::tune {
namespace {

struct Candidate {
  std::size_t configuration = 0;
  Cost cost;            ///< over all problems
  ProblemSet worked{};  ///< for which it did
};

/// Whether `other` is at least as good wherever `one` worked.
bool dominated(const MeasuredProblems& measured, const Candidate& one, std::size_t other) {
  return std::ranges::all_of(one.worked, [&](std::uint16_t p) {
    const std::vector<double>& regrets = measured.problems[p].regrets;
    return regrets[other] <= regrets[one.configuration];  // NaN is not
  });
}

/// Whatever dominates a configuration comes before it: it worked for as many problems at least,
/// and for the same ones if for no more.
std::vector<std::size_t> undominated(const MeasuredProblems& measured, const ProblemSet& problems) {
  std::vector<Candidate> all;
  for (std::size_t c = 0; c < measured.configurations.size(); ++c) {
    Candidate one{.configuration = c, .cost = {}};
    for (const std::uint16_t p : problems) {
      const double regret = measured.problems[p].regrets[c];
      if (std::isnan(regret)) {
        ++one.cost.uncovered;
      } else {
        one.cost.regret += regret;
        one.worked.push_back(p);
      }
    }
    if (!one.worked.empty()) all.push_back(std::move(one));
  }
  std::ranges::stable_sort(all, [](const Candidate& a, const Candidate& b) {
    return std::pair(a.cost.uncovered, a.cost.regret) < std::pair(b.cost.uncovered, b.cost.regret);
  });
  std::vector<std::size_t> kept;
  for (const Candidate& one : all)
    if (std::ranges::none_of(kept,
                             [&](std::size_t other) { return dominated(measured, one, other); }))
      kept.push_back(one.configuration);
  std::ranges::sort(kept);
  return kept;
}

}  // namespace

bool Cost::better_than(const Cost& other) const {
  if (uncovered != other.uncovered) return uncovered < other.uncovered;
  return regret < other.regret - kLossRounding;
}

class LeafCosts::Sums {
 public:
  explicit Sums(const LeafCosts& costs)
      : costs_(costs), uncovered_(costs.candidates()), regret_(costs.candidates()) {}

  void add(std::uint16_t problem) {
    const std::vector<double>& row = costs_.regrets_[problem];
    for (std::size_t k = 0; k < row.size(); ++k) {
      const bool works = row[k] == row[k];  // not NaN; compilers make vectors of this loop
      uncovered_[k] += works ? 0U : 1U;
      regret_[k] += works ? row[k] : 0.0;
    }
  }
  [[nodiscard]] Leaf best() const {
    std::size_t best = 0;
    for (std::size_t k = 1; k < regret_.size(); ++k)
      if (uncovered_[k] < uncovered_[best] ||
          (uncovered_[k] == uncovered_[best] && regret_[k] < regret_[best]))
        best = k;
    return {.cost = {.uncovered = uncovered_[best], .regret = regret_[best]},
            .configuration = costs_.candidates_[best]};
  }

 private:
  const LeafCosts& costs_;
  std::vector<std::uint32_t> uncovered_;
  std::vector<double> regret_;
};

LeafCosts::LeafCosts(const MeasuredProblems& measured, const ProblemSet& problems)
    : candidates_(undominated(measured, problems)), regrets_(measured.problems.size()) {
  for (const std::uint16_t p : problems)
    for (const std::size_t c : candidates_) regrets_[p].push_back(measured.problems[p].regrets[c]);
}

const Leaf& LeafCosts::of(const ProblemSet& problems) {
  const auto [found, fresh] = known_.try_emplace(problems);
  if (fresh) {
    Sums sums(*this);
    for (const std::uint16_t p : problems) sums.add(p);
    found->second = sums.best();
  }
  return found->second;
}

std::vector<Cost> LeafCosts::of_beginnings(std::span<const std::uint16_t> problems) const {
  Sums sums(*this);
  std::vector<Cost> costs;
  for (const std::uint16_t p : problems) {
    sums.add(p);
    costs.push_back(sums.best().cost);
  }
  return costs;
}

}  // namespace perflab::tune
