// PC samples of rocprofv3's JSON, read as a stream. Internal to src/pc_sampling and its tests.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "base/text/progress.h"
#include "pc_sampling/json_window.h"
#include "pc_sampling/model.h"

namespace perflab::pc_sampling {

/// Adds the samples of every element of "rocprofiler-sdk-tool" to `samples`. `bytes`: of the file,
/// to make room in time and for progress; 0: unknown. Errors (bad_input): no JSON, only a part of
/// it, no output of rocprofv3, one that has no lists of PC samples, another method or form than
/// `samples` has.
Result<void> read_json(JsonWindow& window, std::uint64_t bytes, PcSamples& samples,
                       const TellProgress& progress = {});

}  // namespace perflab::pc_sampling
