// Expressions of search spaces: parsed, never handed to an interpreter, with Python's meaning
// (https://docs.python.org/3/reference/expressions.html): chained comparisons, `/` is true
// division, `//` and `%` round towards minus infinity, `and`/`or` give an operand.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tune/values/value.h"

namespace perflab::tune {

struct ExpressionNode;

/// An expression whose names are bound to slots: values come as one array per evaluation, which
/// makes it fast enough for millions of combinations.
class CompiledExpression {
 public:
  /// `names`: what may be named; slot i is names[i]. Takes: int, float, bool, string literals;
  /// names; + - * / // % ** << >> & | ^, unary - + ~ not; comparisons, chained too; in, not in
  /// (lists, tuples, ranges, strings); and, or; a if c else b; parentheses, lists, tuples; min,
  /// max, abs, int, float, bool, round, len, sum, any, all, range, list, tuple,
  /// math.log2/ceil/floor/sqrt; list and generator comprehensions.
  /// Errors (bad_input): syntax (with the column), an unknown name or function.
  static Result<CompiledExpression> compile(std::string_view text,
                                            std::span<const std::string> names);

  /// Errors (bad_input): division by zero, overflow of 64 bits, a type that the operator does not
  /// take, a result that is no single value; the message names the expression.
  /// `work` grows by what it costs: the nodes of its tree and the list elements it went through.
  [[nodiscard]] Result<Value> evaluate(std::span<const Value> slots,
                                       std::size_t* work = nullptr) const;
  /// Truth of the value, as Python has it.
  [[nodiscard]] Result<bool> holds(std::span<const Value> slots, std::size_t* work = nullptr) const;

  [[nodiscard]] const std::string& text() const { return text_; }
  /// Slots that the expression reads, ascending.
  [[nodiscard]] const std::vector<std::size_t>& used() const { return used_; }

 private:
  CompiledExpression() = default;

  std::string text_;
  std::vector<std::size_t> used_;
  std::shared_ptr<const ExpressionNode> root_;
  std::shared_ptr<const void> constants_;  ///< owner of what the tree's constants point to
  std::size_t locals_ = 0;
  std::size_t nodes_ = 0;
};

/// The values of a list expression without names, as T1 has them: "[32*i for i in range(1,32)]",
/// "[1]+[2*i for i in range(1,11)]", "list(range(32,1024+1,32))". At most `most` values. Errors as
/// evaluate(); also: not a list.
Result<std::vector<Value>> evaluate_list(std::string_view text, std::size_t most = 65'535);

}  // namespace perflab::tune
