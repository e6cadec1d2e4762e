// Names of kernels in little room.
#include "report/kit/kernel_name.h"

#include <gtest/gtest.h>

#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

TEST(KernelName, LosesWhatSaysTheLeastFirst) {
  const std::string name =
      "void ns::attention<float, 128>(float*, int const*, (anonymous namespace)::Mask)";
  EXPECT_EQ(short_kernel_name(name, 100), name);
  EXPECT_EQ(short_kernel_name(name, 40), "void ns::attention<float, 128>");
  EXPECT_EQ(short_kernel_name(name, 28), "ns::attention<float, 128>");
  EXPECT_EQ(short_kernel_name(name, 20), "ns::attention<…>");
  EXPECT_EQ(short_kernel_name(name, 14), "attention<…>");
  EXPECT_EQ(short_kernel_name(name, 3), "attention<…>");  // whoever has less room cuts it
}

TEST(KernelName, OfOtherFormsStaysWhole) {
  EXPECT_EQ(short_kernel_name("Cijk_Ailk_Bljk_SB_MT64x64x16", 8), "Cijk_Ailk_Bljk_SB_MT64x64x16");
  EXPECT_EQ(short_kernel_name("_Z4gemmPfi", 4), "_Z4gemmPfi");
  EXPECT_EQ(short_kernel_name("", 0), "");
  EXPECT_EQ(short_kernel_name("((((", 2), "((((");
}

TEST(KernelName, HasTheInstanceAndTheFunctionAlone) {
  EXPECT_EQ(kernel_instance("void ns::attention<float, 128>(float*)"), "ns::attention<float, 128>");
  EXPECT_EQ(kernel_instance("gemm"), "gemm");
  EXPECT_EQ(kernel_function("void ns::attention<float, a<b>::c>(float*)"), "attention");
  EXPECT_EQ(kernel_function("(anonymous namespace)::scale(float*)"), "scale");
  EXPECT_EQ(kernel_function("void (anonymous namespace)::scale<(int)4>(float*)"), "scale");
  EXPECT_EQ(kernel_function("gemm"), "gemm");
  EXPECT_EQ(kernel_function("void a::operator<<(int)"), "");
  EXPECT_EQ(kernel_function("[]"), "");
}

// Two variants must not look the same.
TEST(KernelName, IsNotShortenedToTheSameInATable) {
  using enum TextTable::Align;
  TextTable table(
      {{"n"}, {.title = "kernel", .align = left, .flexible = true, .shorter = short_kernel_name}});
  table.add({"1", "void very::long_name::axpb<float, 4>(float*, float, float, int)"});
  table.add({"2", "void very::long_name::axpb<int, 1>(int*, int, int, int)"});
  const std::string text = table.text(30);
  EXPECT_NE(text.find("float, 4"), std::string::npos) << text;
  EXPECT_NE(text.find("int, 1"), std::string::npos) << text;
  EXPECT_EQ(table.text(100).find("…"), std::string::npos);
}

}  // namespace
}  // namespace perflab::report
