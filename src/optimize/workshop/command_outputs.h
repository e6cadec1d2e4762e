// What a run of a command leaves - files that it writes, what it prints - and whether two runs left
// the same. Outputs are held in memory and removed from the disk, so that no later run can read
// what an earlier one computed.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/system/sandbox.h"
#include "base/text/json.h"
#include "base/text/pattern.h"
#include "optimize/reasons.h"
#include "optimize/workshop/command_prints.h"
#include "replay/elements/element_diff.h"

namespace perflab::optimize {

/// A file that a run writes.
struct OutputFile {
  std::string name;  ///< for people: as the user gave it, "{build_dir}/out.bin"
  std::filesystem::path path;
};

/// One run whose outputs count.
struct CommandRun {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<OutputFile> outputs;  ///< empty: stdout is what counts
  const Pattern* metric = nullptr;  ///< its lines of stdout do not count; none: all do
  std::chrono::milliseconds time_limit{60'000};
  Confinement confinement{};
};

struct RunOutputs {
  std::vector<std::string> files;  ///< contents, in the order of CommandRun::outputs
  std::string text;                ///< stdout without the lines that do not count
  friend bool operator==(const RunOutputs&, const RunOutputs&) = default;
};

/// How a run went: its outputs, or why there are none.
struct RunEnd {
  std::optional<Reason> reason;  ///< faulted, timed_out, or one of collect_outputs()
  std::string sentence;          ///< with a reason
  RunOutputs outputs;
  MetricLines metric;  ///< what the metric's pattern takes
};

/// Removes the outputs from the disk. Error (usage): one is something that is no file, or cannot be
/// removed.
Result<void> remove_outputs(const std::vector<OutputFile>& outputs);

/// Removes them when a scope ends, however it ends.
class OutputsRemoved {
 public:
  explicit OutputsRemoved(const std::vector<OutputFile>& outputs) : outputs_(outputs) {}
  OutputsRemoved(const OutputsRemoved&) = delete;
  OutputsRemoved& operator=(const OutputsRemoved&) = delete;
  ~OutputsRemoved() { [[maybe_unused]] const auto ignored = remove_outputs(outputs_); }

 private:
  const std::vector<OutputFile>& outputs_;
};

/// Reads the files that a run left, and takes what it printed. Reasons: not_rewritten (a file is
/// not there), wrong_output (it printed too much). Files that stand there before a run have to be
/// removed first.
RunEnd collect_outputs(const std::vector<OutputFile>& outputs, Printed printed);

/// Removes the outputs, runs the command to its end and reads what it left; the files stay until
/// remove_outputs(). Errors: those of remove_outputs(), interrupted, internal.
Result<RunEnd> run_command(const CommandRun& run);

/// How outputs are compared.
struct OutputRule {
  std::optional<replay::ElementType> type{};  ///< of files; missing: bytes
  replay::DiffOptions compare{};              ///< its type is not looked at
};

struct OutputComparison {
  bool equal = false;
  std::string sentence;  ///< what was compared, or the first difference
  Json evidence;         ///< bytes; of files also elements, different ones, distances
};

/// Compares two runs of the same outputs. Files: their sizes, then element by element; without
/// files: the text, byte by byte.
OutputComparison compare_outputs(const std::vector<OutputFile>& outputs, const RunOutputs& expected,
                                 const RunOutputs& found, const OutputRule& rule);

}  // namespace perflab::optimize
