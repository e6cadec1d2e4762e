// Bodies are walked in the order in which they run, as definite assignment of other languages is
// told. Where this does not understand a use, it is a read.
#include "optimize/flow/unwritten_reads.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "optimize/ast/tokens.h"
#include "optimize/flow/steady_conditions.h"
#include "optimize/flow/variable_use.h"
#include "optimize/flow/written_parts.h"

namespace perflab::optimize {
namespace {

constexpr int kMostCalls = 6;                  // that a variable is handed down
constexpr std::size_t kMostSteps = 2'000'000;  // lambdas are walked where they are called

/// What was written for certain when a place is reached.
struct WrittenState {
  bool reached = true;
  std::vector<WrittenParts> written;  // by variable
};

/// `in_loop`: elements at any index count although one way only writes them, as those of a loop do
/// that may not run.
WrittenState joined(const WrittenState& a, const WrittenState& b, bool in_loop = false) {
  if (!a.reached) return b;
  if (!b.reached) return a;
  WrittenState both;
  for (std::size_t i = 0; i < a.written.size(); ++i) {
    both.written.push_back(written_in_both(a.written[i], b.written[i]));
    if (!in_loop) continue;
    for (const WrittenParts* parts : {&a.written[i], &b.written[i]})
      std::ranges::copy_if(*parts, std::inserter(both.written[i], both.written[i].end()),
                           has_any_element);
  }
  return both;
}

struct WatchedVariable {
  CXCursor cursor{};
  CXType type{};
  bool shared = false;
  std::string shown;
  // Of shared ones, in the order of the text:
  WrittenParts ever_written;
  std::set<std::string> written_texts;
  bool met = false;  ///< a barrier came after the first write
  bool read_unwritten = false;
  WrittenParts left_written;  ///< when its body ends
};

/// A variable that stands for a watched one, or for a part of it.
struct Alias {
  CXCursor cursor{};
  std::size_t variable = 0;
  UsedPlace place;
};

class WriteWalker {
 public:
  WriteWalker(const ParsedSource& source, const SyntaxTree& tree, const WaitsForLanes& waits,
              int calls)
      : source_(source),
        api_(source.api()),
        tree_(tree),
        waits_(waits),
        calls_(calls),
        steady_(source, tree) {}

  /// All of the body's own variables that are declared without a value.
  void watch_declared() {
    for (const SyntaxNode& n : tree_.nodes) {
      if (n.kind == CXCursor_VarDecl && is_declared_unwritten(n)) watch(n.cursor);
      if (n.kind != CXCursor_DeclRefExpr || api_.getCursorKind(n.referenced) != CXCursor_VarDecl)
        continue;
      const CXCursorKind owner = api_.getCursorKind(api_.getCursorSemanticParent(n.referenced));
      if (!is_function(owner) && is_shared(n.referenced)) watch(n.referenced);
    }
  }

  /// One parameter: what it refers or points to, `shared`: in shared memory, `in_array`: an element
  /// of which others may be reached.
  void watch_parameter(CXCursor parameter, bool shared, bool in_array) {
    const CXType type = api_.getCanonicalType(api_.getCursorType(parameter));
    WatchedVariable variable;
    variable.shared = shared;
    variable.type = api_.getCanonicalType(api_.getPointeeType(type));
    if (type.kind == CXType_Pointer) {
      UsedPlace place;
      place.pointer = true;
      place.in_array = place.frozen =
          in_array || api_.getElementType(variable.type).kind != CXType_Invalid;
      if (place.frozen) place.path.emplace_back(kAnyElement);
      aliases_.push_back({.cursor = parameter, .variable = 0, .place = place});
    } else {
      variable.cursor = parameter;
    }
    variables_.push_back(std::move(variable));
  }

  void run() {
    state_.written.resize(variables_.size());
    if (variables_.empty()) return;
    enter_function(0);
    for (std::size_t i = 0; i < variables_.size(); ++i)
      variables_[i].left_written =
          variables_[i].shared ? variables_[i].ever_written : state_.written[i];
  }

