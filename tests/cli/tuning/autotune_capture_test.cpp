// rocm-perf autotune --capture on the stand-in runtime (tests/hsa_sim): configurations that are
// right, wrong, fault, hang, do not build or cannot be launched; kills and resumption; what is
// refused. One kernel is compiled, and the builds write their values into it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "base/system/files.h"
#include "base/temp_folder.h"
#include "cli/program.h"
#include "hsa_sim/sim_code_objects.h"
#include "replay/sample_capture.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::uint32_t kFloats = 4096;

/// out[i] = 3 x[i], TILE elements to a work-item. Best: 8 elements in work-groups of 128, because
/// configurations with PAD=2 and 16 elements, which would be faster, skip one.
constexpr const char* kKernel = R"(#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
static volatile const char values[] = "@@TILE=04 THREADS=064 PAD=0@@";
static int number(int at, int digits) {
  int n = 0;
  for (int i = at; i < at + digits; ++i) n = n * 10 + (values[i] - '0');
  return n;
}
__global__ void scaled(const float* x, float* out, unsigned n) {
  const int tile = number(7, 2), threads = number(18, 3), pad = number(26, 1);
  const unsigned item = blockIdx.x * blockDim.x + threadIdx.x;
  const bool wrong = tile == 16 && pad == 2;
  if (item == 0 && wrong)
    if (std::FILE* log = std::fopen("wrong.log", "a")) std::fputs("x\n", log), std::fclose(log);
  if (tile == 32 && threads == 32 && pad == 0) *(volatile int*)8 = 1;
  if (tile == 2 && threads == 256 && pad == 1)
    for (volatile int i = 0; i < 1; i = 0) {}
  if (item == 0 && blockDim.x != (unsigned)threads) std::abort();
  const int cost = wrong ? 0 : 40 * std::abs(tile - 8) + std::abs(threads - 128) + 10 * pad;
  if (item == 0)
    for (volatile int i = 0; i < 1000 + 20 * cost; i = i + 1) {}
  for (unsigned i = item * tile; i < (item + 1) * tile; ++i)
    if (!(wrong && i == n - 1)) out[i] = 3 * x[i];
}
)";

