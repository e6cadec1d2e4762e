// The writer against the real format (databases written by rocprofv3), and its quirks: that they
// really stand in the file.
#include "support/rocpd_writer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <regex>

#include "support/quirks_trace.h"
#include "support/test_database.h"

namespace perflab::test {
namespace {

const std::filesystem::path kRecorded = std::filesystem::path(PERFLAB_SHARED_DIR) / "data/rocpd";

/// SQL text without what may differ: guid, comments, white space, kind of quotes.
std::string normalised(std::string sql, const std::string& guid) {
  const std::string suffix = table_suffix(guid);
  for (const std::string& name : {suffix, guid})
    for (auto at = sql.find(name); at != std::string::npos; at = sql.find(name))
      sql.replace(at, name.size(), "G");
  sql = std::regex_replace(sql, std::regex("--[^\n]*"), "");
  sql = std::regex_replace(sql, std::regex("[\\s]+"), " ");
  return std::regex_replace(sql, std::regex("`"), "\"");
}

/// The CREATE statements of the tables and of the plain views, in order.
std::vector<std::string> schema_of(TestDatabase& database) {
  const std::string guid = database.text("SELECT value FROM rocpd_metadata WHERE tag = 'guid'");
  std::vector<std::string> statements;
  for (const std::string& sql : database.list(
           "SELECT sql FROM sqlite_master WHERE name LIKE 'rocpd\\_%' ESCAPE '\\' AND sql NOT NULL "
           "ORDER BY rowid"))
    statements.push_back(normalised(sql, guid));
  return statements;
}

/// PRAGMA table_info and foreign_key_list of every table, without guids.
std::vector<std::string> columns_of(TestDatabase& database) {
  const std::string guid = database.text("SELECT value FROM rocpd_metadata WHERE tag = 'guid'");
  std::vector<std::string> lines;
  for (const TableSpec& spec : rocpd_tables())
    for (const char* pragma : {"table_info", "foreign_key_list"})
      for (const auto& row : database.rows("PRAGMA " + std::string(pragma) + "(`" +
                                           physical_name(spec.table, guid) + "`)")) {
        std::string line = std::string(spec.name) + ":";
        for (const std::string& value : row) line += " " + value;
        lines.push_back(normalised(line, guid));
      }
  return lines;
}

void expect_same_schema(const std::filesystem::path& recorded, const WriterOptions& options) {
  if (!std::filesystem::exists(recorded))
    GTEST_SKIP() << "skipped: " << recorded
                 << " is not there: the recorded databases are not part of the project";
  const std::filesystem::path made = test_folder() / "made.db";
  RocpdWriter writer(made, options);
  ASSERT_TRUE(writer.close());
  TestDatabase real(recorded);
  TestDatabase ours(made);
  EXPECT_EQ(schema_of(ours), schema_of(real));
  EXPECT_EQ(columns_of(ours), columns_of(real));
  EXPECT_GT(columns_of(ours).size(), 200U);
  const std::string tags = "SELECT tag FROM rocpd_metadata ORDER BY id";
  EXPECT_EQ(ours.list(tags), real.list(tags));
}

TEST(RocpdSchema, EqualsRocprofv3) {
  expect_same_schema(kRecorded / "emulated_mi300x/streams.db", {});
}

TEST(RocpdSchema, EqualsRocprofilerSystemsOfSchema3) {
  expect_same_schema(kRecorded / "mi350x_rocprofsys/rocpd.db",
                     {.guid = "3224963d0bd2e790224c3b2186eb8bd1",
                      .schema_version = "3",
                      .metadata = {{"upid", "3224963d0bd2e790224c3b2186eb8bd1"}}});
}

TEST(RocpdWriter, WritesALaunchAsRocprofv3Does) {
  const std::filesystem::path path = test_folder() / "launch.db";
  RocpdWriter w(path);
  w.agent(host_agent());
  const Id gpu = w.agent(mi300x_agent());
  w.queue();
  const Id queue = w.queue();
  const Id stream = w.stream();
  const Id code = w.code_object();
  const Id kernel =
      w.kernel({.code_object = code, .name = "_Z4axpyPf", .display_name = "axpy(float*)"});
  const Launched made = w.launch(
      {.start = 10, .end = 20, .arguments = {argument("void**", "args", "0x1")}},
      {.kernel = kernel, .start = 25, .end = 95, .agent = gpu, .queue = queue, .stream = stream});
  ASSERT_TRUE(w.close());
  TestDatabase db(path);
  EXPECT_EQ(
      db.rows("SELECT s.string, d.end - d.start, k.kernel_name, k.display_name, q.name, t.name "
              "FROM rocpd_kernel_dispatch d "
              "JOIN rocpd_event e ON e.id = d.event_id AND e.guid = d.guid "
              "JOIN rocpd_string c ON c.id = e.category_id AND c.string = 'KERNEL_DISPATCH' "
              "JOIN rocpd_event l ON l.stack_id = e.stack_id AND l.id <> e.id "
              "JOIN rocpd_region r ON r.event_id = l.id "
              "JOIN rocpd_string s ON s.id = r.name_id "
              "JOIN rocpd_info_kernel_symbol k ON k.id = d.kernel_id "
              "JOIN rocpd_info_queue q ON q.id = d.queue_id "
              "JOIN rocpd_info_stream t ON t.id = d.stream_id"),
      (std::vector<std::vector<std::string>>{
          {"hipLaunchKernel", "70", "_Z4axpyPf.kd", "axpy(float*)", "Queue 0", "Default Stream"}}));
  EXPECT_EQ(db.text("SELECT parent_stack_id FROM rocpd_event WHERE id = " +
                    std::to_string(made.dispatch.event)),
            std::to_string(made.stack_id));
  EXPECT_EQ(db.text("SELECT parent_stack_id FROM rocpd_event WHERE id = " +
                    std::to_string(made.region.event)),
            "0");
  EXPECT_EQ(
      db.text("SELECT json_extract(extdata, '$.cu_count') FROM rocpd_info_agent WHERE id = 1"),
      "304");
  EXPECT_EQ(db.text("SELECT json_extract(extdata, '$.formatted_kernel_name') FROM "
                    "rocpd_info_kernel_symbol"),
            "axpy(float*)");
  EXPECT_EQ(db.number("SELECT count(*) FROM pragma_foreign_key_check"), 0);
  EXPECT_EQ(db.text("PRAGMA integrity_check"), "ok");
}

TEST(RocpdWriter, WritesManyRowsInOrder) {
  const std::filesystem::path path = test_folder() / "many.db";
  RocpdWriter w(path);
  for (int i = 0; i < 5000; ++i)
    w.region({.name = "call " + std::to_string(i % 7),
              .start = i,
              .end = i + 1,
              .arguments = {argument("int", "i", std::to_string(i)),
                            argument("int", "none", std::nullopt)}});
  ASSERT_TRUE(w.close());
  TestDatabase db(path);
  EXPECT_EQ(
      db.number("SELECT count(*) FROM rocpd_region r JOIN rocpd_arg a ON a.event_id = r.event_id "
                "JOIN rocpd_string s ON s.id = r.name_id WHERE r.id = r.start + 1 AND "
                "a.value = CAST(r.start AS TEXT) AND s.string = 'call ' || (r.start % 7)"),
      5000);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_arg WHERE value IS NULL AND position = 1"), 5000);
}

TEST(RocpdWriter, SameRowsSameBytes) {
  const std::filesystem::path folder = test_folder();
  for (const char* name : {"a.db", "b.db"}) ASSERT_TRUE(write_quirks(folder / name));
  EXPECT_EQ(file_bytes(folder / "a.db"), file_bytes(folder / "b.db"));
}

TEST(RocpdWriter, MergesSeveralGuidsInOneFile) {
  const std::filesystem::path path = test_folder() / "merged.db";
  RocpdFile file(path);
  RocpdWriter a(file, {.guid = "0000000a-0000-7000-8000-000000000001"});
  RocpdWriter b(file, {.guid = "0000000b00007000800000000000000b"});
  a.dispatch({.start = 1, .end = 2});
  b.dispatch({.start = 3, .end = 4});
  b.dispatch({.start = 5, .end = 6});
  ASSERT_TRUE(file.close());
  // A third process is appended to the finished file, as `rocpd merge` would.
  RocpdWriter c(path, {.guid = "0000000c-0000-7000-8000-000000000001", .schema_version = "3"},
                {.views = Views::real, .append = true});
  c.dispatch({.start = 7, .end = 8});
  ASSERT_TRUE(c.close());
  TestDatabase db(path);
  EXPECT_EQ(db.list("SELECT count(*) FROM rocpd_kernel_dispatch GROUP BY guid ORDER BY guid"),
            (std::vector<std::string>{"1", "2", "1"}));
  EXPECT_EQ(db.list("SELECT value FROM rocpd_metadata WHERE tag = 'schema_version'"),
            (std::vector<std::string>{"3.0.1", "3.0.1", "3"}));
  EXPECT_EQ(db.number("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name LIKE "
                      "'rocpd\\_kernel\\_dispatch\\_%' ESCAPE '\\'"),
            3);
}

TEST(RocpdWriter, PutsRowsOfTwoGuidsIntoOneTable) {
  const std::filesystem::path path = test_folder() / "two.db";
  RocpdWriter w(path, {.guid = "a", .strictness = Strictness::nullable});
  w.launch({}, {.start = 1, .end = 2});
  NodeRow node;
  node.id = 7;
  w.rows_of("b", node, {.pid = 99});
  w.launch({}, {.start = 3, .end = 4});
  ASSERT_TRUE(w.close());
  TestDatabase db(path);
  EXPECT_EQ(db.list("SELECT guid FROM rocpd_kernel_dispatch_a ORDER BY id"),
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(
      db.number(
          "SELECT count(*) FROM rocpd_region_a r JOIN rocpd_string_a s ON s.id = r.name_id "
          "AND s.guid = r.guid JOIN rocpd_info_process_a p ON p.id = r.pid AND p.guid = r.guid "
          "WHERE s.string = 'hipLaunchKernel'"),
      2);
}

TEST(RocpdWriter, LeavesOutViewsAndTables) {
  const std::filesystem::path folder = test_folder();
  for (const Views views : {Views::none, Views::lying}) {
    const std::filesystem::path path = folder / (views == Views::none ? "none.db" : "lying.db");
    RocpdWriter w(path, {.guid = "x", .missing_tables = {"memory_allocate", "sample", "arg"}},
                  {.views = views, .append = false});
    w.dispatch({.start = 1, .end = 2});
    w.allocation({.start = 1, .end = 2});
    w.region({.arguments = {argument("int", "a", "1")}});
    ASSERT_TRUE(w.close());
    TestDatabase db(path);
    EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_kernel_dispatch_x"), 1);
    EXPECT_EQ(
        db.number("SELECT count(*) FROM sqlite_master WHERE name IN ('rocpd_memory_allocate_x', "
                  "'rocpd_sample_x', 'rocpd_arg_x', 'rocpd_arg')"),
        0);
    const auto shown = db.number("SELECT count(*) FROM sqlite_master WHERE type = 'view'");
    EXPECT_EQ(shown, views == Views::none ? 0 : 17);
    if (views == Views::lying) {
      EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_kernel_dispatch"), 0);
    }
  }
}

TEST(RocpdWriter, RealSchemaRefusesWhatLooserOnesTake) {
  const std::filesystem::path path = test_folder() / "null.db";
  const auto write = [&](Strictness strictness) {
    RocpdWriter w(path, {.guid = "x", .strictness = strictness});
    w.dispatch({.start = 1, .end = 2, .queue = {}, .stream = {}});
    w.duplicate_string("twice");
    w.duplicate_string("twice");
    return w.close();
  };
  const Result<void> refused = write(Strictness::real);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("constraint failed"), std::string::npos)
      << refused.error().message;
  EXPECT_TRUE(std::filesystem::is_empty(path.parent_path())) << "nothing may be left behind";
  ASSERT_TRUE(write(Strictness::nullable));
  TestDatabase db(path);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_kernel_dispatch WHERE queue_id IS NULL AND "
                      "stream_id IS NULL"),
            1);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_string WHERE string = 'twice'"), 2);
}

