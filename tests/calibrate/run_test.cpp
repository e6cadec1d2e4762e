// calibrate/calibrate.h from end to end without a GPU: kernels compiled by the clang that is here,
// a program that says it ran them, and a stand-in rocprofv3 that delivers databases in which some
// counters are right, one counts twice, some are 0 and one is noisy. Each has to be found, and what
// formulas make of them.
#include "calibrate/calibrate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/temp_folder.h"
#include "calibrate/judge.h"
#include "code/tools/compiler.h"
#include "collect/stand_in_rocprofv3.h"
#include "report/calibration/calibration_document.h"
#include "report/calibration/calibration_text.h"
#include "report/kit/document.h"
#include "support/rocpd_writer.h"

namespace perflab::calibrate {
namespace {

namespace fs = std::filesystem;
using hal::CalibrationVerdict;
using test::RocpdWriter;
using test::ScopedVariable;
using test::TempFolder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr double kNanoseconds = 1'000'000;  // of every dispatch

double number(const Launch& launch, std::string_view name) {
  const auto found = launch.numbers.find(name);
  return found == launch.numbers.end() ? 0 : found->second;
}

/// What a GPU whose counters are right counts of a launch: its instructions by its code, its bytes
/// by what it moves. Counters that no kernel proves count something, too.
double right_count(const Launch& launch, const std::string& counter) {
  const double waves = number(launch, "waves");
  static const std::map<std::string, std::string> kPerWave = {
      {"SQ_INSTS", "all"},
      {"SQ_INSTS_VALU", "valu"},
      {"SQ_INSTS_SALU", "salu"},
      {"SQ_INSTS_SMEM", "smem"},
      {"SQ_INSTS_LDS", "lds"},
      {"SQ_INSTS_VMEM", "vmem"},
      {"SQ_INSTS_BRANCH", "branch"},
      {"SQ_INSTS_MFMA", "matrix"},
      {"SQ_INSTS_VALU_FMA_F16", "fma_f16"},
      {"SQ_INSTS_VALU_ADD_F16", "add_f16"},
      {"SQ_INSTS_VALU_MUL_F16", "mul_f16"},
      {"SQ_INSTS_VALU_TRANS_F16", "trans_f16"},
      {"SQ_INSTS_VALU_FMA_F32", "fma_f32"},
      {"SQ_INSTS_VALU_ADD_F32", "add_f32"},
      {"SQ_INSTS_VALU_MUL_F32", "mul_f32"},
      {"SQ_INSTS_VALU_TRANS_F32", "trans_f32"},
      {"SQ_INSTS_VALU_FMA_F64", "fma_f64"},
      {"SQ_INSTS_VALU_ADD_F64", "add_f64"},
      {"SQ_INSTS_VALU_MUL_F64", "mul_f64"},
      {"SQ_INSTS_VALU_TRANS_F64", "trans_f64"},
      {"SQ_INSTS_VALU_INT32", "op_i32"}};
  if (const auto found = kPerWave.find(counter); found != kPerWave.end())
    return waves * number(launch, found->second);
  if (counter == "SQ_WAVES") return waves;
  if (counter == "SQ_WAVES_LT_64") return launch.group < 64 ? waves : 0;
  if (counter == "SQ_ACTIVE_INST_VALU") return waves;
  if (counter == "SQ_THREAD_CYCLES_VALU") return waves * std::min<double>(launch.group, 64);
  if (counter == "SQ_INSTS_VALU_MFMA_MOPS_F16" && launch.work->name == "matrix_fp16")
    return waves * number(launch, "matrix") * 32;  // 2 * 32 * 32 * 8 / 512
  if (counter == "SQ_INSTS_VALU_MFMA_MOPS_I8" && launch.work->name == "matrix_int8")
    return waves * number(launch, "matrix") * 64;  // 2 * 32 * 32 * 16 / 512
  if (counter.starts_with("SQ_INSTS_VALU_MFMA_MOPS_")) return 0;
  // MI300's memory controllers give 128 bytes at a time; TCC_BUBBLE counts those requests.
  const double read = number(launch, "read"), written = number(launch, "written");
  if (counter == "TCC_EA0_RDREQ_sum" || counter == "TCC_BUBBLE_sum") return read / 128;
  if (counter == "TCC_EA0_RDREQ_32B_sum") return 0;
  if (counter == "TCC_EA0_WRREQ_sum" || counter == "TCC_EA0_WRREQ_64B_sum") return written / 64;
  // A request is a line of 128 bytes; neighbours share it where their words lie close enough.
  if (counter == "TCP_TCC_READ_REQ_sum")
    return launch.work->stride > 0 ? read / 4 * launch.work->stride / 128 : read / 128;
  if (counter == "TCP_TCC_WRITE_REQ_sum") return written / 64;
  if (counter == "TCP_TCC_ATOMIC_WITH_RET_REQ_sum" ||
      counter == "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum")
    return 0;
  if (counter == "GRBM_GUI_ACTIVE") return 2'000'000;
  return 1000;
}

/// A fault of the stand-in's counters: value and repetition in, value out.
using Faults = std::map<std::string, std::function<double(double, int)>>;

/// One process's database: all launches of a plan, with these counters of each.
void write_database(const fs::path& path, const std::vector<Launch>& launches,
                    const std::vector<std::string>& counters, const Faults& faults) {
  RocpdWriter writer(path);
  writer.agent(test::host_agent());
  const test::Id gpu = writer.agent(test::mi300x_agent());
  writer.queue();
  writer.stream();
  writer.code_object({});
  std::map<std::string_view, test::Id> kernels;
  std::map<std::string, test::Id> infos;
  for (const std::string& counter : counters)
    infos[counter] = writer.counter({.agent = gpu, .name = counter});
  std::int64_t now = 10'000;
  for (const Launch& launch : launches) {
    test::Id& kernel = kernels[launch.work->function];
    if (kernel == 0) kernel = writer.kernel({.name = std::string(launch.work->function)});
    for (int i = 0; i < launch.repetitions; ++i) {
      const auto end = now + static_cast<std::int64_t>(kNanoseconds);
      const test::Launched done =
          writer.launch({.start = now - 100, .end = now - 50},
                        {.kernel = kernel,
                         .start = now,
                         .end = end,
                         .agent = gpu,
                         .workgroup = {.x = launch.group},
                         .grid = {.x = static_cast<std::int64_t>(launch.threads())}});
      for (const std::string& counter : counters) {
        const double right = right_count(launch, counter);
        const auto fault = faults.find(counter);
        writer.counter_value(done.dispatch.event, infos[counter],
                             fault == faults.end() ? right : fault->second(right, i));
      }
      now = end + 1000;
    }
  }
  const Result<void> closed = writer.close();
  ASSERT_TRUE(closed) << describe(closed.error());
}

class CalibrateRunTest : public testing::Test {
 protected:
  void SetUp() override {
    request_.architecture = "gfx942";
    request_.product = "AMD Instinct MI300X";
    request_.runs = 3;
    request_.date = "2026-11-27T00:31:05Z";
    request_.driver = "6.12.12";
    request_.folder = folder_ / "calibration";
    const auto compiler = code::find_compiler("gfx942");
    if (!compiler || !compiler->knows("gfx942"))
      GTEST_SKIP() << "skipped: no compiler that knows gfx942";
    // Compiles kernels as they are; of the program it makes one that says that all was right.
    const fs::path stand_in = folder_.script("clang", fmt::format(R"(
case "$*" in *host.cpp*)
  while [ "$1" != -o ]; do shift; done
  printf '%s\n' '#!/bin/sh' 'while read -r f rest; do echo "$f ${{STAND_IN_WORD:-right}}"; done <"$2" >"$3"' >"$2"
  chmod +x "$2"
  exit 0 ;;
esac
exec {} "$@")",
                                                                  compiler->program.string()));
    compiler_.emplace("ROCM_PERF_CLANG", stand_in.string());
    rocprofv3_.emplace(folder_ / "log");
    auto plan = make_plan(request_);
    ASSERT_TRUE(plan) << describe(plan.error());
    plan_ = std::move(*plan);
    ASSERT_FALSE(plan_->launches.empty());
  }

