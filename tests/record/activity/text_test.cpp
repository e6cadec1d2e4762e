// Names of calls and kernels.
#include "record/activity/text.h"

#include <gtest/gtest.h>

namespace perflab::record {
namespace {

TEST(RecordText, CallNamesLoseTheVersionOfTheRuntimeOnly) {
  EXPECT_EQ(call_name("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(call_name("cudaMallocAsync_v11020"), "cudaMallocAsync");
  EXPECT_EQ(call_name("cudaLaunchKernel_ptsz_v7000"), "cudaLaunchKernel_ptsz");
  EXPECT_EQ(call_name("cuMemAlloc_v2"), "cuMemAlloc_v2");
  EXPECT_EQ(call_name("cuLaunchKernelEx"), "cuLaunchKernelEx");
  EXPECT_EQ(call_name("_v7000"), "_v7000");
  EXPECT_EQ(call_name("7000"), "7000");
  EXPECT_EQ(call_name(""), "");
}

TEST(RecordText, KernelsAreDemangledOrLeftAlone) {
  EXPECT_EQ(demangled("_Z4axpyPfPKffi"), "axpy(float*, float const*, float, int)");
  EXPECT_EQ(demangled("triton_mm_kernel"), "triton_mm_kernel");
  EXPECT_EQ(demangled("_Z"), "_Z");
  EXPECT_EQ(demangled(""), "");
}

}  // namespace
}  // namespace perflab::record