class AutotuneCapture : public testing::Test {
 protected:
  void SetUp() override {
    write("k.hip", kKernel);
    ASSERT_EQ(run_in(folder_.path(), {compiler_, "k.hip", "-o", "k.object", "--kernel", "scaled"})
                  .exit_code,
              0);
    write_capture();
    write_space();
  }
  /// Of a launch of the kernel with TILE=4 in work-groups of 64.
  virtual void write_capture() {
    test::SampleCapture sample = test::inplace_sample(kFloats);
    sample.kernarg.clear();
    sample.regions.clear();
    add_memory(sample, test::kSampleBase, test::kSampleBase + 0x100000);
    sample.kernarg.resize(24 + 256);
    sample.description.dispatch.kernarg_bytes = 24 + 256;
    ASSERT_TRUE(sample.write(folder_ / "capture"));
  }
  void add_memory(test::SampleCapture& sample, std::uint64_t in, std::uint64_t out) {
    std::vector<float> x(kFloats), before(kFloats), after(kFloats);
    for (std::uint32_t i = 0; i < kFloats; ++i) after[i] = 3 * (x[i] = static_cast<float>(i) + 1);
    sample.add(in, test::bytes_of_values(x), test::bytes_of_values(x));
    sample.add(out, test::bytes_of_values(before), test::bytes_of_values(after));
    sample.push<std::uint64_t>(in);
    sample.push<std::uint64_t>(out);
    sample.push<std::uint32_t>(kFloats);
    sample.code_object = test::text_of(folder_ / "k.object");
    capture::Dispatch& dispatch = sample.description.dispatch;
    dispatch.kernel = "scaled";
    dispatch.demangled = "scaled(float const*, float*, unsigned int)";
    dispatch.grid = {kFloats / 4, 1, 1};
    dispatch.workgroup = {64, 1, 1};
  }
  void write_space() {
    write(
        "space.json",
        R"({"tune_params": {"TILE": [1, 2, 4, 8, 16, 32], "THREADS": [32, 64, 128, 256],)"
        R"( "PAD": [0, 1, 2]}, "restrictions": ["TILE * THREADS <= 4096"],)"
        R"( "derived": {"items": "4096 // TILE"}, "default": {"TILE": 4, "THREADS": 64, "PAD": 0}})");
    write("build.sh",
          "[ \"$1$3\" = 12 ] && { echo 'error: TILE is too small for PAD' >&2; exit 1; }\n"
          "LC_ALL=C sed \"s/@@TILE=04 THREADS=064 PAD=0@@/$(printf '@@TILE=%02d THREADS=%03d "
          "PAD=%d@@'"
          " $1 $2 $3)/\" k.object > $4\n");
  }
  void write(const std::string& name, const std::string& text) {
    static_cast<void>(folder_.write(name, text));
  }
  [[nodiscard]] ProcessOptions on_stand_in() const {
    ProcessOptions options;
    // A fault is the worker's own signal: a report of ASan would take longer than a dispatch may.
    const char* const asan = std::getenv("ASAN_OPTIONS");
    options.set_environment = {
        {"LD_LIBRARY_PATH", runtime_},
        {"ASAN_OPTIONS", std::string(asan != nullptr ? asan : "") + ":handle_segv=0"}};
    options.unset_environment = {"ROCM_PATH", "HSA_RESERVE_SVM", "PERFLAB_STEERING_ATTEMPT"};
    return options;
  }
  Outcome run(const std::vector<std::string>& more, const std::string& grid = "--grid") {
    std::vector<std::string> words = search_;
    words.insert(words.end(), {grid, grid == "--grid" ? "items" : "items // THREADS"});
    words.insert(words.end(), more.begin(), more.end());
    return rocm_perf(folder_.path(), std::move(words), on_stand_in());
  }
  Json json(std::vector<std::string> more) {
    more.emplace_back("--json");
    const Outcome outcome = run(more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return document("autotune", outcome.out);
  }
  [[nodiscard]] std::vector<std::string> lines_of(const std::string& name) const {
    return text_lines(fs::exists(folder_ / name) ? test::text_of(folder_ / name) : "");
  }

  void expect_best_of_all();

  std::string compiler_ = PERFLAB_SIM_HIPCC, runtime_ = PERFLAB_HSA_SIM_FOLDER;
  std::string fault_ = "SIGSEGV";  ///< what is said of a kernel that faults
  test::TempFolder folder_;
  std::vector<std::string> search_ = {"autotune",
                                      "--space",
                                      "space.json",
                                      "--capture",
                                      "capture",
                                      "--build-template",
                                      "sh build.sh {TILE} {THREADS} {PAD} {code_object}",
                                      "--workgroup",
                                      "THREADS"};
};

Json without_environment(Json document) {
  document.erase("environment");
  return document;
}

const Json& entry_of(const Json& document, const Json& configuration) {
  static const Json kNone;
  for (const Json& entry : document["history"])
    if (entry["configuration"] == configuration) return entry;
  ADD_FAILURE() << "not in the history: " << configuration.dump();
  return kNone;
}

/// Searches the whole space: what each configuration came to, and that only proven ones were timed.
void AutotuneCapture::expect_best_of_all() {
  const Json found = json({"--budget", "100", "--effort", "full", "--prune-factor", "1000"});
  EXPECT_EQ(found["best"]["configuration"], (Json{{"TILE", 8}, {"THREADS", 128}, {"PAD", 0}}));
  EXPECT_EQ(found["space"]["listed"], 69);
  const Json& capture = found["capture"];
  EXPECT_EQ(capture["demangled"], "scaled(float const*, float*, unsigned int)");
  EXPECT_EQ(capture["proof"]["verdict"], "bitwise");
  EXPECT_EQ(capture["launch"]["workgroup"], "THREADS");
  EXPECT_GT(capture["gain"]["low"], 1);
  EXPECT_EQ(capture["value"], found["default"]["value"]);  // the same kernel in the same geometry
  std::size_t timed = 0;
  for (const Json& entry : found["history"]) {
    const Json& values = entry["configuration"];
    const bool worked = entry["outcome"] == "correct";
    timed += worked;
    EXPECT_EQ(entry["samples"] > 0, worked) << entry.dump();
    if (!worked) continue;
    const Json& proof = entry["proof"];
    EXPECT_EQ(proof["verdict"], "bitwise");
    EXPECT_EQ(proof["compared_bytes"], kFloats * 4);
    EXPECT_EQ(proof["workgroup"], (Json{values["THREADS"], 1, 1}));
    EXPECT_EQ(proof["grid"], (Json{kFloats / values["TILE"].get<std::uint32_t>(), 1, 1}));
  }
  EXPECT_EQ(timed, found["outcomes"]["correct"]);
  const Json wrong = entry_of(found, {{"TILE", 16}, {"THREADS", 64}, {"PAD", 2}});
  EXPECT_EQ(wrong["outcome"], "correctness");
  EXPECT_EQ(wrong["detail"], wrong["proof"]["sentence"]);
  EXPECT_THAT(wrong["detail"].get<std::string>(), HasSubstr("1 of 4096 elements differ"));
  const Json fault = entry_of(found, {{"TILE", 32}, {"THREADS", 32}, {"PAD", 0}});
  EXPECT_EQ(fault["outcome"], "runtime");
  EXPECT_THAT(fault["detail"].get<std::string>(), HasSubstr(fault_));
  const Json hang = entry_of(found, {{"TILE", 2}, {"THREADS", 256}, {"PAD", 1}});
  EXPECT_EQ(hang["outcome"], "timeout");
  EXPECT_THAT(hang["detail"].get<std::string>(), StartsWith("timed_out: "));
  const Json unbuilt = entry_of(found, {{"TILE", 1}, {"THREADS", 64}, {"PAD", 2}});
  EXPECT_EQ(unbuilt["outcome"], "compile");
  EXPECT_EQ(found["outcomes"]["correctness"], 4);
  // A proof runs a wrong one twice (as captured, on poison); timing it would be six times more.
  EXPECT_LE(lines_of("wrong.log").size(), 2U * 4U);
}

TEST_F(AutotuneCapture, EveryConfigurationIsProvenBeforeItIsTimed) {
  expect_best_of_all();
}

/// The same on the stand-in for CUDA's driver (tests/cuda_sim), where the kernel is a cubin's.
class AutotuneCaptureCuda : public AutotuneCapture {
 protected:
  AutotuneCaptureCuda() {
    compiler_ = PERFLAB_SIM_NVCC;
    runtime_ = PERFLAB_CUDA_SIM_FOLDER;
    fault_ = "kernel_fault";
  }
  void write_capture() override {
    test::SampleCapture sample;
    add_memory(sample, 0x7000'00e0'0000, 0x7000'02e0'0000);
    for (test::SampleRegion& one : sample.regions) {
      one.region.pool_flags = 0;
      one.region.granule = one.region.recommended_granule = 0;
    }
    capture::Dispatch& dispatch = sample.description.dispatch;
    dispatch.ordinal = 1;
    dispatch.kernarg_bytes = 20;
    dispatch.captured_ns = 2000;
    dispatch.cuda.emplace();
    dispatch.cuda->max_dynamic_shared_bytes = 48 * 1024;
    dispatch.cuda->registers = 16;
    dispatch.cuda->parameters = {
        {.offset = 0, .size = 8}, {.offset = 8, .size = 8}, {.offset = 16, .size = 4}};
    capture::Machine& machine = sample.description.machine;
    machine.platform = capture::Platform::cuda;
    machine.isa = machine.agent_name = "sm_90";
    machine.product_name = "NVIDIA H100 80GB HBM3";
    machine.gpu_count = 1;
    machine.runtime_version = "13.0";
    ASSERT_TRUE(sample.write(folder_ / "capture"));
  }
};

TEST_F(AutotuneCaptureCuda, EveryConfigurationIsProvenBeforeItIsTimed) {
  expect_best_of_all();
}

TEST_F(AutotuneCaptureCuda, AMeasurementWhileTheGpuIsThrottledIsRepeated) {
  // One of the first readings says so; what it belongs to is measured again.
  const test::ScopedVariable script("NVML_SIM_SCRIPT", "1980,1410/4,1980");
  runtime_ += ":" PERFLAB_NVML_SIM_FOLDER;
  const Json conditions = json({"--budget", "12"})["environment"]["conditions"];
  EXPECT_EQ(conditions["source"], "nvml");
  EXPECT_GE(conditions["repeated"], 1);
  EXPECT_EQ(conditions["disturbed"], 0);
  EXPECT_GT(conditions["turns"].size(), 12U);
}

TEST_F(AutotuneCapture, WithoutSensorsTheReasonIsThere) {
  const Json conditions = json({"--budget", "4"})["environment"]["conditions"];
  EXPECT_EQ(conditions["source"], nullptr);
  EXPECT_NE(conditions["no_source_because"], nullptr);
}

TEST_F(AutotuneCapture, TheAnswerSaysWhatIsGainedOverWhatWasCaptured) {
  const Outcome outcome = run({"--budget", "12"}, "--blocks");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("  scaled(float const*, float*, unsigned "
                              "int) takes "),
                    HasSubstr("its proof: "), HasSubstr("mkdir -p tuned && sh build.sh "),
                    HasSubstr(" tuned/kernel.")));
}

