// The occupancy gap of a kernel (analyze/kernels/occupancy_gap.h) in documents and in text.
#pragma once

#include <string>

#include "analyze/kernels/kernel.h"
#include "base/text/json.h"
#include "hal/terms.h"

namespace perflab::report {

/// Null where nothing says what was achieved: the reason is in `missing`.
Json occupancy_gap_json(const analyze::Kernel& kernel, std::vector<Missing>& missing);

/// "52.0 % of 100.0 % possible; empty: 38.0 % launch and flush, …"; causes below 1 % are left out.
std::string occupancy_gap_text(const analyze::OccupancyGap& gap, hal::Platform platform);

}  // namespace perflab::report
