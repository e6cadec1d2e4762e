// `optimize --capture` on a capture of a CUDA program, end to end on the stand-in driver: the
// source is read as CUDA (skipped where no toolkit is installed), sim_nvcc builds, a process with
// the device proves and times.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/system/files.h"
#include "cheats/corpus.h"
#include "cli/program.h"
#include "optimize/ast/cuda_headers.h"

namespace perflab::cli {
namespace {

using ::testing::HasSubstr;

/// The corpus' kernel in a source of CUDA, as it stands in a program.
constexpr std::string_view kCudaRows = R"(#include <cuda_runtime.h>
struct Shape {
  int rows;
  int columns;
};
extern "C" __global__ void row_sums(const float* matrix, float* sums, Shape shape) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= shape.rows) return;
  const int columns = shape.columns;
  float sum = 0.0F;
  for (int column = 0; column < columns; ++column) sum += matrix[row * columns + column];
  sums[row] = sum;
}
)";

class OptimizeOnCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    write("rows.cu", std::string(kCudaRows));
    const auto compiled =
        run_program({PERFLAB_SIM_NVCC, (folder_ / "rows.cu").string(), "-o",
                     (folder_ / "k.cubin").string(), "--kernel", "row_sums", "-O3"});
    ASSERT_TRUE(compiled && compiled->succeeded());
    const auto capture =
        test::corpus_capture_of_cuda(test::text_of(folder_ / "k.cubin")).write(folder_ / "capture");
    ASSERT_TRUE(capture.has_value());
  }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file_atomically(folder_ / name, text));
  }
  [[nodiscard]] Outcome optimize(std::vector<std::string> more) const {
    std::vector<std::string> words{"optimize", "rows.cu", "--capture", "capture", "--type", "f32",
                                   "--rtol",   "1e-5",    "--atol",    "1e-5",    "--out",  "out"};
    words.insert(words.end(), more.begin(), more.end());
    ProcessOptions options;
    options.set_environment = {{"LD_LIBRARY_PATH", PERFLAB_CUDA_SIM_FOLDER}};
    options.unset_environment = {"ROCM_PATH"};
    return rocm_perf(folder_.path(), words, options);
  }
  static bool no_toolkit() { return !optimize::find_cuda_toolkit({}); }

  static constexpr const char* kBuild =
      PERFLAB_SIM_NVCC " {source} -o {code_object} --kernel row_sums -O3";
  test::TempFolder folder_;
};

TEST_F(OptimizeOnCuda, RulesAloneMakeAKernelFasterWithProof) {
  if (no_toolkit()) GTEST_SKIP() << "skipped: CUDA's toolkit is not installed";
  const Outcome outcome = optimize({"--build", kBuild, "--max-candidates", "1", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json result = document("optimization", outcome.out);
  ASSERT_FALSE(result["accepted"].is_null()) << result["candidates"][0]["decision"];
  EXPECT_GT(result["accepted"]["speed_up"]["low"], 1.1);
  EXPECT_EQ(result["workshop"]["target"], "sm_90");
  EXPECT_TRUE(result["workshop"]["compiler"].is_null());
  const Json& candidate = result["candidates"][0];
  std::vector<std::string> checks;
  for (const Json& check : candidate["proof"]["checks"]) checks.push_back(check["name"]);
  EXPECT_THAT(checks,
              ::testing::ElementsAre("golden output", "poisoned output", "perturbed input 1",
                                     "perturbed input 2", "perturbed input 3", "timed inputs"));
  const Outcome again =
      rocm_perf(folder_.path(), {"optimize", "--recheck", "out/optimization.json"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST_F(OptimizeOnCuda, WhatABuildLeavesMayBeAFatBinary) {
  if (no_toolkit()) GTEST_SKIP() << "skipped: CUDA's toolkit is not installed";
  write("idea.sh",
        "[ -f $ROCM_PERF_PROPOSER_DIR/done ] && exit 0\ntouch $ROCM_PERF_PROPOSER_DIR/done\n"
        "sed -e 's/sum += matrix.*/sum += matrix[row * columns + column] * 2.0F;/' " +
            (folder_ / "rows.cu").string() + "\n");
  const Outcome outcome = optimize({"--build", std::string(kBuild) + " --fatbin", "--proposer",
                                    "exec:sh " + (folder_ / "idea.sh").string(), "--json"});
  const Json result = document("optimization", outcome.out);
  ASSERT_EQ(result["candidates"].size(), 1U) << outcome.err;
  EXPECT_EQ(result["candidates"][0]["decision"]["reason"], "wrong_output");
  EXPECT_EQ(outcome.exit_code, 1);
}

TEST_F(OptimizeOnCuda, CostsAreSaidInWordsOfCuda) {
  if (no_toolkit()) GTEST_SKIP() << "skipped: CUDA's toolkit is not installed";
  // A longer text needs more registers.
  write("build.sh", fmt::format("registers=24\n[ $(wc -c <\"$1\") -gt {} ] && registers=96\n"
                                "exec {} $1 -o $2 --kernel row_sums -O3 --registers $registers\n",
                                kCudaRows.size(), PERFLAB_SIM_NVCC));
  const Outcome outcome =
      optimize({"--build", "sh " + (folder_ / "build.sh").string() + " {source} {code_object}",
                "--max-candidates", "1", "--json"});
  const Json result = document("optimization", outcome.out);
  ASSERT_EQ(result["candidates"].size(), 1U) << outcome.err;
  const std::string text = result["candidates"][0].dump();
  EXPECT_THAT(text, HasSubstr("registers 96 instead of 24"));
  EXPECT_THAT(result["candidates"][0]["decision"]["sentence"].get<std::string>(),
              HasSubstr("registers 24 to 96"));
}

TEST_F(OptimizeOnCuda, ItHasToBeSaidHowCandidatesAreBuilt) {
  const Outcome outcome = optimize({});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("a capture of a CUDA program needs --build"));
  EXPECT_THAT(outcome.err, HasSubstr("nvcc -cubin -arch=sm_90 {source} -o {code_object}"));
}

}  // namespace
}  // namespace perflab::cli
