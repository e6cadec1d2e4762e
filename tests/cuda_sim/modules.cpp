// Modules and libraries of the stand-in libcuda.so.1: images are read, variables get addresses that
// differ in every process. Facts: docs/facts/cuda_cupti.md "Modules".
#include "cuda_sim/modules.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "cuda_sim/memory_map.h"

namespace perflab::cuda_sim {
namespace {

// The variables' block: at 256-byte steps, at a place that nobody knows beforehand.
constexpr std::uint64_t kVariableStep = 256;

void place_variables(ModuleState& module, std::uint32_t device) {
  for (const ImageVariable& one : module.image.variables)
    module.block_bytes += rounded_up(one.contents.size(), kVariableStep);
  if (module.block_bytes == 0) return;
  const std::uint64_t bytes = rounded_up(module.block_bytes, large_page);
  std::random_device random;
  do {
    const std::uint64_t place = 0x7d00'0000'0000 + std::uint64_t{random() % 0x40000U} * large_page;
    module.block = map_memory_at(place, bytes, PROT_READ | PROT_WRITE) ? place : 0;
  } while (module.block == 0);
  module.block_bytes = bytes;
  std::uint64_t at = module.block;
  for (const ImageVariable& one : module.image.variables) {
    // A library's own variable of that name is the one that its kernels use.
    void* const own = module.library == nullptr ? nullptr : dlsym(module.library, one.name.c_str());
    const std::uint64_t address = own != nullptr ? reinterpret_cast<std::uint64_t>(own) : at;
    if (own == nullptr)
      std::memcpy(reinterpret_cast<void*>(at), one.contents.data(), one.contents.size());
    module.variables[one.name] = {address, one.contents.size()};
    add_block({.base = address,
               .bytes = one.contents.size(),
               .kind = cuda::MemoryKind::device_static,
               .device = device});
    at += rounded_up(one.contents.size(), kVariableStep);
  }
}

// The file stays open: dlopen takes an equal name for an equal library.
void* open_library(const std::string& bytes) {
  if (bytes.empty()) return nullptr;
  const int file = memfd_create("cuda_sim_library", MFD_CLOEXEC);
  if (file < 0 || write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    return nullptr;
  return dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
}

ModuleState* load_module(std::string_view bytes, const ContextState& context) {
  static std::atomic<std::uint32_t> next_id = 1;
  auto* const module = new ModuleState;
  module->id = next_id++;
  module->image = read_image(bytes);
  module->library = open_library(module->image.library);
  {
    const std::lock_guard held(Machine::get().lock);
    Machine::get().keep(module);
    place_variables(*module, context.device);
  }
  for (const ImageKernel& one : module->image.kernels) {
    auto function = std::make_unique<FunctionState>();
    function->name = one.name;
    function->image = &one;
    function->module = module;
    function->loaded = true;
    function->kernel = {.name = function->name.c_str(),
                        .registers = static_cast<std::uint16_t>(one.registers),
                        .static_shared_memory = static_cast<std::int32_t>(one.shared_bytes),
                        .local_memory = one.local_bytes};
    module->functions.emplace(one.name, std::move(function));
  }
  if (Listener* const told = Machine::get().listener) {
    cuda::ModuleData data{.module_id = module->id,
                          .cubin_size = module->image.bytes.size(),
                          .cubin = module->image.bytes.data()};
    told->resource(cuda::resource_callback::module_loaded,
                   reinterpret_cast<cuda::Context>(const_cast<ContextState*>(&context)), context.id,
                   context.device, nullptr, 0, &data);
  }
  return module;
}

void unload_module(ModuleState* module, const ContextState& context) {
  if (Listener* const told = Machine::get().listener) {
    cuda::ModuleData data{.module_id = module->id,
                          .cubin_size = module->image.bytes.size(),
                          .cubin = module->image.bytes.data()};
    told->resource(cuda::resource_callback::module_unload_starting,
                   reinterpret_cast<cuda::Context>(const_cast<ContextState*>(&context)), context.id,
                   context.device, nullptr, 0, &data);
  }
  const std::lock_guard held(Machine::get().lock);
  for (const auto& [name, place] : module->variables) take_block(place.first);
  if (module->block != 0) unmap_memory(module->block, module->block_bytes);
  module->variables.clear();
  module->block = 0;
  // Functions stay: records point at their names.
}

// A function handle, not a kernel's.
FunctionState* plain_function(cuda::Function handle) {
  auto* const state = reinterpret_cast<FunctionState*>(handle);
  return state != nullptr && state->is_function ? state : nullptr;
}

// The library's module, loaded into the current context when it is not yet.
ModuleState* module_of(LibraryState& library) {
  if (library.module != nullptr) return library.module;
  const ContextState* const context = Machine::current();
  if (context == nullptr) return nullptr;
  library.module = load_module(library.bytes, *context);
  return library.module;
}

FunctionState* function_named(ModuleState& module, const std::string& name) {
  const auto at = module.functions.find(name);
  return at == module.functions.end() ? nullptr : at->second.get();
}

int attribute_of(const FunctionState& function, cuda::FunctionAttribute attribute) {
  using enum cuda::FunctionAttribute;
  const ImageKernel none{};
  const ImageKernel& image = function.image == nullptr ? none : *function.image;
  switch (attribute) {
    case max_threads_per_block:
      return static_cast<int>(image.max_threads);
    case shared_bytes:
      return function.kernel.static_shared_memory;
    case constant_bytes:
      return 0;
    case local_bytes:
      return static_cast<int>(function.kernel.local_memory);
    case registers:
      return function.kernel.registers;
    case binary_version:
      return 90;
    case max_dynamic_shared_bytes:
      return function.max_dynamic_shared;
    case preferred_shared_carveout:
      return function.carveout;
    case non_portable_cluster_size_allowed:
      return 0;
  }
  return -1;
}

DriverResult set_attribute(FunctionState& function, cuda::FunctionAttribute attribute, int value) {
  constexpr int kMostShared = 232'448;
  if (attribute == cuda::FunctionAttribute::max_dynamic_shared_bytes) {
    if (value < 0 || value + function.kernel.static_shared_memory > kMostShared)
      return DriverResult::invalid_value;
    function.max_dynamic_shared = value;
    return DriverResult::success;
  }
  if (attribute == cuda::FunctionAttribute::preferred_shared_carveout) {
    if (value < -1 || value > 100) return DriverResult::invalid_value;
    function.carveout = value;
    return DriverResult::success;
  }
  return attribute == cuda::FunctionAttribute::non_portable_cluster_size_allowed
             ? DriverResult::success
             : DriverResult::invalid_value;
}

}  // namespace

FunctionState* function_of(cuda::Function handle) {
  if (FunctionState* const function = plain_function(handle)) return function;
  auto* const kernel = reinterpret_cast<KernelState*>(handle);
  if (kernel == nullptr) return nullptr;
  ModuleState* const module = module_of(*kernel->library);
  return module == nullptr ? nullptr : function_named(*module, kernel->name);
}

extern "C" {

DriverResult cuModuleLoadData(cuda::Module* module, const void* image) {
  return called_with(driver_calls::cuModuleLoadData, cuda::LoadModuleParameters{module},
                     [&](Call&) {
                       const ContextState* const context = Machine::current();
                       if (context == nullptr) return DriverResult::invalid_context;
                       const std::size_t bytes = image == nullptr ? 0 : image_bytes(image);
                       if (bytes == 0) return DriverResult::invalid_image;
                       *module = reinterpret_cast<cuda::Module>(
                           load_module({static_cast<const char*>(image), bytes}, *context));
                       return DriverResult::success;
                     });
}

DriverResult cuModuleUnload(cuda::Module module) {
  return called(driver_calls::cuModuleUnload, [&](Call&) {
    const ContextState* const context = Machine::current();
    if (context == nullptr) return DriverResult::invalid_context;
    if (module == nullptr) return DriverResult::invalid_handle;
    unload_module(reinterpret_cast<ModuleState*>(module), *context);
    return DriverResult::success;
  });
}

DriverResult cuModuleGetFunction(cuda::Function* function, cuda::Module module, const char* name) {
  return called(driver_calls::cuModuleGetFunction, [&](Call&) {
    if (module == nullptr) return DriverResult::invalid_handle;
    FunctionState* const found = function_named(*reinterpret_cast<ModuleState*>(module), name);
    if (found == nullptr) return DriverResult::not_found;
    *function = reinterpret_cast<cuda::Function>(found);
    return DriverResult::success;
  });
}

DriverResult cuModuleGetGlobal_v2(cuda::DevicePointer* address, std::size_t* bytes,
                                  cuda::Module module, const char* name) {
  return called(driver_calls::cuModuleGetGlobal_v2, [&](Call&) {
    if (module == nullptr) return DriverResult::invalid_handle;
    const auto& variables = reinterpret_cast<ModuleState*>(module)->variables;
    const auto at = variables.find(name);
    if (at == variables.end()) return DriverResult::not_found;
    if (address != nullptr) *address = at->second.first;
    if (bytes != nullptr) *bytes = at->second.second;
    return DriverResult::success;
  });
}

DriverResult cuFuncGetAttribute(int* value, cuda::FunctionAttribute attribute,
                                cuda::Function function) {
  return called(driver_calls::cuFuncGetAttribute, [&](Call&) {
    const FunctionState* const state = plain_function(function);
    if (state == nullptr) return DriverResult::invalid_handle;
    *value = attribute_of(*state, attribute);
    return DriverResult::success;
  });
}

DriverResult cuFuncSetAttribute(cuda::Function function, cuda::FunctionAttribute attribute,
                                int value) {
  return called(driver_calls::cuFuncSetAttribute, [&](Call&) {
    FunctionState* const state = plain_function(function);
    return state == nullptr ? DriverResult::invalid_handle
                            : set_attribute(*state, attribute, value);
  });
}

DriverResult cuFuncGetName(const char** name, cuda::Function function) {
  return called(driver_calls::cuFuncGetName, [&](Call&) {
    const FunctionState* const state = plain_function(function);
    if (state == nullptr) return DriverResult::invalid_handle;
    *name = state->kernel.name;
    return DriverResult::success;
  });
}

DriverResult cuFuncGetModule(cuda::Module* module, cuda::Function function) {
  return called(driver_calls::cuFuncGetModule, [&](Call&) {
    const FunctionState* const state = plain_function(function);
    if (state == nullptr) return DriverResult::invalid_handle;
    *module = reinterpret_cast<cuda::Module>(state->module);
    return DriverResult::success;
  });
}

DriverResult cuFuncGetParamInfo(cuda::Function function, std::size_t index, std::size_t* offset,
                                std::size_t* bytes) {
  return called(driver_calls::cuFuncGetParamInfo, [&](Call&) {
    const FunctionState* const state = plain_function(function);
    if (state == nullptr) return DriverResult::invalid_handle;
    if (state->image == nullptr || index >= state->image->parameters.size())
      return DriverResult::invalid_value;
    *offset = state->image->parameters[index].first;
    if (bytes != nullptr) *bytes = state->image->parameters[index].second;
    return DriverResult::success;
  });
}

DriverResult cuLibraryLoadData(cuda::Library* library, const void* image, void* /*jit_options*/,
                               void** /*jit_values*/, std::uint32_t /*jit_count*/,
                               void* /*options*/, void** /*values*/, std::uint32_t /*count*/) {
  return called(driver_calls::cuLibraryLoadData, [&](Call&) {
    const std::size_t bytes = image == nullptr ? 0 : image_bytes(image);
    if (bytes == 0) return DriverResult::invalid_image;
    const std::lock_guard held(Machine::get().lock);
    auto* const made = Machine::get().keep(new LibraryState);
    made->bytes.assign(static_cast<const char*>(image), bytes);
    for (const ImageKernel& one : read_image(made->bytes).kernels)
      made->kernels.emplace(
          one.name, std::make_unique<KernelState>(KernelState{.library = made, .name = one.name}));
    *library = reinterpret_cast<cuda::Library>(made);
    return DriverResult::success;
  });
}

DriverResult cuLibraryGetKernel(cuda::Kernel* kernel, cuda::Library library, const char* name) {
  return called(driver_calls::cuLibraryGetKernel, [&](Call&) {
    auto& kernels = reinterpret_cast<LibraryState*>(library)->kernels;
    const auto at = kernels.find(name);
    if (at == kernels.end()) return DriverResult::not_found;
    *kernel = reinterpret_cast<cuda::Kernel>(at->second.get());
    return DriverResult::success;
  });
}

DriverResult cuLibraryGetModule(cuda::Module* module, cuda::Library library) {
  return called(driver_calls::cuLibraryGetModule, [&](Call&) {
    if (library == nullptr) return DriverResult::invalid_handle;
    ModuleState* const found = module_of(*reinterpret_cast<LibraryState*>(library));
    if (found == nullptr) return DriverResult::invalid_context;
    *module = reinterpret_cast<cuda::Module>(found);
    return DriverResult::success;
  });
}

DriverResult cuKernelGetFunction(cuda::Function* function, cuda::Kernel kernel) {
  return called(driver_calls::cuKernelGetFunction, [&](Call&) {
    auto* const state = reinterpret_cast<KernelState*>(kernel);
    if (state == nullptr || state->is_function) return DriverResult::invalid_handle;
    FunctionState* const found = function_of(reinterpret_cast<cuda::Function>(kernel));
    if (found == nullptr) return DriverResult::invalid_context;
    *function = reinterpret_cast<cuda::Function>(found);
    return DriverResult::success;
  });
}

DriverResult cuKernelGetLibrary(cuda::Library* library, cuda::Kernel kernel) {
  return called(driver_calls::cuKernelGetLibrary, [&](Call&) {
    auto* const state = reinterpret_cast<KernelState*>(kernel);
    if (state == nullptr || state->is_function) return DriverResult::invalid_handle;
    *library = reinterpret_cast<cuda::Library>(state->library);
    return DriverResult::success;
  });
}

DriverResult cuKernelGetName(const char** name, cuda::Function kernel) {
  return called(driver_calls::cuKernelGetName, [&](Call&) {
    if (kernel == nullptr) return DriverResult::invalid_handle;
    // The runtime asks with either.
    const FunctionState* const function = plain_function(kernel);
    *name = function != nullptr ? function->kernel.name
                                : reinterpret_cast<KernelState*>(kernel)->name.c_str();
    return DriverResult::success;
  });
}

}  // extern "C"

}  // namespace perflab::cuda_sim
