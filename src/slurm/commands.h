// Slurm as its users see it: salloc, srun, squeue and scancel, each as a process of its own.
// Manual pages of Slurm 22.05 (https://slurm.schedmd.com/archive/slurm-22.05.8/man_index.html);
// nothing is used that 20.11 (the first with --overlap) or later releases do not have.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/system/subprocess.h"

namespace perflab::slurm {

/// One allocation of one node.
struct Request {
  std::string partition;                    ///< empty: the default one
  std::vector<std::string> extra;           ///< further arguments of salloc
  std::vector<std::string> excluded_nodes;  ///< never these
  std::function<void(std::string_view)>
      on_id;                      ///< told its number, maybe long before it is granted
  std::function<bool()> give_up;  ///< true: not wanted any more
};

/// What came of asking for an allocation.
struct Grant {
  std::string allocation;       ///< its number; empty: none was given, maybe next time
  std::string why_not;          ///< then: "salloc gave no allocation: " and what it said last
  bool failed_at_once = false;  ///< then: salloc failed within a second
};

/// A command on the node of an allocation.
struct Step {
  std::string allocation;
  std::vector<std::string> argv;
  std::filesystem::path working_directory;
  std::optional<std::chrono::milliseconds> timeout;
  bool overlap = false;  ///< beside a step that holds the allocation's CPUs
  std::function<bool()> give_up;
};

/// What became of an allocation.
struct State {
  bool running = false;  ///< it can take steps (or is suspended: then they wait)
  std::string name;      ///< as squeue names it: "RUNNING", "NODE_FAIL"; "gone" when it knows none
  std::string nodes;     ///< "node7"
};

class Commands {
 public:
  /// Finds the four programs. Error (missing_tool) names the one that is not there.
  static Result<Commands> find();

  /// Asks for an allocation and waits for it, however long the queue is. Errors: usage (Slurm says
  /// that this can never be had), missing_tool (salloc does not work here: "salloc: fatal: Could
  /// not establish a configuration source"), interrupted (also: given up).
  [[nodiscard]] Result<Grant> allocate(const Request& request) const;
  /// Runs a step and waits for its end. Errors: those of run_program.
  [[nodiscard]] Result<ProcessResult> step(const Step& step) const;
  /// Asks squeue. Nothing: it gave no answer (no controller).
  [[nodiscard]] std::optional<State> state_of(const std::string& allocation) const;
  /// Ends allocations, granted or queued; those that are over already are left alone. Does so after
  /// Ctrl-C, too.
  void cancel(const std::vector<std::string>& allocations) const;

 private:
  std::string salloc_, srun_, squeue_, scancel_;
};

/// salloc does not work here, as it says itself.
Error salloc_fails(std::string why_not);

}  // namespace perflab::slurm
