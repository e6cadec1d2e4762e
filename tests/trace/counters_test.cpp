// Counter values: rows per hardware instance become one row per (dispatch, counter); values of no
// dispatch are counted, never joined.
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "support/test_database.h"
#include "trace/rocpd/scan.h"
#include "trace/trace_checks.h"

namespace perflab::trace {
namespace {

using test::Id;
using test::RocpdWriter;
using test::Strictness;
using test::test_folder;
using test::Written;

const std::string kNotOfADispatch = "not of a kernel dispatch (device telemetry)";
const std::string kNoNumber = "unknown counter, or a value that no counter can have";

class Counters : public testing::Test {
 protected:
  explicit Counters(std::vector<std::string> missing_tables = {})
      : writer_(test_folder() / "counters.db",
                {.strictness = Strictness::nullable, .missing_tables = std::move(missing_tables)}) {
    add_machine(writer_);
    waves_ = writer_.counter({.name = "SQ_WAVES"});
    hits_ = writer_.counter({.name = "TCC_HIT", .units = "requests", .block = "TCC"});
  }
  Trace read() {
    finish(writer_);
    return read_ok({writer_.file().path()});
  }
  /// "dispatch counter instances sum min max" of every row.
  static std::vector<std::array<double, 5>> values(const Trace& trace, const std::string& name) {
    std::vector<std::array<double, 5>> rows;
    const CounterColumns& c = trace.counters;
    for (std::size_t i = 0; i < c.size(); ++i)
      if (trace.strings.view(trace.counter_infos[c.counter[i]].name) == name)
        rows.push_back({static_cast<double>(c.dispatch[i]), static_cast<double>(c.instances[i]),
                        c.sum[i], c.min[i], c.max[i]});
    return rows;
  }
  using Rows = std::vector<std::array<double, 5>>;

