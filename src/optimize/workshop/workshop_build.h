// Building a candidate with the user's own command: placeholders are filled, the command is run
// twice in the same place, and what it left is hashed by name.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/system/sandbox.h"
#include "optimize/workshop/workshop.h"
#include "tune/space/command_template.h"

namespace perflab::optimize {

/// Most bytes of compiler_text: the end of what was printed.
inline constexpr std::size_t kMostCompilerText = std::size_t{16} << 10U;

/// Reads a command template; a word that names `source` (the user's file, however its path is
/// spelled) becomes {source}. `option`: "--build", for messages. Errors (usage): those of
/// tune::CommandTemplate.
Result<tune::CommandTemplate> parse_command(std::string_view option, std::string_view text,
                                            const std::filesystem::path& source,
                                            std::span<const std::string> placeholders);
/// Whether a template has this placeholder.
bool uses(const tune::CommandTemplate& command, std::string_view placeholder);

/// What includes and generators of the user's file need to be found from another place: its folder
/// in front of what is in $CPATH (GCC's manual, "Environment Variables"; clang follows it).
std::vector<std::pair<std::string, std::string>> include_environment(
    const std::filesystem::path& source);

/// A build of one candidate.
struct BuildRequest {
  std::vector<std::string> command;  ///< filled
  /// The candidate's own; made when missing, emptied before each of the two builds, but for `kept`.
  std::filesystem::path folder;
  std::filesystem::path kept;  ///< a file that may lie in it: the candidate's source
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to ours
  std::chrono::milliseconds time_limit{60'000};                  ///< of each build
  std::shared_ptr<const Sandbox> sandbox{};  ///< it may write to `folder` there; null: none
};

struct BuildResult {
  bool succeeded = false;  ///< and left at least one file
  bool reproducible = false;
  std::string hash;                                        ///< folder_hash() of the second build
  std::vector<std::pair<std::string, std::string>> files;  ///< folder_contents() of it
  std::vector<std::string> different;  ///< files that the two builds left otherwise, sorted
  std::string text;                    ///< both streams of the first build that failed, or of the
                                       ///< first one, at most kMostCompilerText
};

/// Builds twice into the same folder. A command that fails, hangs or leaves nothing is no error but
/// a build that failed; one that fails only the second time is one that does not repeat: it failed,
/// too. Errors: missing_tool (no such program), usage (the folder), interrupted, internal.
Result<BuildResult> build_twice(const BuildRequest& request);

/// The name of every file below a folder, relative to it, with the hash of its contents (of a link:
/// of what it says), sorted by name; `kept` is left out. Error (usage): it cannot be read.
Result<std::vector<std::pair<std::string, std::string>>> folder_contents(
    const std::filesystem::path& folder, const std::filesystem::path& kept = {});
/// The first file of a build that is not there any more, or is another one than when it was built;
/// empty: none. Files that were not there then do not count: programs may write some beside them.
std::string changed_file(const Built& built);
/// Content hash over such a list.
std::string folder_hash(const std::vector<std::pair<std::string, std::string>>& contents);

}  // namespace perflab::optimize
