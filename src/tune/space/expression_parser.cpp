// Recursive-descent parser of expressions, with Python's precedence
// (https://docs.python.org/3/reference/expressions.html#operator-precedence): ** binds right and
// above a sign on its left, not binds below comparisons, a if c else b lowest.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <utility>

#include "tune/space/expression_lexer.h"
#include "tune/space/expression_node.h"

namespace perflab::tune {
namespace {

using Node = ExpressionNode;

// Deeper nesting than anybody writes; well within any stack.
constexpr std::size_t kMostNesting = 100;
constexpr std::size_t kMostDepth = 400;
constexpr std::size_t kMostText = std::size_t{1} << 20;

constexpr std::array<std::string_view, 12> kReserved{
    "and", "or", "not", "in", "is", "if", "else", "for", "lambda", "True", "False", "None"};

struct BinaryLevel {
  std::string_view symbol;
  BinaryOp op;
  int level;  ///< higher binds tighter
};
constexpr std::array kBinaryLevels{
    BinaryLevel{"|", BinaryOp::bit_or, 1},       BinaryLevel{"^", BinaryOp::bit_xor, 2},
    BinaryLevel{"&", BinaryOp::bit_and, 3},      BinaryLevel{"<<", BinaryOp::shift_left, 4},
    BinaryLevel{">>", BinaryOp::shift_right, 4}, BinaryLevel{"+", BinaryOp::add, 5},
    BinaryLevel{"-", BinaryOp::subtract, 5},     BinaryLevel{"*", BinaryOp::multiply, 6},
    BinaryLevel{"/", BinaryOp::divide, 6},       BinaryLevel{"//", BinaryOp::floor_divide, 6},
    BinaryLevel{"%", BinaryOp::modulo, 6},
};

class Parser {
 public:
  Parser(std::string_view text, Arena& arena) : text_(text), arena_(arena) {}

  Result<Node::Pointer> parse() {
    PERFLAB_TRY_VOID(advance());
    PERFLAB_TRY(Node::Pointer root, expression());
    if (token_.kind != TokenKind::end) return std::unexpected(unexpected_token());
    return root;
  }

 private:
  using Parsed = Result<Node::Pointer>;

  Result<void> advance() {
    PERFLAB_TRY(token_, next_token(text_, at_));
    return {};
  }
  [[nodiscard]] bool is_symbol(std::string_view symbol) const {
    return token_.kind == TokenKind::symbol && token_.text == symbol;
  }
  [[nodiscard]] bool is_word(std::string_view word) const {
    return token_.kind == TokenKind::name && token_.text == word;
  }
  [[nodiscard]] Error unexpected_token() const {
    if (token_.kind == TokenKind::end)
      return syntax_error(text_, token_.column, "the end, where something is missing,").error();
    if (is_symbol("="))
      return syntax_error(text_, token_.column, "\"=\", which compares as \"==\",").error();
    return syntax_error(text_, token_.column,
                        token_.text.empty()
                            ? std::string("a value that does not belong")
                            : fmt::format("\"{}\" that does not belong", token_.text))
        .error();
  }
  Result<void> expect(std::string_view symbol) {
    if (!is_symbol(symbol) && !is_word(symbol)) {
      if (token_.kind == TokenKind::end)
        return syntax_error(text_, token_.column, fmt::format("no \"{}\"", symbol));
      return std::unexpected(unexpected_token());
    }
    return advance();
  }

  Node::Pointer make(NodeKind kind) const {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    node->column = token_.column;
    return node;
  }
  Result<void> adopt(Node& node, Node::Pointer child) {
    node.depth = std::max(node.depth, child->depth + 1);
    if (node.depth > kMostDepth)
      return syntax_error(text_, child->column, "an expression that is nested too deeply");
    node.children.push_back(std::move(child));
    return {};
  }

  /// Guards every way into recursion.
  class Nesting {
   public:
    explicit Nesting(std::size_t& depth) : depth_(depth) { ++depth_; }
    ~Nesting() { --depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    std::size_t& depth_;
  };
  [[nodiscard]] Result<void> check_nesting() const {
    if (nesting_ > kMostNesting)
      return syntax_error(text_, token_.column, "an expression that is nested too deeply");
    return {};
  }

  Parsed expression() {
    const Nesting nesting(nesting_);
    PERFLAB_TRY_VOID(check_nesting());
    PERFLAB_TRY(Node::Pointer value, logical(NodeKind::logical_or));
    if (!is_word("if")) return value;
    Node::Pointer node = make(NodeKind::conditional);
    PERFLAB_TRY_VOID(advance());
    PERFLAB_TRY(Node::Pointer condition, logical(NodeKind::logical_or));
    PERFLAB_TRY_VOID(expect("else"));
    PERFLAB_TRY(Node::Pointer other, expression());
    PERFLAB_TRY_VOID(adopt(*node, std::move(value)));
    PERFLAB_TRY_VOID(adopt(*node, std::move(condition)));
    PERFLAB_TRY_VOID(adopt(*node, std::move(other)));
    return node;
  }

