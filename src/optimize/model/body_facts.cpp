// Which cursor says what: clang-c/Index.h. Functions of the user's own files are judged by their
// bodies, those of system headers by the table of names first.
#include "optimize/model/body_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "optimize/ast/tokens.h"
#include "optimize/flow/made_pointers.h"
#include "optimize/flow/source_access.h"
#include "optimize/flow/unwritten_reads.h"

namespace perflab::optimize {
namespace {

void sort_and_unique(std::vector<std::string>& names) {
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
}

bool is_number(CXTypeKind kind) {
  return (kind >= CXType_Bool && kind <= CXType_LongDouble) || kind == CXType_Enum ||
         kind == CXType_Half || kind == CXType_Float16 || kind == CXType_Float128 ||
         kind == CXType_BFloat16;
}

}  // namespace

Reach& Reach::operator|=(const Reach& other) {
  barrier |= other.barrier;
  waits |= other.waits;
  atomic |= other.atomic;
  lanes |= other.lanes;
  assembly |= other.assembly;
  unknown_call |= other.unknown_call;
  shared |= other.shared;
  dynamic_shared |= other.dynamic_shared;
  return *this;
}

CXType FactFinder::canonical(CXCursor cursor) const {
  return api_.getCanonicalType(api_.getCursorType(cursor));
}

bool FactFinder::is_shared(CXCursor variable) const {
  return source_.has_attribute(variable, CXCursor_CUDASharedAttr);
}

bool FactFinder::is_kernel(CXCursor function) const {
  if (!is_function(api_.getCursorKind(function))) return false;
  for (const CXCursor at : {function, api_.getSpecializedCursorTemplate(function)}) {
    if (api_.Cursor_isNull(at) != 0) continue;
    if (source_.has_attribute(at, CXCursor_CUDAGlobalAttr)) return true;
    for (const CXCursor child : source_.children(at))
      if (api_.getCursorKind(child) == CXCursor_AnnotateAttr &&
          source_.spelling(child) == "rocm_perf_kernel")
        return true;
  }
  return false;
}

// --- functions --------------------------------------------------------------------------------

void FactFinder::function_at(CXCursor function, std::vector<NamedFunction>& found) const {
  const CXCursorKind kind = api_.getCursorKind(function);
  if (kind == CXCursor_OverloadedDeclRef) {
    const unsigned count = api_.getNumOverloadedDecls(function);
    for (unsigned i = 0; i < count; ++i) function_at(api_.getOverloadedDecl(function, i), found);
    if (count == 0)
      found.push_back({"(dependent) " + source_.spelling(function), api_.getNullCursor()});
    return;
  }
  if (!is_function(kind)) return;
  if (kind == CXCursor_Constructor) {
    // Whoever makes an object has it destroyed, too.
    for (const CXCursor member : source_.children(api_.getCursorSemanticParent(function)))
      if (api_.getCursorKind(member) == CXCursor_Destructor) function_at(member, found);
  }
  if (api_.CXXMethod_isDefaulted(function) != 0) return;
  found.push_back({source_.qualified_name(function), function});
}

bool FactFinder::callee_is_told(const SyntaxTree& tree, const SyntaxNode& call) const {
  if (call.children.empty()) return false;
  // An operator of a template that is still open: its candidates stand between the operands.
  if (std::ranges::any_of(call.children, [&](std::uint32_t child) {
        const CXCursor named = tree.nodes[child].referenced;
        return api_.getCursorKind(named) == CXCursor_OverloadedDeclRef &&
               source_.spelling(named).starts_with("operator");
      }))
    return true;
  std::uint32_t callee = call.children.front();
  while (tree.nodes[callee].kind == CXCursor_UnexposedExpr ||
         tree.nodes[callee].kind == CXCursor_ParenExpr) {
    if (tree.nodes[callee].children.size() != 1) return false;
    callee = tree.nodes[callee].children.front();
  }
  const SyntaxNode& n = tree.nodes[callee];
  if (n.kind == CXCursor_LambdaExpr) return true;
  if (n.kind != CXCursor_DeclRefExpr && n.kind != CXCursor_MemberRefExpr) return false;
  const CXCursorKind kind = api_.getCursorKind(n.referenced);
  if (is_function(kind) || kind == CXCursor_OverloadedDeclRef) return true;
  // A variable that is a lambda of this body.
  return kind == CXCursor_VarDecl &&
         std::ranges::any_of(tree.nodes, [&](const SyntaxNode& variable) {
           return variable.kind == CXCursor_VarDecl &&
                  api_.equalCursors(variable.cursor, n.referenced) != 0 &&
                  std::ranges::any_of(variable.children, [&](std::uint32_t child) {
                    return tree.nodes[child].kind == CXCursor_LambdaExpr;
                  });
         });
}

void FactFinder::functions_at(const SyntaxTree& tree, std::uint32_t node,
                              std::vector<NamedFunction>& found) const {
  const SyntaxNode& n = tree.nodes[node];
  if (n.kind == CXCursor_TypeRef || n.kind == CXCursor_TemplateRef) {
    std::string name = source_.qualified_name(n.referenced);
    const CallKind kind = kind_of_call(name);
    if (kind == CallKind::clock || kind == CallKind::outside)
      found.push_back({std::move(name), api_.getNullCursor()});
    return;
  }
  const bool nothing = api_.Cursor_isNull(n.referenced) != 0;
  const std::size_t before = found.size();
  if (!nothing) function_at(n.referenced, found);
  if (n.kind != CXCursor_CallExpr || found.size() != before) return;
  const CXCursorKind kind = nothing ? CXCursor_InvalidFile : api_.getCursorKind(n.referenced);
  if (is_function(kind) || kind == CXCursor_OverloadedDeclRef) return;  // defaulted
  // T(x) of a template's type is a call that names a type only.
  const bool names_type = std::ranges::any_of(
      n.children, [&](std::uint32_t child) { return tree.nodes[child].kind == CXCursor_TypeRef; });
  if (nothing && (n.children.empty() || names_type)) return;
  if (callee_is_told(tree, n)) return;
  const std::string name = source_.spelling(n.cursor);
  found.push_back(
      {nothing && !name.empty() ? "(dependent) " + name : "(indirect)", api_.getNullCursor()});
}

std::vector<NamedFunction> FactFinder::functions_in(const SyntaxTree& tree) const {
  std::vector<NamedFunction> found;
  for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) functions_at(tree, i, found);
  return found;
}

