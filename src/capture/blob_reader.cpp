// The checks and the caches behind capture/blob_reader.h: tables are streamed once and compared
// with their hash and with each other, frames with theirs whenever they are decoded.
#include "capture/blob_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/hash.h"
#include "base/parallel.h"
#include "base/system/files.h"
#include "capture/remedies.h"
#include "capture/spool.h"

namespace perflab::capture {
namespace {

constexpr std::size_t kMostOpenFiles = 32;
/// Frames that are decoded at once, and those that are kept: two streams side by side, and more.
constexpr std::size_t kFramesAhead = 16, kCachedFrames = 40;
constexpr std::uint64_t kWindowEntries = 512;
constexpr std::size_t kTableStep = std::size_t{1}
                                   << 16;  // a multiple of no entry's size: see check()

/// What zero pages are handed over from.
constexpr std::size_t kZeroPagesAtOnce = 64;
const std::array<std::byte, kZeroPagesAtOnce * kPageBytes> kZeros{};

}  // namespace

Result<void> give_zeros(std::uint64_t first_page, std::uint64_t count, const BlobSink& sink) {
  while (count > 0) {
    const std::uint64_t here = std::min<std::uint64_t>(kZeroPagesAtOnce, count);
    PERFLAB_TRY_VOID(sink(first_page, std::span(kZeros).first(here * kPageBytes)));
    first_page += here;
    count -= here;
  }
  return {};
}

std::uint64_t BlobSet::Known::frames() const {
  return header.stored_pages / kFramePages + (header.stored_pages % kFramePages != 0);
}

std::uint64_t BlobSet::Known::pages_of_frame(std::uint64_t frame) const {
  return std::min<std::uint64_t>(kFramePages, header.stored_pages - frame * kFramePages);
}

std::uint64_t BlobSet::Known::runs_offset() const {
  return header.tables_offset + frames() * sizeof(FrameEntry);
}

std::uint64_t BlobSet::Known::places_offset() const {
  return runs_offset() + header.runs * sizeof(RunEntry);
}

BlobSet::BlobSet(std::filesystem::path folder)
    : folder_(std::move(folder)),
      threads_(std::min<unsigned>(thread_count(0), kFramesAhead)),
      cache_(kCachedFrames),
      decoders_(threads_) {}

BlobSet::~BlobSet() {
  for (const auto& [number, known] : blobs_)
    if (known.descriptor >= 0) ::close(known.descriptor);
}

void BlobSet::FreeContext::operator()(ZSTD_DCtx_s* context) const {
  ZSTD_freeDCtx(context);
}

std::unexpected<Error> BlobSet::damaged(const Known& known, std::string_view how) const {
  return fail(ErrorCode::bad_input,
              fmt::format("{}: is damaged: {}", (folder_ / known.blob.file).string(), how),
              kTakeAgain);
}

Result<void> BlobSet::add(const Blob& blob, std::uint64_t region_pages) {
  const auto [place, fresh] = blobs_.try_emplace(blob.number);
  if (!fresh)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: is damaged: {} and {} are both number {}", folder_.string(),
                            place->second.blob.file, blob.file, blob.number),
                kTakeAgain);
  place->second.blob = blob;
  place->second.region_pages = region_pages;
  return {};
}

Result<void> BlobSet::open_file(Known& known) {
  if (open_files_ >= kMostOpenFiles) {
    Known* oldest = nullptr;
    for (auto& [number, other] : blobs_)
      if (other.descriptor >= 0 && (oldest == nullptr || other.used < oldest->used))
        oldest = &other;
    ::close(std::exchange(oldest->descriptor, -1));
    --open_files_;
  }
  const std::filesystem::path path = folder_ / known.blob.file;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (descriptor < 0)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: cannot be opened: {}", path.string(), errno_text(errno)));
  known.descriptor = descriptor;
  ++open_files_;
  struct stat info{};
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode))
    return fail(ErrorCode::bad_input, fmt::format("{}: is not a file", path.string()));
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size != known.blob.file_bytes)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: is {}: it has {} bytes and should have {}", path.string(),
                            size < known.blob.file_bytes ? "truncated" : "altered", size,
                            known.blob.file_bytes),
                kTakeAgain);
  return {};
}

