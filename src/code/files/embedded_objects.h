// The code objects of a file as they are found one by one, with what the file is and what a person
// should know of it. Finding them: container.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "code/elf/target_id.h"
#include "code/files/bundle.h"

namespace perflab::code {

/// What kind of file it was.
enum class ContainerKind { code_object, bundle, host_elf };
/// Stable names for documents: "code_object", "bundle", "host_elf".
std::string_view to_string(ContainerKind kind);

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

/// Adds an object, or a note when it is device code but no code object. Empty and host entries are
/// passed over.
void add_object(Container& container, EmbeddedObject object);

/// Adds a note, up to a sensible number of them.
void add_note(Container& container, std::string note);

}  // namespace perflab::code
