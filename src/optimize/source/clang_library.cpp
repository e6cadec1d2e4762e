// Looking for libclang where ROCm and distributions put it (facts/toolchain.md sections 1 and 8),
// and filling the table of its entries.
#include "optimize/source/clang_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/environment.h"

namespace perflab::optimize {
namespace {

constexpr int kOldestMajor = 17, kNewestMajor = 30;
constexpr std::string_view kInstallClang =
    "install libclang1-19 and libclang-common-19-dev (Debian, Ubuntu) or ROCm's LLVM, or let "
    "ROCM_PERF_LIBCLANG name a libclang.so of LLVM 17 or newer";

std::vector<std::string> library_candidates() {
  if (std::string named = environment("ROCM_PERF_LIBCLANG"); !named.empty()) return {named};
  std::vector<std::string> names;
  for (const std::string& root : {environment("ROCM_PATH"), std::string("/opt/rocm")}) {
    if (root.empty()) continue;
    names.push_back(root + "/llvm/lib/libclang.so");
    names.push_back(root + "/lib/llvm/lib/libclang.so");
  }
  for (int major = kNewestMajor; major >= kOldestMajor; --major) {
    names.push_back(fmt::format("libclang-{}.so.1", major));
    names.push_back(fmt::format("libclang-{}.so.{}", major, major));
    names.push_back(fmt::format("libclang.so.{}", major));
  }
  names.emplace_back("libclang.so.1");
  return names;
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
std::unique_ptr<ClangApi> open_one(const std::string& name, bool named,
                                   std::vector<std::string>& tried) {
  // RTLD_DEEPBIND is left out: sanitizers do not allow it, and the library is versioned.
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const text = dlerror();
    if (named) tried.emplace_back(text != nullptr ? text : name);
    return nullptr;
  }
  auto api = std::make_unique<ClangApi>();
  if (const std::string missing = fill_entries(library, *api); !missing.empty()) {
    tried.push_back(fmt::format("{}: it has no {}; LLVM 17 is the first that does", name, missing));
    dlclose(library);
    return nullptr;
  }
  const CXString version = api->getClangVersion();
  api->version = api->getCString(version);
  api->disposeString(version);
  return api;
}

}  // namespace

Result<const ClangApi*> clang_api() {
  static std::mutex mutex;
  // By what the environment says: one process asks for one, tests for several.
  static std::map<std::string, std::unique_ptr<ClangApi>> opened;
  const std::string named = environment("ROCM_PERF_LIBCLANG");
  const std::lock_guard lock(mutex);
  const std::string key = named + '\n' + environment("ROCM_PATH");
  if (const auto found = opened.find(key); found != opened.end()) return found->second.get();
  std::vector<std::string> tried;
  for (const std::string& name : library_candidates())
    if (auto api = open_one(name, !named.empty(), tried))
      return opened.emplace(key, std::move(api)).first->second.get();
  std::unexpected<Error> error =
      fail(ErrorCode::missing_tool,
           named.empty() ? "there is no libclang of LLVM 17 or newer, which reads kernel sources"
                         : fmt::format("{}: $ROCM_PERF_LIBCLANG names it, but it is no libclang "
                                       "of LLVM 17 or newer",
                                       named),
           std::string(kInstallClang));
  error.error().notes = std::move(tried);
  return error;
}

}  // namespace perflab::optimize
