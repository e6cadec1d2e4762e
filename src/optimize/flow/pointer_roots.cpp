// Types that a template leaves open are told by the syntax (clang-c/Index.h: operators on them are
// calls of overloaded names).
#include "optimize/flow/pointer_roots.h"

#include <fmt/format.h>

#include "optimize/ast/tokens.h"
#include "optimize/flow/variable_use.h"

namespace perflab::optimize {
namespace {

constexpr int kMostPointerNesting = 24;  // of types, and of copies of pointers

using Sign = PointerRoots::Sign;

Sign sign_of(CXBinaryOperatorKind kind) {
  switch (kind) {
    case CXBinaryOperator_Add:
    case CXBinaryOperator_AddAssign:
      return Sign::plus;
    case CXBinaryOperator_Sub:
    case CXBinaryOperator_SubAssign:
      return Sign::minus;
    case CXBinaryOperator_LT:
    case CXBinaryOperator_GT:
    case CXBinaryOperator_LE:
    case CXBinaryOperator_GE:
    case CXBinaryOperator_EQ:
    case CXBinaryOperator_NE:
    case CXBinaryOperator_Cmp:
      return Sign::compares;
    default:
      return Sign::none;
  }
}

Sign sign_of_name(std::string_view name) {
  if (name == "operator+" || name == "operator+=") return Sign::plus;
  if (name == "operator-" || name == "operator-=") return Sign::minus;
  if (name == "operator<" || name == "operator>" || name == "operator<=" || name == "operator>=" ||
      name == "operator==" || name == "operator!=" || name == "operator<=>")
    return Sign::compares;
  return Sign::none;
}

}  // namespace

bool is_open_kind(CXTypeKind kind) {
  return kind == CXType_Unexposed || kind == CXType_Dependent || kind == CXType_Invalid ||
         kind == CXType_Auto;
}

bool is_integer_kind(CXTypeKind kind) {
  return (kind >= CXType_Bool && kind <= CXType_Int128) || kind == CXType_Enum;
}

bool is_cast(CXCursorKind kind) {
  return kind == CXCursor_CStyleCastExpr || kind == CXCursor_CXXReinterpretCastExpr ||
         kind == CXCursor_CXXFunctionalCastExpr || kind == CXCursor_CXXStaticCastExpr ||
         kind == CXCursor_CXXConstCastExpr || kind == CXCursor_CXXAddrspaceCastExpr ||
         kind == CXCursor_CXXDynamicCastExpr;
}

PointerRoots::PointerRoots(const ParsedSource& source, const SyntaxTree& tree)
    : source_(source), api_(source.api()), tree_(tree) {
  read_values();
}

CXType PointerRoots::type(std::uint32_t node) const {
  return api_.getCanonicalType(api_.getCursorType(at(node).cursor));
}

std::string PointerRoots::bare(CXType type) const {
  if (type.kind == CXType_Invalid) return {};
  return source_.type_text(api_.getUnqualifiedType(api_.getCanonicalType(type)));
}

std::string PointerRoots::text_of(std::uint32_t node) const {
  return at(node).in_main ? token_text(source_, at(node).range) : std::string("(in a header)");
}

std::optional<std::uint32_t> PointerRoots::inner(std::uint32_t node) const {
  const std::vector<std::uint32_t>& children = at(node).children;
  if (children.empty() || api_.isExpression(at(children.back()).kind) == 0) return std::nullopt;
  return children.back();
}

std::uint32_t PointerRoots::unwrapped(std::uint32_t node) const {
  while (at(node).kind == CXCursor_ParenExpr || at(node).kind == CXCursor_UnexposedExpr) {
    const auto child = inner(node);
    if (!child || at(node).children.size() != 1) break;
    node = *child;
  }
  return node;
}

bool PointerRoots::holds_pointer(CXType type, int depth) const {
  type = api_.getCanonicalType(type);
  if (depth == kMostPointerNesting) return true;
  if (type.kind == CXType_Pointer || type.kind == CXType_LValueReference ||
      type.kind == CXType_RValueReference || type.kind == CXType_MemberPointer)
    return true;
  if (is_array_kind(type.kind)) return holds_pointer(api_.getArrayElementType(type), depth + 1);
  // Descriptors of memory are pointers, too.
  if (const std::string name = bare(type);
      name == "__amdgpu_buffer_rsrc_t" || name == "__amdgpu_texture_t")
    return true;
  if (type.kind != CXType_Record) return false;
  for (const CXCursor field : fields_of(type))
    if (holds_pointer(api_.getCursorType(field), depth + 1)) return true;
  for (const CXCursor child : source_.children(api_.getTypeDeclaration(type)))
    if (api_.getCursorKind(child) == CXCursor_CXXBaseSpecifier &&
        holds_pointer(api_.getCursorType(child), depth + 1))
      return true;
  return false;
}

std::vector<CXCursor> PointerRoots::fields_of(CXType record) const {
  std::vector<CXCursor> fields;
  api_.Type_visitFields(
      record,
      [](CXCursor field, CXClientData list) {
        static_cast<std::vector<CXCursor>*>(list)->push_back(field);
        return CXVisit_Continue;
      },
      &fields);
  return fields;
}

PointerRoots::Operation PointerRoots::operation(std::uint32_t node) const {
  const SyntaxNode& n = at(node);
  if ((n.kind == CXCursor_BinaryOperator || n.kind == CXCursor_CompoundAssignOperator) &&
      n.children.size() == 2)
    return {.sign = sign_of(api_.getCursorBinaryOperatorKind(n.cursor)),
            .left = n.children[0],
            .right = n.children[1]};
  if (n.kind == CXCursor_CallExpr && n.children.size() == 3)
    return {.sign = sign_of_name(operator_name(source_, tree_, node)),
            .left = n.children[0],
            .right = n.children[2]};
  return {};
}

CXUnaryOperatorKind PointerRoots::unary_operation(std::uint32_t node) const {
  const SyntaxNode& n = at(node);
  if (n.kind == CXCursor_UnaryOperator) return api_.getCursorUnaryOperatorKind(n.cursor);
  if (n.kind != CXCursor_CallExpr || n.children.size() != 2) return CXUnaryOperator_Invalid;
  const std::string name = operator_name(source_, tree_, node);
  if (name == "operator&") return CXUnaryOperator_AddrOf;
  if (name == "operator*") return CXUnaryOperator_Deref;
  if (name == "operator++") return CXUnaryOperator_PreInc;
  return name == "operator--" ? CXUnaryOperator_PreDec : CXUnaryOperator_Invalid;
}

std::optional<std::uint32_t> PointerRoots::operand(std::uint32_t node) const {
  for (const std::uint32_t child : at(node).children) {
    const CXCursorKind named = api_.getCursorKind(at(child).referenced);
    if (!is_function(named) && named != CXCursor_OverloadedDeclRef) return child;
  }
  return std::nullopt;
}

bool PointerRoots::is_pointer(std::uint32_t node, int depth) const {
  const CXType own = type(node);
  if (own.kind == CXType_Pointer || is_array_kind(own.kind)) return true;
  if (!is_open_kind(own.kind) || depth == kMostPointerNesting) return false;
  const SyntaxNode& n = at(node);
  const CXUnaryOperatorKind unary = unary_operation(node);
  if (unary == CXUnaryOperator_AddrOf) return true;
  if (unary >= CXUnaryOperator_PostInc && unary <= CXUnaryOperator_PreDec)
    return operand(node) && is_pointer(*operand(node), depth + 1);
  switch (n.kind) {
    case CXCursor_ParenExpr:
    case CXCursor_UnexposedExpr:
      return inner(node) && is_pointer(*inner(node), depth + 1);
    case CXCursor_ConditionalOperator:
      return n.children.size() == 3 && is_pointer(n.children[1], depth + 1) &&
             is_pointer(n.children[2], depth + 1);
    case CXCursor_DeclRefExpr: {
      if (api_.getCursorKind(n.referenced) != CXCursor_VarDecl) return false;
      const std::vector<std::uint32_t> values = values_of(n.referenced);
      return !values.empty() && is_pointer(values.front(), depth + 1);
    }
    default: {
      const Operation sum = operation(node);
      if (sum.sign == Sign::plus)
        return is_pointer(sum.left, depth + 1) != is_pointer(sum.right, depth + 1);
      return sum.sign == Sign::minus && is_pointer(sum.left, depth + 1) &&
             !is_pointer(sum.right, depth + 1);
    }
  }
}

// --- where pointers come from ----------------------------------------------------------------

std::string PointerRoots::name_of(CXCursor variable) const {
  return fmt::format("{}#{}", source_.spelling(variable), api_.hashCursor(variable));
}

/// What is assigned to variables, their initialisers included; by hash of the variable.
void PointerRoots::read_values() {
  for (const SyntaxNode& n : tree_.nodes) {
    if (n.kind == CXCursor_VarDecl) {
      const CXCursor first = api_.Cursor_getVarDeclInitializer(n.cursor);
      for (const std::uint32_t child : n.children)
        if (api_.equalCursors(at(child).cursor, first) != 0)
          values_.emplace(api_.hashCursor(n.cursor), child);
    }
    if (n.kind != CXCursor_BinaryOperator || n.children.size() != 2 ||
        api_.getCursorBinaryOperatorKind(n.cursor) != CXBinaryOperator_Assign)
      continue;
    const SyntaxNode& target = at(unwrapped(n.children[0]));
    if (target.kind == CXCursor_DeclRefExpr)
      values_.emplace(api_.hashCursor(target.referenced), n.children[1]);
  }
}

std::vector<std::uint32_t> PointerRoots::values_of(CXCursor variable) const {
  std::vector<std::uint32_t> values;
  const auto [first, last] = values_.equal_range(api_.hashCursor(variable));
  for (auto found = first; found != last; ++found) values.push_back(found->second);
  return values;
}

void PointerRoots::variable_roots(CXCursor variable, Roots& roots, int depth) const {
  const CXTypeKind kind = api_.getCanonicalType(api_.getCursorType(variable)).kind;
  const bool follows = !is_array_kind(kind) && kind != CXType_Record;
  const std::vector<std::uint32_t> values =
      follows ? values_of(variable) : std::vector<std::uint32_t>();
  const bool given = api_.getCursorKind(variable) != CXCursor_VarDecl;
  if (values.empty() || given) roots.insert(name_of(variable));
  // Every copy is followed once.
  if (!seen_.insert(api_.hashCursor(variable)).second) return;
  for (const std::uint32_t value : values)
    kind == CXType_LValueReference && !is_pointer(value) ? object_roots(value, roots, depth + 1)
                                                         : add_roots(value, roots, depth + 1);
}

/// Of what a pointer points into, told of the expression.
void PointerRoots::add_roots(std::uint32_t node, Roots& roots, int depth) const {
  const SyntaxNode& n = at(node);
  const auto unknown = [&] { roots.emplace(kUnknownRoot); };
  if (depth == kMostPointerNesting) return unknown();
  const Operation sum = operation(node);
  if (sum.sign == Sign::plus || sum.sign == Sign::minus)
    return add_roots(is_pointer(sum.left) ? sum.left : sum.right, roots, depth + 1);
  const CXUnaryOperatorKind unary = unary_operation(node);
  if (unary != CXUnaryOperator_Invalid) {
    const auto of = operand(node);
    if (!of) return unknown();
    if (unary == CXUnaryOperator_AddrOf) return object_roots(*of, roots, depth + 1);
    if (unary <= CXUnaryOperator_PreDec) return add_roots(*of, roots, depth + 1);
    roots.insert("element " + text_of(*of));
    return;
  }
  switch (n.kind) {
    case CXCursor_DeclRefExpr:
      return variable_roots(n.referenced, roots, depth);
    case CXCursor_IntegerLiteral:
    case CXCursor_CXXNullPtrLiteralExpr:
    case CXCursor_GNUNullExpr:
      roots.emplace(kNullRoot);
      return;
    case CXCursor_InitListExpr:
    case CXCursor_ParenExpr:
    case CXCursor_UnexposedExpr:
      break;
    case CXCursor_MemberRefExpr:
      roots.insert("member " + text_of(node));
      return;
    case CXCursor_ArraySubscriptExpr:
      if (is_array_kind(type(node).kind)) return object_roots(node, roots, depth + 1);
      roots.insert("element " + text_of(n.children.empty() ? node : n.children.front()));
      return;
    case CXCursor_StringLiteral:
      roots.insert(text_of(node));
      return;
    case CXCursor_ConditionalOperator:
      for (std::size_t i = 1; i < n.children.size(); ++i)
        add_roots(n.children[i], roots, depth + 1);
      return;
    case CXCursor_BinaryOperator:
      if (n.children.size() == 2) return add_roots(n.children[1], roots, depth + 1);
      return unknown();
    default:
      if (!is_cast(n.kind)) return unknown();
  }
  if (const auto child = inner(node)) return add_roots(*child, roots, depth + 1);
  roots.emplace(kNullRoot);  // P(), P{}
}

/// The object that an lvalue is a part of.
void PointerRoots::object_roots(std::uint32_t node, Roots& roots, int depth) const {
  const SyntaxNode& n = at(node);
  const auto child = n.children.empty() ? std::nullopt : std::optional(n.children.front());
  if (depth == kMostPointerNesting || !child) {
    n.kind == CXCursor_DeclRefExpr ? variable_roots(n.referenced, roots, depth)
                                   : void(roots.emplace(kUnknownRoot));
    return;
  }
  switch (n.kind) {
    case CXCursor_ParenExpr:
    case CXCursor_UnexposedExpr:
      return object_roots(*child, roots, depth + 1);
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_UnaryOperator:
      return add_roots(*child, roots, depth + 1);
    case CXCursor_MemberRefExpr:
      return is_pointer(*child) ? add_roots(*child, roots, depth + 1)
                                : object_roots(*child, roots, depth + 1);
    case CXCursor_DeclRefExpr:
      return variable_roots(n.referenced, roots, depth);
    default:
      roots.emplace(kUnknownRoot);
  }
}

Roots PointerRoots::roots_of(std::uint32_t node) const {
  Roots roots;
  seen_.clear();
  add_roots(node, roots, 0);
  return roots;
}

}  // namespace perflab::optimize
