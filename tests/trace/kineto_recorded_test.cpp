// The recorded Kineto files (shared/data/ranks/param_dlrm_8ranks: eight ranks of one step) against
// a second reading of the same JSON that shares no code with the first. Without them: skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/system/packed.h"
#include "trace/read/read_trace.h"

namespace perflab::trace {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> dlrm_files() {
  std::vector<fs::path> files;
  std::error_code ignored;
  const fs::path folder = fs::path(PERFLAB_SHARED_DIR) / "data/ranks/param_dlrm_8ranks";
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".gz") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

TEST(KinetoRecorded, EightRanksAddUp) {
  const std::vector<fs::path> files = dlrm_files();
  if (files.empty()) GTEST_SKIP() << "the recorded Kineto files are not there";
  ASSERT_EQ(files.size(), 8U);
  std::vector<std::int64_t> ranks;
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.filename().string());
    const Result<Trace> trace = read({{file}});
    ASSERT_TRUE(trace.has_value()) << trace.error().message;
    const auto text = read_maybe_packed(file);
    ASSERT_TRUE(text.has_value());
    std::vector<std::int64_t> correlations;
    std::set<std::int64_t> calls_by_id;
    std::int64_t time = 0, copied = 0, called = 0;
    std::size_t kernels = 0, collectives = 0, copies = 0, calls = 0, ranges = 0;
    for (const auto& event : nlohmann::json::parse(*text).at("traceEvents")) {
      const std::string category = event.value("cat", "");
      if (event.value("ph", "") != "X") continue;
      const std::int64_t duration = event.at("dur").get<std::int64_t>() * 1000;
      if (category == "kernel") {
        correlations.push_back(event.at("args").at("correlation").get<std::int64_t>());
        ++kernels;
        time += duration;
        collectives += event.at("name").get<std::string>().starts_with("nccl") ? 1U : 0U;
      }
      if (category == "gpu_memcpy" || category == "gpu_memset") {
        ++copies;
        copied += duration;
      }
      if (category == "cuda_runtime") {
        ++calls;
        called += duration;
        calls_by_id.insert(event.at("args").at("correlation").get<std::int64_t>());
      }
      ranges += category == "user_annotation" ? 1U : 0U;
    }
    const auto sum = [](const auto& columns) {
      std::int64_t total = 0;
      for (std::size_t i = 0; i < columns.size(); ++i) total += columns.end[i] - columns.start[i];
      return total;
    };
    EXPECT_EQ(trace->dispatches.size(), kernels);
    EXPECT_GE(kernels, 245U);
    EXPECT_LE(kernels, 315U);
    EXPECT_EQ(collectives, 8U);
    EXPECT_EQ(sum(trace->dispatches), time);
    EXPECT_EQ(trace->copies.size(), copies);
    EXPECT_EQ(sum(trace->copies), copied);
    EXPECT_EQ(trace->ranges.region.size(), ranges);
    EXPECT_EQ(trace->regions.size(), calls + ranges);
    std::int64_t read_calls = 0;
    for (std::size_t i = 0; i < trace->regions.size(); ++i)
      if (trace->strings.view(trace->regions.category[i]) == "CUDA_RUNTIME_API")
        read_calls += trace->regions.end[i] - trace->regions.start[i];
    EXPECT_EQ(read_calls, called);
    // A kernel has the call that launched it, but where that was before the profiler began.
    std::size_t launched = 0;
    for (std::size_t i = 0; i < trace->dispatches.size(); ++i) {
      const Index launch = trace->dispatches.launch[i];
      if (launch == kNone) continue;
      ++launched;
      EXPECT_EQ(trace->strings.view(trace->regions.name[launch]), "cudaLaunchKernel");
      EXPECT_LE(trace->regions.start[launch], trace->dispatches.start[i]);
    }
    EXPECT_EQ(launched, std::ranges::count_if(correlations, [&](std::int64_t correlation) {
                return calls_by_id.contains(correlation);
              }));
    EXPECT_TRUE(trace->report.dropped.empty());
    ASSERT_EQ(trace->processes.size(), 1U);
    EXPECT_EQ(trace->processes[0].rank.size, 8);
    ranks.push_back(trace->processes[0].rank.rank.value_or(-1));
  }
  EXPECT_THAT(ranks, ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

}  // namespace
}  // namespace perflab::trace
