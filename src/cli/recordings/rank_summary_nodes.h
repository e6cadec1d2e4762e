// `rank-summary --executor slurm`: summaries are made on the nodes where the recordings lie, inside
// of an allocation that is there already (slurm/file_tasks.h).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"

namespace perflab::cli {

/// The recordings of an input: itself; of a folder ranks::recordings_of_job(), which may be none.
Result<std::vector<std::filesystem::path>> recordings_in(const std::filesystem::path& input);

/// Has each node run `rank-summary FILE -o OUT OPTIONS...` for what lies there. Errors: those of
/// slurm::run_file_tasks; bad_input (some files were not done: a note says which, where and why).
Result<void> summarize_on_nodes(const std::vector<std::filesystem::path>& inputs,
                                const std::filesystem::path& out,
                                const std::vector<std::string>& options);

}  // namespace perflab::cli
