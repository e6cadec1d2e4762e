// Reading what the library said: the status folder of one run, all its processes together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "capture/model.h"

namespace perflab::isolate {

/// A kernel that the program launched.
struct SeenKernel {
  std::string symbol;     ///< without ".kd"
  std::string demangled;  ///< the name that the pattern was tried on
  std::uint64_t dispatches = 0;
  friend bool operator==(const SeenKernel&, const SeenKernel&) = default;
};

/// What the library said.
struct Events {
  int loaded = 0;                     ///< processes in which it was loaded
  int hooked = 0;                     ///< processes in which it could work
  std::vector<std::string> unusable;  ///< why it could not, in the others
  bool captured = false;
  std::optional<std::string> refused;         ///< why the dispatch was not captured
  std::vector<SeenKernel> kernels;            ///< by name
  std::optional<capture::Platform> platform;  ///< of the runtime that was hooked
  std::vector<std::string> notes;             ///< launches that could not be counted, each once
};

/// Reads the folder. Lines that are no events are passed over: a program that is killed may leave
/// half a line. Error (bad_input): a file cannot be read.
Result<Events> read_events(const std::filesystem::path& folder);

}  // namespace perflab::isolate
