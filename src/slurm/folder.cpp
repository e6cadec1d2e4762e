// Ownership by flock(2): the lock goes with the process, however it ends. A file system that has no
// locks (some NFS mounts) only loses the clean-up after a killed process.
#include "slurm/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/system/files.h"
#include "base/text/text.h"

namespace perflab::slurm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOwner = "owner";
constexpr const char* kAllocations = "allocations";
constexpr mode_t kPrivateFile = 0600;
constexpr int kAttemptsToMake = 10;

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::vector<std::string> allocations_in(const fs::path& folder) {
  std::vector<std::string> allocations;
  const auto text = read_file(folder / kAllocations);
  if (!text) return allocations;
  for (std::string_view rest = *text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = trimmed(rest.substr(0, end));
    if (all_digits(line)) allocations.emplace_back(line);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return allocations;
}

/// Ends what a killed process left in `folder`, if it is one of ours and its process is gone.
void clean_up(const fs::path& folder, const Folder::Cancel& cancel) {
  const int lock = ::open((folder / kOwner).c_str(), O_RDWR | O_CLOEXEC);
  if (lock < 0) return;
  if (::flock(lock, LOCK_EX | LOCK_NB) == 0) {
    if (const auto left = allocations_in(folder); !left.empty()) cancel(left);
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  ::close(lock);
}

/// The descriptor of the folder's locked `owner` file. It gets that name when it is locked: another
/// process never finds it free.
int take_ownership(const fs::path& folder) {
  const fs::path temporary = folder / "owner.new";
  const int lock = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kPrivateFile);
  if (lock < 0) return -1;
  std::error_code error;
  if (::flock(lock, LOCK_EX | LOCK_NB) == 0) fs::rename(temporary, folder / kOwner, error);
  return lock;
}

}  // namespace

Result<Folder> Folder::create(const fs::path& working_directory, const Cancel& cancel) {
  const fs::path root = working_directory / ".slurm";
  std::vector<fs::path> earlier;
  std::error_code error;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error))
    if (it->is_directory(error)) earlier.push_back(it->path());
  for (const fs::path& folder : earlier) clean_up(folder, cancel);
  std::string pattern;
  for (int attempt = 0; attempt < kAttemptsToMake; ++attempt) {
    PERFLAB_TRY_VOID(make_directories(root));
    pattern = (root / "XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) return Folder(pattern, take_ownership(pattern));
    if (errno != ENOENT) break;  // else the last of other processes has just removed .slurm
  }
  return fail(ErrorCode::usage,
              fmt::format("{}: no folder can be made in it: {}", root.string(), errno_text(errno)));
}

Folder::Folder(Folder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {
  files_ = other.files_.load();
}

Folder::~Folder() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  fs::remove(path_.parent_path(), ignored);  // stays when others are in it
  if (lock_ >= 0) ::close(lock_);
}

fs::path Folder::next_file() {
  return path_ / fmt::format("{}.json", files_.fetch_add(1) + 1);
}

void Folder::note(std::string_view allocation) const {
  const fs::path file = path_ / kAllocations;
  const int out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kPrivateFile);
  if (out < 0) return;
  const std::string line = fmt::format("{}\n", allocation);
  // Without this line only the clean-up after a kill is lost.
  static_cast<void>(::write(out, line.data(), line.size()) < 0);
  ::close(out);
}

}  // namespace perflab::slurm
