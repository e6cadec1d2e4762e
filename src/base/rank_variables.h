// The environment variables that say which rank of a job a process is: the only ones that are ever
// read, recorded or shown, best first. Facts: docs/facts/ranks.md "Identity".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace perflab {

/// Variables that one launcher sets; empty: it sets none such.
struct RankVariables {
  std::string_view rank, size, local_rank;
};

/// torchrun's come first: under Slurm it is started once a node, so that Slurm's task is the node.
inline constexpr std::array<RankVariables, 7> kRankVariables = {{
    {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"PMIX_RANK", "", ""},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"},
    {"MPI_RANK", "MPI_SIZE", ""},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
}};
/// Said of the process too, decides nothing alone: torchrun's node, and PBS's task.
inline constexpr RankVariables kLastRankVariables = {"PBS_NODENUM", "", ""};
inline constexpr std::string_view kGroupRank = "GROUP_RANK";

/// Visits every one of these names.
template <class Visit>
constexpr void for_each_rank_variable(const Visit& visit) {
  const auto all = [&](const RankVariables& set) {
    for (const std::string_view name : {set.rank, set.size, set.local_rank}) {
      if (!name.empty()) visit(name);
    }
  };
  for (const RankVariables& set : kRankVariables) all(set);
  all(kLastRankVariables);
  visit(kGroupRank);
}

/// What the variables say, by the first launcher that gives a rank.
struct RankInEnvironment {
  std::optional<std::int64_t> rank, size, local_rank;
  std::string_view from;  ///< variable of `rank`; empty: none
};

/// `number`: the number that a variable holds, not negative, or nullopt.
template <class Number>
RankInEnvironment rank_in_environment(const Number& number) {
  const auto ask = [&](std::string_view name) -> std::optional<std::int64_t> {
    return name.empty() ? std::nullopt : number(name);
  };
  const auto by = [&](const RankVariables& set) -> RankInEnvironment {
    const std::optional<std::int64_t> rank = ask(set.rank);
    if (!rank) return {};
    RankInEnvironment found{rank, ask(set.size), ask(set.local_rank), set.rank};
    // A size that the rank is not within is another launcher's.
    if (found.size && *found.size <= *rank) found.size.reset();
    return found;
  };
  for (const RankVariables& set : kRankVariables) {
    if (const RankInEnvironment found = by(set); found.rank) return found;
  }
  return by(kLastRankVariables);
}

}  // namespace perflab
