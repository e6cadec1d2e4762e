// Batches of pages out of the reader's streams, and the store of kept pages.
#include "replay/session/page_batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/system/files.h"

namespace perflab::replay {
namespace {

/// Gathers consecutive bytes into batches. Whoever takes them may read from the capture, after
/// which the bytes that came from it are gone: they are copied before anything is handed over.
class Gatherer {
 public:
  using Take = std::function<Result<void>(std::uint64_t, std::span<const std::byte>)>;
  explicit Gatherer(Take take) : take_(std::move(take)) {}

  Result<void> add(std::uint64_t offset, std::span<const std::byte> bytes) {
    if (offset == first_ + buffer_.size()) {
      buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    } else {
      next_.assign(bytes.begin(), bytes.end());
      PERFLAB_TRY_VOID(hand_over(1));
      buffer_.swap(next_);
      first_ = offset;
    }
    return hand_over(kBatchBytes);
  }
  Result<void> finish() { return hand_over(1); }

 private:
  /// Batches, as long as there are `least` bytes.
  Result<void> hand_over(std::size_t least) {
    std::size_t done = 0;
    while (buffer_.size() - done >= least) {
      const std::size_t part = std::min(kBatchBytes, buffer_.size() - done);
      PERFLAB_TRY_VOID(take_(first_ + done, std::span(buffer_).subspan(done, part)));
      done += part;
    }
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(done));
    first_ += done;
    return {};
  }

  Take take_;
  std::vector<std::byte> buffer_, next_;
  std::uint64_t first_ = 0;
};

}  // namespace

std::size_t most_batch_bytes(const capture::Capture& capture, std::size_t region) {
  return std::min<std::uint64_t>(kBatchBytes, capture.description().regions[region].bytes);
}

Result<void> each_written_batch(const capture::Capture& capture, std::size_t region,
                                const BatchSink& sink) {
  std::vector<std::byte> before(most_batch_bytes(capture, region));
  Gatherer gatherer([&](std::uint64_t offset, std::span<const std::byte> after) -> Result<void> {
    const auto old = std::span(before).first(after.size());
    PERFLAB_TRY_VOID(capture.read_at(region, offset, old));
    return sink({.offset = offset, .before = old, .after = after, .written = true});
  });
  PERFLAB_TRY_VOID(
      capture.read_writes(region, [&](std::uint64_t offset, std::span<const std::byte> bytes) {
        return gatherer.add(offset, bytes);
      }));
  return gatherer.finish();
}

Result<void> each_after_batch(const capture::Capture& capture, std::size_t region,
                              const BatchSink& sink) {
  Gatherer gatherer([&](std::uint64_t offset, std::span<const std::byte> after) {
    return sink({.offset = offset, .before = after, .after = after, .written = true});
  });
  PERFLAB_TRY_VOID(
      capture.read_writes(region, [&](std::uint64_t offset, std::span<const std::byte> bytes) {
        return gatherer.add(offset, bytes);
      }));
  return gatherer.finish();
}

Result<void> each_other_batch(const capture::Capture& capture, std::size_t region,
                              const BatchSink& sink) {
  const std::vector<capture::PageRun>& written = capture.description().regions[region].written;
  auto run = written.begin();
  Gatherer gatherer([&](std::uint64_t offset, std::span<const std::byte> bytes) {
    return sink({.offset = offset, .before = bytes, .after = bytes, .written = false});
  });
  const auto take = [&](std::uint64_t offset, std::span<const std::byte> bytes) -> Result<void> {
    while (!bytes.empty()) {
      while (run != written.end() && (run->first + run->count) * capture::kPageBytes <= offset)
        ++run;
      const std::uint64_t first =
          run == written.end() ? UINT64_MAX : run->first * capture::kPageBytes;
      const bool inside = first <= offset;
      const std::uint64_t end = inside ? (run->first + run->count) * capture::kPageBytes : first;
      const std::size_t part = std::min<std::uint64_t>(bytes.size(), end - offset);
      if (!inside) PERFLAB_TRY_VOID(gatherer.add(offset, bytes.first(part)));
      bytes = bytes.subspan(part);
      offset += part;
    }
    return {};
  };
  PERFLAB_TRY_VOID(capture.read(region, capture::Pages::all, take));
  return gatherer.finish();
}

namespace {

/// A record of the store's file: the page, then a bit per byte.
constexpr std::size_t kRecordBytes = capture::kPageBytes + sizeof(ByteMask::Words);
using Record = std::array<std::byte, kRecordBytes>;

std::unexpected<Error> store_error(std::string_view what) {
  return fail(ErrorCode::usage,
              fmt::format("the temporary file of pages that differ cannot be {}: {}", what,
                          errno_text(errno)),
              "make room for temporary files, or set TMPDIR to another folder");
}

std::FILE* temporary_file() {
  // std::tmpfile() does not look at TMPDIR.
  const char* const folder = std::getenv("TMPDIR");
  std::string name = fmt::format("{}/rocm-perf-pages-XXXXXX",
                                 folder != nullptr && *folder != '\0' ? folder : "/tmp");
  const int descriptor = ::mkstemp(name.data());
  if (descriptor < 0) return nullptr;
  static_cast<void>(std::remove(name.c_str()));
  return ::fdopen(descriptor, "w+b");
}

}  // namespace

Result<void> PageStore::seek(std::uint64_t slot) {
  if (::fseeko(file_.get(), static_cast<off_t>(slot * kRecordBytes), SEEK_SET) != 0)
    return store_error("read");
  return {};
}

Result<KeptPage> PageStore::get(const Key& key) {
  PERFLAB_TRY_VOID(seek(slots_.at(key)));
  Record record;
  if (std::fread(record.data(), 1, record.size(), file_.get()) != record.size())
    return store_error("read");
  KeptPage page;
  std::copy_n(record.begin(), capture::kPageBytes, page.bytes.begin());
  std::memcpy(&page.varying.words(), record.data() + capture::kPageBytes, sizeof(ByteMask::Words));
  return page;
}

Result<void> PageStore::put(const Key& key, const KeptPage& page) {
  if (file_ == nullptr) file_.reset(temporary_file());
  if (file_ == nullptr) return store_error("made");
  Record record;
  std::ranges::copy(page.bytes, record.begin());
  std::memcpy(record.data() + capture::kPageBytes, &page.varying.words(), sizeof(ByteMask::Words));
  const std::uint64_t slot = slots_.try_emplace(key, slots_.size()).first->second;
  PERFLAB_TRY_VOID(seek(slot));
  if (std::fwrite(record.data(), 1, record.size(), file_.get()) != record.size() ||
      std::fflush(file_.get()) != 0)
    return store_error("written");
  return {};
}

}  // namespace perflab::replay
