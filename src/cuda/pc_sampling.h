// CUPTI's PC sampling without linking it.
#pragma once

#include "cuda/libraries.h"
#include "cuda/pc_sampling_types.h"

namespace perflab::cuda {

// A declaration per entry cannot be written otherwise.
// NOLINTBEGIN(bugprone-macro-parentheses,cppcoreguidelines-macro-usage)
#define PERFLAB_CUDA_PC_SAMPLING_MEMBER(name, exported, needed, ...) \
  using name##_t = __VA_ARGS__;                                      \
  name##_t* name;

/// The entry points; null where the library has none.
struct PcSampling {
  PERFLAB_CUDA_PC_SAMPLING(PERFLAB_CUDA_PC_SAMPLING_MEMBER)
};

#undef PERFLAB_CUDA_PC_SAMPLING_MEMBER
// NOLINTEND(bugprone-macro-parentheses,cppcoreguidelines-macro-usage)

/// Those of the library that open_cupti() found; all null where that has a problem.
PcSampling pc_sampling_of(const CuptiLibrary& library);
/// Name of the first entry that is null; null: none is.
const char* missing_entry(const PcSampling& sampling);

}  // namespace perflab::cuda
