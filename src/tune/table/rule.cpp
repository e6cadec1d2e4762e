// Two ways to a tree of at most so many leaves: all trees by dynamic programming over the sets of
// problems that questions can make (their number is what bounds it: boxes of the sizes), and, where
// those are too many, the question that gains most, again and again.
#include "tune/table/rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/text/numbers.h"

namespace perflab::tune {
namespace {

/// Additions and comparisons that the search of all trees may take: a fraction of a
/// second.
constexpr std::uint64_t kMostSteps = 50'000'000;
/// What a look at two parts of a set counts for: they are made and found in maps.
constexpr std::uint64_t kStepsOfLook = 64;
/// Products and ratios pay where the mean loss is lower by this, as a logarithm.
constexpr double kPays = 0.001;
/// Products and ratios that are nearer are one value: they are rounded.
constexpr double kLeastStep = 1 + 1e-9;

/// Between two neighbouring values: their geometric mean, in as few digits (three at least) as
/// keep it between them.
double between(double low, double high) {
  const double middle = std::sqrt(low) * std::sqrt(high);
  for (int digits = 3; digits < 17; ++digits)
    if (const auto shorter = finite_number(fmt::format("{:.{}g}", middle, digits));
        shorter && *shorter > low && *shorter < high)
      return *shorter;
  return high;
}

/// A question with the sets that it makes of one.
struct Parts {
  Feature feature;
  double below = 0;
  ProblemSet yes, no;
};

/// Values of a feature, ascending, with the places of their problems.
using Order = std::vector<std::pair<double, std::uint16_t>>;

Order ordered(const MeasuredProblems& measured, const Feature& feature, const ProblemSet& set) {
  Order order;
  for (const std::uint16_t p : set) order.emplace_back(feature.of(measured.problems[p].size), p);
  std::ranges::sort(order);
  return order;
}

/// The question that has the first `count` of an order below it; nothing: they cannot be told
/// apart.
std::optional<double> cut_behind(const Feature& feature, const Order& order, std::size_t count) {
  const double low = order[count - 1].first, high = order[count].first;
  const double step = feature.kind == Feature::Kind::size ? 1 : kLeastStep;
  return high > low * step ? std::optional(between(low, high)) : std::nullopt;
}

ProblemSet part_of(const Order& order, std::size_t begin, std::size_t end) {
  ProblemSet set;
  for (std::size_t i = begin; i < end; ++i) set.push_back(order[i].second);
  std::ranges::sort(set);
  return set;
}

/// Trees over one list of features.
class Trees {
 public:
  Trees(const MeasuredProblems& measured, std::vector<Feature> features, LeafCosts& costs,
        ProblemSet problems, bool exact)
      : measured_(measured),
        features_(std::move(features)),
        costs_(costs),
        problems_(std::move(problems)),
        exact_(exact) {}

  /// A tree of at most so many leaves.
  Rule of(std::size_t leaves) {
    if (exact_) {
      const Plan whole = plan(problems_, leaves);
      if (exact_) {
        Rule rule{.nodes = {}, .cost = whole.cost};
        build(problems_, leaves, rule.nodes);
        return rule;
      }
    }
    return grown(leaves);
  }
  /// Whether all trees were tried so far.
  [[nodiscard]] bool exact() const { return exact_; }

 private:
  /// The best tree of at most so many leaves over a set: a leaf, or a question.
  struct Plan {
    Cost cost;
    std::optional<Parts> parts{};
    std::size_t leaves_of_yes = 0, leaves_of_no = 0;
  };
  /// Calls look(Parts) for each question that splits the set.
  template <class Look>
  void for_each_question(const ProblemSet& set, const Look& look) const {
    for (const Feature& feature : features_) {
      const Order order = ordered(measured_, feature, set);
      for (std::size_t i = 1; i < order.size(); ++i)
        if (const auto below = cut_behind(feature, order, i))
          look(Parts{.feature = feature,
                     .below = *below,
                     .yes = part_of(order, 0, i),
                     .no = part_of(order, i, order.size())});
    }
  }

  void spend(std::uint64_t steps) {
    steps_ += steps;
    if (steps_ > kMostSteps) exact_ = false;
  }

