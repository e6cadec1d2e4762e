// The roofline with a calibration of the GPU: what it disproved is not used and says so, what it
// measured is the ceiling with the nominal one beside it, and one of another GPU changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyze/pipeline.h"
#include "analyze/roofline_checks.h"
#include "base/temp_folder.h"
#include "support/test_database.h"

namespace perflab::analyze {
namespace {

using test::CountedGpu;
using test::CountedProgram;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

hal::CalibratedFigure figure(std::string name, hal::CalibrationVerdict verdict,
                             std::optional<double> factor = std::nullopt) {
  hal::CalibratedFigure out;
  out.name = std::move(name);
  out.verdict = verdict;
  out.factor = factor;
  return out;
}

hal::Calibration calibration_of(const CountedGpu& gpu) {
  hal::Calibration out;
  out.gpu.architecture = gpu.gfx;
  out.gpu.driver = "6.14.14";
  out.date = "2026-11-27T00:31:05Z";
  out.counters = {figure("SQ_INSTS_VALU", hal::CalibrationVerdict::confirmed)};
  return out;
}

class CalibratedRoofline : public testing::Test {
 protected:
  Analysis analyze(const std::optional<hal::Calibration>& calibration) {
    const CountedProgram program{.gpu = gpu_, .dispatches = {counted(gpu_)}};
    auto files = test::write_runs(test::test_folder(), program, own_sets(gpu_.gfx));
    EXPECT_TRUE(files) << describe(files.error());
    AnalyzeOptions options;
    options.calibration = calibration;
    options.find_calibration = find_;
    if (!files) return {};
    Result<AnalyzedTrace> analyzed = analyze_files(*files, options);
    EXPECT_TRUE(analyzed) << describe(analyzed.error());
    Analysis analysis = analyzed ? std::move(analyzed->analysis) : Analysis{};
    check_promises(analysis);
    return analysis;
  }

