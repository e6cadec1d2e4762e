#include "ranks/rank/summary_file.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>

#include "base/hash.h"
#include "base/system/files.h"
#include "ranks/rank/summary_fields.h"

namespace perflab::ranks {

namespace {

constexpr std::string_view kMagic = "rp-rank\n";
constexpr std::size_t kMostText = 1 << 16;            ///< of a text in the header
constexpr std::uint64_t kMostFile = 1ULL << 28U;      ///< bytes
constexpr std::uint64_t kMostUnpacked = 1ULL << 27U;  ///< bytes of one part
constexpr int kLevel = 9;  ///< of zstd: a megabyte takes a tenth of a second
constexpr std::string_view kRemedy = "make it anew with rocm-perf rank-summary";

void put_fixed(std::string& out, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xFFU);
}

std::uint64_t fixed(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return value;
}

std::unexpected<Error> damaged(std::string_view name, std::string_view how) {
  return fail(ErrorCode::bad_input, fmt::format("{}: the rank summary is damaged: {}", name, how),
              std::string(kRemedy));
}

/// Takes bytes off the front; missing: there are not so many.
std::optional<std::string_view> take(std::string_view& rest, std::uint64_t bytes) {
  if (bytes > rest.size()) return std::nullopt;
  const std::string_view taken = rest.substr(0, bytes);
  rest.remove_prefix(bytes);
  return taken;
}

/// Size unpacked, size packed, hash of the packed bytes; then these.
void put_part(std::string& out, const std::string& plain) {
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  const std::size_t size =
      ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), kLevel);
  PERFLAB_CHECK(ZSTD_isError(size) == 0);
  packed.resize(size);
  put_fixed(out, plain.size(), 8);
  put_fixed(out, packed.size(), 8);
  put_fixed(out, content_hash(packed), 8);
  out += packed;
}

Result<std::string> take_part(std::string_view& rest, std::string_view name, bool unpack) {
  const auto sizes = take(rest, 24);
  if (!sizes) return damaged(name, "it ends early");
  const std::uint64_t plain_size = fixed(sizes->substr(0, 8));
  const auto packed = take(rest, fixed(sizes->substr(8, 8)));
  if (!packed) return damaged(name, "it ends early");
  if (!unpack) return std::string();
  if (content_hash(*packed) != fixed(sizes->substr(16, 8)))
    return damaged(name, "its bytes are not those that were written");
  if (plain_size > kMostUnpacked ||
      ZSTD_getFrameContentSize(packed->data(), packed->size()) != plain_size)
    return damaged(name, "it claims to hold more than it can");
  std::string plain(plain_size, '\0');
  const std::size_t size =
      ZSTD_decompress(plain.data(), plain.size(), packed->data(), packed->size());
  if (ZSTD_isError(size) != 0 || size != plain_size) return damaged(name, "it cannot be unpacked");
  return plain;
}

Result<SummaryHeader> take_header(std::string_view& rest, std::string_view name) {
  const std::string_view whole = rest;
  const auto magic = take(rest, kMagic.size());
  if (!magic || *magic != kMagic)
    return fail(ErrorCode::bad_input, fmt::format("{}: no rank summary", name),
                "rocm-perf rank-summary makes them of recordings");
  SummaryHeader header;
  const auto version = take(rest, 4);
  if (!version) return damaged(name, "it ends early");
  header.version = static_cast<std::int64_t>(fixed(*version));
  const auto take_text = [&](std::string& text) {
    const auto size = take(rest, 4);
    const auto bytes = size && fixed(*size) <= kMostText ? take(rest, fixed(*size)) : std::nullopt;
    if (bytes) text = *bytes;
    return bytes.has_value();
  };
  if (!take_text(header.tool_version) || !take_text(header.options))
    return damaged(name, "it ends early");
  if (header.version != kRankSummaryVersion) return header;
  if (!take_text(header.file)) return damaged(name, "it ends early");
  const auto origin = take(rest, 20);
  const std::string_view hashed = whole.substr(0, whole.size() - rest.size());
  const auto hash = origin ? take(rest, 8) : std::nullopt;
  if (!hash) return damaged(name, "it ends early");
  if (fixed(*hash) != content_hash(hashed))
    return damaged(name, "its bytes are not those that were written");
  header.origin = {.bytes = fixed(origin->substr(0, 8)),
                   .hash = fixed(origin->substr(8, 8)),
                   .ranks = static_cast<std::uint32_t>(fixed(origin->substr(16, 4)))};
  return header;
}

}  // namespace

