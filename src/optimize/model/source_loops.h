// Loops of a body: where their parts stand, what is done in them, and which of them count.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "optimize/ast/syntax_tree.h"
#include "optimize/model/body_facts.h"

namespace perflab::optimize {

struct FoundLoop {
  Loop loop;
  std::uint32_t node = 0;
};

/// `reach`: of the tree. `directives`: of the file, for the pragmas in front of loops.
std::vector<FoundLoop> loops_of(const ParsedSource& source, const SyntaxTree& tree,
                                const std::vector<Reach>& reach,
                                const std::vector<TextRange>& directives);

/// Index of the innermost loop around a node.
std::optional<std::size_t> loop_around(const SyntaxTree& tree, const std::vector<FoundLoop>& loops,
                                       std::uint32_t node);

/// How often for (i = first; i COMPARISON bound; i += step) runs; missing: unknown, without end, or
/// more than 2^62.
std::optional<std::int64_t> trip_count(std::int64_t first, std::int64_t bound, std::int64_t step,
                                       const std::string& comparison);

}  // namespace perflab::optimize