  [[nodiscard]] const std::vector<WatchedVariable>& variables() const { return variables_; }

 private:
  enum class Exit : std::uint8_t { loop, cases, function };
  struct Frame {
    Exit kind = Exit::loop;
    std::vector<WrittenState> left;
    bool left_early = false;
  };
  struct Known {
    std::vector<CXCursor> variables;  // of the condition
    std::vector<WrittenParts> written;
  };

  [[nodiscard]] const SyntaxNode& at(std::uint32_t node) const { return tree_.nodes[node]; }
  [[nodiscard]] bool is_expression(std::uint32_t node) const {
    return api_.isExpression(at(node).kind) != 0;
  }
  [[nodiscard]] bool is_shared(CXCursor variable) const {
    return source_.has_attribute(variable, CXCursor_CUDASharedAttr);
  }

  [[nodiscard]] bool is_declared_unwritten(const SyntaxNode& n) const {
    if (at(n.parent).kind == CXCursor_CXXForRangeStmt ||
        at(at(n.parent).parent).kind == CXCursor_CXXForRangeStmt)
      return false;
    if (is_shared(n.cursor)) return true;
    const CX_StorageClass storage = api_.Cursor_getStorageClass(n.cursor);
    if (storage == CX_SC_Static || storage == CX_SC_Extern) return false;
    if (api_.getCursorTLSKind(n.cursor) != CXTLS_None) return false;
    const CXCursor first = api_.Cursor_getVarDeclInitializer(n.cursor);
    if (api_.Cursor_isNull(first) != 0)
      return begins_unwritten(source_, api_.getCursorType(n.cursor));
    // A constructor without arguments may leave all as it is, unless it is S s{} or S().
    if (api_.getCursorKind(first) != CXCursor_CallExpr) return false;
    if (!source_.children(first).empty()) return false;
    const std::string_view text = source_.at(source_.extent_of(first).range);
    const CXCursor constructor = api_.getCursorReferenced(first);
    const bool written =
        api_.Cursor_isNull(constructor) == 0 && api_.CXXMethod_isDefaulted(constructor) == 0;
    if (written) return !constructor_writes_all(source_, constructor);
    return !text.ends_with('}') && !text.ends_with(')') &&
           begins_unwritten(source_, api_.getCursorType(n.cursor));
  }

  void watch(CXCursor cursor) {
    for (const WatchedVariable& known : variables_)
      if (api_.equalCursors(known.cursor, cursor) != 0) return;
    WatchedVariable variable;
    variable.cursor = cursor;
    variable.type = api_.getCanonicalType(api_.getCursorType(cursor));
    variable.shared = is_shared(cursor);
    CXType element = variable.type;
    while (api_.getArrayElementType(element).kind != CXType_Invalid)
      element = api_.getCanonicalType(api_.getArrayElementType(element));
    variable.shown = fmt::format("{}{} {}", variable.shared ? "__shared__ " : "",
                                 source_.type_text(element), source_.spelling(cursor));
    by_hash_.emplace(api_.hashCursor(cursor), variables_.size());
    variables_.push_back(std::move(variable));
  }

  // --- statements ------------------------------------------------------------------------------

  /// A body of a function or lambda: what a return leaves counts at its end.
  void enter_function(std::uint32_t node) {
    const bool reached = state_.reached;
    frames_.push_back({.kind = Exit::function, .left = {}});
    for (const std::uint32_t child : at(node).children) walk(child);
    for (const WrittenState& left : frames_.back().left) state_ = joined(state_, left);
    frames_.pop_back();
    state_.reached = reached;
    if (state_.written.size() != variables_.size()) state_.written.resize(variables_.size());
  }

  void walk_children(std::uint32_t node) {
    for (const std::uint32_t child : at(node).children) walk(child);
  }

