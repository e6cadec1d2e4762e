// Evaluations with real processes, well-behaved and hostile, and code objects after a build.
#include "tune/evaluate/evaluator.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/shell.h"
#include "base/system/interrupt.h"
#include "base/temp_folder.h"
#include "support/code_writer.h"
#include "tune/evaluate/metric.h"
#include "tune/evaluate/process_step.h"
#include "tune/evaluate/run_metrics.h"

namespace perflab::tune {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using test::ScopedVariable;
using test::shell;
using test::TempFolder;
using test::text_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Lt;
using testing::SizeIs;
using testing::StartsWith;

/// One run of a script that prints "t: NUMBER".
Job metric_job(std::string script) {
  Job job;
  job.run = shell(std::move(script));
  job.objective.kind = ObjectiveKind::metric;
  job.objective.metric_pattern = "^t: (\\S+)$";
  job.exact_runs = 1;
  job.run_limit_seconds = 600;
  return job;
}

Evaluation built_one() {
  Evaluation built;
  built.outcome = Outcome::correct;
  return built;
}

Evaluation evaluated(const Job& job, const GpuTimer& timer = {}) {
  Result<Evaluation> evaluation = run(job, built_one(), timer);
  EXPECT_TRUE(evaluation.has_value()) << describe(evaluation.error());
  return std::move(evaluation).value_or(Evaluation{});
}

Evaluation built(const Job& job) {
  Result<Evaluation> evaluation = build(job);
  EXPECT_TRUE(evaluation.has_value()) << describe(evaluation.error());
  return std::move(evaluation).value_or(Evaluation{});
}

/// Whether a process is there; one that has ended but was not waited for is not.
bool is_running(pid_t pid) {
  const std::string stat = text_of(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.substr(name_end + 2, 1) != "Z";
}

TEST(Evaluator, TakesTheNumbersThatTheCommandPrints) {
  const Evaluation one =
      evaluated(metric_job("echo begin; echo 't: 1.5'; echo 't: 2.5e0' >&2; "
                           "printf 't: +2'"));
  EXPECT_EQ(one.outcome, Outcome::correct);
  EXPECT_EQ(one.detail, "");
  EXPECT_EQ(one.value, 2);
  EXPECT_THAT(one.samples, testing::UnorderedElementsAre(1.5, 2.5, 2));
  EXPECT_GT(one.run_seconds, 0);
  EXPECT_EQ(one.longest_run_seconds, one.run_seconds);
}

TEST(Evaluator, RepeatsUntilTheFiguresAreSteady) {
  const TempFolder folder;
  Job job = metric_job(fmt::format("cd {}; echo >> runs; echo t: $((100 / $(wc -l < runs)))",
                                   folder.path().string()));
  job.exact_runs = 0;
  job.repeats.most_runs = 4;
  const Evaluation one = evaluated(job);
  EXPECT_THAT(one.warm_up, ElementsAre(100));
  EXPECT_THAT(one.samples, ElementsAre(50, 33, 25, 20));
  EXPECT_EQ(one.value, 29);
  EXPECT_TRUE(one.unstable);
}

Metric printed(std::string name, std::string pattern) {
  Metric metric;
  metric.name = std::move(name);
  metric.pattern = std::move(pattern);
  return metric;
}

TEST(Evaluator, TakesFurtherMetricsOfEveryRun) {
  const TempFolder folder;
  Job job = metric_job(
      fmt::format("cd {}; echo >> runs; echo t: 1; echo w: $(wc -l < runs) >&2; echo w: 9",
                  folder.path().string()));
  job.exact_runs = 3;
  job.objective.metrics = {printed("watts", "w: (.*)"), printed("none", "no (.*)")};
  const Evaluation one = evaluated(job);
  EXPECT_EQ(one.outcome, Outcome::correct);
  // Medians of 1 and 9, 2 and 9, 3 and 9, and of these.
  ASSERT_THAT(one.metrics, SizeIs(2));
  EXPECT_EQ(one.metrics[0], (MetricValue{.name = "watts", .value = 5.5}));
  EXPECT_EQ(one.metrics[1].value, std::nullopt);
  EXPECT_THAT(one.metrics[1].detail, HasSubstr("'no (.*)' finds"));
  // What a limit needs has to be there.
  job.objective.metrics[1].at_most = 3;
  const Evaluation refused = evaluated(job);
  EXPECT_EQ(refused.outcome, Outcome::run_failed);
  EXPECT_THAT(refused.detail, StartsWith("none: printed nothing"));
}

/// A GPU of sysfs whose power a command can set.
void write_gpu(const fs::path& sysfs, const std::string& microwatts) {
  const fs::path device = sysfs / "bus/pci/devices/0000:c1:00.0";
  fs::create_directories(device / "hwmon/hwmon3");
  std::ofstream(device / "vendor") << "0x1002\n";
  std::ofstream(device / "hwmon/hwmon3/name") << "amdgpu\n";
  std::ofstream(device / "hwmon/hwmon3/power1_average") << microwatts << "\n";
}

TEST(Evaluator, ReadsPowerAndEnergyOfTheGpuWhileTheCommandRuns) {
  const TempFolder folder;
  write_gpu(folder.path(), "100000000");
  const ScopedVariable tree("PERFLAB_SYSFS", folder.path().string());
  const std::string file =
      (folder / "bus/pci/devices/0000:c1:00.0/hwmon/hwmon3/power1_average").string();
  Job job =
      metric_job(fmt::format("sleep 0.6; echo 300000000 > {0}.n; mv {0}.n {0}; sleep 0.6; "
                             "echo 't: 1'",
                             file));
  for (const std::string_view name : {kPowerMetric, kEnergyMetric}) {
    Metric metric;
    metric.name = name;
    metric.source = MetricSource::sensors;
    job.objective.metrics.push_back(metric);
  }
  job.sensor_gpu = "0000:c1:00.0";
  const Evaluation one = evaluated(job);
  ASSERT_EQ(one.outcome, Outcome::correct) << one.detail;
  EXPECT_EQ(one.metrics[0].value, 300);
  // 100 W and then 300 W, about 0.6 s each; the machine may be slow.
  ASSERT_TRUE(one.metrics[1].value.has_value()) << one.metrics[1].detail;
  EXPECT_GT(*one.metrics[1].value, 0.9 * 240);
  EXPECT_LT(*one.metrics[1].value, 300 * one.run_seconds);

  job.run = shell("echo t: 1");
  const Evaluation fast = evaluated(job);
  EXPECT_EQ(fast.outcome, Outcome::correct);
  EXPECT_EQ(fast.metrics[0].value, std::nullopt);
  EXPECT_THAT(fast.metrics[1].detail, HasSubstr("sensors average over 1 s"));
  EXPECT_TRUE(check_sensors(job.objective.metrics, "0000:c1:00.0"));
  job.objective.metrics[0].at_most = 400;
  EXPECT_TRUE(check_sensors(job.objective.metrics, "0000:c1:00.0"));
  EXPECT_EQ(evaluated(job).outcome, Outcome::run_failed);
  const auto none = check_sensors(job.objective.metrics, "0000:ff:00.0");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(none.error().message, StartsWith("no sensor gives the power here: "));
}

TEST(Evaluator, MeasuresWallTime) {
  Job job;
  job.run = {"sleep", "0.05"};
  job.objective.kind = ObjectiveKind::wall_time;
  job.repeats = {.warm_up_runs = 0, .fewest_samples = 2, .most_runs = 2, .steady_cv = 1e9};
  const Evaluation one = evaluated(job);
  ASSERT_THAT(one.samples, SizeIs(2));
  for (const double sample : one.samples) EXPECT_GE(sample, 0.05);
  EXPECT_DOUBLE_EQ(one.run_seconds, one.samples[0] + one.samples[1]);
  EXPECT_EQ(one.longest_run_seconds, std::max(one.samples[0], one.samples[1]));
}

TEST(Evaluator, SaysHowARunFailed) {
  const auto detail = [](std::vector<std::string> argv) {
    Job job = metric_job("");
    job.run = std::move(argv);
    const Evaluation one = evaluated(job);
    EXPECT_EQ(one.outcome, Outcome::run_failed);
    EXPECT_EQ(one.value, std::nullopt);
    return one.detail;
  };
  EXPECT_EQ(detail(shell("echo 't: 1'; echo first >&2; echo 'last one' >&2; echo >&2; exit 3")),
            "exited with code 3: last one");
  EXPECT_EQ(detail(shell("printf 'note\\nHIP Error: 719\\nnote\\n'; exit 1")),
            "exited with code 1: HIP Error: 719");
  EXPECT_EQ(detail(shell("kill -SEGV $$")), "was killed by SIGSEGV (segmentation fault)");
  EXPECT_EQ(detail(shell("exit 7")), "exited with code 7");
  EXPECT_THAT(detail({"/nowhere/kernel"}),
              AllOf(StartsWith("cannot be started: "), HasSubstr("no such program")));
  EXPECT_THAT(detail({}), HasSubstr("no program is named"));
  EXPECT_EQ(detail(shell("echo hello")),
            "printed nothing that the metric's pattern '^t: (\\S+)$' finds");
  EXPECT_EQ(detail(shell("echo t: 1; echo t: fast")),
            "printed 'fast' where the metric's number was expected");
  EXPECT_EQ(detail(shell("echo t: nan")), "printed 'nan' where the metric's number was expected");
  EXPECT_EQ(detail(shell("echo t: 1e999")),
            "printed '1e999' where the metric's number was expected");
}

TEST(Evaluator, AnOutputThatIsNoTextBecomesOneLineOfIt) {
  const Evaluation one =
      evaluated(metric_job("printf 'a\\tb\\033[1m\\377\\303\\244\\355\\240\\200' "
                           ">&2; exit 1"));
  EXPECT_EQ(one.detail, "exited with code 1: a b [1m?\u00e4???");
  EXPECT_EQ(one_line("\xe4\xb8"), "??");
  EXPECT_THAT(one_line(std::string(2000, 'x')), AllOf(EndsWith("x ..."), SizeIs(304)));
}

TEST(Evaluator, CutsARunAtItsLimit) {
  Job job = metric_job("echo t: 1; while :; do sleep 1; done");
  job.run_limit_seconds = 0.1;
  const Evaluation one = evaluated(job);
  EXPECT_EQ(one.outcome, Outcome::timed_out);
  EXPECT_EQ(one.detail, "was stopped after 0.1 s, the time limit");
  EXPECT_EQ(one.value, std::nullopt);
  EXPECT_GE(one.run_seconds, 0.1);
  EXPECT_EQ(one.longest_run_seconds, std::nullopt);
}

TEST(Evaluator, EndsWhatDoesNotWantToEnd) {
  const TempFolder folder;
  Job job =
      metric_job(fmt::format("trap '' TERM INT HUP; (trap '' TERM; while :; do sleep 1; done) "
                             "& echo $! > {}; while :; do sleep 1; done",
                             (folder / "pid").string()));
  job.run_limit_seconds = 3;  // time for the child's id, on a busy machine too
  EXPECT_EQ(evaluated(job).outcome, Outcome::timed_out);
  const pid_t child = std::stoi(text_of(folder / "pid"));
  EXPECT_FALSE(is_running(child));
}

TEST(Evaluator, LeavesNoChildrenBehind) {
  const TempFolder folder;
  const Job job = metric_job(fmt::format(
      "for i in 1 2 3; do sleep 900 & echo $! >> {}; done; echo t: 4", (folder / "pids").string()));
  const Evaluation one = evaluated(job);
  EXPECT_EQ(one.outcome, Outcome::correct);
  EXPECT_EQ(one.value, 4);
  EXPECT_LT(one.run_seconds, 900) << "the children's time is not the program's";
  std::istringstream pids(text_of(folder / "pids"));
  int found = 0;
  for (pid_t pid = 0; pids >> pid; ++found) EXPECT_FALSE(is_running(pid)) << pid;
  EXPECT_EQ(found, 3);
}

TEST(Evaluator, ADaemonThatKeepsTheOutputOpenDoesNotHoldIt) {
  const TempFolder folder;
  const std::string pid_file = (folder / "pid").string();
  const Job job = metric_job(fmt::format(
      "setsid sh -c 'echo $$ >\"$0\"; exec sleep 900' {0} & until [ -s {0} ]; do sleep 0.01; done; "
      "echo t: 4",
      pid_file));
  EXPECT_EQ(evaluated(job).outcome, Outcome::correct);
  const pid_t daemon = std::stoi(text_of(pid_file));
  EXPECT_TRUE(is_running(daemon)) << "it was waited for, or ended";
  ::kill(daemon, SIGKILL);
}

TEST(Evaluator, HasNeitherATerminalNorAnInput) {
  EXPECT_EQ(
      evaluated(metric_job("(echo x > /dev/tty) 2>/dev/null && exit 1; cat; echo t: 1")).value, 1);
}

TEST(Evaluator, AGigabyteOfOutputIsReadAndForgotten) {
  EXPECT_EQ(
      evaluated(metric_job("yes 'no number in here' | head -c 500000000; echo; echo t: 4")).value,
      4);
  EXPECT_EQ(evaluated(metric_job("head -c 500000000 /dev/zero >&2; echo t: 4")).value, 4);
  const Evaluation samples = evaluated(metric_job("yes 't: 4' | head -c 10000000"));
  EXPECT_EQ(samples.value, 4);
  EXPECT_THAT(samples.samples, SizeIs(kMostSamplesOfARun));
}

TEST(Evaluator, ChecksTheResultOnce) {
  const TempFolder folder;
  Job job = metric_job("echo t: 1");
  job.exact_runs = 3;
  job.environment = {{"WHICH", "gpu 1"}};
  job.check = shell(fmt::format("echo \"$WHICH\" >> {}", (folder / "checks").string()));
  EXPECT_EQ(evaluated(job).outcome, Outcome::correct);
  EXPECT_EQ(text_of(folder / "checks"), "gpu 1\n");
  job.already_checked = true;
  EXPECT_EQ(evaluated(job).outcome, Outcome::correct);
  EXPECT_EQ(text_of(folder / "checks"), "gpu 1\n");

  job.already_checked = false;
  job.check = shell("echo 'element 7 differs' >&2; exit 1");
  const Evaluation wrong = evaluated(job);
  EXPECT_EQ(wrong.outcome, Outcome::wrong);
  EXPECT_EQ(wrong.detail, "the check exited with code 1: element 7 differs");
  EXPECT_EQ(wrong.value, std::nullopt);
  EXPECT_THAT(wrong.samples, SizeIs(1)) << "found after the first run";
  job.check = shell("while :; do sleep 1; done");
  job.build_limit_seconds = 0.1;
  EXPECT_EQ(evaluated(job).detail, "the check was stopped after 0.1 s, the time limit");

  job = metric_job("exit 1");
  job.check = shell(fmt::format("echo x >> {}", (folder / "checks").string()));
  EXPECT_EQ(evaluated(job).outcome, Outcome::run_failed);
  EXPECT_EQ(text_of(folder / "checks"), "gpu 1\n") << "what did not run is not checked";
}

TEST(Evaluator, TheEnvironmentIsForRunsNotForBuilds) {
  const TempFolder folder;
  const ScopedVariable cuda("CUDA_VISIBLE_DEVICES", "7");
  const ScopedVariable hip("HIP_VISIBLE_DEVICES", "3");
  const std::string print =
      "echo \"$ROCR_VISIBLE_DEVICES/$HIP_VISIBLE_DEVICES/"
      "${CUDA_VISIBLE_DEVICES-unset}\" >> ";
  Job job = metric_job(print + (folder / "run").string() + "; echo t: 1");
  job.build = shell(print + (folder / "build").string());
  job.environment = {{"ROCR_VISIBLE_DEVICES", "5"}, {"HIP_VISIBLE_DEVICES", "0"}};
  EXPECT_EQ(built(job).outcome, Outcome::correct);
  EXPECT_EQ(evaluated(job).outcome, Outcome::correct);
  EXPECT_EQ(text_of(folder / "build"), "/3/7\n");
  EXPECT_EQ(text_of(folder / "run"), "5/0/unset\n");
}

TEST(Evaluator, TakesTheTimersSamples) {
  Job job;
  job.run = {"app"};
  job.objective.kind = ObjectiveKind::gpu_time;
  job.repeats = {.warm_up_runs = 0, .fewest_samples = 1, .most_runs = 1};
  ProfiledRun profiled{.samples = {30, 10, 20}, .problem = {}, .wall_seconds = 2};
  const GpuTimer timer = [&](const std::vector<std::string>& argv,
                             const Job&) -> Result<ProfiledRun> {
    EXPECT_THAT(argv, ElementsAre("app"));
    return profiled;
  };
  const Evaluation one = evaluated(job, timer);
  EXPECT_EQ(one.value, 20);
  EXPECT_EQ(one.run_seconds, 2);
  profiled = {.samples = {}, .problem = "no\ndispatch"};
  EXPECT_EQ(evaluated(job, timer).detail, "no dispatch");
  profiled = {.samples = {}, .problem = {}, .timed_out = true};
  EXPECT_EQ(evaluated(job, timer).outcome, Outcome::timed_out);
  profiled = {};
  EXPECT_EQ(evaluated(job, timer).outcome, Outcome::run_failed);
  const GpuTimer gone = [](const auto&, const auto&) -> Result<ProfiledRun> {
    return fail(ErrorCode::missing_tool, "rocprofv3 is gone", "install it");
  };
  const auto error = run(job, built_one(), gone);
  ASSERT_FALSE(error.has_value());
  EXPECT_EQ(error.error().code, ErrorCode::missing_tool);
  EXPECT_EQ(run(job, built_one(), {}).error().code, ErrorCode::internal);
}

TEST(Evaluator, RefusesAPatternThatCannotGiveANumber) {
  Job job = metric_job("echo t: 1");
  job.objective.metric_pattern = "t: [0-9]+";
  const auto no_group = run(job, built_one(), {});
  ASSERT_FALSE(no_group.has_value());
  EXPECT_EQ(no_group.error().code, ErrorCode::usage);
  EXPECT_THAT(no_group.error().message, HasSubstr("no group"));
  job.objective.metric_pattern = "(";
  EXPECT_EQ(run(job, built_one(), {}).error().code, ErrorCode::usage);
}

TEST(Evaluator, StopsWhenTheUserSaysSo) {
  const InterruptScope scope;
  std::jthread user([] {
    std::this_thread::sleep_for(milliseconds(100));
    raise_interrupt();
  });
  const auto stopped = run(metric_job("sleep 600; echo t: 1"), built_one(), {});
  user.join();
  clear_interrupts();
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().code, ErrorCode::interrupted);
}

TEST(Evaluator, ALongLineIsTakenInPieces) {
  const Pattern pattern = compile_metric_pattern("v=([0-9]+)").value();
  MetricScanner scanner(pattern);
  for (int i = 0; i < 1000; ++i) {  // stdout and stderr in turn, cut at the worst places
    scanner.feed(1, "v");
    scanner.feed(2, "v=");
    scanner.feed(1, "=1");
    scanner.feed(2, "2");
    scanner.feed(1, "1\n");
    scanner.feed(2, "2\nx");
  }
  const auto found = scanner.finish();
  EXPECT_THAT(found.samples, SizeIs(2000));
  EXPECT_THAT(std::vector(found.samples.begin(), found.samples.begin() + 2), ElementsAre(11, 22));
  MetricScanner long_line(pattern);
  for (int i = 0; i < 100; ++i) long_line.feed(1, std::string(10'000, '.') + " v=5 ");
  EXPECT_THAT(long_line.finish().samples, SizeIs(100));
}

// Builds.

TEST(EvaluatorBuild, MakesItsFolderAndSaysWhatTheCompilerSaid) {
  const TempFolder folder;
  Job job;
  job.build_folder = folder / "deep/er";
  job.build = {"touch", (job.build_folder / "kernel").string()};
  const Evaluation good = built(job);
  EXPECT_EQ(good.outcome, Outcome::correct);
  EXPECT_EQ(good.value, std::nullopt);
  EXPECT_GT(good.build_seconds, 0);
  EXPECT_TRUE(fs::exists(job.build_folder / "kernel"));

  job.build = shell("printf \"k.cpp:3:1: error: expected ';'\\n 3 | x\\n   | ^\\n\" >&2; exit 1");
  const Evaluation bad = built(job);
  EXPECT_EQ(bad.outcome, Outcome::compile_failed);
  EXPECT_EQ(bad.detail, "the build exited with code 1: k.cpp:3:1: error: expected ';'");
  job.build = {"/nowhere/hipcc"};
  EXPECT_EQ(built(job).outcome, Outcome::compile_failed);
  job.build = shell("while :; do sleep 1; done");
  job.build_limit_seconds = 0.1;
  EXPECT_EQ(built(job).outcome, Outcome::timed_out);
  EXPECT_EQ(built(Job{}).outcome, Outcome::correct) << "nothing to build";
  job.build_folder = "/proc/nowhere";
  EXPECT_EQ(build(job).error().code, ErrorCode::usage);
}

/// A code object of gfx942 with two kernels of 64 to 65 VGPRs, 256 work-items and this much LDS.
std::string object_with_lds(std::int64_t lds) {
  test::WrittenCodeObject object = test::sample_code_object(2);
  for (int i = 0; i < 2; ++i) {
    Json& metadata = object.kernels[static_cast<std::size_t>(i)].metadata;
    metadata[".vgpr_count"] = 64 + i;
    metadata[".max_flat_workgroup_size"] = 256;
    metadata[".group_segment_fixed_size"] = lds;
    metadata[".vgpr_spill_count"] = 3;
    metadata[".sgpr_spill_count"] = 2;
    metadata[".private_segment_fixed_size"] = 12;
    metadata[".sgpr_count"] = 40;
  }
  return test::write_code_object(object);
}

TEST(EvaluatorBuild, LooksIntoTheCodeObject) {
  const TempFolder folder;
  Job job;
  job.code_object = folder.write("k.hsaco", object_with_lds(1024));
  job.code_object_kernel = "saxpy_00000\\(";  // only the demangled name has a parenthesis
  job.architecture = "gfx942:sramecc+:xnack-";
  const Evaluation one = built(job);
  EXPECT_EQ(one.outcome, Outcome::correct) << one.detail;
  ASSERT_THAT(one.compiled, SizeIs(1));
  // 64 VGPRs: 8 waves of a SIMD's 512 registers, all slots of gfx942.
  const CompiledKernel expected{.kernel = "_Z11saxpy_00000PKfS0_Pfi",
                                .target = "gfx942",
                                .vgprs = 64,
                                .sgprs = 40,
                                .lds_bytes = 1024,
                                .scratch_bytes = 12,
                                .spills = 5,
                                .occupancy = 1.0,
                                .mix = one.compiled[0].mix,
                                .why_no_mix = one.compiled[0].why_no_mix};
  EXPECT_EQ(one.compiled[0], expected);
  EXPECT_NE(one.compiled[0].mix.has_value(), !one.compiled[0].why_no_mix.empty());
  job.code_object_kernel.clear();
  const Evaluation both = built(job);
  ASSERT_THAT(both.compiled, SizeIs(2));
  // 65 are allocated as 72: 7 waves, and 4 waves of a group on 4 SIMDs leave no half group.
  EXPECT_EQ(both.compiled[1].occupancy, 7.0 / 8);
  job.code_object_kernel = "gemm";
  EXPECT_THAT(built(job).compiled, IsEmpty());
}

TEST(EvaluatorBuild, WhatNeedsMoreThanTheDeviceHasIsNotRun) {
  const TempFolder folder;
  Job job;
  job.code_object = folder.write("k.hsaco", object_with_lds(65'537));
  job.architecture = "gfx942";
  const Evaluation one = built(job);
  EXPECT_EQ(one.outcome, Outcome::not_launchable);
  EXPECT_THAT(one.detail, AllOf(StartsWith("saxpy_00000"),
                                HasSubstr("cannot be launched on gfx942"), HasSubstr("65536")));
  ASSERT_THAT(one.compiled, SizeIs(2));
  EXPECT_EQ(one.compiled[0].lds_bytes, 65'537);
  EXPECT_EQ(one.compiled[0].occupancy, std::nullopt);
}

TEST(EvaluatorBuild, TakesTheArchitecturesOwnCode) {
  const TempFolder folder;
  const std::string other =
      test::write_code_object(test::sample_code_object(1, 0x44, "amdgcn-amd-amdhsa--gfx1102"));
  const std::vector<test::WrittenEntry> entries = {
      {"host-x86_64-unknown-linux-gnu", ""},
      {"hipv4-amdgcn-amd-amdhsa--gfx942", object_with_lds(0)},
      {"hipv4-amdgcn-amd-amdhsa--gfx90a", other}};
  Job job;
  job.code_object = folder.write("k.bundle", test::write_bundle(entries));
  job.architecture = "gfx942";
  EXPECT_THAT(built(job).compiled, SizeIs(2));
  job.architecture.clear();
  EXPECT_THAT(built(job).compiled, SizeIs(3));
  job.architecture = "gfx1030";
  const Evaluation none = built(job);
  EXPECT_EQ(none.outcome, Outcome::correct);
  EXPECT_THAT(none.compiled, IsEmpty());
}

TEST(EvaluatorBuild, ACodeObjectThatIsNotThereIsAFailedBuild) {
  const TempFolder folder;
  Job job;
  job.build = {"true"};
  job.code_object = folder / "k.hsaco";
  const Evaluation missing = built(job);
  EXPECT_EQ(missing.outcome, Outcome::compile_failed);
  EXPECT_THAT(missing.detail,
              AllOf(HasSubstr("the code object cannot be read"), HasSubstr("k.hsaco")));
  job.code_object = folder.write("text", "no code");
  EXPECT_EQ(built(job).outcome, Outcome::compile_failed);
  job.code_object = folder.write("damaged", object_with_lds(0).substr(0, 300));
  EXPECT_EQ(built(job).outcome, Outcome::compile_failed);
  job.code_object = folder.write("k.hsaco", object_with_lds(0));
  job.code_object_kernel = "(";
  EXPECT_EQ(build(job).error().code, ErrorCode::usage);
}

}  // namespace
}  // namespace perflab::tune
