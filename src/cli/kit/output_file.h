// Checks of the files that options other than --out name (--perfetto, --html): nothing that was
// given is ever replaced by what is written.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace perflab::cli {

/// An option that names a file to write.
struct OutputFile {
  std::string_view option;   ///< "--perfetto"
  std::string_view what;     ///< "the trace"
  std::string_view example;  ///< "trace.json"
  std::string name;          ///< as it was given
};

/// Refuses a name that is none or standard output, that is one of the inputs (or what SQLite keeps
/// beside one, or a file in an input folder that is no page), a document that goes into folder
/// `out` (may be empty), or something that is no file. Error (usage).
Result<void> check_output_file(const OutputFile& file,
                               const std::vector<std::filesystem::path>& inputs,
                               const std::filesystem::path& out);

/// Refuses two options that name the same file. Error (usage).
Result<void> check_distinct(const OutputFile& one, const OutputFile& other);

}  // namespace perflab::cli
