// The packing of capture/blob_writer.h: a frame is compressed only when a sample of it shrinks, and
// pages that are stored as they are go from the caller's memory to the file. Frames are packed on
// all cores, and hashed while they are written: a capture holds the program up.
#include "capture/blob_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/parallel.h"

namespace perflab::capture {
namespace {

/// A sample: that many bytes of every 16th page.
constexpr std::size_t kSampleStep = 16, kSampleBytes = 2048;
/// The disk begins to write after that many bytes, not all at the end.
constexpr std::uint64_t kEarlyWriteBytes = std::uint64_t{32} << 20;
/// Frames that are packed at the same time at most: 8 MiB.
constexpr std::size_t kFramesAtOnce = 32;

/// Compression pays when a sixteenth is saved.
bool pays(std::size_t packed, std::size_t plain) {
  return packed <= plain - plain / 16;
}

}  // namespace

PageIndex::PageIndex(std::size_t limit) {
  buckets_ = std::bit_floor(limit / kWays);
  // calloc: pages of the table that are never used are never touched.
  if (buckets_ > 0) slots_.reset(static_cast<Slot*>(std::calloc(buckets_ * kWays, sizeof(Slot))));
  if (!slots_) buckets_ = 0;
}

std::optional<PagePlace> PageIndex::find(const PageHash& hash) const {
  if (buckets_ == 0) return std::nullopt;
  const Slot* const bucket = slots_.get() + (hash.low & (buckets_ - 1)) * kWays;
  for (std::size_t i = 0; i < kWays; ++i)
    if (bucket[i].hash == hash)
      return PagePlace{.blob = static_cast<std::uint32_t>(bucket[i].place >> kBlobShift),
                       .index = bucket[i].place & (kMostPages - 1)};
  return std::nullopt;
}

void PageIndex::insert(const PageHash& hash, PagePlace place) {
  if (buckets_ == 0) return;
  Slot* const bucket = slots_.get() + (hash.low & (buckets_ - 1)) * kWays;
  Slot* const free = std::find_if(bucket, bucket + kWays,
                                  [](const Slot& slot) { return slot.hash == PageHash{}; });
  Slot& slot = free != bucket + kWays ? *free : bucket[hash.high % kWays];
  slot = {.hash = hash,
          .place = static_cast<std::uint64_t>(place.blob) << kBlobShift | place.index};
}

void BlobWriter::FreeContext::operator()(ZSTD_CCtx_s* context) const {
  ZSTD_freeCCtx(context);
}

BlobWriter::BlobWriter(std::filesystem::path folder, int zstd_level, std::size_t shared_page_limit)
    : folder_(std::move(folder)),
      zstd_level_(zstd_level),
      index_(shared_page_limit),
      contexts_(std::min<std::size_t>(thread_count(0), kFramesAtOnce)),
      waiting_(kFramesAtOnce),
      frames_(folder_),
      runs_(folder_) {}

BlobWriter::~BlobWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void BlobWriter::start(std::string file, std::uint32_t number) {
  PERFLAB_CHECK(descriptor_ < 0 && full_ == 0 && waiting_[0].count == 0);
  blob_ = {};
  blob_.file = std::move(file);
  blob_.number = number;
  run_ = {};
  frames_.clear();
  runs_.clear();
  run_count_ = 0;
  offset_ = synced_ = 0;
  hash_ = {};
}

Result<void> BlobWriter::add(const std::byte* page, const PageHash& hash) {
  if (hash == PageHash{}) {
    ++blob_.zero_pages;
    return extend_run(RunKind::zero, {});
  }
  if (const auto known = index_.find(hash)) {
    ++blob_.shared_pages;
    return extend_run(RunKind::shared, *known);
  }
  const PagePlace place{.blob = blob_.number, .index = blob_.stored_pages++};
  index_.insert(hash, place);
  Frame& frame = waiting_[full_];
  frame.pages[frame.count] = page;
  frame.hashes[frame.count] = hash;
  ++frame.count;
  PERFLAB_TRY_VOID(extend_run(RunKind::stored, place));
  if (frame.count < kFramePages) return {};
  return ++full_ == waiting_.size() ? flush_frames(full_) : Result<void>{};
}

Result<void> BlobWriter::settle() {
  PERFLAB_TRY_VOID(flush_frames(full_));
  Frame& frame = waiting_[0];
  frame.own.resize(kFrameBytes);
  for (std::size_t i = 0; i < frame.count; ++i) {
    std::byte* const own = frame.own.data() + i * kPageBytes;
    if (frame.pages[i] == own) continue;
    std::memcpy(own, frame.pages[i], kPageBytes);
    frame.pages[i] = own;
  }
  return {};
}

Result<void> BlobWriter::extend_run(RunKind kind, PagePlace place) {
  const bool follows = run_.count > 0 && run_.kind == kind &&
                       (kind == RunKind::zero || (run_.place.blob == place.blob &&
                                                  run_.place.index + run_.count == place.index));
  if (!follows) {
    PERFLAB_TRY_VOID(close_run());
    run_ = {.first = blob_.pages, .count = 0, .kind = kind, .place = place};
  }
  ++run_.count;
  ++blob_.pages;
  return {};
}

Result<void> BlobWriter::close_run() {
  if (run_.count == 0) return {};
  const RunEntry entry = pack_run(run_.first, run_.kind, run_.place);
  ++run_count_;
  return runs_.add(std::as_bytes(std::span(&entry, 1)));
}

Result<void> BlobWriter::create_file() {
  const std::filesystem::path path = folder_ / blob_.file;
  descriptor_ = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor_ < 0) return cannot_write(path, errno);
  if (::lseek(descriptor_, static_cast<off_t>(kBlobHeaderBytes), SEEK_SET) < 0)
    return cannot_write(path, errno);
  offset_ = synced_ = kBlobHeaderBytes;
  return {};
}

