// The program's side of NVTX: tables of function pointers that an injected library fills at the
// first call. Without one every call does nothing.
#include "cuda_sim/apps/ranges.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <map>
#include <string>

#include "cuda_sim/nvtx.h"

namespace perflab::cuda_sim::ranges {
namespace {

template <std::size_t N>
struct Module {
  std::array<nvtx::FunctionPointer, N> functions{};
  std::array<nvtx::FunctionPointer*, N + 1> table{};
  Module() {
    for (std::size_t i = 1; i < N; ++i) table[i] = &functions[i];
  }
};

Module<nvtx::core_size> core;
Module<nvtx::core2_size> core2;

int module_table(std::uint32_t module, nvtx::FunctionTable* table, unsigned* size) {
  if (module == nvtx::module_core) {
    *table = core.table.data();
    *size = nvtx::core_size;
    return 1;
  }
  if (module == nvtx::module_core2) {
    *table = core2.table.data();
    *size = nvtx::core2_size;
    return 1;
  }
  return 0;
}

const void* export_table(std::uint32_t id) {
  static constexpr nvtx::Callbacks kCallbacks{.bytes = sizeof(nvtx::Callbacks),
                                              .get_module_function_table = &module_table};
  return id == nvtx::table_callbacks ? &kCallbacks : nullptr;
}

// What nvtxInit does: the library named by the environment, opened once.
bool load() {
  const char* const path = std::getenv("NVTX_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return false;
  void* const library = dlopen(path, RTLD_LAZY);
  if (library == nullptr) return false;
  const auto initialize =
      reinterpret_cast<nvtx::Initialize>(dlsym(library, "InitializeInjectionNvtx2"));
  return initialize != nullptr && initialize(&export_table) != 0;
}

template <class Function, class Table>
Function* function_of(const Table& module, unsigned place) {
  static const bool kLoaded = load();
  return kLoaded ? reinterpret_cast<Function*>(module.functions[place]) : nullptr;
}

nvtx::Domain domain_of(const std::string& name) {
  static std::map<std::string, nvtx::Domain> domains;
  auto* const create = function_of<nvtx::DomainCreateA>(core2, nvtx::domain_create_a);
  if (create == nullptr) return nullptr;
  const auto [at, made] = domains.try_emplace(name, nullptr);
  if (made) at->second = create(at->first.c_str());
  return at->second;
}

}  // namespace

void mark(const char* text) {
  if (auto* const call = function_of<nvtx::MarkA>(core, nvtx::mark_a)) call(text);
}
void push(const char* text) {
  if (auto* const call = function_of<nvtx::RangePushA>(core, nvtx::range_push_a)) call(text);
}
void pop() {
  if (auto* const call = function_of<nvtx::RangePop>(core, nvtx::range_pop)) call();
}
std::uint64_t start(const char* text) {
  auto* const call = function_of<nvtx::RangeStartA>(core, nvtx::range_start_a);
  return call == nullptr ? 0 : call(text);
}
void end(std::uint64_t id) {
  if (auto* const call = function_of<nvtx::RangeEnd>(core, nvtx::range_end)) call(id);
}
void push_in(const char* domain, const char* text, std::uint64_t payload) {
  auto* const call = function_of<nvtx::DomainRangePushEx>(core2, nvtx::domain_range_push_ex);
  if (call == nullptr) return;
  const nvtx::EventAttributes event{.version = 3,
                                    .size = sizeof(nvtx::EventAttributes),
                                    .category = 7,
                                    .color_type = 1,
                                    .color = 0xff00ff00,
                                    .payload_type = 1,
                                    .reserved = 0,
                                    .payload = payload,
                                    .message_type = 1,
                                    .message = text};
  call(domain_of(domain), &event);
}
void pop_in(const char* domain) {
  if (auto* const call = function_of<nvtx::DomainRangePop>(core2, nvtx::domain_range_pop))
    call(domain_of(domain));
}

}  // namespace perflab::cuda_sim::ranges
