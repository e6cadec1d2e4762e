// The counters of an architecture that has to have a table.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hal/counter_catalogue.h"

namespace perflab::hal {

inline const CounterTable& table(std::string_view gfx) {
  const CounterTable* found = find_counter_table(gfx);
  if (found == nullptr) throw std::runtime_error("no table of " + std::string(gfx));
  return *found;
}

/// The tables whose counters rocprofv3 collects.
inline std::vector<CounterTable> rocprof_tables() {
  std::vector<CounterTable> found;
  for (const CounterTable& each : all_counter_tables())
    if (each.profiler == CounterProfiler::rocprofv3) found.push_back(each);
  return found;
}

}  // namespace perflab::hal