  /// Runs it on a GPU with these faults.
  Result<Calibrated> run(const Faults& faults) {
    std::string groups;
    write_database(folder_ / "base.db", plan_->launches, {}, {});
    for (std::size_t i = 0; i < plan_->passes.size(); ++i) {
      const fs::path file = folder_ / fmt::format("pass_{}.db", i + 1);
      write_database(file, plan_->launches, plan_->passes[i], faults);
      groups += (groups.empty() ? "" : "|") + file.string();
    }
    const ScopedVariable base("FAKE_ROCPROFV3_DB", (folder_ / "base.db").string());
    const ScopedVariable passes("FAKE_ROCPROFV3_PASS_DB", groups);
    return calibrate(request_, *plan_, nullptr);
  }

  TempFolder folder_;
  CalibrateRequest request_;
  std::optional<ScopedVariable> compiler_;
  std::optional<test::StandInRocprofv3> rocprofv3_;
  std::unique_ptr<CalibrationPlan> plan_;
};

std::string_view verdict_of(const hal::CalibratedFigure* figure) {
  return figure == nullptr ? "(none)" : to_string(figure->verdict);
}

TEST_F(CalibrateRunTest, AGpuThatCountsRightIsConfirmed) {
  const Result<Calibrated> done = run({});
  ASSERT_TRUE(done) << describe(done.error());
  const hal::Calibration& calibration = done->calibration;
  for (const char* const name :
       {"SQ_WAVES", "SQ_WAVES_LT_64", "SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_SMEM",
        "SQ_INSTS_VMEM", "SQ_INSTS_LDS", "SQ_INSTS_BRANCH", "SQ_INSTS_MFMA",
        "SQ_INSTS_VALU_FMA_F32", "SQ_INSTS_VALU_FMA_F64", "SQ_INSTS_VALU_MFMA_MOPS_F16",
        "SQ_INSTS_VALU_MFMA_MOPS_I8", "TCP_TCC_READ_REQ_sum"})
    EXPECT_EQ(verdict_of(calibration.counter(name)), "confirmed") << name;
  for (const char* const name :
       {"vector.fp32", "vector.fp64", "vector.fp16", "matrix.fp16", "matrix.int8",
        "matrix_instructions", "fabric.read_bytes", "fabric.write_bytes", "l2.read_bytes", "lanes",
        "partial_waves", "instructions_per_wave"})
    EXPECT_EQ(verdict_of(calibration.formula(name)), "confirmed") << name;
  EXPECT_EQ(verdict_of(calibration.formula("latency.vmem")), "not_measured");
  EXPECT_EQ(calibration.formula("latency.vmem")->reason, "no kernel of known work proves it");
  EXPECT_EQ(calibration.gpu.name, "AMD Instinct MI300X");
  EXPECT_EQ(calibration.gpu.runtime, "ROCm 7.1.1");
  EXPECT_EQ(calibration.gpu.profiler, "rocprofv3 1.1.0");
  // 2 FLOPs, 64 per round, of 304 * 8 * 256 threads, in a millisecond.
  const auto* rate = calibration.ceiling(hal::Pipe::vector, hal::Precision::fp32);
  ASSERT_NE(rate, nullptr);
  EXPECT_DOUBLE_EQ(rate->value, 2.0 * 64 * 512 * 304 * 8 * 256 / kNanoseconds);
  EXPECT_THAT(rate->stream, HasSubstr("64 v_fma_f32"));
  ASSERT_TRUE(rate->nominal);
  EXPECT_NEAR(*rate->nominal, 81700, 100);
  ASSERT_NE(calibration.ceiling(hal::CalibratedLevel::memory), nullptr);
  EXPECT_EQ(calibration.ceiling(hal::CalibratedLevel::memory)->kernel, "copy_16");
}

