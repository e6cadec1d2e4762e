// Evaluates expressions by walking their tree. Nothing is allocated but for lists, strings and
// variables of comprehensions: a comparison of numbers takes well under 100 ns.
#include "tune/space/expression.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "tune/space/expression_node.h"

namespace perflab::tune {
namespace {

using Node = ExpressionNode;

Item item_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return Item(*whole);
  if (const auto* flag = std::get_if<bool>(&value)) return Item(*flag);
  if (const auto* real = std::get_if<double>(&value)) return Item(*real);
  return Item(&std::get<std::string>(value));
}

/// The clauses of a comprehension as nested loops. False: failed.
class Loops {
 public:
  Loops(ExpressionRun& machine, const Node& node, const EachItem& visit)
      : machine_(machine), node_(node), visit_(visit) {}

  bool run() {
    // The first visitor that wants no more ends all loops; a failure does too.
    run_from(0);
    return machine_.why().empty();
  }

 private:
  /// False: end the loops outside too.
  bool run_from(std::size_t index) {
    if (index == node_.clauses.size()) {
      const Item element = run_node(machine_, *node_.children[0]);
      return !is_failed(element) && visit_(element);
    }
    const Node::Clause& clause = node_.clauses[index];
    const Item iterable = run_node(machine_, *clause.iterable);
    if (is_failed(iterable)) return false;
    bool more = true;
    const bool walked = for_each_item(machine_, iterable, [&](const Item& item) {
      machine_.local(clause.local) = item;
      for (const Node::Pointer& condition : clause.conditions) {
        const Item holds = run_node(machine_, *condition);
        if (is_failed(holds)) return more = false;
        if (!truth(holds)) return true;
      }
      return more = run_from(index + 1);
    });
    return walked && more;
  }

  ExpressionRun& machine_;
  const Node& node_;
  const EachItem& visit_;
};

Item run_generator(ExpressionRun& machine, const Node& node, Function function) {
  Collector collector(machine, function);
  const EachItem add = [&](const Item& item) { return collector.add(item); };
  if (!Loops(machine, node, add).run()) return Failed{};
  return collector.result();
}

/// Values of all children; nothing: one failed.
std::optional<std::vector<Item>> run_children(ExpressionRun& machine, const Node& node) {
  std::vector<Item> items;
  items.reserve(node.children.size());
  for (const Node::Pointer& child : node.children) {
    items.push_back(run_node(machine, *child));
    if (is_failed(items.back())) return std::nullopt;
  }
  return items;
}

Item run_call(ExpressionRun& machine, const Node& node) {
  if (node.children.size() == 1 && node.children[0]->kind == NodeKind::generator &&
      is_collecting(node.function))
    return run_generator(machine, *node.children[0], node.function);
  const std::optional<std::vector<Item>> arguments = run_children(machine, node);
  return arguments ? call(machine, node.function, *arguments) : Item(Failed{});
}

Item run_sequence(ExpressionRun& machine, const Node& node) {
  std::optional<std::vector<Item>> items = run_children(machine, node);
  if (!items || !machine.work(items->size())) return Failed{};
  const Item list = machine.make_list(std::move(*items));
  if (is_failed(list) || node.kind == NodeKind::list) return list;
  return Item(TupleItem{std::get<ListItem>(list).items});
}

/// a < b < c: every operand once, and none after the first comparison that does not hold.
Item run_compare(ExpressionRun& machine, const Node& node) {
  Item left = run_node(machine, *node.children[0]);
  if (is_failed(left)) return left;
  for (std::size_t i = 0; i < node.compares.size(); ++i) {
    const Item right = run_node(machine, *node.children[i + 1]);
    if (is_failed(right)) return right;
    const Item holds = compare(machine, node.compares[i], left, right);
    if (is_failed(holds) || !std::get<bool>(holds)) return holds;
    left = right;
  }
  return Item(true);
}

/// and, or: the operand that decides.
Item run_logical(ExpressionRun& machine, const Node& node) {
  Item last = Failed{};
  for (const Node::Pointer& child : node.children) {
    last = run_node(machine, *child);
    if (is_failed(last) || truth(last) == (node.kind == NodeKind::logical_or)) return last;
  }
  return last;
}

Result<Value> value_of(ExpressionRun& machine, const Item& item) {
  if (const auto* whole = std::get_if<std::int64_t>(&item)) return Value(*whole);
  if (const auto* flag = std::get_if<bool>(&item)) return Value(*flag);
  if (const auto* const* text = std::get_if<const std::string*>(&item)) return Value(**text);
  if (const auto* real = std::get_if<double>(&item)) {
    if (std::isfinite(*real)) return Value(*real);
    machine.failed("the result is not a finite number");
  }
  if (!is_failed(item)) machine.failed(fmt::format("the result is {}", kind_of(item)));
  return fail(ErrorCode::bad_input, machine.why());
}

}  // namespace

