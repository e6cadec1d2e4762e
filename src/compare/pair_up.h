// Which kernels of two sides belong together.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "compare/sample_side.h"

namespace perflab::compare {

/// Places of the series that belong together, in both sides.
using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// By name, then by mangled name; a single one of each side also without.
Pairs pair_up(const SampleSide& a, const SampleSide& b);

}  // namespace perflab::compare
