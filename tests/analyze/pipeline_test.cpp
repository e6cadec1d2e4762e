// From files to conclusions: errors, several runs, and recorded databases with the facts that stand
// in the SOURCE.md beside them.
#include "analyze/pipeline.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/big_trace.h"
#include "support/rocpd_writer.h"
#include "support/test_database.h"

namespace perflab::analyze {
namespace {

namespace fs = std::filesystem;
using test::RocpdWriter;
using test::test_folder;

constexpr std::int64_t kT0 = 5'000'000'000'000;

/// A database with one dispatch of each duration of kernel `name`.
fs::path write_run(const std::string& file, const std::string& name,
                   std::initializer_list<std::int64_t> durations) {
  const fs::path path = fs::path(testing::TempDir()) / "perflab-analyze" /
                        testing::UnitTest::GetInstance()->current_test_info()->name() /
                        (file + ".db");
  fs::create_directories(path.parent_path());
  test::WriterOptions options;
  options.guid = "run-" + file;
  RocpdWriter writer(path, options);
  writer.agent(test::host_agent());
  writer.agent(test::mi300x_agent());
  writer.queue();
  writer.queue();
  writer.stream();
  writer.code_object();
  writer.kernel({.name = name});
  std::int64_t at = kT0;
  for (const std::int64_t duration : durations) {
    writer.dispatch({.start = at, .end = at + duration});
    at += duration + 10;
  }
  const Result<void> done = writer.close();
  EXPECT_TRUE(done) << describe(done.error());
  return path;
}

TEST(AnalyzeFiles, WithoutDispatchesIsBadInput) {
  const fs::path path = write_run("empty", "k", {});
  const auto result = analyze_files({path});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::bad_input);
  EXPECT_EQ(result.error().message, path.string() + ": holds no kernel dispatch");
  EXPECT_EQ(result.error().remedy,
            "record a run that launches kernels, with rocprofv3 --kernel-trace -f rocpd");
}

TEST(AnalyzeFiles, WithoutDispatchesInAnyFileSaysSo) {
  const fs::path a = write_run("a", "k", {});
  const fs::path b = write_run("b", "k", {});
  const auto result = analyze_files({a, b});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message,
            a.string() + ": holds no kernel dispatch, nor does any other file given");
}

TEST(AnalyzeFiles, WithUnfinishedDispatchesOnlySaysSo) {
  const fs::path path = write_run("cut", "k", {-5, -6});
  const auto result = analyze_files({path});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message,
            path.string() +
                ": holds no finished kernel dispatch (2 unfinished or damaged ones were left out)");
}

TEST(AnalyzeFiles, OfALauncherAndACounterRunSelectsAKernel) {
  // A shell that starts the application is traced too; it dispatches nothing.
  const fs::path launcher = write_run("launcher", "unused", {});
  const fs::path counted = test_folder() / "counted.db";
  ASSERT_TRUE(test::write_big_trace(
      counted, {.dispatches = 10, .processes = 1, .copies_every = 0, .counters = true}));
  const auto runs = analyze_runs({{launcher, counted}});
  ASSERT_TRUE(runs) << describe(runs.error());
  ASSERT_TRUE(runs->representative.analysis.selection);
  EXPECT_EQ(runs->representative.analysis.timed_dispatches, 10U);
  EXPECT_EQ(runs->stability.runs.size(), 1U);
}

TEST(AnalyzeRuns, TellsHowFarItIs) {
  std::vector<std::pair<std::string, double>> told;
  AnalyzeOptions options;
  options.threads = 1;
  options.progress = [&](std::string_view what, double done) { told.emplace_back(what, done); };
  ASSERT_TRUE(analyze_runs({{write_run("a", "k", {10})}, {write_run("b", "k", {20})}}, options));
  ASSERT_FALSE(told.empty());
  EXPECT_TRUE(std::ranges::is_sorted(told, {}, &std::pair<std::string, double>::second));
  EXPECT_GE(told.front().second, 0);
  EXPECT_LE(told.back().second, 1);
  const auto begun = [&](const char* what) {
    return std::ranges::count(told, what, &std::pair<std::string, double>::first);
  };
  EXPECT_GT(begun("reading a.db"), 0);
  EXPECT_GT(begun("reading b.db"), 0);
  EXPECT_GE(begun("building the graph"), 2);
}

