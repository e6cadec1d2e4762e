// A text file of lines that is only appended to: locked while it is open, flushed after every line,
// so that a kill at any moment loses at most the line under way.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"

namespace perflab {

/// The part of a text up to the end of its last whole line: behind it stands what a kill cut short.
std::string_view whole_lines(std::string_view text);

class LineLog {
 public:
  /// Opens the file for appending, makes it when there is none, and locks it; what is there is left
  /// alone. `what` names it in messages ("the journal"). Error (usage): no regular file, cannot be
  /// written, in use by another process (with `in_use_remedy`).
  static Result<LineLog> open(const std::filesystem::path& file, std::string_view what,
                              std::string_view in_use_remedy = {});
  LineLog(LineLog&& other) noexcept;
  LineLog(const LineLog&) = delete;
  LineLog& operator=(const LineLog&) = delete;
  LineLog& operator=(LineLog&&) = delete;
  ~LineLog();

  /// Cuts off what stands behind the first `bytes`: a torn line, or everything.
  Result<void> keep(std::uint64_t bytes);
  /// Writes one line, which ends with its only newline, and flushes it to the disk. On an error
  /// (usage: the disk is full, say) no part of it is left.
  Result<void> append(std::string_view line);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  LineLog() = default;

  std::filesystem::path path_;
  std::string what_;
  int fd_ = -1;  ///< -1: moved from
  std::uint64_t size_ = 0;
};

}  // namespace perflab
