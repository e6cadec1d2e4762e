// Texts of any length, which come piece by piece, and their lines.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace perflab {

/// Puts up to `size` bytes at `to`; how many. 0: the end. Errors end the reading.
using ReadBytes = std::function<Result<std::size_t>(char* to, std::size_t size)>;

/// Of a text, which has to stay. Of a file: bytes_of_file() (base/system/files.h).
ReadBytes bytes_of_text(std::string_view text);

/// The lines of a text of any length.
class Lines {
 public:
  /// Longer lines are damage.
  static constexpr std::size_t kLongest = std::size_t{1} << 20;

  Lines(ReadBytes read, std::string name) : read_(std::move(read)), name_(std::move(name)) {}

  /// The next line into `line`, without its end, valid until the next call; false: there is none.
  /// Error (bad_input): it is too long, or the file's.
  Result<bool> next(std::string_view& line);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::size_t number() const { return number_; }  ///< of the line, from 1 on

 private:
  ReadBytes read_;
  std::string name_;
  std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 14);  ///< grows as lines do
  std::size_t at_ = 0, end_ = 0, number_ = 0;
  bool at_end_ = false;
};

}  // namespace perflab
