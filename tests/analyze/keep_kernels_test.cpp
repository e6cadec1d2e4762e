// --kernel: what is left, and what is said when nothing would be.
#include "analyze/keep_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>
#include <vector>

namespace perflab::analyze {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Analysis analysis_of(const std::vector<std::string>& names) {
  Analysis analysis;
  analysis.roofline.emplace();
  for (const std::string& name : names) {
    analysis.roofline->kernels.emplace_back().kernel = name;
    analysis.bottlenecks.kernels.emplace_back().kernel = name;
  }
  return analysis;
}

template <typename Kernels>
std::vector<std::string> names_of(const Kernels& kernels) {
  std::vector<std::string> names;
  for (const auto& kernel : kernels) names.push_back(kernel.kernel);
  return names;
}

TEST(KeepKernels, RooflineAndVerdictsKeepTheSame) {
  Analysis analysis = analysis_of({"gemm_16", "copy", "gemm_32", "my_gemm"});
  ASSERT_TRUE(keep_kernels("^gemm", analysis));
  EXPECT_THAT(names_of(analysis.roofline->kernels), ElementsAre("gemm_16", "gemm_32"));
  EXPECT_THAT(names_of(analysis.bottlenecks.kernels), ElementsAre("gemm_16", "gemm_32"));
}

TEST(KeepKernels, NoneLeftIsAnErrorThatNamesThem) {
  Analysis analysis = analysis_of({"gemm", "copy\x1b[2J", "gemm"});
  const auto done = keep_kernels("softmax", analysis);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::usage);
  EXPECT_THAT(done.error().message, HasSubstr("softmax"));
  EXPECT_EQ(done.error().remedy, "there are: gemm, copy?[2J");
  EXPECT_EQ(analysis.roofline->kernels.size(), 3U) << "nothing was lost";
}

TEST(KeepKernels, ManyAreCutShort) {
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) names.push_back(fmt::format("k{}", i));
  Analysis analysis = analysis_of(names);
  const auto done = keep_kernels("x", analysis);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().remedy, "there are: k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, and 2 more");
}

TEST(KeepKernels, ARegexThatIsNone) {
  Analysis analysis = analysis_of({"gemm"});
  const auto done = keep_kernels("(", analysis);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::usage);
}

}  // namespace
}  // namespace perflab::analyze
