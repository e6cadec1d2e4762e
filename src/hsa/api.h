// Calling the HSA runtime without linking it: entry points from the tables that OnLoad is given, or
// from a library that was opened at run time. Nothing here allocates or throws: the tools library
// uses it inside the runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hsa/entries.h"
#include "hsa/types.h"

namespace perflab::hsa {

// A declaration per entry cannot be written otherwise.
// NOLINTBEGIN(bugprone-macro-parentheses,cppcoreguidelines-macro-usage)
#define PERFLAB_HSA_CORE_MEMBER(name, offset, ...) \
  using name##_t = __VA_ARGS__;                    \
  name##_t* name;
#define PERFLAB_HSA_AMD_MEMBER(name, offset, offset_1, ...) \
  using name##_t = __VA_ARGS__;                             \
  name##_t* name;
#define PERFLAB_HSA_CORE_NAME(name, offset, ...) name,
#define PERFLAB_HSA_AMD_NAME(name, offset, offset_1, ...) name,

/// The core entry points; null where the runtime has none.
// Aggregates of pointers: write Core{} for all null.
struct Core {
  PERFLAB_HSA_CORE(PERFLAB_HSA_CORE_MEMBER)
};

/// The AMD extension's; null where the runtime has none.
struct AmdExt {
  PERFLAB_HSA_AMD(PERFLAB_HSA_AMD_MEMBER)
};

enum class CoreEntry : std::uint8_t { PERFLAB_HSA_CORE(PERFLAB_HSA_CORE_NAME) };
enum class AmdEntry : std::uint8_t { PERFLAB_HSA_AMD(PERFLAB_HSA_AMD_NAME) };

#undef PERFLAB_HSA_CORE_MEMBER
#undef PERFLAB_HSA_AMD_MEMBER
#undef PERFLAB_HSA_CORE_NAME
#undef PERFLAB_HSA_AMD_NAME
// NOLINTEND(bugprone-macro-parentheses,cppcoreguidelines-macro-usage)

/// Entry points of one runtime.
struct Api {
  Core core;
  AmdExt amd;
};

/// Name and place of an entry. `offset_major_1` is 0 where the older table has none.
struct EntryPlace {
  const char* name;  ///< exported: "hsa_init", "hsa_amd_vmem_map"
  std::uint16_t offset;
  std::uint16_t offset_major_1;
};

/// All entries, in the order of CoreEntry and AmdEntry, which is that of the members of Core and
/// AmdExt.
std::span<const EntryPlace> core_entries();
std::span<const EntryPlace> amd_entries();

/// The place of an entry in a live table; null when the table is too small for it or of a major
/// version that is not known. What stands there may be read, and replaced to hook the call.
void** slot(const ApiTables& tables, CoreEntry entry);
void** slot(const ApiTables& tables, AmdEntry entry);

/// A copy of what stands in the tables now.
Api api_of(const ApiTables& tables);

/// The exported entry points of an opened library (dlopen's handle).
Api api_of_library(void* library);

}  // namespace perflab::hsa
