// Spaces with a known function, for the tests of the search.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tune/search/search.h"
#include "tune/space/space.h"

namespace perflab::tune {

/// The value of a configuration; nothing: it fails.
using Function = std::function<std::optional<double>(const Space&, ConfigId)>;

/// All combinations of the values.
inline Space product_space(
    const std::vector<std::pair<std::string, std::vector<Value>>>& parameters) {
  SpaceDescription description;
  for (const auto& [name, values] : parameters)
    description.parameters.push_back({.name = name, .values = values, .default_level = {}});
  auto space = Space::list(std::move(description));
  EXPECT_TRUE(space.has_value()) << (space ? "" : space.error().message);
  return std::move(space).value();
}

inline std::vector<Value> whole_numbers(std::int64_t first, std::int64_t last,
                                        std::int64_t step = 1) {
  std::vector<Value> values;
  for (std::int64_t value = first; value <= last; value += step) values.emplace_back(value);
  return values;
}

inline double number_at(const Space& space, ConfigId id, std::size_t parameter) {
  return number_of(space.value(id, parameter)).value_or(0);
}

struct Course {
  std::vector<Proposal> proposals;
  std::vector<std::optional<double>> values;
};

/// Proposes and tells until `budget` evaluations are used or the search ends; no value: it failed.
/// `backwards`: a batch is told in reverse.
inline Course drive(Search& search, const Space& space, const Function& objective,
                    std::size_t budget, std::size_t batch = 1, bool backwards = false) {
  Course run;
  while (run.proposals.size() < budget) {
    auto proposals = search.propose(std::min(batch, budget - run.proposals.size()));
    if (proposals.empty()) break;
    for (const Proposal& proposal : proposals) {
      run.proposals.push_back(proposal);
      run.values.push_back(objective(space, proposal.id));
    }
    for (std::size_t i = 0; i < proposals.size(); ++i) {
      const std::size_t at = backwards ? proposals.size() - 1 - i : i;
      const auto value = run.values[run.values.size() - proposals.size() + at];
      search.tell(proposals[at].id, value ? Outcome::correct : Outcome::run_failed, value);
    }
  }
  return run;
}

inline std::vector<ConfigId> ids_of(const Course& run) {
  std::vector<ConfigId> ids;
  for (const Proposal& proposal : run.proposals) ids.push_back(proposal.id);
  return ids;
}

/// The configuration with the least value.
inline ConfigId best_of(const Space& space, const Function& objective) {
  ConfigId best = 0;
  for (std::size_t row = 1; row < space.size(); ++row) {
    const auto id = static_cast<ConfigId>(row);
    const auto value = objective(space, id);
    const auto least = objective(space, best);
    if (value && (!least || *value < *least)) best = id;
  }
  return best;
}

}  // namespace perflab::tune
