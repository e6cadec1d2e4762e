// What is read does not depend on the number of threads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "att/att_checks.h"
#include "base/temp_folder.h"
#include "support/att_writer.h"
#include "support/prng.h"

namespace perflab::att {
namespace {

using test::UiOutput;
using test::UiStep;

UiOutput many_waves() {
  UiOutput output;
  output.code = {{.text = "; _Z1kv"}};
  for (int i = 0; i < 40; ++i)
    output.code.push_back({.text = i % 5 == 4 ? "s_waitcnt vmcnt(0)" : "global_load_dword v1, v2"});
  test::Prng random(5);
  for (int i = 0; i < 300; ++i) {
    std::vector<UiStep> steps;
    for (int s = 0; s < 30; ++s)
      steps.push_back({.line = 1 + random.below(40),
                       .stall = random.below(100),
                       .idle = random.below(9),
                       .causes = {1 + random.below(40)}});
    add_ui_wave(output, {.engine = i % 3, .simd = i % 4, .slot = i % 8, .id = i, .begin = 10 * i},
                steps);
  }
  // Rows that are dropped, in every seventh wave.
  for (std::size_t i = 0; i < output.waves.size(); i += 7)
    output.waves[i].instructions.at(i % 30).stall = -1;
  return output;
}

TEST(AttThreads, GiveTheSameTrace) {
  const test::TempFolder folder;
  UiOutput output = many_waves();
  for (const std::size_t i : {20U, 40U, 60U}) output.leave_out.insert(name_of(output.waves.at(i)));
  const auto place = write_ui_output(folder.path(), output);
  const WholeTrace one = read_whole(place, 1);
  EXPECT_EQ(one.trace.dropped.at("wave file is missing"), 3U);
  EXPECT_GT(one.trace.dropped.at("instruction of a wave cannot be"), 30U);
  const std::string text = dump(one);
  for (const unsigned threads : {2U, 4U, 0U})
    EXPECT_TRUE(dump(read_whole(place, threads)) == text) << threads;
}

TEST(AttThreads, GiveTheFirstError) {
  const test::TempFolder folder;
  UiOutput output = many_waves();
  for (const std::size_t i : {31U, 80U, 100U, 250U})
    output.replace[name_of(output.waves.at(i))] = "no JSON";
  const auto place = write_ui_output(folder.path(), output);
  const std::string expected = error_of(place).message;
  const auto found = find(place);
  ASSERT_TRUE(found);
  for (int round = 0; round < 5; ++round) {
    auto trace = read(found->front());
    ASSERT_TRUE(trace);
    const auto waves = read_waves(found->front(), *trace, [](std::size_t, const Wave&) {}, 4);
    ASSERT_FALSE(waves);
    EXPECT_EQ(waves.error().message, expected);
    EXPECT_EQ(trace->dropped, Dropped{});
  }
}

}  // namespace
}  // namespace perflab::att
