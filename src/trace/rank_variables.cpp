// torchrun: pytorch.org/docs/stable/elastic/run.html "Environment Variables". Open MPI, MPICH's
// PMI, MVAPICH and Intel MPI: the names that rocprofiler-sdk looks for (lib/output/format_path.cpp)
// and each one's documents. Slurm: srun(1), OUTPUT ENVIRONMENT VARIABLES.
#include "trace/rank_variables.h"

#include <array>
#include <cstdlib>

#include "base/text/numbers.h"

namespace perflab::trace {
namespace {

// SLURM_PROCID is 0 in a batch script, too, which is no rank: there SLURM_STEP_NUM_TASKS is not
// set. RANK is a word that others may use: torchrun sets both.
constexpr std::array<RankVariables, 7> kRankVariables{{
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", true},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", false},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", false},
    {"MPI_RANK", "MPI_SIZE", "MPI_LOCALRANKID", false},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", false},
    {"MPI_RANKID", "MPI_SIZE", "MPI_LOCALRANKID", false},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", true},
}};

}  // namespace

std::span<const RankVariables> rank_variables() {
  return kRankVariables;
}

RankFacts rank_of(const std::function<std::optional<std::string>(std::string_view name)>& value) {
  const auto number = [&](std::string_view name) -> std::optional<std::int64_t> {
    if (name.empty()) return std::nullopt;
    const std::optional<std::string> text = value(name);
    const auto found = text ? whole_number<std::int64_t>(*text) : std::nullopt;
    return found && *found >= 0 ? found : std::nullopt;
  };
  for (const RankVariables& names : kRankVariables) {
    const auto rank = number(names.rank);
    const auto size = number(names.size);
    if (!rank || (names.needs_size && !size) || (size && *rank >= *size)) continue;
    return {.rank = rank,
            .size = size,
            .local_rank = number(names.local_rank),
            .from = std::string(names.rank)};
  }
  return {};
}

RankFacts rank_of_this_process() {
  return rank_of([](std::string_view name) -> std::optional<std::string> {
    const char* text = std::getenv(std::string(name).c_str());
    return text == nullptr ? std::nullopt : std::optional<std::string>(text);
  });
}

}  // namespace perflab::trace