  /// "a or b or c" is one node, so that long ones are not deep.
  Parsed logical(NodeKind kind) {
    const bool is_or = kind == NodeKind::logical_or;
    const auto operand = [&] { return is_or ? logical(NodeKind::logical_and) : negation(); };
    const std::string_view word = is_or ? "or" : "and";
    PERFLAB_TRY(Node::Pointer first, operand());
    if (!is_word(word)) return first;
    Node::Pointer node = make(kind);
    PERFLAB_TRY_VOID(adopt(*node, std::move(first)));
    while (is_word(word)) {
      PERFLAB_TRY_VOID(advance());
      PERFLAB_TRY(Node::Pointer next, operand());
      PERFLAB_TRY_VOID(adopt(*node, std::move(next)));
    }
    return node;
  }

  Parsed negation() {
    if (!is_word("not")) return comparison();
    const Nesting nesting(nesting_);
    PERFLAB_TRY_VOID(check_nesting());
    Node::Pointer node = make(NodeKind::unary);
    node->unary_op = UnaryOp::logical_not;
    PERFLAB_TRY_VOID(advance());
    PERFLAB_TRY(Node::Pointer operand, negation());
    PERFLAB_TRY_VOID(adopt(*node, std::move(operand)));
    return node;
  }

  /// The comparison operator that stands here is taken; nothing: there is none.
  Result<std::optional<CompareOp>> compare_operator() {
    constexpr std::array<std::pair<std::string_view, CompareOp>, 6> kCompares{
        {{"<", CompareOp::less},
         {"<=", CompareOp::less_equal},
         {">", CompareOp::greater},
         {">=", CompareOp::greater_equal},
         {"==", CompareOp::equal},
         {"!=", CompareOp::not_equal}}};
    std::optional<CompareOp> op;
    for (const auto& [symbol, candidate] : kCompares)
      if (is_symbol(symbol)) op = candidate;
    if (is_word("in")) op = CompareOp::in;
    if (is_word("not")) {
      PERFLAB_TRY_VOID(advance());
      if (!is_word("in")) return std::unexpected(unexpected_token());
      op = CompareOp::not_in;
    }
    if (op) PERFLAB_TRY_VOID(advance());
    return op;
  }

  Parsed comparison() {
    PERFLAB_TRY(Node::Pointer first, binary_from(1));
    Node::Pointer node = make(NodeKind::compare);
    while (true) {
      PERFLAB_TRY(const std::optional<CompareOp> op, compare_operator());
      if (!op) break;
      if (first) PERFLAB_TRY_VOID(adopt(*node, std::move(first)));
      PERFLAB_TRY(Node::Pointer next, binary_from(1));
      PERFLAB_TRY_VOID(adopt(*node, std::move(next)));
      node->compares.push_back(*op);
    }
    return first ? std::move(first) : std::move(node);
  }

  Parsed binary_from(int level) {
    PERFLAB_TRY(Node::Pointer left, sign());
    while (true) {
      const auto* const found = std::ranges::find_if(
          kBinaryLevels, [&](const BinaryLevel& each) { return is_symbol(each.symbol); });
      if (found == kBinaryLevels.end() || found->level < level) return left;
      Node::Pointer node = make(NodeKind::binary);
      node->binary_op = found->op;
      PERFLAB_TRY_VOID(advance());
      PERFLAB_TRY(Node::Pointer right, binary_from(found->level + 1));
      PERFLAB_TRY_VOID(adopt(*node, std::move(left)));
      PERFLAB_TRY_VOID(adopt(*node, std::move(right)));
      left = std::move(node);
    }
  }

  Parsed sign() {
    std::optional<UnaryOp> op;
    if (is_symbol("-")) op = UnaryOp::minus;
    if (is_symbol("+")) op = UnaryOp::plus;
    if (is_symbol("~")) op = UnaryOp::invert;
    if (!op) return power();
    const Nesting nesting(nesting_);
    PERFLAB_TRY_VOID(check_nesting());
    Node::Pointer node = make(NodeKind::unary);
    node->unary_op = *op;
    PERFLAB_TRY_VOID(advance());
    PERFLAB_TRY(Node::Pointer operand, sign());
    PERFLAB_TRY_VOID(adopt(*node, std::move(operand)));
    return node;
  }

