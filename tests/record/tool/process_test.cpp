// The library in programs of the stand-in CUDA, against what they say that they did: ends, forks,
// other clients, faults.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <csignal>
#include <set>

#include "record/protocol.h"
#include "record/tool/recorded_run.h"

namespace perflab::record {
namespace {

using test::TestDatabase;

long long rows_of(TestDatabase& db, const std::string& table) {
  return db.number("SELECT count(*) FROM " + table);
}

Json status_of(const RecordedRun& run) {
  const auto files = run.files(kStatusSuffix);
  EXPECT_EQ(files.size(), 1U);
  if (files.empty()) return Json::object();
  const auto parsed = parse_json(test::file_bytes(files.front()), "status");
  EXPECT_TRUE(parsed);
  return parsed ? *parsed : Json::object();
}

TEST(RecordProcess, AllThatAProgramDid) {
  const RecordedRun run({"all", "3"});
  ASSERT_TRUE(run.result.succeeded()) << run.result.error.tail;
  TestDatabase db = run.database();
  EXPECT_EQ(rows_of(db, "kernels"), run.did.at("kernels"));
  EXPECT_EQ(db.number("SELECT count(*) FROM memory_copies WHERE name <> 'MEMORY_SET'"),
            run.did.at("copies"));
  EXPECT_EQ(db.number("SELECT count(*) FROM memory_copies WHERE name = 'MEMORY_SET'"),
            run.did.at("fills"));
  EXPECT_EQ(db.number("SELECT count(*) FROM regions WHERE category = 'CUDA_RUNTIME_API'"),
            run.did.at("runtime_calls"));
  EXPECT_EQ(db.number("SELECT count(*) FROM regions WHERE category = 'CUDA_DRIVER_API'"),
            run.did.at("driver_calls"));
  EXPECT_EQ(db.number("SELECT count(*) FROM regions WHERE category = 'MARKER_CORE_RANGE_API'"),
            run.did.at("ranges"));
  EXPECT_EQ(rows_of(db, "samples"), run.did.at("marks"));
  EXPECT_EQ(db.number("SELECT count(*) FROM memory_allocations WHERE type = 'ALLOC'"),
            run.did.at("allocations"));
  EXPECT_EQ(db.number("SELECT count(*) FROM memory_allocations WHERE type = 'FREE'"),
            run.did.at("releases"));
  EXPECT_EQ(db.number("SELECT count(*) FROM kernels k JOIN regions r ON r.event_id = k.stack_id"),
            run.did.at("kernels"));
  const Json about = RecordedRun::about(db);
  EXPECT_EQ(about.at("complete"), true);
  EXPECT_EQ(about.at("platform"), "cuda");
  EXPECT_EQ(about.at("dropped_records"), 0);
  EXPECT_EQ(about.at("unfinished"), 0);
  EXPECT_EQ(about.at("second_client"), nullptr);
  EXPECT_EQ(about.at("driver_version"), "13.0");
  EXPECT_EQ(about.at("cupti_version"), 130001);
  EXPECT_EQ(run.result.error.tail, "");
}

TEST(RecordProcess, WaitsNameTheRecordsOfEvents) {
  const RecordedRun run({"streams", "4"});
  TestDatabase db = run.database();
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_arg a JOIN regions r ON r.event_id = a.event_id "
                      "WHERE a.name = 'record_id' AND r.name LIKE 'cudaEventRecord%'"),
            run.did.at("events"));
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_arg w JOIN regions r ON r.event_id = w.event_id "
                      "WHERE w.name = 'record_id' AND r.name LIKE 'cudaStreamWaitEvent%' AND "
                      "w.value NOT IN (SELECT a.value FROM rocpd_arg a JOIN regions q ON "
                      "q.event_id = a.event_id WHERE a.name = 'record_id' AND q.name LIKE "
                      "'cudaEventRecord%')"),
            0);
  EXPECT_GE(rows_of(db, "rocpd_info_stream"), 4);
}

TEST(RecordProcess, WhatWasFlushedSurvivesEveryEnd) {
  for (const char* const how : {"abort", "kill", "at-once"}) {
    SCOPED_TRACE(how);
    const RecordedRun run({how, "200", "1000"});
    TestDatabase db = run.partial();
    EXPECT_EQ(rows_of(db, "kernels"), 200);
    EXPECT_EQ(db.text("PRAGMA integrity_check"), "ok");
    EXPECT_EQ(RecordedRun::about(db).at("complete"), false);
    EXPECT_TRUE(run.files(kDatabaseSuffix).empty());
  }
}

