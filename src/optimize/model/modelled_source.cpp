// From clang's tree to the model. What a cursor's children and extents are: clang-c/Index.h.
#include "optimize/model/modelled_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "optimize/ast/tokens.h"
#include "optimize/flow/source_access.h"
#include "optimize/model/body_facts.h"
#include "optimize/model/source_loops.h"

namespace perflab::optimize {
namespace {

// --- the parts of a kernel ---------------------------------------------------------------------

constexpr auto kSpecifiers = std::to_array<std::string_view>(
    {"__global__", "static", "inline", "__forceinline__", "__noinline__"});

/// Attributes and specifiers in front of what clang takes for the beginning belong to it, too.
std::uint32_t definition_begin(const ParsedSource& source, std::uint32_t begin,
                               const std::vector<TextRange>& directives) {
  const auto tokens = source.tokens();
  std::size_t first = source.token_from(begin);
  const auto open_before = [&](std::size_t close) {
    int depth = 0;
    for (std::size_t i = close + 1; i-- > 0;) {
      if (tokens[i].kind != CXToken_Punctuation) continue;
      const std::string_view text = source.token(i);
      if (text == ")" || text == "]" || text == "}") ++depth;
      if ((text == "(" || text == "[" || text == "{") && --depth == 0) return i;
    }
    return tokens.size();
  };
  for (std::size_t i = first; i-- > 0;) {
    if (tokens[i].kind == CXToken_Comment) continue;
    if (directive_at(directives, tokens[i].range.begin)) break;
    const std::string_view text = source.token(i);
    if (std::ranges::find(kSpecifiers, text) != kSpecifiers.end()) {
      first = i;
    } else if (text == "]" && i > 0 && source.token(i - 1) == "]") {
      const std::size_t open = open_before(i);
      if (open >= tokens.size() || source.token(open + 1) != "[") break;
      first = i = open;
    } else if (text == ")") {
      const std::size_t open = open_before(i);
      if (open >= tokens.size() || open == 0) break;
      const std::string_view name = source.token(open - 1);
      if (name != "__attribute__" && name != "__launch_bounds__") break;
      first = i = open - 1;
    } else {
      break;
    }
  }
  return first < tokens.size() ? std::min(begin, tokens[first].range.begin) : begin;
}

/// Before the kernel's name with its scopes: "ns::" belongs to the name.
std::optional<std::uint32_t> attribute_place(const ParsedSource& source, CXCursor kernel) {
  const auto name = source.name_place(kernel);
  if (!name) return std::nullopt;
  std::size_t first = source.token_from(*name);
  while (first >= 1 && source.token(first - 1) == "::") {
    --first;
    if (first >= 1 && source.tokens()[first - 1].kind == CXToken_Identifier) --first;
    if (first >= 1 && source.token(first - 1) == ">") return std::nullopt;
  }
  return source.tokens()[first].range.begin;
}

bool is_qualifier(std::string_view word) {
  return word == "const" || word == "volatile" || word == "restrict" || word == "__restrict__" ||
         word == "__restrict";
}

/// Where restrict and const of a pointer may be put.
void find_pointer_places(const ParsedSource& source, CXCursor cursor, Parameter& parameter) {
  const ParsedSource::Extent extent = source.extent_of(cursor);
  if (!extent.in_main || extent.at_macro || source.expansion_at(extent.range.begin)) return;
  const std::size_t begin = source.token_from(extent.range.begin);
  std::size_t end = source.token_from(extent.range.end);
  if (!parameter.name.empty()) {
    const auto name = source.name_place(cursor);
    if (!name) return;
    end = source.token_from(*name);
  }
  const auto tokens = source.tokens();
  std::size_t stars = 0;
  std::optional<std::size_t> star;
  for (std::size_t i = end; i-- > begin;) {
    if (tokens[i].kind == CXToken_Comment) continue;
    const std::string_view text = source.token(i);
    if (text == "*") {
      ++stars;
      if (!star) star = i;
    } else if (!star && !is_qualifier(text)) {
      return;  // an alias, a pointer to a function, a template's argument
    }
    if (source.expansion_at(tokens[i].range.begin) && !is_qualifier(text)) return;
  }
  if (!star) return;
  parameter.behind_star = tokens[*star].range.end;
  if (stars == 1) parameter.before_pointee = extent.range.begin;
}

/// `declared`: the type that the function's type gives the parameter, an array's is a pointer.
Parameter read_parameter(const ParsedSource& source, const SyntaxTree& tree, CXCursor cursor,
                         CXType declared) {
  const ClangApi& api = source.api();
  Parameter parameter;
  parameter.name = source.spelling(cursor);
  parameter.range = source.extent_of(cursor).range;
  const CXType type = api.getCanonicalType(declared);
  parameter.type = source.type_text(api.getUnqualifiedType(type));
  parameter.pointer = type.kind == CXType_Pointer;
  if (!parameter.pointer) return parameter;
  const CXType pointee = api.getCanonicalType(api.getPointeeType(type));
  parameter.const_pointee = api.isConstQualifiedType(pointee) != 0;
  parameter.restricted = api.isRestrictQualifiedType(type) != 0 ||
                         api.isRestrictQualifiedType(api.getCursorType(cursor)) != 0;
  parameter.pointee = source.type_text(api.getUnqualifiedType(pointee));
  find_pointer_places(source, cursor, parameter);
  std::vector<CXCursor> copies{cursor};
  const Access access = access_through(source, tree, copies);
  parameter.read = access.read;
  parameter.written = access.written;
  return parameter;
}

std::uint32_t without_wrapping(const SyntaxTree& tree, std::uint32_t node) {
  while ((tree.nodes[node].kind == CXCursor_ParenExpr ||
          tree.nodes[node].kind == CXCursor_UnexposedExpr) &&
         tree.nodes[node].children.size() == 1)
    node = tree.nodes[node].children.front();
  return node;
}

std::vector<Subscript> read_subscripts(const ParsedSource& source, const SyntaxTree& tree,
                                       const std::vector<FoundLoop>& loops,
                                       const FactFinder& facts) {
  std::vector<Subscript> found;
  std::set<std::uint32_t> inner;  // rows of an element that was seen already
  for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) {
    const SyntaxNode& n = tree.nodes[i];
    if (n.kind != CXCursor_ArraySubscriptExpr || n.children.size() != 2) continue;
    std::uint32_t base = without_wrapping(tree, n.children[0]);
    const bool is_row = inner.contains(i);
    while (tree.nodes[base].kind == CXCursor_ArraySubscriptExpr &&
           tree.nodes[base].children.size() == 2) {
      inner.insert(base);
      base = without_wrapping(tree, tree.nodes[base].children[0]);
    }
    if (is_row || !n.in_main || n.at_macro) continue;
    const Access access = access_of(source, tree, i, UseStart::object);
    Subscript subscript;
    subscript.range = n.range;
    subscript.index = tree.nodes[n.children[1]].range;
    subscript.is_read = access.read;
    subscript.is_written = access.written;
    if (tree.nodes[base].kind == CXCursor_DeclRefExpr) {
      subscript.array = source.spelling(tree.nodes[base].cursor);
      subscript.shared = facts.is_shared(tree.nodes[base].referenced);
    } else {
      subscript.array = source.at(tree.nodes[base].range);
    }
    subscript.loop = loop_around(tree, loops, i);
    found.push_back(std::move(subscript));
  }
  return found;
}

SharedArray read_shared(const ParsedSource& source, const SyntaxNode& node) {
  const ClangApi& api = source.api();
  SharedArray array;
  array.name = source.spelling(node.cursor);
  array.declaration = node.range;
  array.dynamic = api.Cursor_getStorageClass(node.cursor) == CX_SC_Extern;
  CXType type = api.getCanonicalType(api.getCursorType(node.cursor));
  while (is_array_kind(type.kind)) {
    array.dimensions.push_back(type.kind == CXType_ConstantArray
                                   ? std::optional<std::int64_t>(api.getArraySize(type))
                                   : std::nullopt);
    type = api.getCanonicalType(api.getArrayElementType(type));
  }
  array.element_type = source.type_text(api.getUnqualifiedType(type));
  const auto name = source.name_place(node.cursor);
  if (!name || !node.in_main) return array;
  const std::size_t end = source.token_from(node.range.end);
  for (std::size_t i = source.token_from(*name) + 1; i < end && source.token(i) == "[";) {
    const std::size_t close = source.closing(i, end);
    if (close >= end) break;
    array.last_dimension = {source.tokens()[i].range.end, source.tokens()[close].range.begin};
    i = close + 1;
  }
  return array;
}

// --- kernels ------------------------------------------------------------------------------------

/// Canonical types, names of parameters left out; what is not canonical comes as it is written.
std::string signature_of(const ParsedSource& source, CXCursor kernel, const SourceKernel& read) {
  const ClangApi& api = source.api();
  std::string signature;
  std::vector<std::string> parameters;
  for (const CXCursor child : source.children(kernel)) {
    const CXCursorKind kind = api.getCursorKind(child);
    const TextRange range = source.extent_of(child).range;
    const std::string text = token_text(source, range);
    const std::size_t equals = text.find(" = ");
    const std::string fallback = equals == std::string::npos ? "" : text.substr(equals);
    const std::string pack = text.find("...") == std::string::npos ? "" : "...";
    if (kind == CXCursor_TemplateTypeParameter)
      signature += (signature.empty() ? "" : ", ") + std::string("typename") + pack + fallback;
    else if (kind == CXCursor_NonTypeTemplateParameter)
      signature += (signature.empty() ? "" : ", ") + source.canonical_type(child) + pack + fallback;
    else if (kind == CXCursor_TemplateTemplateParameter)
      signature += (signature.empty() ? "" : ", ") + text;
    else if (kind == CXCursor_ParmDecl)
      parameters.push_back(fallback);
  }
  if (api.getCursorKind(kernel) == CXCursor_FunctionTemplate)
    signature = "template <" + signature + "> ";
  const TextRange header{read.definition.begin, read.body.begin};
  const std::string header_text = token_text(source, header);
  if (header_text.find(" requires ") != std::string::npos) signature += header_text + " ";
  if (api.Cursor_getStorageClass(kernel) == CX_SC_Static) signature += "static ";
  const CXType type = api.getCanonicalType(api.getCursorType(kernel));
  for (std::size_t i = 0; i < parameters.size(); ++i)
    parameters[i] =
        source.type_text(api.getArgType(type, static_cast<unsigned>(i))) + parameters[i];
  std::string result = source.type_text(api.getCanonicalType(api.getCursorResultType(kernel)));
  signature += fmt::format("{} {}({})", result, read.name, fmt::join(parameters, ", "));
  const std::string whole = source.type_text(type);
  if (const std::size_t at = whole.rfind(") noexcept"); at != std::string::npos)
    signature += whole.substr(at + 1);
  return signature;
}

SourceKernel read_kernel(const ParsedSource& source, CXCursor cursor,
                         const std::vector<TextRange>& directives) {
  const ClangApi& api = source.api();
  SourceKernel kernel;
  kernel.name = source.qualified_name(cursor);
  kernel.is_template = api.getCursorKind(cursor) == CXCursor_FunctionTemplate;
  const SyntaxTree tree = source.tree_of(cursor);
  kernel.definition = tree.nodes[0].range;
  std::vector<CXCursor> parameters;
  for (const std::uint32_t child : tree.nodes[0].children) {
    const SyntaxNode& n = tree.nodes[child];
    if (n.kind == CXCursor_CompoundStmt || n.kind == CXCursor_CXXTryStmt) kernel.body = n.range;
    if (n.kind == CXCursor_ParmDecl) parameters.push_back(n.cursor);
  }
  kernel.attribute_place = attribute_place(source, cursor);
  if (kernel.attribute_place)
    kernel.definition.begin = definition_begin(source, kernel.definition.begin, directives);
  kernel.line = source.line_of(kernel.attribute_place.value_or(kernel.definition.begin));
  kernel.signature = signature_of(source, cursor, kernel);
  kernel.attributes =
      kernel_attributes(source, cursor, {kernel.definition.begin, kernel.body.begin});
  FactFinder facts(source);
  const std::vector<FoundLoop> loops = loops_of(source, tree, facts.reach_of(tree), directives);
  kernel.subscripts = read_subscripts(source, tree, loops, facts);
  for (const FoundLoop& found : loops) kernel.loops.push_back(found.loop);
  const CXType type = api.getCanonicalType(api.getCursorType(cursor));
  for (std::size_t i = 0; i < parameters.size(); ++i)
    kernel.parameters.push_back(read_parameter(source, tree, parameters[i],
                                               api.getArgType(type, static_cast<unsigned>(i))));
  for (const SyntaxNode& n : tree.nodes)
    if (n.kind == CXCursor_VarDecl && facts.is_shared(n.cursor))
      kernel.shared_arrays.push_back(read_shared(source, n));
  kernel.facts = facts.facts_of(tree);
  return kernel;
}

class KernelSearch {
 public:
  KernelSearch(const ParsedSource& source, std::string_view function)
      : source_(source), facts_(source), function_(function) {}

