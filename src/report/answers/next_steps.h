// What to do next, as commands that can be pasted: with the program and the files of the recording
// where the documents name them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/excerpt/parts.h"

namespace perflab::report {

/// What the documents say of the run that they are about.
struct RecordedRun {
  /// The program with its arguments, quoted for a shell. Empty: none or several are named, or the
  /// recording was made up.
  std::string program = {};
  std::vector<std::string> files = {};  ///< recordings of times, without counter passes
  std::string reader = "analyze";       ///< the command that reads them
  bool synthetic = false;               ///< there is no program that could run again
};
RecordedRun recorded_run(std::span<const NamedDocument> documents);

/// A pattern that finds this name and none of the others, as short as a person would write it: the
/// function's name, or a part of a long name. Empty: there is none.
std::string kernel_pattern(const std::string& name, const std::vector<std::string>& all);

/// The measurement of this run that could change the verdict, an element of `bottlenecks.kernels`
/// that has a `next`. `counted`: the run had counters, and keeps them.
NextStep measuring_step(const DocumentPlace& verdict, const RecordedRun& run, bool counted);

}  // namespace perflab::report
