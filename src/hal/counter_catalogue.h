// Hardware counters by architecture: which ones there are, how many of a block one pass holds, the
// sets that rocm-perf asks for, and the formulas from counters to figures. The tables are
// counters/*.json, embedded in the binary, with their sources; there is no counter name in the code
// but those of the tables. Facts: docs/facts/counters.md.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "hal/counter_formula.h"
#include "hal/counter_table.h"

namespace perflab::hal {

/// All tables, ordered by gfx name. Parsed at the first call; thread-safe.
std::span<const CounterTable> all_counter_tables();

/// The table of a gfx name or target id; nullptr where counters of that architecture are not known.
const CounterTable* find_counter_table(std::string_view target_id);

/// What a source key of the counter tables stands for; missing for an unknown key.
std::optional<std::string_view> counter_source(std::string_view key);

}  // namespace perflab::hal
