// zlib's inflate over texts in memory.
#include "base/system/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "base/system/files.h"

namespace perflab {
namespace {

constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::size_t kPiece = std::size_t{1} << 18;

/// zlib's state, freed at the end of a scope.
class Inflater {
 public:
  Inflater() {
    constexpr int kGzipOnly = 16;  // added to the window size: zlib.h, inflateInit2
    ok_ = ::inflateInit2(&stream_, MAX_WBITS + kGzipOnly) == Z_OK;
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (ok_) ::inflateEnd(&stream_);
  }
  [[nodiscard]] bool ok() const { return ok_; }
  z_stream& stream() { return stream_; }
  /// Takes text to unpack, at most 4 GiB of it. zlib's input is not const, but it only reads.
  void feed(std::string_view packed) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream_.avail_in = static_cast<uInt>(packed.size());
  }

 private:
  z_stream stream_{};
  bool ok_ = false;
};

/// All members, one behind the other, as `cat a.gz b.gz` makes them.
Result<std::string> gunzip(std::string_view packed, std::size_t most, const std::string& name) {
  Inflater inflater;
  if (!inflater.ok()) return fail(ErrorCode::internal, "zlib does not start");
  if (packed.size() > std::numeric_limits<uInt>::max())
    return fail(ErrorCode::bad_input, fmt::format("{}: is larger than 4 GiB", name));
  z_stream& stream = inflater.stream();
  inflater.feed(packed);
  std::string out;
  std::string buffer(kPiece, '\0');
  while (true) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    const int status = ::inflate(&stream, Z_NO_FLUSH);
    out.append(buffer.data(), buffer.size() - stream.avail_out);
    if (out.size() > most)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: unpacks to more than {} bytes", name, most));
    if (status == Z_STREAM_END) {
      if (stream.avail_in == 0) return out;
      if (::inflateReset(&stream) != Z_OK) return fail(ErrorCode::internal, "zlib does not reset");
    } else if (status == Z_BUF_ERROR ||
               (status == Z_OK && stream.avail_in == 0 && stream.avail_out != 0)) {
      return fail(ErrorCode::bad_input, fmt::format("{}: the gzip data end early", name));
    } else if (status != Z_OK) {
      return fail(ErrorCode::bad_input, fmt::format("{}: the gzip data are damaged", name));
    }
  }
}

}  // namespace

Result<std::string> read_maybe_gzip(const std::filesystem::path& file, std::size_t most) {
  PERFLAB_TRY(std::string text, read_file(file, most));
  if (!text.starts_with(kGzipMagic)) return text;
  return gunzip(text, most, file.string());
}

std::string start_of_maybe_gzip(const std::filesystem::path& path, std::size_t most) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  std::ifstream file(path, std::ios::binary);
  const auto next_piece = [&](std::size_t bytes) {
    std::string piece(bytes, '\0');
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    piece.resize(static_cast<std::size_t>(file.gcount()));
    return piece;
  };
  std::string packed = next_piece(most);
  Inflater inflater;
  if (!packed.starts_with(kGzipMagic) || !inflater.ok()) return packed;
  std::string text(most, '\0');
  z_stream& stream = inflater.stream();
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(std::min<std::size_t>(most, std::size_t{1} << 30));
  int status = Z_OK;
  while (status == Z_OK && stream.avail_out > 0 && !packed.empty()) {
    inflater.feed(packed);
    status = ::inflate(&stream, Z_NO_FLUSH);
    // A member may be empty, or end within the first bytes of the text.
    std::string rest = packed.substr(packed.size() - stream.avail_in);
    packed = rest.empty() ? next_piece(kPiece) : std::move(rest);
    if (status == Z_STREAM_END && !packed.empty()) status = ::inflateReset(&stream);
  }
  // No resize(): g++ 12 takes it for one that may grow, and warns.
  return text.substr(
      0, static_cast<std::size_t>(reinterpret_cast<char*>(stream.next_out) - text.data()));
}

}  // namespace perflab
