// A region's memory before and after the captured dispatch, handed over batch by batch, and a store
// on disk for the pages that differ: how outputs of any size are compared in fixed memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "base/error.h"
#include "capture/capture_reader.h"
#include "replay/elements/element_diff.h"

namespace perflab::replay {

/// Consecutive pages of a region; the last may be partial.
struct Batch {
  std::uint64_t offset = 0;                  ///< in the region, a multiple of a page
  std::span<const std::byte> before, after;  ///< the same bytes where nothing was written
  bool written = false;                      ///< pages of the captured write set
};
using BatchSink = std::function<Result<void>(const Batch&)>;

/// Most bytes of a batch.
inline constexpr std::size_t kBatchBytes = std::size_t{4} << 20;
/// Most bytes of a batch of this region: room for any of them. It may be no more than a page.
std::size_t most_batch_bytes(const capture::Capture& capture, std::size_t region);

/// The pages of the captured write set, ascending. Errors: those of the reader and of the sink.
Result<void> each_written_batch(const capture::Capture& capture, std::size_t region,
                                const BatchSink& sink);
/// Likewise, without reading what was there before: `before` is `after`.
Result<void> each_after_batch(const capture::Capture& capture, std::size_t region,
                              const BatchSink& sink);
/// All the other pages, ascending.
Result<void> each_other_batch(const capture::Capture& capture, std::size_t region,
                              const BatchSink& sink);

/// One page on its own.
using PageBytes = std::array<std::byte, capture::kPageBytes>;
struct PageView {
  std::uint64_t page = 0, offset = 0;  ///< number and first byte in the region
  std::span<const std::byte> before, after, found;
  bool written = false;
};

/// The pages of a batch; `found` has its size.
template <class F>
Result<void> each_page(const Batch& batch, std::span<const std::byte> found, F&& take) {
  for (std::size_t at = 0; at < batch.before.size(); at += capture::kPageBytes) {
    const std::size_t size = std::min<std::size_t>(capture::kPageBytes, batch.before.size() - at);
    PERFLAB_TRY_VOID(take(PageView{.page = (batch.offset + at) / capture::kPageBytes,
                                   .offset = batch.offset + at,
                                   .before = batch.before.subspan(at, size),
                                   .after = batch.after.subspan(at, size),
                                   .found = found.subspan(at, size),
                                   .written = batch.written}));
  }
  return {};
}

/// What the first run of the original left in a page where it was not the post-image, and the bytes
/// that later runs left otherwise.
struct KeptPage {
  PageBytes bytes{};
  ByteMask varying;
};

/// Kept pages by region and number, in an unnamed temporary file; memory holds only where each is.
class PageStore {
 public:
  using Key = std::pair<std::size_t, std::uint64_t>;

  [[nodiscard]] bool has(const Key& key) const { return slots_.contains(key); }
  [[nodiscard]] bool empty() const { return slots_.empty(); }
  /// Precondition: has(key). Error (usage): the temporary file cannot be read.
  Result<KeptPage> get(const Key& key);
  /// Adds or replaces. Error (usage): the temporary file cannot be written (the disk is full).
  Result<void> put(const Key& key, const KeptPage& page);
  /// Keys in order of region and page, with the place of each in the file.
  [[nodiscard]] const std::map<Key, std::uint64_t>& pages() const { return slots_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
  };
  Result<void> seek(std::uint64_t slot);

  std::unique_ptr<std::FILE, Close> file_;
  std::map<Key, std::uint64_t> slots_;
};

}  // namespace perflab::replay
