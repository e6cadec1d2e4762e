// Tables of names, and filling a Driver or Cupti. Their members are pointers in the order of the
// entries, so that both are filled and looked through as arrays.
#include "cuda/api.h"

#include <dlfcn.h>

#include <array>
#include <cstring>

namespace perflab::cuda {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define PERFLAB_CUDA_NAME(name, exported, needed, ...) EntryName{#exported, needed},
constexpr std::array driver_names{PERFLAB_CUDA_DRIVER(PERFLAB_CUDA_NAME)};
constexpr std::array cupti_names{PERFLAB_CUDA_CUPTI(PERFLAB_CUDA_NAME)};
#undef PERFLAB_CUDA_NAME

static_assert(sizeof(Driver) == driver_names.size() * sizeof(void*));
static_assert(sizeof(Cupti) == cupti_names.size() * sizeof(void*));

template <class Table, std::size_t N>
Table table_of_library(void* library, const std::array<EntryName, N>& names) {
  std::array<void*, N> found{};
  for (std::size_t i = 0; i < N; ++i) found[i] = dlsym(library, names[i].name);
  Table table{};
  std::memcpy(&table, found.data(), sizeof(table));
  return table;
}

template <class Table, std::size_t N>
const char* first_missing(const Table& table, const std::array<EntryName, N>& names) {
  std::array<void*, N> found{};
  std::memcpy(found.data(), &table, sizeof(table));
  for (std::size_t i = 0; i < N; ++i)
    if (names[i].needed && found[i] == nullptr) return names[i].name;
  return nullptr;
}

}  // namespace

std::span<const EntryName> driver_entries() {
  return driver_names;
}
std::span<const EntryName> cupti_entries() {
  return cupti_names;
}

Driver driver_of_library(void* library) {
  return table_of_library<Driver>(library, driver_names);
}
Cupti cupti_of_library(void* library) {
  return table_of_library<Cupti>(library, cupti_names);
}

const char* missing_entry(const Driver& driver) {
  return first_missing(driver, driver_names);
}
const char* missing_entry(const Cupti& cupti) {
  return first_missing(cupti, cupti_names);
}

ApiGeneration api_generation(std::uint32_t cupti_version) {
  constexpr std::uint32_t cuda_12_8 = 26;
  constexpr std::uint32_t cuda_12_9_update_1 = 28;
  constexpr std::uint32_t cuda_13_0 = 130000;
  constexpr std::uint32_t cuda_14_0 = 140000;
  if (cupti_version >= cuda_12_8 && cupti_version <= cuda_12_9_update_1)
    return ApiGeneration::cuda_12;
  if (cupti_version >= cuda_13_0 && cupti_version < cuda_14_0) return ApiGeneration::cuda_13;
  return ApiGeneration::unknown;
}

const char* result_name(const Cupti& cupti, CuptiResult result) {
  const char* text = nullptr;
  if (cupti.get_result_string == nullptr ||
      cupti.get_result_string(result, &text) != CuptiResult::success || text == nullptr)
    return "unknown";
  return text;
}

}  // namespace perflab::cuda