Result<BlobSet::Known*> BlobSet::opened(std::uint32_t number) {
  const auto found = blobs_.find(number);
  if (found == blobs_.end())
    return fail(ErrorCode::bad_input,
                fmt::format("{}: is damaged: a page refers to blob {}, which is not there",
                            folder_.string(), number));
  Known& known = found->second;
  known.used = ++clock_;
  if (known.descriptor < 0) PERFLAB_TRY_VOID(open_file(known));
  if (!known.checked) PERFLAB_TRY_VOID(check(known));
  return &known;
}

Result<void> BlobSet::read_bytes(const Known& known, std::uint64_t offset,
                                 std::span<std::byte> out) const {
  const int error = read_all_at(known.descriptor, offset, out);
  if (error == 0) return {};
  return damaged(known,
                 error > 0 ? "it cannot be read: " + errno_text(error) : "it ends too early");
}

Result<void> BlobSet::check_header(Known& known) const {
  BlobHeader& header = known.header;
  if (known.blob.file_bytes < kBlobHeaderBytes)
    return damaged(known, "it has no room for a header");
  std::array<std::byte, kBlobHeaderBytes> first;
  PERFLAB_TRY_VOID(read_bytes(known, 0, first));
  std::memcpy(&header, first.data(), sizeof(header));
  if (header.magic != kBlobMagic) return damaged(known, "it does not begin like a blob");
  if (header.version != kBlobVersion || header.page != kPageBytes ||
      header.pages_of_a_frame != kFramePages)
    return damaged(known, fmt::format("it is of version {}", header.version));
  const bool of_header = known.blob.hash.starts_with("xxh3:");  // format 1
  if (header.header_hash != header_hash(header) ||
      (of_header && known.blob.hash != fmt::format("xxh3:{:016x}", header.header_hash)))
    return damaged(known, "its header is not the one that was written");
  if (std::ranges::any_of(std::span(first).subspan(sizeof(header)),
                          [](std::byte byte) { return byte != std::byte{0}; }))
    return damaged(known, "there is something after its header");
  if (header.number != known.blob.number || header.pages != known.blob.pages ||
      header.stored_pages != known.blob.stored_pages)
    return damaged(known, "its header counts other pages than the region's document");
  const std::uint64_t size = known.blob.file_bytes;
  if (header.tables_offset < kBlobHeaderBytes || header.tables_offset > size)
    return damaged(known, "its tables lie outside");
  // None of the three products can overflow: each count is bounded by the size of the file first.
  const std::uint64_t room = size - header.tables_offset;
  if (known.frames() > room / sizeof(FrameEntry) || header.runs > room / sizeof(RunEntry) ||
      header.places > room / sizeof(PageRun) ||
      known.frames() * sizeof(FrameEntry) + header.runs * sizeof(RunEntry) +
              header.places * sizeof(PageRun) !=
          room)
    return damaged(known, "its tables have another size than the header says");
  return {};
}

/// Goes through the tables, entry by entry.
class BlobSet::TableCheck {
 public:
  TableCheck(const Known& known, const std::map<std::uint32_t, Known>& blobs)
      : known_(known), blobs_(blobs), offset_(kBlobHeaderBytes) {}

  bool frame(const FrameEntry& entry) {
    const std::uint64_t plain = known_.pages_of_frame(frame_++) * kPageBytes;
    const bool sound = entry.offset == offset_ &&
                       (entry.packing == Packing::raw    ? entry.bytes == plain
                        : entry.packing == Packing::zstd ? entry.bytes > 0 && entry.bytes < plain
                                                         : false);
    offset_ += entry.bytes;
    return sound && offset_ <= known_.header.tables_offset;
  }

  bool run(const RunEntry& entry) {
    const std::uint64_t first = first_of(entry);
    if (runs_++ == 0 ? first != 0 : first <= first_of(run_)) return false;
    if (runs_ > 1 && !close(first)) return false;
    run_ = entry;
    return true;
  }

  bool place(const PageRun& place) {
    const bool sound = place.count > 0 && place.count <= known_.region_pages &&
                       place.first <= known_.region_pages - place.count &&
                       (places_ == 0 || place.first > place_end_);
    place_end_ = place.first + place.count;
    places_ += place.count;
    return sound;
  }

  bool end() {
    const bool runs_sound = runs_ == 0 ? known_.header.pages == 0 : close(known_.header.pages);
    return runs_sound && offset_ == known_.header.tables_offset &&
           zero_ == known_.blob.zero_pages && stored_ == known_.blob.stored_pages &&
           shared_ == known_.blob.shared_pages &&
           (known_.header.places == 0 || places_ == known_.header.pages);
  }