  CountedGpu gpu_ = test::mi300x();
  bool find_ = false;
};

TEST_F(CalibratedRoofline, ADisprovedFormulaIsNotUsed) {
  hal::Calibration calibration = calibration_of(gpu_);
  calibration.formulas = {
      figure("fabric.read_bytes", hal::CalibrationVerdict::wrong_by_factor, 0.5)};
  const Analysis plain = analyze(std::nullopt), with = analyze(calibration);
  EXPECT_TRUE(level_of(kernel_of(plain), "hbm").bytes);
  const LevelTraffic& hbm = level_of(kernel_of(with), "hbm");
  EXPECT_FALSE(hbm.bytes);
  EXPECT_FALSE(hbm.share);
  EXPECT_THAT(hbm.read_bytes.reason, AllOf(HasSubstr("fabric.read_bytes is not used"),
                                           HasSubstr("2026-11-27"), HasSubstr("0.5 times")));
  EXPECT_EQ(hbm.read_bytes.remedy, "rocm-perf calibrate --explain fabric.read_bytes");
  EXPECT_FALSE(kernel_of(with).per_dispatch.front().hbm_read_bytes);
  EXPECT_TRUE(level_of(kernel_of(with), "l2").bytes);
  EXPECT_THAT(with.roofline->warnings,
              Contains(AllOf(HasSubstr("calibration of 2026-11-27"), HasSubstr("driver 6.14.14"),
                             HasSubstr("fabric.read_bytes"))));
}

TEST_F(CalibratedRoofline, ADisprovedCounterTakesItsFormulasAlong) {
  hal::Calibration calibration = calibration_of(gpu_);
  calibration.counters.push_back(figure("SQ_WAVE_CYCLES", hal::CalibrationVerdict::zero));
  const Analysis with = analyze(calibration);
  const Figure& waits = feature_of(kernel_of(with), "wave_time.dependency");
  EXPECT_FALSE(waits.value);
  EXPECT_THAT(waits.reason, AllOf(HasSubstr("SQ_WAVE_CYCLES is not used"), HasSubstr("stayed 0")));
  EXPECT_TRUE(feature_of(kernel_of(with), "cu.busy").value);
}

TEST_F(CalibratedRoofline, NoisyAndConfirmedOnesAreUsed) {
  hal::Calibration calibration = calibration_of(gpu_);
  calibration.formulas = {figure("cu.busy", hal::CalibrationVerdict::noisy),
                          figure("fabric.read_bytes", hal::CalibrationVerdict::not_measured)};
  const Analysis plain = analyze(std::nullopt), with = analyze(calibration);
  EXPECT_EQ(feature_of(kernel_of(with), "cu.busy").value,
            feature_of(kernel_of(plain), "cu.busy").value);
  EXPECT_EQ(level_of(kernel_of(with), "hbm").bytes, level_of(kernel_of(plain), "hbm").bytes);
  EXPECT_THAT(with.roofline->warnings, Contains(HasSubstr("it disproved nothing")));
}

TEST_F(CalibratedRoofline, ItsCeilingsGoFirstAndTheNominalOnesStandBeside) {
  hal::Calibration calibration = calibration_of(gpu_);
  hal::CalibratedCeiling memory;
  memory.level = hal::CalibratedLevel::memory;
  memory.value = 4300;
  memory.unit = "GB/s";
  memory.kernel = "copy_16";
  calibration.ceilings = {memory};
  const Analysis plain = analyze(std::nullopt), with = analyze(calibration);
  const LevelTraffic& nominal = level_of(kernel_of(plain), "hbm");
  const LevelTraffic& measured = level_of(kernel_of(with), "hbm");
  EXPECT_FIGURE(nominal.ceiling.value, 5300);
  EXPECT_FIGURE(measured.ceiling.value, 4300);
  EXPECT_EQ(measured.ceiling.from, "measured");
  EXPECT_THAT(measured.ceiling.formula,
              AllOf(HasSubstr("copy_16"), HasSubstr("nominal 5300 GB/s")));
  EXPECT_FIGURE(measured.share, *nominal.share * 5300 / 4300);
}

TEST_F(CalibratedRoofline, OneOfAnotherGpuChangesNothing) {
  hal::Calibration calibration = calibration_of(test::mi210());
  calibration.formulas = {figure("fabric.read_bytes", hal::CalibrationVerdict::wrong)};
  const Analysis with = analyze(calibration);
  EXPECT_TRUE(level_of(kernel_of(with), "hbm").bytes);
  EXPECT_THAT(with.roofline->warnings,
              Contains(HasSubstr("the calibration is not used: it is of gfx90a")));
  calibration = calibration_of(gpu_);
  calibration.gpu.name = "AMD Instinct MI325X";
  calibration.formulas = {figure("fabric.read_bytes", hal::CalibrationVerdict::wrong)};
  EXPECT_TRUE(level_of(kernel_of(analyze(calibration)), "hbm").bytes);
}

TEST_F(CalibratedRoofline, ThatOfTheMachineIsFoundWhereItIsAskedFor) {
  const test::TempFolder state;
  const test::ScopedVariable place("XDG_STATE_HOME", state.path().string());
  hal::Calibration calibration = calibration_of(gpu_);
  calibration.runs = 5;
  calibration.formulas = {
      figure("fabric.read_bytes", hal::CalibrationVerdict::wrong_by_factor, 0.5)};
  for (auto* const list : {&calibration.counters, &calibration.formulas})
    for (hal::CalibratedFigure& one : *list) {
      one.runs = 5;
      one.proofs = {{.kernel = "copy_16",
                     .launch = "1024 x 256 threads",
                     .formula = "8 x threads",
                     .expected = 8192,
                     .measured = {4096},
                     .tolerance = 0.02}};
    }
  Json document = hal::calibration_json(calibration);
  document["schema_version"] = "1.0.0";
  document["document"] = "calibration";
  std::filesystem::create_directory(state / "rocm-perf");
  const std::filesystem::path file =
      state.write("rocm-perf/calibration-gfx942.json", document.dump());
  EXPECT_TRUE(level_of(kernel_of(analyze(std::nullopt)), "hbm").bytes);
  find_ = true;
  EXPECT_FALSE(level_of(kernel_of(analyze(std::nullopt)), "hbm").bytes);
  EXPECT_EQ(file, state.write("rocm-perf/calibration-gfx942.json", "{"));
  const Analysis broken = analyze(std::nullopt);
  EXPECT_TRUE(level_of(kernel_of(broken), "hbm").bytes);
  EXPECT_THAT(broken.warnings, Contains(HasSubstr("calibration of this machine is not used")));
}

}  // namespace
}  // namespace perflab::analyze