  void walk(std::uint32_t node) {
    if (++steps_ > kMostSteps) return give_up();
    const SyntaxNode& n = at(node);
    switch (n.kind) {
      case CXCursor_IfStmt:
        return if_statement(node);
      case CXCursor_ForStmt:
      case CXCursor_CXXForRangeStmt:
      case CXCursor_WhileStmt:
      case CXCursor_DoStmt:
        return loop(node);
      case CXCursor_SwitchStmt:
        return cases(node);
      case CXCursor_CaseStmt:
      case CXCursor_DefaultStmt:
        if (!switches_.empty()) state_ = joined(state_, switches_.back().before);
        if (n.kind == CXCursor_DefaultStmt && !switches_.empty()) switches_.back().complete = true;
        return walk_children(node);
      case CXCursor_LabelStmt:  // reached from anywhere
        state_.reached = true;
        for (WrittenParts& written : state_.written) written.clear();
        return walk_children(node);
      case CXCursor_ReturnStmt:
      case CXCursor_BreakStmt:
      case CXCursor_ContinueStmt:
      case CXCursor_GotoStmt:
      case CXCursor_IndirectGotoStmt:
        walk_children(node);
        return leave(n.kind);
      case CXCursor_BinaryOperator:
        return binary(node);
      case CXCursor_CompoundAssignOperator:
        return from_last(node);
      case CXCursor_ConditionalOperator:
        return n.children.size() == 3 ? either(n.children[0], n.children[1], n.children[2])
                                      : walk_children(node);
      case CXCursor_LambdaExpr:
        return lambda(node);
      case CXCursor_CallExpr:
        return call(node);
      case CXCursor_DeclRefExpr:
        return reference(node);
      case CXCursor_VarDecl:
        walk_children(node);
        if (const auto found = variable_of(n.cursor)) {
          state_.written[*found].clear();
          if (n.kind == CXCursor_VarDecl) forget_conditions(*found);
        }
        return;
      case CXCursor_UnaryExpr:  // sizeof, alignof
      case CXCursor_TypeRef:
      case CXCursor_FunctionDecl:
        return;
      case CXCursor_StructDecl:
      case CXCursor_ClassDecl:
      case CXCursor_UnionDecl:
        return methods(node);
      default:
        return walk_children(node);
    }
  }

  /// Whatever is not looked at was read.
  void give_up() {
    for (WatchedVariable& variable : variables_) variable.read_unwritten = true;
  }

  /// Methods of a local type use no variables of the body but their own.
  void methods(std::uint32_t node) {
    const WrittenState before = state_;
    for (const std::uint32_t child : at(node).children) {
      if (!is_function(at(child).kind)) continue;
      state_.reached = true;
      enter_function(child);
      state_ = before;
    }
  }

  void leave(CXCursorKind kind) {
    const auto wanted = [&](const Frame& frame) {
      if (kind == CXCursor_ReturnStmt) return frame.kind == Exit::function;
      if (kind == CXCursor_BreakStmt) return frame.kind != Exit::function;
      return kind == CXCursor_ContinueStmt && frame.kind == Exit::loop;
    };
    for (std::size_t i = frames_.size(); i-- > 0;) {
      frames_[i].left_early = true;
      if (!wanted(frames_[i])) continue;
      if (state_.reached) frames_[i].left.push_back(state_);
      break;
    }
    state_.reached = false;
  }

  void if_statement(std::uint32_t node) {
    const std::vector<std::uint32_t>& children = at(node).children;
    std::size_t condition = 0;
    while (condition < children.size() && !is_expression(children[condition]))
      walk(children[condition++]);
    if (condition == children.size()) return;
    either(children[condition],
           condition + 1 < children.size() ? std::optional(children[condition + 1]) : std::nullopt,
           condition + 2 < children.size() ? std::optional(children[condition + 2]) : std::nullopt);
  }

  void either(std::uint32_t condition, std::optional<std::uint32_t> yes,
              std::optional<std::uint32_t> no) {
    walk(condition);
    const WrittenState before = state_;
    if (yes) under(condition, "", *yes);
    const WrittenState first = state_;
    state_ = before;
    if (no) under(condition, "not ", *no);
    state_ = joined(first, state_, std::ranges::any_of(frames_, [](const Frame& frame) {
                      return frame.kind == Exit::loop;
                    }));
  }

