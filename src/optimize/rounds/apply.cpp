// The only place that writes the user's file.
#include "optimize/rounds/apply.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/system/files.h"
#include "optimize/rounds/diff.h"

namespace perflab::optimize {
namespace {

constexpr mode_t kPermissions = 07777;

std::unexpected<Error> source_was_changed(const Optimization& optimization) {
  const std::filesystem::path& source = optimization.source;
  return fail(
      ErrorCode::refused,
      fmt::format("{} was changed while it was optimised: it is left unchanged", source.string()),
      fmt::format("the accepted source is {}",
                  (optimization.folder / ("accepted" + source.extension().string())).string()));
}

/// Keeps the text beside the source, with its mode. A file of another text is never touched; one of
/// this text is taken, and later replaced by the user's own file.
Result<std::filesystem::path> keep_original(const std::filesystem::path& source,
                                            const std::string& text) {
  constexpr int kMostNames = 10'000;
  for (int i = 0; i < kMostNames; ++i) {
    std::filesystem::path kept = source;
    kept += i == 0 ? std::string(".orig") : fmt::format(".orig.{}", i);
    std::error_code error;
    const auto status = std::filesystem::symlink_status(kept, error);
    if (std::filesystem::exists(status)) {
      const Result<std::string> there = read_file(kept);
      if (there && *there == text) return kept;  // of a run that was killed before the rename
      continue;
    }
    PERFLAB_TRY_VOID(write_file_atomically(kept, text));
    struct stat old{};
    if (::stat(source.c_str(), &old) == 0) (void)::chmod(kept.c_str(), old.st_mode & kPermissions);
    return kept;
  }
  return fail(ErrorCode::usage,
              fmt::format("{}: every name for the original is taken", source.string()),
              "remove some of its .orig files");
}

/// The accepted source beside the user's file, on its way into its place.
class Replacement {
 public:
  Replacement(const std::filesystem::path& target, const Optimization& optimization,
              const ApplyTools& tools)
      : target_(target.string()), optimization_(optimization), tools_(tools) {}
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement() {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  /// Writes the new file: whole, on the disk, with the mode of the old one.
  Result<void> prepare() {
    struct stat old{};
    if (::stat(target_.c_str(), &old) != 0) return not_written(errno);
    std::string name = target_ + ".tmp-XXXXXX";
    const int fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd < 0) return not_written(errno);
    temporary_ = std::move(name);
    const int problem = fill(fd, old);
    ::close(fd);
    if (problem != 0) return not_written(problem);
    return {};
  }

  /// Puts it in its place. `kept`: where a copy of the original is.
  Result<void> replace(const std::filesystem::path& kept) {
    if (tools_.before_replacing) tools_.before_replacing();
    if (exchange() != 0) return replace_without_exchange(errno);
    if (holds(optimization_.original_text)) {
      // What somebody who has it open still writes to it, is kept, too. Two names of one file stay
      // as they are (rename(2)): the temporary one is removed at the end.
      (void)::rename(temporary_.c_str(), kept.c_str());
      return {};
    }
    if (exchange() != 0) return left_behind("it holds the accepted source");
    if (holds(optimization_.accepted_text)) return changed();
    // Saved twice: the later one belongs into its place, and nobody's text is thrown away.
    return left_behind(exchange() == 0 ? "it holds what was saved last"
                                       : "it holds what was saved first");
  }

 private:
  [[nodiscard]] int fill(int fd, const struct stat& old) const {
    std::string_view text = optimization_.accepted_text;
    while (!text.empty()) {
      const ssize_t written = ::write(fd, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return errno;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    // The owner first: giving a file away takes bits of its mode. Who may not, may still be of the
    // group.
    if (::fchown(fd, old.st_uid, old.st_gid) != 0) [[maybe_unused]]
      const int not_allowed = ::fchown(fd, static_cast<uid_t>(-1), old.st_gid);
    if (::fchmod(fd, old.st_mode & kPermissions) != 0 || ::fsync(fd) != 0) return errno;
    return 0;
  }

  [[nodiscard]] int exchange() const {
    if (tools_.exchange) return tools_.exchange(temporary_, target_);
    return ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE);
  }

  /// Whether that is what has the temporary name now.
  [[nodiscard]] bool holds(const std::string& text) const {
    const Result<std::string> there = read_file(temporary_);
    return there && *there == text;
  }

  Result<void> replace_without_exchange(int problem) {
    if (problem != EINVAL && problem != ENOSYS && problem != EOPNOTSUPP)
      return not_written(problem);
    const Result<std::string> now = read_file(target_);
    if (!now || *now != optimization_.original_text) return changed();
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) return not_written(errno);
    temporary_.clear();
    return {};
  }

  [[nodiscard]] std::unexpected<Error> changed() const { return source_was_changed(optimization_); }
  [[nodiscard]] std::unexpected<Error> not_written(int problem) const {
    return fail(ErrorCode::usage,
                fmt::format("{}: cannot be written: {}", target_, errno_text(problem)));
  }
  /// A text that is not ours has the temporary name: it stays.
  [[nodiscard]] std::unexpected<Error> left_behind(std::string_view now) {
    return fail(ErrorCode::refused,
                fmt::format("{} was saved while it was replaced: {}, and another text of it is {}",
                            target_, now, std::exchange(temporary_, std::string())),
                "compare the two, and keep what is wanted");
  }

  std::string target_;
  const Optimization& optimization_;
  const ApplyTools& tools_;
  std::string temporary_;  ///< removed at the end; empty: there is none
};

}  // namespace

std::string accepted_diff(const Optimization& optimization) {
  if (!optimization.accepted) return {};
  return unified_diff(optimization.original_text, optimization.accepted_text,
                      "a/" + optimization.source_name, "b/" + optimization.source_name);
}

Result<void> write_accepted(const Optimization& optimization) {
  const std::filesystem::path file =
      optimization.folder / ("accepted" + optimization.source.extension().string());
  const std::filesystem::path diff = optimization.folder / "accepted.diff";
  if (optimization.accepted) {
    PERFLAB_TRY_VOID(write_file_atomically(file, optimization.accepted_text));
    return write_file_atomically(diff, accepted_diff(optimization));
  }
  for (const std::filesystem::path& stale : {file, diff}) {
    std::error_code error;
    if (!std::filesystem::remove(stale, error) && error)
      return fail(ErrorCode::usage,
                  fmt::format("{}: an earlier run's, and it cannot be removed: {}", stale.string(),
                              errno_text(error.value())));
  }
  return {};
}

Result<std::filesystem::path> apply_accepted(const Optimization& optimization,
                                             const ApplyTools& tools) {
  PERFLAB_CHECK(optimization.accepted.has_value());
  const std::filesystem::path& source = optimization.source;
  PERFLAB_TRY(const std::string now, read_file(source));
  if (now != optimization.original_text) return source_was_changed(optimization);
  // A link stays, and what it leads to is replaced.
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(source, error);
  if (error)
    return fail(ErrorCode::usage, fmt::format("{}: cannot be written: {}", source.string(),
                                              errno_text(error.value())));
  PERFLAB_TRY(std::filesystem::path kept, keep_original(source, optimization.original_text));
  Replacement replacement(target, optimization, tools);
  PERFLAB_TRY_VOID(replacement.prepare());
  PERFLAB_TRY_VOID(replacement.replace(kept));
  return kept;
}

}  // namespace perflab::optimize
