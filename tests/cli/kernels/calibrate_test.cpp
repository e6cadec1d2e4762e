// rocm-perf calibrate without a GPU: what it explains, what it would run, and what it refuses. The
// run itself with stand-ins: tests/calibrate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"
#include "code/tools/compiler.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using ::testing::HasSubstr;
using ::testing::Not;

/// A calibration in which one counter counts twice.
constexpr const char* kCalibration = R"({
  "schema_version": "1.0.0",
  "document": "calibration",
  "gpu": {"architecture": "gfx942", "name": null, "uuid": null, "driver": null, "runtime": null,
          "profiler": null, "compiler": null},
  "date": "2026-11-27T00:31:05Z",
  "runs": 2,
  "counters": [{"name": "SQ_WAVES", "verdict": "wrong_by_factor", "factor": 2, "spread": 0,
                "runs": 2, "reason": null,
                "proofs": [{"kernel": "fma_fp32", "launch": "8 x 256 threads, 2 rounds",
                            "formula": "waves", "expected": 32, "measured": [64, 64],
                            "tolerance": 0}]}],
  "formulas": [],
  "ceilings": [],
  "kernels": []
})";

TEST(CalibrateCommand, ExplainsACounterAndAFormulaWithoutAGpu) {
  const TempFolder folder;
  const Outcome counter = rocm_perf(
      folder.path(), {"calibrate", "--explain", "SQ_INSTS_VALU_FMA_F32", "--arch", "gfx942"});
  EXPECT_EQ(counter.exit_code, 0) << counter.err;
  EXPECT_THAT(counter.out, HasSubstr("a counter of block SQ"));
  EXPECT_THAT(counter.out, HasSubstr("waves*fma_f32"));
  EXPECT_THAT(counter.out, HasSubstr("vector.fp32 = 64*(SQ_INSTS_VALU_ADD_F32"));
  const Outcome formula =
      rocm_perf(folder.path(), {"calibrate", "--explain", "fabric.read_bytes", "--arch", "gfx950"});
  EXPECT_EQ(formula.exit_code, 0) << formula.err;
  EXPECT_THAT(formula.out, HasSubstr("TCC_EA0_RDREQ_128B_sum"));
  EXPECT_THAT(formula.out, HasSubstr("copy_16"));
  const Outcome unproven =
      rocm_perf(folder.path(), {"calibrate", "--explain", "latency.vmem", "--arch", "gfx942"});
  EXPECT_THAT(unproven.out, HasSubstr("No kernel of known work proves it."));
}

TEST(CalibrateCommand, ExplainsWhatAFileSays) {
  const TempFolder folder;
  static_cast<void>(folder.write("calibration.json", kCalibration));
  const Outcome known =
      rocm_perf(folder.path(), {"calibrate", "calibration.json", "--explain", "SQ_WAVES"});
  EXPECT_EQ(known.exit_code, 0) << known.err;
  EXPECT_THAT(known.out, HasSubstr("Here: wrong by a factor of 2"));
  EXPECT_THAT(known.out, HasSubstr("8 x 256 threads, 2 rounds"));
  // It is found where `calibrate` leaves it, too.
  fs::create_directories(folder / "state/rocm-perf");
  fs::rename(folder / "calibration.json", folder / "state/rocm-perf/calibration-gfx942.json");
  ProcessOptions at_home;
  at_home.set_environment = {{"XDG_STATE_HOME", (folder / "state").string()}};
  const Outcome kept =
      rocm_perf(folder.path(), {"calibrate", "--explain", "SQ_WAVES", "--arch", "gfx942"}, at_home);
  EXPECT_THAT(kept.out, HasSubstr("Here: wrong by a factor of 2"));
  static_cast<void>(folder.write("broken.json", "{}"));
  const Outcome broken =
      rocm_perf(folder.path(), {"calibrate", "broken.json", "--explain", "SQ_WAVES"});
  EXPECT_EQ(broken.exit_code, 3);
  EXPECT_THAT(broken.err, HasSubstr("give a calibration.json that rocm-perf calibrate wrote"));
}

TEST(CalibrateCommand, RefusesNamesThatAreNone) {
  const TempFolder folder;
  const Outcome misspelt =
      rocm_perf(folder.path(), {"calibrate", "--explain", "SQ_WAVE", "--arch", "gfx942"});
  EXPECT_EQ(misspelt.exit_code, 2);
  EXPECT_THAT(misspelt.err, HasSubstr("did you mean SQ_WAVES?"));
  const Outcome architecture =
      rocm_perf(folder.path(), {"calibrate", "--dry-run", "--arch", "gfx1", "--cus", "4"});
  EXPECT_EQ(architecture.exit_code, 2);
  EXPECT_THAT(architecture.err, HasSubstr("gfx1"));
  EXPECT_EQ(rocm_perf(folder.path(), {"calibrate", "--runs", "1"}).exit_code, 2);
}

TEST(CalibrateCommand, ShowsWhatItWouldRun) {
  const auto compiler = code::find_compiler("gfx90a");
  if (!compiler || !compiler->knows("gfx90a"))
    GTEST_SKIP() << "skipped: no compiler that knows gfx90a";
  const TempFolder folder;
  const Outcome plan =
      rocm_perf(folder.path(), {"calibrate", "--dry-run", "--arch", "gfx90a", "--cus", "104"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("gfx90a, 104 CUs"));
  EXPECT_THAT(plan.out, HasSubstr("copy_16"));
  EXPECT_THAT(plan.out, HasSubstr("832 x 256 threads"));
  EXPECT_THAT(plan.out, Not(HasSubstr("refused")));
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace perflab::cli