Result<void> BlobWriter::write(std::span<const std::byte> bytes) {
  const int error = write_all(descriptor_, bytes);
  if (error != 0) return cannot_write(folder_ / blob_.file, error);
  hash_.add(bytes.data(), bytes.size());
  offset_ += bytes.size();
  return {};
}

std::span<const std::byte> BlobWriter::Frame::in_one_piece() {
  const std::size_t size = count * kPageBytes;
  bool together = true;
  for (std::size_t i = 1; i < count; ++i) together &= pages[i] == pages[i - 1] + kPageBytes;
  if (together) return {pages[0], size};
  gathered.resize(kFrameBytes);
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(gathered.data() + i * kPageBytes, pages[i], kPageBytes);
  return {gathered.data(), size};
}

void BlobWriter::pack(Frame& frame, Context& context) const {
  frame.packing = Packing::raw;
  frame.stored = frame.in_one_piece();
  if (zstd_level_ == 0) return;
  if (context == nullptr) {
    context.reset(ZSTD_createCCtx());
    if (context == nullptr) return;
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, zstd_level_);
  }
  frame.packed.resize(ZSTD_compressBound(kFrameBytes));
  const auto packs = [&](std::span<const std::byte> bytes) -> std::optional<std::size_t> {
    const std::size_t packed = ZSTD_compress2(context.get(), frame.packed.data(),
                                              frame.packed.size(), bytes.data(), bytes.size());
    if (ZSTD_isError(packed) != 0 || !pays(packed, bytes.size())) return std::nullopt;
    return packed;
  };
  std::array<std::byte, kFramePages / kSampleStep * kSampleBytes> sample;
  std::size_t size = 0;
  for (std::size_t i = 0; i < frame.count; i += kSampleStep) {
    std::memcpy(sample.data() + size, frame.pages[i], kSampleBytes);
    size += kSampleBytes;
  }
  if (!packs(std::span(sample).first(size))) return;
  if (const auto packed = packs(frame.stored)) {
    frame.packing = Packing::zstd;
    frame.stored = std::span(frame.packed).first(*packed);
  }
}

