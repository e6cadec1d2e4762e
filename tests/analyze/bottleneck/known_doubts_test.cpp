// What verdicts must not say: that launches are the limit where copies or the host are, a bound
// that the verdict's own advice beats, less confidence for more evidence.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/bottleneck/known_kernels_checks.h"
#include "support/api_rows.h"
#include "support/rocpd_writer.h"
#include "support/test_database.h"

namespace perflab::analyze {
namespace {

namespace fs = std::filesystem;

enum class Between : std::uint8_t { copies, host_work };

/// 100 dispatches of 10 us in 1 ms each, launched 6 us before they start; in between a copy to the
/// GPU of 840 us with its call, or nothing that was recorded (the host computes).
fs::path write_periods(const fs::path& folder, Between between) {
  fs::create_directories(folder);
  fs::path path = folder / "1000_results.db";
  test::RocpdWriter writer(path);
  writer.agent(test::host_agent());
  writer.agent(test::mi300x().agent());
  writer.queue();
  writer.stream();
  writer.code_object();
  const test::Id id = writer.kernel({.name = "short_kernel"});
  for (int i = 0; i < 100; ++i) {
    const std::int64_t at = 5'000'000'000'000 + std::int64_t{1'000'000} * i;
    if (between == Between::copies)
      writer.launch_copy(test::copy_call(at, at + 850'000),
                         {.start = at + 5'000, .end = at + 845'000, .size = 40'000'000});
    writer.launch(test::kernel_call(at + 900'000, at + 903'000), {.kernel = id,
                                                                  .start = at + 906'000,
                                                                  .end = at + 916'000,
                                                                  .queue = 0,
                                                                  .workgroup = {.x = 256},
                                                                  .grid = {.x = 304 * 8 * 256}});
    writer.region(test::stream_synchronize(at + 904'000, at + 917'000));
  }
  const auto closed = writer.close();
  EXPECT_TRUE(closed) << describe(closed.error());
  return path;
}

TEST(KnownDoubts, CopiesAndHostWorkAreNotLaunches) {
  for (const Between between : {Between::copies, Between::host_work}) {
    const Analysis analysis = analysis_of({write_periods(
        test::test_folder() / fmt::format("{}", static_cast<int>(between)), between)});
    EXPECT_NE(verdict_of(analysis, "short_kernel").verdict, Bottleneck::launch) << dump(analysis);
  }
}

TEST(KnownDoubts, OfDivergenceAndLatencyHoldForTheirOwnAdvice) {
  KernelPhysics divergent = divergent_branch();
  const fs::path folder = test::test_folder();
  const ProgramFiles files =
      write_program(folder / "runs", {divergent, pointer_chase()}, sets_of_mi300x());
  test::write_ui_output(folder / "att", traced(pointer_chase(), files.first_dispatch.at("chase")));
  const Analysis counters = analysis_of(joined(files.timing, files.passes));
  const Analysis all = analysis_of(joined(files.timing, files.passes), {folder / "att"});
  // The same work with all lanes takes a quarter of the vector instructions: 17.5 % of the time at
  // the roof, not 70 %. Four times is what the lanes allow.
  EXPECT_TRUE(equal(*verdict_of(counters, "divergent").bound.kernel_factor, 4));
  // Four loads in flight per wave, as the advice has it, are four times the throughput at the same
  // latency and with the same waves; what bounds it is the memory's bandwidth.
  EXPECT_TRUE(
      equal(*verdict_of(counters, "chase").bound.kernel_factor, kHbm * 2e6 / (6080.0 * 7000 * 64)));
  // A thread trace that says the same makes it no less sure.
  EXPECT_GE(verdict_of(all, "chase").confidence, verdict_of(counters, "chase").confidence);
}

}  // namespace
}  // namespace perflab::analyze
