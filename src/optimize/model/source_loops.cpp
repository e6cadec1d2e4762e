// libclang leaves out the parts of a for statement that are not there, so the parts are told by the
// semicolons between them; a loop counts only when nothing that was seen speaks against it.
#include "optimize/model/source_loops.h"

#include <algorithm>

#include "base/text/text.h"
#include "optimize/flow/source_access.h"

namespace perflab::optimize {
namespace {

constexpr std::int64_t kMostTrips = std::int64_t{1} << 62;

bool is_lambda(const SyntaxNode& node) {
  return node.kind == CXCursor_LambdaExpr;
}

/// The statement's end with its semicolon, which libclang leaves to expressions and jumps.
std::uint32_t statement_end(const ParsedSource& source, const SyntaxTree& tree,
                            std::uint32_t node) {
  const SyntaxNode& n = tree.nodes[node];
  switch (n.kind) {
    case CXCursor_CompoundStmt:
    case CXCursor_NullStmt:
    case CXCursor_DeclStmt:
    case CXCursor_SwitchStmt:
    case CXCursor_CXXTryStmt:
      return n.range.end;
    case CXCursor_IfStmt:
    case CXCursor_ForStmt:
    case CXCursor_CXXForRangeStmt:
    case CXCursor_WhileStmt:
    case CXCursor_LabelStmt:
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
      return n.children.empty() ? n.range.end : statement_end(source, tree, n.children.back());
    case CXCursor_UnexposedStmt:  // with attributes in front
      if (!n.children.empty()) return statement_end(source, tree, n.children.back());
      break;
    default:
      break;
  }
  for (std::size_t i = source.token_from(n.range.end); i < source.tokens().size(); ++i) {
    if (source.tokens()[i].kind == CXToken_Comment) continue;
    return source.token(i) == ";" ? source.tokens()[i].range.end : n.range.end;
  }
  return n.range.end;
}

/// The parts of a for statement by the places of its semicolons.
struct ForParts {
  std::optional<std::uint32_t> init, condition, step;  // nodes
};

std::optional<ForParts> parts_of(const ParsedSource& source, const SyntaxTree& tree,
                                 std::uint32_t node) {
  const SyntaxNode& n = tree.nodes[node];
  std::size_t open = source.token_from(n.range.begin);
  while (open < source.tokens().size() && source.token(open) != "(") ++open;
  const std::size_t close = source.closing(open, source.tokens().size());
  if (close >= source.tokens().size()) return std::nullopt;
  std::vector<std::uint32_t> semicolons;
  int depth = 0;
  for (std::size_t i = open; i < close; ++i) {
    if (source.tokens()[i].kind != CXToken_Punctuation) continue;
    const std::string_view text = source.token(i);
    if (text == "(" || text == "[" || text == "{") ++depth;
    if (text == ")" || text == "]" || text == "}") --depth;
    if (text == ";" && depth == 1) semicolons.push_back(source.tokens()[i].range.begin);
  }
  if (semicolons.size() != 2) return std::nullopt;
  ForParts parts;
  for (const std::uint32_t child : n.children) {
    const TextRange& range = tree.nodes[child].range;
    if (range.begin <= semicolons[0])
      parts.init = child;
    else if (range.begin < semicolons[1])
      parts.condition = child;
    else if (range.begin < source.tokens()[close].range.begin)
      parts.step = child;
  }
  return parts;
}

std::uint32_t unwrapped(const SyntaxTree& tree, std::uint32_t node) {
  while ((tree.nodes[node].kind == CXCursor_ParenExpr ||
          tree.nodes[node].kind == CXCursor_UnexposedExpr) &&
         tree.nodes[node].children.size() == 1)
    node = tree.nodes[node].children.front();
  return node;
}

bool is_counter_type(CXTypeKind kind) {
  switch (kind) {
    case CXType_Char_U:
    case CXType_UChar:
    case CXType_UShort:
    case CXType_UInt:
    case CXType_ULong:
    case CXType_ULongLong:
    case CXType_Char_S:
    case CXType_SChar:
    case CXType_Short:
    case CXType_Int:
    case CXType_Long:
    case CXType_LongLong:
      return true;
    default:
      return false;
  }
}

/// One for statement that may count.
class CountedLoopFinder {
 public:
  CountedLoopFinder(const ParsedSource& source, const SyntaxTree& tree, std::uint32_t loop,
                    ForParts parts)
      : source_(source), api_(source.api()), tree_(tree), loop_(loop), parts_(parts) {}