Item run_node(ExpressionRun& machine, const Node& node) {
  switch (node.kind) {
    case NodeKind::constant:
      return node.constant;
    case NodeKind::slot:
      return item_of(machine.slot(node.index));
    case NodeKind::local:
      return machine.local(node.index);
    case NodeKind::list:
    case NodeKind::tuple:
      return run_sequence(machine, node);
    case NodeKind::unary: {
      const Item operand = run_node(machine, *node.children[0]);
      return is_failed(operand) ? operand : unary(machine, node.unary_op, operand);
    }
    case NodeKind::binary: {
      const Item left = run_node(machine, *node.children[0]);
      if (is_failed(left)) return left;
      const Item right = run_node(machine, *node.children[1]);
      return is_failed(right) ? right : binary(machine, node.binary_op, left, right);
    }
    case NodeKind::logical_and:
    case NodeKind::logical_or:
      return run_logical(machine, node);
    case NodeKind::conditional: {
      const Item condition = run_node(machine, *node.children[1]);
      if (is_failed(condition)) return condition;
      return run_node(machine, *node.children[truth(condition) ? 0 : 2]);
    }
    case NodeKind::compare:
      return run_compare(machine, node);
    case NodeKind::call:
      return run_call(machine, node);
    case NodeKind::comprehension:
      return run_generator(machine, node, Function::list);
    case NodeKind::generator:
      return machine.failed("a generator where a value belongs");
    case NodeKind::name:
      break;
  }
  return machine.failed(fmt::format("{} has no value", node.name));
}

std::string shown_text(std::string_view text) {
  constexpr std::size_t kMostShown = 120;
  std::string shown(text.substr(0, kMostShown));
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return fmt::format("\"{}{}\"", shown, text.size() > kMostShown ? "..." : "");
}

Result<CompiledExpression> CompiledExpression::compile(std::string_view text,
                                                       std::span<const std::string> names) {
  PERFLAB_TRY(ParsedExpression parsed, parse_expression(text, names));
  CompiledExpression compiled;
  compiled.text_ = text;
  compiled.used_ = std::move(parsed.used);
  compiled.root_ = std::move(parsed.root);
  compiled.constants_ = std::move(parsed.arena);
  compiled.locals_ = parsed.locals;
  compiled.nodes_ = parsed.nodes;
  return compiled;
}

Result<Value> CompiledExpression::evaluate(std::span<const Value> slots, std::size_t* work) const {
  Arena arena;
  ExpressionRun machine(slots, locals_, arena);
  Result<Value> value = value_of(machine, run_node(machine, *root_));
  if (work != nullptr) *work += nodes_ + machine.work_done();
  if (!value)
    value.error().message = fmt::format("{}: {}", shown_text(text_), value.error().message);
  return value;
}

Result<bool> CompiledExpression::holds(std::span<const Value> slots, std::size_t* work) const {
  Arena arena;
  ExpressionRun machine(slots, locals_, arena);
  const Item item = run_node(machine, *root_);
  if (work != nullptr) *work += nodes_ + machine.work_done();
  if (is_failed(item))
    return fail(ErrorCode::bad_input, fmt::format("{}: {}", shown_text(text_), machine.why()));
  return truth(item);
}

Result<std::vector<Value>> evaluate_list(std::string_view text, std::size_t most) {
  PERFLAB_TRY(const ParsedExpression parsed, parse_expression(text, {}));
  Arena arena;
  ExpressionRun machine({}, parsed.locals, arena);
  const Item list = run_node(machine, *parsed.root);
  std::vector<Value> values;
  const bool too_many = [&] {
    const auto* range = std::get_if<RangeItem>(&list);
    return range != nullptr && static_cast<std::uint64_t>(range->size()) > most;
  }();
  const bool walked =
      !is_failed(list) && !too_many && for_each_item(machine, list, [&](const Item& item) {
        if (values.size() == most) {
          machine.failed(fmt::format("more than {} values", most));
          return false;
        }
        Result<Value> value = value_of(machine, item);
        if (value) values.push_back(std::move(*value));
        return value.has_value();
      });
  if (too_many) machine.failed(fmt::format("more than {} values", most));
  if (!walked || !machine.why().empty())
    return fail(ErrorCode::bad_input, fmt::format("{}: {}", shown_text(text), machine.why()));
  return values;
}

}  // namespace perflab::tune
