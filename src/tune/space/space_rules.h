// The expressions of a space, compiled and put in order: which parameters a rule hangs on, through
// derived values too, and when each can be tested. Private to src/tune/space.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "tune/space/expression.h"
#include "tune/space/space_description.h"
#include "tune/values/value.h"

namespace perflab::tune {

/// A restriction or a device limit.
struct Rule {
  CompiledExpression test;
  std::string name;  ///< its text, or the limit in words
  bool device_limit = false;
  std::vector<std::size_t> parameters;  ///< that it hangs on, ascending
  std::vector<std::size_t> needs;       ///< derived values that it needs, in computing order
};

/// Slots of all expressions: the parameters, then the derived values, in declared order.
struct SpaceRules {
  std::vector<CompiledExpression> derived;  ///< in declared order
  std::vector<std::size_t> derived_order;   ///< in which they can be computed
  std::vector<Rule> rules;                  ///< restrictions, then device limits

  /// Errors (bad_input): an expression that does not compile, derived values in a circle.
  static Result<SpaceRules> compile(const SpaceDescription& description);
};

/// "FILE: " or nothing, to begin a message with.
std::string message_start(const SpaceDescription& description);

/// The message without line ends and other control characters, which names and values may have.
Error on_one_line(Error error);

/// What to do once one more parameter has its value.
class RulePlan {
 public:
  /// `order`: parameters as they are bound. Both must outlive the plan.
  RulePlan(const SpaceDescription& description, const SpaceRules& rules,
           std::span<const std::size_t> order);

  /// Tests everything that can be tested once `bound` parameters of the order have values (0: what
  /// needs none). The number of the rule that forbids the combination; nothing: none does. Derived
  /// values are put into their slots. Error (bad_input): an expression fails; it names the values.
  /// `work` grows by what the expressions cost (CompiledExpression::evaluate).
  Result<std::optional<std::size_t>> test(std::size_t bound, std::vector<Value>& slots,
                                          std::size_t& work) const;
  [[nodiscard]] bool has_tests(std::size_t bound) const { return !steps_[bound].empty(); }

 private:
  struct Step {
    bool derive = false;
    std::size_t index = 0;  ///< of derived values or of rules
  };
  const SpaceDescription* description_;
  const SpaceRules* rules_;
  std::vector<std::vector<Step>> steps_;
};

/// The error of an expression that failed, with the values that it read.
Error failed_for(const SpaceDescription& description, const CompiledExpression& expression,
                 Error error, std::span<const Value> slots);

}  // namespace perflab::tune
