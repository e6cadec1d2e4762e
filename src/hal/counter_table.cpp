// Look-ups in one counter table.
#include "hal/counter_table.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/text/text.h"

namespace perflab::hal {
namespace {

/// Reductions that the profiler offers for every counter.
constexpr std::array<std::string_view, 4> kReductions = {"_sum", "_avr", "_min", "_max"};
constexpr std::string_view kAccumulated = "_ACCUM";

/// Letters to change, add or leave out to come from one name to the other, not minding case.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

/// Length of "[3]" at the end of a name; 0 when there is none.
std::size_t channel_length(std::string_view name) {
  const std::size_t open = name.rfind('[');
  if (open == std::string_view::npos || open == 0 || !name.ends_with(']')) return 0;
  const std::string_view digits = name.substr(open + 1, name.size() - open - 2);
  const bool number =
      !digits.empty() && std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  return number ? name.size() - open : 0;
}

/// "unit__quantity.rollup": a unit of the GPU, what it counts, and how the instances meet.
bool is_cupti_metric(std::string_view name) {
  const std::size_t unit = name.find("__");
  const std::size_t rollup = name.find('.');
  return unit != std::string_view::npos && unit > 0 && rollup != std::string_view::npos &&
         rollup > unit + 2 && rollup + 1 < name.size();
}

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

CounterName split_counter(const CounterTable& table, std::string_view name) {
  const auto cut = [name](std::size_t length, bool accumulated) {
    return CounterName{.base = std::string(name.substr(0, name.size() - length)),
                       .suffix = std::string(name.substr(name.size() - length)),
                       .accumulated = accumulated};
  };
  if (table.counters.contains(name)) return cut(0, false);
  if (const std::size_t length = channel_length(name); length != 0) return cut(length, false);
  for (const std::string_view reduction : kReductions)
    if (name.size() > reduction.size() && name.ends_with(reduction))
      return cut(reduction.size(), false);
  if (name.size() > kAccumulated.size() && name.ends_with(kAccumulated))
    return cut(kAccumulated.size(), true);
  return cut(0, false);
}

const CounterFormula* CounterTable::find(std::string_view formula) const {
  const auto found = std::ranges::find(formulas, formula, &CounterFormula::name);
  return found == formulas.end() ? nullptr : &*found;
}

bool CounterTable::has_counter(std::string_view counter) const {
  return counters.contains(split_counter(*this, counter).base);
}

std::string CounterTable::block_of(std::string_view counter) const {
  if (is_derived(counter)) return {};
  const std::string_view prefix = counter.substr(0, counter.find('_'));
  const auto found =
      std::ranges::find(block_prefixes, prefix, &std::pair<std::string, std::string>::first);
  return found == block_prefixes.end() || prefix.size() == counter.size() ? "" : found->second;
}

bool CounterTable::is_derived(std::string_view counter) const {
  if (derived.contains(counter)) return true;
  return profiler == CounterProfiler::cupti && is_cupti_metric(counter) &&
         !counters.contains(counter) && !counter.ends_with(".sum");
}

bool CounterTable::knows(std::string_view counter) const {
  return has_counter(counter) || is_derived(counter) ||
         (profiler == CounterProfiler::cupti && is_cupti_metric(counter));
}

const CounterAlias* CounterTable::alias(std::string_view counter) const {
  const auto found = aliases.find(split_counter(*this, counter).base);
  return found == aliases.end() ? nullptr : &found->second;
}

std::string CounterTable::own_name(std::string_view counter) const {
  const CounterAlias* const found = alias(counter);
  return found == nullptr ? std::string(counter)
                          : found->counter + split_counter(*this, counter).suffix;
}

std::vector<std::string> CounterTable::spellings(std::string_view counter) const {
  const CounterName name = split_counter(*this, counter);
  std::vector<std::string> names{std::string(counter)};
  for (const auto& [other, alias] : aliases)
    if (alias.counter == name.base) names.push_back(other + name.suffix);
  return names;
}

std::optional<int> CounterTable::slots(std::string_view block) const {
  const auto found = std::ranges::find(block_slots, block, &std::pair<std::string, int>::first);
  if (found == block_slots.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> CounterTable::similar(std::string_view counter) const {
  const CounterName wanted = split_counter(*this, counter);
  // More than a quarter of the letters wrong is another name rather than a misspelt one.
  std::vector<std::tuple<std::size_t, std::string>> found;
  const auto offer = [&](std::string_view misspelt, const std::string& known,
                         const std::string& suffix) {
    const std::size_t most = std::max<std::size_t>(1, misspelt.size() / 4);
    const std::size_t apart = distance(misspelt, known);
    if (apart <= most) found.emplace_back(apart, known + suffix);
  };
  for (const std::string& known : counters) offer(wanted.base, known, wanted.suffix);
  for (const std::string& known : derived) offer(counter, known, "");
  std::ranges::sort(found);
  std::vector<std::string> names;
  for (const auto& [apart, name] : found)
    if (names.size() < 3 && name != counter) names.push_back(name);
  return names;
}

std::string overfull_block(const CounterTable& table, std::span<const std::string> counters) {
  Occupied occupied;
  for (const std::string& counter : counters) occupy(table, counter, occupied);
  for (const auto& [block, names] : occupied)
    if (!block.empty() && names.size() > static_cast<std::size_t>(table.slots(block).value_or(1)))
      return block;
  return {};
}

}  // namespace perflab::hal
