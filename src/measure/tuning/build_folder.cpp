#include "measure/tuning/build_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "base/system/files.h"

namespace perflab::measure {

namespace fs = std::filesystem;

Result<BuildFolder> BuildFolder::make(const fs::path& kept, const fs::path& parent) {
  BuildFolder folder;
  if (!kept.empty()) {
    PERFLAB_TRY_VOID(make_directories(kept));
    folder.path_ = fs::absolute(kept);
    return folder;
  }
  std::string pattern = (parent / "rocm-perf-builds-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr)
    return fail(ErrorCode::usage, fmt::format("{}: no folder for builds can be made there: {}",
                                              parent.string(), errno_text(errno)));
  folder.path_ = pattern;
  folder.remove_ = true;
  return folder;
}

BuildFolder::~BuildFolder() {
  std::error_code ignored;
  if (remove_) fs::remove_all(path_, ignored);
}

}  // namespace perflab::measure
