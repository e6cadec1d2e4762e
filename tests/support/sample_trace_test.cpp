// The bundled sample (examples/decode_step.json), trace descriptions in general, and the program
// make-rocpd as a user meets it.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "support/big_trace.h"
#include "support/rocpd_writer.h"
#include "support/test_database.h"
#include "support/trace_description.h"

namespace perflab::test {
namespace {

class Sample : public testing::Test {
 protected:
  void SetUp() override {
    path_ = test_folder() / "sample.db";
    const Result<void> done = write_sample(path_);
    ASSERT_TRUE(done) << describe(done.error());
  }
  std::filesystem::path path_;
};

TEST_F(Sample, SaysThatItIsSynthetic) {
  TestDatabase db(path_);
  EXPECT_EQ(db.text("SELECT value FROM rocpd_metadata WHERE tag = 'synthetic'"),
            "Synthetic sample: computed from examples/decode_step.json, not measured on a GPU");
}

TEST_F(Sample, IsTheSameEveryTime) {
  ASSERT_TRUE(write_sample(path_.parent_path() / "again.db"));
  EXPECT_EQ(file_bytes(path_), file_bytes(path_.parent_path() / "again.db"));
  EXPECT_EQ(file_bytes(std::filesystem::path(PERFLAB_SOURCE_DIR) / "examples/decode_step.json"),
            sample_description());
}

TEST_F(Sample, HoldsFourDecodeSteps) {
  TestDatabase db(path_);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_kernel_dispatch"), 4 * 326);
  EXPECT_EQ(db.number("SELECT count(DISTINCT kernel_id) FROM rocpd_kernel_dispatch"), 14);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_memory_copy"), 4 * 3);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_memory_allocate"), 69);
  EXPECT_EQ(
      db.number("SELECT count(*) FROM rocpd_region r JOIN rocpd_string s ON s.id = r.name_id WHERE "
                "s.string = 'hipStreamSynchronize'"),
      4);
  EXPECT_EQ(db.number("SELECT count(DISTINCT stream_id) FROM rocpd_memory_copy"), 2);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_pmc_event"), 0);
  EXPECT_EQ(db.number("SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

TEST_F(Sample, LaunchesEveryDispatchBeforeItRuns) {
  TestDatabase db(path_);
  EXPECT_EQ(
      db.number(
          "SELECT count(*) FROM rocpd_kernel_dispatch d JOIN rocpd_event e ON e.id = d.event_id "
          "JOIN rocpd_event l ON l.stack_id = e.stack_id AND l.id <> e.id JOIN rocpd_region r ON "
          "r.event_id = l.id WHERE r.end <= d.start"),
      4 * 326);
  EXPECT_EQ(
      db.number("SELECT count(*) FROM (SELECT start, lag(end) OVER (PARTITION BY queue_id ORDER BY "
                "start) before FROM rocpd_kernel_dispatch) WHERE start < before"),
      0);
}

TEST_F(Sample, KeepsToThePeaksOfTheProduct) {
  const Result<TraceDescription> description = read_description(sample_description(), "sample");
  ASSERT_TRUE(description) << describe(description.error());
  TestDatabase db(path_);
  // 5.3 TB/s is 5300 bytes per ns: the weights of the largest GEMM cannot be read faster.
  EXPECT_GT(db.number("SELECT min(end - start) FROM rocpd_kernel_dispatch WHERE kernel_id = " +
                      std::to_string(description->kernels.at("lm_head_gemm").id)),
            1050673152 / 5300);
  EXPECT_EQ(
      db.number("SELECT count(*) FROM rocpd_kernel_dispatch WHERE group_segment_size > 65536 OR "
                "workgroup_size_x * workgroup_size_y * workgroup_size_z > 1024"),
      0);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_info_kernel_symbol WHERE arch_vgpr_count + "
                      "accum_vgpr_count > 512 OR (arch_vgpr_count + accum_vgpr_count) % 8 <> 0 OR "
                      "sgpr_count % 16 <> 0"),
            0);
  EXPECT_LT(db.number("SELECT sum(size) FROM rocpd_memory_allocate WHERE agent_id = 1"),
            192LL << 30);
}

/// A description with one kernel and the given program.
std::string description_with(const std::string& program, const std::string& extra = "") {
  return R"({"guid": "g", "process": {}, "agents": ["host", "mi300x"],
            "streams": [{"name": "s", "queue": "q"}],
            "code_objects": [{"uri": "file:///x"}], "copies": {}, "timing": {},
            "kernels": {"k": {"symbol": "k", "fixed_us": 2.5)" +
         extra + R"(}}, "program": )" + program + "}";
}

std::string description_problem(const std::string& json) {
  const Result<TraceDescription> read = read_description(json, "d.json");
  return read ? "" : read.error().message;
}

TEST(Description, PlaysRepeats) {
  const Result<TraceDescription> read =
      read_description(description_with(R"([{"repeat": 3, "do": ["k", "k"]}])"), "d.json");
  ASSERT_TRUE(read) << describe(read.error());
  const std::filesystem::path path = test_folder() / "d.db";
  ASSERT_TRUE(write_described_trace(*read, path));
  TestDatabase db(path);
  EXPECT_EQ(db.rows("SELECT count(*), sum(end - start) FROM rocpd_kernel_dispatch")[0],
            (std::vector<std::string>{"6", "15000"}));
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_metadata WHERE tag = 'synthetic'"), 0);
}

TEST(Description, NamesWhatIsWrong) {
  EXPECT_EQ(description_problem(description_with(R"(["nobody"])")),
            "d.json: program: there is no kernel \"nobody\"");
  EXPECT_EQ(description_problem(description_with("[]", R"(, "lsd": 3)")),
            "d.json: kernel k: has an unknown field \"lsd\"");
  EXPECT_EQ(description_problem(description_with("[]", R"(, "lds": -3)")),
            "d.json: kernel k: \"lds\" is not a whole number from 0");
  EXPECT_EQ(description_problem(description_with("[]", R"(, "code_object": 2)")),
            "d.json: kernel k: there is no code object 2");
  EXPECT_EQ(description_problem(description_with(R"([{"launch": "k", "stream": 5}])")),
            "d.json: program: no such stream, in step \"k\"");
  EXPECT_NE(
      description_problem(
          description_with(R"([{"repeat": 1000000, "do": [{"repeat": 1000000, "do": ["k"]}]}])"))
          .find("more than 1000000 steps"),
      std::string::npos);
  EXPECT_NE(description_problem("[1, 2").find("d.json: is not valid JSON"), std::string::npos);
  EXPECT_NE(description_problem("[1, 2]"), "");
  EXPECT_NE(description_problem("{}"), "");
}

TEST(BigTrace, HoldsWhatWasAskedFor) {
  const std::filesystem::path folder = test_folder();
  BigTraceOptions options;
  options.dispatches = 2001;
  options.counters = true;
  const Result<BigTraceResult> made = write_big_trace(folder / "big.db", options);
  ASSERT_TRUE(made) << describe(made.error());
  TestDatabase db(folder / "big.db");
  EXPECT_EQ(db.list("SELECT count(*) FROM rocpd_kernel_dispatch GROUP BY guid ORDER BY guid"),
            (std::vector<std::string>{"1001", "1000"}));
  EXPECT_EQ(db.number("SELECT count(DISTINCT queue_id) FROM rocpd_kernel_dispatch"), 4);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_memory_copy"), 20);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_pmc_event"), 2001 * 16);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_region"), made->regions);
  // Every dispatch has its launch, by guid and stack id, and starts after it.
  EXPECT_EQ(
      db.number(
          "WITH l AS (SELECT e.guid, e.stack_id, r.end FROM rocpd_region r JOIN rocpd_event e ON "
          "e.id = r.event_id AND e.guid = r.guid) SELECT count(*) FROM rocpd_kernel_dispatch d "
          "JOIN rocpd_event e ON e.id = d.event_id AND e.guid = d.guid JOIN l ON l.guid = e.guid "
          "AND l.stack_id = e.stack_id WHERE l.end < d.start"),
      2001);
  EXPECT_EQ(
      db.number(
          "SELECT count(*) FROM (SELECT start, lag(end) OVER (PARTITION BY guid, queue_id ORDER "
          "BY start) before FROM rocpd_kernel_dispatch) WHERE start < before"),
      0);
  EXPECT_NE(db.text("SELECT value FROM rocpd_metadata WHERE tag = 'synthetic'"), "");
}

