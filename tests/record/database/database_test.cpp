// The writer against plain SQL, the views and our own reader.
#include "record/database/database.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <memory>

#include "base/temp_folder.h"
#include "support/test_database.h"
#include "trace/read/read_trace.h"

namespace perflab::record {
namespace {

using test::TestDatabase;
using Row = std::vector<std::string>;

constexpr std::int64_t kStart = 5'000'000'000;

Process sample_process() {
  return {.pid = 321, .ppid = 1, .start = kStart, .command = "./app -n 3", .extdata = "{\"a\": 1}"};
}

Agent sample_gpu() {
  return {.id = 1,
          .type_index = 0,
          .uuid = 9013,
          .name = "sm_90",
          .product = "NVIDIA H200",
          .vendor = "NVIDIA",
          .extdata = "{\"cu_count\": 132}"};
}

class RecordDatabase : public testing::Test {
 protected:
  void SetUp() override {
    auto made = Database::create(path_.string(), sample_process());
    ASSERT_TRUE(made) << describe(made.error());
    database_ = std::move(*made);
    database_->add(sample_gpu());
    database_->add_stream(7, "Default Stream");
    symbol_ = database_->add(Symbol{.agent = 1,
                                    .name = "_Z4axpyPf",
                                    .display = "axpy(float*)",
                                    .registers = 16,
                                    .static_shared_bytes = 256,
                                    .local_bytes = 8});
  }
  /// Launch number `i` from 1: a call and its kernel.
  void launch(std::int64_t i) {
    database_->add(Call{.tid = 321 + (i % 2),
                        .call = i,
                        .name = database_->string_id("cudaLaunchKernel"),
                        .category = "CUDA_RUNTIME_API",
                        .start = kStart + (i * 100),
                        .end = kStart + (i * 100) + 40});
    last_event_ = database_->add(Dispatch{.tid = 321,
                                          .agent = 1,
                                          .symbol = symbol_,
                                          .stream = 7,
                                          .start = kStart + (i * 100) + 20,
                                          .end = kStart + (i * 100) + 90,
                                          .call = i,
                                          .blocks = {10, 2, 1},
                                          .block_size = {256, 1, 1},
                                          .shared_bytes = 512,
                                          .local_bytes = 8});
  }
  void finish() {
    database_->set_process(kStart + 1'000'000, "{\"complete\": true}");
    const auto done = database_->finish();
    ASSERT_TRUE(done) << describe(done.error());
  }

