// The file of one blob: the pages of a region before a dispatch, or those that it changed.
//
//   header   4096 bytes: BlobHeader, then zeros
//   frames   up to 64 stored pages each, as they are or as one zstd frame
//   tables   FrameEntry for each frame, RunEntry for each run of pages, PageRun for each range of a
//            region that the pages of a post-image stand for (none in a pre-image)
//
// All numbers are little endian. Pages are numbered within the blob; the last page of a region is
// filled up with zeros. A run is zero, stored (consecutive pages in the blob's own frames) or
// shared (pages that another blob of a lower number stores, or this one in front of the run). A
// reference always names a stored page, never another reference. A frame's hash is XXH3-64 over the
// 128-bit XXH3 hashes of its pages, the tables' is XXH3-64 over their bytes and stands in the
// header, whose own covers that: damage is found page by page. The marker of the capture has the
// SHA-256 of the file's bytes, of those behind the header first and then of the header, which is
// written last: nobody can put other pages there and keep it. (Format 1: the header's own hash.)
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "capture/model.h"

namespace perflab::capture {

static_assert(std::endian::native == std::endian::little);

inline constexpr std::uint64_t kBlobMagic = 0x424f4c424c504d52;  // "RMPLBLOB"
inline constexpr std::uint32_t kBlobVersion = 1;
inline constexpr std::uint32_t kFramePages = 64;
inline constexpr std::size_t kFrameBytes = kFramePages * kPageBytes;
inline constexpr std::uint64_t kBlobHeaderBytes = kPageBytes;

struct BlobHeader {
  std::uint64_t magic = kBlobMagic;
  std::uint32_t version = kBlobVersion;
  std::uint32_t page = kPageBytes;
  std::uint32_t pages_of_a_frame = kFramePages;
  std::uint32_t number = 0;
  std::uint64_t pages = 0, stored_pages = 0;
  std::uint64_t runs = 0, places = 0;  ///< entries of those tables
  std::uint64_t tables_offset = 0, tables_hash = 0;
  std::uint64_t header_hash = 0;  ///< of everything above
};
static_assert(sizeof(BlobHeader) == 80 && std::is_trivially_copyable_v<BlobHeader>);

enum class Packing : std::uint32_t { raw = 0, zstd = 1 };

struct FrameEntry {
  std::uint64_t offset = 0;  ///< in the file; frames follow each other without gaps
  std::uint32_t bytes = 0;   ///< in the file
  Packing packing = Packing::raw;
  std::uint64_t hash = 0;
};
static_assert(sizeof(FrameEntry) == 24);

enum class RunKind : std::uint8_t { zero = 0, stored = 1, shared = 2 };

/// A run reaches to the first page of the next one.
struct RunEntry {
  std::uint64_t first_and_kind = 0;  ///< first page, and the kind in the highest byte
  std::uint64_t target = 0;          ///< blob's number << 40 | number among its stored pages
};
static_assert(sizeof(RunEntry) == 16);
static_assert(sizeof(PageRun) == 16);

inline constexpr unsigned kKindShift = 56, kBlobShift = 40;
inline constexpr std::uint64_t kMostPages = std::uint64_t{1} << kBlobShift;  ///< of a blob: 4 PiB
inline constexpr std::uint32_t kMostBlobs = std::uint32_t{1} << (64 - kBlobShift);

/// A stored page anywhere in the capture.
struct PagePlace {
  std::uint32_t blob = 0;
  std::uint64_t index = 0;  ///< among the stored pages of that blob
};

inline RunEntry pack_run(std::uint64_t first, RunKind kind, PagePlace target) {
  return {.first_and_kind = first | static_cast<std::uint64_t>(kind) << kKindShift,
          .target = static_cast<std::uint64_t>(target.blob) << kBlobShift | target.index};
}
inline std::uint64_t first_of(const RunEntry& run) {
  return run.first_and_kind & ((std::uint64_t{1} << kKindShift) - 1);
}
inline RunKind kind_of(const RunEntry& run) {
  return static_cast<RunKind>(run.first_and_kind >> kKindShift);
}
inline PagePlace target_of(const RunEntry& run) {
  return {.blob = static_cast<std::uint32_t>(run.target >> kBlobShift),
          .index = run.target & (kMostPages - 1)};
}

/// XXH3-128 of a page; {0, 0} stands for a page of zeros.
struct PageHash {
  std::uint64_t low = 0, high = 0;
  friend bool operator==(const PageHash&, const PageHash&) = default;
};

/// Whether all of the bytes (a page) are zero.
bool is_zero_page(const std::byte* page);
/// Of a page that is not zero.
PageHash hash_page(const std::byte* page);
/// Of a frame: of the hashes of its pages.
std::uint64_t hash_of(const PageHash* pages, std::size_t count);

/// XXH3-64 of bytes that come in pieces.
class RunningHash {
 public:
  RunningHash();
  void add(const void* bytes, std::size_t size);
  [[nodiscard]] std::uint64_t value() const;

 private:
  alignas(64) std::array<std::byte, 576> state_;  ///< of the library
};

/// The hash that a header must carry.
std::uint64_t header_hash(const BlobHeader& header);

}  // namespace perflab::capture
