// Collections on CUDA: the program is started as it is, with the library's settings; here it is a
// script that leaves what the library would.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>

#include "base/temp_folder.h"
#include "collect/collect.h"
#include "collect/recorder.h"

namespace perflab::collect {
namespace {

namespace fs = std::filesystem;
using test::ScopedVariable;
using test::TempFolder;
using test::text_of;
using testing::Contains;
using testing::HasSubstr;

class CudaRecorderTest : public testing::Test {
 protected:
  CudaRecorderTest() { std::ofstream(library_) << "library"; }

  [[nodiscard]] CollectPlan plan(const std::string& script, int runs = 1) const {
    CollectPlan plan;
    plan.target = {folder_.script("app", script).string()};
    plan.runs = runs;
    plan.root = folder_ / ".rocpd_profile";
    plan.platform = trace::Platform::cuda;
    return plan;
  }
  static Collection must(Result<Collection> collection) {
    EXPECT_TRUE(collection.has_value()) << describe(collection.error());
    return std::move(collection).value_or(Collection{});
  }

  TempFolder folder_;
  fs::path library_ = folder_ / "librecord.so";
  ScopedVariable named_{"PERFLAB_RECORD_LIBRARY", library_.string()};
  ScopedVariable counters_{"PERFLAB_RECORD_COUNTERS", "stale"};
  ScopedVariable sampling_{"PERFLAB_RECORD_PC_SAMPLING", "stale"};
};

constexpr const char* kRecords =
    "mkdir -p $PERFLAB_RECORD_OUT/host; echo rows > $PERFLAB_RECORD_OUT/host/$$_results.db";

TEST_F(CudaRecorderTest, StartsTheProgramWithTheLibrary) {
  const fs::path said = folder_ / "said";
  const Collection collection =
      must(collect(plan(std::string(kRecords) +
                            "; echo \"$CUDA_INJECTION64_PATH $NVTX_INJECTION64_PATH "
                            "$PERFLAB_RECORD_WHAT ${PERFLAB_RECORD_COUNTERS-none}\" >> " +
                            said.string(),
                        2)));
  EXPECT_EQ(collection.complete_runs(), 2);
  EXPECT_FALSE(collection.rocprofv3.has_value());
  EXPECT_EQ(collection.platform, trace::Platform::cuda);
  const std::string library = fs::canonical(library_).string();
  const std::string line = library + " " + library + " kernels,api,memory,ranges,sync none\n";
  EXPECT_EQ(text_of(said), line + line);
  ASSERT_EQ(collection.runs.at(0).databases.size(), 1U);
  EXPECT_THAT(collection.runs[0].databases[0].path.string(), HasSubstr("run_1/host/"));
}

TEST_F(CudaRecorderTest, PcSamplingIsAskedForByThePlanAlone) {
  for (const std::string period : {"", "default", "12"}) {
    const fs::path said = folder_ / ("said" + period);
    CollectPlan sampled = plan(std::string(kRecords) +
                               "; echo ${PERFLAB_RECORD_PC_SAMPLING-none} > " + said.string());
    sampled.cuda_pc_sampling = period;
    EXPECT_EQ(must(collect(sampled)).complete_runs(), 1);
    EXPECT_EQ(text_of(said), (period.empty() ? "none" : period) + "\n");
  }
}

TEST_F(CudaRecorderTest, NothingRecordedIsSaidWithWhatProcessesSay) {
  const Collection collection = must(collect(
      plan("mkdir -p $PERFLAB_RECORD_OUT/host; echo "
           "'{\"pid\": 7, \"reason\": \"CUPTI is taken\", \"remedy\": \"run without ncu\"}' > "
           "$PERFLAB_RECORD_OUT/host/7_record_status.json")));
  ASSERT_TRUE(collection.problem.has_value());
  EXPECT_EQ(collection.problem->code, ErrorCode::bad_input);
  EXPECT_THAT(collection.problem->message, HasSubstr("ended well, but left"));
  EXPECT_THAT(collection.problem->notes,
              Contains("process 7 was not recorded: CUPTI is taken (run without ncu)"));
  EXPECT_THAT(collection.problem->remedy, HasSubstr("--platform amd"));
}

TEST_F(CudaRecorderTest, AFailedProgramIsItsOwnFault) {
  const Collection collection = must(collect(plan(std::string(kRecords) + "; exit 3")));
  ASSERT_TRUE(collection.problem.has_value());
  EXPECT_EQ(collection.problem->code, ErrorCode::target_failed);
  EXPECT_TRUE(collection.has_databases());
}

TEST_F(CudaRecorderTest, WithoutTheLibraryNothingIsRun) {
  fs::remove(library_);
  const Result<Collection> collection = collect(plan("touch " + (folder_ / "ran").string()));
  ASSERT_FALSE(collection.has_value());
  EXPECT_EQ(collection.error().code, ErrorCode::missing_tool);
  EXPECT_FALSE(fs::exists(folder_ / "ran"));
  EXPECT_FALSE(fs::exists(folder_ / ".rocpd_profile"));
}

/// A database with one committed row and a transaction that a kill left open, with its journal.
void write_killed(const fs::path& path) {
  sqlite3* writer = nullptr;
  const fs::path live = path.string() + ".live";
  ASSERT_EQ(sqlite3_open(live.c_str(), &writer), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(writer,
                         "PRAGMA synchronous=OFF; PRAGMA cache_size=1; CREATE TABLE t(x); INSERT "
                         "INTO t VALUES(1); BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
                         "SELECT i+1 FROM n WHERE i<20000) INSERT INTO t SELECT i FROM n",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  fs::copy_file(live, path);
  fs::copy_file(live.string() + "-journal", path.string() + "-journal");
  sqlite3_close_v2(writer);
}

TEST_F(CudaRecorderTest, WhatAKillLeftIsRolledBackAndRenamed) {
  const fs::path killed = folder_ / "killed";
  write_killed(killed);
  const std::string put =
      "mkdir -p $PERFLAB_RECORD_OUT/host; for end in '' -journal; do cp " + killed.string() +
      "$end $PERFLAB_RECORD_OUT/host/9_results.db.partial$end; done; kill -9 $$";
  const Collection collection = must(collect(plan(put)));
  ASSERT_TRUE(collection.problem.has_value());
  ASSERT_EQ(collection.runs.at(0).databases.size(), 1U);
  const fs::path whole = collection.runs[0].databases[0].path;
  EXPECT_EQ(whole.filename(), "9_results.db");
  EXPECT_FALSE(collection.runs[0].databases[0].unfinished);
  EXPECT_FALSE(fs::exists(whole.string() + ".partial"));
  EXPECT_THAT(collection.notes, Contains(HasSubstr("what had been written until then is kept")));
  sqlite3* reader = nullptr;
  ASSERT_EQ(sqlite3_open(whole.c_str(), &reader), SQLITE_OK);
  sqlite3_stmt* rows = nullptr;
  ASSERT_EQ(sqlite3_prepare_v2(reader, "SELECT count(*) FROM t", -1, &rows, nullptr), SQLITE_OK);
  ASSERT_EQ(sqlite3_step(rows), SQLITE_ROW);
  EXPECT_EQ(sqlite3_column_int(rows, 0), 1);
  sqlite3_finalize(rows);
  sqlite3_close_v2(reader);
}

TEST_F(CudaRecorderTest, APartialFileThatIsNoDatabaseIsNamed) {
  const Collection collection =
      must(collect(plan("mkdir -p $PERFLAB_RECORD_OUT/host; echo no > "
                        "$PERFLAB_RECORD_OUT/host/9_results.db.partial; kill -9 $$")));
  EXPECT_FALSE(collection.has_databases());
  EXPECT_THAT(collection.notes, Contains(HasSubstr("is not an SQLite database")));
}

}  // namespace
}  // namespace perflab::collect
