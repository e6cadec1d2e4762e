// PC sampling through the stand-in rocprofv3: what it offers, what is chosen, how a start ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <thread>

#include "base/system/interrupt.h"
#include "base/temp_folder.h"
#include "collect/pc_sampling_pass.h"
#include "collect/stand_in_rocprofv3.h"

namespace perflab::collect {
namespace {

namespace fs = std::filesystem;
using pc_sampling::Method;
using std::chrono::milliseconds;
using test::ScopedVariable;
using test::TempFolder;
using test::text_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const PcSamplingOffer kMi300Trap{.gpu = "gfx942", .method = Method::host_trap, .least = 1};
const PcSamplingOffer kMi300Stochastic{.gpu = "gfx942",
                                       .method = Method::stochastic,
                                       .least = 256,
                                       .most = 1 << 20,
                                       .power_of_two = true};
const PcSamplingOffer kMi210Trap{.gpu = "gfx90a", .method = Method::host_trap, .least = 1};
const PcSamplingOffer kGfx12Trap{.gpu = "gfx1201", .method = Method::host_trap, .least = 1024};

TEST(PcSamplingOffers, BothFormsOfTheAnswer) {
  EXPECT_THAT(pc_sampling_offers("GPU:0\nName:gfx942\nconfigs:\n"
                                 "    Method :host_trap\n  Unit :time\n  Min_Interval :1\n"
                                 "  Max_Interval :18446744073709551615\n  Flags :none\n\n"
                                 "    Method :stochastic\n  Unit :cycles\n  Min_Interval :256\n"
                                 "  Max_Interval :1048576\n  Flags :interval pow2\n"
                                 "GPU:1\nNAME:gfx90a\nconfigs:\nMethod :host_trap\n"
                                 "Min_Interval :1\n"),
              ElementsAre(kMi300Trap, kMi300Stochastic, kMi210Trap));
  const PcSamplingOffer unnamed{.gpu = "", .method = Method::host_trap, .least = 1};
  EXPECT_THAT(pc_sampling_offers("Name:\tSQ_WAVES\nBlock: SQ\n"
                                 "List available PC Sample Configurations for node_id 11\n"
                                 "\tMethod: ROCPROFILER_PC_SAMPLING_METHOD_HOST_TRAP\n"
                                 "\tUnit: ROCPROFILER_PC_SAMPLING_UNIT_TIME\n"
                                 "\tMinimum_Interval: 1\n"
                                 "\tMaximum_Interval: 18446744073709551615\n"),
              ElementsAre(unnamed));
}

TEST(PcSamplingOffers, NothingAndNonsense) {
  EXPECT_THAT(pc_sampling_offers(""), IsEmpty());
  EXPECT_THAT(pc_sampling_offers("GPU:0\nName:gfx1100\n"), IsEmpty());
  EXPECT_THAT(pc_sampling_offers("Method: psychic\nMin_Interval: 3\n:\n::\n"), IsEmpty());
}

PcSamplingChoice chosen(const std::vector<PcSamplingOffer>& offers, std::string_view gpu,
                        const PcSamplingWish& wish) {
  const Result<PcSamplingChoice> choice = choose_pc_sampling(offers, gpu, wish);
  EXPECT_TRUE(choice) << choice.error().message;
  return choice.value_or(PcSamplingChoice{});
}

TEST(PcSamplingChoice, StochasticWhereTheGpuHasIt) {
  const std::vector<PcSamplingOffer> all{kMi300Trap, kMi300Stochastic, kMi210Trap, kGfx12Trap};
  const PcSamplingChoice mi300 = chosen(all, "gfx942", {});
  EXPECT_EQ(mi300.method, Method::stochastic);
  EXPECT_EQ(mi300.interval, 65'536U);
  EXPECT_THAT(mi300.notes, IsEmpty());
  const PcSamplingChoice mi210 = chosen(all, "gfx90a", {});
  EXPECT_EQ(mi210.method, Method::host_trap);
  EXPECT_EQ(mi210.interval, 512U);
  const PcSamplingChoice rdna4 = chosen(all, "gfx1201", {});
  EXPECT_EQ(rdna4.interval, 1024U);  // the least it takes
  EXPECT_THAT(rdna4.notes, ElementsAre(HasSubstr("the interval is 1024")));
  EXPECT_EQ(chosen(all, "gfx942", {.method = Method::host_trap, .interval = 100}).interval, 100U);
  EXPECT_EQ(chosen(all, "", {}).method, Method::stochastic);
  EXPECT_THAT(chosen(all, "gfx942", {.method = {}, .interval = 4096}).notes,
              ElementsAre(HasSubstr("lose samples")));
}

TEST(PcSamplingChoice, RefusalsHaveTheirReason) {
  const std::vector<PcSamplingOffer> all{kMi300Trap, kMi300Stochastic, kMi210Trap};
  const auto refused = [&](std::string_view gpu, const PcSamplingWish& wish) {
    const Result<PcSamplingChoice> choice = choose_pc_sampling(all, gpu, wish);
    EXPECT_FALSE(choice);
    return choice ? Error{} : choice.error();
  };
  EXPECT_EQ(refused("gfx1100", {}).code, ErrorCode::missing_tool);
  EXPECT_THAT(refused("gfx1100", {}).message, HasSubstr("no PC sampling on gfx1100"));
  EXPECT_THAT(refused("gfx90a", {.method = Method::stochastic, .interval = {}}).message,
              HasSubstr("does not offer stochastic sampling on gfx90a"));
  EXPECT_EQ(refused("gfx942", {.method = {}, .interval = 128}).code, ErrorCode::usage);
  EXPECT_THAT(refused("gfx942", {.method = {}, .interval = 70'000}).remedy, HasSubstr("65536"));
}

TEST(PcSamplingChoice, OfCuptiIsItsOwnUnlessCyclesAreGiven) {
  const auto choice = [](std::optional<Method> method, std::optional<std::uint64_t> interval) {
    return choose_cuda_pc_sampling({.method = method, .interval = interval});
  };
  EXPECT_EQ(choice({}, {}).value().method, Method::cupti);
  EXPECT_EQ(choice({}, {}).value().interval, 0U);
  EXPECT_EQ(choice({}, 32).value().interval, 32U);
  EXPECT_EQ(choice({}, std::uint64_t{1} << 31).value().interval, std::uint64_t{1} << 31);
  ASSERT_FALSE(choice(Method::stochastic, {}));
  EXPECT_EQ(choice(Method::stochastic, {}).error().code, ErrorCode::usage);
  for (const auto& [cycles, remedy] : std::map<std::uint64_t, std::string>{
           {16, "give 32,"}, {1000, "give 512,"}, {std::uint64_t{1} << 32, "give 2147483648,"}}) {
    ASSERT_FALSE(choice({}, cycles)) << cycles;
    EXPECT_EQ(choice({}, cycles).error().code, ErrorCode::usage);
    EXPECT_THAT(choice({}, cycles).error().remedy, HasSubstr(remedy));
  }
}

TEST(PcSamplingFaults, AreThoseOfTheGpuMethodAndVersion) {
  using enum PcSamplingSymptom;
  EXPECT_THAT(known_pc_sampling_faults(no_samples, "gfx1201", Method::host_trap, "1.3.3"),
              testing::Contains(HasSubstr("11706")));
  EXPECT_THAT(known_pc_sampling_faults(no_samples, "gfx1201", Method::host_trap, "1.2.0"),
              testing::Not(testing::Contains(HasSubstr("11706"))));
  EXPECT_THAT(known_pc_sampling_faults(always, "gfx942", Method::stochastic, "0.6.0"), SizeIs(1));
  EXPECT_THAT(known_pc_sampling_faults(always, "gfx942", Method::stochastic, "1.1.0"), IsEmpty());
  EXPECT_THAT(known_pc_sampling_faults(always, "gfx942", Method::stochastic, ""), IsEmpty());
  EXPECT_THAT(known_pc_sampling_faults(hang, "", Method::stochastic, ""), SizeIs(2));
}

class PcSamplingPass : public testing::Test {
 protected:
  PcSamplingPass() {
    base_ = test::traced_collection(folder_.path());
    fs::create_directory(folder_ / "samples");
    for (const char* const file :
         {"1_results.json", "1_pc_sampling_stochastic.csv", "1_kernel_trace.csv"})
      EXPECT_TRUE(fs::exists(folder_.write("samples/" + std::string(file), "{}\n")));
    ::setenv("FAKE_ROCPROFV3_PC", (folder_ / "samples").c_str(), 1);
    request_.choice = {.method = Method::stochastic, .interval = 65'536, .notes = {}};
    request_.architecture = "gfx942";
    request_.limit = milliseconds(20'000);
  }

  static void use_mode(const char* mode) { ::setenv("FAKE_ROCPROFV3_PC_MODE", mode, 1); }

  [[nodiscard]] static CollectPlan plan(std::vector<std::string> target) {
    CollectPlan plan;
    plan.target = std::move(target);
    plan.grace = milliseconds(500);
    return plan;
  }

  [[nodiscard]] PcSamplingRun collected(const CollectPlan& plan) const {
    Result<PcSamplingRun> run = collect_pc_samples(plan, base_, request_);
    EXPECT_TRUE(run.has_value()) << describe(run.error());
    return std::move(run).value_or(PcSamplingRun{});
  }

  [[nodiscard]] std::vector<PcSamplingOffer> offers() const {
    Result<std::vector<PcSamplingOffer>> asked = ask_for_pc_sampling(*base_.rocprofv3);
    EXPECT_TRUE(asked) << asked.error().message;
    return asked ? *asked : std::vector<PcSamplingOffer>();
  }

  [[nodiscard]] Error problem_with(const char* mode) const {
    use_mode(mode);
    const PcSamplingRun run = collected(plan({"true"}));
    EXPECT_TRUE(run.problem.has_value()) << mode;
    return run.problem.value_or(Error{});
  }

  TempFolder folder_;
  Collection base_;
  PcSamplingRequest request_;

 private:
  ScopedVariable samples_{"FAKE_ROCPROFV3_PC", std::nullopt};
  ScopedVariable mode_{"FAKE_ROCPROFV3_PC_MODE", std::nullopt};
  ScopedVariable log_{"FAKE_ROCPROFV3_LOG", (folder_ / "log").string()};
};

TEST_F(PcSamplingPass, AsksTheProfilerFirst) {
  EXPECT_THAT(offers(), ElementsAre(kMi300Trap, kMi300Stochastic));
  use_mode("host_trap");
  EXPECT_THAT(offers(), ElementsAre(kMi210Trap));
  use_mode("old");
  EXPECT_THAT(offers(), SizeIs(1));
  use_mode("no_offer");
  EXPECT_THAT(offers(), IsEmpty());
  use_mode("refuse");
  const auto refused = ask_for_pc_sampling(*base_.rocprofv3);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::missing_tool);
}

TEST_F(PcSamplingPass, RunsTheTargetOnceIntoAFolderOfItsOwn) {
  const PcSamplingRun run =
      collected(plan({"sh", "-c", "echo x >> '" + (folder_ / "count").string() + "'"}));
  EXPECT_FALSE(run.problem.has_value()) << describe(*run.problem);
  EXPECT_THAT(run.notes, IsEmpty());
  EXPECT_EQ(run.folder, base_.folder / "pc_sampling");
  EXPECT_THAT(run.files, ElementsAre(run.folder / "1_results.json"));
  EXPECT_EQ(text_of(folder_ / "count"), "x\n");
  EXPECT_EQ(collected(plan({"true"})).folder, base_.folder / "pc_sampling_2");
}

TEST_F(PcSamplingPass, TheCommandLineHasAllThatItNeeds) {
  const PcSamplingRun run = collected(plan({"true", "--pc"}));
  EXPECT_EQ(text_of(folder_ / "log"),
            "# rocprofv3\n--pc-sampling-beta-enabled\n--pc-sampling-method\nstochastic\n"
            "--pc-sampling-unit\ncycles\n--pc-sampling-interval\n65536\n--kernel-trace\n-f\ncsv\n"
            "json\n-d\n" +
                run.folder.string() + "\n--\ntrue\n--pc\n");
  request_.choice = {.method = Method::host_trap, .interval = 512, .notes = {}};
  EXPECT_FALSE(collected(plan({"true"})).problem);
  EXPECT_THAT(text_of(folder_ / "log"),
              HasSubstr("\nhost_trap\n--pc-sampling-unit\ntime\n--pc-sampling-interval\n512\n"));
}

TEST_F(PcSamplingPass, SettingsOfTheEnvironmentDoNotLeakIn) {
  const ScopedVariable off("HSA_DISABLE_PC_SAMPLING", "1");
  const ScopedVariable interval("ROCPROF_PC_SAMPLING_INTERVAL", "9");
  EXPECT_FALSE(collected(plan({"sh", "-c",
                               "test -z \"$HSA_DISABLE_PC_SAMPLING"
                               "$ROCPROF_PC_SAMPLING_INTERVAL\""}))
                   .problem.has_value());
}

TEST_F(PcSamplingPass, WhatTheProfilerRefusesIsNamed) {
  const Error unsupported = problem_with("unsupported");
  EXPECT_EQ(unsupported.code, ErrorCode::missing_tool);
  EXPECT_THAT(unsupported.message, HasSubstr("no GPU of this machine takes"));
  EXPECT_THAT(problem_with("driver").message, HasSubstr("kernel driver is too old"));
  EXPECT_THAT(problem_with("driver").remedy, HasSubstr("amdgpu-dkms"));
}

TEST_F(PcSamplingPass, NoSamplesAtAllIsAProblemWithItsKnownFaults) {
  const Error none = problem_with("none");
  EXPECT_EQ(none.code, ErrorCode::missing_tool);
  EXPECT_THAT(none.message, HasSubstr("ended well and left no sample"));
  EXPECT_THAT(none.notes, testing::Contains(HasSubstr("issues/11588")));
}

TEST_F(PcSamplingPass, TheWatchdogStopsAHangAndKeepsWhatThereIs) {
  use_mode("hang");
  request_.limit = milliseconds(400);
  const PcSamplingRun run = collected(plan({"true"}));
  ASSERT_TRUE(run.problem);
  EXPECT_EQ(run.problem->code, ErrorCode::target_failed);
  EXPECT_THAT(run.problem->message, HasSubstr("PC sampling took longer than"));
  EXPECT_THAT(run.problem->notes, testing::Contains(HasSubstr("issues/9531")));
  EXPECT_THAT(run.files, SizeIs(1));
}

TEST_F(PcSamplingPass, ACrashKeepsWhatWasWritten) {
  use_mode("truncated");
  const PcSamplingRun run = collected(plan({"true"}));
  ASSERT_TRUE(run.problem);
  EXPECT_EQ(run.problem->code, ErrorCode::target_failed);
  EXPECT_THAT(run.files, SizeIs(1));
}

TEST_F(PcSamplingPass, AnOldRocprofv3AndOptionsThatAreOurs) {
  use_mode("refuse");
  const Result<PcSamplingRun> old = collect_pc_samples(plan({"true"}), base_, request_);
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(old.error().remedy, HasSubstr("leave out --pc-sampling"));
  EXPECT_TRUE(fs::is_empty(base_.folder));
  CollectPlan ours = plan({"true"});
  ours.extra_options = {"--pc-sampling-interval=5"};
  const Result<PcSamplingRun> usage = collect_pc_samples(ours, base_, request_);
  ASSERT_FALSE(usage);
  EXPECT_EQ(usage.error().code, ErrorCode::usage);
}

TEST(PcSamplingLimit, GrowsWithThePlainRunAndStaysBelowTheTimeout) {
  EXPECT_EQ(pc_sampling_limit(Nanos{2'000'000'000}, std::nullopt), milliseconds(70'000));
  EXPECT_EQ(pc_sampling_limit(Nanos{2'000'000'000}, milliseconds(5'000)), milliseconds(5'000));
}

}  // namespace
}  // namespace perflab::collect