TEST(RocpdWriter, KeepsTextIntegersInUntypedColumns) {
  const std::filesystem::path folder = test_folder();
  for (const Strictness strictness : {Strictness::real, Strictness::untyped}) {
    RocpdWriter w(folder / "text.db", {.strictness = strictness});
    w.copy({.overrides = {{"dst_address", "18446744073709551615"}, {"size", "4096"}}});
    ASSERT_TRUE(w.close());
    TestDatabase db(folder / "text.db");
    // SQLite itself turns a number beyond 64 bits that is put into an INTEGER column into REAL.
    EXPECT_EQ(db.rows("SELECT typeof(dst_address), typeof(size) FROM rocpd_memory_copy")[0],
              strictness == Strictness::real ? (std::vector<std::string>{"real", "integer"})
                                             : (std::vector<std::string>{"text", "text"}));
  }
}

TEST(RocpdWriter, KeepsBytesOfNames) {
  const std::filesystem::path path = test_folder() / "names.db";
  RocpdWriter w(path);
  w.kernel({.name = "bad \xff\xfe utf-8", .display_name = "it's \"quoted\"\n\x1b[31m"});
  w.kernel({.name = "hip_user_kernel", .add_kd_suffix = false});
  ASSERT_TRUE(w.close());
  TestDatabase db(path);
  EXPECT_EQ(db.list("SELECT hex(kernel_name) FROM rocpd_info_kernel_symbol"),
            (std::vector<std::string>{"62616420FFFE207574662D382E6B64",
                                      "6869705F757365725F6B65726E656C"}));
  EXPECT_EQ(db.text("SELECT display_name FROM rocpd_info_kernel_symbol WHERE id = 1"),
            "it's \"quoted\"\n\x1b[31m");
}

