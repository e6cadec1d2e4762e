// Decompression of zlib and zstd streams, and of LZ4 blocks, whose claims are not believed: memory
// grows with what really comes out.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace perflab::code {

/// How a bundle is packed.
enum class Compression { none, zlib, zstd };
std::string_view to_string(Compression compression);

/// What a stream unpacked to.
struct Unpacked {
  std::string bytes;
  std::uint64_t consumed = 0;  ///< bytes of the payload that the stream took
};

/// Unpacks one stream that must give exactly `expected_bytes`. The error is the clause of a
/// sentence: damaged, cut off, more or less than expected.
std::expected<Unpacked, std::string> unpack(std::string_view payload, Compression method,
                                            std::uint64_t expected_bytes);

/// Unpacks a whole block of LZ4 (its Block Format, https://github.com/lz4/lz4: what nvcc packs
/// cubins with) that must give exactly `expected_bytes`. The error is that of unpack().
std::expected<std::string, std::string> unpack_lz4(std::string_view block,
                                                   std::uint64_t expected_bytes);

}  // namespace perflab::code
