// Readers of search-space files: our compact form, a list of configurations, T1 (Kernel Tuner,
// KTT, BAT), Triton configs, BaCO. Facts: docs/facts/tuning.md "Formats".
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "tune/space/space.h"

namespace perflab::tune {

/// What the file is, as found by its content.
enum class SpaceFormat { compact, listed, t1, triton, baco };
std::string_view to_string(SpaceFormat format);

struct SpaceFile {
  SpaceFormat format = SpaceFormat::compact;
  SpaceDescription description;
};

/// Reads a space file (plain or gzip). Errors (bad_input): no known form, a field of the wrong type
/// (named), a list entry without a key that others have (names the entry), a default that is no
/// value of its parameter or that the restrictions forbid is found by Space::list.
Result<SpaceFile> read_space(const std::filesystem::path& file);
Result<SpaceFile> parse_space(std::string_view text, std::string_view what);

/// Adds what `architecture` (gfx name) can launch as device limits: work-items of a work-group and
/// LDS bytes, for the names that say so: parameters or derived values called threads,
/// threads_per_block, workgroup_size, or block_size_x (times _y, _z); num_warps (times the wave
/// size); lds_bytes, shared_memory_bytes. Error (bad_input): an unknown architecture.
Result<void> add_device_limits(SpaceDescription& description, std::string_view architecture);

/// A description of the space in the compact form, for documents: parameters, restrictions,
/// derived, default; listed spaces give their number of rows only.
Json to_json(const SpaceDescription& description);

}  // namespace perflab::tune
