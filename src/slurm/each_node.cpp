// srun's options are those of its manual page; what it prints of a task that was killed is
// "srun: error: node2: task 1: Killed" (src/srun/libsrun/srun_job.c, _taskset of task_state.c).
#include "slurm/each_node.h"

#include <fmt/format.h>

#include "base/system/environment.h"
#include "base/text/numbers.h"
#include "base/text/text.h"
#include "slurm/process.h"

namespace perflab::slurm {

Result<Allocation> surrounding_allocation() {
  Allocation allocation{.number = environment("SLURM_JOB_ID"), .nodes = 1, .srun = {}};
  if (allocation.number.empty())
    return fail(ErrorCode::usage,
                "this does not run in a Slurm allocation: SLURM_JOB_ID is not set",
                "run it in the job's script after the program, or in one of salloc --nodes=N; or "
                "use --executor local");
  const std::string nodes = environment("SLURM_JOB_NUM_NODES");
  const auto count = whole_number<unsigned>(nodes);
  if (!nodes.empty() && (!count || *count == 0))
    return fail(ErrorCode::usage,
                fmt::format("SLURM_JOB_NUM_NODES is \"{}\", which is no number of nodes", nodes));
  allocation.nodes = count.value_or(1);
  const auto srun = find_program("srun");
  if (!srun)
    return fail(ErrorCode::missing_tool, "srun: no such program on PATH",
                "run this where Slurm's commands are, or use --executor local");
  allocation.srun = srun->string();
  return allocation;
}

Result<ProcessResult> run_on_each_node(const Allocation& allocation,
                                       const std::vector<std::string>& argv,
                                       const std::filesystem::path& working_directory) {
  std::vector<std::string> command{allocation.srun,
                                   "--jobid=" + allocation.number,
                                   fmt::format("--nodes={}", allocation.nodes),
                                   fmt::format("--ntasks={}", allocation.nodes),
                                   "--ntasks-per-node=1",
                                   "--input=none",
                                   "--mpi=none",
                                   "--cpu-bind=none",  // a task has its node's CPUs, not one
                                   "--kill-on-bad-exit=0",
                                   "--wait=0",
                                   "--overlap",
                                   "--chdir=" + working_directory.string()};
  command.insert(command.end(), argv.begin(), argv.end());
  return run_program(command, quiet_options());
}

std::string words_about(const std::string& node, const ProcessResult& srun) {
  const std::string start = node + ": ";
  for (std::string_view rest = srun.error.tail; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = without_prefix(trimmed(rest.substr(0, end)));
    if (line.starts_with(start)) return std::string(line.substr(start.size()));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return last_words(srun);
}

std::optional<NodeTask> this_task() {
  const auto number = whole_number<unsigned>(environment("SLURM_NODEID"));
  if (!number) return std::nullopt;
  return NodeTask{.number = *number, .node = environment("SLURMD_NODENAME")};
}

}  // namespace perflab::slurm
