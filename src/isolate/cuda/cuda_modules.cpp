// A kernel's code is a section of its own, named after it: docs/facts/cuda_code.md "Cubins".
#include "isolate/cuda/cuda_modules.h"

#include <fmt/format.h>

#include <algorithm>

#include "code/elf/elf.h"

namespace perflab::isolate {
namespace {

constexpr std::string_view kCodePrefix = ".text.";

/// Ids of modules that the thread has loaded since forget_loads().
thread_local std::vector<std::uint32_t> loads_of_thread;

}  // namespace

void CudaModules::loaded(cuda::Context context, const cuda::ModuleData& data) {
  if (data.cubin == nullptr) return;
  const std::string_view bytes(data.cubin, data.cubin_size);
  const auto elf = code::Elf::read(bytes, "the image of a module");
  if (!elf) return;
  Image image{.context = context};
  for (const code::ElfSection& section : elf->sections()) {
    if (!section.name.starts_with(kCodePrefix)) continue;
    std::string name(section.name.substr(kCodePrefix.size()));
    if (kernels_.wants(name)) image.kernels.insert(std::move(name));
  }
  if (image.kernels.empty()) return;
  image.bytes = std::make_shared<const std::string>(bytes);
  loads_of_thread.push_back(data.module_id);
  const std::lock_guard lock(mutex_);
  images_.insert_or_assign(data.module_id, std::move(image));
}

void CudaModules::unloading(const cuda::ModuleData& data) {
  const std::lock_guard lock(mutex_);
  images_.erase(data.module_id);
}

void CudaModules::forget_loads() {
  loads_of_thread.clear();
}

void CudaModules::bind_loads(cuda::Module module) {
  const std::lock_guard lock(mutex_);
  for (const std::uint32_t id : loads_of_thread)
    if (const auto found = images_.find(id); found != images_.end()) found->second.module = module;
  loads_of_thread.clear();
}

Result<std::shared_ptr<const std::string>> CudaModules::image_of(cuda::Context context,
                                                                 cuda::Module module,
                                                                 const std::string& kernel) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const std::string>> possible;
  for (const auto& [id, image] : images_) {
    if (!image.kernels.contains(kernel)) continue;
    if (image.module == module) return image.bytes;
    if (image.module != nullptr || image.context != context) continue;
    if (std::ranges::none_of(possible, [&](const auto& one) { return *one == *image.bytes; }))
      possible.push_back(image.bytes);
  }
  if (possible.size() == 1) return possible.front();
  return fail(ErrorCode::refused,
              possible.empty()
                  ? "the image of the kernel's module was not seen when it was loaded"
                  : fmt::format("{} modules that differ have a kernel of this name, and the driver "
                                "does not say which one is launched",
                                possible.size()));
}

}  // namespace perflab::isolate
