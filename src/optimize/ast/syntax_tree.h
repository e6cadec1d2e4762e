// A source that libclang parsed, with what its C interface makes hard to get: the tokens of the
// file, where macros were expanded, and bodies as trees that can be walked both ways. Only for the
// files of the source model; the model itself carries nothing of clang's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "optimize/ast/clang_library.h"
#include "optimize/ast/parse_options.h"
#include "optimize/ast/text_range.h"

namespace perflab::optimize {

struct SourceToken {
  TextRange range;
  CXTokenKind kind = CXToken_Punctuation;
};

struct SyntaxNode {
  CXCursor cursor{};
  CXCursorKind kind = CXCursor_UnexposedStmt;
  CXCursor referenced{};     ///< of expressions and references; null: nothing
  TextRange range;           ///< in the main file
  std::uint32_t parent = 0;  ///< of the root: itself
  bool in_main = false;      ///< the range is one of the main file
  bool at_macro = false;     ///< it begins or ends with text out of a macro
  std::vector<std::uint32_t> children;
};

/// What is below one cursor; nodes[0] is the cursor itself, a parent comes before its children and
/// children are in the order of the text.
struct SyntaxTree {
  std::vector<SyntaxNode> nodes;
  bool too_deep = false;  ///< not all of it: nested deeper than kMostDepth
  static constexpr int kMostDepth = 600;

  /// First ancestor, `node` itself left out, for which the predicate holds; 0 is never asked.
  template <class Predicate>
  [[nodiscard]] std::optional<std::uint32_t> ancestor(std::uint32_t node,
                                                      Predicate predicate) const {
    while (node != 0) {
      node = nodes[node].parent;
      if (node != 0 && predicate(nodes[node])) return node;
    }
    return std::nullopt;
  }
  /// One past the last node below `node`: a subtree is nodes [node, subtree_end).
  [[nodiscard]] std::uint32_t subtree_end(std::uint32_t node) const;
};

class ParsedSource {
 public:
  /// Errors: those of parse_source(), but for errors in the source: check_errors() tells them.
  static Result<std::unique_ptr<ParsedSource>> parse(std::string text, const ParseOptions& options);
  ParsedSource(const ParsedSource&) = delete;
  ParsedSource(ParsedSource&&) = delete;
  ParsedSource& operator=(const ParsedSource&) = delete;
  ParsedSource& operator=(ParsedSource&&) = delete;
  ~ParsedSource();

  [[nodiscard]] const ClangApi& api() const { return api_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const ParseOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  [[nodiscard]] const std::vector<std::string>& errors() const { return errors_; }
  /// bad_input with clang's first messages when there are any.
  [[nodiscard]] Result<void> check_errors() const;
  [[nodiscard]] CXCursor root() const;
  [[nodiscard]] std::span<const SourceToken> tokens() const { return tokens_; }
  /// Outermost macro expansions of the main file, in order.
  [[nodiscard]] std::span<const TextRange> expansions() const { return expansions_; }
  /// Branches of #if that are not compiled, in order.
  [[nodiscard]] std::span<const TextRange> skipped() const { return skipped_; }

  [[nodiscard]] std::string_view at(const TextRange& range) const {
    return std::string_view(text_).substr(range.begin, range.end - range.begin);
  }
  [[nodiscard]] std::string_view token(std::size_t index) const {
    return index < tokens_.size() ? at(tokens_[index].range) : std::string_view();
  }
  /// Index of the first token that begins at `offset` or behind it.
  [[nodiscard]] std::size_t token_from(std::uint32_t offset) const;
  /// Index of the bracket that closes the one at `open`, below `end`; tokens().size(): none.
  [[nodiscard]] std::size_t closing(std::size_t open, std::size_t end) const;
  [[nodiscard]] std::uint32_t line_of(std::uint32_t offset) const;
  /// The macro expansion that a byte belongs to.
  [[nodiscard]] std::optional<TextRange> expansion_at(std::uint32_t offset) const;

  struct Extent {
    TextRange range;
    bool in_main = false, at_macro = false;
  };
  [[nodiscard]] Extent extent_of(CXCursor cursor) const;
  /// Where the cursor's name stands; missing: not in the main file, or in a macro.
  [[nodiscard]] std::optional<std::uint32_t> name_place(CXCursor cursor) const;
  [[nodiscard]] bool in_main_file(CXCursor cursor) const;
  [[nodiscard]] bool in_system_header(CXCursor cursor) const;

  [[nodiscard]] std::string spelling(CXCursor cursor) const;
  [[nodiscard]] std::string usr(CXCursor cursor) const;
  /// With namespaces and classes, inline namespaces left out: "std::min", "ns::k".
  [[nodiscard]] std::string qualified_name(CXCursor cursor) const;
  [[nodiscard]] std::string type_text(CXType type) const;
  [[nodiscard]] std::string canonical_type(CXCursor cursor) const;
  [[nodiscard]] std::vector<CXCursor> children(CXCursor cursor) const;
  [[nodiscard]] bool has_attribute(CXCursor declaration, CXCursorKind kind) const;
  /// Declaration as clang prints it, without the body; with attributes unless it is a template.
  [[nodiscard]] std::string printed(CXCursor declaration) const;
  /// Value of an expression, or of a constant variable; missing: not an integer constant.
  [[nodiscard]] std::optional<std::int64_t> value_of(CXCursor cursor) const;
  /// The function's definition with a body that can be seen; missing: none.
  [[nodiscard]] std::optional<CXCursor> definition_of(CXCursor function) const;
  [[nodiscard]] SyntaxTree tree_of(CXCursor cursor) const;

 private:
  ParsedSource(const ClangApi& api, std::string text, ParseOptions options);
  Result<void> run_clang();
  Result<void> read_diagnostics();  // error: headers that this machine lacks
  void read_tokens();
  void read_expansions();
  void read_skipped();
  struct Place {
    bool in_main = false, from_macro = false;
    std::uint32_t offset = 0;
  };
  [[nodiscard]] Place place_of(CXSourceLocation location) const;
  void grow(SyntaxTree& tree, std::uint32_t node, int depth) const;
  [[nodiscard]] std::string taken(CXString text) const;

  const ClangApi& api_;
  std::string text_;
  ParseOptions options_;
  CXIndex index_ = nullptr;
  CXTranslationUnit unit_ = nullptr;
  CXFile file_ = nullptr;
  std::vector<SourceToken> tokens_;
  std::vector<TextRange> expansions_, skipped_;
  std::vector<std::uint32_t> lines_;  // where each begins
  std::vector<std::string> warnings_, errors_;
};

/// Whatever parsing asks other programs for, which is remembered. Errors: missing_tool,
/// interrupted.
Result<void> prepare_parsing(const ParseOptions& options);

[[nodiscard]] bool is_function(CXCursorKind kind);
[[nodiscard]] bool is_loop(CXCursorKind kind);
/// Of canonical types; an array whose size a template leaves open is one.
[[nodiscard]] bool is_array_kind(CXTypeKind kind);
[[nodiscard]] bool is_reference_kind(CXTypeKind kind);

}  // namespace perflab::optimize
