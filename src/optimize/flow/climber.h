// Upwards from a name through the expressions that it stands in, as libclang shows them: implicit
// conversions are "unexposed" nodes with one child (missing where a template leaves types open),
// operators tell their kind (clang-c/Index.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "optimize/ast/syntax_tree.h"

namespace perflab::optimize {

/// One use on its way up. `Policy` derives from this, is its friend, and says what each kind of
/// expression does: a function per kind, which goes up() (true) or ends there (false).
template <class Policy>
class Climber {
 protected:
  Climber(const ParsedSource& source, const SyntaxTree& tree, std::uint32_t node)
      : source_(source), api_(source.api()), tree_(tree), node_(node) {}

  void climb() {
    while (node_ != 0 && step(static_cast<Policy&>(*this))) {
    }
  }

  [[nodiscard]] const SyntaxNode& node() const { return tree_.nodes[node_]; }
  [[nodiscard]] const SyntaxNode& parent() const { return tree_.nodes[node().parent]; }
  [[nodiscard]] bool is_child(std::size_t index) const {
    return parent().children.size() > index && parent().children[index] == node_;
  }
  [[nodiscard]] CXType type(const SyntaxNode& of) const {
    return api_.getCanonicalType(api_.getCursorType(of.cursor));
  }
  bool up() {
    node_ = node().parent;
    return true;
  }
  static bool done() { return false; }

  const ParsedSource& source_;
  const ClangApi& api_;
  const SyntaxTree& tree_;
  std::uint32_t node_;  ///< the expression that was reached

 private:
  bool step(Policy& policy) {
    switch (parent().kind) {
      case CXCursor_ParenExpr:
      case CXCursor_PackExpansionExpr:
        return up();
      case CXCursor_UnexposedExpr:
        return policy.conversion();
      case CXCursor_CStyleCastExpr:
      case CXCursor_CXXStaticCastExpr:
      case CXCursor_CXXReinterpretCastExpr:
      case CXCursor_CXXConstCastExpr:
      case CXCursor_CXXFunctionalCastExpr:
      case CXCursor_CXXAddrspaceCastExpr:
        return policy.cast();
      case CXCursor_ArraySubscriptExpr:
        return policy.subscript();
      case CXCursor_MemberRefExpr:
        return policy.member();
      case CXCursor_UnaryOperator:
        return policy.unary();
      case CXCursor_BinaryOperator:
      case CXCursor_CompoundAssignOperator:
        return policy.binary();
      case CXCursor_ConditionalOperator:
        return is_child(0) ? policy.taken() : up();
      case CXCursor_CallExpr:
        return policy.call();
      case CXCursor_VarDecl:
        return policy.initialiser();
      case CXCursor_UnaryExpr:  // sizeof, alignof
        return done();
      default:
        return policy.other();
    }
  }
};

}  // namespace perflab::optimize