  std::optional<CountedLoop> find() {
    if (!parts_.init || !parts_.condition || !parts_.step) return std::nullopt;
    if (!read_init() || !read_condition() || !read_step()) return std::nullopt;
    if (written_elsewhere() || !is_invariant(step_uses_)) return std::nullopt;
    counted_.bound_is_invariant = is_invariant({bound_});
    if (!counted_.first_value || !counted_.bound_value || !counted_.step_value) return counted_;
    if (!fits(*counted_.first_value) || !fits(*counted_.bound_value)) return counted_;
    const auto trips = trip_count(*counted_.first_value, *counted_.bound_value,
                                  *counted_.step_value, counted_.comparison);
    // The counter's last value must be one of its type: it would wrap around otherwise.
    std::int64_t last = 0;
    if (trips && !__builtin_mul_overflow(*trips, *counted_.step_value, &last) &&
        !__builtin_add_overflow(last, *counted_.first_value, &last) && fits(last))
      counted_.trips = trips;
    return counted_;
  }

 private:
  [[nodiscard]] const SyntaxNode& node(std::uint32_t index) const { return tree_.nodes[index]; }
  [[nodiscard]] bool is_variable(std::uint32_t index) const {
    return node(index).kind == CXCursor_DeclRefExpr &&
           api_.equalCursors(node(index).referenced, variable_) != 0;
  }
  [[nodiscard]] bool has_text(std::uint32_t index) const {
    const SyntaxNode& n = node(index);
    if (!n.in_main || n.range.begin >= n.range.end) return false;
    // A macro that is the whole expression is text as well; a piece of one is not.
    if (!n.at_macro) return true;
    for (const std::uint32_t at : {n.range.begin, n.range.end - 1})
      if (const auto expansion = source_.expansion_at(at))
        if (!n.range.contains(*expansion)) return false;
    return true;
  }

  bool read_init() {
    std::uint32_t init = *parts_.init;
    if (node(init).kind == CXCursor_DeclStmt) {
      if (node(init).children.size() != 1) return false;
      init = node(init).children.front();
      if (node(init).kind != CXCursor_VarDecl) return false;
      const CXCursor value = api_.Cursor_getVarDeclInitializer(node(init).cursor);
      variable_ = node(init).cursor;
      for (const std::uint32_t child : node(init).children)
        if (api_.equalCursors(node(child).cursor, value) != 0) first_ = child;
    } else if (node(init).kind == CXCursor_BinaryOperator &&
               api_.getCursorBinaryOperatorKind(node(init).cursor) == CXBinaryOperator_Assign) {
      const std::uint32_t left = unwrapped(tree_, node(init).children.front());
      if (node(left).kind != CXCursor_DeclRefExpr) return false;
      variable_ = node(left).referenced;
      first_ = node(init).children.back();
      counted_.declares_variable = false;
    }
    if (first_ == 0 || !has_text(first_)) return false;
    const CXCursorKind kind = api_.getCursorKind(variable_);
    if (kind != CXCursor_VarDecl && kind != CXCursor_ParmDecl) return false;
    const CXType type = api_.getCanonicalType(api_.getCursorType(variable_));
    if (!is_counter_type(type.kind) || api_.isVolatileQualifiedType(type) != 0) return false;
    if (!is_function(api_.getCursorKind(api_.getCursorSemanticParent(variable_)))) return false;
    if (api_.Cursor_getStorageClass(variable_) == CX_SC_Static ||
        source_.has_attribute(variable_, CXCursor_CUDASharedAttr))
      return false;
    bytes_ = api_.Type_getSizeOf(type);
    is_signed_ = type.kind >= CXType_Char_S;
    counted_.variable = source_.spelling(variable_);
    counted_.type = source_.type_text(api_.getUnqualifiedType(type));
    counted_.first = node(first_).range;
    counted_.first_value = source_.value_of(node(first_).cursor);
    return true;
  }

