// Patterns for kernel names.
#include "base/pattern.h"

#include <gtest/gtest.h>

namespace perflab {
namespace {

TEST(Pattern, IsFoundAnywhere) {
  const Pattern pattern = Pattern::compile("gemm_(nn|nt)").value();
  EXPECT_TRUE(pattern.found_in("void gemm_nt<float>(float*)"));
  EXPECT_FALSE(pattern.found_in("gemm_tt"));
  EXPECT_EQ(pattern.text(), "gemm_(nn|nt)");
}

TEST(Pattern, AnchorsAndBytesThatAreNoText) {
  const Pattern pattern = Pattern::compile("^k.$").value();
  EXPECT_TRUE(pattern.found_in("k\xff"));
  EXPECT_FALSE(pattern.found_in("xk1"));
}

TEST(Pattern, SaysWhatIsWrong) {
  const auto broken = Pattern::compile("gemm_(");
  ASSERT_FALSE(broken.has_value());
  EXPECT_EQ(broken.error().code, ErrorCode::usage);
  EXPECT_NE(broken.error().message.find("'gemm_('"), std::string::npos);
}

TEST(Pattern, IsLinearOnWhatBacktrackingEnginesDieOf) {
  const Pattern pattern = Pattern::compile("(a+)+$").value();
  EXPECT_FALSE(pattern.found_in(std::string(1 << 20, 'a') + "b"));
}

}  // namespace
}  // namespace perflab