  /// What the same condition guarded before is there again.
  void under(std::uint32_t condition, std::string_view prefix, std::uint32_t body) {
    const std::optional<std::vector<CXCursor>> variables = steady_.variables_of(condition);
    if (!variables) return walk(body);
    const std::string key = fmt::format("{}{}", prefix, token_text(source_, at(condition).range));
    if (const auto known = known_.find(key); known != known_.end()) {
      const bool same =
          std::ranges::equal(known->second.variables, *variables,
                             [&](CXCursor a, CXCursor b) { return api_.equalCursors(a, b) != 0; });
      for (std::size_t i = 0; i < variables_.size(); ++i)
        for (const PartPath& path : known->second.written[i])
          if (same || has_any_element(path)) state_.written[i].insert(path);
    }
    const std::vector<WrittenParts> before = state_.written;
    walk(body);
    if (!state_.reached) return;
    Known& known = known_[key];
    known.variables = *variables;
    known.written.resize(variables_.size());
    for (std::size_t i = 0; i < variables_.size(); ++i)
      for (const PartPath& path : state_.written[i])
        if (!before[i].contains(path)) known.written[i].insert(path);
  }

  void forget_conditions(std::size_t variable) {
    for (auto& [key, known] : known_) {
      // Elements are judged by their index alone, and so whatever the iteration was.
      std::erase_if(known.written[variable], [](const PartPath& p) { return !has_any_element(p); });
    }
  }

  void loop(std::uint32_t node) {
    const SyntaxNode& n = at(node);
    if (n.children.empty()) return;
    const bool first_body = n.kind == CXCursor_DoStmt;
    const std::size_t body = first_body ? 0 : n.children.size() - 1;
    for (std::size_t i = 0; i < body; ++i) walk(n.children[i]);
    const WrittenState before = state_;
    frames_.push_back({.kind = Exit::loop, .left = {}});
    walk(n.children[body]);
    const bool early = frames_.back().left_early;
    frames_.pop_back();
    for (std::size_t i = body + 1; i < n.children.size(); ++i) walk(n.children[i]);
    if (first_body && !early && state_.reached) return;
    const std::vector<WrittenParts> inside = std::move(state_.written);
    state_ = before;
    for (std::size_t i = 0; i < inside.size(); ++i)
      for (const PartPath& path : inside[i])
        if (has_any_element(path)) state_.written[i].insert(path);
  }

  void cases(std::uint32_t node) {
    const SyntaxNode& n = at(node);
    if (n.children.empty()) return;
    for (std::size_t i = 0; i + 1 < n.children.size(); ++i) walk(n.children[i]);
    switches_.push_back({.before = state_, .complete = false});
    frames_.push_back({.kind = Exit::cases, .left = {}});
    state_.reached = false;
    walk(n.children.back());
    for (const WrittenState& left : frames_.back().left) state_ = joined(state_, left);
    frames_.pop_back();
    if (!switches_.back().complete) state_ = joined(state_, switches_.back().before);
    switches_.pop_back();
  }

  // --- expressions -----------------------------------------------------------------------------

  void from_last(std::uint32_t node) {
    const std::vector<std::uint32_t>& children = at(node).children;
    for (std::size_t i = children.size(); i-- > 0;) walk(children[i]);
  }

  void binary(std::uint32_t node) {
    const SyntaxNode& n = at(node);
    const CXBinaryOperatorKind kind = api_.getCursorBinaryOperatorKind(n.cursor);
    if (kind == CXBinaryOperator_Assign) return from_last(node);
    if (n.children.size() != 2 || (kind != CXBinaryOperator_LAnd && kind != CXBinaryOperator_LOr))
      return walk_children(node);
    walk(n.children[0]);
    const WrittenState before = state_;
    under(n.children[0], kind == CXBinaryOperator_LAnd ? "" : "not ", n.children[1]);
    state_ = before;
  }

