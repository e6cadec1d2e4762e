// Upwards from a name to the expression that takes a value, with the way from the variable to its
// part.
#include "optimize/flow/variable_use.h"

#include <fmt/format.h>

#include <algorithm>

#include "optimize/flow/call_names.h"
#include "optimize/flow/climber.h"

namespace perflab::optimize {
namespace {

bool has_word(std::string_view name, std::string_view word) {
  return name.find(word) != std::string_view::npos;
}

class UseClimber : Climber<UseClimber> {
 public:
  UseClimber(const ParsedSource& source, const SyntaxTree& tree, std::uint32_t node,
             const UsedPlace& start)
      : Climber(source, tree, node) {
    use_.place = start;
  }

  VariableUse use() {
    climb();
    use_.node = node_;
    return use_;
  }

 private:
  friend Climber<UseClimber>;

  [[nodiscard]] UsedPlace& place() { return use_.place; }

  bool read() {
    use_.read = true;
    return false;
  }
  /// The value is taken: of a pointer that is nothing yet, what uses it leads to it.
  bool taken() { return place().pointer ? done() : read(); }
  bool both() {
    use_.read = use_.written = true;
    return false;
  }

  void freeze() {
    if (place().frozen) return;
    if (place().in_array) place().path.emplace_back(kAnyElement);
    place().path = up_to_any_element(std::move(place().path));
    place().frozen = true;
  }

  /// From a pointer to what it points to; an element of it when there is an index.
  void step_through(std::optional<std::int64_t> index) {
    if (!place().frozen && place().in_array)
      place().path.push_back(index ? fmt::format("[{}]", *index) : std::string(kAnyElement));
    place().pointer = place().in_array = false;
  }

  bool other() {
    switch (parent().kind) {
      case CXCursor_CXXForRangeStmt:
        return range();
      case CXCursor_CompoundStmt:  // its value goes nowhere
        return done();
      case CXCursor_InitListExpr:
        return read();
      default:
        return taken();
    }
  }

  /// What a loop goes over: its variable is each of the elements, or a copy.
  bool range() {
    if (place().pointer || !is_array_kind(type(node()).kind)) return read();
    for (std::uint32_t i : parent().children) {
      if (tree_.nodes[i].kind == CXCursor_DeclStmt && !tree_.nodes[i].children.empty())
        i = tree_.nodes[i].children.front();
      if (tree_.nodes[i].kind != CXCursor_VarDecl) continue;
      if (!place().frozen) place().path.emplace_back(kAnyElement);
      if (!is_reference_kind(type(tree_.nodes[i]).kind)) return read();
      use_.alias = tree_.nodes[i].cursor;
      return false;
    }
    return read();
  }

  /// An element of a vector that is an extension of clang's: ".x" is only in the text.
  [[nodiscard]] std::optional<std::string> component() const {
    const CXTypeKind kind = type(node()).kind;
    if ((kind != CXType_ExtVector && kind != CXType_Vector) || !parent().in_main ||
        parent().at_macro || node().range.end >= parent().range.end)
      return std::nullopt;
    const std::size_t dot = source_.token_from(node().range.end);
    return source_.token(dot) == "." ? std::optional(std::string(source_.token(dot + 1)))
                                     : std::nullopt;
  }

  bool conversion() {
    if (parent().children.size() != 1) return read();
    if (place().pointer) return up();
    const CXType from = type(node());
    const CXType to = type(parent());
    if (is_array_kind(from.kind) && to.kind == CXType_Pointer) {
      place().pointer = place().in_array = true;
      return up();
    }
    if (const auto name = component()) {
      const std::size_t index = std::string_view("xyzw").find(*name);
      if (!place().frozen)
        place().path.push_back(name->size() == 1 && index != std::string_view::npos
                                   ? fmt::format("[{}]", index)
                                   : "." + *name);
      return up();
    }
    const bool object = to.kind == CXType_Record || is_array_kind(to.kind) ||
                        to.kind == CXType_Unexposed || to.kind == CXType_Dependent;
    if (!object) return read();
    // A record that becomes a const one is on its way to be copied or compared.
    return api_.isConstQualifiedType(to) != 0 && api_.isConstQualifiedType(from) == 0 ? read()
                                                                                      : up();
  }

  bool cast() {
    if (type(parent()).kind == CXType_Void) return done();
    if (type(parent()).kind == CXType_Pointer) cast_to_pointer();
    if (!place().pointer && parent().kind != CXCursor_CXXReinterpretCastExpr) return read();
    if (place().pointer && type(parent()).kind != CXType_Pointer) return read();
    freeze();
    return up();
  }

  void cast_to_pointer() {
    if (!place().pointer && is_array_kind(type(node()).kind)) {
      place().pointer = place().in_array = true;  // a template's
    } else if (place().pointer && !place().frozen && !place().in_array) {
      // A float4 seen as floats: its parts are elements.
      const auto object = api_.Type_getSizeOf(api_.getPointeeType(type(node())));
      const auto seen = api_.Type_getSizeOf(api_.getPointeeType(type(parent())));
      place().in_array = seen <= 0 || seen < object;
    }
  }

