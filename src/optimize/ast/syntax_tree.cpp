// Driving libclang (clang-c/Index.h); positions of macros: SourceManager's expansion and spelling
// locations.
#include "optimize/ast/syntax_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "optimize/ast/clang_command.h"

namespace perflab::optimize {
namespace {

constexpr std::size_t kMostSourceBytes = std::size_t{1} << 24;
constexpr std::size_t kMostMessages = 10;

struct MissingHeader {
  std::string_view message, what, remedy;
};
constexpr MissingHeader kMissingHeaders[] = {
    {"'hip/hip_runtime.h' file not found", "HIP's headers are not there",
     "install libamdhip64-dev (ROCm: hip-dev)"},
    {"cannot find CUDA installation", "libclang finds no CUDA toolkit",
     "install CUDA's toolkit, or let CUDA_PATH name its folder"},
    {"'cuda_runtime.h' file not found", "CUDA's headers are not there",
     "install CUDA's toolkit, or let CUDA_PATH name its folder"},
    {"cannot find HIP runtime", "libclang finds no HIP", "install libamdhip64-dev (ROCm: hip-dev)"},
    {"'__clang_hip_runtime_wrapper.h' file not found", "libclang's own headers are not there",
     "install libclang-common-19-dev"},
    {"'stddef.h' file not found", "libclang's own headers are not there",
     "install libclang-common-19-dev"}};

}  // namespace

Result<void> prepare_parsing(const ParseOptions& options) {
  PERFLAB_TRY(const ClangApi* const api, clang_for(options));
  PERFLAB_TRY([[maybe_unused]] const ClangCommand command, clang_command(options, *api));
  return {};
}

bool is_array_kind(CXTypeKind kind) {
  return kind == CXType_ConstantArray || kind == CXType_IncompleteArray ||
         kind == CXType_VariableArray || kind == CXType_DependentSizedArray;
}

bool is_reference_kind(CXTypeKind kind) {
  return kind == CXType_LValueReference || kind == CXType_RValueReference;
}

bool is_function(CXCursorKind kind) {
  return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod ||
         kind == CXCursor_Constructor || kind == CXCursor_Destructor ||
         kind == CXCursor_ConversionFunction || kind == CXCursor_FunctionTemplate;
}

bool is_loop(CXCursorKind kind) {
  return kind == CXCursor_ForStmt || kind == CXCursor_CXXForRangeStmt ||
         kind == CXCursor_WhileStmt || kind == CXCursor_DoStmt;
}

std::uint32_t SyntaxTree::subtree_end(std::uint32_t node) const {
  while (!nodes[node].children.empty()) node = nodes[node].children.back();
  return node + 1;
}

ParsedSource::ParsedSource(const ClangApi& api, std::string text, ParseOptions options)
    : api_(api), text_(std::move(text)), options_(std::move(options)) {
  lines_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') lines_.push_back(static_cast<std::uint32_t>(i + 1));
}

ParsedSource::~ParsedSource() {
  if (unit_ != nullptr) api_.disposeTranslationUnit(unit_);
  if (index_ != nullptr) api_.disposeIndex(index_);
}

Result<std::unique_ptr<ParsedSource>> ParsedSource::parse(std::string text,
                                                          const ParseOptions& options) {
  if (text.size() > kMostSourceBytes)
    return fail(ErrorCode::bad_input, fmt::format("{}: a source of {} bytes is not read",
                                                  options.path.string(), text.size()));
  PERFLAB_TRY(const ClangApi* const api, clang_for(options));
  std::unique_ptr<ParsedSource> source(new ParsedSource(*api, std::move(text), options));
  PERFLAB_TRY_VOID(source->run_clang());
  PERFLAB_TRY_VOID(source->read_diagnostics());
  source->read_tokens();
  source->read_expansions();
  source->read_skipped();
  return source;
}

Result<void> ParsedSource::run_clang() {
  PERFLAB_TRY(const ClangCommand command, clang_command(options_, api_));
  std::vector<const char*> words;
  words.reserve(command.words.size());
  for (const std::string& word : command.words) words.push_back(word.c_str());
  const std::string path = options_.path.string();
  const auto unsaved_file = [](const std::string& name, std::string_view text) {
    return CXUnsavedFile{name.c_str(), text.data(), static_cast<unsigned long>(text.size())};
  };
  std::vector<CXUnsavedFile> unsaved{unsaved_file(path, text_)};
  for (const VirtualFile& file : command.files)
    unsaved.push_back(unsaved_file(file.path, file.text));
  index_ = api_.createIndex(0, 0);
  const CXErrorCode error = api_.parseTranslationUnit2FullArgv(
      index_, path.c_str(), words.data(), static_cast<int>(words.size()), unsaved.data(),
      static_cast<unsigned>(unsaved.size()), CXTranslationUnit_DetailedPreprocessingRecord, &unit_);
  if (error != CXError_Success || unit_ == nullptr)
    return fail(ErrorCode::bad_input, fmt::format("{}: clang gave up on it{}", path,
                                                  error == CXError_Crashed ? " (it crashed)" : ""));
  file_ = api_.getFile(unit_, path.c_str());
  if (file_ == nullptr)
    return fail(ErrorCode::bad_input, fmt::format("{}: clang did not read it", path));
  return {};
}

Result<void> ParsedSource::read_diagnostics() {
  const unsigned count = api_.getNumDiagnostics(unit_);
  for (unsigned i = 0; i < count; ++i) {
    const CXDiagnostic diagnostic = api_.getDiagnostic(unit_, i);
    const CXDiagnosticSeverity severity = api_.getDiagnosticSeverity(diagnostic);
    std::string message = taken(api_.formatDiagnostic(
        diagnostic, CXDiagnostic_DisplaySourceLocation | CXDiagnostic_DisplayColumn));
    api_.disposeDiagnostic(diagnostic);
    if (severity >= CXDiagnostic_Error)
      errors_.push_back(std::move(message));
    else if (severity == CXDiagnostic_Warning)
      warnings_.push_back(std::move(message));
  }
  if (errors_.empty()) return {};
  for (const MissingHeader& missing : kMissingHeaders)
    if (errors_.front().find(missing.message) != std::string::npos)
      return fail(ErrorCode::missing_tool,
                  fmt::format("{} cannot be parsed: {}", options_.path.string(), missing.what),
                  std::string(missing.remedy));
  return {};
}

Result<void> ParsedSource::check_errors() const {
  if (errors_.empty()) return {};
  std::unexpected<Error> error =
      fail(ErrorCode::bad_input,
           fmt::format("{}: does not parse ({} {})", options_.path.string(), errors_.size(),
                       errors_.size() == 1 ? "error" : "errors"),
           "what the compiler needs (-I, -D, -std) goes after --");
  PERFLAB_TRY(const std::string wanted, other_compiler(options_, api_));
  if (!wanted.empty())
    error.error().remedy = fmt::format(
        "install the libclang of the compiler, {}, or let ROCM_PERF_LIBCLANG name it: "
        "another one may not understand its headers; what the compiler needs (-I, -D, "
        "-std) goes after --",
        wanted);
  error.error().notes.assign(
      errors_.begin(),
      errors_.begin() + static_cast<std::ptrdiff_t>(std::min(errors_.size(), kMostMessages)));
  error.error().notes.push_back(
      fmt::format("read by {} ({}): {}", api_.path, api_.version, api_.why));
  return error;
}

void ParsedSource::read_tokens() {
  const auto location = [&](std::size_t offset) {
    return api_.getLocationForOffset(unit_, file_, static_cast<unsigned>(offset));
  };
  CXToken* tokens = nullptr;
  unsigned count = 0;
  api_.tokenize(unit_, api_.getRange(location(0), location(text_.size())), &tokens, &count);
  tokens_.reserve(count);
  for (unsigned i = 0; i < count; ++i) {
    const CXSourceRange extent = api_.getTokenExtent(unit_, tokens[i]);
    SourceToken token;
    api_.getSpellingLocation(api_.getRangeStart(extent), nullptr, nullptr, nullptr,
                             &token.range.begin);
    api_.getSpellingLocation(api_.getRangeEnd(extent), nullptr, nullptr, nullptr, &token.range.end);
    token.kind = api_.getTokenKind(tokens[i]);
    if (token.range.begin < token.range.end && token.range.end <= text_.size())
      tokens_.push_back(token);
  }
  api_.disposeTokens(unit_, tokens, count);
}

void ParsedSource::read_expansions() {
  for (const CXCursor cursor : children(root())) {
    if (api_.getCursorKind(cursor) != CXCursor_MacroExpansion || !in_main_file(cursor)) continue;
    const CXSourceRange extent = api_.getCursorExtent(cursor);
    TextRange range;
    api_.getExpansionLocation(api_.getRangeStart(extent), nullptr, nullptr, nullptr, &range.begin);
    api_.getExpansionLocation(api_.getRangeEnd(extent), nullptr, nullptr, nullptr, &range.end);
    if (range.begin < range.end && range.end <= text_.size()) expansions_.push_back(range);
  }
  std::ranges::sort(expansions_, {}, [](const TextRange& r) {
    return std::pair(r.begin, ~r.end);  // the longer first
  });
  std::vector<TextRange> outermost;
  for (const TextRange& range : expansions_)
    if (outermost.empty() || range.begin >= outermost.back().end) outermost.push_back(range);
  expansions_ = std::move(outermost);
}

void ParsedSource::read_skipped() {
  CXSourceRangeList* const list = api_.getSkippedRanges(unit_, file_);
  if (list == nullptr) return;
  for (unsigned i = 0; i < list->count; ++i) {
    TextRange range;
    api_.getExpansionLocation(api_.getRangeStart(list->ranges[i]), nullptr, nullptr, nullptr,
                              &range.begin);
    api_.getExpansionLocation(api_.getRangeEnd(list->ranges[i]), nullptr, nullptr, nullptr,
                              &range.end);
    if (range.begin < range.end && range.end <= text_.size()) skipped_.push_back(range);
  }
  std::ranges::sort(skipped_, {}, &TextRange::begin);
  api_.disposeSourceRangeList(list);
}

CXCursor ParsedSource::root() const {
  return api_.getTranslationUnitCursor(unit_);
}

std::size_t ParsedSource::token_from(std::uint32_t offset) const {
  const auto found = std::ranges::lower_bound(
      tokens_, offset, {}, [](const SourceToken& token) { return token.range.begin; });
  return static_cast<std::size_t>(found - tokens_.begin());
}

std::size_t ParsedSource::closing(std::size_t open, std::size_t end) const {
  int depth = 0;
  for (std::size_t i = open; i < std::min(end, tokens_.size()); ++i) {
    if (tokens_[i].kind != CXToken_Punctuation) continue;
    const std::string_view text = token(i);
    if (text == "(" || text == "[" || text == "{") ++depth;
    if ((text == ")" || text == "]" || text == "}") && --depth == 0) return i;
  }
  return tokens_.size();
}

std::uint32_t ParsedSource::line_of(std::uint32_t offset) const {
  return static_cast<std::uint32_t>(std::ranges::upper_bound(lines_, offset) - lines_.begin());
}

std::optional<TextRange> ParsedSource::expansion_at(std::uint32_t offset) const {
  auto found = std::ranges::upper_bound(expansions_, offset, {}, &TextRange::begin);
  if (found == expansions_.begin()) return std::nullopt;
  --found;
  return offset < found->end ? std::optional(*found) : std::nullopt;
}

ParsedSource::Place ParsedSource::place_of(CXSourceLocation location) const {
  CXFile file = nullptr;
  CXFile spelled_file = nullptr;
  unsigned spelled = 0;
  Place place;
  api_.getExpansionLocation(location, &file, nullptr, nullptr, &place.offset);
  api_.getSpellingLocation(location, &spelled_file, nullptr, nullptr, &spelled);
  place.in_main = file != nullptr && api_.File_isEqual(file, file_) != 0;
  place.from_macro = spelled != place.offset || spelled_file != file;
  return place;
}

ParsedSource::Extent ParsedSource::extent_of(CXCursor cursor) const {
  const CXSourceRange range = api_.getCursorExtent(cursor);
  const Place begin = place_of(api_.getRangeStart(range));
  const Place end = place_of(api_.getRangeEnd(range));
  Extent extent;
  extent.in_main = begin.in_main && end.in_main;
  if (!extent.in_main) return extent;
  extent.range = {begin.offset, end.offset};
  // The end of what a macro's argument ends with is told as the place of the macro.
  if (end.from_macro)
    if (const auto expansion = expansion_at(end.offset)) extent.range.end = expansion->end;
  if (extent.range.end <= extent.range.begin || extent.range.end > text_.size()) {
    const auto expansion = expansion_at(extent.range.begin);
    extent.range = expansion ? *expansion : TextRange{begin.offset, begin.offset};
    extent.at_macro = true;
    return extent;
  }
  extent.at_macro = expansion_at(extent.range.begin) || expansion_at(extent.range.end - 1);
  return extent;
}

std::optional<std::uint32_t> ParsedSource::name_place(CXCursor cursor) const {
  const Place place = place_of(api_.getCursorLocation(cursor));
  if (!place.in_main || place.from_macro || expansion_at(place.offset)) return std::nullopt;
  return place.offset;
}

bool ParsedSource::in_main_file(CXCursor cursor) const {
  return place_of(api_.getCursorLocation(cursor)).in_main;
}

bool ParsedSource::in_system_header(CXCursor cursor) const {
  return api_.Location_isInSystemHeader(api_.getCursorLocation(cursor)) != 0;
}

std::string ParsedSource::taken(CXString text) const {
  const char* const words = api_.getCString(text);
  std::string copy = words != nullptr ? words : "";
  api_.disposeString(text);
  return copy;
}

std::string ParsedSource::spelling(CXCursor cursor) const {
  return taken(api_.getCursorSpelling(cursor));
}

std::string ParsedSource::usr(CXCursor cursor) const {
  return taken(api_.getCursorUSR(cursor));
}

std::string ParsedSource::qualified_name(CXCursor cursor) const {
  std::string name = spelling(cursor);
  for (CXCursor above = api_.getCursorSemanticParent(cursor);
       api_.Cursor_isNull(above) == 0 && api_.getCursorKind(above) != CXCursor_TranslationUnit;
       above = api_.getCursorSemanticParent(above)) {
    const CXCursorKind kind = api_.getCursorKind(above);
    if (kind == CXCursor_LinkageSpec || kind == CXCursor_UnexposedDecl) continue;
    if (kind == CXCursor_Namespace && api_.Cursor_isInlineNamespace(above) != 0) continue;
    const bool unnamed = api_.Cursor_isAnonymous(above) != 0;
    name = (unnamed ? std::string("(anonymous)") : spelling(above)) + "::" + name;
  }
  return name;
}

std::string ParsedSource::type_text(CXType type) const {
  return taken(api_.getTypeSpelling(type));
}

std::string ParsedSource::canonical_type(CXCursor cursor) const {
  return type_text(api_.getCanonicalType(api_.getCursorType(cursor)));
}

std::vector<CXCursor> ParsedSource::children(CXCursor cursor) const {
  std::vector<CXCursor> found;
  api_.visitChildren(
      cursor,
      [](CXCursor child, CXCursor, CXClientData list) {
        static_cast<std::vector<CXCursor>*>(list)->push_back(child);
        return CXChildVisit_Continue;
      },
      &found);
  return found;
}

bool ParsedSource::has_attribute(CXCursor declaration, CXCursorKind kind) const {
  return std::ranges::any_of(children(declaration),
                             [&](CXCursor child) { return api_.getCursorKind(child) == kind; });
}

std::string ParsedSource::printed(CXCursor declaration) const {
  const CXPrintingPolicy policy = api_.getCursorPrintingPolicy(declaration);
  api_.PrintingPolicy_setProperty(policy, CXPrintingPolicy_TerseOutput, 1);
  std::string text = taken(api_.getCursorPrettyPrinted(declaration, policy));
  api_.PrintingPolicy_dispose(policy);
  return text;
}

std::optional<std::int64_t> ParsedSource::value_of(CXCursor cursor) const {
  const CXEvalResult result = api_.Cursor_Evaluate(cursor);
  if (result == nullptr) return std::nullopt;
  std::optional<std::int64_t> value;
  if (api_.EvalResult_getKind(result) == CXEval_Int) {
    if (api_.EvalResult_isUnsignedInt(result) == 0)
      value = api_.EvalResult_getAsLongLong(result);
    else if (const auto number = api_.EvalResult_getAsUnsigned(result); number <= INT64_MAX)
      value = static_cast<std::int64_t>(number);
  }
  api_.EvalResult_dispose(result);
  return value;
}

std::optional<CXCursor> ParsedSource::definition_of(CXCursor function) const {
  const auto with_body = [&](CXCursor candidate) {
    if (api_.Cursor_isNull(candidate) != 0) return false;
    return std::ranges::any_of(children(candidate), [&](CXCursor child) {
      const CXCursorKind kind = api_.getCursorKind(child);
      return kind == CXCursor_CompoundStmt || kind == CXCursor_CXXTryStmt;
    });
  };
  for (CXCursor at : {function, api_.getSpecializedCursorTemplate(function)}) {
    if (api_.Cursor_isNull(at) != 0) continue;
    if (with_body(at)) return at;
    if (const CXCursor definition = api_.getCursorDefinition(at); with_body(definition))
      return definition;
  }
  return std::nullopt;
}

SyntaxTree ParsedSource::tree_of(CXCursor cursor) const {
  SyntaxTree tree;
  tree.nodes.emplace_back().cursor = cursor;
  grow(tree, 0, 0);
  return tree;
}

void ParsedSource::grow(SyntaxTree& tree, std::uint32_t node, int depth) const {
  {
    SyntaxNode& filled = tree.nodes[node];
    filled.kind = api_.getCursorKind(filled.cursor);
    const Extent extent = extent_of(filled.cursor);
    filled.range = extent.range;
    filled.in_main = extent.in_main;
    filled.at_macro = extent.at_macro;
    filled.referenced = api_.isExpression(filled.kind) != 0 || api_.isReference(filled.kind) != 0
                            ? api_.getCursorReferenced(filled.cursor)
                            : api_.getNullCursor();
  }
  if (depth == SyntaxTree::kMostDepth) {
    tree.too_deep = true;
    return;
  }
  for (const CXCursor child : children(tree.nodes[node].cursor)) {
    const auto index = static_cast<std::uint32_t>(tree.nodes.size());
    tree.nodes.emplace_back();
    tree.nodes[index].cursor = child;
    tree.nodes[index].parent = node;
    tree.nodes[node].children.push_back(index);
    grow(tree, index, depth + 1);
  }
}

}  // namespace perflab::optimize
