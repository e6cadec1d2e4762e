// Code objects wherever they are: a bare code object, a bundle file, or a host ELF file
// (executable, shared library, .o) with bundles in it. Facts: docs/facts/code_object.md "Offload
// bundles", "Host files".
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "code/elf/target_id.h"
#include "code/files/bundle.h"

namespace perflab::code {

/// What kind of file it was.
enum class ContainerKind { code_object, bundle, host_elf };
/// Stable names for documents: "code_object", "bundle", "host_elf".
std::string_view to_string(ContainerKind kind);

/// Whether a file that begins like this can be read by find_code_objects(): an ELF file or a
/// bundle. The first 24 bytes are enough.
bool may_hold_code(std::string_view start);

/// One device code object found in a file.
struct EmbeddedObject {
  std::string_view bytes;
  TargetId target;    ///< of the bundle entry; of the ELF flags for a bare code object
  std::string entry;  ///< bundle entry id or the like; empty for a bare code object
  std::optional<std::size_t> bundle;  ///< index into Container::bundles; missing: in no bundle
  /// Offset of the object in the file; missing when it is inside a compressed bundle.
  std::optional<std::uint64_t> file_offset;
};

/// A file's device code. Owns the bytes that the objects point into.
struct Container {
  ContainerKind kind = ContainerKind::code_object;
  std::vector<EmbeddedObject> objects;  ///< in the file's order; empty entries are left out
  std::vector<Bundle> bundles;          ///< Bundle::offset is in the file
  /// What a person should know, a sentence each: code in an external .kpack archive (HIPK
  /// wrappers), a wrapper that points to no bundle, an entry that is not machine code.
  std::vector<std::string> notes;
  std::shared_ptr<const std::string> file;
};

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
