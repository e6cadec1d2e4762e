// What each expression on the way up does with an object, or with what a pointer points to.
#include "optimize/flow/source_access.h"

#include <algorithm>

#include "optimize/flow/climber.h"

namespace perflab::optimize {
namespace {

constexpr std::size_t kMostCopies = 1000;

class AccessClimber : Climber<AccessClimber> {
 public:
  AccessClimber(const ParsedSource& source, const SyntaxTree& tree, std::uint32_t node,
                UseStart start)
      : Climber(source, tree, node), state_(start) {}

  Access access() {
    climb();
    return access_;
  }

 private:
  friend Climber<AccessClimber>;

  [[nodiscard]] bool is_element() const { return state_ == UseStart::object; }

  bool up_as(UseStart state) {
    state_ = state;
    return up();
  }
  bool unknown() {
    access_.both();
    return false;
  }
  /// The value is taken, no more: of an element that is a read, of a pointer nothing.
  bool taken() {
    if (is_element()) access_.read = true;
    return false;
  }

  bool other() {
    switch (parent().kind) {
      case CXCursor_InitListExpr:
        return is_element() ? taken() : unknown();
      case CXCursor_LambdaExpr:  // a capture; what the lambda does is in its body
        return done();
      case CXCursor_ReturnStmt:
      case CXCursor_GCCAsmStmt:
      case CXCursor_MSAsmStmt:
      case CXCursor_UnexposedStmt:
        return unknown();
      default:
        return api_.isStatement(parent().kind) != 0 ? taken() : unknown();
    }
  }

  bool conversion() {
    if (parent().children.size() != 1) return unknown();
    if (!is_element()) return up();
    const CXType from = type(node());
    const CXType to = type(parent());
    if (is_array_kind(from.kind)) return up_as(UseStart::pointer);
    if (to.kind == CXType_Record)
      return api_.isConstQualifiedType(to) != 0 && api_.isConstQualifiedType(from) == 0 ? taken()
                                                                                        : up();
    if (to.kind == CXType_Unexposed || to.kind == CXType_Dependent) return up();
    return taken();
  }

  bool cast() {
    if (is_element()) return up();  // a value was taken below; what is left is a reference
    const CXTypeKind to = type(parent()).kind;
    return to == CXType_Pointer || to == CXType_Void ? (to == CXType_Void ? done() : up())
                                                     : unknown();
  }

  bool subscript() {
    if (!is_child(0)) {
      // 3[array], or the index of another element.
      const CXTypeKind kind = type(node()).kind;
      return is_element() || kind != CXType_Pointer ? taken() : unknown();
    }
    // An element that is a pointer itself leads to other objects: reading it is all that is known.
    if (is_element()) return type(node()).kind == CXType_Pointer ? taken() : up();
    return up_as(UseStart::object);
  }

  bool member() {
    // Of a method the call says what happens.
    if (is_function(api_.getCursorKind(parent().referenced))) {
      if (api_.CXXMethod_isConst(parent().referenced) != 0) {
        access_.read = true;
        return false;
      }
      return unknown();
    }
    if (api_.Cursor_isNull(parent().referenced) != 0) return unknown();
    return up_as(UseStart::object);
  }

  bool unary() {
    const CXUnaryOperatorKind kind = api_.getCursorUnaryOperatorKind(parent().cursor);
    switch (kind) {
      case CXUnaryOperator_AddrOf:
        return is_element() ? up_as(UseStart::pointer) : unknown();
      case CXUnaryOperator_Deref:
        return is_element() ? taken() : up_as(UseStart::object);
      case CXUnaryOperator_PostInc:
      case CXUnaryOperator_PostDec:
      case CXUnaryOperator_PreInc:
      case CXUnaryOperator_PreDec:
        if (!is_element()) return up();  // the pointer moves
        access_.read = access_.written = true;
        return false;
      case CXUnaryOperator_Invalid:
        return unknown();
      default:
        return taken();
    }
  }

