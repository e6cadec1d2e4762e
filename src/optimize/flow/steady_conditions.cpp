// A condition is steady when all of its variables are, and it looks at nothing else.
#include "optimize/flow/steady_conditions.h"

#include "optimize/flow/call_names.h"
#include "optimize/flow/source_access.h"

namespace perflab::optimize {

bool SteadyConditions::may_differ(const SyntaxNode& node) const {
  switch (node.kind) {
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_CompoundAssignOperator:
    case CXCursor_LambdaExpr:
      return true;
    case CXCursor_UnexposedExpr:  // a conversion has one operand, an atomic access several
      return node.children.size() > 1;
    case CXCursor_MemberRefExpr:
      return !node.children.empty() &&
             api_.getCanonicalType(api_.getCursorType(at(node.children[0]).cursor)).kind ==
                 CXType_Pointer;
    case CXCursor_CallExpr:
      return kind_of_call(source_.qualified_name(node.referenced)) != CallKind::harmless;
    case CXCursor_UnaryOperator: {
      const CXUnaryOperatorKind kind = api_.getCursorUnaryOperatorKind(node.cursor);
      return kind == CXUnaryOperator_Deref || kind <= CXUnaryOperator_AddrOf;
    }
    case CXCursor_BinaryOperator:
      return api_.getCursorBinaryOperatorKind(node.cursor) == CXBinaryOperator_Assign;
    default:
      return false;
  }
}

std::optional<std::vector<CXCursor>> SteadyConditions::variables_of(std::uint32_t condition) const {
  std::vector<CXCursor> variables;
  if (!at(condition).in_main) return std::nullopt;
  for (std::uint32_t i = condition; i < tree_.subtree_end(condition); ++i) {
    const SyntaxNode& n = at(i);
    if (may_differ(n)) return std::nullopt;
    const CXCursorKind kind = api_.getCursorKind(n.referenced);
    if (n.kind != CXCursor_DeclRefExpr || (kind != CXCursor_VarDecl && kind != CXCursor_ParmDecl))
      continue;
    if (is_index_variable(source_.qualified_name(n.referenced))) continue;
    if (changes(n.referenced)) return std::nullopt;
    variables.push_back(n.referenced);
  }
  return variables;
}

bool SteadyConditions::changes(CXCursor variable) const {
  const unsigned hash = api_.hashCursor(variable);
  if (const auto found = changes_.find(hash); found != changes_.end()) return found->second;
  const TextRange declared = source_.extent_of(variable).range;
  bool found = false;
  for (const std::uint32_t use : uses_of(source_, tree_, variable)) {
    const Access access = access_of(source_, tree_, use, UseStart::object);
    if (!access.written && !access.escaped) continue;
    std::uint32_t below = use;
    while (below != 0 && !is_loop(at(at(below).parent).kind)) below = at(below).parent;
    const SyntaxNode& around = at(at(below).parent);
    found |= below == 0 || around.kind != CXCursor_ForStmt || around.children.back() == below ||
             !around.range.contains(declared);
  }
  return changes_[hash] = found;
}

}  // namespace perflab::optimize
