// Calling the CUDA driver and CUPTI without linking them: entry points from libraries that were
// opened at run time (libraries.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cuda/entries.h"

namespace perflab::cuda {

// A declaration per entry cannot be written otherwise.
// NOLINTBEGIN(bugprone-macro-parentheses,cppcoreguidelines-macro-usage)
#define PERFLAB_CUDA_MEMBER(name, exported, needed, ...) \
  using name##_t = __VA_ARGS__;                          \
  name##_t* name;

/// The driver's entry points; null where the library has none.
// Aggregates of pointers: write Driver{} for all null.
struct Driver {
  PERFLAB_CUDA_DRIVER(PERFLAB_CUDA_MEMBER)
};

/// CUPTI's; null where the library has none.
struct Cupti {
  PERFLAB_CUDA_CUPTI(PERFLAB_CUDA_MEMBER)
};

#undef PERFLAB_CUDA_MEMBER
// NOLINTEND(bugprone-macro-parentheses,cppcoreguidelines-macro-usage)

/// An entry point's exported name ("cuInit"), and whether recording is impossible without it.
struct EntryName {
  const char* name;
  bool needed;
};

/// All entries, in the order of the members of Driver and Cupti.
std::span<const EntryName> driver_entries();
std::span<const EntryName> cupti_entries();

/// The entry points of an opened library (dlopen's handle).
Driver driver_of_library(void* library);
Cupti cupti_of_library(void* library);

/// Name of the first needed entry point that is null; null: none is.
const char* missing_entry(const Driver& driver);
const char* missing_entry(const Cupti& cupti);

/// Which layout a library's records have: records.h whole, or without what it marks "13.0".
enum class ApiGeneration : std::uint8_t { unknown, cuda_12, cuda_13 };

/// By what cuptiGetVersion answers: 26 to 28 (CUDA 12.8 and 12.9) and 130000 to 139999 are known.
/// Older ones have records without the ids of event waits, newer ones were not seen:
/// docs/facts/cuda_cupti.md "Versions".
ApiGeneration api_generation(std::uint32_t cupti_version);

/// CUPTI's own name of a result ("CUPTI_ERROR_NOT_INITIALIZED"); "unknown" if it has none. Lives as
/// long as the library.
const char* result_name(const Cupti& cupti, CuptiResult result);

}  // namespace perflab::cuda
