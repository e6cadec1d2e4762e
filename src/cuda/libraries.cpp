// The search, in the order that libraries.h says; facts: docs/facts/cuda_cupti.md "Libraries".
#include "cuda/libraries.h"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstdlib>

namespace perflab::cuda {
namespace {

constexpr std::array kCuptiSonames{"libcupti.so.13", "libcupti.so.12"};

// The file that a handle stands for; `asked` if the loader does not say.
std::string path_of(void* library, const std::string& asked) {
  const link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0 || map == nullptr ||
      map->l_name == nullptr || *map->l_name == '\0')
    return asked;
  return map->l_name;
}

// What is to be said of an opened library; its problem is `none` when it can be used.
CuptiLibrary examined(void* library, const std::string& asked) {
  CuptiLibrary found;
  found.path = path_of(library, asked);
  found.handle = library;
  found.api = cupti_of_library(library);
  if (found.api.get_version == nullptr ||
      found.api.get_version(&found.version) != CuptiResult::success) {
    found.problem = LibraryProblem::missing_entry;
    found.detail = found.path + " does not answer cuptiGetVersion";
    return found;
  }
  found.generation = api_generation(found.version);
  if (found.generation == ApiGeneration::unknown) {
    found.problem = LibraryProblem::unknown_version;
    found.detail = found.path + " has CUPTI API version " + std::to_string(found.version) +
                   "; known are 26 to 28 (CUDA 12.8, 12.9) and those of CUDA 13";
    return found;
  }
  if (const char* const missing = missing_entry(found.api)) {
    found.problem = LibraryProblem::missing_entry;
    found.detail = found.path + " has no " + missing;
    return found;
  }
  found.problem = LibraryProblem::none;
  return found;
}

// The first usable library, or what is wrong with the first that was there.
class Search {
 public:
  /// Whether the search is over.
  bool take(const std::string& name, int flags) {
    void* const library = dlopen(name.c_str(), flags);
    if (library == nullptr) return false;
    CuptiLibrary one = examined(library, name);
    if (one.problem == LibraryProblem::none || best_.problem == LibraryProblem::not_found)
      best_ = std::move(one);
    return best_.problem == LibraryProblem::none;
  }
  CuptiLibrary best() { return std::move(best_); }
  [[nodiscard]] bool nothing() const { return best_.problem == LibraryProblem::not_found; }

 private:
  CuptiLibrary best_;
};

}  // namespace

DriverLibrary open_driver() {
  constexpr const char* kSoname = "libcuda.so.1";
  DriverLibrary found;
  void* library = dlopen(kSoname, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) library = dlopen(kSoname, RTLD_NOW);
  if (library == nullptr) {
    found.detail = std::string("no ") + kSoname + ": no NVIDIA driver is installed";
    return found;
  }
  found.path = path_of(library, kSoname);
  found.handle = library;
  found.api = driver_of_library(library);
  if (const char* const missing = missing_entry(found.api)) {
    found.problem = LibraryProblem::missing_entry;
    found.detail = found.path + " has no " + missing;
    return found;
  }
  found.problem = LibraryProblem::none;
  return found;
}

std::vector<std::string> cupti_folders() {
  std::vector<std::string> roots{"/usr/local/cuda"};
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
    if (value != nullptr && *value == '/') roots.emplace_back(value);
  }
  std::vector<std::string> folders;
  for (const std::string& root : roots)
    for (const char* const below : {"/lib64", "/extras/CUPTI/lib64"})
      folders.push_back(root + below);
  return folders;
}

CuptiLibrary open_cupti() {
  Search search;
  for (const char* const soname : kCuptiSonames)
    if (search.take(soname, RTLD_NOW | RTLD_NOLOAD)) return search.best();
  // Another one beside it would not see the program's work.
  if (!search.nothing()) return search.best();
  const std::vector<std::string> folders = cupti_folders();
  for (const char* const soname : kCuptiSonames) {
    if (search.take(soname, RTLD_NOW)) return search.best();
    for (const std::string& folder : folders)
      if (search.take(folder + '/' + soname, RTLD_NOW)) return search.best();
  }
  CuptiLibrary found = search.best();
  if (found.problem == LibraryProblem::not_found) {
    found.detail = "no libcupti.so.13 or libcupti.so.12: looked where the loader does";
    for (const std::string& folder : folders) found.detail += ", in " + folder;
  }
  return found;
}

}  // namespace perflab::cuda
