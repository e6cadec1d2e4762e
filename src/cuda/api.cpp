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
constexpr std::array kDriverNames{PERFLAB_CUDA_DRIVER(PERFLAB_CUDA_NAME)};
constexpr std::array kCuptiNames{PERFLAB_CUDA_CUPTI(PERFLAB_CUDA_NAME)};
#undef PERFLAB_CUDA_NAME

static_assert(sizeof(Driver) == kDriverNames.size() * sizeof(void*));
static_assert(sizeof(Cupti) == kCuptiNames.size() * sizeof(void*));

template <class Table, std::size_t N>
Table table_of_library(void* library, const std::array<EntryName, N>& names) {
  std::array<void*, N> found{};
  for (std::size_t i = 0; i < N; ++i) found[i] = dlsym(library, names[i].name);
  Table table{};
  std::memcpy(&table, static_cast<const void*>(found.data()), sizeof(table));
  return table;
}

template <class Table, std::size_t N>
const char* first_missing(const Table& table, const std::array<EntryName, N>& names) {
  std::array<void*, N> found{};
  std::memcpy(static_cast<void*>(found.data()), &table, sizeof(table));
  for (std::size_t i = 0; i < N; ++i)
    if (names[i].needed && found[i] == nullptr) return names[i].name;
  return nullptr;
}

}  // namespace

std::span<const EntryName> driver_entries() {
  return kDriverNames;
}
std::span<const EntryName> cupti_entries() {
  return kCuptiNames;
}

Driver driver_of_library(void* library) {
  return table_of_library<Driver>(library, kDriverNames);
}
Cupti cupti_of_library(void* library) {
  return table_of_library<Cupti>(library, kCuptiNames);
}

const char* missing_entry(const Driver& driver) {
  return first_missing(driver, kDriverNames);
}
const char* missing_entry(const Cupti& cupti) {
  return first_missing(cupti, kCuptiNames);
}

ApiGeneration api_generation(std::uint32_t cupti_version) {
  constexpr std::uint32_t kCuda128 = 26;
  constexpr std::uint32_t kCuda129Update1 = 28;
  constexpr std::uint32_t kCuda130 = 130000;
  constexpr std::uint32_t kCuda140 = 140000;
  if (cupti_version >= kCuda128 && cupti_version <= kCuda129Update1) return ApiGeneration::cuda_12;
  if (cupti_version >= kCuda130 && cupti_version < kCuda140) return ApiGeneration::cuda_13;
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
