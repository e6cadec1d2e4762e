// A distribution's device libraries, completed for newer processors: Debian 12's rocm-device-libs
// 5.2.3 lacks the ISA version file of gfx942 and of all gfx11 and gfx12, and nothing else
// (docs/facts/hip_toolchain.md "Device libraries"). ROCm's own compilers need none of this.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "code/tools/compiler.h"

namespace perflab::code {

/// The number that a processor's ISA version file holds: major * 1000 + minor * 100 + stepping
/// (gfx90a 9010, gfx942 9402, gfx1100 11000). Missing for names that are not one processor
/// ("gfx11-generic").
std::optional<int> isa_version(std::string_view processor);

/// A folder with every library of compiler.stock_device_libraries (links) and the ISA version file
/// of `processor`, made by the compiler when the stock has none. It lies in the user's cache
/// ($XDG_CACHE_HOME/rocm-perf or ~/.cache/rocm-perf; one folder per stock folder and compiler), or
/// in `fallback` when that cannot be written. Safe with several processes at once: every entry
/// appears whole. Errors: missing_tool (the file cannot be made, or the processor has no number),
/// usage (neither place can be written), interrupted.
Result<std::filesystem::path> device_library_folder(const Compiler& compiler,
                                                    std::string_view processor,
                                                    const std::filesystem::path& fallback);

}  // namespace perflab::code
