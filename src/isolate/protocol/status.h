// What the library tells the command that started it: events, a JSON line each, appended in one
// write so that several processes can share the file, and a mapped file of counters, which
// outlives a program that is killed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text/json.h"

namespace perflab::isolate {

/// Events of this process. Any thread.
class StatusLog {
 public:
  static constexpr std::size_t kMostKernels = std::size_t{1} << 16;

  /// Opens the files in the status folder. Error (usage): it cannot be written.
  static Result<std::unique_ptr<StatusLog>> open(const std::string& folder);
  StatusLog(const StatusLog&) = delete;
  StatusLog& operator=(const StatusLog&) = delete;
  ~StatusLog();

  /// Appends {"event": name, "pid": ..., members of `more`}. Allocates.
  void say(std::string_view event, Json more = Json::object()) const;
  /// Appends the event "kernel" with this name, a quoted JSON text. Does not allocate.
  void say_kernel(std::uint32_t slot, std::string_view quoted_name) const;

  /// A counter in the mapped file. Past the end: missing (null).
  [[nodiscard]] std::atomic<std::uint64_t>* counter(std::uint32_t slot) const {
    return slot < kMostKernels ? counters_ + slot : nullptr;
  }

  /// True for the first caller among all processes that share the folder.
  [[nodiscard]] bool claim_capture() const;

 private:
  StatusLog() = default;
  std::string folder_;
  int events_ = -1;
  std::atomic<std::uint64_t>* counters_ = nullptr;
};

}  // namespace perflab::isolate
