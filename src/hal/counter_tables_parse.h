// From the text of one file of counters/*.json to the tables of its architectures. The files are
// ours, so they are read strictly: every field must be there and no other, every formula must
// compute, every name in it must be known, and every set must fit one pass.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "hal/counter_tables.h"

namespace perflab::hal {

/// The tables of all architectures of one file. The error (bad_input) names `what` and the thing.
Result<std::vector<CounterTable>> parse_counter_tables(std::string_view text,
                                                       std::string_view what);

/// A counter's name taken apart: "TCC_HIT_sum", "TCC_HIT[3]", "SQ_LEVEL_WAVES_ACCUM".
struct CounterName {
  std::string base;          ///< what the hardware counts: "TCC_HIT"
  std::string suffix;        ///< as it stands in the name: "_sum", "[3]"; may be empty
  bool accumulated = false;  ///< a level, added up over time
};

/// Takes a name apart. A name that the table has as it is has no suffix.
CounterName split_counter(const CounterTable& table, std::string_view name);

}  // namespace perflab::hal