  RocpdWriter writer_;
  Id waves_ = 0, hits_ = 0;
};

TEST_F(Counters, AreSummedOverInstances) {
  const Written dispatch = writer_.dispatch(dispatch_at(0));
  const std::array<double, 4> instances = {3, 10, 1, 6};
  writer_.counter_values(dispatch.event, waves_, instances);
  const Trace trace = read();
  EXPECT_EQ(values(trace, "SQ_WAVES"), (Rows{{0, 4, 20, 1, 10}}));
  EXPECT_EQ(trace.report.rows.at("pmc_event"), 4U);
}

TEST_F(Counters, OfOneDispatchMayBeInterleaved) {
  const Written first = writer_.dispatch(dispatch_at(0));
  const Written second = writer_.dispatch(dispatch_at(5000));
  for (int i = 1; i <= 3; ++i) {
    writer_.counter_value(second.event, waves_, 100 * i);
    writer_.counter_value(first.event, hits_, i);
    writer_.counter_value(first.event, waves_, 10 * i);
  }
  const Trace trace = read();
  EXPECT_EQ(values(trace, "SQ_WAVES"), (Rows{{0, 3, 60, 10, 30}, {1, 3, 600, 100, 300}}));
  EXPECT_EQ(values(trace, "TCC_HIT"), (Rows{{0, 3, 6, 1, 3}}));
}

TEST_F(Counters, FollowTheirDispatchWhenTimeReordersIt) {
  const Written late = writer_.dispatch(dispatch_at(5000));
  const Written early = writer_.dispatch(dispatch_at(0));
  writer_.counter_value(late.event, waves_, 2);
  writer_.counter_value(early.event, waves_, 1);
  EXPECT_EQ(values(read(), "SQ_WAVES"), (Rows{{0, 1, 1, 1, 1}, {1, 1, 2, 2, 2}}));
}

TEST_F(Counters, OfOneDispatchMayLieInSeveralScanRanges) {
  const Written first = writer_.dispatch(dispatch_at(0));
  const Written second = writer_.dispatch(dispatch_at(5000));
  const int rows = static_cast<int>(rocpd::kRowsPerChunk) + 10;
  for (int i = 0; i < rows; ++i) {
    writer_.counter_value(first.event, waves_, 1);
    if (i % 1000 == 0) writer_.counter_value(second.event, waves_, 2);
  }
  const Trace trace = read();
  EXPECT_EQ(values(trace, "SQ_WAVES"), (Rows{{0, 8202, 8202, 1, 1}, {1, 9, 18, 2, 2}}));
}

TEST_F(Counters, ExtremesAreThoseOfAllScanRanges) {
  const Written first = writer_.dispatch(dispatch_at(0));
  const Written second = writer_.dispatch(dispatch_at(5000));
  const auto write = [&](Id row, const Written& dispatch, Id counter, double value) {
    writer_.raw_row(
        test::Table::pmc_event,
        {{"id", row}, {"event_id", dispatch.event}, {"pmc_id", counter}, {"value", value}});
  };
  // Of the first dispatch the extremes lie in the first range, of the second one in the second:
  // for one of the two they are not in the first, and for neither in the last.
  const std::array<std::array<double, 4>, 3> ranges = {{{1, 9, 4, 4}, {5, 5, 1, 9}, {3, 3, 6, 2}}};
  for (std::size_t range = 0; range < ranges.size(); ++range) {
    const Id row = static_cast<Id>(range) * rocpd::kRowsPerChunk + 1;
    write(row, first, waves_, ranges[range][0]);
    write(row + 1, first, waves_, ranges[range][1]);
    write(row + 2, second, waves_, ranges[range][2]);
    write(row + 3, second, waves_, ranges[range][3]);
    write(row + 4, second, hits_, static_cast<double>(range));
    write(row + 5, first, hits_, -static_cast<double>(range));
  }
  const Trace trace = read();
  EXPECT_EQ(values(trace, "SQ_WAVES"), (Rows{{0, 6, 26, 1, 9}, {1, 6, 26, 1, 9}}));
  EXPECT_EQ(values(trace, "TCC_HIT"), (Rows{{0, 3, -3, -2, 0}, {1, 3, 3, 0, 2}}));
}

TEST_F(Counters, DescribeThemselves) {
  const Id derived =
      writer_.counter({.name = "VALUUtilization", .units = "percent", .is_derived = true});
  const Written dispatch = writer_.dispatch(dispatch_at(0));
  writer_.counter_value(dispatch.event, derived, 87.5);
  const Trace trace = read();
  ASSERT_EQ(trace.counter_infos.size(), 3U);
  EXPECT_FALSE(trace.counter_infos[1].derived);
  EXPECT_EQ(trace.counter_infos[1].block, "TCC");
  EXPECT_EQ(trace.counter_infos[1].units, "requests");
  EXPECT_TRUE(trace.counter_infos[2].derived);
  EXPECT_EQ(values(trace, "VALUUtilization"), (Rows{{0, 1, 87.5, 87.5, 87.5}}));
}

TEST_F(Counters, OfTheSameNameAreOneCounter) {
  const Id again = writer_.counter({.agent = 0, .name = "SQ_WAVES"});
  const Written dispatch = writer_.dispatch(dispatch_at(0));
  writer_.counter_value(dispatch.event, waves_, 1);
  writer_.counter_value(dispatch.event, again, 2);
  const Trace trace = read();
  EXPECT_EQ(values(trace, "SQ_WAVES"), (Rows{{0, 2, 3, 1, 2}}));
}

TEST_F(Counters, NegativeAndFractionalValuesAreKept) {
  const Written dispatch = writer_.dispatch(dispatch_at(0));
  writer_.counter_value(dispatch.event, waves_, -0.5);
  writer_.counter_value(dispatch.event, waves_, 0.25);
  EXPECT_EQ(values(read(), "SQ_WAVES"), (Rows{{0, 2, -0.25, -0.5, 0.25}}));
}

TEST_F(Counters, OfTelemetryAreCountedNotJoined) {
  const Id track = writer_.track({.name = "device_temp"});
  const Written sample = writer_.sample({.track = track, .timestamp = kT0});
  writer_.dispatch(dispatch_at(0));
  writer_.counter_value(sample.event, waves_, 51);
  writer_.counter_value(4711, waves_, 51);
  const Trace trace = read();
  EXPECT_EQ(trace.counters.size(), 0U);
  EXPECT_EQ(dropped(trace, "pmc_event", kNotOfADispatch), 2U);
}

TEST_F(Counters, OfADroppedDispatchAreCountedNotJoined) {
  const Written unfinished = writer_.dispatch(dispatch_at(100, -50));
  writer_.dispatch(dispatch_at(200));
  writer_.counter_value(unfinished.event, waves_, 51);
  const Trace trace = read();
  EXPECT_EQ(trace.counters.size(), 0U);
  EXPECT_EQ(dropped(trace, "pmc_event", kNotOfADispatch), 1U);
}

TEST_F(Counters, WithoutANumberAreDroppedAndCounted) {
  const Written dispatch = writer_.dispatch(dispatch_at(0));
  const auto raw = [&](const test::Cell& counter, const test::Cell& value) {
    writer_.raw_row(test::Table::pmc_event,
                    {{"event_id", dispatch.event}, {"pmc_id", counter}, {"value", value}});
  };
  raw(waves_, nullptr);
  raw(waves_, "much");
  raw(424242, 5.0);
  raw(nullptr, 5.0);
  raw(waves_, "7.5");
  const Trace trace = read();
  EXPECT_EQ(values(trace, "SQ_WAVES"), (Rows{{0, 1, 7.5, 7.5, 7.5}}));
  EXPECT_EQ(dropped(trace, "pmc_event", kNoNumber), 4U);
}

TEST_F(Counters, ThatNoCounterCanReachAreDroppedAndCounted) {
  const Written dispatch = writer_.dispatch(dispatch_at(0));
  const auto raw = [&](double value) {
    writer_.raw_row(test::Table::pmc_event,
                    {{"event_id", dispatch.event}, {"pmc_id", waves_}, {"value", value}});
  };
  raw(1.85e19);  // more than 64 bits
  raw(-1.85e19);
  raw(1.7e308);
  raw(1.7e308);  // the sum of the two is no number
  raw(-1.7e308);
  raw(std::numeric_limits<double>::infinity());
  raw(3);
  const Trace trace = read();
  EXPECT_EQ(values(trace, "SQ_WAVES"), (Rows{{0, 1, 3, 3, 3}}));
  EXPECT_EQ(dropped(trace, "pmc_event", kNoNumber), 6U);
}

class CountersWithoutDescription : public Counters {
 protected:
  CountersWithoutDescription() : Counters({"info_pmc"}) {}
};

TEST_F(CountersWithoutDescription, AreDroppedAndCounted) {
  const Written dispatch = writer_.dispatch(dispatch_at(0));
  writer_.counter_value(dispatch.event, waves_, 5);
  writer_.counter_value(dispatch.event, hits_, 5);
  const Trace trace = read();
  EXPECT_EQ(trace.counters.size(), 0U);
  EXPECT_EQ(dropped(trace, "pmc_event", kNoNumber), 2U);
}

class CountersWithoutDispatches : public Counters {
 protected:
  CountersWithoutDispatches() : Counters({"kernel_dispatch"}) {}
};

TEST_F(CountersWithoutDispatches, AreDroppedAndCounted) {
  const Written dispatch = writer_.dispatch(dispatch_at(0));
  writer_.counter_value(dispatch.event, waves_, 5);
  const Trace trace = read();
  EXPECT_EQ(dropped(trace, "pmc_event", kNotOfADispatch), 1U);
}

}  // namespace
}  // namespace perflab::trace
