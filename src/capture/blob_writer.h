// Writing one blob after the other: pages go in with their hashes, zero pages and known ones become
// entries of a table, the others frames of the file (format: blob.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "capture/blob.h"
#include "capture/spool.h"

struct ZSTD_CCtx_s;

namespace perflab::capture {

/// Where pages that were stored before can be found, by hash. Of bounded size: newer pages push out
/// older ones.
class PageIndex {
 public:
  /// `limit`: pages remembered at most; 0 for none.
  explicit PageIndex(std::size_t limit);
  [[nodiscard]] std::optional<PagePlace> find(const PageHash& hash) const;
  void insert(const PageHash& hash, PagePlace place);

 private:
  struct Slot {
    PageHash hash;  ///< {0, 0}: free
    std::uint64_t place;
  };
  struct Free {
    void operator()(Slot* slots) const { std::free(slots); }
  };
  static constexpr std::size_t kWays = 8;

  std::unique_ptr<Slot[], Free> slots_;
  std::size_t buckets_ = 0;  ///< a power of two, or 0
};

class BlobWriter {
 public:
  /// `folder`: the capture's. `zstd_level` 0: nothing is compressed.
  BlobWriter(std::filesystem::path folder, int zstd_level, std::size_t shared_page_limit);
  BlobWriter(const BlobWriter&) = delete;
  BlobWriter& operator=(const BlobWriter&) = delete;
  BlobWriter(BlobWriter&&) = delete;
  BlobWriter& operator=(BlobWriter&&) = delete;
  ~BlobWriter();

  /// Starts a blob; `file`: relative to the folder. Nothing is created before there is something to
  /// store.
  void start(std::string file, std::uint32_t number);
  /// The next page. Its bytes must stay where they are until settle() or finish().
  Result<void> add(const std::byte* page, const PageHash& hash);
  /// Writes full frames, and copies what is left and belongs to the caller.
  Result<void> settle();
  /// Ends the blob. `places`: what goes into its third table; with some there is always a file.
  Result<Blob> finish(std::span<const PageRun> places);

 private:
  Result<void> create_file();
  /// Pages that are stored together.
  struct Frame {
    std::array<const std::byte*, kFramePages> pages{};
    std::array<PageHash, kFramePages> hashes{};
    std::size_t count = 0;  ///< of these
    std::vector<std::byte> own, gathered, packed;
    std::span<const std::byte> stored;  ///< once it is packed: what goes into the file
    Packing packing = Packing::raw;

    /// Its bytes as one piece: where they are, or gathered.
    std::span<const std::byte> in_one_piece();
  };
  struct FreeContext {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  using Context = std::unique_ptr<ZSTD_CCtx_s, FreeContext>;

  /// Packs the first `count` frames on all cores and writes them one after the other.
  Result<void> flush_frames(std::size_t count);
  void pack(Frame& frame, Context& context) const;
  Result<void> write(std::span<const std::byte> bytes);
  Result<void> write_frames(std::span<const Frame> frames);
  Result<void> extend_run(RunKind kind, PagePlace place);
  Result<void> close_run();
  Result<void> write_tables(BlobHeader& header, std::span<const PageRun> places);

  std::filesystem::path folder_;
  int zstd_level_;
  PageIndex index_;
  std::vector<Context> contexts_;  ///< one per thread

  Blob blob_;
  int descriptor_ = -1;
  std::uint64_t offset_ = 0;  ///< bytes in the file
  std::uint64_t synced_ = 0;  ///< of these, handed to the disk
  Sha256 hash_;               ///< of what was written, but for the header
  /// Those before `full_` are full, that one may have pages.
  std::vector<Frame> waiting_;
  std::size_t full_ = 0;
  struct Run {
    std::uint64_t first = 0, count = 0;
    RunKind kind = RunKind::zero;
    PagePlace place;
  } run_;
  Spool frames_, runs_;
  std::uint64_t run_count_ = 0;
};

}  // namespace perflab::capture
