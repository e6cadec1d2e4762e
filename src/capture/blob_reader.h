// Reading blobs (format: blob.h) of a folder that may have been damaged or made to harm: every
// number of a table is checked before it is used, and memory stays fixed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "capture/blob.h"

struct ZSTD_DCtx_s;

namespace perflab::capture {

/// Whole pages of a blob, in ascending order.
using BlobSink = std::function<Result<void>(std::uint64_t first_page, std::span<const std::byte>)>;

/// Hands over `count` pages of zeros.
Result<void> give_zeros(std::uint64_t first_page, std::uint64_t count, const BlobSink& sink);

/// All blobs of a capture that have a file; pages of one may be stored in another.
class BlobSet {
 public:
  explicit BlobSet(std::filesystem::path folder);
  BlobSet(const BlobSet&) = delete;
  BlobSet& operator=(const BlobSet&) = delete;
  BlobSet(BlobSet&&) = delete;
  BlobSet& operator=(BlobSet&&) = delete;
  ~BlobSet();

  /// Makes a blob known; `region_pages`: of the region that it belongs to. Error (bad_input): the
  /// number is taken.
  Result<void> add(const Blob& blob, std::uint64_t region_pages);

  // Errors of all of these (bad_input): the file is missing, shorter than it should be, or damaged.

  /// Pages [first, first + count), which must be there.
  Result<void> read(std::uint32_t number, std::uint64_t first, std::uint64_t count, bool with_zero,
                    const BlobSink& sink);
  /// The ranges of the region that the pages of a post-image stand for.
  Result<std::vector<PageRun>> places(std::uint32_t number);
  /// Decodes every frame and compares it with its hash.
  Result<void> verify(std::uint32_t number);
  /// Compares the files' bytes with the hashes that the marker has, each the first time.
  Result<void> check_bytes(std::span<const std::uint32_t> numbers);

 private:
  struct Known {
    Blob blob;
    std::uint64_t region_pages = 0;
    BlobHeader header;     ///< once `checked`
    bool checked = false;  ///< the tables are sound
    bool summed = false;   ///< the bytes are those that were hashed
    int descriptor = -1;
    std::uint64_t used = 0;          ///< when it was last used; for closing the one that was not
    std::uint64_t next_frame = 0;    ///< behind those that were decoded last
    std::uint64_t window_first = 0;  ///< number of the first entry of `window`
    std::vector<RunEntry> window;    ///< entries of the table of runs that were read last

    [[nodiscard]] std::uint64_t frames() const;
    [[nodiscard]] std::uint64_t pages_of_frame(std::uint64_t frame) const;
    [[nodiscard]] std::uint64_t runs_offset() const;
    [[nodiscard]] std::uint64_t places_offset() const;
  };
  struct CachedFrame {
    std::uint64_t key = UINT64_MAX;  ///< blob << 40 | frame
    std::uint64_t used = 0;
    bool ahead = false;  ///< decoded, and not asked for yet
    std::vector<std::byte> bytes;
  };
  struct FreeContext {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  /// What one thread decodes with.
  struct Decoder {
    std::unique_ptr<ZSTD_DCtx_s, FreeContext> context;
    std::vector<std::byte> packed;
  };
  class TableCheck;

  [[nodiscard]] std::unexpected<Error> damaged(const Known& known, std::string_view how) const;
  Result<Known*> opened(std::uint32_t number);
  Result<void> open_file(Known& known);
  Result<void> check(Known& known);
  Result<void> check_header(Known& known) const;
  Result<void> read_bytes(const Known& known, std::uint64_t offset, std::span<std::byte> out) const;
  /// The entry and where its run ends.
  Result<RunEntry> run_at(Known& known, std::uint64_t index, std::uint64_t& end);
  Result<std::uint64_t> find_run(Known& known, std::uint64_t page);
  Result<RunEntry> entry_at(Known& known, std::uint64_t index);
  Result<void> read_stored(PagePlace place, std::uint64_t count, std::uint64_t page,
                           const BlobSink& sink);
  Result<std::span<const std::byte>> frame(Known& known, std::uint64_t index);
  CachedFrame& slot_for_another();
  Result<void> decode(const Known& known, std::uint64_t index, Decoder& decoder,
                      std::vector<std::byte>& out) const;
  Result<void> check_sum(Known& known) const;

  std::filesystem::path folder_;
  unsigned threads_;
  std::map<std::uint32_t, Known> blobs_;
  std::vector<CachedFrame> cache_;
  std::vector<Decoder> decoders_;  ///< by thread
  std::uint64_t clock_ = 0;
  std::size_t open_files_ = 0;
};

}  // namespace perflab::capture
