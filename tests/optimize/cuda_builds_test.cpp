// The examples that are made faster on an NVIDIA GPU (scripts/device-optimize), as far as that goes
// without one: sources, ideas and rules pass the guards that they should, nvcc builds them, and the
// guards on cubins agree. Skipped where nvcc is not installed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "base/temp_folder.h"
#include "base/text/json.h"
#include "optimize/guards/guards.h"
#include "optimize/model/source_model.h"
#include "optimize/transform/transforms.h"

namespace perflab::optimize {
namespace {

struct GpuExample {
  const char *file, *kernel, *symbol;
  std::int64_t threads;
  const char* first = "";  ///< what becomes of the first idea before it runs; empty: it has rules
};

class CudaBuilds : public testing::TestWithParam<GpuExample> {
 protected:
  void SetUp() override {
    nvcc_ = find_program("nvcc");
    if (!nvcc_) GTEST_SKIP() << "skipped: nvcc is not installed";
    options_.path = std::string(PERFLAB_SOURCE_DIR "/examples/") + GetParam().file;
    options_.arch = "sm_90";
    options_.compiler = *nvcc_;
    options_.arguments = {"-I" PERFLAB_SOURCE_DIR "/examples/cuda"};
    auto model = parse_source(*read_file(options_.path), options_);
    ASSERT_TRUE(model) << describe(model.error());
    model_ = *std::move(model);
    const auto index = find_kernel(model_, GetParam().kernel);
    ASSERT_TRUE(index) << describe(index.error());
    index_ = *index;
    original_ = build(model_.text);
    ASSERT_FALSE(original_.empty());
  }

  /// The cubin of a text in place of the example; empty: nvcc does not build it.
  std::string build(const std::string& text) {
    const auto source = folder_.write(fmt::format("candidate{}.cu", ++builds_), text);
    ProcessOptions options;
    options.standard_error = StreamMode::capture;
    options.set_environment = {{"CPATH", options_.path.parent_path().string()}};
    const auto ended = run_program({nvcc_->string(), "-x", "cu", "-cubin", "-O3", "-std=c++17",
                                    "-arch=sm_90", "-I" PERFLAB_SOURCE_DIR "/examples/cuda",
                                    source.string(), "-o", (folder_ / "k.cubin").string()},
                                   options);
    if (!ended || !ended->succeeded()) {
      ADD_FAILURE() << (ended ? ended->error.tail : ended.error().message);
      return {};
    }
    const auto bytes = read_file(folder_ / "k.cubin");
    return bytes ? *bytes : std::string();
  }

  /// "passed", or the first failure of the guards on source and cubin.
  std::string judged(const std::string& text) {
    const auto source = check_source(
        model_, text, {.kernel = GetParam().kernel, .workgroup_size = GetParam().threads});
    if (!source) return describe(source.error());
    if (const GuardResult* const failed = first_failure(*source)) return failed->name;
    const auto object = check_object(
        original_, build(text),
        {.kernel = GetParam().symbol, .workgroup_size = GetParam().threads, .dynamic_lds = 0});
    if (!object) return describe(object.error());
    const GuardResult* const failed = first_failure(object->results);
    return failed == nullptr ? "passed" : failed->name + ": " + failed->detail;
  }

  /// What gpu_ideas.py answers in a round.
  std::string idea(int round) {
    const Json task{{"round", round},
                    {"kernel", GetParam().kernel},
                    {"source", model_.text},
                    {"kernel_source", std::string(model_.at(model_.kernels[index_].definition))}};
    const auto ended = run_program({"sh", "-c", "exec python3 \"$0\" <\"$1\" >\"$2\"",
                                    PERFLAB_SOURCE_DIR "/examples/optimize/gpu_ideas.py",
                                    folder_.write("task.json", to_canonical_text(task)).string(),
                                    (folder_ / "idea").string()});
    EXPECT_TRUE(ended && ended->succeeded());
    const auto text = read_file(folder_ / "idea");
    return text ? *text : "";
  }

  std::optional<std::filesystem::path> nvcc_;
  test::TempFolder folder_;
  ParseOptions options_;
  SourceModel model_;
  std::size_t index_ = 0;
  std::string original_;
  int builds_ = 0;
};

TEST_P(CudaBuilds, ProposalsPassTheGuardsThatTheyShould) {
  if (*GetParam().first != '\0') {
    EXPECT_EQ(judged(idea(1)), GetParam().first);
    EXPECT_EQ(judged(idea(2)), "passed");
    EXPECT_EQ(idea(3), "");
    return;
  }
  constexpr std::size_t kTried = 6;  // as many as scripts/device-optimize tries
  const Transforms rules = transforms_of(
      model_, index_, {.wave_size = 32, .workgroup_size = GetParam().threads, .lds_banks = 32});
  ASSERT_GE(rules.offered.size(), kTried);
  for (std::size_t i = 0; i < kTried; ++i)
    EXPECT_EQ(judged(rules.offered[i].text), "passed") << rules.offered[i].id;
}

INSTANTIATE_TEST_SUITE_P(
    Examples, CudaBuilds,
    testing::Values(GpuExample{"reduction.hip", "reduction", "_Z9reductionPKfPfi", 256},
                    GpuExample{"softmax.hip", "softmax", "_Z7softmaxPKfPfi", 256, "passed"},
                    GpuExample{"optimize/row_sums.hip", "row_sums", "_Z8row_sumsPKfPfii", 64},
                    GpuExample{"optimize/transpose.hip", "transpose", "_Z9transposePKfPfii", 1024,
                               "state"},
                    GpuExample{"optimize/layer_norm.cu", "layer_norm",
                               "_Z10layer_normPKfS0_S0_Pfif", 256, "passed"}),
    [](const auto& example) { return std::string(example.param.kernel); });

}  // namespace
}  // namespace perflab::optimize