TEST(AnalyzeRuns, TakesTheMedianRun) {
  const auto runs = analyze_runs({{write_run("slow", "k", {120})},
                                  {write_run("fast", "k", {80})},
                                  {write_run("middle", "k", {40, 60})}});
  ASSERT_TRUE(runs) << describe(runs.error());
  EXPECT_EQ(runs->representative_index, 2U);
  EXPECT_EQ(runs->representative.trace.sources[0].guid, "run-middle");
  EXPECT_EQ(runs->representative.analysis.kernels[0].durations.total, 100);
  EXPECT_DOUBLE_EQ(runs->stability.cv.value(), 0.2);
  EXPECT_EQ(runs->stability.label, stats::Stability::unstable);
  for (const auto& error : runs->failed) EXPECT_FALSE(error.has_value());
}

TEST(AnalyzeRuns, LeavesOutARunThatCannotBeUsed) {
  const fs::path missing = test_folder() / "nobody.db";
  const auto runs =
      analyze_runs({{write_run("a", "k", {100})}, {missing}, {write_run("b", "k", {110})}});
  ASSERT_TRUE(runs) << describe(runs.error());
  EXPECT_EQ(runs->representative_index, 0U);
  ASSERT_TRUE(runs->failed[1]);
  EXPECT_EQ(runs->failed[1]->message, missing.string() + ": no such file or directory");
  EXPECT_EQ(runs->stability.runs[1].all_kernels_total, std::nullopt);
  EXPECT_TRUE(runs->stability.cv);
}

TEST(AnalyzeRuns, WithNoUsableRunIsTheFirstError) {
  const fs::path folder = test_folder();
  const auto runs = analyze_runs({{folder / "first.db"}, {folder / "second.db"}});
  ASSERT_FALSE(runs);
  EXPECT_EQ(runs.error().message, (folder / "first.db").string() + ": no such file or directory");
}

TEST(AnalyzeRuns, MeasuresTheKernelOfTheRepresentativeRun) {
  const auto runs = analyze_runs({{write_run("a", "a", {100})}, {write_run("b", "b", {300})}});
  ASSERT_TRUE(runs) << describe(runs.error());
  EXPECT_EQ(runs->representative_index, 0U);
  EXPECT_EQ(runs->stability.runs[0].kernel_total, 100);
  EXPECT_EQ(runs->stability.runs[1].kernel_total, std::nullopt);
  EXPECT_EQ(runs->stability.cv, std::nullopt);
}

class Recorded : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(folder_))
      GTEST_SKIP() << "skipped: " << folder_ << " is not there (recorded databases are kept "
                   << "outside the project)";
  }
  Analysis analysis(const std::vector<std::string>& files) {
    std::vector<fs::path> paths;
    for (const std::string& file : files) paths.push_back(folder_ / file);
    auto analyzed = analyze_files(paths);
    if (analyzed) return std::move(analyzed->analysis);
    ADD_FAILURE() << describe(analyzed.error());
    return {};
  }
  fs::path folder_ = fs::path(PERFLAB_SHARED_DIR) / "data/rocpd";
};