TEST(RecordProcess, TheExitWaitsForWorkInFlight) {
  const RecordedRun run({"in-flight", "20"});
  TestDatabase db = run.database();
  EXPECT_EQ(rows_of(db, "kernels"), 20);
  EXPECT_EQ(RecordedRun::about(db).at("unfinished"), 0);
}

TEST(RecordProcess, ButNotForEver) {
  const RecordedRun run({"in-flight", "200"}, {{kPatienceVariable, "300"}});
  ASSERT_TRUE(run.result.succeeded());
  TestDatabase db = run.database();
  const Json about = RecordedRun::about(db);
  EXPECT_EQ(about.at("complete"), false);
  EXPECT_GT(about.at("unfinished").get<int>(), 0);
  EXPECT_EQ(rows_of(db, "kernels") + about.at("unfinished").get<int>(), 200);
}

TEST(RecordProcess, ManyKernelsOfFourThreads) {
  const RecordedRun run({"threads", "5000"});
  TestDatabase db = run.database();
  EXPECT_EQ(rows_of(db, "kernels"), run.did.at("kernels"));
  EXPECT_EQ(run.did.at("kernels"), 20'000);
  EXPECT_EQ(rows_of(db, "(SELECT 1 FROM kernels GROUP BY tid HAVING count(*) = 5000)"), 4);
}

TEST(RecordProcess, AForkBeforeCudaIsRecordedTwice) {
  const RecordedRun run({"fork-before", "5"});
  ASSERT_TRUE(run.result.succeeded());
  const auto files = run.files(kDatabaseSuffix);
  ASSERT_EQ(files.size(), 2U);
  for (const auto& file : files) {
    TestDatabase db(file);
    EXPECT_EQ(rows_of(db, "kernels"), 5);
    EXPECT_EQ(RecordedRun::about(db).at("complete"), true);
  }
}

TEST(RecordProcess, AForkAfterCudaLeavesTheRecordingAlone) {
  const RecordedRun run({"fork-after", "5"});
  ASSERT_TRUE(run.result.succeeded());
  TestDatabase db = run.database();
  EXPECT_EQ(rows_of(db, "kernels"), 5);
}

TEST(RecordProcess, ALaterClientIsRefusedByCupti) {
  const RecordedRun run({"second-client", "3"});
  EXPECT_NE(run.result.output.tail.find("{\"subscribe\":39}"), std::string::npos);
  TestDatabase db = run.database();
  EXPECT_EQ(rows_of(db, "kernels"), run.did.at("kernels"));
}

TEST(RecordProcess, AnEarlierClientIsNamedAndLeftAlone) {
  const RecordedRun run({"many", "3"}, {{"CUDA_SIM_SECOND_CLIENT", "Nsight"}});
  EXPECT_TRUE(run.result.succeeded());
  EXPECT_TRUE(run.files(".db").empty());
  EXPECT_TRUE(run.files(std::string(kPartialSuffix)).empty());
  const Json status = status_of(run);
  EXPECT_EQ(status.at("second_client"), "Nsight");
  EXPECT_FALSE(status.at("remedy").is_null());
  EXPECT_NE(run.result.error.tail.find("Nsight"), std::string::npos);
}

TEST(RecordProcess, WithoutKernelRecordsThereIsNoRecording) {
  const RecordedRun run({"many", "3"}, {{"CUDA_SIM_CUPTI_FAIL", "cuptiActivityEnable:10=35"}});
  EXPECT_TRUE(run.result.succeeded());
  EXPECT_EQ(run.files("").size(), 2U) << "the folder of the host, the status file";
  EXPECT_EQ(status_of(run).at("second_client"), nullptr);
}

TEST(RecordProcess, WhatCannotBeRecordedCostsNothingEither) {
  // Kinds were enabled when the callbacks of contexts were refused: they are disabled again, or the
  // program would fill buffers that nobody takes.
  const RecordedRun run({"many", "300000"}, {{"CUDA_SIM_CUPTI_FAIL", "cuptiEnableCallback=1"}});
  EXPECT_TRUE(run.result.succeeded());
  EXPECT_TRUE(run.files(kDatabaseSuffix).empty());
  EXPECT_EQ(status_of(run).at("pid"), run.did.at("pid"));
}

TEST(RecordProcess, WithoutAnotherKindTheRestIsRecorded) {
  const RecordedRun run({"all", "1"}, {{"CUDA_SIM_CUPTI_FAIL", "cuptiActivityEnable:36=21"}});
  TestDatabase db = run.database();
  EXPECT_EQ(rows_of(db, "kernels"), run.did.at("kernels"));
  EXPECT_EQ(RecordedRun::about(db).at("missing_kinds"), Json({36}));
}

TEST(RecordProcess, DroppedRecordsAreCounted) {
  const RecordedRun run({"many", "100"}, {{"CUDA_SIM_DROP_EVERY", "10"}});
  TestDatabase db = run.database();
  const int dropped = RecordedRun::about(db).at("dropped_records").get<int>();
  EXPECT_GT(dropped, 0);
  EXPECT_LT(rows_of(db, "kernels"), 100);
}

TEST(RecordProcess, OnlyWhatWasAskedFor) {
  const RecordedRun run({"all", "2"}, {{kWhatVariable, "kernels"}});
  TestDatabase db = run.database();
  EXPECT_EQ(rows_of(db, "kernels"), run.did.at("kernels"));
  EXPECT_EQ(rows_of(db, "regions"), 0);
  EXPECT_EQ(rows_of(db, "rocpd_arg"), 0);
  EXPECT_EQ(rows_of(db, "memory_allocations"), 0);
  EXPECT_EQ(RecordedRun::about(db).at("recorded"), Json({"kernels"}));
}

TEST(RecordProcess, TwoDevicesAreTwoAgents) {
  const RecordedRun run({"devices", "3"}, {{"CUDA_SIM_DEVICES", "2"}});
  TestDatabase db = run.database();
  EXPECT_EQ(db.rows("SELECT agent_id, count(*) FROM rocpd_kernel_dispatch GROUP BY 1"),
            (std::vector<std::vector<std::string>>{{"1", "3"}, {"2", "3"}}));
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_info_agent WHERE type = 'GPU'"), 2);
}

TEST(RecordProcess, WhichDeviceWasChosen) {
  const RecordedRun run({"devices", "3"}, {{"CUDA_SIM_DEVICES", "2"}});
  TestDatabase db = run.database();
  const long long calls = db.number("SELECT count(*) FROM regions WHERE name = 'cudaSetDevice'");
  EXPECT_GE(calls, 2);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_arg a JOIN regions r ON r.event_id = a.event_id "
                      "WHERE r.name = 'cudaSetDevice' AND a.name = 'device'"),
            calls);
  EXPECT_EQ(db.rows("SELECT DISTINCT value FROM rocpd_arg WHERE name = 'device' ORDER BY value"),
            (std::vector<std::vector<std::string>>{{"0"}, {"1"}}));
}