 private:
  bool close(std::uint64_t next) {
    const std::uint64_t first = first_of(run_);
    if (next <= first) return false;
    const std::uint64_t count = next - first;
    const PagePlace target = target_of(run_);
    switch (kind_of(run_)) {
      case RunKind::zero:
        zero_ += count;
        return true;
      case RunKind::stored: {
        const bool follows = target.blob == known_.blob.number && target.index == stored_;
        stored_ += count;
        return follows;
      }
      case RunKind::shared: {
        shared_ += count;
        const auto other = blobs_.find(target.blob);
        if (other == blobs_.end() || target.blob > known_.blob.number) return false;
        const std::uint64_t there =
            target.blob == known_.blob.number ? stored_ : other->second.blob.stored_pages;
        return count <= there && target.index <= there - count;
      }
    }
    return false;
  }

  const Known& known_;
  const std::map<std::uint32_t, Known>& blobs_;
  std::uint64_t frame_ = 0, offset_, runs_ = 0;
  RunEntry run_;
  std::uint64_t zero_ = 0, stored_ = 0, shared_ = 0, places_ = 0, place_end_ = 0;
};

Result<void> BlobSet::check(Known& known) {
  PERFLAB_TRY_VOID(check_header(known));
  TableCheck tables(known, blobs_);
  RunningHash hash;
  std::uint64_t at = known.header.tables_offset;
  std::vector<std::byte> buffer(kTableStep);
  // Each table in steps of whole entries.
  const auto table = [&]<class Entry>(std::uint64_t count,
                                      bool (TableCheck::*look)(const Entry&)) -> Result<void> {
    const std::uint64_t at_once = buffer.size() / sizeof(Entry);
    for (std::uint64_t done = 0; done < count;) {
      const std::uint64_t entries = std::min(at_once, count - done);
      const auto bytes = std::span(buffer).first(entries * sizeof(Entry));
      PERFLAB_TRY_VOID(read_bytes(known, at, bytes));
      hash.add(bytes.data(), bytes.size());
      for (std::uint64_t i = 0; i < entries; ++i) {
        Entry entry;
        std::memcpy(&entry, bytes.data() + i * sizeof(Entry), sizeof(Entry));
        if (!(tables.*look)(entry)) return damaged(known, "an entry of its tables cannot be");
      }
      at += bytes.size();
      done += entries;
    }
    return {};
  };
  PERFLAB_TRY_VOID(table(known.frames(), &TableCheck::frame));
  PERFLAB_TRY_VOID(table(known.header.runs, &TableCheck::run));
  PERFLAB_TRY_VOID(table(known.header.places, &TableCheck::place));
  if (!tables.end()) return damaged(known, "its tables do not add up to its pages");
  if (hash.value() != known.header.tables_hash)
    return damaged(known, "its tables are not those that were written");
  known.checked = true;
  return {};
}

Result<RunEntry> BlobSet::entry_at(Known& known, std::uint64_t index) {
  if (index < known.window_first || index - known.window_first >= known.window.size()) {
    known.window.resize(std::min(kWindowEntries, known.header.runs - index));
    known.window_first = index;
    if (auto got = read_bytes(known, known.runs_offset() + index * sizeof(RunEntry),
                              std::as_writable_bytes(std::span(known.window)));
        !got) {
      known.window.clear();
      return std::unexpected(got.error());
    }
  }
  return known.window[index - known.window_first];
}

Result<RunEntry> BlobSet::run_at(Known& known, std::uint64_t index, std::uint64_t& end) {
  end = known.header.pages;
  if (index + 1 < known.header.runs) {
    PERFLAB_TRY(const RunEntry next, entry_at(known, index + 1));
    end = first_of(next);
  }
  return entry_at(known, index);
}