  test::TempFolder folder_;
  std::filesystem::path path_ = folder_ / "host/321_results.db";
  std::unique_ptr<Database> database_;
  std::int64_t symbol_ = 0, last_event_ = 0;
};

TEST_F(RecordDatabase, IsPartialUntilItIsFinished) {
  EXPECT_TRUE(std::filesystem::exists(path_.string() + ".partial"));
  EXPECT_FALSE(std::filesystem::exists(path_));
  launch(1);
  finish();
  EXPECT_FALSE(std::filesystem::exists(path_.string() + ".partial"));
  EXPECT_FALSE(std::filesystem::exists(path_.string() + ".partial-journal"));
  TestDatabase db(path_);
  EXPECT_EQ(db.text("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(db.text("SELECT extdata FROM rocpd_info_process"), "{\"complete\": true}");
  EXPECT_EQ(db.number("SELECT fini FROM rocpd_info_process"), kStart + 1'000'000);
  EXPECT_EQ(db.text("SELECT environment FROM rocpd_info_process"), "{}");
}

TEST_F(RecordDatabase, WhatWasCommittedIsThereAfterAKill) {
  for (std::int64_t i = 1; i <= 10; ++i) launch(i);
  database_->commit();
  for (std::int64_t i = 11; i <= 5000; ++i) launch(i);  // some are written, none is committed
  // A kill leaves the file and its journal as they are at this moment.
  const std::filesystem::path killed = folder_ / "killed.db";
  std::filesystem::copy(path_.string() + ".partial", killed);
  const std::string journal = path_.string() + ".partial-journal";
  ASSERT_TRUE(std::filesystem::exists(journal));
  std::filesystem::copy(journal, killed.string() + "-journal");
  sqlite3* opened = nullptr;
  ASSERT_EQ(sqlite3_open(killed.c_str(), &opened), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(opened, "BEGIN IMMEDIATE; COMMIT", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(opened);
  TestDatabase db(killed);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_kernel_dispatch"), 10);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_event"), 20);
}

TEST_F(RecordDatabase, ManyRowsAddUp) {
  constexpr std::int64_t kMany = 10'000;
  for (std::int64_t i = 1; i <= kMany; ++i) {
    launch(i);
    if (i % 777 == 0) database_->commit();
  }
  finish();
  EXPECT_EQ(database_->refused_rows(), 0);
  TestDatabase db(path_);
  EXPECT_EQ(db.number("SELECT count(*) FROM kernels"), kMany);
  EXPECT_EQ(db.number("SELECT sum(duration) FROM kernels"), kMany * 70);
  EXPECT_EQ(db.number("SELECT sum(duration) FROM regions"), kMany * 40);
  EXPECT_EQ(db.number("SELECT count(*) FROM kernels k JOIN regions r ON r.stack_id = k.stack_id"),
            kMany);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_kernel_dispatch WHERE event_id < 8589934592"), 0);
  EXPECT_EQ(db.rows("SELECT grid_x, grid_y, grid_z, workgroup_x, lds_size, vgpr_count, "
                    "static_lds_size, agent_type FROM kernels LIMIT 1"),
            (std::vector<std::vector<std::string>>{
                {"2560", "2", "1", "256", "512", "16", "256", "GPU"}}));
}

TEST_F(RecordDatabase, ACallThatIsThereAlreadyIsCountedNotWritten) {
  launch(1);
  launch(1);
  finish();
  EXPECT_EQ(database_->refused_rows(), 1);
  TestDatabase db(path_);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_event WHERE id = 1"), 1);
}

TEST_F(RecordDatabase, CopiesAllocationsAndValues) {
  launch(1);
  database_->add(Copy{.tid = 321,
                      .name = "MEMORY_COPY_HOST_TO_DEVICE",
                      .source = 0,
                      .destination = 1,
                      .stream = 7,
                      .start = kStart,
                      .end = kStart + 5,
                      .bytes = 4096,
                      .call = 9});
  database_->add(Allocation{.tid = 321,
                            .agent = 1,
                            .time = kStart,
                            .address = 0xf000'0000'0000'0000,
                            .bytes = 64,
                            .call = 10});
  database_->add(
      Allocation{.tid = 321, .agent = 1, .release = true, .time = kStart + 1, .call = 11});
  const std::int64_t counter =
      database_->add(Counter{.agent = 1, .name = "sm__cycles_elapsed.max", .units = "cycle"});
  database_->add_value(last_event_, counter, 1234.5);
  database_->add(Argument{.call = 1, .position = 0, .name = "event_id", .value = 17});
  finish();
  TestDatabase db(path_);
  EXPECT_EQ(db.rows("SELECT name, size, dst_agent_type, src_agent_type, stream_name, corr_id, "
                    "stack_id FROM memory_copies"),
            (std::vector<Row>{
                {"MEMORY_COPY_HOST_TO_DEVICE", "4096", "GPU", "CPU", "Default Stream", "0", "9"}}));
  EXPECT_EQ(db.rows("SELECT type, level, size, stream_id FROM memory_allocations ORDER BY id"),
            (std::vector<Row>{{"ALLOC", "REAL", "64", "NULL"}, {"FREE", "REAL", "0", "NULL"}}));
  EXPECT_EQ(db.rows("SELECT counter_name, value, kernel_name FROM counters_collection"),
            (std::vector<Row>{{"sm__cycles_elapsed.max", "1234.5", "axpy(float*)"}}));
  EXPECT_EQ(db.rows("SELECT name, value FROM region_args"), (std::vector<Row>{{"event_id", "17"}}));
}

TEST_F(RecordDatabase, RangesAreRegionsAndMarksAreSamples) {
  database_->add(Range{.tid = 400,
                       .function = "nvtxRangePushA",
                       .start = kStart,
                       .end = kStart + 9,
                       .extdata = "{\"message\": \"step\"}"});
  database_->add(Range{.tid = 400,
                       .function = "nvtxMarkA",
                       .start = kStart + 3,
                       .end = kStart + 3,
                       .extdata = "{\"message\": \"here\"}"});
  finish();
  TestDatabase db(path_);
  EXPECT_EQ(db.rows("SELECT category, name, tid, duration, extdata FROM regions"),
            (std::vector<Row>{{"MARKER_CORE_RANGE_API", "nvtxRangePushA", "400", "9",
                               "{\"message\": \"step\"}"}}));
  EXPECT_EQ(db.rows("SELECT name, tid, timestamp, extdata FROM samples"),
            (std::vector<Row>{
                {"nvtxMarkA", "400", std::to_string(kStart + 3), "{\"message\": \"here\"}"}}));
}

TEST_F(RecordDatabase, AStreamGetsAnotherName) {
  database_->add_stream(13, "Stream 13");
  database_->add_stream(13, "Default Stream");
  finish();
  TestDatabase db(path_);
  EXPECT_EQ(db.list("SELECT name FROM rocpd_info_stream ORDER BY id"),
            (std::vector<std::string>{"Default Stream", "Default Stream"}));
  EXPECT_EQ(db.list("SELECT id FROM rocpd_info_queue ORDER BY id"),
            (std::vector<std::string>{"7", "13"}));
}

TEST_F(RecordDatabase, OurOwnReaderReadsIt) {
  for (std::int64_t i = 1; i <= 100; ++i) launch(i);
  finish();
  const auto trace = trace::read(std::vector<std::filesystem::path>{path_});
  ASSERT_TRUE(trace) << describe(trace.error());
  EXPECT_EQ(trace->dispatches.size(), 100U);
  EXPECT_EQ(trace->regions.size(), 100U);
  EXPECT_EQ(trace->report.dropped, (std::map<trace::ReadReport::Key, std::uint64_t>{}));
  EXPECT_EQ(trace->processes.at(0).pid, 321);
  EXPECT_EQ(trace->processes.at(0).command, "./app -n 3");
  EXPECT_EQ(trace->agents.size(), 2U);
}

TEST(RecordDatabaseFailure, AFolderThatCannotBeMadeIsSaid) {
  const auto made = Database::create("/proc/nowhere/1_results.db", sample_process());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::usage);
  EXPECT_FALSE(made.error().remedy.empty());
}

/// No file grows beyond so many bytes: what a full disk looks like to the writer.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST(RecordDatabaseFailure, AFullDiskIsRememberedAndTheRestDropped) {
  const test::TempFolder folder;
  auto made = Database::create((folder / "x.db").string(), sample_process());
  ASSERT_TRUE(made);
  Database& database = **made;
  const std::int64_t symbol = database.add(Symbol{.agent = 1, .name = "k", .display = "k"});
  const SmallDisk small(2 << 20);
  for (std::int64_t i = 1; i <= 100'000; ++i) {
    database.add(Dispatch{.agent = 1, .symbol = symbol, .start = i, .end = i + 1, .call = i});
    if (i % 1000 == 0) database.commit();
  }
  ASSERT_NE(database.failure(), nullptr);
  EXPECT_EQ(database.failure()->code, ErrorCode::usage);
  EXPECT_FALSE(database.finish());
  EXPECT_FALSE(std::filesystem::exists(folder / "x.db"));
}

}  // namespace
}  // namespace perflab::record
