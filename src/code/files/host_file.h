// Device code in host ELF files. Facts: docs/facts/code_object.md "Host files"; LLVM's
// OffloadBinary.h for the images of the offload packager.
#pragma once

#include <string_view>

#include "base/error.h"
#include "code/files/container.h"

namespace perflab::code {

/// Fills bundles, notes, and the objects that are in no bundle, of the host file `bytes`. Errors
/// (bad_input): the ELF file, a bundle or an image is damaged.
Result<void> search_host_file(std::string_view bytes, std::string_view what,
                              std::uint64_t most_unpacked, Container& container);

/// Adds an object, or a note when it is device code but no code object. Empty and host entries are
/// passed over.
void add_object(Container& container, EmbeddedObject object);

/// Adds a note, up to a sensible number of them.
void add_note(Container& container, std::string note);

}  // namespace perflab::code
