// Files are compared by what they are, not by their names: links and ".." lead to the same one.
#include "cli/kit/output_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/system/files.h"
#include "report/kit/document.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;

/// The one name of a file that need not be there yet.
fs::path place_of(const fs::path& name) {
  std::error_code error;
  const fs::path place = fs::weakly_canonical(fs::absolute(name, error).lexically_normal(), error);
  return place.has_filename() ? place : place.parent_path();  // "docs/"
}

/// Whether the file exists in the folder or below it.
bool stands_in(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error) || !fs::exists(file, error)) return false;
  const fs::path inner = place_of(file), outer = place_of(folder);
  const auto [left, right] = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
  return left == outer.end();
}

}  // namespace

Result<void> check_output_file(const OutputFile& file, const std::vector<fs::path>& inputs,
                               const fs::path& out) {
  const std::string& name = file.name;
  if (name.empty() || name == "-")
    return fail(ErrorCode::usage,
                fmt::format("{} '{}': {} is written into a file, and this names none", file.option,
                            name, file.what),
                fmt::format("{} {}", file.option, file.example));
  const std::string own_name = fmt::format("give {} a name of its own", file.what);
  const fs::path place = place_of(name);
  std::error_code error;
  for (const fs::path& input : inputs) {
    if (input.empty()) continue;
    for (const char* suffix : {"", "-wal", "-shm", "-journal"})  // SQLite's own, beside a database
      if (fs::equivalent(name, input.string() + suffix, error) ||
          place == place_of(input.string() + suffix))
        return fail(
            ErrorCode::usage,
            fmt::format("{} {}: this is an input, and it would be replaced", file.option, name),
            own_name);
    if (stands_in(name, input) && !name.ends_with(".html"))
      return fail(ErrorCode::usage,
                  fmt::format("{} {}: this file is in the input {}, and would be replaced",
                              file.option, name, input.string()),
                  own_name);
  }
  for (const std::string& document : report::schema_names())
    if (!out.empty() && place == place_of(out / (document + ".json")))
      return fail(ErrorCode::usage,
                  fmt::format("{} {}: --out puts {}.json there", file.option, name, document),
                  own_name);
  const fs::path folder = place.parent_path();
  if (!fs::is_directory(folder, error) && (out.empty() || folder != place_of(out)))
    return fail(ErrorCode::usage,
                fmt::format("{} {}: there is no folder {}", file.option, name, folder.string()),
                "make it first");
  Result<void> replaceable = check_replaceable(name);
  if (!replaceable)
    replaceable.error().message = fmt::format("{} {}", file.option, replaceable.error().message);
  return replaceable;
}

Result<void> check_distinct(const OutputFile& one, const OutputFile& other) {
  if (place_of(one.name) != place_of(other.name)) return {};
  return fail(ErrorCode::usage,
              fmt::format("{} and {} name the same file, {}", one.option, other.option, one.name),
              "give each a name of its own");
}

}  // namespace perflab::cli