  bool subscript() {
    if (!is_child(0)) return taken();
    if (!place().pointer) {
      const CXTypeKind kind = type(node()).kind;
      // A template's arrays do not say that they become pointers, nor that a row is an array.
      if (!is_array_kind(kind) && kind != CXType_ExtVector && kind != CXType_Vector &&
          kind != CXType_Unexposed && kind != CXType_Dependent)
        return read();
      place().pointer = place().in_array = true;
    }
    // (&v.x)[i]: v is used as an array.
    if (!place().in_array && !place().frozen && !place().path.empty() &&
        place().path.back().starts_with('.')) {
      place().path.back() = kAnyElement;
      place().frozen = true;
    }
    step_through(source_.value_of(tree_.nodes[parent().children[1]].cursor));
    return up();
  }

  bool member() {
    const CXCursor named = parent().referenced;
    if (is_function(api_.getCursorKind(named)))
      return api_.CXXMethod_isConst(named) != 0 ? read() : both();
    if (api_.Cursor_isNull(named) != 0) return read();
    if (place().pointer) step_through(std::nullopt);
    const std::string name = source_.spelling(named);
    if (!place().frozen && !name.empty() && !has_word(name, "(") && !fills_union(named))
      place().path.push_back("." + name);
    return up();
  }

  /// A member of a union that is as large as all of it: another member is the same bytes.
  [[nodiscard]] bool fills_union(CXCursor field) const {
    const CXCursor owner = api_.getCursorSemanticParent(field);
    return api_.getCursorKind(owner) == CXCursor_UnionDecl &&
           api_.Type_getSizeOf(api_.getCursorType(field)) ==
               api_.Type_getSizeOf(api_.getCursorType(owner));
  }

  bool unary() { return unary_as(api_.getCursorUnaryOperatorKind(parent().cursor)); }

  bool unary_as(CXUnaryOperatorKind kind) {
    switch (kind) {
      case CXUnaryOperator_AddrOf:
        if (place().pointer) return read();
        if (!place().frozen && !place().path.empty() && place().path.back().starts_with('[')) {
          place().path = up_to_any_element(std::move(place().path));
          place().frozen = true;
        }
        place().pointer = true;
        return up();
      case CXUnaryOperator_Deref:
        if (!place().pointer) {
          if (!is_array_kind(type(node()).kind)) return read();
          place().pointer = place().in_array = true;
        }
        step_through(std::nullopt);
        return up();
      case CXUnaryOperator_PostInc:
      case CXUnaryOperator_PostDec:
      case CXUnaryOperator_PreInc:
      case CXUnaryOperator_PreDec:
        return place().pointer ? up() : both();
      default:
        return taken();
    }
  }

  bool binary() {
    const CXBinaryOperatorKind kind = api_.getCursorBinaryOperatorKind(parent().cursor);
    const bool left = is_child(0);
    if (kind == CXBinaryOperator_Assign && left) {
      use_.written = !place().pointer;
      return false;
    }
    if (kind == CXBinaryOperator_Assign && place().pointer) return assigned();
    if (kind == CXBinaryOperator_Comma) return left ? done() : up();
    if (!place().pointer && kind != CXBinaryOperator_Assign && is_array_kind(type(node()).kind))
      place().pointer = place().in_array = true;  // a template's
    if (!place().pointer) {
      use_.written = left && kind > CXBinaryOperator_Assign && kind < CXBinaryOperator_Comma;
      return read();
    }
    const bool moves = kind == CXBinaryOperator_Add || kind == CXBinaryOperator_Sub ||
                       kind == CXBinaryOperator_AddAssign || kind == CXBinaryOperator_SubAssign;
    if (!moves) return done();
    return move();
  }

  /// A pointer within its array.
  bool move() {
    if (!place().path.empty() && place().path.back().starts_with('[')) freeze();
    if (!place().in_array && !place().frozen) freeze();
    return up();
  }

  bool assigned() {
    const SyntaxNode& target = tree_.nodes[parent().children.front()];
    if (target.kind != CXCursor_DeclRefExpr) return both();
    use_.alias = target.referenced;
    return false;
  }

  bool initialiser() {
    const CXType declared = api_.getCursorType(parent().cursor);
    const CXType canonical = api_.getCanonicalType(declared);
    const bool reference = is_reference_kind(canonical.kind);
    if (!reference && !place().pointer && is_array_kind(type(node()).kind) &&
        !is_array_kind(canonical.kind))
      place().pointer = place().in_array = true;  // a template's
    if (!reference && !place().pointer) return read();
    use_.alias = parent().cursor;
    return false;
  }

  // --- calls -----------------------------------------------------------------------------------