TEST_F(CalibrateRunTest, EachFaultGetsItsVerdict) {
  const Result<Calibrated> done = run({
      {"SQ_WAVES", [](double right, int) { return 2 * right; }},
      {"SQ_INSTS_SMEM", [](double, int) { return 0; }},
      {"SQ_INSTS_SALU", [](double right, int i) { return right * (1 + 0.2 * i); }},
      // What MI350 does to a formula of MI300's.
      {"TCC_BUBBLE_sum", [](double, int) { return 0; }},
  });
  ASSERT_TRUE(done) << describe(done.error());
  const hal::Calibration& calibration = done->calibration;
  ASSERT_EQ(verdict_of(calibration.counter("SQ_WAVES")), "wrong_by_factor");
  EXPECT_EQ(calibration.counter("SQ_WAVES")->factor, 2);
  EXPECT_EQ(verdict_of(calibration.counter("SQ_INSTS_SMEM")), "zero");
  EXPECT_EQ(verdict_of(calibration.counter("SQ_INSTS_SALU")), "noisy");
  EXPECT_EQ(verdict_of(calibration.counter("SQ_INSTS_VALU")), "confirmed");
  ASSERT_EQ(verdict_of(calibration.formula("fabric.read_bytes")), "wrong_by_factor");
  EXPECT_EQ(calibration.formula("fabric.read_bytes")->factor, 0.5);
  ASSERT_EQ(verdict_of(calibration.formula("instructions_per_wave")), "wrong_by_factor");
  EXPECT_EQ(calibration.formula("instructions_per_wave")->factor, 0.5);
  EXPECT_EQ(verdict_of(calibration.formula("fabric.write_bytes")), "confirmed");
  const std::string text = report::calibration_text(calibration, {.width = 120});
  EXPECT_THAT(text, HasSubstr("wrong by a factor of 2"));
  EXPECT_THAT(text, HasSubstr("wrong by a factor of 0.5"));
  const auto rendered = report::render("calibration", report::calibration_document(calibration));
  ASSERT_TRUE(rendered) << describe(rendered.error());
  const auto read = hal::calibration_from_json(*parse_json(*rendered, "c"), "c");
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(hal::calibration_json(*read), hal::calibration_json(calibration));
}