Result<std::uint64_t> BlobSet::find_run(Known& known, std::uint64_t page) {
  // First among the entries that are in memory: reads mostly go on where the last one ended.
  std::uint64_t low = 0, high = known.header.runs;  // the run is one of [low, high)
  if (!known.window.empty() && first_of(known.window.front()) <= page) {
    low = known.window_first;
    if (page < first_of(known.window.back())) high = known.window_first + known.window.size();
  }
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    const bool in_window =
        middle >= known.window_first && middle - known.window_first < known.window.size();
    RunEntry entry;
    if (in_window)
      entry = known.window[middle - known.window_first];
    else
      PERFLAB_TRY_VOID(read_bytes(known, known.runs_offset() + middle * sizeof(RunEntry),
                                  std::as_writable_bytes(std::span(&entry, 1))));
    (first_of(entry) <= page ? low : high) = middle;
  }
  return low;
}

Result<void> BlobSet::read(std::uint32_t number, std::uint64_t first, std::uint64_t count,
                           bool with_zero, const BlobSink& sink) {
  if (count == 0) return {};
  PERFLAB_TRY(Known * known, opened(number));
  if (first > known->header.pages || count > known->header.pages - first)
    return damaged(*known, "pages are asked for that it does not have");
  const std::uint64_t last = first + count;
  PERFLAB_TRY(std::uint64_t index, find_run(*known, first));
  for (std::uint64_t page = first; page < last; ++index) {
    PERFLAB_TRY(known, opened(number));  // the sink or another blob may have closed it
    if (index >= known->header.runs) return damaged(*known, "its runs have changed");
    std::uint64_t end = 0;
    PERFLAB_TRY(const RunEntry run, run_at(*known, index, end));
    end = std::min(end, last);
    if (first_of(run) > page || end <= page) return damaged(*known, "its runs have changed");
    if (kind_of(run) != RunKind::zero) {
      PagePlace place = target_of(run);
      place.index += page - first_of(run);
      PERFLAB_TRY_VOID(read_stored(place, end - page, page, sink));
    } else if (with_zero) {
      PERFLAB_TRY_VOID(give_zeros(page, end - page, sink));
    }
    page = end;
  }
  return {};
}

Result<void> BlobSet::read_stored(PagePlace place, std::uint64_t count, std::uint64_t page,
                                  const BlobSink& sink) {
  while (count > 0) {
    PERFLAB_TRY(Known* const known, opened(place.blob));
    if (place.index >= known->header.stored_pages)
      return damaged(*known, "a page is asked for that it does not store");
    PERFLAB_TRY(const auto bytes, frame(*known, place.index / kFramePages));
    const std::uint64_t in_frame = place.index % kFramePages;
    const std::uint64_t here = std::min(count, bytes.size() / kPageBytes - in_frame);
    PERFLAB_TRY_VOID(sink(page, bytes.subspan(in_frame * kPageBytes, here * kPageBytes)));
    place.index += here;
    page += here;
    count -= here;
  }
  return {};
}

BlobSet::CachedFrame& BlobSet::slot_for_another() {
  // First one that is empty or was handed out, then one that was read ahead for nothing.
  return *std::ranges::min_element(cache_, {}, [](const CachedFrame& one) {
    return std::pair(one.key != UINT64_MAX && one.ahead, one.used);
  });
}

Result<std::span<const std::byte>> BlobSet::frame(Known& known, std::uint64_t index) {
  const auto key_of = [&](std::uint64_t number) {
    return static_cast<std::uint64_t>(known.blob.number) << kBlobShift | number;
  };
  const auto find = [&](std::uint64_t number) {
    return std::ranges::find(cache_, key_of(number), &CachedFrame::key);
  };
  if (const auto cached = find(index); cached != cache_.end()) {
    cached->used = ++clock_;
    cached->ahead = false;
    return std::span<const std::byte>(cached->bytes);
  }
  // Who reads one frame after another gets the next ones from other threads.
  const bool in_order = index == known.next_frame;
  const std::uint64_t most = in_order && threads_ > 1 ? kFramesAhead : 1;
  std::vector<CachedFrame*> slots;
  for (std::uint64_t next = index; next < std::min(index + most, known.frames()); ++next) {
    if (next != index && find(next) != cache_.end()) break;
    CachedFrame& slot = slot_for_another();
    slot.key = key_of(next);
    slot.used = ++clock_;
    slot.ahead = true;
    slots.push_back(&slot);
  }
  known.next_frame = index + slots.size();
  std::vector<Result<void>> done(slots.size());
  PERFLAB_TRY_VOID(
      parallel_for(slots.size(), threads_, [&](unsigned worker, std::size_t i) -> Result<void> {
        done[i] = decode(known, index + i, decoders_.at(worker), slots[i]->bytes);
        return {};
      }));
  // What is wrong with a later one is said when it is asked for.
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (!done[i]) slots[i]->key = UINT64_MAX;
  PERFLAB_TRY_VOID(done.front());
  slots.front()->ahead = false;
  return std::span<const std::byte>(slots.front()->bytes);
}

