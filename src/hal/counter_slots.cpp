// Facts: docs/facts/counters.md "Slots of a pass".
#include "hal/counter_slots.h"

#include <map>
#include <set>
#include <string_view>

namespace perflab::hal {
namespace {

/// What occupies the slots of each block.
using Occupied = std::map<std::string, std::set<std::string>, std::less<>>;

void occupy(const CounterTable& table, std::string_view counter, Occupied& occupied) {
  if (const auto inputs = table.derived_inputs.find(counter);
      inputs != table.derived_inputs.end()) {
    for (const std::string& input : inputs->second) occupy(table, input, occupied);
    return;
  }
  const CounterName name = split_counter(table, counter);
  std::set<std::string>& block = occupied[table.block_of(counter)];
  block.insert(name.base);
  if (name.accumulated) block.insert(std::string(counter));
}

}  // namespace

std::string overfull_block(const CounterTable& table, std::span<const std::string> counters) {
  Occupied occupied;
  for (const std::string& counter : counters) occupy(table, counter, occupied);
  for (const auto& [block, names] : occupied)
    if (!block.empty() && names.size() > static_cast<std::size_t>(table.slots(block).value_or(1)))
      return block;
  return {};
}

}  // namespace perflab::hal
