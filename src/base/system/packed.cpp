// zlib's inflate and libzstd's streams over the pieces of a file.
#include "base/system/packed.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/system/files.h"

namespace perflab {
namespace {

constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
constexpr std::size_t kPiece = std::size_t{1} << 18;
/// Of the first piece, which is all that is read of a file to tell what it is.
constexpr std::size_t kFirstPiece = std::size_t{1} << 12;

/// A skippable frame, with which the files of pzstd begin: 50 to 5f, then these.
constexpr std::string_view kSkippable = "\x2a\x4d\x18";

bool is_zstd(std::string_view start) {
  return start.starts_with(kZstdMagic) ||
         (!start.empty() && (static_cast<unsigned char>(start[0]) & 0xF0U) == 0x50 &&
          start.substr(1).starts_with(kSkippable));
}

}  // namespace

class Unpacker {
 public:
  enum class State { inside, member_end, damaged, wide_window };
  struct Step {
    std::size_t consumed = 0, produced = 0;
    State state = State::inside;
  };

  Unpacker() = default;
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  virtual ~Unpacker() = default;
  [[nodiscard]] virtual const char* name() const = 0;
  /// Unpacks some of `from`, which may be empty, into `to`.
  virtual Step step(std::string_view from, std::span<char> to) = 0;

  /// Nothing: it is not packed.
  static std::unique_ptr<Unpacker> of(std::string_view start);
};

namespace {

class Gunzip : public Unpacker {
 public:
  Gunzip() {
    constexpr int kGzipOnly = 16;  // added to the window size: zlib.h, inflateInit2
    PERFLAB_CHECK(::inflateInit2(&stream_, MAX_WBITS + kGzipOnly) == Z_OK);
  }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;
  ~Gunzip() override { ::inflateEnd(&stream_); }
  [[nodiscard]] const char* name() const override { return "gzip"; }
  Step step(std::string_view from, std::span<char> to) override {
    const auto given = static_cast<uInt>(from.size());  // at most a piece
    const auto room = static_cast<uInt>(std::min<std::size_t>(to.size(), std::size_t{1} << 30));
    // zlib's input is not const, but it only reads.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
    stream_.avail_in = given;
    stream_.next_out = reinterpret_cast<Bytef*>(to.data());
    stream_.avail_out = room;
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    Step done{.consumed = given - stream_.avail_in, .produced = room - stream_.avail_out};
    if (status == Z_STREAM_END)
      done.state = ::inflateReset(&stream_) == Z_OK ? State::member_end : State::damaged;
    else if (status != Z_OK && status != Z_BUF_ERROR)
      done.state = State::damaged;
    return done;
  }

 private:
  z_stream stream_{};
};

/// Windows are limited to the 128 MiB that the zstd program has without --long: what a hostile file
/// asks for is memory.
class Unzstd : public Unpacker {
 public:
  Unzstd() : context_(ZSTD_createDCtx()) { PERFLAB_CHECK(context_ != nullptr); }
  [[nodiscard]] const char* name() const override { return "zstd"; }
  Step step(std::string_view from, std::span<char> to) override {
    ZSTD_inBuffer in{from.data(), from.size(), 0};
    ZSTD_outBuffer out{to.data(), to.size(), 0};
    const std::size_t status = ZSTD_decompressStream(context_.get(), &out, &in);
    Step done{.consumed = in.pos, .produced = out.pos};
    if (status == 0) done.state = State::member_end;
    if (ZSTD_isError(status) != 0)
      done.state = ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge
                       ? State::wide_window
                       : State::damaged;
    return done;
  }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_;
};

}  // namespace

std::unique_ptr<Unpacker> Unpacker::of(std::string_view start) {
  if (start.starts_with(kGzipMagic)) return std::make_unique<Gunzip>();
  if (is_zstd(start)) return std::make_unique<Unzstd>();
  return nullptr;
}

PackedReader::PackedReader(PackedReader&&) noexcept = default;
PackedReader::~PackedReader() = default;

Result<PackedReader> PackedReader::open(const std::filesystem::path& file) {
  PackedReader reader;
  reader.name_ = file.string();
  // O_NONBLOCK: opening a pipe that nobody writes to must not wait.
  reader.fd_ = Descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!reader.fd_.open())
    return fail(ErrorCode::bad_input,
                fmt::format("{}: cannot be opened: {}", reader.name_, errno_text(errno)));
  struct stat info{};
  if (::fstat(reader.fd_.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return fail(ErrorCode::bad_input, fmt::format("{}: is not a file", reader.name_));
  reader.file_bytes_ = static_cast<std::uint64_t>(info.st_size);
  reader.refill();
  reader.unpacker_ = Unpacker::of(reader.rest_);
  return reader;
}

void PackedReader::refill() {
  piece_.resize(bytes_read_ == 0 ? kFirstPiece : kPiece);
  std::size_t size = 0;
  while (size < piece_.size()) {
    const ssize_t got = ::read(fd_.get(), piece_.data() + size, piece_.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      status_ = fail(ErrorCode::bad_input,
                     fmt::format("{}: cannot be read: {}", name_, errno_text(errno)));
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  bytes_read_ += size;
  rest_ = std::string_view(piece_).substr(0, size);
}

std::size_t PackedReader::read(std::span<char> to) {
  std::size_t done = 0;
  while (done < to.size() && status_) {
    if (rest_.empty()) refill();
    const bool at_end = rest_.empty();
    if (!status_ || (at_end && (unpacker_ == nullptr || between_members_))) break;
    const std::span<char> room = to.subspan(done);
    if (unpacker_ == nullptr) {
      const std::size_t many = std::min(room.size(), rest_.size());
      std::copy_n(rest_.begin(), many, room.begin());
      rest_.remove_prefix(many);
      done += many;
      continue;
    }
    const Unpacker::Step step = unpacker_->step(rest_, room);
    rest_.remove_prefix(step.consumed);
    done += step.produced;
    between_members_ = step.state == Unpacker::State::member_end;
    const auto bad = [&](std::string_view what, std::string remedy = {}) {
      status_ =
          fail(ErrorCode::bad_input, fmt::format("{}: the {} {}", name_, unpacker_->name(), what),
               std::move(remedy));
    };
    if (step.state == Unpacker::State::damaged) bad("data are damaged");
    if (step.state == Unpacker::State::wide_window)
      bad("data need a window of more than 128 MiB", "unpack the file first: zstd -d --long=31");
    if (at_end && step.produced == 0 && !between_members_) bad("data end early");
  }
  return done;
}

Result<std::string> read_maybe_packed(const std::filesystem::path& file, std::size_t most) {
  PERFLAB_TRY(PackedReader reader, PackedReader::open(file));
  if (!reader.packed()) return read_file(file, most);
  std::string text;
  std::string piece(kPiece, '\0');
  while (const std::size_t got = reader.read(piece)) {
    text.append(piece.data(), got);
    if (text.size() > most)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: unpacks to more than {} bytes", file.string(), most));
  }
  PERFLAB_TRY_VOID(reader.status());
  return text;
}

std::string start_of_maybe_packed(const std::filesystem::path& file, std::size_t most) {
  Result<PackedReader> reader = PackedReader::open(file);
  if (!reader) return {};
  std::string text(most, '\0');
  // No resize(): g++ 12 takes it for one that may grow, and warns.
  return text.substr(0, reader->read(text));
}

}  // namespace perflab