  bool read_condition() {
    const std::uint32_t condition = unwrapped(tree_, *parts_.condition);
    if (node(condition).kind != CXCursor_BinaryOperator || node(condition).children.size() != 2)
      return false;
    const std::uint32_t left = node(condition).children[0];
    const std::uint32_t right = node(condition).children[1];
    const bool mirrored = is_variable(unwrapped(tree_, right));
    if (!mirrored && !is_variable(unwrapped(tree_, left))) return false;
    switch (api_.getCursorBinaryOperatorKind(node(condition).cursor)) {
      case CXBinaryOperator_LT:
        counted_.comparison = mirrored ? ">" : "<";
        break;
      case CXBinaryOperator_LE:
        counted_.comparison = mirrored ? ">=" : "<=";
        break;
      case CXBinaryOperator_GT:
        counted_.comparison = mirrored ? "<" : ">";
        break;
      case CXBinaryOperator_GE:
        counted_.comparison = mirrored ? "<=" : ">=";
        break;
      case CXBinaryOperator_NE:
        counted_.comparison = "!=";
        break;
      default:
        return false;
    }
    bound_ = mirrored ? left : right;
    compared_ = unwrapped(tree_, mirrored ? right : left);
    if (!has_text(bound_)) return false;
    counted_.bound = node(bound_).range;
    counted_.bound_value = source_.value_of(node(bound_).cursor);
    return true;
  }

  bool read_step() {
    const std::uint32_t step = unwrapped(tree_, *parts_.step);
    if (node(step).children.empty()) return false;
    stepped_ = unwrapped(tree_, node(step).children.front());
    if (!is_variable(stepped_)) return false;
    if (node(step).kind == CXCursor_UnaryOperator) return unary_step(step);
    if (node(step).children.size() != 2) return false;
    const CXBinaryOperatorKind kind = api_.getCursorBinaryOperatorKind(node(step).cursor);
    std::uint32_t amount = node(step).children.back();
    bool minus = kind == CXBinaryOperator_SubAssign;
    if (kind == CXBinaryOperator_Assign) {  // i = i + amount
      const std::uint32_t sum = unwrapped(tree_, amount);
      if (node(sum).kind != CXCursor_BinaryOperator || node(sum).children.size() != 2) return false;
      const CXBinaryOperatorKind inner = api_.getCursorBinaryOperatorKind(node(sum).cursor);
      minus = inner == CXBinaryOperator_Sub;
      again_ = unwrapped(tree_, node(sum).children.front());
      if ((inner != CXBinaryOperator_Add && !minus) || !is_variable(again_)) return false;
      amount = node(sum).children.back();
    } else if (kind != CXBinaryOperator_AddAssign && !minus) {
      return false;
    }
    if (!has_text(amount)) return false;
    step_uses_ = {amount};
    const std::string text(source_.at(node(amount).range));
    counted_.step_value = source_.value_of(node(amount).cursor);
    if (minus && counted_.step_value == INT64_MIN) return false;
    if (minus && counted_.step_value) counted_.step_value = -*counted_.step_value;
    const bool simple = node(unwrapped(tree_, amount)).kind != CXCursor_BinaryOperator &&
                        node(unwrapped(tree_, amount)).kind != CXCursor_ConditionalOperator;
    counted_.step = !minus ? text : simple ? "-" + text : "-(" + text + ")";
    return counted_.step_value != 0;
  }

  bool unary_step(std::uint32_t step) {
    switch (api_.getCursorUnaryOperatorKind(node(step).cursor)) {
      case CXUnaryOperator_PreInc:
      case CXUnaryOperator_PostInc:
        counted_.step = "1";
        counted_.step_value = 1;
        return true;
      case CXUnaryOperator_PreDec:
      case CXUnaryOperator_PostDec:
        counted_.step = "-1";
        counted_.step_value = -1;
        return true;
      default:
        return false;
    }
  }

