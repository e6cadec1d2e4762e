// Sources for NVIDIA's GPUs as libclang reads them with the headers of CUDA's toolkit, and the
// guards on them. Skipped where no toolkit is installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "optimize/ast/cuda_headers.h"
#include "optimize/guards/guards.h"
#include "optimize/model/source_model.h"

namespace perflab::optimize {
namespace {

constexpr std::string_view kCudaSource = R"(#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cstdio>
__device__ float remembered;
__constant__ float scale[4];
__device__ float helper(float x) { return x * scale[0]; }
__global__ void __launch_bounds__(256) sums(const float* __restrict__ in, float* out, int n) {
  __shared__ float tile[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += helper(in[i * n + k]);
  tile[threadIdx.x] = sum;
  __syncthreads();
  out[i] = tile[threadIdx.x ^ 1];
}
int main() {
  float* p = nullptr;
  cudaMalloc(&p, 4096);
  sums<<<4, 256, 0, nullptr>>>(p, p, 4);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
)";
constexpr std::string_view kCudaLoop =
    "  for (int k = 0; k < n; ++k) sum += helper(in[i * n + k]);\n";

class CudaSource : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_cuda_toolkit({})) GTEST_SKIP() << "skipped: CUDA's toolkit is not installed";
    options_.path = "/nowhere/sums.cu";
    options_.arch = "sm_90";
    auto parsed = parse_source(std::string(kCudaSource), options_);
    ASSERT_TRUE(parsed) << describe(parsed.error());
    model_ = *std::move(parsed);
  }

  /// "passed", or the first failure's guard and reason, with this in place of the loop.
  std::string outcome_of(const std::string& body) const {
    std::string text(kCudaSource);
    text.replace(text.find(kCudaLoop), kCudaLoop.size(), body + "\n");
    const auto results = check_source(model_, text, {.kernel = "sums", .workgroup_size = 256});
    if (!results) return describe(results.error());
    const GuardResult* const failed = first_failure(*results);
    if (failed == nullptr) return "passed";
    std::cout << body << ": " << failed->detail << "\n";
    return failed->name + " " + std::string(to_string(failed->reason.value()));
  }

  ParseOptions options_;
  SourceModel model_;
};

TEST_F(CudaSource, IsModelledLikeOneOfHip) {
  ASSERT_EQ(model_.kernels.size(), 1U);
  const SourceKernel& kernel = model_.kernels[0];
  EXPECT_EQ(kernel.name, "sums");
  ASSERT_EQ(kernel.parameters.size(), 3U);
  EXPECT_TRUE(kernel.parameters[0].pointer && kernel.parameters[0].read);
  EXPECT_FALSE(kernel.parameters[0].written);
  EXPECT_TRUE(kernel.parameters[1].written);
  EXPECT_FALSE(kernel.facts.calls.empty());
  EXPECT_THAT(kernel.facts.globals, testing::IsEmpty()) << "threadIdx is no state";
  EXPECT_EQ(kernel.loops.size(), 1U);
}

TEST_F(CudaSource, HonestProposalsPass) {
  for (const char* body :
       {"  for (int k = 0; k < n; k += 4) { float4 v = reinterpret_cast<const float4*>(in + i * "
        "n)[k / 4]; sum += helper(v.x) + helper(v.y) + helper(v.z) + helper(v.w); }",
        "#pragma unroll 4\n  for (int k = 0; k < n; ++k) sum += helper(__ldg(in + i * n + k));",
        "  for (int k = threadIdx.x & 31; k < n; k += 32) sum += helper(in[k]);\n"
        "  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);",
        "  for (int k = 0; k < n; ++k) sum = fmaf(in[i * n + k], helper(1), sum) + __expf(0.0f) * "
        "rsqrtf(1.0f) + __fdividef(0.0f, 2.0f) + max(0, k - n);",
        "  __half2 h = __floats2half2_rn(in[0], in[1]); sum += __low2float(__hadd2(h, h));",
        "  __syncwarp(); sum += in[i]; __threadfence(); atomicAdd(out + i, 0.0f);"})
    EXPECT_EQ(outcome_of(body), "passed") << body;
}

TEST_F(CudaSource, CheatsAreRefusedByTheirGuards) {
  const std::pair<const char*, const char*> cheats[]{
      {"  sum += clock64();", "clock reads_clock"},
      {"  long t; asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(t)); sum += t;",
       "assembly inline_assembly"},
      {"  sum += __nvvm_read_ptx_sreg_globaltimer();", "clock reads_clock"},
      {"  printf(\"%d\", n);", "host_code host_code"},
      {"  sum += *(float*)malloc(4);", "host_code host_code"},
      {"  remembered += 1; sum += remembered;", "state keeps_state"},
      {"  static float last; last += in[i]; sum += last;", "state keeps_state"},
      {"  __shared__ float left[256]; sum += left[threadIdx.x];", "state keeps_state"},
      {"  float left; sum += left;", "state keeps_state"},
      {"  sum += *(const float*)0x7f0000000000;", "pointers makes_pointers"},
      {"  sum += *(const float*)((unsigned long)in + 4);", "pointers makes_pointers"},
      {"  sum += *(const float*)__cvta_shared_to_generic(16);", "pointers makes_pointers"},
      {"  sums<<<1, 1>>>(in, out, 0);", "parses does_not_parse"},
      {"  __trap();", "assembly inline_assembly"},
      {"#define n 1\n  sum += n;", "directives directive_added"},
      {"  sum += ;", "parses does_not_parse"}};
  for (const auto& [body, expected] : cheats) EXPECT_EQ(outcome_of(body), expected) << body;
}

TEST_F(CudaSource, BoundsAndSurroundingsAreGuarded) {
  const auto changed = [&](std::string_view old, std::string_view by) {
    std::string text(kCudaSource);
    text.replace(text.find(old), old.size(), by);
    const auto results = check_source(model_, text, {.kernel = "sums", .workgroup_size = 256});
    EXPECT_TRUE(results);
    const GuardResult* const failed = results ? first_failure(*results) : nullptr;
    return failed == nullptr ? "passed" : std::string(to_string(failed->reason.value()));
  };
  EXPECT_EQ(changed("__launch_bounds__(256)", "__launch_bounds__(256, 2)"), "passed");
  EXPECT_EQ(changed("__launch_bounds__(256)", "__launch_bounds__(128)"), "launch_bounds");
  EXPECT_EQ(changed("<<<4, 256, 0", "<<<1, 256, 0"), "outside_changed");
  EXPECT_EQ(changed("int n)", "int n, int more)"), "signature_changed");
}

TEST(CudaHeaders, NewArchitecturesAreReadAsTheNewestThatClangKnows) {
  EXPECT_EQ(architecture_for_clang("sm_80", 19), "sm_80");
  EXPECT_EQ(architecture_for_clang("sm_90a", 19), "sm_90a");
  EXPECT_EQ(architecture_for_clang("sm_120", 19), "sm_90");
  EXPECT_EQ(architecture_for_clang("sm_120", 21), "sm_120");
}

}  // namespace
}  // namespace perflab::optimize
