// A part of a Trace: rows that stay keep all their facts, rows that go are pointed to by nothing.
#include <gtest/gtest.h>

#include "support/api_rows.h"
#include "support/test_database.h"
#include "trace/select.h"
#include "trace/trace_checks.h"

namespace perflab::trace {
namespace {

using test::Id;
using test::RocpdWriter;

/// Three phases of 1000 ns: in each a range around a launch, its dispatch with a counter, a copy, a
/// synchronisation, a call of RCCL and an allocation. Of a rank.
Trace three_phases() {
  RocpdWriter writer(test::test_folder() / "phases.db",
                     {.node = {.hostname = "node-7"},
                      .process = {.environment = R"({"RANK": "3", "WORLD_SIZE": "8"})"}});
  add_machine(writer);
  const Id counter = writer.counter({.name = "SQ_WAVES"});
  for (int phase = 0; phase < 3; ++phase) {
    const std::int64_t at = kT0 + phase * 1000;
    test::RegionRow range = test::roctx_range("phase " + std::to_string(phase), at, at + 900);
    range.event.stack_id = writer.next_stack_id();
    writer.region(range);
    test::RegionRow call = test::kernel_call(at + 10, at + 20, 7);
    call.event.parent_stack_id = range.event.stack_id;
    const test::Launched launched = writer.launch(call, dispatch_at(phase * 1000 + 30, 100));
    writer.counter_value(launched.dispatch.event, counter, 10.0 * phase);
    writer.launch_copy(test::copy_call(at + 40, at + 45, 7),
                       {.start = at + 200, .end = at + 300, .size = 100 + phase});
    writer.region(test::stream_synchronize(at + 60, at + 320, 7));
    test::RegionRow reduce = test::api_call("ncclAllReduce", at + 400, at + 410,
                                            {test::argument("size_t", "count", "1024")});
    reduce.event.category = "RCCL_API_EXT";
    writer.region(reduce);
    writer.allocation({.start = at + 5, .end = at + 6, .size = 1 + phase});
  }
  finish(writer);
  return read_ok({writer.file().path()});
}

Selection everything(const Trace& trace, bool keep) {
  return {.dispatches = std::vector<bool>(trace.dispatches.size(), keep),
          .copies = std::vector<bool>(trace.copies.size(), keep),
          .regions = std::vector<bool>(trace.regions.size(), keep),
          .allocations = std::vector<bool>(trace.allocations.size(), keep)};
}

/// All rows that start in the phase.
Selection of_phase(const Trace& trace, int phase) {
  const auto inside = [&](const auto& start) {
    std::vector<bool> keep;
    for (const std::int64_t at : start) keep.push_back((at - kT0) / 1000 == phase);
    return keep;
  };
  return {.dispatches = inside(trace.dispatches.start),
          .copies = inside(trace.copies.start),
          .regions = inside(trace.regions.start),
          .allocations = inside(trace.allocations.start)};
}

TEST(Select, OfAllRowsIsTheWholeTrace) {
  const Trace whole = three_phases();
  ASSERT_EQ(whole.call_arguments.size(), 7U);  // three synchronisations, and which stream is 7
  ASSERT_EQ(whole.ranges.size(), 3U);
  ASSERT_EQ(whole.counters.size(), 3U);
  ASSERT_EQ(whole.communications.size(), 3U);
  EXPECT_EQ(dump(select(whole, everything(whole, true))), dump(whole));
}

TEST(Select, OfNothingKeepsTheTables) {
  const Trace whole = three_phases();
  const Trace none = select(whole, everything(whole, false));
  EXPECT_EQ(none.dispatches.size() + none.copies.size() + none.regions.size() +
                none.allocations.size() + none.counters.size() + none.call_arguments.size() +
                none.ranges.size() + none.communications.size(),
            0U);
  EXPECT_EQ(none.sources.size(), 1U);
  EXPECT_EQ(none.kernel_symbols.size(), whole.kernel_symbols.size());
  EXPECT_EQ(none.tracks.size(), whole.tracks.size());
  EXPECT_EQ(none.strings.size(), whole.strings.size());
  EXPECT_EQ(none.report.rows, whole.report.rows);
}

TEST(Select, OfAPhaseKeepsWhatBelongsToIt) {
  const Trace whole = three_phases();
  const Trace part = select(whole, of_phase(whole, 1));
  ASSERT_EQ(part.dispatches.size(), 1U);
  EXPECT_EQ(part.dispatches.start[0], kT0 + 1030);
  EXPECT_EQ(part.dispatches.end[0], kT0 + 1130);
  EXPECT_EQ(part.dispatches.dispatch_id[0], whole.dispatches.dispatch_id[1]);
  EXPECT_EQ(part.dispatches.track[0], whole.dispatches.track[1]);
  EXPECT_EQ(kernel_name(part, 0), "axpy(float*)");
  EXPECT_EQ(launch_name(part, 0), "hipLaunchKernel");
  EXPECT_EQ(part.regions.start[part.dispatches.launch[0]], kT0 + 1010);

  ASSERT_EQ(part.copies.size(), 1U);
  EXPECT_EQ(part.copies.bytes[0], 101);
  EXPECT_EQ(part.strings.view(part.regions.name[part.copies.launch[0]]), "hipMemcpyAsync");

  ASSERT_EQ(part.regions.size(), 5U);
  const Index parent = part.regions.parent[part.dispatches.launch[0]];
  ASSERT_EQ(part.ranges.region, (std::vector<Index>{parent}));
  EXPECT_EQ(part.strings.view(part.ranges.message[0]), "phase 1");
  ASSERT_EQ(part.call_arguments.size(), 1U);
  EXPECT_EQ(part.strings.view(part.regions.name[part.call_arguments.region[0]]),
            "hipStreamSynchronize");
  EXPECT_EQ(part.call_arguments.stream[0], 7U);

  ASSERT_EQ(part.communications.size(), 1U);
  EXPECT_TRUE(part.communications[0].of_region);
  EXPECT_EQ(part.strings.view(part.regions.name[part.communications[0].row]), "ncclAllReduce");
  EXPECT_EQ(part.communications[0].count, 1024);
  ASSERT_EQ(part.processes.size(), 1U);
  EXPECT_EQ(part.processes[0].rank.rank, 3);
  EXPECT_EQ(part.nodes[0].hostname, "node-7");

  ASSERT_EQ(part.allocations.size(), 1U);
  EXPECT_EQ(part.allocations.bytes[0], 2);
  ASSERT_EQ(part.counters.size(), 1U);
  EXPECT_EQ(part.counters.dispatch[0], 0U);
  EXPECT_EQ(part.counters.sum[0], 10.0);
}

TEST(Select, LeavesNothingThatPointsToARowThatIsGone) {
  const Trace whole = three_phases();
  Selection rows = everything(whole, true);
  for (std::size_t i = 0; i < rows.regions.size(); ++i) {
    const std::string_view name = whole.strings.view(whole.regions.name[i]);
    rows.regions[i] = name == "hipMemcpyAsync" || (name == "hipLaunchKernel" && i > 4);
  }
  const Trace part = select(whole, rows);
  EXPECT_EQ(part.regions.size(), 5U);
  EXPECT_TRUE(part.communications.empty());
  EXPECT_EQ(part.regions.parent, std::vector<Index>(5, kNone));  // the ranges are gone
  EXPECT_EQ(part.dispatches.launch[0], kNone);
  for (const std::size_t i : {1U, 2U}) {
    EXPECT_EQ(launch_name(part, i), "hipLaunchKernel");
    EXPECT_EQ(part.regions.start[part.dispatches.launch[i]], part.dispatches.start[i] - 20);
  }
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(part.regions.start[part.copies.launch[i]], part.copies.start[i] - 160);
  EXPECT_EQ(part.ranges.size(), 0U);

  rows = everything(whole, true);
  rows.dispatches[1] = false;
  const Trace without = select(whole, rows);
  EXPECT_EQ(without.counters.dispatch, (std::vector<Index>{0, 1}));
  EXPECT_EQ(without.counters.sum, (std::vector<double>{0.0, 20.0}));
}

/// What a reader says of dispatches (Kineto) follows them; of calls and of dispatches alike.
TEST(Select, CarriesWhatIsSaidOfCommunication) {
  Trace whole = three_phases();
  for (Index dispatch = 0; dispatch < 3; ++dispatch) {
    Communication said;
    said.row = dispatch;
    said.sequence = 40 + dispatch;
    said.members = {0, 1, 2};
    whole.communications.insert(whole.communications.begin() + dispatch, said);
  }
  const Trace part = select(whole, of_phase(whole, 2));
  ASSERT_EQ(part.communications.size(), 2U);
  EXPECT_FALSE(part.communications[0].of_region);
  EXPECT_EQ(part.communications[0].row, 0U);
  EXPECT_EQ(part.communications[0].sequence, 42);
  EXPECT_EQ(part.communications[0].members, (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_TRUE(part.communications[1].of_region);
  EXPECT_EQ(part.regions.start[part.communications[1].row], kT0 + 2400);
  Selection rows = everything(whole, true);
  rows.dispatches[0] = false;
  EXPECT_EQ(select(whole, rows).communications.size(), 5U);
  EXPECT_EQ(dump(select(whole, everything(whole, true))), dump(whole));
}

}  // namespace
}  // namespace perflab::trace