TEST_F(AutotuneCapture, AKilledSearchGoesOn) {
  const std::vector<std::string> budget = {"--budget", "20", "--effort", "full"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), budget.begin(), budget.end());
    return more;
  };
  const Json whole = json(with({"--journal", "whole.jsonl"}));
  std::vector<std::string> words = search_;
  words.insert(words.begin(), PERFLAB_PROGRAM);
  words.insert(words.end(), {"--grid", "items", "--journal", "killed.jsonl"});
  words.insert(words.end(), budget.begin(), budget.end());
  ProcessOptions options = on_stand_in();
  options.working_directory = folder_.path();
  options.standard_output = options.standard_error = StreamMode::discard;
  options.tick = milliseconds(5);
  options.grace = milliseconds(0);  // killed at once
  options.give_up = [&] { return lines_of("killed.jsonl").size() > 8; };
  ASSERT_TRUE(run_program(words, options));
  const std::size_t left = lines_of("killed.jsonl").size();
  EXPECT_GT(left, 8U);
  EXPECT_LT(left, lines_of("whole.jsonl").size());
  const Json found = json(with({"--journal", "killed.jsonl", "--resume"}));
  EXPECT_EQ(without_environment(found), without_environment(whole));
  EXPECT_GT(found["environment"]["resumed"], 0);
  // A journal of other launches is another one.
  const Outcome other = run(with({"--journal", "killed.jsonl", "--resume", "--max-ulp", "1"}));
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_THAT(other.err, HasSubstr("its command is"));
}

