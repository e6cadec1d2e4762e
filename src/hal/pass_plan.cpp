// Which counters go into one run of the application: what a block can count at the same time, and
// the packing of a user's own counters. Facts: docs/facts/counters.md "Slots of a pass"; the
// numbers are in the tables.
#include "hal/pass_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "hal/counter_catalogue.h"
#include "hal/counter_table.h"

namespace perflab::hal {
namespace {

/// Whether it takes the accumulator: a level added up over time.
bool accumulates(const CounterTable& table, std::string_view counter) {
  return split_counter(table, counter).accumulated;
}

/// Whether nothing is known that would let it share a pass.
bool stands_alone(const CounterTable& table, std::string_view counter) {
  return table.is_derived(counter) || !table.slots(table.block_of(counter));
}

/// Whether the profiler's own definitions lack the name: accumulated levels and single channels.
bool needs_definitions(const CounterTable& table, std::string_view counter) {
  const CounterName name = split_counter(table, counter);
  return name.accumulated || name.suffix.starts_with('[');
}

std::string other_architectures(const CounterTable& table, std::string_view counter) {
  std::vector<std::string_view> others;
  for (const CounterTable& other : all_counter_tables())
    if (other.gfx != table.gfx && other.knows(counter)) others.push_back(other.gfx);
  return others.empty() ? "" : fmt::format("counted on {}", fmt::join(others, ", "));
}

/// An error for a name that the architecture does not have; a warning for one that cannot be
/// judged, since it is like none that is known.
Result<std::string> judge_unknown(const CounterTable& table, const std::string& counter) {
  if (const CounterAlias* const alias = table.alias(counter))
    return fail(ErrorCode::usage, fmt::format("{} has no counter {}", table.gfx, counter),
                fmt::format("that is its name in recordings of {}; rocprofv3 takes {}", alias->tool,
                            table.own_name(counter)));
  const std::vector<std::string> similar = table.similar(counter);
  const std::string others = other_architectures(table, counter);
  if (!table.block_of(counter).empty() || !similar.empty() || !others.empty()) {
    std::string remedy;
    if (!similar.empty()) remedy = fmt::format("similar names: {}", fmt::join(similar, ", "));
    if (!others.empty()) remedy += (remedy.empty() ? "" : "; ") + others;
    return fail(ErrorCode::usage, fmt::format("{} has no counter {}", table.gfx, counter),
                std::move(remedy));
  }
  return fmt::format("{} is not among the known counters of {}; it is asked for all the same",
                     counter, table.gfx);
}

/// CUPTI replays each kernel for as many passes as its counters take, inside one run.
Result<PassPlan> plan_one_run(const CounterTable& table, bool own_sets,
                              std::span<const std::string> extra) {
  PassPlan plan;
  std::vector<std::string> all{table.in_every_pass};
  const auto add = [&](const std::string& counter) {
    if (std::ranges::find(all, counter) == all.end()) all.push_back(counter);
  };
  if (own_sets)
    for (const std::vector<std::string>& set : table.sets) std::ranges::for_each(set, add);
  for (const std::string& counter : extra) {
    if (!table.knows(counter)) {
      std::string remedy = "metrics are named as by Nsight Compute: sm__inst_executed.sum";
      if (const std::vector<std::string> similar = table.similar(counter); !similar.empty())
        remedy += fmt::format("; similar names: {}", fmt::join(similar, ", "));
      return fail(ErrorCode::usage, fmt::format("{} has no counter {}", table.gfx, counter),
                  std::move(remedy));
    }
    add(counter);
  }
  if (own_sets || !extra.empty()) plan.passes.push_back(std::move(all));
  return plan;
}

/// Puts a counter into the first of the passes from `first` on that has room for it, or a new one.
void pack(const CounterTable& table, const std::string& counter, std::size_t first,
          std::vector<std::vector<std::string>>& passes) {
  const bool level = accumulates(table, counter);
  for (std::size_t i = first; i < passes.size(); ++i) {
    std::vector<std::string> candidate = passes[i];
    if (level && std::ranges::any_of(candidate, [&](const std::string& other) {
          return accumulates(table, other);
        }))
      continue;
    candidate.push_back(counter);
    if (!overfull_block(table, candidate).empty()) continue;
    passes[i] = std::move(candidate);
    return;
  }
  passes.push_back({table.in_every_pass, counter});
}

}  // namespace

Result<PassPlan> plan_passes(const CounterTable& table, bool own_sets,
                             std::span<const std::string> extra) {
  if (table.profiler == CounterProfiler::cupti) return plan_one_run(table, own_sets, extra);
  PassPlan plan;
  if (own_sets) plan.passes = table.sets;
  std::set<std::string, std::less<>> planned;
  for (const std::vector<std::string>& pass : plan.passes) planned.insert(pass.begin(), pass.end());
  std::vector<std::string> wanted;
  for (const std::string& counter : extra) {
    if (!planned.insert(counter).second) continue;
    if (!table.knows(counter)) {
      PERFLAB_TRY(std::string warning, judge_unknown(table, counter));
      plan.warnings.push_back(std::move(warning));
    } else if (needs_definitions(table, counter)) {
      plan.warnings.push_back(
          fmt::format("{} is a name of rocprofiler-compute's own counter definitions: rocprofv3 "
                      "does not know it without them",
                      counter));
    }
    wanted.push_back(counter);
  }
  // Levels first: each needs a pass of its own kind, in which the others then find room.
  std::ranges::stable_partition(
      wanted, [&](const std::string& counter) { return accumulates(table, counter); });
  const std::size_t first = plan.passes.size();
  std::vector<std::vector<std::string>> alone;
  for (const std::string& counter : wanted) {
    if (counter == table.in_every_pass) continue;
    if (stands_alone(table, counter))
      alone.push_back({table.in_every_pass, counter});
    else
      pack(table, counter, first, plan.passes);
  }
  std::ranges::move(alone, std::back_inserter(plan.passes));
  if (plan.passes.empty() && !wanted.empty()) plan.passes.push_back({table.in_every_pass});
  return plan;
}

}  // namespace perflab::hal
