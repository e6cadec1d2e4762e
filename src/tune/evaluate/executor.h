// Where evaluations run: this machine (one worker, or one per GPU), a Slurm cluster, or a
// recording.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tune/evaluate/evaluator.h"
#include "tune/values/outcome.h"

namespace perflab::tune {

/// A finished job.
struct Finished {
  std::size_t index = 0;  ///< into the jobs of the call
  Evaluation evaluation;
  std::string worker;  ///< "gpu 1", "node7"; empty where there is only one
};
/// Called as jobs finish, one at a time, from the thread that called evaluate().
using OnFinished = std::function<Result<void>(Finished&&)>;

class Executor {
 public:
  virtual ~Executor() = default;
  /// Jobs that it works on at once: as many are proposed together.
  [[nodiscard]] virtual std::size_t width() const = 0;
  /// What the workers compute on, equal for all of them: "AMD Instinct MI300X gfx942 304 CUs";
  /// empty: no GPU is known. Part of the journal's key.
  [[nodiscard]] virtual std::string gpu() const = 0;
  /// Evaluates every job; on_finished once for each, in any order. Jobs are independent but for
  /// `serial`: then they run in their order, one after another on one worker (interleaved
  /// comparison). Errors: what would fail all jobs alike, on_finished's own, interrupted.
  virtual Result<void> evaluate(std::span<const Job> jobs, bool serial,
                                const OnFinished& on_finished) = 0;
  /// Builds without running (Evaluation of build()); the default does nothing and calls nobody.
  virtual Result<void> build_all(std::span<const Job> jobs, const OnFinished& on_finished);
};

struct LocalOptions {
  std::vector<std::string>
      gpus;                    ///< ids for ROCR_VISIBLE_DEVICES, one worker each; empty: one worker
  std::size_t build_jobs = 1;  ///< builds at once
  bool overlap_builds = true;  ///< build while another configuration is measured
  /// Where the kernel driver lists its nodes; empty: where Linux has it.
  std::filesystem::path topology;
};
/// This machine. Errors (usage): the GPUs differ (names both), a GPU that is not there.
Result<std::unique_ptr<Executor>> make_local_executor(LocalOptions options, GpuTimer gpu_timer);

struct SlurmOptions {
  std::string partition;           ///< empty: Slurm's default
  std::size_t workers = 1;         ///< allocations of one node each
  std::vector<std::string> extra;  ///< further arguments of salloc: --gres=gpu:1, --account=...
  std::string program;             ///< path of rocm-perf on the nodes; runs `autotune-worker`
  /// Where the commands run, and where jobs and answers are exchanged (.slurm/ in it, removed at
  /// the end): a folder that the nodes see under the same name.
  std::filesystem::path working_directory;
  /// Pause after an allocation that Slurm did not give; doubled each time.
  std::chrono::milliseconds patience{2'000};
  /// What a step may take beyond the limits of its commands before its node counts as hanging.
  std::chrono::milliseconds margin{120'000};
  /// How long an answer that was written may take to show up here: network file systems are late.
  std::chrono::milliseconds answer_patience{10'000};
};
/// An existing cluster: one allocation (salloc --no-shell) per worker, each job an srun step in it.
/// A lost node, a requeue or a cancelled allocation gives the job to another worker, and a new
/// allocation is asked for. Waits until the first worker is there. Errors: missing_tool (no
/// salloc/srun; five allocations in a row that came to nothing; `program` does not run on the
/// nodes), usage (no such partition, a folder that cannot be written), interrupted. That the GPUs
/// of the nodes differ (usage) may be found by evaluate().
Result<std::unique_ptr<Executor>> make_slurm_executor(SlurmOptions options);

/// What a worker on a node does: reads one Job (JSON) from `input`, evaluates it, and gives the
/// line to print: {"evaluation": ...} or {"error": {"code", "message", "remedy"}}. A member
/// "build_only": true of the job asks for build() alone; the answer is {"built": ...} when that
/// succeeded.
std::string work_on(std::string_view input, const GpuTimer& gpu_timer);

/// `rocm-perf autotune-worker ARGUMENTS...` on a node: either FILE (a Job; the answer of work_on()
/// is written to FILE.done) or --gpus FILE (the GPUs that are visible there are written to
/// FILE.done). Gives the exit code: 0 when an answer was written, whatever it says.
int autotune_worker_main(std::span<const std::string> arguments, const GpuTimer& gpu_timer);

/// The GPUs of this machine, from the kernel driver
/// (/sys/class/kfd/kfd/topology/nodes/*/properties): a text that is equal for equal GPUs, in the
/// order of ROCR_VISIBLE_DEVICES. Empty: none.
struct Gpu {
  std::string name;          ///< "gfx942 304 CUs device 0x74a1"
  std::string architecture;  ///< "gfx942"
  friend bool operator==(const Gpu&, const Gpu&) = default;
};
std::vector<Gpu> gpus_of_topology(const std::filesystem::path& topology);
std::vector<Gpu> local_gpus();

}  // namespace perflab::tune
