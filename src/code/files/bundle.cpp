// See bundle.h. A plain bundle is a table of ranges; a compressed one is a header and a stream that
// unpacks to a plain bundle.
#include "code/files/bundle.h"

#include <fmt/format.h>

#include <algorithm>

#include "code/elf/bytes.h"

namespace perflab::code {
namespace {

constexpr std::string_view kPlainMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view kCompressedMagic = "CCOB";
constexpr std::uint64_t kEntryHeaderBytes = 24;                // offset, size, length of the id
constexpr std::uint64_t kLongestId = 4096;                     // ids are some 60 characters
constexpr std::uint64_t kMostBudget = std::uint64_t{1} << 60;  // sums with it cannot overflow

/// The header of a compressed bundle (docs/facts/code_object.md "Offload bundles"; LLVM's
/// OffloadBundler.cpp).
struct CompressedHeader {
  std::uint16_t version = 0;
  Compression method = Compression::none;
  std::uint64_t header_bytes = 0;
  std::optional<std::uint64_t> total_bytes;  ///< with the header; version 1 does not say
  std::uint64_t unpacked_bytes = 0;
};

class Reader {
 public:
  Reader(std::string_view bytes, std::string_view what, std::uint64_t budget)
      : bytes_(bytes), what_(what), budget_(std::min(budget, kMostBudget)) {}

  Result<std::vector<Bundle>> read_all() {
    std::vector<Bundle> bundles;
    for (std::uint64_t at = next_magic(0); at < bytes_.size(); at = next_magic(at)) {
      at_ = at;
      const std::string_view rest = bytes_.substr(at);
      PERFLAB_TRY(Bundle bundle,
                  rest.starts_with(kPlainMagic) ? read_plain(rest) : read_compressed(rest));
      bundle.offset = at;
      at += bundle.size;
      bundles.push_back(std::move(bundle));
    }
    return bundles;
  }

 private:
  /// The next bundle at or after `at`. Between bundles there is padding only.
  [[nodiscard]] std::uint64_t next_magic(std::uint64_t at) const {
    while (at < bytes_.size() && bytes_[at] == '\0') ++at;
    if (at >= bytes_.size() || is_bundle(bytes_.substr(at))) return at;
    return std::min(bytes_.find(kPlainMagic, at), bytes_.find(kCompressedMagic, at));
  }

  [[nodiscard]] std::unexpected<Error> damaged(std::string_view problem) const {
    return fail(ErrorCode::bad_input,
                fmt::format("{}: damaged offload bundle at offset {}: {}", what_, at_, problem));
  }

  /// Reads the table of a plain bundle that begins at the start of `bytes`.
  Result<Bundle> read_plain(std::string_view bytes) const {
    Bundle bundle;
    std::uint64_t at = kPlainMagic.size();
    const auto count = value_at<std::uint64_t>(bytes, at);
    if (!count) return damaged("it ends within its header");
    at += sizeof(std::uint64_t);
    if (*count > (bytes.size() - at) / kEntryHeaderBytes)
      return damaged(fmt::format("it cannot have {} entries", *count));
    std::uint64_t end = at;
    std::uint64_t held = 0;
    bundle.entries.reserve(*count);
    for (std::uint64_t i = 0; i < *count; ++i) {
      PERFLAB_TRY(BundleEntry entry, read_entry(bytes, i, at));
      end = std::max(end, entry.offset + entry.bytes.size());
      // Entries that share bytes would let a small file stand for any amount of work.
      held += entry.bytes.size();
      if (held > bytes.size()) return damaged("its entries overlap");
      bundle.entries.push_back(std::move(entry));
    }
    bundle.size = std::max(end, at);
    return bundle;
  }

