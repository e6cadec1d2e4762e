// Geometry of a launch as expressions over a configuration.
#include "tune/space/launch_expressions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perflab::tune {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kNames = {"TX", "LAYOUT", "items"};

std::vector<Binding> values(std::int64_t tx, std::string layout = "row", std::int64_t items = 96) {
  return {{"TX", tx}, {"LAYOUT", std::move(layout)}, {"items", items}};
}

LaunchValues evaluated(const LaunchTexts& texts, const std::vector<Binding>& bindings) {
  const auto compiled = LaunchExpressions::compile(texts, kNames);
  EXPECT_TRUE(compiled) << compiled.error().message;
  const auto found = compiled->evaluate(bindings);
  EXPECT_TRUE(found) << found.error().message;
  return found.value_or(LaunchValues{});
}
std::string fault(const LaunchTexts& texts, const std::vector<Binding>& bindings = values(4)) {
  const auto compiled = LaunchExpressions::compile(texts, kNames);
  if (!compiled) return compiled.error().message;
  const auto found = compiled->evaluate(bindings);
  return found ? "" : found.error().message;
}

TEST(LaunchExpressions, OneToThreeAxesFromParametersAndDerivedValues) {
  EXPECT_EQ(evaluated({}, values(4)), LaunchValues{});
  EXPECT_EQ(evaluated({.workgroup = "TX, min(TX, 8) if LAYOUT == 'a,b' else 2",
                       .grid = "items",
                       .blocks = "",
                       .dynamic_lds = "TX * 0"},
                      values(16, "a,b")),
            (LaunchValues{
                .workgroup = {{16, 8, 1}}, .grid = {{96, 1, 1}}, .blocks = {}, .dynamic_lds = 0}));
  EXPECT_EQ(
      evaluated({.workgroup = "", .grid = "", .blocks = "96 / TX, max([3, 5]), 7", .dynamic_lds = ""},
                values(32)),
      (LaunchValues{.blocks = {{3, 5, 7}}}));
}

TEST(LaunchExpressions, FaultsNameTheOptionAndTheExpression) {
  EXPECT_THAT(fault({.workgroup = "TX, TY"}), HasSubstr("--workgroup: "));
  EXPECT_THAT(fault({.workgroup = "TX,"}), HasSubstr("--workgroup: "));
  EXPECT_THAT(fault({.grid = "1,1,1,1"}), HasSubstr("--grid 1,1,1,1: it takes one for each"));
  EXPECT_THAT(fault({.dynamic_lds = "1,1"}), HasSubstr("--dynamic-lds 1,1: it takes one,"));
  EXPECT_THAT(fault({.grid = "1", .blocks = "1"}), HasSubstr("--grid and --blocks say the same"));
  EXPECT_THAT(fault({.blocks = "items // 100"}), HasSubstr("--blocks: items // 100 is 0, which"));
  EXPECT_THAT(fault({.blocks = "items / 5"}), HasSubstr("no whole number from 1"));
  EXPECT_THAT(fault({.blocks = "LAYOUT"}), HasSubstr("is row, which is no whole number"));
  EXPECT_THAT(fault({.dynamic_lds = "-TX"}), HasSubstr("is -4, which is no whole number from 0"));
}

}  // namespace
}  // namespace perflab::tune
