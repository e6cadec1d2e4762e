// See guard_results.h. Limits of resources: the constants in guards.h (docs/OPTIMIZER.md "What a
// proposal has to pass").
#include "optimize/objects/guard_results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "hal/terms.h"

namespace perflab::optimize {
namespace {

/// Names that a sentence lists at most.
constexpr std::size_t kMostGuardNames = 5;

bool is_worse(double was, double is, Growth growth) {
  switch (growth) {
    case Growth::none:
      return is > was;
    case Growth::registers:
      return is > was * (1 + kMostVgprGrowth);
    case Growth::shared:
      return is > was * (1 + kMostLdsGrowth);
    case Growth::occupancy:
      return is < was * (1 - kMostOccupancyLoss);
    case Growth::any:
      return false;
  }
  return false;
}

std::string figure_text(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "not known";
}

}  // namespace

GuardResult object_passed(std::string name, std::string note) {
  return {.name = std::move(name), .passed = true, .reason = {}, .detail = std::move(note)};
}

GuardResult object_failed(std::string name, Reason reason, std::string detail) {
  return {.name = std::move(name), .passed = false, .reason = reason, .detail = std::move(detail)};
}

std::string listed_names(std::vector<std::string> names) {
  const std::size_t all = names.size();
  names.resize(std::min(all, kMostGuardNames));
  return fmt::format("{}{}", fmt::join(names, ", "),
                     all > names.size() ? fmt::format(" and {} more", all - names.size()) : "");
}

void add_change(std::vector<ResourceChange>& changes, std::string figure,
                std::optional<double> before, std::optional<double> after, Growth growth) {
  if (before == after) return;
  changes.push_back({.figure = std::move(figure),
                     .before = before,
                     .after = after,
                     .regression = before && after && is_worse(*before, *after, growth)});
}

GuardResult describe_resources(const std::vector<ResourceChange>& changes, std::string note) {
  std::vector<std::string> worse;
  for (const ResourceChange& change : changes)
    if (change.regression)
      worse.push_back(fmt::format("{} {} instead of {}", change.figure, figure_text(change.after),
                                  figure_text(change.before)));
  if (worse.empty()) return object_passed("resources", std::move(note));
  return object_passed("resources",
                       fmt::format("worse, a gain has to be proven: {}{}{}", fmt::join(worse, ", "),
                                   note.empty() ? "" : "; ", note));
}

GuardResult describe_others(const OtherCode& found) {
  std::vector<std::string> problems;
  if (!found.fresh.empty()) problems.push_back("new kernels: " + listed_names(found.fresh));
  if (!found.gone.empty()) problems.push_back("kernels that are gone: " + listed_names(found.gone));
  if (!found.altered.empty())
    problems.push_back("kernels that changed: " + listed_names(found.altered));
  if (!problems.empty())
    return object_failed("other_kernels", Reason::other_code_changed,
                         fmt::format("{}", fmt::join(problems, "; ")));
  return object_passed("other_kernels",
                       found.moved.empty()
                           ? ""
                           : "code of other kernels differs in words, as addresses do: " +
                                 listed_names(found.moved));
}

GuardResult describe_variables(std::vector<std::string> problems) {
  if (problems.empty()) return object_passed("variables");
  return object_failed("variables", Reason::other_code_changed,
                       "variables: " + listed_names(std::move(problems)));
}

GuardResult describe_bounds(const std::optional<std::int64_t>& most,
                            const std::optional<std::int64_t>& required,
                            const std::optional<std::int64_t>& workgroup_size,
                            hal::Platform platform) {
  const std::string name = "launch_bounds_of_code";
  const hal::Terms& words = hal::terms(platform);
  if (!workgroup_size)
    return object_passed(name, fmt::format("not compared: the size of the {} that are launched is "
                                           "not known",
                                           words.workgroups));
  if (required && *required != *workgroup_size)
    return object_failed(
        name, Reason::launch_bounds,
        fmt::format("the candidate requires {} of {} {}, and {} are launched", words.workgroups,
                    *required != 0 ? fmt::format("{}", *required) : "an impossible number of",
                    words.work_items, *workgroup_size));
  if (most && *most < *workgroup_size)
    return object_failed(
        name, Reason::launch_bounds,
        fmt::format("the candidate allows {} of {} {} at most, and {} are launched",
                    words.workgroups, *most, words.work_items, *workgroup_size));
  return object_passed(name);
}

}  // namespace perflab::optimize