CallKind FactFinder::kind_of(const NamedFunction& function) const {
  const bool own = api_.Cursor_isNull(function.cursor) == 0 &&
                   !source_.in_system_header(function.cursor) &&
                   source_.definition_of(function.cursor);
  return own ? CallKind::unknown : kind_of_call(function.name);
}

Reach FactFinder::reach_of_function(const NamedFunction& function) {
  Reach reach;
  switch (kind_of(function)) {
    case CallKind::harmless:
      return reach;
    case CallKind::barrier:
      reach.barrier = reach.waits = true;
      return reach;
    case CallKind::fence:
      reach.barrier = true;
      return reach;
    case CallKind::atomic:
      reach.atomic = true;
      return reach;
    case CallKind::lanes:
      reach.lanes = true;
      return reach;
    case CallKind::clock:
    case CallKind::outside:
    case CallKind::makes_pointer:
    case CallKind::device:
      reach.unknown_call = true;
      return reach;
    case CallKind::unknown:
      break;
  }
  const auto definition = api_.Cursor_isNull(function.cursor) == 0
                              ? source_.definition_of(function.cursor)
                              : std::nullopt;
  if (!definition) {
    reach.unknown_call = true;
    return reach;
  }
  const std::string key = source_.usr(*definition);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  known_[key].unknown_call = true;  // for a function that calls itself
  const SyntaxTree body = source_.tree_of(*definition);
  reach = reach_of(body).front();
  reach.unknown_call |= body.too_deep;
  return known_[key] = reach;
}

