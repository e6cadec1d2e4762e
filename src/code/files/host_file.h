// Device code in host ELF files. Facts: docs/facts/code_object.md "Host files"; LLVM's
// OffloadBinary.h for the images of the offload packager.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "code/files/embedded_objects.h"

namespace perflab::code {

/// Fills bundles, notes, and the objects that are in no bundle, of the host file `bytes`. Errors
/// (bad_input): the ELF file, a bundle or an image is damaged.
Result<void> search_host_file(std::string_view bytes, std::string_view what,
                              std::uint64_t most_unpacked, Container& container);

}  // namespace perflab::code
