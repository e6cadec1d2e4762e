// A search of folders for one file name.
#include "collect/decoder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/system/environment.h"

namespace perflab::collect {
namespace {

namespace fs = std::filesystem;

// The library opens <folder>/librocprof-trace-decoder.so, whatever versions lie beside it
// (thread_trace/dl.cpp).
constexpr const char* kName = "librocprof-trace-decoder.so";

// rocprofv3 walks through all that lies below a folder; a path like "/" must not cost us minutes.
constexpr std::size_t kMostEntries = 200'000;

void add_folders(std::string_view list, std::vector<fs::path>& folders) {
  while (!list.empty()) {
    const std::size_t end = list.find(':');
    const fs::path folder = list.substr(0, end);
    if (!folder.empty() && std::ranges::find(folders, folder) == folders.end())
      folders.push_back(folder);
    list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
  }
}

/// Where to look, and whether the user said so.
std::vector<fs::path> folders_to_search(const Rocprofv3& tool) {
  std::vector<fs::path> folders;
  add_folders(environment("ROCPROF_ATT_LIBRARY_PATH"), folders);
  if (!folders.empty()) return folders;
  add_folders(environment("LD_LIBRARY_PATH"), folders);
  std::error_code error;
  if (const fs::path real = fs::canonical(tool.path, error); !error)
    add_folders((real.parent_path().parent_path() / "lib").string(), folders);
  if (const std::string rocm = environment("ROCM_PATH"); !rocm.empty())
    add_folders((fs::path(rocm) / "lib").string(), folders);
  add_folders("/opt/rocm/lib", folders);
  return folders;
}

/// What a search came upon.
struct Search {
  std::optional<fs::path> folder;     // the first by name that holds the library
  std::optional<fs::path> versioned;  // a library that has a version behind its name
};

void look_at(const fs::path& file, Search& search) {
  const std::string name = file.filename().string();
  if (!name.starts_with(kName)) return;
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return;
  std::optional<fs::path>& place = name == kName ? search.folder : search.versioned;
  const fs::path found = name == kName ? file.parent_path() : file;
  if (!place || found < *place) place = found;
}

/// The folder itself is looked at first: it nearly always is the place.
void search_below(const fs::path& folder, Search& search) {
  look_at(folder / kName, search);
  std::error_code error;
  std::size_t entries = 0;
  for (fs::recursive_directory_iterator
           it(folder, fs::directory_options::skip_permission_denied, error),
       end;
       !search.folder && !error && it != end && entries < kMostEntries;
       it.increment(error), ++entries)
    look_at(it->path(), search);
}

}  // namespace

std::string how_to_get_decoder() {
  return "install the package rocprof-trace-decoder (newer ROCm has it in its lib folder); for "
         "ROCm "
         "7.0 to 7.2 it is a download of its own: "
         "https://github.com/ROCm/rocprof-trace-decoder/releases; name its folder in "
         "ROCPROF_ATT_LIBRARY_PATH";
}

Result<fs::path> find_decoder(const Rocprofv3& tool) {
  const std::vector<fs::path> folders = folders_to_search(tool);
  Search search;
  for (const fs::path& folder : folders) {
    search_below(folder, search);
    if (search.folder) {
      std::error_code error;
      fs::path absolute = fs::absolute(*search.folder, error).lexically_normal();
      return error ? *search.folder : absolute;
    }
  }
  std::vector<std::string> names;
  for (const fs::path& folder : folders) names.push_back(folder.string());
  Error missing{.code = ErrorCode::missing_tool,
                .message = fmt::format("{} is not in {}: without it a thread trace cannot be read",
                                       kName, fmt::join(names, ", ")),
                .notes = {},
                .remedy = how_to_get_decoder()};
  if (search.versioned) {
    missing.notes.push_back(
        fmt::format("there is {}, but rocprofv3 opens it by its name without a "
                    "version",
                    search.versioned->string()));
    missing.remedy = fmt::format("make a link: ln -s {} {}", search.versioned->filename().string(),
                                 (search.versioned->parent_path() / kName).string());
  }
  return std::unexpected(std::move(missing));
}

}  // namespace perflab::collect