  /// Reads entry `index`, whose header is at `at`, and moves `at` behind it.
  Result<BundleEntry> read_entry(std::string_view bytes, std::uint64_t index,
                                 std::uint64_t& at) const {
    const auto offset = value_at<std::uint64_t>(bytes, at);
    const auto size = value_at<std::uint64_t>(bytes, at + 8);
    const auto id_bytes = value_at<std::uint64_t>(bytes, at + 16);
    at += kEntryHeaderBytes;
    const auto id = id_bytes ? range_of(bytes, at, *id_bytes) : std::nullopt;
    if (!id || id->size() > kLongestId)
      return damaged(fmt::format("the id of entry {} lies outside", index));
    at += id->size();
    BundleEntry entry{
        .id = std::string(*id), .target = parse_target_id(*id), .offset = *offset, .bytes = {}};
    // An empty entry (the host's) has no place: bundlers write any offset.
    if (*size == 0) {
      entry.offset = std::min<std::uint64_t>(*offset, bytes.size());
      return entry;
    }
    const auto contents = range_of(bytes, *offset, *size);
    if (!contents) return damaged(fmt::format("entry {} lies outside", index));
    entry.bytes = *contents;
    return entry;
  }

  [[nodiscard]] Result<CompressedHeader> read_header(std::string_view bytes) const {
    const auto version = value_at<std::uint16_t>(bytes, 4);
    const auto method = value_at<std::uint16_t>(bytes, 6);
    if (!version || !method) return damaged("it ends within its header");
    if (*method > 1) return damaged(fmt::format("compression method {} is not known", *method));
    CompressedHeader header;
    header.version = *version;
    header.method = *method == 0 ? Compression::zlib : Compression::zstd;
    const auto field = [&](std::uint64_t at, std::uint64_t width) {
      return width == 4 ? std::optional<std::uint64_t>(value_at<std::uint32_t>(bytes, at))
                        : value_at<std::uint64_t>(bytes, at);
    };
    std::optional<std::uint64_t> unpacked;
    switch (*version) {
      case 1:
        unpacked = field(8, 4);
        header.header_bytes = 20;
        break;
      case 2:
        header.total_bytes = field(8, 4);
        unpacked = field(12, 4);
        header.header_bytes = 24;
        break;
      case 3:
        header.total_bytes = field(8, 8);
        unpacked = field(16, 8);
        header.header_bytes = 32;
        break;
      default:
        return damaged(fmt::format("version {} of compressed bundles is not known", *version));
    }
    if (!unpacked || bytes.size() < header.header_bytes)
      return damaged("it ends within its header");
    header.unpacked_bytes = *unpacked;
    const std::uint64_t total = header.total_bytes.value_or(bytes.size());
    if (total < header.header_bytes || total > bytes.size())
      return damaged(fmt::format("its size of {} bytes cannot be", total));
    return header;
  }

  Result<Bundle> read_compressed(std::string_view bytes) {
    PERFLAB_TRY(const CompressedHeader header, read_header(bytes));
    const std::uint64_t total = header.total_bytes.value_or(bytes.size());
    const std::string_view payload = bytes.substr(header.header_bytes, total - header.header_bytes);
    if (header.unpacked_bytes > budget_)
      return damaged(fmt::format("it would unpack to {} bytes, and {} is the most that is unpacked",
                                 header.unpacked_bytes, budget_));
    auto unpacked = unpack(payload, header.method, header.unpacked_bytes);
    if (!unpacked) return damaged(unpacked.error());
    budget_ -= unpacked->bytes.size();
    const auto plain = std::make_shared<const std::string>(std::move(unpacked->bytes));
    if (!plain->starts_with(kPlainMagic)) return damaged("what it unpacks to is not a bundle");
    PERFLAB_TRY(Bundle bundle, read_plain(*plain));
    bundle.size = header.total_bytes.value_or(header.header_bytes + unpacked->consumed);
    bundle.compression = header.method;
    bundle.compressed_version = header.version;
    bundle.unpacked = plain;
    return bundle;
  }

  std::string_view bytes_;
  std::string_view what_;
  std::uint64_t budget_;  ///< bytes that may still be unpacked
  std::uint64_t at_ = 0;  ///< of the bundle that is being read, for errors
};

}  // namespace

bool is_bundle(std::string_view bytes) {
  return bytes.starts_with(kPlainMagic) || bytes.starts_with(kCompressedMagic);
}

Result<std::vector<Bundle>> read_bundles(std::string_view bytes, std::string_view what,
                                         std::uint64_t most_unpacked) {
  return Reader(bytes, what, most_unpacked).read_all();
}

}  // namespace perflab::code
