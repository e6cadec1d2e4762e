// PC samples of CUDA programs, which the recording library puts into its database
// (docs/facts/rocpd_cuda.md "PC samples"). Internal to src/pc_sampling and its tests.
#pragma once

#include <filesystem>

#include "base/error.h"
#include "pc_sampling/model.h"

namespace perflab::pc_sampling {

/// Whether a file is a database with a table of PC samples.
bool has_pc_samples(const std::filesystem::path& file);

/// Adds the samples of all recordings of a database to `samples`. Errors (bad_input): it cannot be
/// read, it has no PC samples, `samples` has some of another method.
Result<void> read_database(const std::filesystem::path& file, PcSamples& samples);

}  // namespace perflab::pc_sampling
