// The benchmark's database with events: what its calls say about order holds for its times. Checked
// by playing the calls back, on plain SQL.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "support/big_trace.h"
#include "support/test_database.h"

namespace perflab::test {
namespace {

using Time = long long;

/// Plays the host calls of a one-process database in their order.
class Playback {
 public:
  explicit Playback(TestDatabase& db) {
    for (const auto& row :
         db.rows("SELECT e.stack_id, d.start, d.end, d.stream_id FROM rocpd_kernel_dispatch d JOIN "
                 "rocpd_event e ON e.id = d.event_id UNION ALL SELECT e.stack_id, m.start, m.end, "
                 "m.stream_id FROM rocpd_memory_copy m JOIN rocpd_event e ON e.id = m.event_id"))
      work_[row[0]] = {std::stoll(row[1]), std::stoll(row[2]), row[3]};
    std::map<std::pair<std::string, std::string>, std::string> arguments;
    for (const auto& row : db.rows("SELECT event_id, name, value FROM rocpd_arg"))
      arguments[{row[0], row[1]}] = row[2];
    for (const auto& row : db.rows(
             "SELECT s.string, r.start, r.end, e.stack_id, e.id FROM rocpd_region r JOIN "
             "rocpd_string s ON s.id = r.name_id JOIN rocpd_event e ON e.id = r.event_id ORDER BY "
             "r.start"))
      play(row[0], std::stoll(row[1]), std::stoll(row[2]), row[3], arguments[{row[4], "stream"}],
           arguments[{row[4], "event"}]);
  }

  std::map<std::string, int> calls;       // by name
  std::map<std::string, int> wrong;       // likewise: what the times contradict
  std::map<std::string, std::string> of;  // handle -> stream id
  int waited = 0;                         // waits that had to wait for something

 private:
  struct Work {
    Time start = 0, end = 0;
    std::string stream;
  };
  struct Stream {
    Time work_end = 0, wait_end = 0;
    [[nodiscard]] Time end() const { return std::max(work_end, wait_end); }
  };

  void play(const std::string& name, Time start, Time end, const std::string& stack,
            const std::string& handle, const std::string& event) {
    ++calls[name];
    bool good = start > last_end_ && end >= start;  // one host thread: one call after another
    last_end_ = end;
    Stream& stream = streams_[handle];
    if (name == "hipLaunchKernel" || name == "hipMemcpyAsync") {
      good = good && work_.contains(stack);
      const Work& work = work_[stack];
      const auto [known, added] = of.try_emplace(handle, work.stream);
      good = good && known->second == work.stream && work.start >= end &&
             work.start >= stream.work_end && work.start >= stream.wait_end;
      stream.work_end = work.end;
    } else if (name == "hipEventRecord") {
      events_[event] = stream.end();
    } else if (name == "hipStreamWaitEvent") {
      good = good && events_.contains(event);
      if (events_[event] > end && events_[event] > stream.end()) ++waited;
      stream.wait_end = std::max(stream.wait_end, events_[event]);
    } else if (name == "hipEventSynchronize") {
      good = good && events_.contains(event) && end >= events_[event];
    } else if (name == "hipStreamSynchronize") {
      good = good && end >= stream.end();
    } else if (name == "hipDeviceSynchronize") {
      for (const auto& [other, state] : streams_) good = good && end >= state.end();
    } else {
      good = false;
    }
    if (!good) ++wrong[name];
  }

  std::map<std::string, Work> work_;  // by stack id
  std::map<std::string, Stream> streams_;
  std::map<std::string, Time> events_;
  Time last_end_ = 0;
};

TEST(BigTrace, WithEventsKeepsTheOrderThatItsCallsAskFor) {
  const auto path = test_folder() / "events.db";
  const auto made = write_big_trace(
      path,
      {.dispatches = 12'000, .queues = 8, .processes = 1, .copies_every = 50, .events_every = 16});
  ASSERT_TRUE(made) << describe(made.error());
  TestDatabase db(path);
  const Playback played(db);
  EXPECT_EQ(played.wrong, (std::map<std::string, int>{}));
  EXPECT_EQ(played.of.size(), 8U);
  EXPECT_EQ(played.of.at("0"), "0");
  EXPECT_EQ(played.calls.at("hipLaunchKernel"), 12'000);
  EXPECT_EQ(played.calls.at("hipMemcpyAsync"), 240);
  EXPECT_EQ(played.calls.at("hipEventRecord"), 750);
  EXPECT_GT(played.calls.at("hipStreamWaitEvent"), 500);
  EXPECT_LT(played.calls.at("hipStreamWaitEvent"), 750);  // never for its own stream
  EXPECT_GT(played.waited, 100);
  EXPECT_GT(played.calls.at("hipStreamSynchronize"), 8);
  EXPECT_EQ(played.calls.at("hipEventSynchronize"), 4);
  EXPECT_EQ(played.calls.at("hipDeviceSynchronize"), 1);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_region"), made->regions);
}

TEST(BigTrace, WithoutEventsHasNoArguments) {
  const auto path = test_folder() / "plain.db";
  ASSERT_TRUE(write_big_trace(path, {.dispatches = 100}));
  TestDatabase db(path);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_arg"), 0);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_region r JOIN rocpd_string s ON s.id = r.name_id "
                      "WHERE s.string LIKE '%Event%'"),
            0);
}

TEST(BigTrace, WithEventsIsTheSameForTheSameSeed) {
  const BigTraceOptions options = {.dispatches = 500, .events_every = 4};
  const auto folder = test_folder();
  ASSERT_TRUE(write_big_trace(folder / "a.db", options));
  ASSERT_TRUE(write_big_trace(folder / "b.db", options));
  EXPECT_TRUE(file_bytes(folder / "a.db") == file_bytes(folder / "b.db"));
}

}  // namespace
}  // namespace perflab::test
