// Files and folders: what is found, and what is said of other files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/temp_folder.h"
#include "pc_sampling/dom_reader.h"
#include "pc_sampling/pc_checks.h"
#include "pc_sampling/read_pc_samples.h"

namespace perflab::pc_sampling {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

void put(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

Result<PcSamples> read_places(const std::vector<fs::path>& places) {
  return read(places);
}

TEST(PcFiles, JsonRatherThanTheTableOfTheSameRun) {
  const test::TempFolder folder;
  write_pc_run(folder / "a/host", "1", faulty_run(1), {});
  write_pc_run(folder / "b", "2", faulty_run(2), {.json = true, .csv = false});
  const auto found = find(folder.path());
  ASSERT_TRUE(found);
  EXPECT_EQ(*found,
            (std::vector<fs::path>{folder / "a/host/1_results.json", folder / "b/2_results.json"}));
  const PcSamples samples = good(read_places({folder / "b", folder.path()}));
  ASSERT_EQ(samples.sources.size(), 2U);  // each once, by path
  EXPECT_EQ(samples.sources[0].file, (folder / "a/host/1_results.json").string());
  EXPECT_FALSE(samples.interval);
}

TEST(PcFiles, TablesWithWhatLiesBeside) {
  const test::TempFolder folder;
  const test::PcRun run = faulty_run(4);
  write_pc_run(folder.path(), "x", run, {.json = false, .csv = true});
  const PcSamples samples = good(read_places({folder.path()}));
  EXPECT_EQ(samples.form, Form::rocprofv3_csv);
  EXPECT_TRUE(samples.sources[0].has_dispatches);
  EXPECT_EQ(test::csv_lines_of(samples), test::csv_lines_of(good(try_json(json_of({run})))));
  EXPECT_TRUE(is_pc_sample_table(folder / "x_pc_sampling_stochastic.csv"));
  EXPECT_FALSE(is_pc_sample_table(folder / "x_kernel_trace.csv"));
  EXPECT_FALSE(is_pc_sample_table(folder / "none.csv"));
}

TEST(PcFiles, JsonAndTablesAreNotAddedUp) {
  const test::TempFolder folder;
  write_pc_run(folder.path(), "x", faulty_run(4), {});
  EXPECT_THAT(
      message_of(read_places({folder / "x_results.json", folder / "x_pc_sampling_stochastic.csv"})),
      HasSubstr("JSON and of CSV files cannot be taken together"));
}

TEST(PcFiles, OtherFiles) {
  const test::TempFolder folder;
  const fs::path file = folder / "f";
  const auto message = [&](std::string_view text) {
    put(file, text);
    return message_of(read_places({file}));
  };
  EXPECT_THAT(message(std::string_view("SQLite format 3\0....", 20)), HasSubstr("f: "));
  EXPECT_THAT(message("\x1f\x8b\x08..."), HasSubstr("is packed with gzip"));
  EXPECT_THAT(message(""), HasSubstr("is empty"));
  EXPECT_THAT(message(" \n "), HasSubstr("is empty"));
  EXPECT_THAT(message("\"Kind\",\"Agent_Id\"\n"), HasSubstr("is no table of PC samples"));
  EXPECT_THAT(message_of(read_places({folder / "none"})), HasSubstr("does not exist"));
  EXPECT_THAT(message_of(read_places({"/dev/null"})), HasSubstr("is not a file"));
}

TEST(PcFiles, FoldersWithoutSamples) {
  const test::TempFolder folder;
  put(folder / "empty/other.txt", "");
  put(folder / "databases/1/2_results.db", "");
  fs::create_directories(folder / "traces/ui_output_agent_1_dispatch_2");
  put(folder / "deep/1/2/3/x_results.json", "{}");
  EXPECT_EQ(message_of(read_places({folder / "empty"})),
            (folder / "empty").string() + ": holds no PC samples");
  EXPECT_THAT(message_of(read_places({folder / "databases"})),
              HasSubstr("its databases have none"));
  EXPECT_THAT(message_of(read_places({folder / "traces"})), HasSubstr("are for --att"));
  EXPECT_THAT(message_of(read_places({folder / "deep"})), HasSubstr("holds no PC samples"));
}

}  // namespace
}  // namespace perflab::pc_sampling
