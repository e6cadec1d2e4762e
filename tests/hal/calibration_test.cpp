// hal/calibration.h: a calibration written and read again, what finds its parts, damaged files.
#include "hal/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/temp_folder.h"

namespace perflab::hal {
namespace {

using ::testing::HasSubstr;

Calibration small_calibration() {
  Calibration calibration;
  calibration.gpu = {.architecture = "gfx942",
                     .name = "AMD Instinct MI300X",
                     .uuid = {},
                     .driver = "6.12.12",
                     .runtime = "ROCm 7.1.1",
                     .profiler = "rocprofv3 1.1.0",
                     .compiler = "AMD clang version 20.0.0"};
  calibration.date = "2026-11-27T00:31:05Z";
  calibration.runs = 3;
  const CalibrationProof proof{.kernel = "fma_fp32",
                               .launch = "608 x 256 threads, 64 rounds",
                               .formula = "waves*rounds*16",
                               .expected = 2490368,
                               .measured = {4980736, 4980736, 4980736},
                               .tolerance = 0};
  calibration.counters = {{.name = "SQ_INSTS_VALU",
                           .verdict = CalibrationVerdict::wrong_by_factor,
                           .factor = 2,
                           .spread = 0,
                           .runs = 3,
                           .reason = {},
                           .proofs = {proof}},
                          {.name = "SQ_WAVES",
                           .verdict = CalibrationVerdict::not_measured,
                           .factor = {},
                           .spread = {},
                           .runs = 0,
                           .reason = "no kernel proves it",
                           .proofs = {}}};
  calibration.formulas = {{.name = "vector.fp32",
                           .verdict = CalibrationVerdict::zero,
                           .factor = {},
                           .spread = {},
                           .runs = 3,
                           .reason = {},
                           .proofs = {proof}}};
  calibration.ceilings = {
      {.level = CalibratedLevel::memory,
       .rate = {},
       .value = 4100.5,
       .unit = "GB/s",
       .spread = 0.01,
       .runs = 3,
       .nominal = 5300,
       .nominal_formula = "MI300X memory_gbps",
       .kernel = "copy_16",
       .stream = "global_load_dwordx4, global_store_dwordx4"},
      {.level = {},
       .rate = CalibratedRate{.pipe = Pipe::matrix, .precision = Precision::fp16},
       .value = 1e6,
       .unit = "GFLOP/s",
       .spread = 0,
       .runs = 3,
       .nominal = {},
       .nominal_formula = {},
       .kernel = "matrix_fp16",
       .stream = "16 v_mfma_f32_32x32x8_f16"}};
  calibration.kernels = {{.name = "fma_fp32",
                          .shows = "FP32 fused multiply-adds",
                          .check = KernelCheck::agrees,
                          .stream = "16 v_fma_f32",
                          .reason = {}}};
  return calibration;
}

Json small_document() {
  Json document = {{"schema_version", "1.0.0"}, {"document", "calibration"}};
  document.update(calibration_json(small_calibration()));
  return document;
}

TEST(CalibrationTest, IsReadAsItWasWritten) {
  const test::TempFolder folder;
  const Result<Calibration> read =
      read_calibration(folder.write("calibration.json", to_canonical_text(small_document())));
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(calibration_json(*read), calibration_json(small_calibration()));
  ASSERT_NE(read->counter("SQ_INSTS_VALU"), nullptr);
  EXPECT_EQ(read->counter("SQ_INSTS_VALU")->factor, 2);
  EXPECT_TRUE(read->counter("SQ_INSTS_VALU")->disproved());
  EXPECT_FALSE(read->counter("SQ_WAVES")->disproved());
  EXPECT_TRUE(read->formula("vector.fp32")->disproved());
  EXPECT_EQ(read->formula("SQ_WAVES"), nullptr);
  EXPECT_EQ(read->ceiling(CalibratedLevel::l2), nullptr);
  EXPECT_EQ(read->ceiling(Pipe::matrix, Precision::fp16)->value, 1e6);
  EXPECT_EQ(read->ceiling(Pipe::vector, Precision::fp16), nullptr);
}

TEST(CalibrationTest, CeilingsAreThoseOfABenchmark) {
  const MeasuredRoofs roofs = small_calibration().roofs();
  ASSERT_TRUE(roofs.memory);
  EXPECT_EQ(roofs.memory->value, 4100.5);
  EXPECT_EQ(roofs.memory->column, "copy_16");
  EXPECT_FALSE(roofs.l2);
  ASSERT_NE(roofs.of(Pipe::matrix, Precision::fp16), nullptr);
  EXPECT_EQ(roofs.of(Pipe::matrix, Precision::fp16)->value, 1e6);
}

TEST(CalibrationTest, SaysWhatIsWrongWithAFile) {
  const auto error_after = [](const std::function<void(Json&)>& damage) {
    Json document = small_document();
    damage(document);
    const Result<Calibration> read = calibration_from_json(document, "c.json");
    return read ? std::string("no error") : read.error().message;
  };
  EXPECT_THAT(error_after([](Json& d) { d["document"] = "analysis"; }),
              HasSubstr("\"document\" is not \"calibration\""));
  EXPECT_THAT(error_after([](Json& d) { d["schema_version"] = "2.0.0"; }), HasSubstr("not 1.x"));
  EXPECT_THAT(error_after([](Json& d) { d["counters"][0]["verdict"] = "good"; }),
              HasSubstr("counters[0]: \"verdict\" is \"good\", which is not known"));
  EXPECT_THAT(error_after([](Json& d) { d["counters"][0]["factor"] = nullptr; }),
              HasSubstr("counters[0]: \"factor\""));
  EXPECT_THAT(error_after([](Json& d) { d["counters"][0]["factor"] = -2; }),
              HasSubstr("counters[0]: \"factor\""));
  EXPECT_THAT(error_after([](Json& d) { d["formulas"][0]["proofs"][0]["expected"] = 0; }),
              HasSubstr("formulas[0].proofs[0]: \"expected\""));
  EXPECT_THAT(error_after([](Json& d) { d["formulas"][0]["proofs"][0]["measured"][1] = -1; }),
              HasSubstr("formulas[0].proofs[0]: \"measured\""));
  EXPECT_THAT(error_after([](Json& d) { d["ceilings"][0]["level"] = nullptr; }),
              HasSubstr("ceilings[0]: \"level\""));
  EXPECT_THAT(error_after([](Json& d) { d["ceilings"][0]["value"] = 0; }),
              HasSubstr("ceilings[0]: \"value\""));
  EXPECT_THAT(error_after([](Json& d) { d["runs"] = 0; }), HasSubstr("\"runs\""));
  EXPECT_THAT(error_after([](Json& d) { d.erase("gpu"); }), HasSubstr("\"gpu\" is missing"));
  EXPECT_THAT(error_after([](Json& d) { d["kernels"][0]["check"] = "maybe"; }),
              HasSubstr("kernels[0]: \"check\""));
}

TEST(CalibrationTest, IsNoFile) {
  const test::TempFolder folder;
  EXPECT_EQ(read_calibration(folder.path() / "none.json").error().code, ErrorCode::bad_input);
  EXPECT_EQ(read_calibration(folder.write("half.json", "{\"document\":")).error().code,
            ErrorCode::bad_input);
}

}  // namespace
}  // namespace perflab::hal
