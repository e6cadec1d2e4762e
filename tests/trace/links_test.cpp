// Which API call launched a dispatch or copy: the region whose event has the same stack id, never
// through 0, and only inside one recording (docs/facts/rocpd.md "Links").
#include <gtest/gtest.h>

#include "support/test_database.h"
#include "trace/trace_checks.h"

namespace perflab::trace {
namespace {

using test::DispatchRow;
using test::EventLink;
using test::Id;
using test::RegionRow;
using test::RocpdWriter;
using test::Strictness;
using test::test_folder;

class Links : public testing::Test {
 protected:
  Links() : writer_(test_folder() / "links.db", {.strictness = Strictness::nullable}) {
    add_machine(writer_);
  }
  Trace read() {
    finish(writer_);
    return read_ok({writer_.file().path()});
  }
  void region(const std::string& name, std::int64_t start, Id stack, Id parent = 0) {
    writer_.region({.name = name,
                    .start = kT0 + start,
                    .end = kT0 + start + 10,
                    .event = {.stack_id = stack, .parent_stack_id = parent}});
  }
  void dispatch(std::int64_t start, Id stack) {
    DispatchRow row = dispatch_at(start);
    row.event.stack_id = stack;
    writer_.dispatch(row);
  }
  RocpdWriter writer_;
};

TEST_F(Links, AreByStackId) {
  region("hipModuleLaunchKernel", 0, 3);
  region("hipLaunchKernel", 100, 4);
  dispatch(200, 4);
  dispatch(300, 3);
  const Trace trace = read();
  EXPECT_EQ(launch_name(trace, 0), "hipLaunchKernel");
  EXPECT_EQ(launch_name(trace, 1), "hipModuleLaunchKernel");
}

TEST_F(Links, AreNeverThroughStackIdZero) {
  region("hipLaunchKernel", 0, 0);
  dispatch(100, 0);
  const Trace trace = read();
  EXPECT_EQ(trace.dispatches.launch[0], kNone);
  EXPECT_EQ(trace.regions.parent[0], kNone);
}

TEST_F(Links, AreNeverThroughAMissingStackId) {
  writer_.region({.start = kT0, .end = kT0 + 1, .event = {.overrides = {{"stack_id", nullptr}}}});
  DispatchRow row = dispatch_at(100);
  row.event.overrides = {{"stack_id", nullptr}};
  writer_.dispatch(row);
  EXPECT_EQ(read().dispatches.launch[0], kNone);
}

TEST_F(Links, MayShareOneLaunch) {
  region("hipGraphLaunch", 0, 9);
  for (const std::int64_t start : {100, 200, 300}) dispatch(start, 9);
  const Trace trace = read();
  EXPECT_EQ(trace.dispatches.launch, (std::vector<Index>{0, 0, 0}));
}

TEST_F(Links, OfSeveralCallsAreToTheEarliest) {
  region("second", 50, 9);
  region("first", 20, 9);
  dispatch(100, 9);
  EXPECT_EQ(launch_name(read(), 0), "first");
}

TEST_F(Links, OfCopiesAreFound) {
  region("hipMemcpyAsync", 0, 12);
  writer_.copy({.start = kT0 + 50, .end = kT0 + 60, .size = 1, .event = {.stack_id = 12}});
  writer_.copy({.start = kT0 + 70, .end = kT0 + 80, .size = 1, .event = {.stack_id = 0}});
  writer_.copy({.start = kT0 + 90, .end = kT0 + 95, .size = 1, .event = {.link = EventLink::null}});
  EXPECT_EQ(read().copies.launch, (std::vector<Index>{0, kNone, kNone}));
}

TEST_F(Links, OfADispatchWithoutAnEventAreMissingAndCounted) {
  region("hipLaunchKernel", 0, 1);
  for (const EventLink link : {EventLink::null, EventLink::dangling}) {
    DispatchRow row = dispatch_at(100);
    row.event.link = link;
    writer_.dispatch(row);
  }
  const Trace trace = read();
  EXPECT_EQ(trace.dispatches.launch, (std::vector<Index>{kNone, kNone}));
  EXPECT_EQ(odd(trace, "kernel_dispatch", kNoEvent), 2U);
}

TEST_F(Links, WithoutARegionAreMissing) {
  dispatch(100, 5);
  EXPECT_EQ(read().dispatches.launch[0], kNone);
}

TEST_F(Links, WorkForStackIdsOfAnySize) {
  const std::vector<Id> stacks = {1, 1025, 2'000'000'000'000, INT64_MAX, -1, INT64_MIN};
  for (std::size_t i = 0; i < stacks.size(); ++i)
    region("call " + std::to_string(i), static_cast<std::int64_t>(i) * 20, stacks[i]);
  for (std::size_t i = 0; i < stacks.size(); ++i)
    dispatch(1000 + static_cast<std::int64_t>(i) * 20, stacks[i]);
  dispatch(2000, 1026);
  const Trace trace = read();
  for (std::size_t i = 0; i < stacks.size(); ++i)
    EXPECT_EQ(launch_name(trace, i), "call " + std::to_string(i));
  EXPECT_EQ(launch_name(trace, stacks.size()), "");
}

TEST_F(Links, OfARegionLeadToTheEnclosingCall) {
  region("hipMemcpy", 0, 20);
  region("hsa_queue_create", 2, 21, 20);
  region("hsa_inner", 3, 22, 21);
  region("orphan", 4, 23, 999);
  const Trace trace = read();
  EXPECT_EQ(trace.regions.parent, (std::vector<Index>{kNone, 0, 1, kNone}));
}

TEST_F(Links, OfARegionNeverLeadToItself) {
  region("hipMemcpy", 0, 20, 20);
  EXPECT_EQ(read().regions.parent[0], kNone);
}

TEST_F(Links, FollowTheRegionWhenTimeReordersIt) {
  // Rows in the opposite order of time: positions change after the join is known.
  for (Id i = 10; i-- > 0;) {
    region("call " + std::to_string(i), i * 100, i + 1);
    dispatch(i * 100 + 50, i + 1);
  }
  const Trace trace = read();
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(trace.dispatches.start[i], kT0 + static_cast<std::int64_t>(i) * 100 + 50);
    EXPECT_EQ(launch_name(trace, i), "call " + std::to_string(i));
  }
}

TEST_F(Links, OfASharedEventRowAreBothFound) {
  const test::Written region =
      writer_.region({.name = "call", .start = kT0, .end = kT0 + 1, .event = {.stack_id = 3}});
  DispatchRow row = dispatch_at(100);
  row.event.link = EventLink::existing;
  row.event.existing = region.event;
  writer_.dispatch(row);
  EXPECT_EQ(launch_name(read(), 0), "call");
}

TEST_F(Links, IgnoreTheExternalCorrelationId) {
  writer_.region({.start = kT0, .end = kT0 + 1, .event = {.stack_id = 3, .correlation_id = 8}});
  DispatchRow row = dispatch_at(100);
  row.event.stack_id = 4;
  row.event.correlation_id = 8;
  writer_.dispatch(row);
  EXPECT_EQ(read().dispatches.launch[0], kNone);
}

}  // namespace
}  // namespace perflab::trace
