// What a file's device code says without running it: code objects and their kernels, from binaries
// or from a HIP source compiled for each architecture asked for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyze/inspect/static_kernel.h"
#include "base/error.h"
#include "base/text/pattern.h"
#include "code/files/container.h"

namespace perflab::analyze {

/// Whether kernels are disassembled for their instruction mix.
enum class MixChoice {
  automatic,  ///< when at most kMostKernelsForMix are selected and a disassembler is there
  always,     ///< an error when it cannot be done
  never,
};

/// Above this many kernels the instruction mix has to be asked for: it takes LLVM much longer than
/// everything else takes us.
inline constexpr std::size_t kMostKernelsForMix = 64;

struct InspectOptions {
  std::vector<std::string> archs;  ///< gfx names or target ids; empty: all that the file has
  std::optional<Pattern> kernels;  ///< found in the mangled or the demangled name
  StaticLaunch launch;
  /// The older build of a comparison: having no kernel of that name is an answer, and it may be a
  /// binary although compiler arguments are there.
  bool reference = false;
  MixChoice mix = MixChoice::automatic;
  std::vector<std::string> compiler_arguments;  ///< for a source
  unsigned threads = 0;                         ///< 0: all cores; the result does not depend on it
};

/// One code object that was looked at.
struct InspectedObject {
  bool readable = true;  ///< false: `problems` says why; nothing below `hash` is known
  code::TargetId target;
  int version = 0;
  int generic_version = 0;
  std::string entry;  ///< bundle entry id; empty: none
  std::optional<std::size_t> bundle;
  std::optional<std::uint64_t> file_offset;
  std::uint64_t bytes = 0;
  std::string hash;                  ///< content_hash_text() of its bytes
  std::size_t kernels = 0;           ///< all of them, selected or not
  std::vector<std::string> command;  ///< that compiled it; empty: it was in the file
  std::vector<std::string> problems;
};

/// How a bundle of the file is packed.
struct InspectedBundle {
  std::uint64_t offset = 0, size = 0;
  code::Compression compression = code::Compression::none;
  int compressed_version = 0;
};

struct Inspection {
  std::filesystem::path path;
  std::string kind;  ///< "code_object", "bundle", "host_elf", "source"
  std::uint64_t file_bytes = 0;
  std::string file_hash;
  std::optional<std::string> compiler;      ///< version of the compiler, for a source
  std::optional<std::string> disassembler;  ///< version of the disassembler, when one was used
  std::vector<InspectedBundle> bundles;
  std::vector<InspectedObject> objects;  ///< of the architectures asked for, in the file's order
  std::vector<StaticKernel> kernels;     ///< selected ones, by object, then in metadata order
  std::vector<std::string> warnings;
};

/// Looks at the device code of a file. Errors: bad_input (no device code, damaged, a source that
/// does not compile), usage (an architecture that the file does not have, a source without an
/// architecture, no kernel of that name), missing_tool (no compiler, no disassembler).
Result<Inspection> inspect_file(const std::filesystem::path& path, const InspectOptions& options);

}  // namespace perflab::analyze