TEST_F(CalibrateRunTest, KernelsThatComputeWrongProveNothing) {
  const ScopedVariable word("STAND_IN_WORD", "word 3 is 7 and not 8");
  const Result<Calibrated> done = run({});
  ASSERT_TRUE(done) << describe(done.error());
  for (const hal::CalibratedFigure& figure : done->calibration.formulas)
    EXPECT_EQ(verdict_of(&figure), "not_measured") << figure.name;
  EXPECT_THAT(done->calibration.formula("vector.fp32")->reason,
              HasSubstr("what it computed is wrong: word 3 is 7 and not 8"));
  EXPECT_THAT(done->calibration.ceilings, IsEmpty());
}

TEST_F(CalibrateRunTest, ARecordingOfSomethingElseIsRefused) {
  std::vector<Launch> fewer = plan_->launches;
  write_database(folder_ / "base.db", {fewer.begin(), fewer.begin() + 1}, {}, {});
  const ScopedVariable base("FAKE_ROCPROFV3_DB", (folder_ / "base.db").string());
  const Result<Calibrated> done = calibrate(request_, *plan_, nullptr);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::bad_input);
  EXPECT_THAT(done.error().message, HasSubstr("dispatches of calibrate_"));
}

}  // namespace
}  // namespace perflab::calibrate
