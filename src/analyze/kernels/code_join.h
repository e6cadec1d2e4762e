// Which code object did a dispatch run? Joins the code objects that a trace names to files that
// hold them, so that registers come from the compiler's metadata and not from the profiler's
// decoding (docs/facts/code_object.md "Code of a dispatch", docs/facts/rocpd.md "Registers").
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "code/object/code_object.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// One code object of the trace, found in a file.
struct JoinedObject {
  std::filesystem::path file;
  std::string entry;  ///< bundle entry id; empty: none
  code::TargetId target;
  std::vector<code::KernelMetadata> kernels;
};

/// What was found, by Trace::code_objects; null where nothing fits.
struct CodeJoin {
  std::vector<std::shared_ptr<const JoinedObject>> objects;
  std::vector<std::string> warnings;  ///< files that fit in part, and why they were not taken

  /// The object of a kernel symbol; nullptr when it was not found.
  [[nodiscard]] const JoinedObject* object_of(const trace::KernelSymbol& symbol) const;
  /// The kernel of a symbol in its object; nullptr when it was not found.
  [[nodiscard]] const code::KernelMetadata* kernel_of(const trace::Trace& trace,
                                                      const trace::KernelSymbol& symbol) const;
};

/// Looks for the code objects: in the files given, then where the trace says (file:// URIs, ATT's
/// `*_code_object_id_N.out` and other binaries beside the database, the processes' executables).
/// An object fits when its size is the recorded one, its processor the agent's, and it has every
/// kernel the trace names, at the recorded address and with the recorded LDS, scratch and kernarg
/// sizes. What was not recorded is not compared, but size or addresses must have been: names alone
/// prove nothing. When two that differ in registers fit equally well, none is taken. A file given
/// that fits nothing is warned about. Error (bad_input): one of `files` cannot be used.
Result<CodeJoin> join_code(const trace::Trace& trace,
                           const std::vector<std::filesystem::path>& files);

}  // namespace perflab::analyze
