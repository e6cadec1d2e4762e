// The library that turns a raw thread trace into files of instructions and waves:
// librocprof-trace-decoder.so. rocprofv3 --att ends without it, so it is looked for before anything
// is run, where rocprofv3 looks (rocprofv3.py: get_att_paths, check_att_capability; July 2026).
#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "collect/rocprofv3.h"

namespace perflab::collect {

/// The folder that holds the decoder, for --att-library-path: below the folders of
/// $ROCPROF_ATT_LIBRARY_PATH when that is set (and nowhere else then), else below those of
/// $LD_LIBRARY_PATH, ../lib of rocprofv3 itself, $ROCM_PATH/lib and /opt/rocm/lib. Error:
/// missing_tool, with where it was looked for and how to get it.
Result<std::filesystem::path> find_decoder(const Rocprofv3& tool);

/// How to get the decoder.
std::string how_to_get_decoder();

}  // namespace perflab::collect
