// See fatbin.h. Every number of the file is checked against the bytes that are there before use.
#include "code/cubin/fatbin.h"

#include <fmt/format.h>

#include <utility>

#include "code/cubin/cubin.h"
#include "code/elf/bytes.h"
#include "code/files/unpack.h"

namespace perflab::code {
namespace {

/// In front of the entries of one fat binary.
struct FatbinHeader {
  std::uint32_t magic = 0;
  std::uint16_t version = 0;
  std::uint16_t header_bytes = 0;
  std::uint64_t entries_bytes = 0;
};
constexpr std::uint32_t kFatbinMagic = 0xba55ed50;

/// In front of an entry's payload.
struct EntryHeader {
  std::uint16_t kind = 0;
  std::uint16_t version = 0;
  std::uint32_t header_bytes = 0;
  std::uint64_t payload_bytes = 0;     ///< with padding
  std::uint32_t compressed_bytes = 0;  ///< without; 0: not compressed
  std::uint32_t unused = 0;
  std::uint16_t minor = 0, major = 0;
  std::uint32_t architecture = 0;
  std::uint32_t name = 0, name_bytes = 0;
  std::uint64_t flags = 0;
  std::uint64_t unused_too = 0;
  std::uint64_t unpacked_bytes = 0;
};
constexpr std::uint16_t kPtxKind = 1, kCubinKind = 2;
constexpr std::uint64_t kLz4 = 0x2000, kZstd = 0x8000;
constexpr std::size_t kMostEntries = 10'000;

class FatbinReader {
 public:
  FatbinReader(std::string_view bytes, std::string_view what, std::uint64_t budget)
      : bytes_(bytes), what_(what), budget_(budget) {}

  Result<Fatbin> run() {
    std::uint64_t at = 0;
    while (const auto header = value_at<FatbinHeader>(bytes_, at)) {
      if (header->magic != kFatbinMagic) {
        at += 8;  // padding
        continue;
      }
      const auto entries = range_of(bytes_, at + header->header_bytes, header->entries_bytes);
      if (header->header_bytes < sizeof(FatbinHeader) || !entries)
        return damaged(at, "its size cannot be");
      PERFLAB_TRY_VOID(read_entries(*entries, at + header->header_bytes));
      at += header->header_bytes + header->entries_bytes;
    }
    return std::move(fatbin_);
  }

 private:
  [[nodiscard]] std::unexpected<Error> damaged(std::uint64_t at, std::string_view problem) const {
    return fail(ErrorCode::bad_input,
                fmt::format("{}: damaged fat binary at offset {}: {}", what_, at, problem));
  }

  Result<void> read_entries(std::string_view entries, std::uint64_t offset) {
    std::uint64_t at = 0;
    while (at < entries.size()) {
      const auto header = value_at<EntryHeader>(entries, at);
      if (!header || header->header_bytes < sizeof(EntryHeader) ||
          header->payload_bytes > entries.size())
        return damaged(offset + at, "an entry's size cannot be");
      const auto payload = range_of(entries, at + header->header_bytes, header->payload_bytes);
      if (!payload) return damaged(offset + at, "an entry lies outside");
      if (fatbin_.cubins.size() + fatbin_.ptx.size() == kMostEntries)
        return damaged(offset + at, "it has too many entries");
      if (header->kind == kPtxKind) fatbin_.ptx.push_back(static_cast<int>(header->architecture));
      if (header->kind == kCubinKind) PERFLAB_TRY_VOID(add_cubin(*header, *payload, offset + at));
      at += header->header_bytes + header->payload_bytes;
    }
    return {};
  }

  static std::expected<std::string, std::string> unpacked_entry(std::string_view packed,
                                                                const EntryHeader& header) {
    if ((header.flags & kLz4) != 0) return unpack_lz4(packed, header.unpacked_bytes);
    auto unpacked = unpack(packed, Compression::zstd, header.unpacked_bytes);
    if (!unpacked) return std::unexpected(std::move(unpacked).error());
    return std::move(unpacked->bytes);
  }

  Result<void> add_cubin(const EntryHeader& header, std::string_view payload, std::uint64_t at) {
    FatbinEntry entry{
        .architecture = static_cast<int>(header.architecture), .bytes = payload, .unpacked = {}};
    if ((header.flags & (kLz4 | kZstd)) != 0) {
      const auto packed = range_of(payload, 0, header.compressed_bytes);
      if (!packed || header.unpacked_bytes > budget_)
        return damaged(at, "the size of a compressed entry cannot be");
      auto unpacked = unpacked_entry(*packed, header);
      if (!unpacked) return damaged(at, unpacked.error());
      budget_ -= header.unpacked_bytes;
      entry.unpacked = std::make_shared<const std::string>(*std::move(unpacked));
      entry.bytes = *entry.unpacked;
    }
    if (!is_cubin(entry.bytes)) return damaged(at, "an entry that should be a cubin is none");
    fatbin_.cubins.push_back(std::move(entry));
    return {};
  }

  std::string_view bytes_;
  std::string_view what_;
  std::uint64_t budget_;
  Fatbin fatbin_;
};

}  // namespace

bool is_fatbin(std::string_view bytes) {
  return value_at<std::uint32_t>(bytes, 0) == kFatbinMagic;
}

Result<Fatbin> read_fatbin(std::string_view bytes, std::string_view what,
                           std::uint64_t most_unpacked) {
  return FatbinReader(bytes, what, most_unpacked).run();
}

}  // namespace perflab::code
