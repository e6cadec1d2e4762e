// The part of NVTX's ABI that the stand-ins speak: a program's NVTX asks the library named by
// NVTX_INJECTION64_PATH for InitializeInjectionNvtx2, which fills the program's tables of
// functions. Numbers: nvtx3/nvtxDetail/nvtxTypes.h of CUDA 13.0, compared in calls_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace perflab::cuda_sim::nvtx {

inline constexpr std::uint32_t table_callbacks = 1, table_version = 3;
inline constexpr std::uint32_t module_core = 1, module_core2 = 5;
/// Places in the table of module_core.
inline constexpr unsigned mark_a = 2, range_start_a = 5, range_end = 7, range_push_a = 9,
                          range_pop = 11, core_size = 16;
/// Places in the table of module_core2.
inline constexpr unsigned domain_mark_ex = 1, domain_range_push_ex = 4, domain_range_pop = 5,
                          domain_create_a = 12, core2_size = 16;

using FunctionPointer = void (*)();
/// Addresses of the program's function pointers; the first is null.
using FunctionTable = FunctionPointer**;

struct Callbacks {
  std::size_t bytes;
  int (*get_module_function_table)(std::uint32_t module, FunctionTable* table, unsigned* size);
};

using GetExportTable = const void* (*)(std::uint32_t id);
using Initialize = int (*)(GetExportTable tables);

/// nvtxEventAttributes_t.
struct EventAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;  ///< 1: ARGB
  std::uint32_t color;
  std::int32_t payload_type;  ///< 0 none, 1 uint64, 2 int64, 3 double
  std::int32_t reserved;
  std::uint64_t payload;
  std::int32_t message_type;  ///< 1: ASCII
  const char* message;
};

struct DomainTag;
using Domain = DomainTag*;

using MarkA = void(const char* message);
using RangeStartA = std::uint64_t(const char* message);
using RangeEnd = void(std::uint64_t id);
using RangePushA = int(const char* message);
using RangePop = int();
using DomainMarkEx = void(Domain domain, const EventAttributes* event);
using DomainRangePushEx = int(Domain domain, const EventAttributes* event);
using DomainRangePop = int(Domain domain);
using DomainCreateA = Domain(const char* name);

}  // namespace perflab::cuda_sim::nvtx
