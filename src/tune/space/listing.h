// Lists the configurations of a space: all that the rules allow, or a random sample where there are
// too many to list. Private to src/tune/space.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/error.h"
#include "tune/space/space_description.h"
#include "tune/space/space_rules.h"

namespace perflab::tune {

struct Listing {
  std::vector<Level> rows;      ///< one after the other
  std::vector<double> removed;  ///< by rule; empty when sampled
  double product = 0;
  bool sampled = false;
};

/// The product of all parameters, less what the rules forbid, in lexicographic order. A sample
/// holds `must_have` when the rules allow it, else the least of the rows that the listing had found
/// before it was given up; where chance finds too few, it is filled with more of those. Errors:
/// bad_input (an expression fails, no configuration is left, none was found), interrupted.
Result<Listing> list_product(const SpaceDescription& description, const SpaceRules& rules,
                             const ListingOptions& options,
                             const std::optional<std::vector<Level>>& must_have);

/// The rows of a list that the rules allow, each once, in the list's order. Errors as above.
Result<Listing> list_given(const SpaceDescription& description, const SpaceRules& rules);

/// The first rule, in declared order, that forbids the row; nothing: it is allowed.
Result<std::optional<std::size_t>> rule_against(const SpaceDescription& description,
                                                const SpaceRules& rules,
                                                const std::vector<Level>& row);

/// What all expressions of a space may cost (CompiledExpression::evaluate), before it is said that
/// they take too long: about ten seconds.
inline constexpr std::size_t kMostWorkOfSpace = 1'000'000'000;
Error takes_too_long(const SpaceDescription& description);
/// Ctrl-C is looked for after so many rows: milliseconds.
inline constexpr std::size_t kRowsBetweenLooks = 1'000;
/// After Ctrl-C.
Error interrupted_listing(const SpaceDescription& description);

}  // namespace perflab::tune
