// The counters of an architecture that has to have a table.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "hal/counter_catalogue.h"

namespace perflab::hal {

inline const CounterTable& table(std::string_view gfx) {
  const CounterTable* found = find_counter_table(gfx);
  if (found == nullptr) throw std::runtime_error("no table of " + std::string(gfx));
  return *found;
}

}  // namespace perflab::hal
