// Drivers by their device nodes, programs by their ELF headers (elf(5), <elf.h>).
#include "collect/platform.h"

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "code/elf/bytes.h"
#include "code/elf/elf.h"

namespace perflab::collect {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAmdDevice = "/dev/kfd";
constexpr const char* kNvidiaDevice = "/dev/nvidiactl";
constexpr const char* kNvidiaLibrary = "libcuda.so.1";
constexpr std::array<std::string_view, 2> kAmdLibraries{"libamdhip64.so", "libhsa-runtime64.so"};
constexpr std::array<std::string_view, 2> kCudaLibraries{"libcudart.so", "libcuda.so"};
constexpr std::string_view kCudaSection = ".nv_fatbin";

bool exists(const char* path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool loads(const char* library) {
  void* const handle = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return false;
  ::dlclose(handle);
  return true;
}

/// The names of the libraries that an ELF file needs (DT_NEEDED).
std::vector<std::string_view> needed_libraries(const code::Elf& elf) {
  std::vector<std::string_view> names;
  for (const code::ElfSection& section : elf.sections()) {
    if (section.type != SHT_DYNAMIC || section.link >= elf.sections().size()) continue;
    const std::string_view strings = elf.sections()[section.link].bytes;
    for (std::uint64_t at = 0;; at += sizeof(Elf64_Dyn)) {
      const auto entry = code::value_at<Elf64_Dyn>(section.bytes, at);
      if (!entry || entry->d_tag == DT_NULL) break;
      if (entry->d_tag != DT_NEEDED || entry->d_un.d_val >= strings.size()) continue;
      const std::string_view name = strings.substr(entry->d_un.d_val);
      names.push_back(name.substr(0, name.find('\0')));
    }
  }
  return names;
}

TargetNeeds needs_of_elf(const code::Elf& elf) {
  const std::vector<std::string_view> names = needed_libraries(elf);
  const auto needs_any = [&](const auto& libraries) {
    return std::ranges::any_of(libraries, [&](std::string_view library) {
      return std::ranges::any_of(names,
                                 [&](std::string_view name) { return name.starts_with(library); });
    });
  };
  const bool amd = needs_any(kAmdLibraries);
  const bool cuda = needs_any(kCudaLibraries) ||
                    std::ranges::any_of(elf.sections(), [](const code::ElfSection& section) {
                      return section.name == kCudaSection;
                    });
  if (amd == cuda) return TargetNeeds::unknown;
  return amd ? TargetNeeds::amd : TargetNeeds::cuda;
}

}  // namespace

MachineDrivers find_drivers() {
  return {.amd = exists(kAmdDevice), .nvidia = exists(kNvidiaDevice) || loads(kNvidiaLibrary)};
}

TargetNeeds needs_of(const std::string& program) {
  const auto path = find_program(program);
  if (!path) return TargetNeeds::unknown;
  const auto bytes = read_file(*path);
  if (!bytes) return TargetNeeds::unknown;
  if (!code::is_elf(*bytes)) return TargetNeeds::script;
  const auto elf = code::Elf::read(*bytes, path->string());
  return elf ? needs_of_elf(*elf) : TargetNeeds::unknown;
}

std::string_view text_of(trace::Platform platform) {
  return platform == trace::Platform::amd ? "AMD" : "CUDA";
}

ChosenPlatform choose_platform(const MachineDrivers& drivers,
                               const std::function<TargetNeeds()>& needs,
                               std::optional<trace::Platform> forced) {
  using trace::Platform;
  if (forced) return {.platform = *forced, .why = "--platform says so"};
  if (!drivers.amd && !drivers.nvidia)
    return {.platform = Platform::amd, .why = "this machine has no driver of a GPU"};
  if (!drivers.nvidia) return {.platform = Platform::amd, .why = "the GPU driver here is AMD's"};
  if (!drivers.amd) return {.platform = Platform::cuda, .why = "the GPU driver here is NVIDIA's"};
  constexpr const char* kBoth = "this machine has drivers of AMD and NVIDIA";
  switch (needs()) {
    case TargetNeeds::amd:
      return {.platform = Platform::amd,
              .why = std::string(kBoth) + ", and the program needs HIP's libraries"};
    case TargetNeeds::cuda:
      return {.platform = Platform::cuda,
              .why = std::string(kBoth) + ", and the program needs CUDA's libraries"};
    case TargetNeeds::unknown:
      return {.platform = Platform::amd,
              .why = std::string(kBoth) +
                     ", and the program's file does not say which it uses: --platform cuda "
                     "records it on NVIDIA's"};
    case TargetNeeds::script:
      break;
  }
  return {.platform = Platform::amd,
          .why = std::string(kBoth) +
                 ", and the program is run by an interpreter: --platform cuda records it on "
                 "NVIDIA's"};
}

ChosenPlatform find_platform(const std::vector<std::string>& target,
                             std::optional<trace::Platform> forced) {
  const auto needs = [&] {
    return target.empty() ? TargetNeeds::unknown : needs_of(target.front());
  };
  return choose_platform(forced ? MachineDrivers{} : find_drivers(), needs, forced);
}

}  // namespace perflab::collect
