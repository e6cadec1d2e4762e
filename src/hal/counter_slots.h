// What the blocks of a GPU can count at the same time. Facts: docs/facts/counters.md "Slots of a
// pass"; the numbers are in the tables.
#pragma once

#include <span>
#include <string>

#include "hal/counter_table.h"

namespace perflab::hal {

/// The block that would have to count more at the same time than it can if these counters were
/// asked for in one pass; empty: they fit. Channels and reductions of a counter share its slot,
/// an accumulated level takes two (the level and the accumulator), derived metrics take those of
/// their counters. A block whose slots are not known holds one.
std::string overfull_block(const CounterTable& table, std::span<const std::string> counters);

}  // namespace perflab::hal