  /// Anywhere in the kernel for addresses, in the loop for writes: but for the step itself.
  bool written_elsewhere() {
    for (const std::uint32_t use : uses_of(source_, tree_, variable_)) {
      if (use == stepped_ || use == compared_ || use == again_) continue;
      const Access access = access_of(source_, tree_, use, UseStart::object);
      if (access.escaped || access.alias) return true;
      if (access.written && use >= loop_ && use < tree_.subtree_end(loop_) && !in_init(use))
        return true;
    }
    return false;
  }
  [[nodiscard]] bool in_init(std::uint32_t use) const {
    return use >= *parts_.init && use < tree_.subtree_end(*parts_.init);
  }

  /// Whether nothing in the loop may change the expressions at these nodes.
  [[nodiscard]] bool is_invariant(const std::vector<std::uint32_t>& expressions) const {
    for (const std::uint32_t expression : expressions)
      for (std::uint32_t i = expression; i < tree_.subtree_end(expression); ++i)
        if (!node_is_invariant(i)) return false;
    return true;
  }

  [[nodiscard]] bool node_is_invariant(std::uint32_t index) const {
    const SyntaxNode& n = node(index);
    switch (n.kind) {
      case CXCursor_DeclRefExpr:
        return variable_is_invariant(n.referenced);
      case CXCursor_UnaryOperator: {
        const CXUnaryOperatorKind kind = api_.getCursorUnaryOperatorKind(n.cursor);
        return kind == CXUnaryOperator_Plus || kind == CXUnaryOperator_Minus ||
               kind == CXUnaryOperator_Not || kind == CXUnaryOperator_LNot;
      }
      case CXCursor_BinaryOperator: {
        const CXBinaryOperatorKind kind = api_.getCursorBinaryOperatorKind(n.cursor);
        return kind != CXBinaryOperator_Assign && kind != CXBinaryOperator_Invalid;
      }
      case CXCursor_CallExpr:  // threadIdx.x is a call in some of HIP's headers
        return source_.spelling(n.cursor).starts_with("__get_") ||
               (api_.Cursor_isNull(n.referenced) == 0 &&
                kind_of_call(source_.qualified_name(n.referenced)) == CallKind::harmless);
      case CXCursor_MemberRefExpr:
      case CXCursor_ParenExpr:
      case CXCursor_UnexposedExpr:
      case CXCursor_ConditionalOperator:
      case CXCursor_IntegerLiteral:
      case CXCursor_CharacterLiteral:
      case CXCursor_CXXBoolLiteralExpr:
      case CXCursor_FloatingLiteral:
      case CXCursor_UnaryExpr:
      case CXCursor_CStyleCastExpr:
      case CXCursor_CXXStaticCastExpr:
      case CXCursor_CXXFunctionalCastExpr:
      case CXCursor_TypeRef:
      case CXCursor_TemplateRef:
      case CXCursor_NamespaceRef:
        return true;
      default:
        return false;
    }
  }

  [[nodiscard]] bool variable_is_invariant(CXCursor variable) const {
    const CXCursorKind kind = api_.getCursorKind(variable);
    if (kind == CXCursor_NonTypeTemplateParameter || kind == CXCursor_EnumConstantDecl ||
        is_function(kind))
      return true;
    if (kind != CXCursor_VarDecl && kind != CXCursor_ParmDecl) return false;
    if (api_.equalCursors(variable, variable_) != 0) return false;
    if (is_index_variable(source_.qualified_name(variable))) return true;
    const CXType type = api_.getCanonicalType(api_.getCursorType(variable));
    if (api_.isVolatileQualifiedType(type) != 0 || type.kind == CXType_Pointer ||
        is_reference_kind(type.kind))
      return false;
    if (api_.isConstQualifiedType(type) != 0) return true;
    if (!is_function(api_.getCursorKind(api_.getCursorSemanticParent(variable))) ||
        api_.Cursor_getStorageClass(variable) == CX_SC_Static ||
        source_.has_attribute(variable, CXCursor_CUDASharedAttr))
      return false;
    return std::ranges::none_of(uses_of(source_, tree_, variable), [&](std::uint32_t use) {
      const Access access = access_of(source_, tree_, use, UseStart::object);
      return access.escaped || access.alias ||
             (access.written && use >= loop_ && use < tree_.subtree_end(loop_) && !in_init(use));
    });
  }