TEST(RocpdWriter, LinksEventsInEveryWay) {
  const std::filesystem::path path = test_folder() / "events.db";
  RocpdWriter w(path, {.guid = "x"});
  const Written first = w.dispatch({.start = 1, .end = 2});
  w.dispatch({.start = 1, .end = 2, .event = {.link = EventLink::null}});
  w.dispatch({.start = 1, .end = 2, .event = {.link = EventLink::dangling}});
  w.dispatch(
      {.start = 1, .end = 2, .event = {.link = EventLink::existing, .existing = first.event}});
  ASSERT_TRUE(w.close());
  TestDatabase db(path);
  EXPECT_EQ(
      db.rows("SELECT d.event_id IS NULL, e.id IS NULL FROM rocpd_kernel_dispatch d LEFT JOIN "
              "rocpd_event e ON e.id = d.event_id ORDER BY d.id"),
      (std::vector<std::vector<std::string>>{{"0", "0"}, {"1", "1"}, {"0", "1"}, {"0", "0"}}));
}

TEST(RocpdWriter, WritesACounterValuePerInstance) {
  const std::filesystem::path path = test_folder() / "counters.db";
  RocpdWriter w(path);
  const Id waves = w.counter({.name = "SQ_WAVES"});
  const Written dispatch = w.dispatch({.start = 1, .end = 2});
  const std::array<double, 4> values = {1, 2, 3, 4.5};
  w.counter_values(dispatch.event, waves, values);
  ASSERT_TRUE(w.close());
  TestDatabase db(path);
  EXPECT_EQ(
      db.rows("SELECT p.name, count(*), sum(v.value), max(v.value) FROM rocpd_pmc_event v JOIN "
              "rocpd_info_pmc p ON p.id = v.pmc_id GROUP BY 1")[0],
      (std::vector<std::string>{"SQ_WAVES", "4", "10.5", "4.5"}));
}

