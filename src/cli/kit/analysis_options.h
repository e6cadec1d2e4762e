// Options that several subcommands have in common, and what they mean for an analysis.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyze/pipeline.h"
#include "base/error.h"
#include "cli/kit/output_file.h"

namespace CLI {
class App;
}

namespace perflab::cli {

/// --roofs, --roofs-device and --calibration.
struct RoofsArguments {
  std::string file;
  std::optional<int> device;
  std::string calibration;
};
void add_roofs_options(CLI::App& command, RoofsArguments& arguments);
void add_calibration_option(CLI::App& command, RoofsArguments& arguments);
/// Reads the file, when one was given; else the number is that of a GPU of the recording.
Result<void> apply(const RoofsArguments& arguments, analyze::AnalyzeOptions& options);

/// --from, --to, --kernel and --memory: what of a recording is read, and how much of it may be.
struct PartArguments {
  std::string from, to, kernel, memory;
};
/// `kernels`: whether the command has --kernel.
void add_part_options(CLI::App& command, PartArguments& arguments, bool kernels);
/// Without --memory the limit is what the machine has. Errors (usage): a time, a pattern or a size
/// that cannot be read, an end that is not behind the begin.
Result<void> apply(const PartArguments& arguments, analyze::AnalyzeOptions& options);

/// What decides how the critical path is found and shown.
struct PathArguments {
  std::vector<std::string> what_if;
  std::string handover;
  std::optional<std::string> segment, perfetto;
  bool full = false;
};
void add_path_options(CLI::App& command, PathArguments& arguments);
/// Errors (usage): a change, a time or a number that cannot be read.
Result<void> apply(const PathArguments& arguments, analyze::AnalyzeOptions& options);
/// The file of --perfetto. Precondition: it was given.
OutputFile perfetto_file(const PathArguments& arguments);
/// Refuses a Perfetto file that would replace one of the inputs, a document that goes into folder
/// `out` (may be empty), or something that is no file, before any work is done. Error (usage).
Result<void> check_perfetto_file(const PathArguments& arguments,
                                 const std::vector<std::filesystem::path>& inputs,
                                 const std::filesystem::path& out);
/// Says on stderr that --full left the nodes out, when it did.
void tell_nodes_left_out(const PathArguments& arguments, const analyze::AnalyzedTrace& analyzed);
/// Writes the Perfetto file, when one was asked for, and says so on stderr. Error (bad_input):
/// there is no critical path.
Result<void> write_perfetto_file(const PathArguments& arguments,
                                 const analyze::AnalyzedTrace& analyzed);

/// The error of a command that is about the critical path when there is none.
std::unexpected<Error> no_critical_path(const analyze::AnalyzedTrace& analyzed);

}  // namespace perflab::cli
