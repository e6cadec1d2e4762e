// The rule of a dispatch table: a binary decision tree over the sizes of a problem with one
// configuration in each leaf, and how it is learned. Pure: problems in, tree out.
// docs/models/autotuning.md "Dispatch tables" has the model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "tune/table/leaf_costs.h"
#include "tune/table/measured.h"

namespace perflab::tune {

/// What a question of the rule is about: a size, or the product or ratio of two.
struct Feature {
  enum class Kind : std::uint8_t { size, product, ratio };
  Kind kind = Kind::size;
  std::size_t first = 0, second = 0;  ///< places of sizes; `second` of a size is not used
  friend bool operator==(const Feature&, const Feature&) = default;

  [[nodiscard]] double of(std::span<const double> size) const;
};

/// A question or a leaf.
struct RuleNode {
  struct Question {
    Feature feature;
    double below = 0;             ///< yes: the feature is below this
    std::size_t yes = 0, no = 0;  ///< places of nodes
  };
  std::optional<Question> question{};  ///< none: a leaf
  std::size_t configuration = 0;       ///< of a leaf
  ProblemSet problems{};               ///< that it was learned from
};

struct Rule {
  std::vector<RuleNode> nodes;  ///< the first is asked first; yes before no
  Cost cost;
  bool exact = true;  ///< no tree of as many leaves is better; false: grown question by question

  [[nodiscard]] std::size_t leaves() const { return (nodes.size() + 1) / 2; }
  /// Whether it covers every problem, and its mean loss is at most this.
  [[nodiscard]] bool within(double loss) const;
  /// The leaf of these sizes.
  [[nodiscard]] const RuleNode& leaf_of(std::span<const double> size) const;
};

struct RuleOptions {
  /// At most so many leaves.
  std::size_t leaves = std::numeric_limits<std::size_t>::max();
  /// The smallest tree whose mean loss is within this is taken; 0.01 is 1 %.
  double loss = 0;
  /// Whether all trees may be tried: with sizes alone, with products and ratios too.
  std::array<bool, 2> exact = {true, true};
};

/// The rule for these problems, and what of it was too much to try all trees.
struct Learned {
  Rule rule;
  std::size_t single = 0;                    ///< the configuration that is best for all of them
  std::array<bool, 2> exact = {true, true};  ///< as RuleOptions::exact
};
/// Trees grow leaf by leaf until one is within the loss, or has the most leaves. Products and
/// ratios are asked only where they pay: where sizes alone, with as many leaves, are not within the
/// loss, and they are, or lose at least 0.1 % more on average. Precondition: a problem.
Learned learn_rule(const MeasuredProblems& measured, const ProblemSet& problems,
                   const RuleOptions& options);

}  // namespace perflab::tune
