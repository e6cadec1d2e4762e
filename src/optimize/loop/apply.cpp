// The only place that writes the user's file.
#include "optimize/loop/apply.h"

#include <fmt/format.h>

#include <cerrno>

#include "base/files.h"
#include "base/hash.h"
#include "optimize/loop/diff.h"

namespace perflab::optimize {
namespace {

/// Writes the text to a new file: one that exists is never touched. Empty: the name is taken.
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
    return kept;
  }
  return fail(ErrorCode::usage,
              fmt::format("{}: every name for the original is taken", source.string()),
              "remove some of its .orig files");
}

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

Result<std::filesystem::path> apply_accepted(const Optimization& optimization) {
  PERFLAB_CHECK(optimization.accepted.has_value());
  const std::filesystem::path& source = optimization.source;
  PERFLAB_TRY(const std::string now, read_file(source));
  if (content_hash_text(now) != optimization.source_hash)
    return fail(
        ErrorCode::refused,
        fmt::format("{} was changed while it was optimised: it is left as it is", source.string()),
        fmt::format("the accepted source is {}",
                    (optimization.folder / ("accepted" + source.extension().string())).string()));
  PERFLAB_TRY(std::filesystem::path kept, keep_original(source, optimization.original_text));
  const std::filesystem::perms mode = std::filesystem::status(source).permissions();
  PERFLAB_TRY_VOID(write_file_atomically(source, optimization.accepted_text));
  std::error_code ignored;
  std::filesystem::permissions(source, mode, ignored);
  return kept;
}

}  // namespace perflab::optimize
