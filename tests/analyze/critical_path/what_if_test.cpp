// analyze/critical_path/what_if.h, parse_what_if: every form, what it says about bad ones, and
// random texts.
#include "analyze/critical_path/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/prng.h"

namespace perflab::analyze {
namespace {

using Target = WhatIf::Target;
using ::testing::AllOf;
using ::testing::Field;
using ::testing::HasSubstr;

WhatIf parsed(std::string_view text) {
  const auto result = parse_what_if(text);
  EXPECT_TRUE(result) << text << ": " << (result ? "" : describe(result.error()));
  return result ? *result : WhatIf{};
}

void expect_change(std::string_view text, Target target, std::string_view pattern, double factor,
                   std::int64_t plus) {
  const WhatIf found = parsed(text);
  EXPECT_EQ(found.text, text);
  EXPECT_EQ(found.target, target) << text;
  EXPECT_EQ(found.pattern, pattern) << text;
  EXPECT_EQ(found.change.factor, factor) << text;
  EXPECT_EQ(found.change.plus, plus) << text;
  EXPECT_FALSE(found.drop) << text;
}

TEST(ParseWhatIf, EveryForm) {
  expect_change("gemm=2x", Target::kernels, "gemm", 0.5, 0);
  expect_change("gemm=0.5x", Target::kernels, "gemm", 2, 0);
  expect_change("gemm=.5x", Target::kernels, "gemm", 2, 0);
  expect_change("^gemm.*f(16|32)$=1.25x", Target::kernels, "^gemm.*f(16|32)$", 0.8, 0);
  expect_change("gemm=0", Target::kernels, "gemm", 0, 0);
  expect_change("gemm=+10us", Target::kernels, "gemm", 1, 10'000);
  expect_change("gemm=-3us", Target::kernels, "gemm", 1, -3'000);
  expect_change("gemm=+1.5ms", Target::kernels, "gemm", 1, 1'500'000);
  expect_change("gemm=-7ns", Target::kernels, "gemm", 1, -7);
  expect_change("gemm=+100s", Target::kernels, "gemm", 1, 100'000'000'000);
  expect_change("a=b=2x", Target::kernels, "a=b", 0.5, 0);
  expect_change("copy=4x", Target::copies, "", 0.25, 0);
  expect_change("copy=-1us", Target::copies, "", 1, -1000);
  expect_change("launch=0", Target::launches, "", 0, 0);
  expect_change("launch=2x", Target::launches, "", 0.5, 0);
  expect_change("kernel:copy=2x", Target::kernels, "copy", 0.5, 0);
  expect_change("kernel:sync=0", Target::kernels, "sync", 0, 0);
  expect_change("copyKernel=2x", Target::kernels, "copyKernel", 0.5, 0);
  const WhatIf sync = parsed("sync=drop");
  EXPECT_EQ(sync.target, Target::syncs);
  EXPECT_TRUE(sync.drop);
}

TEST(ParseWhatIf, SaysWhatIsWrong) {
  const auto message = [](std::string_view text) {
    const auto result = parse_what_if(text);
    if (result) return "accepted: " + std::string(text);
    EXPECT_EQ(result.error().code, ErrorCode::usage);
    EXPECT_THAT(result.error().remedy, AllOf(HasSubstr("'regex=2x'"), HasSubstr("sync=drop")));
    return result.error().message;
  };
  EXPECT_EQ(message("gemm"), "what-if 'gemm': there is no '='");
  EXPECT_EQ(message(""), "what-if '': there is no '='");
  EXPECT_EQ(message("=2x"), "what-if '=2x': nothing is named before the '='");
  EXPECT_EQ(message("kernel:=2x"), "what-if 'kernel:=2x': nothing is named before the '='");
  EXPECT_EQ(message("gemm="), "what-if 'gemm=': '' is not a change");
  EXPECT_EQ(message("gemm=2"), "what-if 'gemm=2': '2' is not a change");
  EXPECT_EQ(message("gemm=10us"), "what-if 'gemm=10us': '10us' is not a change");
  EXPECT_EQ(message("gemm=2X"), "what-if 'gemm=2X': '2X' is not a change");
  EXPECT_EQ(message("gemm=infx"), "what-if 'gemm=infx': 'infx' is not a change");
  EXPECT_EQ(message("gemm=1e3x"), "what-if 'gemm=1e3x': '1e3x' is not a change");
  EXPECT_EQ(message("gemm=0x"), "what-if 'gemm=0x': '0x' is not between 0.001x and 1000000000x");
  EXPECT_EQ(message("gemm=-2x"), "what-if 'gemm=-2x': '-2x' is not a time in ns, us, ms or s");
  EXPECT_EQ(message("gemm=+10"), "what-if 'gemm=+10': '+10' is not a time in ns, us, ms or s");
  EXPECT_EQ(message("gemm=+-1us"),
            "what-if 'gemm=+-1us': '+-1us' is not a time in ns, us, ms or s");
  EXPECT_EQ(message("gemm=+nanus"),
            "what-if 'gemm=+nanus': '+nanus' is not a time in ns, us, ms or s");
  EXPECT_EQ(message("gemm=+101s"), "what-if 'gemm=+101s': '+101s' is more than 100s per node");
  EXPECT_EQ(message("gemm=drop"), "what-if 'gemm=drop': only sync can be dropped");
  EXPECT_EQ(message("copy=drop"), "what-if 'copy=drop': only sync can be dropped");
  EXPECT_EQ(message("sync=2x"), "what-if 'sync=2x': sync can only be dropped");
  EXPECT_EQ(message("ge(mm=2x"),
            "what-if 'ge(mm=2x': 'ge(mm' is not a regular expression: missing ): ge(mm");
}

TEST(ParseWhatIf, RandomTextsAreReadOrRefused) {
  test::Prng prng(1);
  constexpr std::string_view kLikely = "=+-.0123456789xnusm()[]*|:copysynclaunchdropkernel";
  std::uint64_t read = 0, refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::int64_t length = prng.below(14); length > 0; --length)
      text += prng.below(8) == 0 ? static_cast<char>(prng.below(256))
                                 : kLikely[static_cast<std::size_t>(
                                       prng.below(static_cast<std::int64_t>(kLikely.size())))];
    if (prng.below(2) == 0) text += "=" + std::to_string(prng.below(50)) + "x";
    const auto result = parse_what_if(text);
    if (result) {
      ++read;
      EXPECT_EQ(result->text, text);
      EXPECT_GE(result->change.factor, 0);
      EXPECT_LE(result->change.factor, 1000);
      EXPECT_LE(std::abs(result->change.plus), 100'000'000'000);
    } else {
      ++refused;
      EXPECT_THAT(result.error(), AllOf(Field(&Error::code, ErrorCode::usage),
                                        Field(&Error::message, HasSubstr(text))));
    }
  }
  EXPECT_GT(read, 1000U);
  EXPECT_GT(refused, 1000U);
}

}  // namespace
}  // namespace perflab::analyze