TEST_F(AutotuneCapture, WhatCannotBeLaunchedOrLoadedIsNamedPerConfiguration) {
  write("space.json", R"({"tune_params": {"TILE": [4], "THREADS": [64, 2048], "PAD": [0, 1]},)"
                      R"( "derived": {"items": "4096 // TILE"}})");
  write("build.sh",
        "[ $3 = 1 ] && { [ $2 = 64 ] && head -c 100 k.object > $4; exit 0; }\ncp k.object $4\n");
  const Json found = json({"--budget", "4", "--effort", "full"});
  const auto entry = [&](int threads, int pad) {
    return entry_of(found, {{"TILE", 4}, {"THREADS", threads}, {"PAD", pad}});
  };
  EXPECT_EQ(entry(64, 0)["outcome"], "correct");
  EXPECT_EQ(entry(2048, 0)["outcome"], "device_limit");
  EXPECT_THAT(entry(2048, 0)["detail"].get<std::string>(),
              HasSubstr("a work-group has at most 1024 work-items"));
  EXPECT_EQ(entry(64, 1)["outcome"], "compile");
  EXPECT_EQ(entry(2048, 1)["outcome"], "compile");
  EXPECT_THAT(entry(2048, 1)["detail"].get<std::string>(), HasSubstr("the build left no "));
}

TEST_F(AutotuneCapture, OptionsThatSayNothingAreRefusedByName) {
  const auto refused = [&](const std::vector<std::string>& more) {
    const Outcome outcome = run(more);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
    return outcome.err;
  };
  EXPECT_THAT(refused({"--executor", "slurm"}),
              HasSubstr("--executor slurm is not possible with --capture"));
  for (const std::vector<std::string>& one :
       std::vector<std::vector<std::string>>{{"--cmd-template", "./k"},
                                             {"--check", "true"},
                                             {"--metric-regex", "(x)"},
                                             {"--kernel", "k"},
                                             {"--gpus", "0"},
                                             {"--objective", "wall"}})
    EXPECT_THAT(refused(one), HasSubstr(one.front() + " says nothing with --capture"));
  EXPECT_THAT(refused({"--blocks", "1"}), HasSubstr("--grid and --blocks say the same"));
  EXPECT_THAT(refused({"--dynamic-lds", "1,2"}), HasSubstr("--dynamic-lds 1,2: it takes one"));
  search_[6] = "sh build.sh {TILE}";
  EXPECT_THAT(refused({}), HasSubstr("does not say with {code_object}"));
  search_.resize(3);
  EXPECT_THAT(refused({"--cmd-template", "./k"}),
              HasSubstr("--grid says nothing without --capture"));
}

TEST_F(AutotuneCapture, ACaptureThatProvesNothingEndsTheSearchAtOnce) {
  test::SampleCapture sample = test::inplace_sample(16);
  sample.code_object = test::sim_code_object({{.name = "inplace", .body = "empty"}});
  sample.kernarg.resize(test::sim_kernarg_bytes("inplace"));
  sample.description.dispatch.kernarg_bytes = test::sim_kernarg_bytes("inplace");
  fs::remove_all(folder_ / "capture");
  ASSERT_TRUE(sample.write(folder_ / "capture"));
  const Outcome outcome = run({});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("does not reproduce itself"));
  EXPECT_TRUE(lines_of("autotune.journal.jsonl").empty());
}

}  // namespace
}  // namespace perflab::cli
