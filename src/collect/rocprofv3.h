// What is known of the program rocprofv3: where it is found, which version it is, how it is called,
// what it says when it refuses, and how its environment leaks into its options. Facts from
// rocprofiler-sdk's rocprofv3.py and output/format_path.cpp (ROCm 6.0 to July 2026). In the usual
// case it execs the target: its exit status, signals and pid are then the target's own.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/system/subprocess.h"

namespace perflab::collect {

/// A rocprofv3 of this machine.
struct Rocprofv3 {
  std::filesystem::path path;
  std::string version;       ///< of rocprofiler-sdk, "1.1.0"; empty when it would not say
  std::string rocm_version;  ///< "7.1.1"; empty when it would not say
};

/// Finds rocprofv3: the file that $ROCPROFV3 names when that is set (and nothing else then), else
/// PATH, $ROCM_PATH/bin, /opt/rocm/bin; and asks for its version (it has that option since ROCm
/// 7.0; no answer is no error). Errors: missing_tool (none, or it cannot be started), interrupted.
Result<Rocprofv3> find_rocprofv3();

/// Whether find_rocprofv3() would find one; nothing is started.
bool rocprofv3_is_there();

/// The argument array of one run. `folder` must be absolute: the target may change its folder
/// before rocprofv3 writes. `formats`: of what it writes.
std::vector<std::string> rocprofv3_command(const Rocprofv3& tool,
                                           const std::filesystem::path& folder,
                                           const std::vector<std::string>& options,
                                           const std::vector<std::string>& target,
                                           const std::vector<std::string>& formats = {"rocpd"});

/// Makes the environment of a run that of rocprofv3: without variables that would change where or
/// what it writes, and with its temporary files in `folder`. Elsewhere they would lie in the
/// current folder, which may not be writable (rocprofv3 aborts then) and keeps a ".rocprofv3".
void set_rocprofv3_environment(const std::filesystem::path& folder, ProcessOptions& options);

/// The error (usage) for an option of the user's for rocprofv3 that is ours to set.
std::unexpected<Error> set_by_us(std::string_view option);

/// Refuses (usage) options of the user's that would take the output away from the run's folder or
/// from rocpd: -d, -o, -f, -i, -p in every spelling, and "--".
Result<void> check_extra_options(const std::vector<std::string>& options);

/// Refuses (usage) a folder in whose name rocprofv3 would replace keys ("%pid%", "{tag}",
/// "$ENV{X}").
Result<void> check_output_folder(const std::filesystem::path& folder);

/// The line with which rocprofv3 refused an option, if the output of a run holds one. A target's
/// own "unrecognized arguments" is not taken for it.
std::optional<std::string> refused_option(std::string_view output);

/// Whether rocprofv3 wrote this line, and not the target: a log line, or a sentence of the script.
bool is_profiler_line(std::string_view line);

/// What rocprofv3 says when the GPU does not have a counter, or cannot count a set at once.
struct CounterRefusal {
  std::string text;    ///< its own words, without the time and place of the log
  bool fatal = false;  ///< it ends the target for that; otherwise it counts what is left
};

/// The refusal in a line of a run's output, if it is one.
std::optional<CounterRefusal> counter_refusal(std::string_view line);

/// How the target ended: exactly one is set.
struct TargetEnd {
  std::optional<int> exit_code, signal;
};

/// How the target ended according to rocprofv3, which exits with 1 itself when it runs several jobs
/// and one fails (the jobs after it are not started). nullopt: its output does not say.
std::optional<TargetEnd> reported_end(std::string_view output);

/// How to get rocprofv3, and what works without it.
std::string how_to_get_rocprofv3();

}  // namespace perflab::collect