TEST_F(Recorded, Mi350x) {
  const Analysis a = analysis({"mi350x_rocprofsys/rocpd.db"});
  ASSERT_EQ(a.kernels.size(), 1U);
  const Kernel& kernel = a.kernels[0];
  EXPECT_EQ(kernel.name, "bit_extract_kernel(unsigned int*, unsigned int const*, unsigned long)");
  EXPECT_EQ(kernel.durations.total, 10920);
  EXPECT_EQ(kernel.workgroups, 512U);
  EXPECT_EQ(kernel.launches_linked, 1U);
  EXPECT_EQ(kernel.gpu.product, "AMD Instinct MI350X");
  EXPECT_EQ(kernel.gpu.facts_from, "hal");
  EXPECT_EQ(kernel.resources.vgprs, 8);  // recorded 4, in the granules of another architecture
  EXPECT_EQ(a.counters.size(), 0U);
  ASSERT_EQ(a.copies.size(), 2U);
  EXPECT_EQ(a.copies[0].kind, "MEMORY_COPY_HOST_TO_DEVICE");
  EXPECT_DOUBLE_EQ(a.copies[0].gb_per_s.value(), 4'000'000.0 / 78'000);
  EXPECT_EQ(a.copies[1].total, 76'321);
  EXPECT_EQ(a.allocations.size(), 1U);
  std::uint64_t calls = 0;
  for (const ApiCall& call : a.api_calls) calls += call.count;
  EXPECT_EQ(calls, 59U);
}

std::vector<std::string> passes(int first, int last) {
  std::vector<std::string> files;
  for (int pass = first; pass <= last; ++pass)
    files.push_back(fmt::format("mi210_vcopy_13_passes/pass_{}/{}_results.db", pass, 1000 + pass));
  return files;
}

TEST_F(Recorded, Mi210FirstPass) {
  const Analysis a = analysis(passes(1, 1));
  ASSERT_EQ(a.kernels.size(), 1U);
  EXPECT_EQ(a.kernels[0].name, "vecCopy(double*, double*, double*, int, int)");
  EXPECT_EQ(a.kernels[0].durations.count, 3U);
  EXPECT_EQ(a.kernels[0].durations.total, 19200 + 16320 + 16320);
  EXPECT_EQ(a.kernels[0].durations.max, 19200);
  EXPECT_EQ(a.kernels[0].resources.vgprs, 8);
  EXPECT_EQ(a.kernels[0].gpu.compute_units, 104);
  EXPECT_EQ(a.kernels[0].workgroups, 4096U);
  EXPECT_TRUE(a.timed_under_counters);
  EXPECT_EQ(a.counters.size(), 49U);
  const auto misses = std::ranges::find(a.counters, "TCC_MISS_sum", &Counter::name);
  ASSERT_NE(misses, a.counters.end());
  EXPECT_EQ(misses->total, 393239);
  EXPECT_EQ(misses->min, 131075);
  EXPECT_EQ(misses->max, 131087);
  EXPECT_EQ(misses->pass, 1);
}

TEST_F(Recorded, Mi210AllPassesTimeOnePassOnly) {
  std::vector<std::string> files = passes(1, 13);
  std::ranges::reverse(files);  // the order of the files does not choose the pass
  const Analysis a = analysis(files);
  EXPECT_EQ(a.kernels[0].durations.count, 3U);
  EXPECT_EQ(a.kernels[0].durations.total, 19200 + 16320 + 16320);
  EXPECT_EQ(a.other_pass_dispatches, 36U);
  EXPECT_TRUE(a.timed_under_counters);
  const auto waves = std::ranges::find(a.counters, "SQ_WAVES", &Counter::name);
  ASSERT_NE(waves, a.counters.end());
  EXPECT_EQ(waves->pass, 5);
  EXPECT_EQ(waves->min, 16384);
  EXPECT_EQ(waves->max, 16384);
  EXPECT_EQ(waves->dispatches, 3U);
  EXPECT_EQ(std::ranges::count(a.counters, CounterState::suspicious, &Counter::state), 0);
}

TEST_F(Recorded, EmulatedCountersAreSuspicious) {
  for (const char* file : {"pmc_multi_serial.db", "pmc_single2.db", "pmc_tcc.db"}) {
    const Analysis a = analysis({std::string("emulated_mi300x/") + file});
    ASSERT_FALSE(a.counters.empty()) << file;
    for (const Counter& counter : a.counters)
      EXPECT_EQ(counter.state, CounterState::suspicious) << file << " " << counter.name;
    EXPECT_TRUE(std::ranges::any_of(a.warnings, [](const std::string& warning) {
      return warning.find("counters are suspicious") != std::string::npos;
    }));
  }
}

TEST_F(Recorded, EmulatedProcessesAreOneRun) {
  const Analysis a = analysis(
      {"emulated_mi300x/multiproc/process_1.db", "emulated_mi300x/multiproc/process_2.db"});
  EXPECT_EQ(a.timed_dispatches, 18U);
  EXPECT_EQ(a.other_pass_dispatches, 0U);
  std::uint64_t linked = 0;
  for (const Kernel& kernel : a.kernels) linked += kernel.launches_linked;
  EXPECT_EQ(linked, 18U);
}

TEST_F(Recorded, EmulatedOverlapsOnOneQueueAreNoError) {
  const Analysis a = analysis({"emulated_mi300x/streams.db"});
  EXPECT_EQ(a.timed_dispatches, 14U);
  EXPECT_GT(a.activity.overlapping_on_queue, 0U);
  EXPECT_LE(a.activity.gpu_busy, a.activity.last_end - a.activity.first_start);
  ASSERT_TRUE(a.selection);
  EXPECT_FALSE(a.kernels[a.selection->kernel].runtime_helper);
}

}  // namespace
}  // namespace perflab::analyze
