// Each expression by itself; where its pointers come from says pointer_roots.h.
#include "optimize/flow/made_pointers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "optimize/flow/pointer_roots.h"

namespace perflab::optimize {
namespace {

constexpr int kMostRecords = 24;               // one in the other
constexpr std::int64_t kMostAlignment = 4096;  // bytes, a page: beyond it an address is asked for

bool is_record_declaration(CXCursorKind kind) {
  return kind == CXCursor_StructDecl || kind == CXCursor_ClassDecl || kind == CXCursor_UnionDecl;
}

using Sign = PointerRoots::Sign;

class PointerFinder : private PointerRoots {
 public:
  PointerFinder(const ParsedSource& source, const SyntaxTree& tree)
      : PointerRoots(source, tree), source_(source), api_(source.api()), tree_(tree) {}

  std::vector<std::string> find() {
    for (std::uint32_t i = 1; i < tree_.nodes.size(); ++i) look_at(i);
    return {found_.begin(), found_.end()};
  }

 private:
  [[nodiscard]] const SyntaxNode& at(std::uint32_t node) const { return tree_.nodes[node]; }
  [[nodiscard]] CXType type(std::uint32_t node) const { return canonical(at(node).cursor); }
  [[nodiscard]] CXType canonical(CXCursor cursor) const {
    return api_.getCanonicalType(api_.getCursorType(cursor));
  }
  [[nodiscard]] CXType pointee(CXType type) const {
    return api_.getCanonicalType(api_.getPointeeType(type));
  }
  void note(std::uint32_t node, std::string_view what = {}) {
    found_.insert(what.empty() ? text_of(node) : fmt::format("{} ({})", text_of(node), what));
  }

  /// How many pointers an object of the type has, as far as they are counted here.
  [[nodiscard]] std::int64_t pointers_in(CXType type, int depth = 0) const {
    type = api_.getCanonicalType(type);
    if (depth == kMostRecords || !holds_pointer(type)) return 0;
    if (type.kind == CXType_ConstantArray)
      return std::min<std::int64_t>(api_.getArraySize(type), INT32_MAX) *
             std::min<std::int64_t>(pointers_in(api_.getArrayElementType(type), depth + 1),
                                    INT32_MAX);
    if (type.kind != CXType_Record) return 1;
    std::int64_t count = 0;
    for (const CXCursor field : fields_of(type))
      count += pointers_in(api_.getCursorType(field), depth + 1);
    return count;
  }

  /// Neither of them says anything about the other.
  [[nodiscard]] bool are_unrelated(std::uint32_t left, std::uint32_t right, bool compared) const {
    Roots all = roots_of(left);
    Roots second = roots_of(right);
    const auto is_null = [](const Roots& roots) {
      return roots.size() == 1 && roots.contains(std::string(kNullRoot));
    };
    if (compared && (is_null(all) || is_null(second))) return false;
    all.merge(second);
    all.erase(std::string(kNullRoot));
    return all.size() != 1 || all.contains(std::string(kUnknownRoot));
  }

  [[nodiscard]] bool may_be_null(std::uint32_t node) const {
    return roots_of(node).contains(std::string(kNullRoot));
  }

  // --- what is looked for ----------------------------------------------------------------------

  void look_at(std::uint32_t node) {
    const SyntaxNode& n = at(node);
    if (is_cast(n.kind)) explicit_cast(node);
    switch (n.kind) {
      case CXCursor_BuiltinBitCastExpr:
        return bits(node);
      case CXCursor_UnexposedExpr:
        return bytes(node);
      case CXCursor_FieldDecl:
        if (is_in_union(n.cursor) && holds_pointer(api_.getCursorType(n.cursor)))
          found_.insert("union with " + source_.spelling(n.cursor));
        return;
      case CXCursor_MemberRefExpr:
        return member(node);
      case CXCursor_InitListExpr:
        return record_of(node);
      case CXCursor_ArraySubscriptExpr:
        if (n.children.size() == 2 && is_pointer(n.children[0]) && may_be_null(n.children[0]))
          note(node, "from null");
        return;
      case CXCursor_UnaryOperator:
        return unary(node);
      case CXCursor_CallExpr:
        call(node);
        unary(node);
        [[fallthrough]];
      case CXCursor_BinaryOperator:
      case CXCursor_CompoundAssignOperator:
        return arithmetic(node);
      default:
        return;
    }
  }

