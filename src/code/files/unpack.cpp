// See unpack.h.
#include "code/files/unpack.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "base/enum_names.h"

namespace perflab::code {
namespace {

constexpr const char* kDamaged = "its compressed data is damaged";

std::string too_much(std::uint64_t expected_bytes) {
  return fmt::format("it unpacks to more than the {} bytes that it claims", expected_bytes);
}

std::string too_little(std::uint64_t bytes, std::uint64_t expected_bytes) {
  return fmt::format("it unpacks to {} bytes, not to the {} that it claims", bytes, expected_bytes);
}

/// One step of a decompressor: into `room` bytes at `out`.
struct Step {
  std::uint64_t consumed = 0;
  std::uint64_t produced = 0;
  bool finished = false;
  bool damaged = false;
};

class Inflater {
 public:
  explicit Inflater(std::string_view input) : input_(input) {
    ready_ = inflateInit(&stream_) == Z_OK;
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  Step step(char* out, std::uint64_t room) {
    if (!ready_) return {.damaged = true};
    constexpr std::uint64_t kMost = std::numeric_limits<uInt>::max();
    const auto given = static_cast<uInt>(std::min<std::uint64_t>(input_.size(), kMost));
    const auto space = static_cast<uInt>(std::min(room, kMost));
    // zlib's interface is not const-correct; it does not write to its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input_.data()));  // NOLINT
    stream_.avail_in = given;
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = space;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    const Step done{.consumed = given - stream_.avail_in,
                    .produced = space - stream_.avail_out,
                    .finished = status == Z_STREAM_END,
                    .damaged = status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR};
    input_.remove_prefix(done.consumed);
    return done;
  }

 private:
  std::string_view input_;
  z_stream stream_{};
  bool ready_ = false;
};

class ZstdReader {
 public:
  explicit ZstdReader(std::string_view input) : input_(input), context_(ZSTD_createDCtx()) {}

  Step step(char* out, std::uint64_t room) {
    if (context_ == nullptr) return {.damaged = true};
    ZSTD_inBuffer in{input_.data(), input_.size(), 0};
    ZSTD_outBuffer to{out, room, 0};
    const std::size_t status = ZSTD_decompressStream(context_.get(), &to, &in);
    input_.remove_prefix(in.pos);
    return {.consumed = in.pos,
            .produced = to.pos,
            .finished = status == 0,
            .damaged = ZSTD_isError(status) != 0};
  }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::string_view input_;
  std::unique_ptr<ZSTD_DCtx, Free> context_;
};

template <class Decoder>
std::expected<Unpacked, std::string> unpack_with(Decoder decoder, std::uint64_t payload_bytes,
                                                 std::uint64_t expected_bytes) {
  Unpacked out;
  std::uint64_t produced = 0;
  // Room for what is expected and a byte more, which must stay unused; at first no more than code
  // usually packs, then doubled.
  std::uint64_t room = std::min(expected_bytes + 1, 8 * payload_bytes + (1U << 16U));
  while (true) {
    Step step;
    out.bytes.resize_and_overwrite(room, [&](char* data, std::size_t size) {
      step = decoder.step(data + produced, size - produced);
      return produced + step.produced;
    });
    produced += step.produced;
    out.consumed += step.consumed;
    if (step.damaged) return std::unexpected(kDamaged);
    if (produced > expected_bytes) return std::unexpected(too_much(expected_bytes));
    if (step.finished) break;
    if (step.consumed == 0 && step.produced == 0)
      return std::unexpected("its compressed data is cut off");
    if (produced == room) room = std::min(expected_bytes + 1, 2 * room);
  }
  if (produced != expected_bytes) return std::unexpected(too_little(produced, expected_bytes));
  return out;
}

/// Sequences of a block: literals, and a match in what came before; the last has literals alone.
class Lz4Block {
 public:
  explicit Lz4Block(std::string_view block) : block_(block) {}

  [[nodiscard]] bool ended() const { return at_ == block_.size(); }
  std::uint8_t byte() { return static_cast<std::uint8_t>(block_[at_++]); }
  /// The length that begins with four bits; missing: it is cut off.
  std::optional<std::uint64_t> length(std::uint64_t bits) {
    constexpr std::uint64_t kMoreFollows = 15, kMoreStill = 255;
    if (bits < kMoreFollows) return bits;
    for (std::uint64_t length = bits; !ended();) {
      const std::uint64_t more = byte();
      length += more;
      if (more != kMoreStill) return length;
    }
    return std::nullopt;
  }
  /// So many bytes; missing: there are fewer.
  std::optional<std::string_view> take(std::uint64_t bytes) {
    if (bytes > block_.size() - at_) return std::nullopt;
    at_ += bytes;
    return block_.substr(at_ - bytes, bytes);
  }

 private:
  std::string_view block_;
  std::size_t at_ = 0;
};

}  // namespace

std::expected<std::string, std::string> unpack_lz4(std::string_view text,
                                                   std::uint64_t expected_bytes) {
  constexpr std::uint64_t kLeastMatch = 4;
  Lz4Block block(text);
  std::string out;
  const auto fits = [&](std::uint64_t bytes) { return bytes <= expected_bytes - out.size(); };
  while (!block.ended()) {
    const unsigned token = block.byte();
    const auto count = block.length(token >> 4U);
    const auto literals = count ? block.take(*count) : std::nullopt;
    if (!literals) return std::unexpected(kDamaged);
    if (!fits(literals->size())) return std::unexpected(too_much(expected_bytes));
    out += *literals;
    if (block.ended()) break;
    const auto offset = block.take(2);
    const auto more = offset ? block.length(token & 15U) : std::nullopt;
    if (!more) return std::unexpected(kDamaged);
    const std::size_t distance = static_cast<std::uint8_t>((*offset)[0]) |
                                 static_cast<std::size_t>(static_cast<std::uint8_t>((*offset)[1]))
                                     << 8U;
    if (distance == 0 || distance > out.size()) return std::unexpected(kDamaged);
    if (!fits(*more + kLeastMatch)) return std::unexpected(too_much(expected_bytes));
    // It may overlap what it makes.
    for (std::uint64_t left = *more + kLeastMatch; left > 0; --left)
      out += out[out.size() - distance];
  }
  if (out.size() != expected_bytes) return std::unexpected(too_little(out.size(), expected_bytes));
  return out;
}

std::string_view to_string(Compression compression) {
  using enum Compression;
  static constexpr auto kNames =
      enum_names<Compression>({{none, "none"}, {zlib, "zlib"}, {zstd, "zstd"}});
  return kNames[compression];
}

std::expected<Unpacked, std::string> unpack(std::string_view payload, Compression method,
                                            std::uint64_t expected_bytes) {
  if (method == Compression::zstd)
    return unpack_with(ZstdReader(payload), payload.size(), expected_bytes);
  return unpack_with<Inflater>(Inflater(payload), payload.size(), expected_bytes);
}

}  // namespace perflab::code
