// Looking for libclang where ROCm and distributions put it (docs/facts/hip_toolchain.md "Where
// compilers are"), and filling the table of its entries. Its own headers:
// clang::GetResourcesPath().
#include "optimize/ast/clang_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/system/environment.h"
#include "base/system/subprocess.h"
#include "base/text/numbers.h"
#include "code/tools/compiler.h"

namespace perflab::optimize {
namespace {

namespace fs = std::filesystem;

constexpr int kOldestMajor = 17, kNewestMajor = 30;
constexpr std::string_view kInstallClang =
    "install libclang1-19 and libclang-common-19-dev (Debian, Ubuntu) or ROCm's LLVM, or let "
    "ROCM_PERF_LIBCLANG name a libclang.so of LLVM 17 or newer";

/// A library that may be there, by its path or its soname.
struct Place {
  std::string library, why;
};

/// "libclang.so", "libclang.so.20.0git", "libclang-19.so.1"; newest first when there are several.
/// The major version; 0: the name has none. Missing: another library ("libclang-cpp.so.19.1").
std::optional<int> libclang_name(std::string_view name) {
  if (name == "libclang.so") return 0;
  for (const std::string_view prefix : {"libclang-", "libclang.so."}) {
    if (!name.starts_with(prefix)) continue;
    std::string_view rest = name.substr(prefix.size());
    const auto major = take_number<int>(rest);
    if (major && (prefix.ends_with('.') || rest.starts_with(".so"))) return major;
  }
  return std::nullopt;
}

void add_folder(std::vector<Place>& places, const fs::path& folder, const std::string& why) {
  std::vector<std::pair<int, std::string>> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), last; !error && entry != last;
       entry.increment(error))
    if (const auto major = libclang_name(entry->path().filename().string()))
      found.emplace_back(*major == 0 ? INT_MAX : *major, entry->path().string());
  std::ranges::sort(found, std::greater<>());
  for (auto& [major, library] : found) places.push_back({std::move(library), why});
}

/// ROCm has its LLVM in llvm, in newer releases a link to lib/llvm (docs/facts/hip_toolchain.md
/// "Where compilers are").
void add_root(std::vector<Place>& places, const std::string& root, const std::string& why) {
  if (root.empty()) return;
  for (const char* const below : {"llvm/lib", "lib/llvm/lib"})
    add_folder(places, fs::path(root) / below, why);
}

void add_beside(std::vector<Place>& places, const fs::path& program) {
  std::error_code error;
  const fs::path real = fs::canonical(program, error);
  if (error || !real.has_parent_path()) return;
  const fs::path root = real.parent_path().parent_path();
  const std::string why = fmt::format("it is beside {}", program.string());
  add_folder(places, root / "lib", why);
  add_root(places, root.string(), why);
}

std::vector<Place> library_places(const std::vector<fs::path>& compilers) {
  if (std::string named = environment("ROCM_PERF_LIBCLANG"); !named.empty())
    return {{std::move(named), "ROCM_PERF_LIBCLANG names it"}};
  std::vector<Place> places;
  add_root(places, environment("ROCM_PATH"), "it is that of ROCM_PATH");
  for (const fs::path& compiler : compilers) add_beside(places, compiler);
  if (const auto hipcc = find_program("hipcc")) add_beside(places, *hipcc);
  add_root(places, "/opt/rocm", "it is that of /opt/rocm");
  const std::string newest = "it is the newest that is installed";
  for (int major = kNewestMajor; major >= kOldestMajor; --major) {
    add_folder(places, fmt::format("/usr/lib/llvm-{}/lib", major), newest);
    places.push_back({fmt::format("libclang-{}.so.1", major), newest});
    places.push_back({fmt::format("libclang-{}.so.{}", major, major), newest});
    places.push_back({fmt::format("libclang.so.{}", major), newest});
  }
  places.push_back({"libclang.so.1", newest});
  return places;
}

/// Where clang's own headers lie: lib/clang/MAJOR from the library that it is in, or of what it is
/// a link to (Debian: /usr/lib/llvm-MAJOR/lib, whose libraries are links).
std::string resource_folder_of(const std::string& library, int major) {
  std::error_code ignored;
  for (const fs::path& folder :
       {fs::path(library).parent_path(), fs::canonical(library, ignored).parent_path(),
        fs::path(fmt::format("/usr/lib/llvm-{}/lib", major))}) {
    fs::path resources = folder / "clang" / fmt::format("{}", major);
    if (fs::exists(resources / "include/stddef.h", ignored)) return resources.string();
  }
  return {};
}

/// The path of the library that an entry is in (dladdr(3)).
std::string path_of_entry(const void* entry) {
  Dl_info info{};
  return dladdr(entry, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

/// Fills the table. The name of the first entry that is not there; empty: all are.
std::string fill_entries(void* library, ClangApi& api) {
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define PERFLAB_CLANG_LOAD(name)                                                   \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, "clang_" #name)); \
  if (api.name == nullptr) return "clang_" #name;
  PERFLAB_CLANG_ENTRIES(PERFLAB_CLANG_LOAD)
#undef PERFLAB_CLANG_LOAD
  return {};
}

/// Opens one. Missing: what was wrong goes to `tried` unless there is no such file.
std::unique_ptr<ClangApi> open_one(const Place& place, bool named,
                                   std::vector<std::string>& tried) {
  // RTLD_DEEPBIND is left out: sanitizers do not allow it, and the library is versioned.
  void* const library = dlopen(place.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const text = dlerror();
    if (named || place.library.find('/') != std::string::npos)
      tried.emplace_back(text != nullptr ? text : place.library);
    return nullptr;
  }
  auto api = std::make_unique<ClangApi>();
  if (const std::string missing = fill_entries(library, *api); !missing.empty()) {
    tried.push_back(
        fmt::format("{}: it has no {}; LLVM 17 is the first that does", place.library, missing));
    dlclose(library);
    return nullptr;
  }
  const CXString version = api->getClangVersion();
  api->version = api->getCString(version);
  api->disposeString(version);
  api->path = place.library.find('/') != std::string::npos
                  ? place.library
                  : path_of_entry(reinterpret_cast<const void*>(api->createIndex));
  api->why = place.why;
  api->resource_folder = resource_folder_of(api->path, code::clang_major(api->version));
  return api;
}

}  // namespace

Result<const ClangApi*> clang_api(const std::vector<fs::path>& compilers) {
  static std::mutex mutex;
  // By what is asked and what the environment says: one process asks for one, tests for several.
  static std::map<std::string, std::unique_ptr<ClangApi>> opened;
  const std::string named = environment("ROCM_PERF_LIBCLANG");
  const std::lock_guard lock(mutex);
  std::string key = named;
  for (const char* const name : {"ROCM_PATH", "PATH"}) (key += '\n') += environment(name);
  for (const fs::path& compiler : compilers) (key += '\n') += compiler.string();
  if (const auto found = opened.find(key); found != opened.end()) return found->second.get();
  std::vector<std::string> tried;
  for (const Place& place : library_places(compilers))
    if (auto api = open_one(place, !named.empty(), tried))
      return opened.emplace(key, std::move(api)).first->second.get();
  std::unexpected<Error> error =
      fail(ErrorCode::missing_tool,
           named.empty() ? "there is no libclang of LLVM 17 or newer, which reads kernel sources"
                         : fmt::format("{}: $ROCM_PERF_LIBCLANG names it, but it is not a libclang "
                                       "of LLVM 17 or newer",
                                       named),
           std::string(kInstallClang));
  error.error().notes = std::move(tried);
  return error;
}

}  // namespace perflab::optimize