  /// `(address % 16)`, `((address | other) & 15)`: whether memory is aligned is a fair question.
  [[nodiscard]] bool asks_alignment(std::uint32_t node) const {
    std::uint32_t above = at(node).parent;
    std::uint32_t below = node;
    const auto combines = [&](const SyntaxNode& n) {
      return n.kind == CXCursor_BinaryOperator &&
             api_.getCursorBinaryOperatorKind(n.cursor) == CXBinaryOperator_Or;
    };
    while (at(above).kind == CXCursor_ParenExpr || at(above).kind == CXCursor_UnexposedExpr ||
           combines(at(above))) {
      below = above;
      above = at(above).parent;
    }
    const SyntaxNode& n = at(above);
    if (n.kind != CXCursor_BinaryOperator || n.children.size() != 2) return false;
    const CXBinaryOperatorKind kind = api_.getCursorBinaryOperatorKind(n.cursor);
    const bool first = n.children[0] == below;
    if (kind != CXBinaryOperator_And && !(kind == CXBinaryOperator_Rem && first)) return false;
    const auto value = source_.value_of(at(unwrapped(n.children[first ? 1 : 0])).cursor);
    return value && *value >= 0 && *value <= kMostAlignment;
  }

  /// Whether an open type may be a pointer's although no '*' shows: parameters of the function's
  /// own template are given from outside, all others by the body.
  [[nodiscard]] bool may_name_pointer(std::uint32_t node, std::string_view written) const {
    for (const std::string_view word : {"*", "decltype", "pointer", "auto"})
      if (written.find(word) != std::string_view::npos) return true;
    for (const std::uint32_t child : at(node).children) {
      const SyntaxNode& n = at(child);
      if (n.kind != CXCursor_TypeRef) continue;
      const CXCursorKind kind = api_.getCursorKind(n.referenced);
      if (kind == CXCursor_TemplateTypeParameter) {
        if (!std::ranges::any_of(at(0).children, [&](std::uint32_t own) {
              return api_.equalCursors(at(own).cursor, n.referenced) != 0;
            }))
          return true;
        continue;
      }
      const CXType named = canonical(n.referenced);
      if (holds_pointer(named)) return true;
      const std::string spelled = source_.type_text(named);
      if (spelled.find("decltype") != std::string::npos ||
          spelled.find("pointer") != std::string::npos)
        return true;
    }
    return false;
  }

  void explicit_cast(std::uint32_t node) {
    const auto child = inner(node);
    const CXCursorKind kind = at(node).kind;
    const CXType to = type(node);
    if (!child || kind == CXCursor_CXXConstCastExpr || kind == CXCursor_CXXAddrspaceCastExpr)
      return;
    const CXType from = type(*child);
    const bool from_pointer = is_pointer(*child);
    const bool checked = kind == CXCursor_CXXStaticCastExpr || kind == CXCursor_CXXDynamicCastExpr;
    if (to.kind == CXType_Pointer) {
      if (from_pointer) return pointer_cast(node, to, from);
      if (from.kind == CXType_NullPtr || from.kind == CXType_Record ||
          from.kind == CXType_LValueReference || (checked && is_open_kind(from.kind)))
        return;
      return note(node);
    }
    if (is_integer_kind(to.kind)) {
      if (to.kind == CXType_Bool || checked) return;
      const bool asks =
          from_pointer || (kind == CXCursor_CXXReinterpretCastExpr && is_open_kind(from.kind));
      if (asks && !asks_alignment(node)) note(node, "an address as a number");
      return;
    }
    if (kind == CXCursor_CXXReinterpretCastExpr && bare(to) != bare(from) &&
        (holds_pointer(to) || holds_pointer(from)))
      return note(node);
    if (!is_open_kind(to.kind) || checked) return;
    if ((is_integer_kind(from.kind) || is_open_kind(from.kind)) && !from_pointer &&
        may_name_pointer(node, source_.type_text(to)))
      note(node);
  }

