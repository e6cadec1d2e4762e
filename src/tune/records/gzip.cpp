// Files that may be gzip (RFC 1952), unpacked by zlib up to a limit: a small file can hold
// gigabytes of zeros.
#include <fmt/format.h>
#include <zlib.h>

#include <limits>

#include "base/system/files.h"
#include "tune/records/recording.h"

namespace perflab::tune {
namespace {

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
  std::string input(packed);  // zlib's input is not const
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  std::string out;
  std::string buffer(std::size_t{1} << 18, '\0');
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
  constexpr std::string_view kGzipMagic = "\x1f\x8b";
  if (!text.starts_with(kGzipMagic)) return text;
  return gunzip(text, most, file.string());
}

}  // namespace perflab::tune
