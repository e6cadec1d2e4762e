// Offload bundles: how code objects for several targets are packed into one file, plain
// ("__CLANG_OFFLOAD_BUNDLE__") or compressed ("CCOB" versions 1 to 3, zlib or zstd). Facts:
// docs/facts/code_object.md "Offload bundles".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "code/elf/target_id.h"
#include "code/files/unpack.h"

namespace perflab::code {

/// One entry of a bundle.
struct BundleEntry {
  std::string id;                  ///< as written: "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-"
  std::optional<TargetId> target;  ///< missing: the host's entry
  std::uint64_t offset = 0;        ///< from the start of the (unpacked) bundle
  std::string_view bytes;          ///< into the file, or into Bundle::unpacked
};

/// One bundle of a file.
struct Bundle {
  std::uint64_t offset = 0;  ///< in the bytes that were searched
  std::uint64_t size = 0;    ///< bytes it takes there
  Compression compression = Compression::none;
  int compressed_version = 0;                   ///< CCOB version; 0 for a plain bundle
  std::shared_ptr<const std::string> unpacked;  ///< owner of the entries' bytes when compressed
  std::vector<BundleEntry> entries;
};

/// Largest size that the compressed bundles of a file may unpack to together (a small file can
/// claim any size). Memory is taken as bytes come out, not as a header claims.
inline constexpr std::uint64_t kMostUnpackedBytes = std::uint64_t{8} << 30;

/// Whether the bytes begin with the magic of a bundle, plain or compressed.
bool is_bundle(std::string_view bytes);

/// Every bundle in the bytes (a `.hip_fatbin` section or a bundle file: bundles one after the
/// other, padded); none at all is an empty list. `bytes` must outlive the result. Errors
/// (bad_input, naming `what` and the offset): an entry outside the bytes, an unknown version or
/// method, damaged compression, another size than claimed. The hash in a compressed bundle's header
/// (8 bytes of MD5) is not checked: no dependency of ours has MD5.
Result<std::vector<Bundle>> read_bundles(std::string_view bytes, std::string_view what,
                                         std::uint64_t most_unpacked = kMostUnpackedBytes);

}  // namespace perflab::code
