// How much memory a process can have, by what the kernel says of the machine and of the control
// groups (containers, batch jobs) that it is in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace perflab {

/// Bytes that can be taken without swapping (MemAvailable of proc(5)) and that no control group,
/// version 1 or 2, forbids (cgroups(7); memory.max, memory.limit_in_bytes). nullopt: the kernel
/// says nothing. `root` stands before /proc and /sys.
std::optional<std::uint64_t> available_memory(const std::filesystem::path& root = "/");

/// Bytes of "16G", "512M", "1.5T" or "800000000": units are powers of 1024. Error (usage): anything
/// else, 0 included.
Result<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace perflab