Reach FactFinder::own_reach(const SyntaxTree& tree, std::uint32_t node,
                            const std::vector<CXCursor>& shared,
                            const std::vector<CXCursor>& dynamic) {
  Reach reach;
  const SyntaxNode& n = tree.nodes[node];
  if (n.kind == CXCursor_GCCAsmStmt || n.kind == CXCursor_MSAsmStmt) reach.assembly = true;
  if (n.kind == CXCursor_DeclRefExpr) {
    reach.shared = is_one_of(source_, n.referenced, shared);
    reach.dynamic_shared = is_one_of(source_, n.referenced, dynamic);
  }
  std::vector<NamedFunction> functions;
  functions_at(tree, node, functions);
  for (const NamedFunction& function : functions) reach |= reach_of_function(function);
  return reach;
}

std::vector<Reach> FactFinder::reach_of(const SyntaxTree& tree) {
  std::vector<CXCursor> shared;
  std::vector<CXCursor> dynamic;
  for (const SyntaxNode& n : tree.nodes) {
    CXCursor variable = n.cursor;
    if (n.kind == CXCursor_DeclRefExpr) variable = n.referenced;  // one outside of the body
    if (api_.getCursorKind(variable) != CXCursor_VarDecl || is_one_of(source_, variable, shared) ||
        !is_shared(variable))
      continue;
    shared.push_back(variable);
    if (api_.Cursor_getStorageClass(variable) == CX_SC_Extern) dynamic.push_back(variable);
  }
  // Pointers to them count as well.
  access_through(source_, tree, shared);
  access_through(source_, tree, dynamic);
  std::vector<Reach> reach(tree.nodes.size());
  for (std::uint32_t i = static_cast<std::uint32_t>(tree.nodes.size()); i-- > 0;) {
    reach[i] |= own_reach(tree, i, shared, dynamic);
    if (i != 0) reach[tree.nodes[i].parent] |= reach[i];
  }
  return reach;
}

// --- names ------------------------------------------------------------------------------------

bool FactFinder::is_constant(CXCursor variable) const {
  // Canonical arrays carry the qualifiers of their elements.
  CXType type = canonical(variable);
  bool is_const = api_.isConstQualifiedType(type) != 0;
  bool is_volatile = api_.isVolatileQualifiedType(type) != 0;
  while (type.kind == CXType_ConstantArray) {
    type = api_.getCanonicalType(api_.getArrayElementType(type));
    is_const |= api_.isConstQualifiedType(type) != 0;
    is_volatile |= api_.isVolatileQualifiedType(type) != 0;
  }
  return is_const && !is_volatile && is_number(type.kind);
}

bool FactFinder::keeps_state(const SyntaxNode& node) const {
  if (node.kind != CXCursor_VarDecl || is_shared(node.cursor)) return false;
  if (api_.Cursor_getStorageClass(node.cursor) != CX_SC_Static &&
      api_.getCursorTLSKind(node.cursor) == CXTLS_None)
    return false;
  // "const" alone may still be computed by the first call.
  if (!is_constant(node.cursor) || !node.in_main || node.at_macro) return true;
  const std::size_t end = source_.token_from(node.range.end);
  for (std::size_t i = source_.token_from(node.range.begin); i < end; ++i)
    if (source_.token(i) == "constexpr") return false;
  return true;
}

