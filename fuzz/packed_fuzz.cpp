// Fuzzes what unpacks gzip and zstd. The first byte chooses one of them, and whether the rest is a
// stream behind its magic number, or a text that is packed here. What must hold: a stream gives a
// text or one error of the kind "bad input", and its beginning is that of the text; a text in
// several members, read in pieces of any size, comes back the same, and cut short it does not.
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/system/packed.h"
#include "base/system/unpacked_database.h"
#include "scratch_file.h"

namespace {

using perflab::ErrorCode;

constexpr std::size_t kMost = std::size_t{1} << 22;

std::string gzip_of(std::string_view text) {
  z_stream stream{};
  PERFLAB_CHECK(deflateInit2(&stream, 1, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) ==
                Z_OK);
  std::string in(text), out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  PERFLAB_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd_of(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

void check_stream(const perflab::fuzz::ScratchFile& file, const std::string& stream) {
  PERFLAB_CHECK(file.fill(stream.data(), stream.size()));
  const auto text = perflab::read_maybe_packed(file.path(), kMost);
  const std::string start = perflab::start_of_maybe_packed(file.path(), 100);
  if (start.starts_with("SQLite format 3")) {
    const auto database = perflab::UnpackedDatabase::of(file.path());
    PERFLAB_CHECK(database || database.error().code == ErrorCode::bad_input);
  }
  if (text)
    PERFLAB_CHECK(start == text->substr(0, 100));
  else
    PERFLAB_CHECK(text.error().code == ErrorCode::bad_input && !text.error().message.empty());
}

void check_text(const perflab::fuzz::ScratchFile& file, std::string_view text, bool zstd,
                std::size_t cut, std::size_t piece_size) {
  const auto pack = [&](std::string_view part) { return zstd ? zstd_of(part) : gzip_of(part); };
  cut = std::min(cut, text.size());
  const std::string last = pack(text.substr(cut));
  const std::string packed = pack(text.substr(0, cut)) + last;
  PERFLAB_CHECK(file.fill(packed.data(), packed.size()));
  auto reader = perflab::PackedReader::open(file.path());
  PERFLAB_CHECK(reader.has_value() && reader->packed());
  std::string piece(piece_size + 1, '\0'), read;
  while (const std::size_t got = reader->read(piece)) read.append(piece, 0, got);
  PERFLAB_CHECK(reader->status().has_value() && read == text);
  for (const std::size_t less : {std::size_t{1}, std::size_t{5}}) {
    PERFLAB_CHECK(file.fill(packed.data(), packed.size() - less));
    PERFLAB_CHECK(!perflab::read_maybe_packed(file.path(), kMost).has_value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const perflab::fuzz::ScratchFile file("packed-fuzz");
  if (size < 3) return 0;
  const bool zstd = (data[0] & 1U) != 0;
  const std::string rest(reinterpret_cast<const char*>(data + 3), size - 3);
  if ((data[0] & 2U) != 0)
    check_text(file, rest, zstd, data[1], data[2]);
  else
    check_stream(file, (zstd ? "\x28\xb5\x2f\xfd" : "\x1f\x8b") + rest);
  return 0;
}
