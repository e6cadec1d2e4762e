// What the waits of a kernel are for, in program order: without a trace nobody saw what was
// outstanding, but the code before a wait says what can have been.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyze/pc_sampling/pc_figures.h"

namespace perflab::analyze {

/// What is known of a kernel's code.
enum class CodeOrder : std::uint8_t {
  none,     ///< texts of samples, in no order (CSV)
  sampled,  ///< by address, but what was never sampled is not there
  whole,
};

/// Fills PcInstruction::wait and waits_for of every wait on memory counters. `branches`: index of a
/// branch -> index of its target. In whole code from a wait backwards, up to an earlier wait that
/// left no more outstanding; in a loop from its head on to its end: the (N + 1)-th last that a
/// counter counts is the one waited for. Which kind a counter of both LDS and scalar memory stood
/// for is told by what was found; of the code of samples alone by all of it.
void find_sampled_waits(std::vector<PcInstruction>& code,
                        const std::map<std::size_t, std::size_t>& branches, int generation,
                        CodeOrder order);

}  // namespace perflab::analyze