  bool binary() {
    const CXBinaryOperatorKind kind = api_.getCursorBinaryOperatorKind(parent().cursor);
    const bool left = is_child(0);
    if (kind == CXBinaryOperator_Comma) return left ? taken() : up();
    if (kind == CXBinaryOperator_Invalid) return unknown();
    if (kind == CXBinaryOperator_Assign) return left ? assigned() : assigned_from();
    const bool compound = kind > CXBinaryOperator_Assign && kind < CXBinaryOperator_Comma;
    if (is_element()) {
      access_.read = true;
      if (compound && left) access_.written = true;
      return false;
    }
    const CXTypeKind result = type(parent()).kind;
    if (kind == CXBinaryOperator_Add || kind == CXBinaryOperator_Sub || compound) {
      if (result == CXType_Pointer) return up();
      return kind == CXBinaryOperator_Sub && result != CXType_Unexposed ? done() : unknown();
    }
    return done();  // comparisons
  }

  bool assigned() {
    if (!is_element()) return done();  // the pointer points elsewhere now
    access_.written = true;
    // What uses the assignment's value gets the object itself.
    const SyntaxNode& above = tree_.nodes[parent().parent];
    if (api_.isStatement(above.kind) == 0) access_.both();
    return false;
  }

  bool assigned_from() {
    if (is_element()) return taken();
    const SyntaxNode& target = tree_.nodes[parent().children.front()];
    if (target.kind != CXCursor_DeclRefExpr ||
        api_.getCursorKind(target.referenced) != CXCursor_VarDecl)
      return unknown();
    access_.alias = target.referenced;
    return false;
  }

  bool initialiser() {
    const CXType declared = api_.getCursorType(parent().cursor);
    const CXType canonical = api_.getCanonicalType(declared);
    if (is_reference_kind(canonical.kind)) {
      if (is_element() && api_.isConstQualifiedType(api_.getPointeeType(canonical)) != 0 &&
          type(node()).kind != CXType_Record)
        access_.escaped = access_.read = true;
      else
        access_.both();
      return false;
    }
    if (is_element()) return taken();
    if (canonical.kind != CXType_Pointer && declared.kind != CXType_Auto) return unknown();
    access_.alias = parent().cursor;
    return false;
  }

  /// Given to a function: which parameter gets it says whether it can be written.
  bool call() {
    const CXCursor callee = parent().referenced;
    if (api_.Cursor_isNull(callee) != 0) {
      for (const std::uint32_t child : parent().children)
        if (const CXCursor named = tree_.nodes[child].referenced;
            api_.getCursorKind(named) == CXCursor_OverloadedDeclRef && is_element() &&
            is_reading_operator(named))
          return taken();
      return unknown();
    }
    const auto index = parameter_index(source_, tree_, node_);
    const CXType function = api_.getCursorType(callee);
    if (!index || static_cast<int>(*index) >= api_.getNumArgTypes(function)) return unknown();
    const CXType wanted =
        api_.getCanonicalType(api_.getArgType(function, static_cast<unsigned>(*index)));
    const CXType inner = api_.getPointeeType(wanted);
    if (is_element()) {
      if (is_reference_kind(wanted.kind) && api_.isConstQualifiedType(inner) == 0) return unknown();
      access_.read = true;
      return false;
    }
    if (wanted.kind != CXType_Pointer || api_.isConstQualifiedType(inner) == 0) return unknown();
    if (!keeps_const(callee)) return unknown();
    access_.read = true;
    return false;
  }

  /// An operator of a template that is still open, all of whose candidates leave what they get as
  /// it is.
  [[nodiscard]] bool is_reading_operator(CXCursor overloads) const {
    if (!source_.spelling(overloads).starts_with("operator")) return false;
    const unsigned count = api_.getNumOverloadedDecls(overloads);
    for (unsigned i = 0; i < count; ++i) {
      const CXType type = api_.getCursorType(api_.getOverloadedDecl(overloads, i));
      for (int argument = 0; argument < api_.getNumArgTypes(type); ++argument) {
        const CXType wanted =
            api_.getCanonicalType(api_.getArgType(type, static_cast<unsigned>(argument)));
        if (is_reference_kind(wanted.kind) &&
            api_.isConstQualifiedType(api_.getPointeeType(wanted)) == 0)
          return false;
      }
    }
    return count > 0;
  }