Result<void> BlobWriter::write_frames(std::span<const Frame> frames) {
  for (const Frame& frame : frames) {
    const FrameEntry entry{.offset = offset_,
                           .bytes = static_cast<std::uint32_t>(frame.stored.size()),
                           .packing = frame.packing,
                           .hash = hash_of(frame.hashes.data(), frame.count)};
    const int error = write_all(descriptor_, frame.stored);
    if (error != 0) return cannot_write(folder_ / blob_.file, error);
    offset_ += frame.stored.size();
    PERFLAB_TRY_VOID(frames_.add(std::as_bytes(std::span(&entry, 1))));
  }
  if (offset_ - synced_ >= kEarlyWriteBytes) {
    // A hint: what it answers does not matter, fsync comes at the end.
    (void)::sync_file_range(descriptor_, static_cast<off_t>(synced_),
                            static_cast<off_t>(offset_ - synced_), SYNC_FILE_RANGE_WRITE);
    synced_ = offset_;
  }
  return {};
}

Result<void> BlobWriter::flush_frames(std::size_t count) {
  if (count == 0) return {};
  if (descriptor_ < 0) PERFLAB_TRY_VOID(create_file());
  const auto frames = std::span(waiting_).first(count);
  const auto threads = static_cast<unsigned>(contexts_.size());
  PERFLAB_TRY_VOID(parallel_for(count, threads, [&](unsigned worker, std::size_t i) {
    pack(frames[i], contexts_[worker]);
    return Result<void>{};
  }));
  PERFLAB_TRY_VOID(parallel_for(2, threads, [&](unsigned, std::size_t which) -> Result<void> {
    if (which == 0) return write_frames(frames);
    for (const Frame& frame : frames) hash_.add(frame.stored.data(), frame.stored.size());
    return {};
  }));
  for (Frame& frame : frames) frame.count = 0;
  if (count < waiting_.size()) std::swap(waiting_[0], waiting_[count]);
  full_ = 0;
  return {};
}

Result<void> BlobWriter::write_tables(BlobHeader& header, std::span<const PageRun> places) {
  header.tables_offset = offset_;
  RunningHash hash;
  std::vector<std::byte> buffer(std::size_t{1} << 18);
  for (const Spool* spool : {&frames_, &runs_}) {
    for (std::uint64_t at = 0; at < spool->size(); at += buffer.size()) {
      const auto piece =
          std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), spool->size() - at));
      PERFLAB_TRY_VOID(spool->read(at, piece));
      hash.add(piece.data(), piece.size());
      PERFLAB_TRY_VOID(write(piece));
    }
  }
  hash.add(places.data(), places.size_bytes());
  PERFLAB_TRY_VOID(write(std::as_bytes(places)));
  header.tables_hash = hash.value();
  return {};
}

Result<Blob> BlobWriter::finish(std::span<const PageRun> places) {
  PERFLAB_TRY_VOID(flush_frames(waiting_[full_].count > 0 ? full_ + 1 : full_));
  PERFLAB_TRY_VOID(close_run());
  if (blob_.zero_pages == blob_.pages && places.empty()) {  // nothing to say
    blob_.file.clear();
    return std::exchange(blob_, {});
  }
  if (descriptor_ < 0) PERFLAB_TRY_VOID(create_file());
  BlobHeader header;
  header.number = blob_.number;
  header.pages = blob_.pages;
  header.stored_pages = blob_.stored_pages;
  header.runs = run_count_;
  header.places = places.size();
  PERFLAB_TRY_VOID(write_tables(header, places));
  header.header_hash = header_hash(header);
  std::array<std::byte, kBlobHeaderBytes> first{};
  std::memcpy(first.data(), &header, sizeof(header));
  if (::lseek(descriptor_, 0, SEEK_SET) != 0) return cannot_write(folder_ / blob_.file, errno);
  const int error = write_all(descriptor_, first);
  if (error != 0) return cannot_write(folder_ / blob_.file, error);
  if (::close(std::exchange(descriptor_, -1)) != 0)
    return cannot_write(folder_ / blob_.file, errno);
  blob_.file_bytes = offset_;
  hash_.add(first.data(), first.size());
  blob_.hash = hash_.finish();
  return std::exchange(blob_, {});
}

}  // namespace perflab::capture
