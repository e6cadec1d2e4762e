// What the expressions of a body point into: pointers are followed through initialisers and
// assignments down to what they were derived from, their roots. For source_pointers.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "optimize/ast/syntax_tree.h"

namespace perflab::optimize {

/// Names of what a pointer may point into.
using Roots = std::set<std::string>;
/// Roots that are no object.
inline constexpr std::string_view kNullRoot = "(null)", kUnknownRoot = "(unknown)";

bool is_open_kind(CXTypeKind kind);     ///< left open by a template
bool is_integer_kind(CXTypeKind kind);  ///< bool and enumerations included
bool is_cast(CXCursorKind kind);        ///< that is written

class PointerRoots {
 public:
  enum class Sign : std::uint8_t { none, plus, minus, compares };
  /// Two operands of an operator, whether or not a template leaves open which one it is.
  struct Operation {
    Sign sign = Sign::none;
    std::uint32_t left = 0, right = 0;
  };

  PointerRoots(const ParsedSource& source, const SyntaxTree& tree);

  [[nodiscard]] Operation operation(std::uint32_t node) const;
  /// Likewise of an operator with one operand; Invalid: it is none.
  [[nodiscard]] CXUnaryOperatorKind unary_operation(std::uint32_t node) const;
  /// Its operand, the first child that is no function.
  [[nodiscard]] std::optional<std::uint32_t> operand(std::uint32_t node) const;
  /// Whether the expression is a pointer, an array counts; by its syntax where the type is open.
  [[nodiscard]] bool is_pointer(std::uint32_t node, int depth = 0) const;
  [[nodiscard]] Roots roots_of(std::uint32_t node) const;
  /// Whether an object of the type has a pointer, a reference or a descriptor of memory in it.
  [[nodiscard]] bool holds_pointer(CXType type, int depth = 0) const;
  [[nodiscard]] std::vector<CXCursor> fields_of(CXType record) const;
  /// The last child that is an expression: what a cast is of.
  [[nodiscard]] std::optional<std::uint32_t> inner(std::uint32_t node) const;
  /// Without parentheses and implicit conversions.
  [[nodiscard]] std::uint32_t unwrapped(std::uint32_t node) const;
  /// Canonical and without qualifiers.
  [[nodiscard]] std::string bare(CXType type) const;
  [[nodiscard]] std::string text_of(std::uint32_t node) const;

 private:
  [[nodiscard]] const SyntaxNode& at(std::uint32_t node) const { return tree_.nodes[node]; }
  [[nodiscard]] CXType type(std::uint32_t node) const;
  void read_values();
  [[nodiscard]] std::vector<std::uint32_t> values_of(CXCursor variable) const;
  [[nodiscard]] std::string name_of(CXCursor variable) const;
  void variable_roots(CXCursor variable, Roots& roots, int depth) const;
  void add_roots(std::uint32_t node, Roots& roots, int depth) const;
  void object_roots(std::uint32_t node, Roots& roots, int depth) const;

  const ParsedSource& source_;
  const ClangApi& api_;
  const SyntaxTree& tree_;
  std::multimap<unsigned, std::uint32_t> values_;  // by hash of the variable
  mutable std::set<unsigned> seen_;                // variables that are followed now
};

}  // namespace perflab::optimize
