// An instruction name cut into its parts, and put together again.
#include "code/instructions/instruction_name.h"

#include <algorithm>

namespace perflab::code::detail {

NameParts::NameParts(std::string_view name) {
  while (size_ < parts_.size()) {
    const bool last = size_ + 1 == parts_.size();
    const std::size_t end = last ? std::string_view::npos : name.find('_');
    parts_.at(size_++) = name.substr(0, end);
    if (end == std::string_view::npos) return;
    name.remove_prefix(end + 1);
  }
}

void NameParts::drop_front() {
  drop(0);
}

void NameParts::drop(std::size_t index) {
  if (index >= size_) return;
  std::move(parts_.begin() + static_cast<std::ptrdiff_t>(index) + 1,
            parts_.begin() + static_cast<std::ptrdiff_t>(size_),
            parts_.begin() + static_cast<std::ptrdiff_t>(index));
  --size_;
}

bool NameParts::contains(std::string_view part) const {
  return std::ranges::find(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(size_),
                           part) != parts_.begin() + static_cast<std::ptrdiff_t>(size_);
}

void JoinedName::append(std::string_view part) {
  if (size_ + part.size() + 1 > text_.size()) return;
  if (size_ != 0) text_.at(size_++) = '_';
  std::ranges::copy(part, text_.begin() + static_cast<std::ptrdiff_t>(size_));
  size_ += part.size();
}

}  // namespace perflab::code::detail
