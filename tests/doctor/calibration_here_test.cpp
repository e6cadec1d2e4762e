// The calibration of this machine as doctor tells it: its age, what it found, a broken file.
#include "doctor/calibration_here.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder.h"
#include "base/text/json.h"
#include "hal/calibration.h"

namespace perflab::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// 2026-11-30, noon.
std::chrono::system_clock::time_point now() {
  using namespace std::chrono;
  return sys_days(year(2026) / November / 30) + hours(12);
}

TEST(CalibrationAge, IsInWholeDays) {
  EXPECT_EQ(days_since("2026-11-30T00:31:05Z", now()), 0);
  EXPECT_EQ(days_since("2026-11-27T23:59:59Z", now()), 3);
  EXPECT_EQ(days_since("2025-11-30", now()), 365);
  for (const char* const none :
       {"", "yesterday", "2026-13-01", "2026-11-31", "2026/11/30", "2026-12-01T00:00:00Z"})
    EXPECT_EQ(days_since(none, now()), std::nullopt) << none;
}

class CalibrationOfMachine : public testing::Test {
 protected:
  void write(const hal::Calibration& calibration) const {
    Json document = hal::calibration_json(calibration);
    document["schema_version"] = "1.0.0";
    document["document"] = "calibration";
    write_text(document.dump());
  }
  void write_text(const std::string& text) const {
    std::filesystem::create_directories(folder_ / "rocm-perf");
    EXPECT_TRUE(std::filesystem::exists(folder_.write("rocm-perf/calibration-gfx942.json", text)));
  }

  test::TempFolder folder_;
  test::ScopedVariable state_{"XDG_STATE_HOME", folder_.path().string()};
};

TEST_F(CalibrationOfMachine, NoneWasMade) {
  EXPECT_FALSE(calibration_here("gfx942", now()));
}

TEST_F(CalibrationOfMachine, ItsAgeAndWhatItFound) {
  hal::Calibration calibration;
  calibration.gpu.architecture = "gfx942";
  calibration.gpu.driver = "6.14.14";
  calibration.date = "2026-11-27T00:31:05Z";
  calibration.runs = 5;
  hal::CalibratedFigure good, bad;
  good.name = "SQ_WAVES";
  good.verdict = hal::CalibrationVerdict::confirmed;
  good.runs = 5;
  bad.name = "fabric.read_bytes";
  bad.verdict = hal::CalibrationVerdict::wrong_by_factor;
  bad.factor = 0.5;
  bad.runs = 5;
  for (hal::CalibratedFigure* const figure : {&good, &bad})
    figure->proofs = {{.kernel = "copy_16",
                       .launch = "1024 x 256 threads",
                       .formula = "8 x threads",
                       .expected = 8192,
                       .measured = {4096},
                       .tolerance = 0.02}};
  calibration.counters = {good};
  calibration.formulas = {bad};
  write(calibration);
  const auto here = calibration_here("gfx942", now());
  ASSERT_TRUE(here);
  EXPECT_EQ(here->problem, "");
  EXPECT_EQ(here->age_days, 3);
  EXPECT_EQ(here->confirmed, 1U);
  EXPECT_THAT(here->disproved, ElementsAre("fabric.read_bytes"));
  EXPECT_EQ(calibration_text(*here),
            "calibrated 3 days ago (driver 6.14.14): 1 confirmed, 1 disproved and not used: "
            "fabric.read_bytes");
  EXPECT_FALSE(calibration_here("gfx90a", now()));
}

TEST_F(CalibrationOfMachine, ABrokenFileIsSaid) {
  write_text("{");
  const auto here = calibration_here("gfx942", now());
  ASSERT_TRUE(here);
  EXPECT_THAT(calibration_text(*here), HasSubstr("cannot be read: "));
}

}  // namespace
}  // namespace perflab::doctor
