// rocm-perf analyze on the bundled sample and on written databases.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <sstream>

#include "cli/program.h"
#include "report/kit/text_table.h"
#include "support/quirks_trace.h"
#include "support/test_database.h"

namespace perflab::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Analyze, JsonIsOneValidDocumentAndNothingElse) {
  const test::TempFolder folder;
  const Outcome outcome = rocm_perf(folder.path(), {"analyze", PERFLAB_SAMPLE, "--json"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  const Json analysis = document("analysis", outcome.out);
  EXPECT_EQ(analysis["document"], "analysis");
  EXPECT_GT(analysis["totals"]["dispatches"].get<int>(), 1000);
  EXPECT_TRUE(names_in(folder.path()).empty());
}

TEST(Analyze, TheSampleIsCalledSyntheticEverywhere) {
  const test::TempFolder folder;
  const Outcome text = rocm_perf(folder.path(), {"analyze", PERFLAB_SAMPLE, "--out", "docs"});
  EXPECT_THAT(text.out, testing::StartsWith("SYNTHETIC"));
  for (const char* name : {"analysis", "profile", "dag", "timeline", "summary"}) {
    const Json written =
        document(name, test::text_of(folder / ("docs/" + std::string(name) + ".json")));
    EXPECT_TRUE(written["synthetic"].is_string()) << name;
  }
}

TEST(Analyze, OutWritesAllDocumentsAndNoTemporaryFile) {
  const test::TempFolder folder;
  const Outcome outcome = rocm_perf(folder.path(), {"analyze", PERFLAB_SAMPLE, "--out", "a/b"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(names_in(folder / "a/b"), ElementsAre("analysis.json", "dag.json", "profile.json",
                                                    "summary.json", "timeline.json"));
}

TEST(Analyze, DocumentsDoNotDependOnTheNumberOfThreads) {
  const test::TempFolder folder;
  const Outcome one =
      rocm_perf(folder.path(), {"analyze", PERFLAB_SAMPLE, "--json", "--threads", "1"});
  const Outcome two =
      rocm_perf(folder.path(), {"analyze", PERFLAB_SAMPLE, "--json", "--threads", "2"});
  const Outcome again = rocm_perf(folder.path(), {"analyze", PERFLAB_SAMPLE, "--json"});
  EXPECT_EQ(one.out, two.out);
  EXPECT_EQ(one.out, again.out);
}

TEST(Analyze, TextFitsTheWidth) {
  const test::TempFolder folder;
  ProcessOptions options;
  options.set_environment = {{"COLUMNS", "80"}};
  const Outcome outcome =
      rocm_perf(folder.path(), {"analyze", PERFLAB_SAMPLE, "--details"}, options);
  EXPECT_THAT(outcome.out, Not(HasSubstr("\033")));  // no colour outside a terminal
  const std::size_t table = outcome.out.find("share");
  const std::size_t end = outcome.out.find("Host API");
  ASSERT_LT(table, end);
  std::istringstream text(outcome.out.substr(table, end - table));
  for (std::string line; std::getline(text, line);)
    EXPECT_LE(report::display_width(line), 80U) << line;
}

TEST(Analyze, TheEnvironmentOfATracedProcessIsNeverShown) {
  const test::TempFolder folder;
  ASSERT_TRUE(test::write_quirks(folder / "quirks.db").has_value());
  const Outcome text = rocm_perf(folder.path(), {"analyze", "quirks.db", "--out", "docs"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  const Outcome json = rocm_perf(folder.path(), {"analyze", "quirks.db", "--json"});
  const Outcome details = rocm_perf(folder.path(), {"analyze", "quirks.db", "--details"});
  for (const std::string& shown :
       {text.out, text.err, json.out, details.out, test::text_of(folder / "docs/analysis.json"),
        test::text_of(folder / "docs/profile.json"), test::text_of(folder / "docs/summary.json")})
    EXPECT_THAT(shown, Not(HasSubstr(std::string(test::kSecret))));
}

TEST(Analyze, VerboseSaysThatPagesWereRead) {
  const test::TempFolder folder;
  const Outcome quiet = rocm_perf(folder.path(), {"analyze", PERFLAB_SAMPLE, "--json"});
  const Outcome told = rocm_perf(folder.path(), {"analyze", PERFLAB_SAMPLE, "--json", "--verbose"});
  EXPECT_EQ(told.err, "rocm-perf: the large tables were read from their pages\n");
  EXPECT_EQ(told.out, quiet.out);
}

TEST(Analyze, VerboseSaysWhyATableWasReadBySqlite) {
  const test::TempFolder folder;
  const auto path = folder / "quirks.db";
  ASSERT_TRUE(test::write_quirks(path).has_value());
  std::string dispatches, regions;
  {
    test::TestDatabase database(path);
    const auto table = [&](const std::string& base) {
      return database.text(
          "SELECT name FROM sqlite_master WHERE type='table' AND name LIKE 'rocpd_" + base +
          "%' ORDER BY name LIMIT 1");
    };
    dispatches = table("kernel_dispatch");
    regions = table("region");
  }
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  const std::string sql =
      "UPDATE " + dispatches + " SET start = hex(zeroblob(9000)) WHERE id = (SELECT min(id) FROM " +
      dispatches + "); ALTER TABLE " + regions + " ADD COLUMN more INT AS (1) VIRTUAL";
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(db);
  sqlite3_close(db);
  const Outcome outcome = rocm_perf(folder.path(), {"analyze", "quirks.db", "--verbose"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err,
              testing::ContainsRegex("rocpd_kernel_dispatch: SQLite read [0-9] of [0-9] parts: a "
                                     "wanted value lies on overflow pages\n"));
  EXPECT_THAT(outcome.err, testing::ContainsRegex("rocpd_region: SQLite read [0-9]+ of [0-9]+ "
                                                  "parts: a generated or hidden column\n"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("rocpd_event")));
}

TEST(Analyze, TheSameDatabaseTwiceIsRefused) {
  const test::TempFolder folder;
  const Outcome outcome = rocm_perf(folder.path(), {"analyze", PERFLAB_SAMPLE, PERFLAB_SAMPLE});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("was given already"));
}

TEST(Analyze, AFolderThatCannotBeMadeIsExit2) {
  const test::TempFolder folder;
  const auto file = folder.write("file", "text");
  const Outcome outcome = rocm_perf(folder.path(), {"analyze", PERFLAB_SAMPLE, "--out", "file"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(test::text_of(file), "text");
  EXPECT_EQ(outcome.out, "");
}

}  // namespace
}  // namespace perflab::cli