  /// Once the steps are spent what it returns means nothing.
  Plan plan(const ProblemSet& set, std::size_t leaves) {
    leaves = std::min(leaves, set.size());
    std::vector<Plan>& known = plans_[set];  // nodes of a map stay where they are
    if (known.empty()) {
      spend(set.size() * costs_.candidates());
      known.push_back({.cost = costs_.of(set).cost});
    }
    while (exact_ && known.size() < leaves) {
      Plan best = known.back();
      if (Cost{}.better_than(best.cost)) improve(set, known.size() + 1, best);
      known.push_back(std::move(best));
    }
    return known[std::min(leaves, known.size()) - 1];
  }

  /// Looks for a better tree of exactly so many leaves.
  void improve(const ProblemSet& set, std::size_t leaves, Plan& best) {
    for_each_question(set, [&](const Parts& parts) {
      for (std::size_t of_yes = 1; exact_ && of_yes < leaves; ++of_yes) {
        const std::size_t of_no = leaves - of_yes;
        if (of_yes > parts.yes.size() || of_no > parts.no.size()) continue;
        spend(kStepsOfLook + set.size());
        const Cost cost = plan(parts.yes, of_yes).cost + plan(parts.no, of_no).cost;
        if (cost.better_than(best.cost))
          best = {.cost = cost, .parts = parts, .leaves_of_yes = of_yes, .leaves_of_no = of_no};
      }
    });
  }

  std::size_t build(const ProblemSet& set, std::size_t leaves, std::vector<RuleNode>& nodes) {
    const Plan found = plan(set, leaves);
    const std::size_t at = add_leaf(set, nodes);
    if (!found.parts) return at;
    const std::size_t yes = build(found.parts->yes, found.leaves_of_yes, nodes);
    const std::size_t no = build(found.parts->no, found.leaves_of_no, nodes);
    nodes[at].question = {
        .feature = found.parts->feature, .below = found.parts->below, .yes = yes, .no = no};
    return at;
  }

  std::size_t add_leaf(const ProblemSet& set, std::vector<RuleNode>& nodes) {
    nodes.push_back({.configuration = costs_.of(set).configuration, .problems = set});
    return nodes.size() - 1;
  }

  /// The question after which this set costs least; the first of equal ones.
  const Plan& best_question(const ProblemSet& set) {
    const auto [found, fresh] = questions_.try_emplace(set);
    if (!fresh) return found->second;
    Plan& best = found->second;
    for (const Feature& feature : features_) {
      const Order order = ordered(measured_, feature, set);
      std::vector<std::uint16_t> places;
      for (const auto& [value, place] : order) places.push_back(place);
      const std::vector<Cost> below = costs_.of_beginnings(places);
      std::ranges::reverse(places);
      const std::vector<Cost> above = costs_.of_beginnings(places);
      for (std::size_t i = 1; i < order.size(); ++i) {
        const auto cut = cut_behind(feature, order, i);
        const Cost cost = below[i - 1] + above[order.size() - i - 1];
        if (!cut || (best.parts && !cost.better_than(best.cost))) continue;
        best = {.cost = cost,
                .parts = Parts{.feature = feature,
                               .below = *cut,
                               .yes = part_of(order, 0, i),
                               .no = part_of(order, i, order.size())}};
      }
    }
    return best;
  }

  /// Splits the leaf after which all cost least, until there are so many; the first of equal ones.
  Rule grown(std::size_t leaves) {
    Rule rule{.nodes = {}, .cost = {}, .exact = false};
    add_leaf(problems_, rule.nodes);
    for (std::size_t count = 1; count < leaves; ++count) {
      std::optional<std::size_t> next;
      Cost best;
      for (std::size_t at = 0; at < rule.nodes.size(); ++at) {
        const RuleNode& node = rule.nodes[at];
        if (node.question || !Cost{}.better_than(costs_.of(node.problems).cost)) continue;
        const Cost total = cost_with(rule.nodes, at);
        if (!next || total.better_than(best)) {
          next = at;
          best = total;
        }
      }
      if (!next) break;
      split(rule.nodes, *next);
    }
    std::vector<RuleNode> kept;
    rule.cost = keep(rule.nodes, 0, kept);
    rule.nodes = std::move(kept);
    return rule;
  }