  void look_in(CXCursor scope) {
    for (const CXCursor cursor : source_.children(scope)) {
      const CXCursorKind kind = source_.api().getCursorKind(cursor);
      if (kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec ||
          kind == CXCursor_UnexposedDecl || kind == CXCursor_StructDecl ||
          kind == CXCursor_ClassDecl) {
        if (source_.in_main_file(cursor)) look_in(cursor);
      } else if (is_function(kind) && source_.in_main_file(cursor) && is_wanted(cursor)) {
        found.push_back(cursor);
      }
    }
  }
  std::vector<CXCursor> found;

 private:
  [[nodiscard]] bool is_wanted(CXCursor function) const {
    const auto definition = source_.definition_of(function);
    if (!definition || source_.api().equalCursors(*definition, function) == 0) return false;
    if (!function_.empty() &&
        (source_.spelling(function) == function_ || source_.qualified_name(function) == function_))
      return true;
    return facts_.is_kernel(function);
  }

  const ParsedSource& source_;
  FactFinder facts_;
  std::string_view function_;
};

}  // namespace

Result<ModelledSource> model_source(std::string text, const ParseOptions& options,
                                    std::string_view function, bool tolerant) {
  ModelledSource modelled;
  PERFLAB_TRY(modelled.source, ParsedSource::parse(std::move(text), options));
  if (!tolerant) PERFLAB_TRY_VOID(modelled.source->check_errors());
  const ParsedSource& source = *modelled.source;
  SourceModel& model = modelled.model;
  model.text = source.text();
  model.options = options;
  model.library = source.api().version;
  model.library_path = source.api().path;
  model.diagnostics = source.warnings();
  model.directives = directives_of(source);
  for (const SourceToken& token : source.tokens())
    if (token.kind != CXToken_Comment) model.tokens.push_back(token.range);
  model.skipped.assign(source.skipped().begin(), source.skipped().end());
  for (const TextRange& directive : model.directives) {
    const std::size_t word = source.token_from(directive.begin) + 1;
    const std::string name = without_splices(source.token(word));
    if (name != "include" && name != "include_next" && name != "import" && name != "embed")
      continue;
    std::string written;
    for (std::size_t i = word + 1;
         i < source.tokens().size() && source.tokens()[i].range.begin < directive.end; ++i)
      if (source.tokens()[i].kind != CXToken_Comment) written += source.token(i);
    model.includes.push_back(std::move(written));
  }
  KernelSearch search(source, function);
  search.look_in(source.root());
  for (const CXCursor cursor : search.found) {
    if (source.tree_of(cursor).too_deep)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: {} is nested deeper than {} levels", options.path.string(),
                              source.qualified_name(cursor), SyntaxTree::kMostDepth));
    model.kernels.push_back(read_kernel(source, cursor, model.directives));
  }
  modelled.kernels = std::move(search.found);
  return modelled;
}

}  // namespace perflab::optimize
