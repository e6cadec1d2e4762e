// Which variables of a process's environment say which rank of a job it is (docs/facts/ranks.md
// "Identity"). The one list: no other variable is read for that, and no other is ever recorded or
// shown. A header alone: the library that records CUDA programs has it too.
//
// torchrun: pytorch.org/docs/stable/elastic/run.html "Environment Variables". Open MPI, MPICH's
// PMI, PMIx, MVAPICH, Intel MPI and PBS: the names that rocprofiler-sdk looks for
// (lib/output/format_path.cpp) and each one's documents. Slurm: srun(1), OUTPUT ENVIRONMENT
// VARIABLES.
#pragma once

#include <array>
#include <string_view>

namespace perflab {

/// The variables of one launcher. `size` is asked for where `rank` alone may be something else.
struct RankVariables {
  std::string_view rank, size;  ///< `size` empty: it has none
  std::string_view local_rank;  ///< empty: it has none
  bool needs_size = false;
};

/// Best first: torchrun's, which stands inside of MPI or Slurm and knows better; MPI's; Slurm's,
/// whose task is torchrun's node. SLURM_PROCID is 0 in a batch script, too, which is no rank: there
/// SLURM_STEP_NUM_TASKS is not set. RANK is a word that others may use: torchrun sets both.
inline constexpr std::array<RankVariables, 9> kRankVariables{{
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", true},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", false},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", false},
    {"MPI_RANK", "MPI_SIZE", "MPI_LOCALRANKID", false},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", false},
    {"MPI_RANKID", "MPI_SIZE", "MPI_LOCALRANKID", false},
    {"PMIX_RANK", "", "", false},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", true},
    {"PBS_NODENUM", "", "", false},
}};

/// Visits each of these names, some twice.
template <class Visit>
constexpr void for_each_rank_variable(const Visit& visit) {
  for (const RankVariables& names : kRankVariables) {
    for (const std::string_view name : {names.rank, names.size, names.local_rank}) {
      if (!name.empty()) visit(name);
    }
  }
}

}  // namespace perflab