  /// Memory seen as pointers that it was not written as, or the other way round.
  void pointer_cast(std::uint32_t node, CXType to, CXType from) {
    const CXType to_inner = pointee(to);
    const CXType from_inner = from.kind == CXType_Pointer
                                  ? pointee(from)
                                  : api_.getCanonicalType(api_.getArrayElementType(from));
    if (bare(to_inner) == bare(from_inner) && from_inner.kind != CXType_Invalid) return;
    if (holds_pointer(to_inner) || (from_inner.kind != CXType_Invalid && holds_pointer(from_inner)))
      note(node);
  }

  void bits(std::uint32_t node) {
    const SyntaxNode& n = at(node);
    const std::string written = text_of(node);
    const auto child = inner(node);
    const CXType around = type(n.parent);
    // libclang tells no type of it; what is around it does.
    const bool read_through =
        at(n.parent).kind == CXCursor_ArraySubscriptExpr ||
        (at(n.parent).kind == CXCursor_UnaryOperator &&
         api_.getCursorUnaryOperatorKind(at(n.parent).cursor) == CXUnaryOperator_Deref);
    const std::string_view wanted = std::string_view(written).substr(0, written.find(','));
    if (read_through || (api_.isExpression(at(n.parent).kind) != 0 && holds_pointer(around)) ||
        may_name_pointer(node, wanted) ||
        (child && (is_pointer(*child) || holds_pointer(type(*child)))))
      note(node);
  }

  /// memcpy(&pointer, ...): a pointer is written as if it were bytes.
  void bytes(std::uint32_t node) {
    const auto child = inner(node);
    const CXType to = type(node);
    if (!child || to.kind != CXType_Pointer || pointee(to).kind != CXType_Void) return;
    const CXType from = type(*child);
    if (from.kind == CXType_Pointer && holds_pointer(pointee(from))) note(node);
  }

  [[nodiscard]] bool is_in_union(CXCursor field) const {
    for (CXCursor above = api_.getCursorSemanticParent(field);
         is_record_declaration(api_.getCursorKind(above));
         above = api_.getCursorSemanticParent(above))
      if (api_.getCursorKind(above) == CXCursor_UnionDecl) return true;
    return false;
  }

  void member(std::uint32_t node) {
    const SyntaxNode& n = at(node);
    if (api_.getCursorKind(n.referenced) == CXCursor_FieldDecl && is_in_union(n.referenced) &&
        holds_pointer(api_.getCursorType(n.referenced)))
      note(node, "in a union");
    if (!n.children.empty() && is_pointer(n.children[0]) && may_be_null(n.children[0]))
      note(node, "from null");
  }

  /// Braces that leave pointers of a record or array null.
  void record_of(std::uint32_t node) {
    const CXType made = type(node);
    if ((made.kind != CXType_Record && made.kind != CXType_ConstantArray) || !holds_pointer(made))
      return;
    // Braces in braces are looked at with those around them.
    if (at(at(node).parent).kind == CXCursor_InitListExpr) return;
    std::int64_t given = 0;
    const std::uint32_t end = tree_.subtree_end(node);
    for (std::uint32_t i = node + 1; i < end; ++i) {
      const SyntaxNode& n = at(i);
      if (api_.isExpression(n.kind) == 0 || at(n.parent).kind != CXCursor_InitListExpr) continue;
      if (n.kind == CXCursor_InitListExpr) continue;
      if (is_pointer(i) && !may_be_null(i))
        ++given;
      else if (holds_pointer(type(i)) && !is_pointer(i))
        given += pointers_in(type(i));
      else if (type(i).kind != CXType_Pointer &&
               api_.getCursorKind(n.referenced) != CXCursor_InvalidFile &&
               n.kind == CXCursor_DeclRefExpr)
        ++given;  // what a reference is bound to
    }
    if (given < pointers_in(made)) note(node, "pointers that are null");
  }