  void call(std::uint32_t node) {
    if (operator_name(source_, tree_, node) == "operator=")
      from_last(node);
    else
      walk_children(node);
    if (std::ranges::none_of(variables_, &WatchedVariable::shared) || !waits_(tree_, node)) return;
    for (WatchedVariable& variable : variables_)
      variable.met |= variable.shared && !variable.ever_written.empty();
  }

  /// The variable that a lambda is the value of: it is what is called.
  [[nodiscard]] std::optional<std::uint32_t> keeper_of(std::uint32_t lambda) const {
    std::uint32_t above = at(lambda).parent;
    while (at(above).kind == CXCursor_UnexposedExpr ||
           (at(above).kind == CXCursor_CallExpr &&
            api_.getCursorKind(at(above).referenced) == CXCursor_Constructor))
      above = at(above).parent;
    return at(above).kind == CXCursor_VarDecl ? std::optional(above) : std::nullopt;
  }

  void lambda(std::uint32_t node) {
    if (!keeper_of(node)) return enter_function(node);
    if (!copies_captures(node)) return;
    const WrittenState before = state_;
    enter_function(node);
    state_ = before;
  }

  /// "[=]", "[x]": what is captured is read where the lambda stands.
  [[nodiscard]] bool copies_captures(std::uint32_t node) const {
    const SyntaxNode& n = at(node);
    if (!n.in_main) return true;
    const std::size_t open = source_.token_from(n.range.begin);
    const std::size_t close = source_.closing(open, source_.tokens().size());
    for (std::size_t i = open + 1; i < close; ++i)
      if (source_.token(i) == "=" ||
          (source_.tokens()[i].kind == CXToken_Identifier && source_.token(i - 1) != "&"))
        return true;
    return false;
  }

  [[nodiscard]] std::optional<std::size_t> variable_of(CXCursor cursor) const {
    const auto [first, last] = by_hash_.equal_range(api_.hashCursor(cursor));
    for (auto found = first; found != last; ++found)
      if (api_.equalCursors(variables_[found->second].cursor, cursor) != 0) return found->second;
    for (std::size_t i = 0; i < variables_.size(); ++i)
      if (api_.getCursorKind(variables_[i].cursor) == CXCursor_ParmDecl &&
          api_.equalCursors(variables_[i].cursor, cursor) != 0)
        return i;
    return std::nullopt;
  }

  void reference(std::uint32_t node) {
    const CXCursor named = at(node).referenced;
    if (const auto found = variable_of(named)) return use(node, *found, {});
    for (std::size_t i = 0; i < aliases_.size(); ++i)
      if (api_.equalCursors(aliases_[i].cursor, named) != 0) {
        const Alias alias = aliases_[i];
        use(node, alias.variable, alias.place);
      }
    if (api_.getCursorKind(named) != CXCursor_VarDecl) return;
    const std::optional<std::uint32_t> lambda = lambda_of(named);
    if (!lambda || !walking_.insert(*lambda).second) return;
    enter_function(*lambda);
    walking_.erase(*lambda);
  }

  [[nodiscard]] std::optional<std::uint32_t> lambda_of(CXCursor variable) const {
    if (!lambdas_known_) {
      for (std::uint32_t i = 1; i < tree_.nodes.size(); ++i) {
        if (at(i).kind != CXCursor_LambdaExpr) continue;
        if (const auto keeper = keeper_of(i))
          lambdas_.emplace(api_.hashCursor(at(*keeper).cursor), i);
      }
      lambdas_known_ = true;
    }
    const auto found = lambdas_.find(api_.hashCursor(variable));
    return found == lambdas_.end() ? std::nullopt : std::optional(found->second);
  }

