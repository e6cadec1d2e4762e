// Samples for `rocm-perf compare` out of what this program and rocprofv3 write, and out of texts
// with one number per line: which it is, the content says.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text/progress.h"
#include "compare/compare_sides.h"

namespace perflab::compare {

/// Reads one side. A path is a recording that trace::read() takes (one run; recordings of one
/// command that followed each other are several), a folder with recordings (run_N folders: a run
/// each) or with a profile.json, a profile.json or analysis.json (its databases; where those of a
/// profile are gone, the sums of its runs), a replay.json, a tuning's journal or autotune.json (the
/// best configuration), an optimization.json (the accepted source), or a text with one number per
/// line. Several paths are further runs of the same; they must be of one kind (usage). `threads`:
/// to read with, 0: all cores. Errors (bad_input) name the file. Precondition: a path.
Result<SampleSide> read_samples(const std::vector<std::filesystem::path>& paths,
                                unsigned threads = 0, const TellProgress& progress = {});

/// One number per line; "#" begins a comment, a first line that is no number is a title. The unit
/// stands behind the numbers ("12.5 us") or at the end of the title ("time_us", "time [us]", "time
/// (us)"). Error (bad_input): a line that is no number (numbered), units that differ, no number.
Result<SampleSide> parse_numbers(std::string_view text, std::string_view file);

}  // namespace perflab::compare