TEST(RocpdWriter, NamesAPlaceThatCannotBeWritten) {
  RocpdWriter w("/no/such/folder/x.db");
  w.dispatch({.start = 1, .end = 2});
  const Result<void> done = w.close();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::usage);
  EXPECT_NE(done.error().message.find("/no/such/folder/x.db"), std::string::npos);
}

TEST(RocpdWriter, LeavesNothingWhenItIsNotClosed) {
  const std::filesystem::path folder = test_folder();
  {
    const RocpdWriter w(folder / "left.db");
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST(RocpdWriter, WritesTheOldFormat) {
  const std::filesystem::path path = test_folder() / "old.db";
  ASSERT_TRUE(write_legacy_rocpd(path));
  TestDatabase db(path);
  EXPECT_EQ(
      db.text("SELECT s.string FROM rocpd_op o JOIN rocpd_string s ON s.id = o.description_id"),
      "saxpy(float*, float const*, float, int)");
}

/// Sum of `expression` over the tables `rocpd_<name>_*` of all processes.
long long over_all(TestDatabase& db, const std::string& name, const std::string& expression) {
  long long sum = 0;
  for (const std::string& table :
       db.list(fmt::format("SELECT name FROM sqlite_master WHERE type = 'table' AND "
                           "substr(name, 1, length('rocpd_{0}_')) = 'rocpd_{0}_'",
                           name)))
    sum += db.number(fmt::format("SELECT coalesce(sum({}), 0) FROM `{}` x", expression, table));
  return sum;
}

TEST(Quirks, StandInTheFile) {
  const std::filesystem::path path = test_folder() / "quirks.db";
  const Result<QuirkCounts> counts = write_quirks(path);
  ASSERT_TRUE(counts) << describe(counts.error());
  TestDatabase db(path);
  EXPECT_EQ(db.text("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(over_all(db, "info_process", "1"), counts->processes);
  EXPECT_EQ(over_all(db, "kernel_dispatch", "1"), counts->dispatches);
  const std::string unfinished =
      "CAST(x.start AS INT) > CAST(x.end AS INT) OR CAST(x.start AS INT) = 0 "
      "OR CAST(x.end AS INT) = 0";
  EXPECT_EQ(over_all(db, "kernel_dispatch", unfinished), counts->unfinished_dispatches);
  EXPECT_EQ(over_all(db, "kernel_dispatch", "x.start = x.end AND x.start > 0"),
            counts->zero_length_dispatches);
  EXPECT_EQ(over_all(db, "kernel_dispatch", "x.queue_id IS NULL OR x.stream_id IS NULL"),
            counts->null_queue_or_stream);
  EXPECT_EQ(over_all(db, "kernel_dispatch", "typeof(x.end) = 'text'"), counts->text_times);
  EXPECT_EQ(over_all(db, "kernel_dispatch", "typeof(x.end) = 'real'"), counts->real_times);
  EXPECT_EQ(over_all(db, "region", "1"), counts->regions);
  EXPECT_EQ(over_all(db, "region", unfinished), counts->unfinished_regions);
  EXPECT_EQ(over_all(db, "memory_copy", "1"), counts->copies);
  EXPECT_EQ(over_all(db, "memory_allocate", "1"), counts->allocations);
  EXPECT_EQ(over_all(db, "pmc_event", "1"), counts->counter_values);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_kernel_dispatch"), 0) << "the views must lie";
}

TEST(Quirks, JoinAsCounted) {
  const std::filesystem::path path = test_folder() / "quirks.db";
  const Result<QuirkCounts> counts = write_quirks(path);
  ASSERT_TRUE(counts) << describe(counts.error());
  TestDatabase db(path);
  long long without_symbol = 0;
  long long without_event = 0;
  long long launched = 0;
  for (const std::string& suffix :
       db.list("SELECT substr(name, 22) FROM sqlite_master WHERE type = "
               "'table' AND name LIKE 'rocpd_kernel_dispatch_%'")) {
    const auto count = [&](const std::string& join_and_where) {
      return db.number(
          fmt::format("SELECT count(DISTINCT d.id) FROM `rocpd_kernel_dispatch{}` d {}", suffix,
                      join_and_where));
    };
    const auto join = [&](const char* table, const char* on) {
      return fmt::format("JOIN `rocpd_{}{}` {} ", table, suffix, on);
    };
    const std::string event = join("event", "e ON e.id = d.event_id AND e.guid = d.guid");
    without_symbol +=
        count("LEFT " + join("info_kernel_symbol", "k ON k.id = d.kernel_id AND k.guid = d.guid") +
              "WHERE k.id IS NULL");
    without_event += count("LEFT " + event + "WHERE e.id IS NULL");
    launched += count(
        event +
        join("event", "l ON l.stack_id = e.stack_id AND l.stack_id <> 0 AND l.guid = e.guid") +
        join("region", "r ON r.event_id = l.id AND r.guid = l.guid"));
  }
  EXPECT_EQ(without_symbol, counts->dispatches_without_symbol);
  EXPECT_EQ(without_event, counts->without_event);
  EXPECT_EQ(launched, counts->launched);
  EXPECT_NE(file_bytes(path).find(kSecret), std::string::npos);
}

}  // namespace
}  // namespace perflab::test
