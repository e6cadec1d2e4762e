// The JSON files of a capture's folder. Addresses are hexadecimal text, sizes are numbers of bytes.
// A file that is read is taken as hostile: every field is checked, names of blobs are not believed
// but compared with those that follow from the addresses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text/json.h"
#include "capture/model.h"

namespace perflab::capture {

inline constexpr std::string_view kMarkerFile = "capture_complete.json";
inline constexpr std::string_view kDispatchFile = "dispatch.json";
inline constexpr std::string_view kRegionsFile = "memory_regions.json";
inline constexpr std::string_view kVariablesFile = "module_variables.json";
inline constexpr std::string_view kKernargFile = "kernarg.bin";
inline constexpr std::string_view kImageFolder = "memory";
inline constexpr std::string_view kWritesFolder = "writes";

/// "kernel.hsaco", or "kernel.cubin": the image of the module as the driver loaded it.
std::string_view code_object_file(Platform platform);
/// "0x7f0012340000".
std::string hex_text(std::uint64_t address);
/// "memory/region_7f0012340000.bin".
std::string blob_file(std::string_view folder, std::uint64_t base);

/// A file as the marker lists it.
struct FileRecord {
  std::string name;
  std::uint64_t bytes = 0;
  std::string hash;  ///< of the whole file; a blob's is Blob::hash
  friend bool operator==(const FileRecord&, const FileRecord&) = default;
};

/// Dispatch, machine, code object and limits.
Json dispatch_json(const Description& description);
/// The regions that are module variables, or those that are not.
Json regions_json(const std::vector<MemoryRegion>& regions, bool variables);
Json marker_json(const std::vector<FileRecord>& files);

// Readers. Errors (bad_input) name `what` (the file) and the field.

Result<void> read_dispatch(const Json& json, const std::string& what, Description& out);
/// Appends to `out`.
Result<void> read_regions(const Json& json, const std::string& what, bool variables,
                          std::vector<MemoryRegion>& out);
/// Error also when the format is of another major version.
Result<std::vector<FileRecord>> read_marker(const Json& json, const std::string& what);

}  // namespace perflab::capture