  /// Whether the counter's type holds the value, with room for a step beyond.
  [[nodiscard]] bool fits(std::int64_t value) const {
    if (bytes_ < 1) return false;
    if (!is_signed_) return value >= 0 && (bytes_ >= 8 || value < std::int64_t{1} << (8 * bytes_));
    if (bytes_ >= 8) return true;
    const std::int64_t limit = std::int64_t{1} << (8 * bytes_ - 1);
    return value >= -limit && value < limit;
  }

  const ParsedSource& source_;
  const ClangApi& api_;
  const SyntaxTree& tree_;
  std::uint32_t loop_;
  ForParts parts_;
  CountedLoop counted_;
  CXCursor variable_{};
  std::uint32_t first_ = 0, bound_ = 0, compared_ = 0, stepped_ = 0, again_ = 0;
  std::vector<std::uint32_t> step_uses_;
  std::int64_t bytes_ = 0;
  bool is_signed_ = false;
};

/// break, continue, return and goto that belong to the loop.
void note_jumps(const SyntaxTree& tree, std::uint32_t loop, Loop& found) {
  const std::uint32_t end = tree.subtree_end(loop);
  const auto owner = [&](std::uint32_t i, auto predicate) {
    return tree.ancestor(i, [&](const SyntaxNode& n) { return predicate(n) || is_lambda(n); });
  };
  const auto takes_break = [](const SyntaxNode& n) {
    return is_loop(n.kind) || n.kind == CXCursor_SwitchStmt;
  };
  for (std::uint32_t i = loop + 1; i < end; ++i) {
    switch (tree.nodes[i].kind) {
      case CXCursor_BreakStmt:
        found.has_break |= owner(i, takes_break) == loop;
        break;
      case CXCursor_ContinueStmt:
        found.has_continue |= owner(i, [](const SyntaxNode& n) { return is_loop(n.kind); }) == loop;
        break;
      case CXCursor_ReturnStmt: {
        const auto lambda = tree.ancestor(i, is_lambda);
        found.has_return |= !lambda || *lambda < loop;
        break;
      }
      case CXCursor_GotoStmt:
      case CXCursor_IndirectGotoStmt:
      case CXCursor_LabelStmt:
        found.has_goto = true;
        break;
      case CXCursor_CaseStmt:
      case CXCursor_DefaultStmt: {
        const auto switched =
            tree.ancestor(i, [](const SyntaxNode& n) { return n.kind == CXCursor_SwitchStmt; });
        found.has_goto |= !switched || *switched < loop;
        break;
      }
      default:
        break;
    }
  }
}

/// "#pragma unroll" and its like right before the loop, but for blanks and comments.
std::optional<TextRange> pragma_before(const ParsedSource& source, std::uint32_t begin,
                                       const std::vector<TextRange>& directives) {
  auto after = std::ranges::lower_bound(directives, begin, {}, &TextRange::begin);
  if (after == directives.begin()) return std::nullopt;
  const TextRange directive = *std::prev(after);
  for (std::size_t i = source.token_from(directive.end); i < source.token_from(begin); ++i)
    if (source.tokens()[i].kind != CXToken_Comment) return std::nullopt;
  const std::size_t first = source.token_from(directive.begin);
  if (source.token(first + 1) != "pragma") return std::nullopt;
  const std::string_view what = source.token(first + 2);
  const bool unrolls = what == "unroll" || what == "nounroll" ||
                       (what == "clang" && source.token(first + 3) == "loop");
  return unrolls ? std::optional(directive) : std::nullopt;
}

FoundLoop read_loop(const ParsedSource& source, const SyntaxTree& tree, std::uint32_t node,
                    const Reach& reach, const std::vector<TextRange>& directives) {
  const SyntaxNode& n = tree.nodes[node];
  FoundLoop found;
  found.node = node;
  Loop& loop = found.loop;
  loop.kind = n.kind == CXCursor_ForStmt           ? Loop::Kind::for_
              : n.kind == CXCursor_CXXForRangeStmt ? Loop::Kind::range_for
              : n.kind == CXCursor_WhileStmt       ? Loop::Kind::while_
                                                   : Loop::Kind::do_;
  loop.in_macro = n.at_macro || !n.in_main;
  loop.range = n.range;
  loop.line = source.line_of(n.range.begin);
  if (!n.children.empty()) {
    const std::uint32_t body =
        loop.kind == Loop::Kind::do_ ? n.children.front() : n.children.back();
    loop.body = tree.nodes[body].range;
    loop.in_macro |= tree.nodes[body].kind == CXCursor_CompoundStmt && tree.nodes[body].at_macro;
    if (!loop.in_macro) {
      loop.body.end = statement_end(source, tree, body);
      loop.range.end =
          loop.kind == Loop::Kind::do_ ? statement_end(source, tree, node) : loop.body.end;
    }
  }
  loop.has_barrier = reach.barrier;
  loop.has_atomic = reach.atomic;
  loop.crosses_lanes = reach.lanes;
  loop.has_assembly = reach.assembly;
  loop.has_unknown_call = reach.unknown_call;
  loop.uses_shared = reach.shared;
  loop.uses_dynamic_shared = reach.dynamic_shared;
  note_jumps(tree, node, loop);
  if (loop.in_macro) return found;
  loop.pragma = pragma_before(source, loop.range.begin, directives);
  if (loop.kind != Loop::Kind::for_) return found;
  if (const auto parts = parts_of(source, tree, node))
    loop.counted = CountedLoopFinder(source, tree, node, *parts).find();
  return found;
}

}  // namespace

std::optional<std::int64_t> trip_count(std::int64_t first, std::int64_t bound, std::int64_t step,
                                       const std::string& comparison) {
  // One step beyond a bound may not leave the type: limits far inside it.
  if (std::max({first, bound, step}) > kMostTrips || std::min({first, bound, step}) < -kMostTrips ||
      step == 0)
    return std::nullopt;
  const std::int64_t way = bound - first;
  const auto ceiling = [](std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); };
  if (comparison == "<")
    return way <= 0   ? std::optional(std::int64_t{0})
           : step > 0 ? std::optional(ceiling(way, step))
                      : std::nullopt;
  if (comparison == "<=")
    return way < 0    ? std::optional(std::int64_t{0})
           : step > 0 ? std::optional(way / step + 1)
                      : std::nullopt;
  if (comparison == ">" || comparison == ">=")
    return trip_count(-first, -bound, -step, comparison == ">" ? "<" : "<=");
  if (comparison != "!=" || way % step != 0 || way / step < 0) return std::nullopt;
  return way / step;
}

std::optional<std::size_t> loop_around(const SyntaxTree& tree, const std::vector<FoundLoop>& loops,
                                       std::uint32_t node) {
  const auto around = tree.ancestor(node, [](const SyntaxNode& n) { return is_loop(n.kind); });
  if (!around) return std::nullopt;
  const auto found = std::ranges::find(loops, *around, &FoundLoop::node);
  return found == loops.end() ? std::nullopt
                              : std::optional(static_cast<std::size_t>(found - loops.begin()));
}

std::vector<FoundLoop> loops_of(const ParsedSource& source, const SyntaxTree& tree,
                                const std::vector<Reach>& reach,
                                const std::vector<TextRange>& directives) {
  std::vector<FoundLoop> loops;
  for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) {
    if (!is_loop(tree.nodes[i].kind)) continue;
    FoundLoop found = read_loop(source, tree, i, reach[i], directives);
    found.loop.parent = loop_around(tree, loops, i);
    for (auto parent = found.loop.parent; parent; parent = loops[*parent].loop.parent)
      loops[*parent].loop.innermost = false;
    loops.push_back(std::move(found));
  }
  return loops;
}

}  // namespace perflab::optimize
