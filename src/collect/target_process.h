// One start of the target, alone or under rocprofv3: what base runs and counter passes have in
// common. Checks of the plan, how the process is run and shown, and the sentences for how it ended.
#pragma once

#include <sys/types.h>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/system/subprocess.h"
#include "base/units.h"
#include "collect/collect_plan.h"
#include "collect/rocprofv3.h"
#include "collect/run_folder.h"

namespace perflab::collect {

/// "1 run", "2 runs".
std::string counted(std::size_t count, std::string_view noun);

/// The program's name for people, without its folder.
std::string program_name(const CollectPlan& plan);

/// Refuses (usage) a plan whose target cannot be run, runs < 1, options that are ours.
Result<void> check_plan(const CollectPlan& plan);

/// A regular file on our standard input, so that every start can read it from the same place. It is
/// left there too: what is collected afterwards reads it again.
class RewindableInput {
 public:
  RewindableInput();
  RewindableInput(const RewindableInput&) = delete;
  RewindableInput& operator=(const RewindableInput&) = delete;
  ~RewindableInput() { rewind(); }
  void rewind() const;
  /// There is such a file.
  [[nodiscard]] bool is_file() const { return start_ >= 0; }

 private:
  off_t start_ = -1;
};

/// What the progress line says while the target runs.
struct Shown {
  std::string text;
  std::optional<double> fraction;  ///< of all work that is done, where known
};

/// How the target is run under this plan. `traced`: the folder of what rocprofv3 records; empty: it
/// runs without. `timeout` is that of this start; `shown` is asked at every tick, and only when the
/// plan has a progress line. The plan must outlive the options.
ProcessOptions process_options(const CollectPlan& plan, const std::filesystem::path& traced,
                               std::optional<std::chrono::milliseconds> timeout,
                               std::function<Shown(Nanos elapsed)> shown);

/// The error of run_program(), with whose fault it is: without rocprofv3 it is the target's.
Error cannot_start(Error error, bool traced);

/// An option that this rocprofv3 does not know, when its output says so: nothing was run. Errors:
/// usage (an option of the user's), missing_tool (one that is needed).
Result<void> check_refusal(const Rocprofv3& tool, const ProcessResult& process,
                           const std::vector<std::string>& extra_options);

/// Options of ours among the user's own ones for rocprofv3: error (usage). `ours`: how they begin.
Result<void> check_own_options(const std::vector<std::string>& options,
                               std::span<const std::string_view> ours);

/// One more start under rocprofv3, for something else than its dispatches.
struct ExtraPass {
  std::vector<std::string> command;
  ProcessOptions options;
  std::vector<std::string> unset;  ///< variables that could set something behind our back
  std::function<void(std::string_view)> read;  ///< is given the output as it comes
  std::string_view needs;  ///< the remedy where this rocprofv3 does not know what it is told
};
/// Runs it. Errors: of cannot_start() and check_refusal(); nothing was run then.
Result<ProcessResult> run_extra_pass(const CollectPlan& plan, const Rocprofv3& tool,
                                     ExtraPass pass);

/// target_failed: "<heading> exited with code 3", or that it took longer than the timeout; with
/// `notes` and the last line that the target wrote. Precondition: it did not succeed.
Error failure_of(const ProcessResult& process, std::string_view heading,
                 std::optional<std::chrono::milliseconds> timeout, std::vector<std::string> notes);

/// What was odd about a start that left these databases: one sentence each.
std::vector<std::string> oddities_of(const ProcessResult& process,
                                     const std::vector<DatabaseFile>& databases,
                                     std::chrono::milliseconds linger);

}  // namespace perflab::collect