  Parsed power() {
    PERFLAB_TRY(Node::Pointer base, atom());
    if (!is_symbol("**")) return base;
    const Nesting nesting(nesting_);
    PERFLAB_TRY_VOID(check_nesting());
    Node::Pointer node = make(NodeKind::binary);
    node->binary_op = BinaryOp::power;
    PERFLAB_TRY_VOID(advance());
    PERFLAB_TRY(Node::Pointer exponent, sign());
    PERFLAB_TRY_VOID(adopt(*node, std::move(base)));
    PERFLAB_TRY_VOID(adopt(*node, std::move(exponent)));
    return node;
  }

  Parsed atom() {
    if (token_.kind == TokenKind::number || token_.kind == TokenKind::string) {
      Node::Pointer node = make(NodeKind::constant);
      node->constant =
          token_.kind == TokenKind::number ? token_.number : Item(arena_.keep(token_.string));
      PERFLAB_TRY_VOID(advance());
      return node;
    }
    if (is_symbol("(")) return parenthesis();
    if (is_symbol("[")) return list();
    if (token_.kind != TokenKind::name) return std::unexpected(unexpected_token());
    return name_or_call();
  }

  Parsed name_or_call() {
    if (is_word("True") || is_word("False")) {
      Node::Pointer node = make(NodeKind::constant);
      node->constant = is_word("True");
      PERFLAB_TRY_VOID(advance());
      return node;
    }
    if (std::ranges::find(kReserved, token_.text) != kReserved.end())
      return std::unexpected(unexpected_token());
    Node::Pointer node = make(NodeKind::name);
    node->name = token_.text;
    PERFLAB_TRY_VOID(advance());
    if (is_symbol(".")) {
      PERFLAB_TRY_VOID(advance());
      if (token_.kind != TokenKind::name) return std::unexpected(unexpected_token());
      node->name += "." + std::string(token_.text);
      PERFLAB_TRY_VOID(advance());
      if (!is_symbol("("))
        return syntax_error(text_, node->column,
                            fmt::format("{}, which is not known,", node->name));
    }
    return is_symbol("(") ? arguments(std::move(node)) : std::move(node);
  }

  Parsed arguments(Node::Pointer node) {
    const std::optional<Function> function = function_of_name(node->name);
    if (!function)
      return syntax_error(text_, node->column,
                          fmt::format("{}(), which is not a known function,", node->name));
    node->kind = NodeKind::call;
    node->function = *function;
    PERFLAB_TRY_VOID(advance());
    while (!is_symbol(")")) {
      PERFLAB_TRY(Node::Pointer argument, expression());
      if (is_word("for")) {
        if (!node->children.empty()) return std::unexpected(unexpected_token());
        PERFLAB_TRY(argument, comprehension(NodeKind::generator, std::move(argument)));
        PERFLAB_TRY_VOID(adopt(*node, std::move(argument)));
        break;
      }
      PERFLAB_TRY_VOID(adopt(*node, std::move(argument)));
      if (!is_symbol(",")) break;
      PERFLAB_TRY_VOID(advance());
    }
    PERFLAB_TRY_VOID(expect(")"));
    return node;
  }

  /// ( ... ): an expression, a tuple, a generator.
  Parsed parenthesis() {
    Node::Pointer tuple = make(NodeKind::tuple);
    PERFLAB_TRY_VOID(advance());
    bool comma = false;
    while (!is_symbol(")")) {
      PERFLAB_TRY(Node::Pointer element, expression());
      if (is_word("for") && tuple->children.empty()) {
        PERFLAB_TRY(Node::Pointer loop, comprehension(NodeKind::generator, std::move(element)));
        PERFLAB_TRY_VOID(expect(")"));
        return loop;
      }
      PERFLAB_TRY_VOID(adopt(*tuple, std::move(element)));
      comma = is_symbol(",");
      if (!comma) break;
      PERFLAB_TRY_VOID(advance());
    }
    PERFLAB_TRY_VOID(expect(")"));
    if (tuple->children.size() == 1 && !comma) return std::move(tuple->children[0]);
    return tuple;
  }

  Parsed list() {
    Node::Pointer list = make(NodeKind::list);
    PERFLAB_TRY_VOID(advance());
    while (!is_symbol("]")) {
      PERFLAB_TRY(Node::Pointer element, expression());
      if (is_word("for") && list->children.empty()) {
        PERFLAB_TRY(list, comprehension(NodeKind::comprehension, std::move(element)));
        break;
      }
      PERFLAB_TRY_VOID(adopt(*list, std::move(element)));
      if (!is_symbol(",")) break;
      PERFLAB_TRY_VOID(advance());
    }
    PERFLAB_TRY_VOID(expect("]"));
    return list;
  }

