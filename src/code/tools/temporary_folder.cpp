// mkdtemp(3) and a destructor.
#include "code/tools/temporary_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "base/system/files.h"

namespace perflab::code::detail {

namespace fs = std::filesystem;

Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code error;
  const fs::path where = fs::temp_directory_path(error);
  std::string pattern = ((error ? fs::path("/tmp") : where) / "rocm-perf-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr)
    return fail(ErrorCode::usage, fmt::format("{}: no temporary folder can be made here: {}",
                                              pattern, errno_text(errno)));
  return TemporaryFolder(pattern);
}

TemporaryFolder::TemporaryFolder(fs::path path) : path_(std::move(path)) {}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Result<void> write_temporary(const fs::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return fail(ErrorCode::usage, fmt::format("{}: cannot be written", path.string()));
  return {};
}

}  // namespace perflab::code::detail