TEST(BigTrace, FollowsItsSeed) {
  const std::filesystem::path folder = test_folder();
  BigTraceOptions options;
  options.dispatches = 1500;
  ASSERT_TRUE(write_big_trace(folder / "a.db", options));
  ASSERT_TRUE(write_big_trace(folder / "b.db", options));
  options.seed = 2;
  ASSERT_TRUE(write_big_trace(folder / "c.db", options));
  EXPECT_EQ(file_bytes(folder / "a.db"), file_bytes(folder / "b.db"));
  EXPECT_NE(file_bytes(folder / "a.db"), file_bytes(folder / "c.db"));
}

/// Runs make-rocpd with arguments; its exit code.
int make_rocpd(const std::string& arguments) {
  const std::string command =
      std::string(PERFLAB_MAKE_ROCPD) + " " + arguments + " >/dev/null 2>&1";
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): fixed text of this file
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(MakeRocpd, WritesOneFilePerProcess) {
  const std::filesystem::path folder = test_folder();
  const std::string out = (folder / "run.db").string();
  EXPECT_EQ(
      make_rocpd("--dispatches 100 --files --no-launches --queues 2 --copies-every 0 --out " + out),
      0);
  for (const char* name : {"run.1.db", "run.2.db"}) {
    TestDatabase db(folder / name);
    EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_kernel_dispatch"), 50);
    EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_region"), 0);
    EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_memory_copy"), 0);
  }
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(MakeRocpd, RefusesWhatMakesNoSense) {
  const std::string folder = test_folder().string();
  EXPECT_EQ(make_rocpd("--help"), 0);
  for (const char* arguments :
       {"", "--dispatches 10", "--dispatches -1 --out x.db", "--dispatches ten --out x.db",
        "--dispatches 10 --queues 0 --out x.db", "--sample a.db --quirks b.db", "--whatever",
        "--dispatches 10 --files --one-file --out x.db", "--dispatches 10 --out x.db --passes p",
        "--dispatches 10 --out /no/such/folder/x.db"})
    EXPECT_EQ(make_rocpd(arguments), 2) << arguments;
  EXPECT_EQ(make_rocpd("--description /no/such.json --out " + folder + "/x.db"), 3);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

}  // namespace
}  // namespace perflab::test