Result<void> BlobSet::decode(const Known& known, std::uint64_t index, Decoder& decoder,
                             std::vector<std::byte>& out) const {
  FrameEntry entry;
  PERFLAB_TRY_VOID(read_bytes(known, known.header.tables_offset + index * sizeof(FrameEntry),
                              std::as_writable_bytes(std::span(&entry, 1))));
  const std::uint64_t pages = known.pages_of_frame(index), plain = pages * kPageBytes;
  const bool raw = entry.packing == Packing::raw;
  if (entry.bytes > plain || (raw && entry.bytes != plain))
    return damaged(known, fmt::format("frame {} has a size that cannot be", index));
  out.resize(plain);
  if (raw) {
    PERFLAB_TRY_VOID(read_bytes(known, entry.offset, out));
  } else {
    if (decoder.context == nullptr) decoder.context.reset(ZSTD_createDCtx());
    PERFLAB_CHECK(decoder.context != nullptr);
    decoder.packed.resize(kFrameBytes);
    const auto packed = std::span(decoder.packed).first(entry.bytes);
    PERFLAB_TRY_VOID(read_bytes(known, entry.offset, packed));
    const std::size_t got =
        ZSTD_decompressDCtx(decoder.context.get(), out.data(), plain, packed.data(), packed.size());
    if (ZSTD_isError(got) != 0 || got != plain)
      return damaged(known, fmt::format("frame {} cannot be decompressed", index));
  }
  std::array<PageHash, kFramePages> hashes{};
  for (std::uint64_t i = 0; i < pages; ++i) hashes[i] = hash_page(out.data() + i * kPageBytes);
  if (hash_of(hashes.data(), pages) != entry.hash)
    return damaged(known, fmt::format("frame {} does not hold what was written", index));
  return {};
}

Result<std::vector<PageRun>> BlobSet::places(std::uint32_t number) {
  PERFLAB_TRY(Known* const known, opened(number));
  std::vector<PageRun> out(known->header.places);
  PERFLAB_TRY_VOID(
      read_bytes(*known, known->places_offset(), std::as_writable_bytes(std::span(out))));
  return out;
}

Result<void> BlobSet::verify(std::uint32_t number) {
  PERFLAB_TRY(Known* const known, opened(number));
  for (std::uint64_t i = 0; i < known->frames(); ++i) PERFLAB_TRY_VOID(frame(*known, i));
  return {};
}

Result<void> BlobSet::check_bytes(std::span<const std::uint32_t> numbers) {
  while (!numbers.empty()) {  // as many as may be open at once
    const auto some = numbers.first(std::min(numbers.size(), kMostOpenFiles / 2));
    numbers = numbers.subspan(some.size());
    std::vector<Known*> blobs;
    for (const std::uint32_t number : some) {
      PERFLAB_TRY(Known* const known, opened(number));
      if (!known->summed && !known->blob.hash.starts_with("xxh3:")) blobs.push_back(known);
    }
    PERFLAB_TRY_VOID(parallel_for(blobs.size(), threads_,
                                  [&](unsigned, std::size_t i) { return check_sum(*blobs[i]); }));
  }
  return {};
}

Result<void> BlobSet::check_sum(Known& known) const {
  Sha256 hash;
  std::vector<std::byte> buffer(
      std::min<std::uint64_t>(std::size_t{1} << 20, known.blob.file_bytes));
  const auto add = [&](std::uint64_t first, std::uint64_t end) -> Result<void> {
    while (first < end) {
      const auto piece =
          std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), end - first));
      PERFLAB_TRY_VOID(read_bytes(known, first, piece));
      hash.add(piece.data(), piece.size());
      first += piece.size();
    }
    return {};
  };
  PERFLAB_TRY_VOID(add(kBlobHeaderBytes, known.blob.file_bytes));
  PERFLAB_TRY_VOID(add(0, kBlobHeaderBytes));  // was written last
  if (hash.finish() != known.blob.hash)
    return damaged(known, "its bytes are not those that were written");
  known.summed = true;
  return {};
}

}  // namespace perflab::capture
