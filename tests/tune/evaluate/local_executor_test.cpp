// The executor of this machine: workers, GPUs of a written topology, order, errors and Ctrl-C.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "base/shell.h"
#include "base/system/interrupt.h"
#include "base/temp_folder.h"
#include "tune/evaluate/executor.h"
#include "tune/evaluate/visible_gpus.h"

namespace perflab::tune {
namespace {

namespace fs = std::filesystem;
using test::ScopedVariable;
using test::shell;
using test::TempFolder;
using test::text_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

/// Jobs whose command prints their number.
std::vector<Job> jobs_that(std::size_t count, const std::string& script) {
  std::vector<Job> jobs(count);
  for (std::size_t i = 0; i < count; ++i) {
    jobs[i].id = 100 + i;
    jobs[i].run = shell(fmt::format("i={}; {}", i, script));
    jobs[i].objective.kind = ObjectiveKind::metric;
    jobs[i].objective.metric_pattern = "t: ([0-9]+)";
    jobs[i].exact_runs = 1;
  }
  return jobs;
}

/// A topology as the kernel driver writes it: node 0 is a CPU, the others are GPUs.
struct Node {
  std::uint32_t device = 0x74a1;
  std::int64_t version = 90402;
  int simds = 1216;
  std::uint64_t unique_id = 0;
};
fs::path write_topology(const TempFolder& folder, const std::vector<Node>& gpus) {
  const fs::path nodes = folder / "nodes";
  const auto write = [&](std::size_t number, const std::string& text) {
    fs::create_directories(nodes / std::to_string(number));
    std::ofstream(nodes / std::to_string(number) / "properties") << text;
  };
  write(0, "cpu_cores_count 96\nsimd_count 0\nvendor_id 0\ngfx_target_version 0\n");
  for (std::size_t i = 0; i < gpus.size(); ++i)
    write(i + 1, fmt::format("cpu_cores_count 0\nsimd_count {}\nsimd_per_cu 4\n"
                             "gfx_target_version {}\nvendor_id 4098\ndevice_id {}\nunique_id {}\n",
                             gpus[i].simds, gpus[i].version, gpus[i].device, gpus[i].unique_id));
  fs::create_directories(nodes / "12");  // one that this process may not look into
  return nodes;
}

std::unique_ptr<Executor> executor_of(LocalOptions options) {
  auto made = make_local_executor(std::move(options), {});
  EXPECT_TRUE(made.has_value()) << describe(made.error());
  return made ? *std::move(made) : nullptr;
}

/// Variables of whoever runs the tests do not count.
class LocalExecutor : public testing::Test {
 protected:
  ScopedVariable rocr_{"ROCR_VISIBLE_DEVICES", std::nullopt};
  ScopedVariable hip_{"HIP_VISIBLE_DEVICES", std::nullopt};
  ScopedVariable cuda_{"CUDA_VISIBLE_DEVICES", std::nullopt};
  TempFolder folder_;
  fs::path topology_ = write_topology(
      folder_, {{}, {}, {.unique_id = 0xabc}, {.device = 0x740c, .version = 90010, .simds = 440}});
};
using Topology = LocalExecutor;

TEST_F(Topology, ListsTheGpusInTheirOrder) {
  const std::vector<Gpu> gpus = gpus_of_topology(topology_);
  ASSERT_THAT(gpus, SizeIs(4));
  EXPECT_EQ(gpus[0].architecture, "gfx942");
  EXPECT_EQ(gpus[0].name, "AMD Instinct MI300X gfx942 304 CUs device 0x74a1");
  EXPECT_EQ(gpus[0], gpus[2]);
  EXPECT_EQ(gpus[3].architecture, "gfx90a");
  EXPECT_THAT(gpus[3].name, HasSubstr("gfx90a 110 CUs device 0x740c"));
  EXPECT_THAT(gpus_of_topology(folder_ / "nothing"), IsEmpty());
  // Ten and more nodes are in the order of their numbers, not of their names.
  const TempFolder many;
  std::vector<Node> nodes(11);
  nodes[9].simds = 400;
  EXPECT_THAT(gpus_of_topology(write_topology(many, nodes))[9].name, HasSubstr("100 CUs"));
}

TEST_F(Topology, DamagedPropertiesAreNoGpu) {
  const TempFolder folder;
  fs::create_directories(folder / "0");
  fs::create_directories(folder / "1");
  fs::create_directories(folder / "x");
  static_cast<void>(folder.write("0/properties", "simd_count many\n\n  \nsimd_count\n"));
  static_cast<void>(folder.write("1/properties", "simd_count 8\ngfx_target_version 99\n"));
  const std::vector<Gpu> gpus = gpus_of_topology(folder.path());
  ASSERT_THAT(gpus, SizeIs(1));
  EXPECT_EQ(gpus[0].name, "gfx_target_version 99 8 CUs device 0x0000");
}

TEST_F(Topology, SeesWhatTheVariablesLeave) {
  const auto nodes = [&](std::string_view rocr, std::string_view hip) {
    std::vector<std::size_t> seen;
    for (const TopologyGpu& gpu : visible_gpus(read_topology(topology_), rocr, hip))
      seen.push_back(gpu.node);
    return seen;
  };
  EXPECT_THAT(nodes("", ""), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(nodes("2,0", ""), ElementsAre(2, 0));
  EXPECT_THAT(nodes("2, 0,3", "1,2"), ElementsAre(0, 3));
  EXPECT_THAT(nodes("GPU-0000000000000ABC,1", ""), ElementsAre(2, 1));
  EXPECT_THAT(nodes("1,9,0", ""), ElementsAre(1)) << "ends at the first that is none";
  EXPECT_THAT(nodes("-1", ""), IsEmpty());
}

TEST_F(LocalExecutor, GivesEachWorkerItsOwnGpu) {
  const ScopedVariable rocr("ROCR_VISIBLE_DEVICES", "2,0,1");
  const ScopedVariable cuda("GPU_DEVICE_ORDINAL", "7");
  const auto executor = executor_of({.gpus = {"0", "2"}, .topology = topology_});
  EXPECT_EQ(executor->width(), 2U);
  EXPECT_EQ(executor->gpu(), "AMD Instinct MI300X gfx942 304 CUs device 0x74a1");
  // Each waits for the other: only two workers at once get through.
  const std::vector<Job> jobs = jobs_that(
      2, fmt::format("cd {}; echo \"$ROCR_VISIBLE_DEVICES/$HIP_VISIBLE_DEVICES/"
                     "${{GPU_DEVICE_ORDINAL-unset}}\" > e$i; touch $i; n=0; while [ ! -e "
                     "$((1-i)) ] && [ $n -lt 12000 ]; do sleep 0.01; n=$((n+1)); done; echo t: $n",
                     folder_.path().string()));
  std::map<std::size_t, Finished> finished;
  const auto done = executor->evaluate(jobs, false, [&](Finished&& one) -> Result<void> {
    finished[one.index] = std::move(one);
    return {};
  });
  ASSERT_TRUE(done.has_value()) << describe(done.error());
  ASSERT_THAT(finished, SizeIs(2));
  std::map<std::string, std::string> environment;
  for (const auto& [index, one] : finished) {
    EXPECT_LT(one.evaluation.value.value_or(12000), 12000) << one.evaluation.detail;
    environment[one.worker] = text_of(folder_ / ("e" + std::to_string(index)));
  }
  EXPECT_THAT(environment, UnorderedElementsAre(testing::Pair("gpu 0", "2/0/unset\n"),
                                                testing::Pair("gpu 2", "1/0/unset\n")));
}

TEST_F(LocalExecutor, ComparesOnlyEqualGpus) {
  const auto refused = [&](std::vector<std::string> gpus) {
    auto made = make_local_executor({.gpus = std::move(gpus), .topology = topology_}, {});
    EXPECT_FALSE(made.has_value());
    return made ? Error{} : made.error();
  };
  const Error differ = refused({"1", "3"});
  EXPECT_EQ(differ.code, ErrorCode::usage);
  EXPECT_THAT(differ.message, AllOf(HasSubstr("GPUs 1 and 3 differ"), HasSubstr("gfx942 304 CUs"),
                                    HasSubstr("gfx90a 110 CUs")));
  EXPECT_EQ(refused({"4"}).message, "GPU 4 is not there: the GPUs are 0 to 3");
  EXPECT_EQ(refused({"x"}).code, ErrorCode::usage);
  EXPECT_EQ(refused({"0", "0"}).message, "GPU 0 is named twice");
  EXPECT_EQ(refused({"2", "GPU-0000000000000abc"}).message,
            "GPU GPU-0000000000000abc is named twice");
  topology_ = folder_ / "nothing";
  EXPECT_EQ(refused({"0"}).message, "GPU 0 is not there: this process sees no GPU");
  const auto cpu = executor_of({.gpus = {}, .topology = topology_});
  EXPECT_EQ(cpu->width(), 1U);
  EXPECT_EQ(cpu->gpu(), "");
}

TEST_F(LocalExecutor, LeavesTheEnvironmentAloneWithoutChosenGpus) {
  const ScopedVariable hip("HIP_VISIBLE_DEVICES", "3,1");
  const auto executor = executor_of({.gpus = {}, .topology = topology_});
  EXPECT_THAT(executor->gpu(), HasSubstr("gfx90a")) << "the first that a program sees";
  const std::vector<Job> jobs =
      jobs_that(1, "echo \"${ROCR_VISIBLE_DEVICES-unset} $HIP_VISIBLE_DEVICES\" >&2; exit 1");
  const auto done = executor->evaluate(jobs, false, [](Finished&& one) -> Result<void> {
    EXPECT_EQ(one.evaluation.detail, "exited with code 1: unset 3,1");
    EXPECT_EQ(one.worker, "");
    return {};
  });
  EXPECT_TRUE(done.has_value());
}

TEST_F(LocalExecutor, SerialMeansInOrderOnOneWorker) {
  const auto executor = executor_of({.gpus = {"0", "1"}, .topology = topology_});
  const fs::path log = folder_ / "log";
  const std::vector<Job> jobs =
      jobs_that(4, fmt::format("echo $i $ROCR_VISIBLE_DEVICES >> {}; echo t: $i", log.string()));
  std::vector<std::size_t> order;
  const auto done = executor->evaluate(jobs, true, [&](Finished&& one) -> Result<void> {
    order.push_back(one.index);
    EXPECT_EQ(one.worker, "gpu 0");
    EXPECT_EQ(one.evaluation.value, static_cast<double>(one.index));
    return {};
  });
  EXPECT_TRUE(done.has_value());
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(text_of(log), "0 0\n1 0\n2 0\n3 0\n");
}

TEST_F(LocalExecutor, BuildsWhatIsRun) {
  for (const bool overlap : {true, false}) {
    const TempFolder folder;
    const auto executor = executor_of(
        {.gpus = {}, .build_jobs = 3, .overlap_builds = overlap, .topology = folder_ / "nothing"});
    std::vector<Job> jobs = jobs_that(
        6, fmt::format("cd {}; ls | grep -c '^b' >> seen; cat b$i", folder.path().string()));
    for (std::size_t i = 0; i < jobs.size(); ++i)
      jobs[i].build = i == 4 ? shell("exit 9")
                             : shell(fmt::format("echo t: {} > {}", 10 * i,
                                                 (folder / ("b" + std::to_string(i))).string()));
    jobs[5].already_built = true;
    jobs[5].run = shell("echo t: 50");
    std::map<std::size_t, Evaluation> results;
    const auto done = executor->evaluate(jobs, false, [&](Finished&& one) -> Result<void> {
      EXPECT_TRUE(results.emplace(one.index, std::move(one.evaluation)).second);
      return {};
    });
    ASSERT_TRUE(done.has_value()) << describe(done.error());
    ASSERT_THAT(results, SizeIs(6));
    for (const auto& [index, one] : results) {
      if (index == 4) {
        EXPECT_EQ(one.outcome, Outcome::compile_failed);
        continue;
      }
      EXPECT_EQ(one.value, 10.0 * static_cast<double>(index)) << one.detail;
      EXPECT_EQ(one.build_seconds > 0, index != 5);
    }
    EXPECT_FALSE(fs::exists(folder / "b5"));
    if (!overlap) {
      EXPECT_EQ(text_of(folder / "seen"), "4\n4\n4\n4\n") << "all builds come first";
    }
  }
}

TEST_F(LocalExecutor, BuildsWithoutRunning) {
  const auto executor = executor_of({.gpus = {}, .build_jobs = 2, .topology = folder_ / "nothing"});
  std::vector<Job> jobs = jobs_that(5, fmt::format("touch {}", (folder_ / "ran").string()));
  for (std::size_t i = 0; i < jobs.size(); ++i)
    jobs[i].build = shell(fmt::format("exit {}", i == 2 ? 1 : 0));
  std::map<std::size_t, Outcome> outcomes;
  const auto done = executor->build_all(jobs, [&](Finished&& one) -> Result<void> {
    EXPECT_TRUE(outcomes.emplace(one.index, one.evaluation.outcome).second);
    return {};
  });
  ASSERT_TRUE(done.has_value());
  ASSERT_THAT(outcomes, SizeIs(5));
  for (const auto& [index, outcome] : outcomes)
    EXPECT_EQ(outcome, index == 2 ? Outcome::compile_failed : Outcome::correct);
  EXPECT_FALSE(fs::exists(folder_ / "ran"));
}

TEST_F(LocalExecutor, CallsBackOnTheCallingThreadAndStopsWhenToldTo) {
  const auto executor = executor_of({.gpus = {"0", "1"}, .build_jobs = 2, .topology = topology_});
  const std::vector<Job> jobs = jobs_that(20, "echo t: 1");
  const auto caller = std::this_thread::get_id();
  int calls = 0;
  const auto full = executor->evaluate(jobs, false, [&](Finished&&) -> Result<void> {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    if (++calls < 5) return {};
    return fail(ErrorCode::usage, "the disk is full");
  });
  ASSERT_FALSE(full.has_value());
  EXPECT_EQ(full.error().message, "the disk is full");
  EXPECT_EQ(calls, 5);
  EXPECT_TRUE(executor->evaluate({}, false, [](Finished&&) -> Result<void> { return {}; }));
  EXPECT_TRUE(executor->evaluate({}, true, [](Finished&&) -> Result<void> { return {}; }));
}

TEST_F(LocalExecutor, WhatWouldFailAllJobsEndsTheCall) {
  const auto executor = executor_of({.gpus = {"0", "1"}, .topology = topology_});
  std::vector<Job> jobs = jobs_that(3, "echo t: 1");
  for (Job& job : jobs) job.objective.kind = ObjectiveKind::gpu_time;
  const auto done = executor->evaluate(jobs, false, [](Finished&&) -> Result<void> { return {}; });
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, ErrorCode::internal);
}

TEST_F(LocalExecutor, CtrlCLosesNothingThatWasFinished) {
  const InterruptScope scope;
  for (const bool serial : {false, true}) {
    const auto executor = executor_of({.gpus = {"0", "1"}, .topology = topology_});
    const fs::path log = folder_ / (serial ? "serial" : "parallel");
    const std::vector<Job> jobs = jobs_that(
        8,
        fmt::format("if [ $i -ge 4 ]; then sleep 600; fi; echo t: 1; echo x >> {}", log.string()));
    std::size_t calls = 0;
    const auto done = executor->evaluate(jobs, serial, [&](Finished&& one) -> Result<void> {
      EXPECT_EQ(one.evaluation.outcome, Outcome::correct);
      if (++calls == 4) raise_interrupt();
      return {};
    });
    clear_interrupts();
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, ErrorCode::interrupted);
    EXPECT_EQ(calls, 4U);
    EXPECT_EQ(text_of(log), "x\nx\nx\nx\n");
  }
}

}  // namespace
}  // namespace perflab::tune
