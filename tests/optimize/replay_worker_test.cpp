// The replay workshop's process for real: this program, started as the worker, on the stand-in
// runtime (tests/hsa_sim).
#include "measure/replay_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/temp_folder.h"
#include "hsa_sim/sim_code_objects.h"
#include "optimize/workshop/optimize_worker.h"
#include "optimize/workshop/workshop_replay.h"
#include "replay/sample_capture.h"

namespace perflab::optimize {
namespace {

using testing::HasSubstr;

constexpr const char* kWorkerFolder = "PERFLAB_TEST_WORKER_FOLDER";

/// With that variable this program is the worker, and no test.
const bool kIsNoWorker = [] {
  if (const char* const folder = std::getenv(kWorkerFolder); folder != nullptr)
    std::_Exit(optimize_worker_main(folder));
  return true;
}();

std::vector<std::string> this_program_as_worker() {
  return {"sh", "-c", std::string(kWorkerFolder) + "=\"$1\" exec \"$0\"",
          std::filesystem::read_symlink("/proc/self/exe")};
}

/// x[i] += 1 over 0, 1, 2, ..., captured, and code objects with other bodies.
class WorkerLab {
 public:
  WorkerLab() {
    test::SampleCapture sample = test::inplace_sample(2048);
    sample.code_object = test::sim_code_object({{.name = "empty"}, {.name = "inplace"}});
    sample.kernarg.resize(test::sim_kernarg_bytes("inplace"));
    sample.description.dispatch.kernel = "inplace";
    sample.description.dispatch.demangled = "inplace(float*, unsigned int)";
    sample.description.dispatch.kernarg_bytes = test::sim_kernarg_bytes("inplace");
    capture_ = sample.write(folder_ / "capture");
    options.capture = folder_ / "capture";
    options.build = "cp {source} {code_object}";
    options.time_limit = std::chrono::milliseconds(8'000);
  }
  Workshop& workshop() {
    if (workshop_ == nullptr) {
      const BenchSetup setup{.capture = options.capture,
                             .compare = {},
                             .perturbations = options.perturbations,
                             .seed = options.seed,
                             .time_limit = options.time_limit,
                             .iterations = options.iterations};
      worker_ = std::make_unique<measure::ReplayWorker>(this_program_as_worker(), to_json(setup));
      auto made = make_replay_workshop(
          *capture_, options, {}, [this](const Json& request) { return worker_->ask(request); });
      EXPECT_TRUE(made) << made.error().message;
      workshop_ = std::move(*made);
    }
    return *workshop_;
  }
  Built built(const std::string& body) {
    // "inplace_twice": other bytes that do the same.
    const std::string object =
        body == "inplace_twice"
            ? test::sim_code_object({{.name = "inplace"}, {.name = "empty"}, {.name = "sum_f32"}})
            : test::sim_code_object({{.name = "inplace", .body = body}});
    const auto source = folder_.write(body + ".hip", object);
    auto outcome = workshop().build(source, folder_ / ("build_" + body));
    EXPECT_TRUE(outcome && outcome->built);
    return *outcome->built;
  }
  Correctness prove(const std::string& body) {
    const auto proof = workshop().prove(built("inplace"), built(body));
    EXPECT_TRUE(proof) << describe(proof.error());
    return proof ? *proof : Correctness{};
  }

  ReplayWorkshopOptions options;

 private:
  test::TempFolder folder_;
  std::optional<capture::Capture> capture_;
  std::unique_ptr<measure::ReplayWorker> worker_;
  std::unique_ptr<Workshop> workshop_;
};

TEST(ReplayWorkerProcess, ProvesAndTimesOnARuntime) {
  ASSERT_TRUE(kIsNoWorker);
  WorkerLab lab;
  const Correctness right = lab.prove("inplace");
  EXPECT_FALSE(right.reason) << right.sentence;
  ASSERT_EQ(right.checks.size(), 6U);
  EXPECT_EQ(right.checks[5].evidence["inputs"], 5);
  EXPECT_EQ(right.checks[2].evidence["elements"], 2048);
  const Correctness skips = lab.prove("inplace_skips");
  EXPECT_EQ(skips.reason, Reason::wrong_output);
  EXPECT_THAT(skips.sentence, HasSubstr("292 of 2048 elements differ"));
  const Built original = lab.built("inplace"), candidate = lab.built("inplace_twice");
  for (const bool on_others : {false, true}) {
    if (on_others) {
      ASSERT_TRUE(lab.workshop().prepare_timing(original, original, candidate));
    }
    for (const Built* const built : {&original, &candidate}) {
      const auto measured = lab.workshop().backend().measure(built->variant);
      ASSERT_TRUE(measured) << describe(measured.error());
      EXPECT_EQ(measured->samples.size(), 5U) << measured->failure;
      for (const double sample : measured->samples) EXPECT_GT(sample, 0);
    }
    const auto wrong = lab.workshop().backend().measure(lab.built("inplace_skips").variant);
    ASSERT_TRUE(wrong) << describe(wrong.error());
    EXPECT_THAT(wrong->failure, HasSubstr("a timed dispatch is wrong: on "));
    EXPECT_TRUE(wrong->samples.empty());
  }
}

TEST(ReplayWorkerProcess, FaultsAndHangsCostOneWorker) {
  WorkerLab lab;
  for (const auto& [how, reason] :
       {std::pair{"fault", Reason::faulted}, std::pair{"hang", Reason::timed_out}}) {
    // The 8th dispatch is the candidate's first: four of the capture alone, three before it.
    const test::ScopedVariable fault("HSA_SIM_FAULT", std::string("dispatch@8=") + how);
    const Correctness proof = lab.prove("inplace_twice");
    EXPECT_EQ(proof.reason, reason) << how << ": " << proof.sentence;
    ASSERT_EQ(proof.checks.size(), 1U);
    EXPECT_EQ(proof.checks[0].name, "golden output");
  }
  EXPECT_EQ(lab.prove("inplace_twice").reason, std::nullopt);
  const test::ScopedVariable fault("HSA_SIM_FAULT", "hsa_init@1=0x1000");
  EXPECT_EQ(lab.prove("inplace_twice").reason, std::nullopt);  // that worker still lives
}

TEST(ReplayWorkerProcess, ACaptureThatIsNotThereIsTheAnswer) {
  measure::ReplayWorker worker(this_program_as_worker(),
                               to_json(BenchSetup{.capture = "/nowhere", .perturbations = 1}));
  const auto answer = worker.ask(Json{{"measure", {{"name", "x"}, {"code_object", ""}}}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::bad_input);
  EXPECT_THAT(answer.error().message, HasSubstr("/nowhere"));
}

}  // namespace
}  // namespace perflab::optimize