void FactFinder::note_variable(const SyntaxTree& tree, std::uint32_t index,
                               BodyFacts& facts) const {
  const SyntaxNode& node = tree.nodes[index];
  if (api_.getCursorKind(node.referenced) != CXCursor_VarDecl) return;
  const CXCursorKind owner = api_.getCursorKind(api_.getCursorSemanticParent(node.referenced));
  const bool in_function = is_function(owner) || owner == CXCursor_LambdaExpr;
  if (in_function && api_.Cursor_getStorageClass(node.referenced) != CX_SC_Extern) return;
  if (is_shared(node.referenced) || is_constant(node.referenced)) return;
  std::string name = source_.qualified_name(node.referenced);
  Access access = access_of(source_, tree, index, UseStart::object);
  if (canonical(node.referenced).kind == CXType_Pointer) {
    const Access through = access_of(source_, tree, index, UseStart::pointer);
    access |= through;
    access.escaped |= through.alias.has_value();
  }
  // What a template calls is not known, but nobody writes to a const one.
  const bool fixed =
      is_index_variable(name) && api_.isConstQualifiedType(canonical(node.referenced)) != 0;
  if (!fixed && (access.written || access.escaped || access.alias))
    facts.written_globals.push_back(name);
  if (!is_index_variable(name)) facts.globals.push_back(std::move(name));
}

void FactFinder::note_volatile(const SyntaxTree& tree, std::uint32_t index,
                               BodyFacts& facts) const {
  const SyntaxNode& node = tree.nodes[index];
  if (api_.isExpression(node.kind) == 0 ||
      api_.isVolatileQualifiedType(api_.getCursorType(node.cursor)) == 0)
    return;
  facts.volatile_access = true;
  // Named by the variable that it goes through, so that another element of it is nothing new.
  const std::uint32_t end = tree.subtree_end(index);
  std::uint32_t named = index;
  while (named < end && tree.nodes[named].kind != CXCursor_DeclRefExpr) ++named;
  facts.volatiles.push_back(
      named < end ? source_.spelling(tree.nodes[named].cursor)
                  : std::string(node.in_main ? source_.at(node.range) : "(in a header)"));
}

bool FactFinder::waits_for_lanes(const SyntaxTree& tree, std::uint32_t node) {
  std::vector<NamedFunction> functions;
  const std::uint32_t end = tree.subtree_end(node);
  for (std::uint32_t i = node; i < end; ++i) functions_at(tree, i, functions);
  return std::ranges::any_of(functions, [&](const NamedFunction& function) {
    const Reach reach = reach_of_function(function);
    return reach.waits;
  });
}

BodyFacts FactFinder::facts_of(const SyntaxTree& tree) {
  BodyFacts facts;
  for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) {
    const SyntaxNode& n = tree.nodes[i];
    note_variable(tree, i, facts);
    note_volatile(tree, i, facts);
    if (keeps_state(n)) facts.static_locals.push_back(source_.spelling(n.cursor));
    if (n.kind == CXCursor_GCCAsmStmt || n.kind == CXCursor_MSAsmStmt ||
        n.kind == CXCursor_AsmLabelAttr)
      facts.assembly.emplace_back(n.in_main ? token_text(source_, n.range) : "(in a header)");
    if (n.kind == CXCursor_CXXNewExpr || n.kind == CXCursor_CXXDeleteExpr ||
        n.kind == CXCursor_CXXThrowExpr || n.kind == CXCursor_CXXTryStmt)
      facts.exceptions_or_new.emplace_back(n.in_main ? token_text(source_, n.range)
                                                     : "(in a header)");
  }
  facts.pointer_casts = made_pointers(source_, tree);
  facts.integer_to_pointer = !facts.pointer_casts.empty();
  facts.unwritten_reads = unwritten_reads(
      source_, tree,
      [&](const SyntaxTree& body, std::uint32_t node) { return waits_for_lanes(body, node); });
  for (const NamedFunction& function : functions_in(tree)) {
    facts.calls.push_back(function.name);
    if (api_.Cursor_isNull(function.cursor) == 0 && is_kernel(function.cursor))
      facts.launches.push_back(function.name);
  }
  for (std::vector<std::string>* names :
       {&facts.calls, &facts.globals, &facts.written_globals, &facts.static_locals,
        &facts.volatiles, &facts.assembly, &facts.launches, &facts.exceptions_or_new})
    sort_and_unique(*names);
  return facts;
}

}  // namespace perflab::optimize