  Parsed comprehension(NodeKind kind, Node::Pointer element) {
    Node::Pointer node = make(kind);
    PERFLAB_TRY_VOID(adopt(*node, std::move(element)));
    while (is_word("for")) {
      PERFLAB_TRY_VOID(advance());
      Node::Clause clause;
      if (token_.kind != TokenKind::name ||
          std::ranges::find(kReserved, token_.text) != kReserved.end())
        return std::unexpected(unexpected_token());
      clause.variable = token_.text;
      PERFLAB_TRY_VOID(advance());
      PERFLAB_TRY_VOID(expect("in"));
      PERFLAB_TRY(clause.iterable, logical(NodeKind::logical_or));
      node->depth = std::max(node->depth, clause.iterable->depth + 1);
      while (is_word("if")) {
        PERFLAB_TRY_VOID(advance());
        PERFLAB_TRY(Node::Pointer condition, logical(NodeKind::logical_or));
        node->depth = std::max(node->depth, condition->depth + 1);
        clause.conditions.push_back(std::move(condition));
      }
      node->clauses.push_back(std::move(clause));
    }
    return node;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Arena& arena_;
  Token token_;
  std::size_t nesting_ = 0;
};

/// Gives names their slots and variables; folds what is constant.
class Resolver {
 public:
  Resolver(std::string_view text, std::span<const std::string> names, Arena& arena)
      : text_(text), machine_({}, 0, arena) {
    for (std::size_t i = 0; i < names.size(); ++i) slots_.emplace(names[i], i);
  }

  Result<void> resolve(Node& node) {
    ++nodes_;
    if (node.kind == NodeKind::name) return resolve_name(node);
    if (node.kind == NodeKind::comprehension || node.kind == NodeKind::generator)
      return resolve_loops(node);
    for (const Node::Pointer& child : node.children) PERFLAB_TRY_VOID(resolve(*child));
    fold(node);
    return {};
  }

  [[nodiscard]] std::size_t locals() const { return locals_; }
  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  [[nodiscard]] std::vector<std::size_t> used() const { return {used_.begin(), used_.end()}; }

 private:
  Result<void> resolve_name(Node& node) {
    const auto variable = std::ranges::find(scopes_.rbegin(), scopes_.rend(), node.name,
                                            &std::pair<std::string, std::size_t>::first);
    if (variable != scopes_.rend()) {
      node.kind = NodeKind::local;
      node.index = variable->second;
      return {};
    }
    const auto slot = slots_.find(node.name);
    if (slot == slots_.end())
      return syntax_error(text_, node.column, fmt::format("{}, which is not known,", node.name));
    node.kind = NodeKind::slot;
    node.index = slot->second;
    used_.insert(slot->second);
    return {};
  }

  /// An iterable sees the variables of the clauses before its own.
  Result<void> resolve_loops(Node& node) {
    const std::size_t outside = scopes_.size();
    for (Node::Clause& clause : node.clauses) {
      PERFLAB_TRY_VOID(resolve(*clause.iterable));
      clause.local = locals_++;
      scopes_.emplace_back(clause.variable, clause.local);
      for (const Node::Pointer& condition : clause.conditions)
        PERFLAB_TRY_VOID(resolve(*condition));
    }
    PERFLAB_TRY_VOID(resolve(*node.children[0]));
    scopes_.resize(outside);
    return {};
  }

  /// What fails (1 / 0) stays as it is: it may never be reached. The machine's limit of work holds
  /// for all constants of a text together.
  void fold(Node& node) {
    const bool constant = std::ranges::all_of(node.children, [](const Node::Pointer& child) {
      return child->kind == NodeKind::constant;
    });
    if (!constant || node.kind == NodeKind::constant) return;
    const Item folded = run_node(machine_, node);
    machine_.forget_failure();
    if (is_failed(folded)) return;
    node.kind = NodeKind::constant;
    node.constant = folded;
    node.children.clear();
    node.compares.clear();
  }

  std::string_view text_;
  std::unordered_map<std::string, std::size_t> slots_;
  ExpressionRun machine_;
  std::vector<std::pair<std::string, std::size_t>> scopes_;
  std::size_t locals_ = 0;
  std::size_t nodes_ = 0;
  std::set<std::size_t> used_;
};

}  // namespace

Result<ParsedExpression> parse_expression(std::string_view text,
                                          std::span<const std::string> names) {
  if (text.size() > kMostText)
    return fail(ErrorCode::bad_input, fmt::format("{}: an expression of {} bytes, more than {}",
                                                  shown_text(text), text.size(), kMostText));
  ParsedExpression parsed;
  parsed.arena = std::make_shared<Arena>();
  PERFLAB_TRY(parsed.root, Parser(text, *parsed.arena).parse());
  Resolver resolver(text, names, *parsed.arena);
  PERFLAB_TRY_VOID(resolver.resolve(*parsed.root));
  parsed.locals = resolver.locals();
  parsed.nodes = resolver.nodes();
  parsed.used = resolver.used();
  return parsed;
}

}  // namespace perflab::tune