  /// The cost of all leaves when this one is split.
  Cost cost_with(const std::vector<RuleNode>& nodes, std::size_t split) {
    Cost total = best_question(nodes[split].problems).cost;
    for (std::size_t at = 0; at < nodes.size(); ++at)
      if (at != split && !nodes[at].question) total = total + costs_.of(nodes[at].problems).cost;
    return total;
  }

  void split(std::vector<RuleNode>& nodes, std::size_t at) {
    const Parts parts = *best_question(nodes[at].problems).parts;
    const std::size_t yes = add_leaf(parts.yes, nodes), no = add_leaf(parts.no, nodes);
    nodes[at].question = {.feature = parts.feature, .below = parts.below, .yes = yes, .no = no};
  }

  /// Copies what is below a node, in the order in which it is asked, without questions that gain
  /// nothing; its cost.
  Cost keep(const std::vector<RuleNode>& from, std::size_t at, std::vector<RuleNode>& to) {
    const RuleNode& node = from[at];
    const Cost as_leaf = costs_.of(node.problems).cost;
    const std::size_t place = to.size();
    to.push_back({.configuration = node.configuration, .problems = node.problems});
    if (!node.question) return as_leaf;
    RuleNode::Question question = *node.question;
    const std::size_t yes = to.size();
    Cost cost = keep(from, question.yes, to);
    question.no = to.size();
    cost = cost + keep(from, node.question->no, to);
    question.yes = yes;
    if (!cost.better_than(as_leaf)) {
      to.resize(place + 1);
      return as_leaf;
    }
    to[place].question = question;
    return cost;
  }

  const MeasuredProblems& measured_;
  std::vector<Feature> features_;
  LeafCosts& costs_;
  ProblemSet problems_;
  bool exact_;
  std::uint64_t steps_ = 0;
  std::map<ProblemSet, std::vector<Plan>> plans_;
  std::map<ProblemSet, Plan> questions_;
};

std::vector<Feature> features_of(std::size_t sizes, bool pairs) {
  std::vector<Feature> features;
  for (std::size_t i = 0; i < sizes; ++i) features.push_back({.first = i});
  for (std::size_t i = 0; pairs && i < sizes; ++i)
    for (std::size_t j = i + 1; j < sizes; ++j) {
      features.push_back({.kind = Feature::Kind::product, .first = i, .second = j});
      features.push_back({.kind = Feature::Kind::ratio, .first = i, .second = j});
    }
  return features;
}

}  // namespace

double Feature::of(std::span<const double> size) const {
  if (kind == Kind::size) return size[first];
  return kind == Kind::product ? size[first] * size[second] : size[first] / size[second];
}

bool Rule::within(double loss) const {
  const auto problems = static_cast<double>(nodes.front().problems.size());
  return cost.uncovered == 0 && cost.regret <= std::log1p(loss) * problems + kLossRounding;
}

const RuleNode& Rule::leaf_of(std::span<const double> size) const {
  std::size_t at = 0;
  while (const auto& question = nodes[at].question)
    at = question->feature.of(size) < question->below ? question->yes : question->no;
  return nodes[at];
}

Learned learn_rule(const MeasuredProblems& measured, const ProblemSet& problems,
                   const RuleOptions& options) {
  LeafCosts costs(measured, problems);
  const std::size_t sizes = measured.sizes.size();
  Trees plain(measured, features_of(sizes, false), costs, problems, options.exact[0]);
  Trees with_pairs(measured, features_of(sizes, true), costs, problems, options.exact[1]);
  Rule best = plain.of(1);
  const std::size_t leaves = std::min(options.leaves, problems.size());
  for (std::size_t k = 2; k <= leaves && !best.within(options.loss); ++k) {
    Rule next = plain.of(k);
    if (sizes > 1 && !next.within(options.loss)) {
      Rule other = with_pairs.of(k);
      Cost margin = other.cost;
      margin.regret += kPays * static_cast<double>(problems.size());
      if (other.within(options.loss) || margin.better_than(next.cost)) next = std::move(other);
    }
    if (next.cost.better_than(best.cost)) best = std::move(next);
  }
  return {.rule = std::move(best),
          .single = costs.of(problems).configuration,
          .exact = {plain.exact(), with_pairs.exact()}};
}

}  // namespace perflab::tune