  bool call() {
    const std::string operation = operator_name(source_, tree_, node().parent);
    if (!operation.empty() && operation != "operator()") return operator_call(operation);
    const auto index = parameter_index(source_, tree_, node_);
    const CXCursor callee = parent().referenced;
    if (!index) return read();
    if (!place().pointer && is_array_kind(type(node()).kind))
      place().pointer = place().in_array = true;  // a template's
    const std::string name = api_.Cursor_isNull(callee) != 0 ? source_.spelling(parent().cursor)
                                                             : source_.qualified_name(callee);
    // What the user's files define is judged by its body, whatever it is called.
    const bool own = api_.Cursor_isNull(callee) == 0 && !source_.in_system_header(callee) &&
                     source_.definition_of(callee);
    if (place().pointer && !own && known_call(name, *index)) return false;
    if (api_.Cursor_isNull(callee) != 0) return both();
    const CXType wanted = api_.getCanonicalType(
        api_.getArgType(api_.getCursorType(callee), static_cast<unsigned>(*index)));
    if (!place().pointer && !is_reference_kind(wanted.kind)) return read();
    if (api_.isConstQualifiedType(api_.getPointeeType(wanted)) != 0) return read();
    // sincosf(x, &s, &c): what is not in sight and harmless gives results there.
    if (!own && kind_of_call(name) == CallKind::harmless && place().pointer) {
      use_.written = true;
      return false;
    }
    use_.callee = callee;
    use_.argument = *index;
    return false;
  }

  /// Functions of the compiler and the library that get a pointer.
  bool known_call(std::string_view name, std::size_t index) {
    if (name.starts_with("std::")) name.remove_prefix(5);
    if (name.starts_with("__builtin_mem")) name.remove_prefix(10);
    if (name.starts_with("memcpy") || name.starts_with("memmove") || name.starts_with("memset")) {
      use_.read = index != 0;
      use_.written = index == 0 && fills();
      return true;
    }
    const bool store = name == "__builtin_nontemporal_store" || name == "__hip_atomic_store" ||
                       name.starts_with("__atomic_store") ||
                       name.starts_with("__scoped_atomic_store");
    if (store) {
      if (place().in_array) step_through(std::nullopt);
      use_.written = true;
      return true;
    }
    if (!name.starts_with("__builtin_amdgcn_")) return false;
    // From global memory to the LDS.
    const bool fills_lds =
        has_word(name, "load") && (has_word(name, "_lds") || has_word(name, "to_lds"));
    use_.written = fills_lds;
    use_.read = !fills_lds;
    return true;
  }

  /// memcpy and the like: not less than the variable, as far as sizes are known.
  [[nodiscard]] bool fills() const {
    if (!use_.place.path.empty() || api_.Cursor_getNumArguments(parent().cursor) < 3) return true;
    std::uint32_t named = node_;
    while (!tree_.nodes[named].children.empty()) named = tree_.nodes[named].children.front();
    const auto bytes = source_.value_of(api_.Cursor_getArgument(parent().cursor, 2));
    const long long size = api_.Type_getSizeOf(api_.getCursorType(tree_.nodes[named].referenced));
    const bool own = type(tree_.nodes[named]).kind != CXType_Pointer;
    return !own || !bytes || size <= 0 || *bytes >= size;
  }

  /// Of a template that is still open: with one operand, what it is for numbers and pointers.
  [[nodiscard]] static CXUnaryOperatorKind open_unary(std::string_view name) {
    if (name == "operator&") return CXUnaryOperator_AddrOf;
    if (name == "operator*") return CXUnaryOperator_Deref;
    if (name == "operator++") return CXUnaryOperator_PreInc;
    return name == "operator--" ? CXUnaryOperator_PreDec : CXUnaryOperator_Plus;
  }

  bool operator_call(std::string_view name) {
    const bool first = is_child(0);
    if (parent().children.size() == 2 && api_.Cursor_isNull(parent().referenced) != 0)
      return unary_as(open_unary(name));
    if (place().pointer || is_array_kind(type(node()).kind)) {
      if (!place().pointer) place().pointer = place().in_array = true;
      return name == "operator+" || name == "operator-" ? move() : read();
    }
    if (name == "operator=" && first) {
      use_.written = true;
      return false;
    }
    const bool changes = name == "operator++" || name == "operator--" ||
                         (name.ends_with('=') && name != "operator==" && name != "operator!=" &&
                          name != "operator<=" && name != "operator>=");
    use_.written = first && changes;
    return read();
  }

  VariableUse use_;
};

}  // namespace

VariableUse use_of(const ParsedSource& source, const SyntaxTree& tree, std::uint32_t node,
                   const UsedPlace& start) {
  return UseClimber(source, tree, node, start).use();
}

std::string operator_name(const ParsedSource& source, const SyntaxTree& tree, std::uint32_t call) {
  const SyntaxNode& n = tree.nodes[call];
  if (source.api().Cursor_isNull(n.referenced) == 0) {
    std::string name = source.spelling(n.referenced);
    return name.starts_with("operator") ? name : std::string();
  }
  for (const std::uint32_t child : n.children) {
    std::string name = source.spelling(tree.nodes[child].referenced);
    if (name.starts_with("operator")) return name;
  }
  return {};
}

}  // namespace perflab::optimize
