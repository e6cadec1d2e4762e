// The bytes of a code object that came into the runtime unseen, from what the runtime says of it
// once it is loaded, and whether they are what the GPU runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "hsa/loader_table.h"
#include "isolate/machine/memory_reader.h"

namespace perflab::isolate {

/// Symbols of code objects have no longer names.
inline constexpr std::size_t kLongestSymbol = std::size_t{1} << 20;

/// Bytes, and where they were read.
struct FoundCode {
  std::string bytes;
  std::string place;  ///< in words: "the memory of the program at 0x7f00", a path
};

/// Up to `most` bytes of a file from `offset` on; empty when they cannot be read.
std::string file_bytes(int file, std::uint64_t offset, std::uint64_t most);

/// Where the loader read the object (storage attributes), else where its URI says. To be asked
/// right after it was loaded: memory may be freed then, and a file replaced. Error (refused): the
/// runtime does not say, or there is no code object there.
Result<FoundCode> find_loaded_code(const hsa::LoaderTable& loader, hsa::LoadedCodeObject object);

/// A piece of code in the memory of the GPU.
using CodeReader =
    std::function<Result<void>(std::uint64_t base, std::uint64_t bytes, const ByteSink& sink)>;

/// That the object was loaded from these bytes, found in `place`: the kernel object lies where the
/// symbol `descriptor` says, and all instructions are equal. Error (refused): they are not, or that
/// cannot be compared.
Result<void> check_loaded_code(const hsa::LoaderTable& loader, hsa::LoadedCodeObject object,
                               std::string_view bytes, std::string_view place,
                               std::string_view descriptor, std::uint64_t kernel_object,
                               const CodeReader& read);

}  // namespace perflab::isolate
