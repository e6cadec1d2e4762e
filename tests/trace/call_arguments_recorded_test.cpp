// Arguments of real recordings against plain SQL. The databases are not part of the project:
// without them these tests are skipped.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "support/api_rows.h"
#include "support/test_database.h"
#include "trace/trace_checks.h"

namespace perflab::trace {
namespace {

using SqlRows = std::vector<std::vector<std::string>>;

class RecordedArguments : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto path = recorded_folder() / GetParam();
    if (!std::filesystem::exists(path))
      GTEST_SKIP() << "skipped: " << path
                   << " is not there (recorded databases are kept outside the project)";
    trace_ = read_ok({path}, 2);
    db_ = std::make_unique<test::TestDatabase>(path);
  }

  /// Calls whose names are (not) among those that submit work: start, name, stream, event, device.
  SqlRows read(bool submitting) {
    const CallArgumentColumns& all = trace_.call_arguments;
    const auto part = [&](std::size_t i, std::uint8_t which, std::string text) {
      return (all.has[i] & which) != 0 ? std::move(text) : std::string("NULL");
    };
    SqlRows rows;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string name(trace_.strings.view(trace_.regions.name[all.region[i]]));
      if ((name.contains("Launch") || name.contains("Mem")) != submitting) continue;
      rows.push_back({std::to_string(trace_.regions.start[all.region[i]]), name,
                      part(i, CallArgumentColumns::kStream, test::handle_text(all.stream[i])),
                      part(i, CallArgumentColumns::kEvent, test::handle_text(all.event[i])),
                      part(i, CallArgumentColumns::kDevice, std::to_string(all.device[i]))});
    }
    return rows;
  }

  /// The same of all calls that satisfy a condition on their name `s.string`, by SQL.
  SqlRows by_sql(const std::string& condition) {
    const auto value = [](const char* name) {
      return fmt::format(
          "(SELECT value FROM rocpd_arg a WHERE a.event_id = r.event_id AND a.name = '{}')", name);
    };
    return db_->rows(fmt::format(
        "SELECT r.start, s.string, {}, {}, {} FROM rocpd_region r JOIN rocpd_string s ON s.id = "
        "r.name_id WHERE {} ORDER BY r.start",
        value("stream"), value("event"), value("deviceId"), condition));
  }

  Trace trace_;
  std::unique_ptr<test::TestDatabase> db_;
};

TEST_P(RecordedArguments, OfCallsThatOrderWorkEqualPlainSql) {
  EXPECT_EQ(read(false), by_sql("s.string IN ('hipEventRecord', 'hipStreamWaitEvent', "
                                "'hipStreamSynchronize', 'hipEventSynchronize', 'hipSetDevice')"));
}

TEST_P(RecordedArguments, OfLaunchesAreAmongThoseOfPlainSqlAndNameEveryStream) {
  if (read(false).empty()) {  // then nobody asks which stream a handle is
    EXPECT_EQ(trace_.call_arguments.size(), 0U);
    return;
  }
  SqlRows of_work;
  for (auto& row :
       by_sql("r.event_id IN (SELECT e.id FROM rocpd_event e JOIN rocpd_event d ON d.stack_id = "
              "e.stack_id WHERE d.id IN (SELECT event_id FROM rocpd_kernel_dispatch UNION SELECT "
              "event_id FROM rocpd_memory_copy))"))
    if (row[2] != "NULL") of_work.push_back({row[0], row[1], row[2], "NULL", "NULL"});
  const SqlRows sampled = read(true);
  std::set<std::string> streams, sampled_streams;
  for (const auto& row : of_work) streams.insert(row[2]);
  for (const auto& row : sampled) {
    EXPECT_TRUE(std::ranges::find(of_work, row) != of_work.end()) << row[0] << " " << row[1];
    sampled_streams.insert(row[2]);
  }
  EXPECT_EQ(sampled_streams, streams);
}

INSTANTIATE_TEST_SUITE_P(All, RecordedArguments,
                         testing::Values("emulated_mi300x/copies.db", "emulated_mi300x/graph.db",
                                         "emulated_mi300x/multi.db", "emulated_mi300x/single.db",
                                         "emulated_mi300x/streams.db",
                                         "emulated_mi300x/streams_sys.db",
                                         "mi350x_rocprofsys/rocpd.db"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           name.resize(name.size() - 3);
                           std::ranges::replace(name, '/', '_');
                           return name;
                         });

/// What SOURCE.md beside streams.db says: two events, waited for by the first stream.
TEST(RecordedStreams, WaitForTheEventsThatTheOthersRecorded) {
  const auto path = recorded_folder() / "emulated_mi300x/streams.db";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "skipped: " << path << " is not there";
  const Trace trace = read_ok({path});
  std::map<std::string, int> calls;
  std::map<std::uint64_t, std::uint64_t> recorded_on;          // event -> stream
  std::vector<std::pair<std::uint64_t, std::uint64_t>> waits;  // waiting stream, waited for
  const CallArgumentColumns& all = trace.call_arguments;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name(trace.strings.view(trace.regions.name[all.region[i]]));
    ++calls[name];
    if (name == "hipEventRecord") recorded_on[all.event[i]] = all.stream[i];
    if (name == "hipStreamWaitEvent") waits.emplace_back(all.stream[i], recorded_on[all.event[i]]);
  }
  EXPECT_EQ(calls["hipEventRecord"], 8);
  EXPECT_EQ(calls["hipStreamSynchronize"], 3);
  ASSERT_EQ(waits.size(), 2U);
  EXPECT_EQ(waits[0].first, waits[1].first);
  EXPECT_NE(waits[0].second, waits[1].second);
  for (const auto& [waiting, other] : waits) EXPECT_NE(waiting, other);
}

}  // namespace
}  // namespace perflab::trace
