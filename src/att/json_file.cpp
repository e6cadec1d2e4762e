// Reading into a padded buffer, and simdjson's errors in our words.
#include "att/json_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/system/files.h"

namespace perflab::att {
namespace {

constexpr const char* kAsWritten =
    "give the folder as rocprofv3 --att wrote it, or record the thread trace again";

/// A file that is open for reading.
class OpenFile {
 public:
  /// O_NONBLOCK: opening a pipe that nobody writes to must not wait.
  explicit OpenFile(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

std::string_view words_of(simdjson::error_code error) {
  switch (error) {
    case simdjson::EMPTY:
      return "is empty";
    case simdjson::UTF8_ERROR:
      return "is not JSON: it holds bytes that are not UTF-8";
    case simdjson::UNCLOSED_STRING:
      return "is not JSON: it ends inside a text";
    case simdjson::DEPTH_ERROR:
      return "is nested too deeply";
    case simdjson::MEMALLOC:
      return "does not fit into memory";
    case simdjson::NUMBER_ERROR:
      return "is not JSON: a number in it is malformed";
    default:
      return "is not JSON, or only a part of it";
  }
}

bool belongs_to_number(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/// Whether 64 bits may not hold it: too many digits, or an exponent.
bool may_be_too_large(std::string_view number) {
  constexpr std::size_t kLeastDigits = 20;  // 2^63 has 19
  const std::size_t digits = std::min(number.find_first_of(".eE"), number.size());
  const bool has_exponent = number.find_first_of("eE") != std::string_view::npos;
  return digits >= kLeastDigits || (has_exponent && number.size() > 4);
}

/// simdjson refuses a whole file for one number that 64 bits do not hold. Puts null in such places,
/// so that it is the row that is refused. Returns whether there were any.
bool blank_large_numbers(char* text, std::size_t size) {
  bool found = false, in_text = false;
  for (std::size_t i = 0; i < size; ++i) {
    if (in_text) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        in_text = false;
    } else if (text[i] == '"') {
      in_text = true;
    } else if ((text[i] >= '0' && text[i] <= '9') || text[i] == '-') {
      std::size_t end = i;
      while (end < size && belongs_to_number(text[end])) ++end;
      if (may_be_too_large({text + i, end - i})) {
        std::fill(text + i, text + end, ' ');
        std::copy_n("null", 4, text + i);
        found = true;
      }
      i = end - 1;
    }
  }
  return found;
}

}  // namespace

std::unexpected<Error> wrong_kind(std::string_view file, std::string_view key,
                                  std::string_view kind) {
  return fail(ErrorCode::bad_input, fmt::format("{}: \"{}\" is not {}", file, key, kind),
              kAsWritten);
}

Result<void> JsonFile::make_room(std::uint64_t size) {
  if (size > simdjson::SIMDJSON_MAXSIZE_BYTES - simdjson::SIMDJSON_PADDING)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: is larger than 4 GiB, the most that can be read", name_),
                "trace fewer waves: a smaller grid, or fewer shader engines "
                "(--att-shader-engine-mask)");
  const std::size_t room = static_cast<std::size_t>(size) + simdjson::SIMDJSON_PADDING;
  if (buffer_.size() < room) {
    buffer_.clear();  // growing must not copy
    buffer_.resize(room);
  }
  return {};
}

Result<bool> JsonFile::load(const std::filesystem::path& path) {
  name_ = path.string();
  size_ = 0;
  const OpenFile file(path);
  if (file.get() < 0) {
    if (errno == ENOENT) return false;
    return fail(ErrorCode::bad_input,
                fmt::format("{}: cannot be opened: {}", name_, errno_text(errno)));
  }
  struct stat info{};
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return fail(ErrorCode::bad_input, fmt::format("{}: is not a file", name_));
  const auto size = static_cast<std::uint64_t>(info.st_size);
  PERFLAB_TRY_VOID(make_room(size));
  while (size_ < size) {
    const ssize_t got = ::read(file.get(), buffer_.data() + size_, size - size_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: cannot be read: {}", name_, errno_text(errno)));
    if (got == 0) break;
    size_ += static_cast<std::size_t>(got);
  }
  return true;
}

Result<void> JsonFile::assign(std::string_view text, std::string_view name) {
  name_ = name;
  PERFLAB_TRY_VOID(make_room(text.size()));
  std::ranges::copy(text, buffer_.begin());
  size_ = text.size();
  return {};
}

Result<dom::object> JsonFile::parse() {
  dom::element root;
  simdjson::error_code error = parser_.parse(buffer_.data(), size_, false).get(root);
  if (error != simdjson::SUCCESS && blank_large_numbers(buffer_.data(), size_))
    error = parser_.parse(buffer_.data(), size_, false).get(root);
  if (error != simdjson::SUCCESS)
    return fail(ErrorCode::bad_input, fmt::format("{}: {}", name_, words_of(error)), kAsWritten);
  dom::object object;
  if (root.get(object) != simdjson::SUCCESS)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: is JSON, but not an object as in thread traces", name_),
                kAsWritten);
  return object;
}

std::optional<dom::object> JsonFile::parse_without(std::span<const std::string_view> parts) {
  shorter_.clear();
  std::string_view rest = text();
  for (const std::string_view part : parts) {
    const std::string_view before(rest.data(), static_cast<std::size_t>(part.data() - rest.data()));
    if (before.find(kLeftOut) != std::string_view::npos) return std::nullopt;
    shorter_ += before;
    shorter_ += kLeftOut;
    rest.remove_prefix(before.size() + part.size());
  }
  if (rest.find(kLeftOut) != std::string_view::npos) return std::nullopt;
  shorter_ += rest;
  const std::size_t size = shorter_.size();
  shorter_.resize(size + simdjson::SIMDJSON_PADDING);
  dom::object root;
  if (parser_.parse(shorter_.data(), size, false).get(root) != simdjson::SUCCESS)
    return std::nullopt;
  return root;
}

}  // namespace perflab::att