  /// Whether the callee can be seen not to write through its pointers to const, nor to keep them:
  /// no casts of pointers and no calls in its body.
  [[nodiscard]] bool keeps_const(CXCursor callee) const {
    const auto definition = source_.definition_of(callee);
    if (!definition) return false;
    const SyntaxTree body = source_.tree_of(*definition);
    if (body.too_deep) return false;
    return std::ranges::none_of(body.nodes, [&](const SyntaxNode& n) {
      switch (n.kind) {
        case CXCursor_CStyleCastExpr:
        case CXCursor_CXXReinterpretCastExpr:
        case CXCursor_CXXConstCastExpr:
        case CXCursor_CXXFunctionalCastExpr:
          return type(n).kind == CXType_Pointer || type(n).kind == CXType_Unexposed ||
                 n.kind == CXCursor_CXXReinterpretCastExpr || n.kind == CXCursor_CXXConstCastExpr;
        case CXCursor_ReturnStmt:
          return !n.children.empty() && type(body.nodes[n.children[0]]).kind == CXType_Pointer;
        case CXCursor_GCCAsmStmt:
          return true;
        case CXCursor_CallExpr:
          return call_takes_pointer(body, n);
        default:
          return false;
      }
    });
  }

  [[nodiscard]] bool call_takes_pointer(const SyntaxTree& body, const SyntaxNode& call) const {
    return api_.Cursor_isNull(call.referenced) != 0 ||
           std::ranges::any_of(call.children, [&](std::uint32_t child) {
             const SyntaxNode& n = body.nodes[child];
             const CXTypeKind kind = type(n).kind;
             return kind == CXType_Pointer && !is_function(api_.getCursorKind(n.referenced));
           });
  }

  UseStart state_;
  Access access_;
};

}  // namespace

std::optional<std::size_t> parameter_index(const ParsedSource& source, const SyntaxTree& tree,
                                           std::uint32_t node) {
  const ClangApi& api = source.api();
  const SyntaxNode& call = tree.nodes[tree.nodes[node].parent];
  const int arguments = api.Cursor_getNumArguments(call.cursor);
  int index = -1;
  for (int i = 0; i < arguments; ++i)
    if (api.equalCursors(api.Cursor_getArgument(call.cursor, static_cast<unsigned>(i)),
                         tree.nodes[node].cursor) != 0)
      index = i;
  if (api.Cursor_isNull(call.referenced) == 0 &&
      api.getCursorKind(call.referenced) == CXCursor_CXXMethod &&
      arguments == api.getNumArgTypes(api.getCursorType(call.referenced)) + 1)
    --index;
  return index < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(index));
}

Access access_of(const ParsedSource& source, const SyntaxTree& tree, std::uint32_t node,
                 UseStart start) {
  return AccessClimber(source, tree, node, start).access();
}

std::vector<std::uint32_t> uses_of(const ParsedSource& source, const SyntaxTree& tree,
                                   CXCursor variable) {
  std::vector<std::uint32_t> uses;
  for (std::uint32_t i = 1; i < tree.nodes.size(); ++i)
    if (tree.nodes[i].kind == CXCursor_DeclRefExpr &&
        source.api().equalCursors(tree.nodes[i].referenced, variable) != 0)
      uses.push_back(i);
  return uses;
}

bool is_one_of(const ParsedSource& source, CXCursor cursor, const std::vector<CXCursor>& list) {
  return std::ranges::any_of(
      list, [&](CXCursor other) { return source.api().equalCursors(cursor, other) != 0; });
}

Access access_through(const ParsedSource& source, const SyntaxTree& tree,
                      std::vector<CXCursor>& variables) {
  Access all;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    for (const std::uint32_t use : uses_of(source, tree, variables[i])) {
      const Access access = access_of(source, tree, use, UseStart::pointer);
      all |= access;
      if (!access.alias || is_one_of(source, *access.alias, variables)) continue;
      if (variables.size() == kMostCopies) {
        all.both();
        return all;
      }
      variables.push_back(*access.alias);
    }
  }
  return all;
}

}  // namespace perflab::optimize
