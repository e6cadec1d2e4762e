// calibrate/kernel_code.h with the compilers of this machine: every row of the table that the
// architecture has is what it claims to be, instruction by instruction.
#include "calibrate/kernel_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "base/temp_folder.h"

namespace perflab::calibrate {
namespace {

using hal::KernelCheck;
using ::testing::IsEmpty;

/// Rows that an architecture does not have, and those whose code is something else.
struct Exceptions {
  std::set<std::string, std::less<>> not_here, refused;
};

Exceptions exceptions_of(const std::string& architecture) {
  static const std::map<std::string, Exceptions> kOf = {
      {"gfx90a", {{"matrix_tf32", "matrix_fp8", "matrix_f8f6f4"}, {}}},
      {"gfx942", {{"matrix_f8f6f4"}, {}}},
      {"gfx950", {{"matrix_tf32"}, {}}},
      {"gfx1100",
       {{"packed_fma_fp32", "matrix_fp32", "matrix_tf32", "matrix_fp64", "matrix_fp8",
         "matrix_f8f6f4"},
        {}}},
      {"gfx1201",
       {{"packed_fma_fp32", "matrix_fp32", "matrix_tf32", "matrix_fp64", "matrix_f8f6f4"}, {}}},
      {"sm_80",
       {{"fma_fp16", "packed_fma_fp32", "matrix_fp32", "matrix_fp8", "matrix_f8f6f4", "salu",
         "smem"},
        {}}},
      // Its FP8 instructions take fragments in shared memory: what this one becomes is FP16.
      {"sm_90",
       {{"fma_fp16", "packed_fma_fp32", "matrix_fp32", "matrix_f8f6f4", "salu", "smem"},
        {"matrix_fp8"}}},
      {"sm_120",
       {{"fma_fp16", "packed_fma_fp32", "matrix_fp32", "matrix_f8f6f4", "salu", "smem"}, {}}},
  };
  return kOf.at(architecture);
}

class KernelsTest : public ::testing::TestWithParam<std::string> {};

TEST_P(KernelsTest, AreWhatTheTableClaims) {
  const test::TempFolder folder;
  const Result<CompiledKernels> kernels = compile_kernels(GetParam(), folder.path() / "build");
  if (!kernels && kernels.error().code == ErrorCode::missing_tool)
    GTEST_SKIP() << "skipped: " << describe(kernels.error());
  ASSERT_TRUE(kernels) << describe(kernels.error());
  EXPECT_EQ(kernels->matrix_missing, "");
  const Exceptions exceptions = exceptions_of(GetParam());
  for (const CheckedWork& checked : check_work(*kernels, hal::platform_of(GetParam()))) {
    KernelCheck wanted = KernelCheck::agrees;
    if (exceptions.not_here.contains(checked.work->name)) wanted = KernelCheck::not_here;
    if (exceptions.refused.contains(checked.work->name)) wanted = KernelCheck::refused;
    EXPECT_EQ(to_string(checked.check), to_string(wanted))
        << checked.work->name << ": " << checked.reason << " [" << checked.shape.stream << "]";
    EXPECT_EQ(checked.check == KernelCheck::agrees, checked.reason.empty());
    if (checked.check != KernelCheck::agrees) continue;
    for (const KnownInstruction& one : checked.shape.body)
      EXPECT_TRUE(one.info.known) << checked.work->name << ": " << one.instruction.mnemonic;
  }
}

INSTANTIATE_TEST_SUITE_P(Archs, KernelsTest,
                         ::testing::Values("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201",
                                           "sm_80", "sm_90", "sm_120"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace perflab::calibrate