  void unary(std::uint32_t node) {
    const CXUnaryOperatorKind kind = unary_operation(node);
    const auto of = operand(node);
    if (!of) return;
    if (kind >= CXUnaryOperator_PostInc && kind <= CXUnaryOperator_PreDec) {
      if (is_pointer(*of) && may_be_null(*of)) note(node, "from null");
      return;
    }
    if (kind != CXUnaryOperator_AddrOf) return;
    // From a member that is no pointer the way to the pointer beside it is short.
    const SyntaxNode& named = at(unwrapped(*of));
    if (named.kind != CXCursor_MemberRefExpr || named.children.empty() ||
        is_pointer(named.children[0]) ||
        api_.getCursorKind(named.referenced) != CXCursor_FieldDecl ||
        holds_pointer(api_.getCursorType(named.referenced)))
      return;
    if (holds_pointer(type(named.children[0]))) note(node, "beside a pointer");
  }

  void call(std::uint32_t node) {
    const SyntaxNode& n = at(node);
    const std::string name = source_.spelling(n.cursor);
    const auto gives_pointer = [&](std::uint32_t child) {
      return api_.isExpression(at(child).kind) != 0 &&
             !is_function(api_.getCursorKind(at(child).referenced)) &&
             (is_pointer(child) || holds_pointer(type(child)));
    };
    if (name == "bit_cast") {
      const std::string written = text_of(node);
      if (holds_pointer(type(node)) || std::ranges::any_of(n.children, gives_pointer) ||
          (is_open_kind(type(node).kind) &&
           may_name_pointer(node, std::string_view(written).substr(0, written.find('(')))))
        note(node);
      return;
    }
    if (name == "__builtin_amdgcn_make_buffer_rsrc") return descriptor(node);
    const bool open = api_.Cursor_isNull(n.referenced) != 0;
    const bool of_template =
        !open && api_.Cursor_isNull(api_.getSpecializedCursorTemplate(n.referenced)) == 0;
    if (api_.getCursorKind(n.referenced) == CXCursor_Constructor) {
      // S(): all of it is null. As the type of a declaration's variable it is uninitialised.
      if (n.children.size() <= 1 && at(n.parent).kind != CXCursor_VarDecl &&
          type(node).kind == CXType_Record && pointers_in(type(node)) > 0 &&
          std::ranges::none_of(n.children, gives_pointer))
        note(node, "pointers that are null");
      return;
    }
    // as<float*>(number): the type that is asked for is an argument of the template.
    if (of_template && type(node).kind == CXType_Pointer &&
        std::ranges::none_of(n.children, gives_pointer))
      note(node);
    if (open && !n.children.empty() && operation(node).sign == Sign::none) {
      const std::string callee = text_of(n.children[0]);
      if (callee.find('<') != std::string::npos && callee.find('*') != std::string::npos &&
          std::none_of(n.children.begin() + 1, n.children.end(), gives_pointer))
        note(node);
    }
  }

  /// A descriptor of a buffer: its base has to be a pointer of the kernel.
  void descriptor(std::uint32_t node) {
    if (at(node).children.size() < 2) return note(node);
    const Roots roots = roots_of(at(node).children[1]);  // behind the callee
    if (roots.empty() || roots.contains(std::string(kNullRoot)) ||
        roots.contains(std::string(kUnknownRoot)))
      note(node);
  }

  void arithmetic(std::uint32_t node) {
    const Operation sum = operation(node);
    if (sum.sign == Sign::none) return;
    const bool left = is_pointer(sum.left);
    const bool right = is_pointer(sum.right);
    if (left && right) {
      if (sum.sign != Sign::plus && are_unrelated(sum.left, sum.right, sum.sign == Sign::compares))
        note(node, "different objects");
      return;
    }
    if (sum.sign == Sign::compares) return;
    if ((left && may_be_null(sum.left)) || (right && may_be_null(sum.right)))
      note(node, "from null");
  }

  const ParsedSource& source_;
  const ClangApi& api_;
  const SyntaxTree& tree_;
  std::set<std::string> found_;
};

}  // namespace

std::vector<std::string> made_pointers(const ParsedSource& source, const SyntaxTree& tree) {
  return PointerFinder(source, tree).find();
}

}  // namespace perflab::optimize
