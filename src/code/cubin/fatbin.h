// Fat binaries: how nvcc packs cubins and PTX for several architectures into one file or section.
// Facts: docs/facts/cuda_code.md "Fat binaries".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace perflab::code {

/// One cubin of a fat binary; PTX is not kept.
struct FatbinEntry {
  int architecture = 0;                         ///< 90 for sm_90
  std::string_view bytes;                       ///< into the file, or into `unpacked`
  std::shared_ptr<const std::string> unpacked;  ///< owner of the bytes; null: they are the file's
};

struct Fatbin {
  std::vector<FatbinEntry> cubins;  ///< in the file's order
  std::vector<int> ptx;             ///< architectures that there is PTX for (compute_90)
};

/// Whether the bytes begin with the magic of a fat binary.
bool is_fatbin(std::string_view bytes);

/// Every entry of the fat binaries in the bytes (a .fatbin file or a `.nv_fatbin` section: one
/// after the other, padded). `bytes` must outlive the result. `most_unpacked`: what compressed
/// entries may unpack to together. Errors (bad_input, naming `what`): an entry outside, damaged
/// compression.
Result<Fatbin> read_fatbin(std::string_view bytes, std::string_view what,
                           std::uint64_t most_unpacked);

}  // namespace perflab::code
