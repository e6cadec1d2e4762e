#include "report/dispatch_table_samples.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>

namespace perflab::report {
namespace {

using tune::Outcome;
using tune::RecordedProblem;
using tune::Recording;

/// Without a value: it failed.
void add(Recording& recording, std::vector<tune::Value> values, std::optional<double> value) {
  tune::RecordedConfiguration one;
  one.values = std::move(values);
  one.outcome = value ? Outcome::correct : Outcome::run_failed;
  one.value = value;
  recording.configurations.push_back(std::move(one));
}

DispatchTableSample sample_of(std::vector<std::string> sizes, std::vector<RecordedProblem> problems,
                              bool maximize, const tune::RuleOptions& options) {
  auto measured = tune::join_recordings(std::move(sizes), std::move(problems), maximize);
  EXPECT_TRUE(measured) << (measured ? "" : describe(measured.error()));
  tune::DispatchTable table = tune::make_dispatch_table(*measured, options);
  return {.measured = std::move(*measured), .options = options, .table = std::move(table)};
}

}  // namespace

DispatchTableSample sample_dispatch_table() {
  std::vector<RecordedProblem> problems;
  for (const double m : {128, 512, 2048, 8192})
    for (const double n : {64, 1024, 4096}) {
      RecordedProblem& one = problems.emplace_back();
      one.named = {.size = {{"M", m}, {"N", n}, {"K", 256}},
                   .recording = fmt::format("gemm_{}_{}.json.gz", m, n)};
      Recording& recording = one.recording;
      recording.format = "kernel_tuner";
      recording.unit = "ms";
      recording.parameters = {"BM", "SPLIT", "LAYOUT", "PAD"};
      const double work = m * n / 1e6, tile = m < 1000 ? 16 : 64;
      for (const std::int64_t bm : {16, 64, 128})
        for (const std::int64_t split : {1, 8}) {
          // Small problems want to be split; a wrong tile costs half as much again.
          const bool small = m * n < 300'000;
          const double factor = (static_cast<double>(bm) == tile ? 1 : 1.5) *
                                ((split == 8) == small ? 1 : 1.25) *
                                (1 + 0.004 * std::log2(n / 64));
          const bool fails = bm == 128 && n > 2000;
          const bool skipped = bm == 128 && split == 8 && m < 1000;
          if (!skipped)
            add(recording, {bm, split, std::string("row"), true},
                fails ? std::nullopt : std::optional(factor * (0.01 + work)));
        }
    }
  return sample_of({"M", "N", "K"}, std::move(problems), false, {.loss = 0.01});
}

DispatchTableSample sample_uncovered_table() {
  std::vector<RecordedProblem> problems;
  for (std::int64_t i = 0; i < 3; ++i) {
    RecordedProblem& one = problems.emplace_back();
    one.named = {.size = {{"batch", std::exp2(i)}}, .recording = fmt::format("{}.csv", i)};
    one.recording.format = "csv";
    one.recording.parameters = {"tile"};
    one.recording.dropped = i == 1 ? 2 : 0;
    add(one.recording, {i}, 10.5 + static_cast<double>(i));
    add(one.recording, {std::int64_t{7}}, i == 0 ? std::optional(0.0) : std::nullopt);
  }
  return sample_of({"batch"}, std::move(problems), true, {.leaves = 1});
}

}  // namespace perflab::report
