// Reads what rocprofv3 --pc-sampling-… wrote: *_results.json, *_pc_sampling_stochastic.csv and
// *_pc_sampling_host_trap.csv; and databases of CUDA programs recorded with PC sampling. Facts:
// docs/facts/pc_sampling.md, docs/facts/rocpd_cuda.md "PC samples".
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text/progress.h"
#include "pc_sampling/model.h"

namespace perflab::pc_sampling {

/// The remedy of what has no PC samples: rocprofv3's default form never has.
inline constexpr std::string_view kRecordAgain =
    "record again with rocprofv3 --pc-sampling-beta-enabled … --output-format csv json";

/// The files of PC samples in a place: itself, or those in a folder, at most three levels down, by
/// path. Where a run's JSON and CSV lie side by side, the JSON alone: it has all that the CSV has.
/// A *_results.json is taken whether it has samples or not, a database where it has a table of
/// them. Errors (bad_input): it does not exist,
/// cannot be read, or holds none of these.
Result<std::vector<std::filesystem::path>> find(const std::filesystem::path& place);

struct ReadOptions {
  std::optional<Interval> interval;  ///< as the user or profiler states it: files do not
  TellProgress progress;             ///< may be empty
};

/// Reads the samples of all places into one value, each file once and in the order of their paths,
/// whatever the order of the places. A JSON file is read as a stream: of a million samples the
/// columns take about 70 MB. Beside a CSV its kernel_trace and agent_info tables are read where
/// they lie. A value without samples is no error; its method says nothing then. Errors (bad_input)
/// name the file: none that has PC samples, damaged, cut off, samples of another method than those
/// before, JSON and CSV files together. What is a recording of another kind is named, with the
/// option that takes it.
Result<PcSamples> read(std::span<const std::filesystem::path> places,
                       const ReadOptions& options = {});

/// Whether a file is a table of PC samples (CSV), by its header line.
bool is_pc_sample_table(const std::filesystem::path& file);

}  // namespace perflab::pc_sampling
