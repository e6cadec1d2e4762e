// Conditions that say the same wherever they stand in a body: what one guards, another of the same
// text finds. For source_unwritten.cpp.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "optimize/ast/syntax_tree.h"

namespace perflab::optimize {

class SteadyConditions {
 public:
  SteadyConditions(const ParsedSource& source, const SyntaxTree& tree)
      : source_(source), api_(source.api()), tree_(tree) {}

  /// The variables of such a condition, in the order of its text; missing: memory, a call or a
  /// variable that gets another value may make it say something else.
  [[nodiscard]] std::optional<std::vector<CXCursor>> variables_of(std::uint32_t condition) const;

 private:
  [[nodiscard]] const SyntaxNode& at(std::uint32_t node) const { return tree_.nodes[node]; }
  /// Whether one operation of it may differ from place to place.
  [[nodiscard]] bool may_differ(const SyntaxNode& node) const;
  /// Whether a variable may get another value but by the header of its loop.
  [[nodiscard]] bool changes(CXCursor variable) const;

  const ParsedSource& source_;
  const ClangApi& api_;
  const SyntaxTree& tree_;
  mutable std::map<unsigned, bool> changes_;  // by hash of the variable
};

}  // namespace perflab::optimize
