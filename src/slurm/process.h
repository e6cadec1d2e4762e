// How Slurm's commands are started: quietly, and as if from outside of any job.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/system/subprocess.h"

namespace perflab::slurm {

/// Output is captured, there is no input, and the variables of the Slurm job that we may be a part
/// of ourselves are gone: they would shape our steps.
ProcessOptions quiet_options();

/// A line without "srun: error: " and the like.
std::string_view without_prefix(std::string_view line);

/// The last line that says something, likewise; srun's "task 0: Exited with exit code 2" only when
/// there is nothing else: it may come before or after the reason.
std::string last_line(std::string_view text);

/// The last line of a program's stderr (or, when that is empty, stdout) that says something,
/// without "srun: error: "; how it ended when there is none.
std::string last_words(const ProcessResult& result);

}  // namespace perflab::slurm
