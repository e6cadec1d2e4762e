// Which dispatches of which passes are the same work.
#include "analyze/counters/counter_join.h"

#include <gtest/gtest.h>

#include "analyze/trace_builder.h"

namespace perflab::analyze {
namespace {

using trace::Index;
using Dispatches = std::vector<Index>;

class CounterJoinTest : public testing::Test {
 protected:
  Index dispatch(Index kernel, std::array<std::uint32_t, 3> grid = {1024, 1, 1},
                 std::array<std::uint32_t, 3> workgroup = {256, 1, 1}) {
    clock_ += 100;
    return b_.dispatch(
        kernel,
        {.start = clock_,
         .duration = 10,
         .config = {.workgroup = workgroup, .grid = grid, .lds_bytes = 0, .scratch_bytes = 0}});
  }
  Index counted(Index kernel, std::array<std::uint32_t, 3> grid = {1024, 1, 1},
                std::array<std::uint32_t, 3> workgroup = {256, 1, 1}) {
    const Index at = dispatch(kernel, grid, workgroup);
    if (b_.trace.counter_infos.empty()) b_.counter("SQ_WAVES");
    b_.value(at, 0, 16);
    return at;
  }
  /// The GPU with this number, for what follows.
  void on_gpu(std::int64_t number) {
    b_.agent("gfx942");
    b_.trace.agents.back().absolute_index = number;
  }
  CounterJoin join() {
    const Passes passes = find_passes(b_.trace);
    return join_counters(b_.trace, passes, find_timing_scope(b_.trace, passes));
  }
  std::string name(const JoinedKernel& kernel) const {
    return std::string(b_.trace.strings.view(kernel.name));
  }

