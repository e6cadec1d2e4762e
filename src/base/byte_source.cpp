// Lines are cut in a buffer that grows with the longest of them.
#include "base/byte_source.h"

#include <fmt/format.h>

#include <cstring>

namespace perflab {

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

}  // namespace perflab
