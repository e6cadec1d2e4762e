// Cubins wherever they are: a bare cubin, a fat binary, or a host ELF file (executable, shared
// library, .o) with fat binaries in it. Facts: docs/facts/cuda_code.md "Fat binaries".
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "code/cubin/fatbin.h"
#include "code/files/bundle.h"

namespace perflab::code {

/// A file's cubins, at least one. Owns the bytes that they point into.
struct CubinFile {
  std::vector<FatbinEntry> cubins;  ///< in the file's order
  std::shared_ptr<const std::string> file;
};

/// Whether a file that begins like this may hold cubins: a cubin, a fat binary, or a host ELF file.
bool may_hold_cubins(std::string_view start);

/// Whether there is a cubin in the bytes, or a fat binary: alone, or in a section of a host file.
bool holds_cubins(std::string_view bytes);

/// Finds the cubins of a file's bytes. Errors (bad_input): neither of the three, damaged, no cubin
/// in it (PTX alone, and for which architecture, is named).
Result<CubinFile> find_cubins(std::string bytes, std::string_view what,
                              std::uint64_t most_unpacked = kMostUnpackedBytes);
/// Reads the file and finds its cubins. Errors as above, and those of read_file().
Result<CubinFile> open_cubins(const std::filesystem::path& path);

}  // namespace perflab::code
