// Where thread traces are found, in which order, and what is said where there are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "att/att_checks.h"
#include "base/temp_folder.h"
#include "support/att_writer.h"

namespace perflab::att {
namespace {

namespace fs = std::filesystem;
using test::UiOutput;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class FindTraces : public testing::Test {
 protected:
  fs::path write(const fs::path& below, std::int64_t agent, std::int64_t dispatch) {
    return write_ui_output(folder_.path() / below, UiOutput{.agent = agent, .dispatch = dispatch});
  }
  static std::vector<std::string> names_in(const fs::path& place) {
    const auto found = find(place);
    std::vector<std::string> names;
    if (!found) return {describe(found.error())};
    for (const Found& one : *found) names.push_back(one.name);
    return names;
  }

  test::TempFolder folder_;
};

TEST_F(FindTraces, AFolderOfOneDispatch) {
  const fs::path folder = write("", 3, 4);
  for (const fs::path& place : {folder, folder / "", folder / "."}) {
    const auto found = find(place);
    ASSERT_TRUE(found) << describe(found.error());
    ASSERT_EQ(found->size(), 1U);
    EXPECT_EQ(found->front().name, "ui_output_agent_3_dispatch_4");
    EXPECT_TRUE(fs::equivalent(found->front().folder, folder));
    EXPECT_EQ(found->front().stats.filename(), "stats_ui_output_agent_3_dispatch_4.csv");
  }
  fs::rename(folder, folder_ / "renamed");
  const auto found = find(folder_ / "renamed");
  ASSERT_TRUE(found && found->size() == 1);
  EXPECT_TRUE(found->front().stats.empty());
  const auto trace = read(found->front());
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->dispatch_id, std::nullopt);
}

TEST_F(FindTraces, SeveralByTheirNumbers) {
  write("", 3, 10);
  write("b/c", 12, 1);
  write("", 3, 9);
  write("a", 3, 9);
  EXPECT_THAT(names_in(folder_.path()),
              ElementsAre("ui_output_agent_3_dispatch_9", "ui_output_agent_3_dispatch_9",
                          "ui_output_agent_3_dispatch_10", "ui_output_agent_12_dispatch_1"));
  // Of several places the same, each once, whatever their order.
  const auto one = find(folder_.path());
  const auto all = find_all({folder_ / "b", folder_ / "a", folder_.path()});
  ASSERT_TRUE(one && all);
  ASSERT_EQ(all->size(), one->size());
  for (std::size_t i = 0; i < one->size(); ++i) EXPECT_EQ((*all)[i].name, (*one)[i].name);
  EXPECT_FALSE(find_all({folder_.path(), folder_ / "absent"}));
}

TEST_F(FindTraces, ThreeLevelsDownAndNoFurther) {
  write("1/2", 1, 1);
  EXPECT_EQ(names_in(folder_.path()).size(), 1U);
  write("1/2/3", 1, 2);
  EXPECT_THAT(names_in(folder_.path()), ElementsAre("ui_output_agent_1_dispatch_1"));
  EXPECT_EQ(names_in(folder_ / "1").size(), 2U);
  fs::create_directory_symlink("..", folder_ / "1/loop");
  EXPECT_EQ(names_in(folder_ / "1").size(), 2U);
}

TEST_F(FindTraces, StatsFilesWithoutAFolder) {
  fs::remove_all(write("", 1, 1));
  write("", 1, 2);
  const auto found = find(folder_.path());
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2U);
  EXPECT_TRUE(found->at(0).folder.empty());
  EXPECT_EQ(found->at(0).name, "ui_output_agent_1_dispatch_1");
  EXPECT_FALSE(found->at(1).folder.empty());
  EXPECT_FALSE(found->at(1).stats.empty());
  EXPECT_THAT(names_in(found->at(0).stats), ElementsAre("ui_output_agent_1_dispatch_1"));
}

TEST_F(FindTraces, WhatIsSaidWhereThereAreNone) {
  EXPECT_THAT(error_of(folder_ / "none").message, EndsWith("none: does not exist"));
  EXPECT_THAT(error_of(folder_.path()).message, HasSubstr("holds no thread trace"));
  EXPECT_THAT(error_of(folder_.write("a.db", "")).message,
              HasSubstr("a.db: is neither a folder with thread traces nor a stats file"));
  EXPECT_THAT(error_of(folder_.write("a_pc_sampling_host_trap.csv", "")).remedy,
              HasSubstr("--pc-samples"));
  EXPECT_THAT(error_of("/dev/null").message, HasSubstr("is neither a folder nor a file"));
  fs::create_directory(folder_ / "host");
  static_cast<void>(folder_.write("host/7_3_shader_engine_0_1.att", "raw"));
  const Error raw = error_of(folder_.path());
  EXPECT_THAT(raw.message, HasSubstr("raw thread traces (.att) that were never decoded"));
  EXPECT_THAT(raw.remedy, HasSubstr("--att-library-path"));
}

}  // namespace
}  // namespace perflab::att