std::string summary_file_name(const RankSummary& summary) {
  std::string guid;
  for (const char c : summary.guid) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-') guid += c;
  }
  // A recording without a usable id is told by where it is and which process it is of.
  if (guid.empty() || guid.size() > 64 || guid.size() != summary.guid.size())
    guid = fmt::format("{:016x}", content_hash(fmt::format("{}\n{}\n{}", summary.guid, summary.file,
                                                           summary.identity.pid)));
  const auto& rank = summary.identity.facts.rank;
  return fmt::format("rank-{}-{}-gpu{}{}", rank ? fmt::format("{:05}", *rank) : "x", guid,
                     summary.identity.gpu, kSummaryEnding);
}

std::string encode_summary(const RankSummary& summary) {
  std::string bytes(kMagic);
  put_fixed(bytes, static_cast<std::uint64_t>(kRankSummaryVersion), 4);
  for (const std::string* const text : {&summary.tool_version, &summary.options, &summary.file}) {
    put_fixed(bytes, text->size(), 4);
    bytes += *text;
  }
  put_fixed(bytes, summary.origin.bytes, 8);
  put_fixed(bytes, summary.origin.hash, 8);
  put_fixed(bytes, summary.origin.ranks, 4);
  put_fixed(bytes, content_hash(bytes), 8);
  NumberWriter head;
  put_head(head, summary);
  put_part(bytes, head.bytes());
  NumberWriter rest;
  put_rest(rest, summary);
  put_part(bytes, rest.bytes());
  return bytes;
}

Result<RankSummary> decode_summary(std::string_view bytes, std::string_view name,
                                   SummaryPart part) {
  PERFLAB_TRY(const SummaryHeader header, take_header(bytes, name));
  if (header.version != kRankSummaryVersion)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: a rank summary of version {}, this program reads version {}", name,
                            header.version, kRankSummaryVersion),
                std::string(kRemedy));
  RankSummary summary;
  PERFLAB_TRY(const std::string head, take_part(bytes, name, true));
  NumberReader head_reader(head);
  if (!take_head(head_reader, summary)) return damaged(name, "its collectives cannot be read");
  if (summary.tool_version != header.tool_version || summary.options != header.options ||
      summary.file != header.file)
    return damaged(name, "its header is not that of its content");
  summary.origin = header.origin;
  const bool everything = part == SummaryPart::everything;
  PERFLAB_TRY(const std::string rest, take_part(bytes, name, everything));
  if (!bytes.empty()) return damaged(name, "something follows its end");
  if (!everything) return summary;
  NumberReader rest_reader(rest);
  if (!take_rest(rest_reader, summary)) return damaged(name, "its graph cannot be read");
  return summary;
}

Result<void> write_summary(const std::filesystem::path& path, const RankSummary& summary) {
  return write_file_atomically(path, encode_summary(summary));
}

Result<RankSummary> read_summary(const std::filesystem::path& path, SummaryPart part) {
  PERFLAB_TRY(const std::string bytes, read_file(path, kMostFile));
  return decode_summary(bytes, path.string(), part);
}

Result<SummaryHeader> read_summary_header(const std::filesystem::path& path) {
  // Most headers are short; of a longer one, or no summary, the whole file is read.
  std::array<char, 4096> begin{};
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  std::string_view start(begin.data(),
                         static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  if (Result<SummaryHeader> header = take_header(start, path.string())) return header;
  PERFLAB_TRY(const std::string bytes, read_file(path, kMostFile));
  std::string_view rest = bytes;
  return take_header(rest, path.string());
}

Result<void> check_same_making(const RankSummary& one, std::string_view one_name,
                               const RankSummary& other, std::string_view other_name) {
  if (one.options != other.options)
    return fail(ErrorCode::bad_input,
                fmt::format("{} and {} were made with different options: {} and {}", one_name,
                            other_name, one.options, other.options),
                "make all of them with the same options of rocm-perf rank-summary");
  if (one.tool_version != other.tool_version)
    return fail(ErrorCode::bad_input,
                fmt::format("{} and {} were made by different versions of rocm-perf: {} and {}",
                            one_name, other_name, one.tool_version, other.tool_version),
                "make all of them with one version");
  return {};
}

}  // namespace perflab::ranks
