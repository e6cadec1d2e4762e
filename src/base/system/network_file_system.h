// Whether a file lies on a file system of the network, by statfs(2): there locks may be missing or
// slow, and memory that is mapped may change or vanish (docs/facts/rocpd.md "Network file
// systems").
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace perflab {

/// The name of the network file system with this number (statfs(2): f_type): "NFS"; empty: the
/// number is of none.
std::string_view network_file_system(std::uint32_t number);

/// The same of the file system that holds `path`; empty also when it cannot be asked.
std::string_view network_file_system_of(const std::filesystem::path& path);

}  // namespace perflab
