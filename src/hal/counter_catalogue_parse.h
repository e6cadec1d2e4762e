// From the text of one file of counters/*.json to the tables of its architectures. The files are
// ours, so they are read strictly: every field must be there and no other, every formula must
// compute, every name in it must be known, and every set must fit one pass.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "hal/counter_table.h"

namespace perflab::hal {

/// The tables of all architectures of one file. The error (bad_input) names `what` and the thing.
Result<std::vector<CounterTable>> parse_counter_tables(std::string_view text,
                                                       std::string_view what);

}  // namespace perflab::hal
