// A sandbox for programs that others wrote: bubblewrap (bwrap(1), Debian's package bubblewrap) in
// front of their command line, found at run time (find_sandbox.h) and never linked. A program in it
// sees the system read-only and nothing of the user's: no home, no temporary files, no sockets of
// services below /run, no network, no processes but its own, no capabilities, no variables with
// secrets. What it leaves behind ends with it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace perflab {

/// A sandbox that works on this machine, and what programs in it have beside the system.
struct Sandbox {
  std::filesystem::path program;  ///< bwrap
  std::string version;            ///< "0.8.0"; empty: it does not say
  /// To be read although they lie in a hidden place. What is not there, or would show a whole
  /// hidden place, is left out.
  std::vector<std::filesystem::path> shown;
  std::vector<std::filesystem::path>
      devices;  ///< nodes beside null, zero, random, shm and the like
  /// Ours, with the environment as it is: what uses a server needs its keys as well.
  bool network = false;
};

/// Where a program runs: ProcessOptions has one.
struct Confinement {
  std::shared_ptr<const Sandbox> sandbox{};  ///< null: none, the program runs as we do
  /// Where it may write and what is written stays: folders or files that exist.
  std::vector<std::filesystem::path> writable{};
};

/// Places that are empty folders in a sandbox, and its own: homes, temporary files, /run. Real
/// paths, none inside of another.
const std::vector<std::filesystem::path>& hidden_places();
/// Whether a path lies in a hidden place, or is one.
bool is_hidden(const std::filesystem::path& path);
/// Whether a path is a hidden place or anybody's home, or holds one.
bool holds_hidden(const std::filesystem::path& path);

/// What comes in front of a program's command line. Precondition: there is a sandbox.
std::vector<std::string> sandbox_command(const Confinement& confinement);
/// Whether a variable of the environment is one that a program in a sandbox does not get: by its
/// name (TOKEN, KEY, PASSWORD, the session's sockets), or by a password in the URL it holds.
bool is_secret_variable(std::string_view name, std::string_view value);

}  // namespace perflab