TEST(RecordProcess, AProgramIsNeverHarmed) {
  // No folder named, one that cannot be written, words that are none, a program without CUDA.
  const RecordedRun unasked({"many", "3"}, {{kFolderVariable, ""}});
  EXPECT_TRUE(unasked.result.succeeded());
  EXPECT_EQ(unasked.result.error.tail, "");
  const RecordedRun nowhere({"many", "3"}, {{kFolderVariable, "/proc/nowhere"}});
  EXPECT_TRUE(nowhere.result.succeeded());
  EXPECT_NE(nowhere.result.error.tail.find("is not recorded"), std::string::npos);
  const RecordedRun wrong({"many", "3"}, {{kWhatVariable, "everything"}});
  EXPECT_TRUE(wrong.result.succeeded());
  EXPECT_TRUE(wrong.files(kDatabaseSuffix).empty());
  const RecordedRun nothing({"nothing"});
  EXPECT_TRUE(nothing.result.succeeded());
  EXPECT_TRUE(nothing.files("").empty());
}

TEST(RecordProcess, TheLibraryShowsWhatIsLookedForAndNothingElse) {
  void* library = dlopen(PERFLAB_RECORD_LIBRARY_FILE, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_NE(dlsym(library, "InitializeInjection"), nullptr);
  EXPECT_NE(dlsym(library, "InitializeInjectionNvtx2"), nullptr);
  EXPECT_EQ(dlsym(library, "sqlite3_open"), nullptr) << "a program may have its own";
}

}  // namespace
}  // namespace perflab::record
