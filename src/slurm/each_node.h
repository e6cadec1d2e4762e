// One task on each node of the allocation that this process runs in: srun(1), with what it tells a
// task in the environment (section OUTPUT ENVIRONMENT VARIABLES; Slurm 20.11 and later).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/system/subprocess.h"

namespace perflab::slurm {

/// The allocation that this process runs in.
struct Allocation {
  std::string number;  ///< $SLURM_JOB_ID
  unsigned nodes = 1;  ///< $SLURM_JOB_NUM_NODES
  std::string srun;    ///< the program
};

/// Errors: usage (this is no allocation, or its variables are damaged), missing_tool (no srun).
Result<Allocation> surrounding_allocation();

/// Runs `argv` once on each node and waits for all: a task that fails ends no other. Errors: those
/// of run_program.
Result<ProcessResult> run_on_each_node(const Allocation& allocation,
                                       const std::vector<std::string>& argv,
                                       const std::filesystem::path& working_directory);

/// What srun said of the task on a node when it ended badly: "task 1: Killed". Else its last words.
std::string words_about(const std::string& node, const ProcessResult& srun);

/// Which task this process is.
struct NodeTask {
  unsigned number = 0;  ///< of the node in the step, from 0: $SLURM_NODEID
  std::string node;     ///< as Slurm calls it: $SLURMD_NODENAME
};

/// Nothing: srun did not start this process.
std::optional<NodeTask> this_task();

}  // namespace perflab::slurm
