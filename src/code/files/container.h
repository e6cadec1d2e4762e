// Code objects wherever they are: a bare code object, a bundle file, or a host ELF file
// (executable, shared library, .o) with bundles in it. Facts: docs/facts/code_object.md "Offload
// bundles", "Host files".
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "code/files/bundle.h"
#include "code/files/embedded_objects.h"

namespace perflab::code {

/// Whether a file that begins like this can be read by find_code_objects(): an ELF file or a
/// bundle. The first 24 bytes are enough.
bool may_hold_code(std::string_view start);

/// Finds the code objects of a file's bytes: in a bundle file, or in a host file's `.hip_fatbin`
/// sections, behind its HIPF wrappers, in `.llvm.offloading` images and in the sections of objects
/// that were compiled with -fgpu-rdc; in a file without section table, at page boundaries of its
/// segments. Errors (bad_input): neither ELF nor bundle, damaged, no device code (the message says
/// what was looked for and what was found instead: bitcode, an external archive).
Result<Container> find_code_objects(std::string bytes, std::string_view what,
                                    std::uint64_t most_unpacked = kMostUnpackedBytes);

/// Reads the file and finds its code objects. Errors as above, and those of read_file().
Result<Container> open_container(const std::filesystem::path& path);

}  // namespace perflab::code
