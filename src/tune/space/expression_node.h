// The tree of a parsed expression. Private to src/tune/space.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tune/space/expression_item.h"

namespace perflab::tune {

enum class NodeKind {
  constant,
  name,   ///< not resolved yet: the parser's
  slot,   ///< index: of the values that evaluate() is given
  local,  ///< index: a variable of a comprehension
  list,
  tuple,
  unary,
  binary,
  logical_and,
  logical_or,
  conditional,    ///< children: value, condition, other value
  compare,        ///< children: operands, one more than compares
  call,           ///< children: arguments
  comprehension,  ///< a list; child: element
  generator,      ///< child: element
};

struct ExpressionNode {
  using Pointer = std::unique_ptr<ExpressionNode>;
  /// "for VARIABLE in ITERABLE if CONDITION if CONDITION".
  struct Clause {
    std::string variable;
    std::size_t local = 0;
    Pointer iterable;
    std::vector<Pointer> conditions;
  };

  NodeKind kind = NodeKind::constant;
  BinaryOp binary_op = BinaryOp::add;
  UnaryOp unary_op = UnaryOp::plus;
  Function function = Function::min;
  std::size_t index = 0;   ///< slot or local
  std::size_t column = 0;  ///< of its first character, counted from 1
  std::size_t depth = 1;
  Item constant;
  std::string name;
  std::vector<Pointer> children;
  std::vector<CompareOp> compares;
  std::vector<Clause> clauses;
};

/// What a text was parsed to. Constants of the tree live in the arena.
struct ParsedExpression {
  ExpressionNode::Pointer root;
  std::shared_ptr<Arena> arena;
  std::size_t locals = 0;
  std::size_t nodes = 0;          ///< of the tree
  std::vector<std::size_t> used;  ///< slots, ascending
};

/// Errors (bad_input): those of CompiledExpression::compile().
Result<ParsedExpression> parse_expression(std::string_view text,
                                          std::span<const std::string> names);

/// The value of a node. Failed: machine.why() says how.
Item run_node(ExpressionRun& machine, const ExpressionNode& node);

/// The text as messages quote it: not more than a line of it.
std::string shown_text(std::string_view text);

}  // namespace perflab::tune
