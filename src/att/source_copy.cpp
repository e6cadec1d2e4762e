// The copies of source files that rocprofv3 puts beside a trace (snapshots.json,
// docs/facts/thread_trace.md "Other files"). Code rows name them as the compiler did, snapshots as
// a tree of folders: "/a/b/../c" is "/a/c" in both.
#include <fmt/format.h>

#include "att/read_thread_trace.h"
#include "base/system/files.h"

namespace perflab::att {

namespace fs = std::filesystem;

Result<std::string> read_source(const Found& found, const ThreadTrace& trace,
                                const std::filesystem::path& path) {
  std::string copy;
  const fs::path normal = path.lexically_normal();
  if (const auto same = trace.sources.find(path.string()); same != trace.sources.end())
    copy = same->second;
  else
    for (const auto& [name, file] : trace.sources)
      if (fs::path(name).lexically_normal() == normal) {
        copy = file;
        break;
      }
  if (copy.empty() || found.folder.empty())
    return fail(ErrorCode::bad_input, "the trace has no copy of this file",
                "trace on a machine that has the sources where they were compiled");
  std::error_code error;
  const fs::path file = found.folder / copy;
  // A link could lead anywhere, and what is read ends up in documents.
  if (fs::is_regular_file(fs::symlink_status(file, error)))
    if (Result<std::string> text = read_file(file, kMostSourceBytes)) return text;
  return fail(ErrorCode::bad_input,
              fmt::format("the trace's copy of this file is missing, no plain file, or larger "
                          "than {} MiB",
                          kMostSourceBytes >> 20),
              "give the whole folder as rocprofv3 wrote it");
}

}  // namespace perflab::att
