// Files through read(2), so that what is larger than memory can be read.
#include "pc_sampling/text_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/system/descriptor.h"
#include "base/system/files.h"

namespace perflab::pc_sampling {

Result<ReadBytes> bytes_of_file(const std::filesystem::path& file) {
  const auto cannot = [name = file.string()](std::string_view what) {
    return fail(ErrorCode::bad_input, fmt::format("{}: cannot be read: {}", name, what));
  };
  const auto descriptor =
      std::make_shared<Descriptor>(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor->open()) return cannot(errno_text(errno));
  struct stat about{};
  if (fstat(descriptor->get(), &about) != 0) return cannot(errno_text(errno));
  if (!S_ISREG(about.st_mode)) return cannot("it is no regular file");
  return [descriptor, cannot](char* to, std::size_t size) -> Result<std::size_t> {
    while (true) {
      const ssize_t many = ::read(descriptor->get(), to, size);
      if (many >= 0) return static_cast<std::size_t>(many);
      if (errno != EINTR) return cannot(errno_text(errno));
    }
  };
}

ReadBytes bytes_of_text(std::string_view text) {
  return [text](char* to, std::size_t size) mutable -> Result<std::size_t> {
    const std::size_t many = text.copy(to, size);
    text.remove_prefix(many);
    return many;
  };
}

Result<bool> Lines::next(std::string_view& line) {
  while (true) {
    const std::string_view rest(buffer_.data() + at_, end_ - at_);
    const std::size_t end = rest.find('\n');
    if (end != rest.npos || (at_end_ && !rest.empty())) {
      line = rest.substr(0, end);
      at_ += line.size() + (end != rest.npos ? 1 : 0);
      if (line.ends_with('\r')) line.remove_suffix(1);
      ++number_;
      return true;
    }
    if (at_end_) return false;
    if (rest.size() > kLongest)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: line {} is longer than 1 MiB: is no table", name_, number_ + 1));
    std::memmove(buffer_.data(), rest.data(), rest.size());
    at_ = 0;
    end_ = rest.size();
    if (2 * end_ > buffer_.size()) buffer_.resize(2 * buffer_.size());
    PERFLAB_TRY(const std::size_t many, read_(buffer_.data() + end_, buffer_.size() - end_));
    end_ += many;
    at_end_ = many == 0;
  }
}

}  // namespace perflab::pc_sampling
