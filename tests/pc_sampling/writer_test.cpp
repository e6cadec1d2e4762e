// The writer of synthetic samples: what it is told to do, it does; and the program over it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/system/subprocess.h"
#include "base/temp_folder.h"
#include "pc_sampling/pc_checks.h"
#include "pc_sampling/read_pc_samples.h"

namespace perflab::pc_sampling {
namespace {

test::PcRun copy_run() {
  test::PcRun run;
  run.kernels = {test::pc_copy_kernel()};
  run.kernels[0].dispatches = 10;
  return run;
}

TEST(PcWriter, SameSeedSameBytes) {
  test::PcRun run = faulty_run(7);
  const std::string first = json_of({run});
  EXPECT_EQ(json_of({run}), first);
  run.seed = 8;
  EXPECT_NE(json_of({run}), first);
}

// Samples come by tick, XCC and CU: those of the eight CUs of an XCC stand together.
TEST(PcWriter, WholeTicksAreEqualWhereTheyAreToldToBe) {
  for (const bool equal : {false, true}) {
    test::PcRun run = copy_run();
    run.equal_ticks = equal;
    const auto made = make_pc_samples(run);
    std::size_t mixed = 0;
    for (std::size_t first = 0; first < made.size(); first += 8) {
      std::set<std::pair<std::size_t, int>> found;  // instruction, wave slot
      for (std::size_t i = first; i < first + 8; ++i)
        found.emplace(made[i].instruction, made[i].place[5]);
      mixed += found.size() > 1 ? 1U : 0U;
    }
    EXPECT_EQ(mixed, equal ? 0 : made.size() / 8);
  }
}

TEST(PcWriter, SharesLossesAndEnds) {
  test::PcRun run = copy_run();
  const auto all = make_pc_samples(run);
  EXPECT_EQ(all.size(), 10U * 4 * 64);  // dispatches, ticks, CUs
  const auto waits = std::ranges::count(all, 3U, &test::PcMade::instruction);
  EXPECT_NEAR(static_cast<double>(waits) / static_cast<double>(all.size()), 0.86, 0.03);
  run.lost = 500;
  EXPECT_NEAR(static_cast<double>(make_pc_samples(run).size()), 1280, 120);
  run.lost = 0;
  run.until_dispatch = 4;
  for (const test::PcMade& made : make_pc_samples(run)) EXPECT_LE(made.dispatch_id, 4U);
  EXPECT_EQ(make_pc_samples(run).size(), 4U * 4 * 64);
}

TEST(PcWriter, TheProgram) {
  const test::TempFolder folder;
  const std::filesystem::path described =
      folder.write("mine.json",
                   R"json([{"name": "k(int)", "mangled": "_Z1ki", "dispatches": 3, "instructions": [
      {"text": "s_sleep 1", "comment": "k.cpp:3", "weight": 10, "reasons": {"SLEEP_WAIT": 1}}]}])json");
  ProcessOptions options;
  options.standard_output = options.standard_error = StreamMode::capture;
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), PERFLAB_MAKE_PC_SAMPLES);
    return run_program(arguments, options);
  };
  const std::filesystem::path out = folder / "out";
  const auto made = run({"--out", out.string(), "--description", described.string()});
  ASSERT_TRUE(made && made->succeeded());
  const PcSamples samples = good(read(std::span(&out, 1)));
  EXPECT_EQ(samples.size(), 3U * 4 * 64);
  EXPECT_EQ(samples.kernels[samples.kernel_of(0)].name, "k(int)");
  EXPECT_EQ(samples.stall(0), StallKind::sleep_wait);
  const auto refused = run({"--out", out.string(), "--kernel", "none"});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->exit_code, 2);
}

}  // namespace
}  // namespace perflab::pc_sampling