  void use(std::uint32_t node, std::size_t variable, const UsedPlace& start) {
    VariableUse use = use_of(source_, tree_, node, start);
    if (use.alias) {
      const bool known = std::ranges::any_of(aliases_, [&](const Alias& a) {
        return a.variable == variable && a.place.path == use.place.path &&
               api_.equalCursors(a.cursor, *use.alias) != 0;
      });
      if (!known)
        aliases_.push_back({.cursor = *use.alias, .variable = variable, .place = use.place});
    }
    WrittenParts parts{{}};  // of the place: all of it
    if (use.callee) parts = handed_over(use, variables_[variable].shared);
    if (use.read) read(variable, use);
    if (!use.written) return;
    const PartPath place = use.place.path;
    for (const PartPath& part : parts) {
      use.place.path = place;
      if (!use.place.frozen) use.place.path.insert(use.place.path.end(), part.begin(), part.end());
      write(variable, use);
    }
  }

  /// To a function whose body is in sight: what it does with its parameter. The parts that it
  /// writes.
  [[nodiscard]] WrittenParts handed_over(VariableUse& use, bool shared) {
    WrittenParts parts{{}};
    use.read = use.written = true;
    const auto definition = source_.definition_of(*use.callee);
    if (!definition || calls_ >= kMostCalls) return parts;
    std::vector<CXCursor> parameters;
    for (const CXCursor child : source_.children(*definition))
      if (api_.getCursorKind(child) == CXCursor_ParmDecl) parameters.push_back(child);
    if (use.argument >= parameters.size()) return parts;
    const SyntaxTree body = source_.tree_of(*definition);
    WriteWalker inner(source_, body, waits_, calls_ + 1);
    inner.watch_parameter(parameters[use.argument], shared, use.place.in_array || use.place.frozen);
    inner.run();
    const WatchedVariable& parameter = inner.variables_.front();
    use.read = parameter.read_unwritten || body.too_deep;
    use.written = !parameter.left_written.empty();
    // Of an array elements at any index count for all.
    if (!use.place.in_array) parts = parameter.left_written;
    return parts;
  }

  void read(std::size_t index, const VariableUse& use) {
    if (!state_.reached) return;
    WatchedVariable& variable = variables_[index];
    const WrittenParts& written = variable.shared ? variable.ever_written : state_.written[index];
    const bool waited = !variable.shared || variable.met ||
                        variable.written_texts.contains(token_text(source_, at(use.node).range));
    if (!waited || !is_written(source_, written, use.place.path, variable.type, variable.shared))
      variable.read_unwritten = true;
  }

  void write(std::size_t index, const VariableUse& use) {
    WatchedVariable& variable = variables_[index];
    state_.written[index].insert(use.place.path);
    if (!variable.shared) return;
    variable.ever_written.insert(use.place.path);
    variable.written_texts.insert(token_text(source_, at(use.node).range));
  }

  struct Switch {
    WrittenState before;
    bool complete = false;  ///< it has a default
  };

  const ParsedSource& source_;
  const ClangApi& api_;
  const SyntaxTree& tree_;
  const WaitsForLanes& waits_;
  int calls_;
  SteadyConditions steady_;
  std::size_t steps_ = 0;
  std::vector<WatchedVariable> variables_;
  std::multimap<unsigned, std::size_t> by_hash_;
  std::vector<Alias> aliases_;
  WrittenState state_;
  std::vector<Frame> frames_;
  std::vector<Switch> switches_;
  std::map<std::string, Known> known_;  // by the condition's text
  std::set<std::uint32_t> walking_;
  mutable std::map<unsigned, std::uint32_t> lambdas_;
  mutable bool lambdas_known_ = false;
};

}  // namespace

std::vector<std::string> unwritten_reads(const ParsedSource& source, const SyntaxTree& tree,
                                         const WaitsForLanes& waits) {
  WriteWalker walker(source, tree, waits, 0);
  walker.watch_declared();
  walker.run();
  std::set<std::string> names;
  for (const WatchedVariable& variable : walker.variables())
    if (variable.read_unwritten) names.insert(variable.shown);
  return {names.begin(), names.end()};
}

}  // namespace perflab::optimize
