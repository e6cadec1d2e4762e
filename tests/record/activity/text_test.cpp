// Names of calls and kernels, JSON texts.
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

TEST(RecordText, JsonTextIsAlwaysUtf8) {
  EXPECT_EQ(json_text("step \"1\" \\ é\n"), "\"step \\\"1\\\" \\\\ é\\u000a\"");
  EXPECT_EQ(json_text("\xff|\xc3|\xed\xa0\x80"),
            "\"\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(json_text("\xf0\x9f\x98\x80"), "\"\xf0\x9f\x98\x80\"");
}

}  // namespace
}  // namespace perflab::record