  TraceBuilder b_;
  std::int64_t clock_ = 1000;
};

TEST_F(CounterJoinTest, TakesTheOrdinalWithinKernelAndGeometry) {
  // Every run interleaves its kernels in another way.
  b_.agent("gfx942");
  b_.source();
  Index a = b_.kernel("a"), b = b_.kernel("b");
  const Dispatches timed_a{dispatch(a), dispatch(a)};
  const Dispatches timed_b{dispatch(b)};
  b_.source(1);
  a = b_.kernel("a");
  b = b_.kernel("b");
  const Index first_a = counted(a), first_b = counted(b), second_a = counted(a);
  b_.source(2);
  b = b_.kernel("b");
  a = b_.kernel("a");
  const Index other_b = counted(b), other_a = counted(a), last_a = counted(a);
  const CounterJoin joined = join();
  ASSERT_EQ(joined.kernels.size(), 2U);
  EXPECT_EQ(name(joined.kernels[0]), "a");
  EXPECT_EQ(joined.kernels[0].architecture, "gfx942");
  ASSERT_EQ(joined.kernels[0].shapes.size(), 1U);
  EXPECT_EQ(joined.kernels[0].shapes[0].timed, timed_a);
  EXPECT_EQ(joined.kernels[0].shapes[0].in_pass,
            (std::vector<Dispatches>{{first_a, second_a}, {other_a, last_a}}));
  EXPECT_EQ(joined.kernels[1].shapes[0].timed, timed_b);
  EXPECT_EQ(joined.kernels[1].shapes[0].in_pass, (std::vector<Dispatches>{{first_b}, {other_b}}));
  EXPECT_TRUE(joined.assumptions.empty());
}

TEST_F(CounterJoinTest, KeepsGeometriesApart) {
  b_.agent("gfx942");
  b_.source(1);
  const Index kernel = b_.kernel("k");
  const Index wide = counted(kernel, {2048, 1, 1}), tall = counted(kernel, {1024, 2, 1});
  const Index small = counted(kernel, {1024, 2, 1}, {64, 1, 1});
  const CounterJoin joined = join();
  ASSERT_EQ(joined.kernels.size(), 1U);
  ASSERT_EQ(joined.kernels[0].shapes.size(), 3U);
  EXPECT_EQ(joined.kernels[0].shapes[0].in_pass, (std::vector<Dispatches>{{small}}));
  EXPECT_EQ(joined.kernels[0].shapes[1].in_pass, (std::vector<Dispatches>{{tall}}));
  EXPECT_EQ(joined.kernels[0].shapes[2].in_pass, (std::vector<Dispatches>{{wide}}));
}

TEST_F(CounterJoinTest, KeepsArchitecturesApart) {
  b_.source(1);
  const Index kernel = b_.kernel("k");
  b_.agent("gfx942:sramecc+:xnack-");
  counted(kernel);
  b_.agent("gfx90a");
  counted(kernel);
  const CounterJoin joined = join();
  ASSERT_EQ(joined.kernels.size(), 2U);
  EXPECT_EQ(joined.kernels[0].architecture, "gfx90a");
  EXPECT_EQ(joined.kernels[1].architecture, "gfx942");
}

TEST_F(CounterJoinTest, GpusOfOneKindHaveOrdinalsOfTheirOwn) {
  b_.source(1);
  const Index kernel = b_.kernel("k");
  b_.agent("gfx942");
  const Index first = counted(kernel), second = counted(kernel);
  b_.agent("gfx942");
  const Index third = counted(kernel);
  const CounterJoin joined = join();
  ASSERT_EQ(joined.kernels.size(), 1U);
  ASSERT_EQ(joined.kernels[0].shapes.size(), 2U);
  EXPECT_EQ(joined.kernels[0].shapes[0].in_pass, (std::vector<Dispatches>{{first, second}}));
  EXPECT_EQ(joined.kernels[0].shapes[1].in_pass, (std::vector<Dispatches>{{third}}));
}

TEST_F(CounterJoinTest, TheGpuMayBeAnotherOneInEachRun) {
  b_.source();
  on_gpu(1);
  const Index timed = dispatch(b_.kernel("k"));
  b_.source(1);
  on_gpu(2);
  const Index first = counted(b_.kernel("k"));
  b_.source(2);
  on_gpu(7);
  const Index second = counted(b_.kernel("k"));
  const CounterJoin joined = join();
  ASSERT_EQ(joined.kernels.size(), 1U);
  ASSERT_EQ(joined.kernels[0].shapes.size(), 1U);
  EXPECT_EQ(joined.kernels[0].shapes[0].gpu, 0U);
  EXPECT_EQ(joined.kernels[0].shapes[0].timed, (Dispatches{timed}));
  EXPECT_EQ(joined.kernels[0].shapes[0].in_pass, (std::vector<Dispatches>{{first}, {second}}));
}

TEST_F(CounterJoinTest, ACopyToAnotherGpuChangesNothing) {
  // Pass 1 copies to a GPU with a lower number, the run without counters to one with a higher.
  b_.source();
  on_gpu(2);
  const Index timed = dispatch(b_.kernel("k"));
  on_gpu(3);
  b_.copy("HostToDevice", clock_ + 20, 10, 4096);
  b_.source(1);
  on_gpu(1);
  b_.copy("HostToDevice", clock_ + 50, 10, 4096);
  on_gpu(2);
  const Index first = counted(b_.kernel("k"));
  b_.source(2);
  const Index second = counted(b_.kernel("k"));
  const CounterJoin joined = join();
  ASSERT_EQ(joined.kernels.size(), 1U);
  ASSERT_EQ(joined.kernels[0].shapes.size(), 1U);
  EXPECT_EQ(joined.kernels[0].shapes[0].timed, (Dispatches{timed}));
  EXPECT_EQ(joined.kernels[0].shapes[0].in_pass, (std::vector<Dispatches>{{first}, {second}}));
}

TEST_F(CounterJoinTest, AnotherKernelOnAnotherGpuChangesNothing) {
  b_.source();
  on_gpu(2);
  const Index timed = dispatch(b_.kernel("k"));
  b_.source(1);
  const Index first = counted(b_.kernel("k"));
  b_.source(2);
  on_gpu(1);
  counted(b_.kernel("other"));
  on_gpu(2);
  const Index second = counted(b_.kernel("k"));
  const CounterJoin joined = join();
  ASSERT_EQ(joined.kernels.size(), 2U);
  EXPECT_EQ(name(joined.kernels[0]), "k");
  ASSERT_EQ(joined.kernels[0].shapes.size(), 1U);
  EXPECT_EQ(joined.kernels[0].shapes[0].timed, (Dispatches{timed}));
  EXPECT_EQ(joined.kernels[0].shapes[0].in_pass, (std::vector<Dispatches>{{first}, {second}}));
}

TEST_F(CounterJoinTest, TwoGpusOfEveryRunAreToldApartByTheOrderOfTheirNumbers) {
  b_.source();
  on_gpu(1);
  const Index timed_first = dispatch(b_.kernel("k"));
  on_gpu(2);
  const Index timed_second = dispatch(b_.kernel("k"));
  b_.source(1);
  on_gpu(6);  // the other order in time, and other numbers
  const Index second = counted(b_.kernel("k"));
  on_gpu(5);
  const Index first = counted(b_.kernel("k"));
  const CounterJoin joined = join();
  ASSERT_EQ(joined.kernels.size(), 1U);
  const std::vector<ShapeGroup>& shapes = joined.kernels[0].shapes;
  ASSERT_EQ(shapes.size(), 2U);
  EXPECT_EQ(shapes[0].gpu, 0U);
  EXPECT_EQ(shapes[0].timed, (Dispatches{timed_first}));
  EXPECT_EQ(shapes[0].in_pass, (std::vector<Dispatches>{{first}}));
  EXPECT_EQ(shapes[1].gpu, 1U);
  EXPECT_EQ(shapes[1].timed, (Dispatches{timed_second}));
  EXPECT_EQ(shapes[1].in_pass, (std::vector<Dispatches>{{second}}));
}

TEST_F(CounterJoinTest, LeavesOutKernelsWithoutCounters) {
  b_.agent("gfx942");
  b_.source(1);
  const Index with = b_.kernel("with"), without = b_.kernel("without");
  counted(with);
  dispatch(without);
  const CounterJoin joined = join();
  ASSERT_EQ(joined.kernels.size(), 1U);
  EXPECT_EQ(name(joined.kernels[0]), "with");
}

TEST_F(CounterJoinTest, DispatchesOfAPassWithoutCountersKeepTheirOrdinals) {
  // Rotated counters, or a range of iterations: the third dispatch stays the third.
  b_.agent("gfx942");
  b_.source(1);
  const Index kernel = b_.kernel("k");
  const Index first = dispatch(kernel), second = counted(kernel), third = counted(kernel);
  const CounterJoin joined = join();
  EXPECT_EQ(joined.kernels.at(0).shapes.at(0).in_pass,
            (std::vector<Dispatches>{{first, second, third}}));
}

TEST_F(CounterJoinTest, ProcessesOfAPassComeOneAfterTheOther) {
  // Two processes of each run, their dispatches interleaved in time: the second dispatch of the
  // first process is the second of the group in every run, also in the one that gives the times.
  b_.agent("gfx942");
  const auto run = [&](std::optional<int> pass) {
    // A TraceBuilder adds to its last recording: the second process's tracks are swapped in.
    const Index one = b_.source(pass);
    const Index kernel_one = b_.kernel("k");
    const auto add = [&] { return pass ? counted(kernel_one) : dispatch(kernel_one); };
    Dispatches all{add(), add(), add(), add()};
    b_.source(pass);
    const auto process = static_cast<Index>(b_.trace.processes.size() - 1);
    trace::Track other = b_.trace.tracks[b_.trace.dispatches.track[all[1]]];
    EXPECT_EQ(b_.trace.processes[other.process].source, one);
    other.process = process;
    b_.trace.tracks.push_back(other);
    for (const std::size_t i : {1U, 3U})
      b_.trace.dispatches.track.set(all[i], static_cast<Index>(b_.trace.tracks.size() - 1));
    return all;
  };
  const Dispatches timed = run(std::nullopt);
  const Dispatches pass = run(1);
  const CounterJoin joined = join();
  ASSERT_EQ(joined.kernels.size(), 1U);
  ASSERT_EQ(joined.kernels[0].shapes.size(), 1U);
  EXPECT_EQ(joined.kernels[0].shapes[0].in_pass,
            (std::vector<Dispatches>{{pass[0], pass[2], pass[1], pass[3]}}));
  EXPECT_EQ(joined.kernels[0].shapes[0].timed,
            (Dispatches{timed[0], timed[2], timed[1], timed[3]}));
}

TEST_F(CounterJoinTest, WithATableGeometriesAreProducts) {
  b_.agent("gfx942");
  b_.source();
  const Index timed = dispatch(b_.kernel("k"), {64, 16, 2}, {16, 16, 1});
  b_.source(1);
  b_.trace.sources.back().flat_sizes = b_.trace.sources.back().counter_table = true;
  const Index row = counted(b_.kernel("k"), {2048, 1, 1}, {256, 1, 1});
  const CounterJoin joined = join();
  ASSERT_EQ(joined.kernels.size(), 1U);
  ASSERT_EQ(joined.kernels[0].shapes.size(), 1U);
  EXPECT_EQ(joined.kernels[0].shapes[0].shape.grid, (std::array<std::uint32_t, 3>{2048, 1, 1}));
  EXPECT_EQ(joined.kernels[0].shapes[0].timed, (Dispatches{timed}));
  EXPECT_EQ(joined.kernels[0].shapes[0].in_pass, (std::vector<Dispatches>{{row}}));
}

TEST_F(CounterJoinTest, ATableWithoutItsGpuTakesTheOnlyOneAndSaysSo) {
  b_.agent("gfx942");
  b_.source();
  dispatch(b_.kernel("k"));
  b_.agent("");
  b_.source(1);
  counted(b_.kernel("k"));
  const CounterJoin joined = join();
  ASSERT_EQ(joined.kernels.size(), 1U);
  EXPECT_EQ(joined.kernels[0].architecture, "gfx942");
  EXPECT_EQ(joined.kernels[0].shapes[0].timed.size(), 1U);
  ASSERT_EQ(joined.assumptions.size(), 1U);
}

TEST_F(CounterJoinTest, ATableWithoutItsGpuTakesNoneOfSeveral) {
  b_.source();
  const Index kernel = b_.kernel("k");
  b_.agent("gfx942");
  dispatch(kernel);
  b_.agent("gfx90a");
  dispatch(kernel);
  b_.agent("");
  b_.source(1);
  counted(b_.kernel("k"));
  const CounterJoin joined = join();
  ASSERT_EQ(joined.kernels.size(), 1U);
  EXPECT_EQ(joined.kernels[0].architecture, "");
  EXPECT_TRUE(joined.assumptions.empty());
}

TEST_F(CounterJoinTest, IndexFindsTheRowsOfADispatch) {
  b_.agent("gfx942");
  b_.source(1);
  const Index kernel = b_.kernel("k");
  b_.counter("A");
  b_.counter("B");
  b_.counter("C");
  const Index first = dispatch(kernel), second = dispatch(kernel), third = dispatch(kernel);
  b_.value(first, 0, 1);
  b_.value(first, 2, 2);
  b_.value(third, 1, 3);
  const CounterIndex index(b_.trace);
  EXPECT_EQ(index.row(first, 0), 0U);
  EXPECT_EQ(index.row(first, 1), trace::kNone);
  EXPECT_EQ(index.row(first, 2), 1U);
  EXPECT_EQ(index.row(second, 0), trace::kNone);
  EXPECT_EQ(index.row(third, 1), 2U);
  EXPECT_EQ(index.row(third, 2), trace::kNone);
  EXPECT_EQ(index.rows(second).first, index.rows(second).second);
}

}  // namespace
}  // namespace perflab::analyze
