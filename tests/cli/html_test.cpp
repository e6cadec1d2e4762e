// --html of the commands, and rocm-perf report: what is in a page is what the documents say.
#include <gmock/gmock.h>

#include <map>

#include "cli/program.h"
#include "cli/written_run.h"
#include "support/unpacked_page.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Html : public testing::Test {
 protected:
  void SetUp() override { write_steps(run_); }

  Outcome run(std::vector<std::string> arguments) {
    return rocm_perf(folder_.path(), std::move(arguments));
  }
  Json page(const std::string& name) const {
    return test::unpacked_page(test::text_of(folder_ / name));
  }
  /// Names of a page's documents, in order.
  std::vector<std::string> names(const std::string& name) const {
    std::vector<std::string> out;
    const Json all = page(name);
    for (const Json& one : all["documents"]) out.push_back(one["name"]);
    return out;
  }
  /// Fails unless every document of the page is that file of the folder, byte by byte.
  void expect_documents(const std::string& name, const fs::path& documents) const {
    const Json all = page(name);
    for (const Json& one : all["documents"]) {
      ASSERT_TRUE(one["file"].is_string()) << one["name"];
      EXPECT_EQ(to_canonical_text(one["document"]),
                test::text_of(folder_ / (documents / one["file"].get<std::string>()).string()))
          << one["name"];
    }
  }

  test::TempFolder folder_;
  std::string run_ = folder_ / "run.db";  ///< the written run
};

TEST_F(Html, OfTheSampleHoldsAllItsDocuments) {
  std::vector<std::string> command = {"analyze", PERFLAB_SAMPLE, "--out",     "docs",
                                      "--html",  "page.html",    "--counters"};
  for (const auto& pass : fs::directory_iterator(PERFLAB_SAMPLE_PASSES))
    for (const auto& file : fs::directory_iterator(pass.path()))
      if (file.path().string().ends_with("_results.db")) command.push_back(file.path().string());
  const Outcome outcome = run(command);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("rocm-perf: wrote page.html: open it in a browser"));
  EXPECT_THAT(names("page.html"),
              ElementsAre("analysis", "profile", "roofline", "dag", "timeline"));
  expect_documents("page.html", "docs");
  EXPECT_LT(fs::file_size(folder_ / "page.html"), std::uintmax_t{5'000'000});
  // Few enough nodes for a what-if that simulates anything.
  const Json all = page("page.html");
  EXPECT_GT(all["documents"][3]["document"]["nodes"].size(), 1000U);
}

TEST_F(Html, GoesWithJsonAndNeedsNoFolder) {
  const Outcome plain = run({"analyze", run_, "--json"});
  const Outcome with = run({"analyze", run_, "--json", "--html", "page.html"});
  EXPECT_EQ(with.exit_code, 0) << with.err;
  EXPECT_EQ(with.out, plain.out);
  EXPECT_THAT(names_in(folder_.path()), ElementsAre("page.html", "run.db"));
  const Json documents = page("page.html")["documents"];
  EXPECT_TRUE(documents[0]["file"].is_null());
  EXPECT_EQ(to_canonical_text(documents[0]["document"]), plain.out);
}

TEST_F(Html, OfTheSameRunIsTheSameBytesOnAnyNumberOfThreads) {
  for (const char* threads : {"1", "3"})
    EXPECT_EQ(run({"analyze", PERFLAB_SAMPLE, "--threads", threads, "--html",
                   std::string(threads) + ".html"})
                  .exit_code,
              0);
  EXPECT_TRUE(test::text_of(folder_ / "1.html") == test::text_of(folder_ / "3.html"));
}

TEST_F(Html, OfACriticalPathHasTheTimelineOfTheSameTime) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--segment", "2", "--full"}}) {
    std::vector<std::string> command = {"critical-path", PERFLAB_SAMPLE, "--html", "page.html"};
    command.insert(command.end(), more.begin(), more.end());
    const Outcome outcome = run(command);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Json documents = page("page.html")["documents"];
    ASSERT_THAT(names("page.html"), ElementsAre("dag", "timeline"));
    const Json& dag = documents[0]["document"];
    const Json& timeline = documents[1]["document"];
    EXPECT_EQ(timeline["span_ns"], dag["critical_path_ns"]);
    EXPECT_EQ(timeline["segment"], dag["segment"]);
    std::map<std::string, std::int64_t> spent;
    for (const Json& stretch : timeline["path"])
      spent[timeline["spent_kinds"][stretch[2].get<std::size_t>()]] +=
          stretch[4].get<std::int64_t>();
    ASSERT_EQ(timeline["path_resolution_ns"], 0);
    EXPECT_EQ(spent["kernel"], dag["attribution"]["kernel"]["time_ns"]);
    EXPECT_EQ(spent["idle"], dag["attribution"]["idle"]["time_ns"]);
    std::int64_t on_lanes = timeline["lanes_left_out"]["path_ns"].get<std::int64_t>();
    for (const Json& lane : timeline["lanes"])
      if (lane["kind"] != "host_thread") on_lanes += lane["path_ns"].get<std::int64_t>();
    EXPECT_EQ(on_lanes, spent["kernel"] + spent["copy"]);
  }
}

TEST_F(Html, WithoutACriticalPathTheTimelineSaysWhy) {
  ASSERT_EQ(run({"analyze", run_, "--no-critical-path", "--html", "page.html"}).exit_code, 0);
  ASSERT_THAT(names("page.html"), ElementsAre("analysis", "profile", "timeline"));
  const Json timeline = page("page.html")["documents"][2]["document"];
  EXPECT_TRUE(timeline["path"].is_null());
  EXPECT_EQ(timeline["missing"][0]["reason"], "it was not asked for");
  EXPECT_GT(timeline["lanes"].size(), 1U);
}

TEST_F(Html, OfOtherCommandsHoldsTheirDocument) {
  ASSERT_EQ(run({"occupancy", "--arch", "gfx942", "--vgpr", "72", "--block", "256", "--sweep",
                 "vgpr", "--html", "o.html"})
                .exit_code,
            0);
  EXPECT_THAT(names("o.html"), ElementsAre("occupancy"));
  ASSERT_EQ(run({"compare", run_, run_, "--html", "c.html", "--json"}).exit_code, 0);
  EXPECT_THAT(names("c.html"), ElementsAre("comparison"));
  ASSERT_EQ(run({"doctor", "--html", "d.html"}).exit_code, 0);
  EXPECT_THAT(names("d.html"), ElementsAre("doctor"));
  std::vector<std::string> roofline = {"roofline", "--html", "r.html"};
  for (const auto& pass : fs::directory_iterator(PERFLAB_SAMPLE_PASSES))
    for (const auto& file : fs::directory_iterator(pass.path()))
      if (file.path().string().ends_with("_results.db")) roofline.push_back(file.path().string());
  ASSERT_EQ(run(roofline).exit_code, 0);
  EXPECT_THAT(names("r.html"), ElementsAre("roofline"));
}

TEST_F(Html, NeverReplacesAnInputADocumentOrWhatIsNoFile) {
  fs::create_symlink("run.db", folder_ / "link.db");
  fs::create_directory(folder_ / "taken");
  const std::string before = test::text_of(folder_ / "run.db");
  for (const char* command : {"critical-path", "analyze"})
    for (const char* file : {"run.db", "./run.db", "link.db", "run.db-wal", "taken", "/dev/null",
                             "-", "", "docs/dag.json", "docs/../docs/timeline.json"}) {
      const Outcome outcome = run({command, "run.db", "--out", "docs", "--html", file});
      EXPECT_EQ(outcome.exit_code, 2) << command << " " << file;
      EXPECT_EQ(outcome.out, "");
      EXPECT_THAT(outcome.err, HasSubstr("--html")) << file;
      EXPECT_FALSE(fs::exists(folder_ / "docs")) << "nothing is done before";
    }
  EXPECT_THAT(run({"analyze", "run.db", "--html", "x", "--perfetto", "./x"}).err,
              HasSubstr("--perfetto and --html name the same file"));
  EXPECT_TRUE(test::text_of(folder_ / "run.db") == before);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"roofline", "run.db"},
                                                  {"compare", "run.db", "run.db"},
                                                  {"inspect", "run.db"},
                                                  {"report", "run.db"},
                                                  {"autotune", "--simulate", "run.db"}}) {
    std::vector<std::string> words = command;
    words.insert(words.end(), {"--html", "run.db"});
    EXPECT_EQ(run(words).exit_code, 2) << command.front();
  }
  EXPECT_TRUE(test::text_of(folder_ / "run.db") == before);
}

TEST_F(Html, GoesOnlyIntoAFolderThatIsThereOrWillBe) {
  const Outcome nowhere = run({"analyze", run_, "--out", "docs", "--html", "no/page.html"});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_EQ(nowhere.out, "");
  EXPECT_THAT(nowhere.err, HasSubstr("--html no/page.html: there is no folder "));
  EXPECT_FALSE(fs::exists(folder_ / "docs")) << "nothing is done before";
  const Outcome beside = run({"critical-path", run_, "--out", "docs", "--html", "docs/page.html"});
  EXPECT_EQ(beside.exit_code, 0) << beside.err;
  EXPECT_TRUE(fs::exists(folder_ / "docs/page.html"));
  const Outcome slash = run({"critical-path", run_, "--out", "more/", "--html", "more/page.html"});
  EXPECT_EQ(slash.exit_code, 0) << slash.err;
}

class Report : public Html {
 protected:
  void SetUp() override {
    Html::SetUp();
    ASSERT_EQ(run({"analyze", run_, "--out", "docs"}).exit_code, 0);
  }
};

TEST_F(Report, MakesAPageOfTheDocumentsInAFolder) {
  const Outcome outcome = run({"report", "docs", "--html", "page.html"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(names("page.html"), ElementsAre("analysis", "profile", "dag", "timeline"));
  expect_documents("page.html", "docs");
}

TEST_F(Report, TakesFilesOfAnyNameInTheOrderGivenAndEachOnce) {
  fs::rename(folder_ / "docs/dag.json", folder_ / "step.json");
  const Outcome outcome =
      run({"report", "step.json", "docs", "docs/analysis.json", "--html", "docs/page.html"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(names("docs/page.html"), ElementsAre("dag", "analysis", "profile", "timeline"));
  EXPECT_EQ(page("docs/page.html")["documents"][0]["file"], "step.json");
  // A page of the folder may stand in it, and be made anew.
  EXPECT_EQ(run({"report", "docs", "--html", "docs/page.html"}).exit_code, 0);
}

TEST_F(Report, RefusesWhatIsNoDocumentAndSaysWhatOneIs) {
  (void)folder_.write("text.json", "no JSON");
  (void)folder_.write("other.json", R"({"document": "analysis"})");
  (void)folder_.write("unknown.json",
                      R"({"document": "nope", "generator": {"name": "rocm-perf"}})");
  Json damaged = *parse_json(test::text_of(folder_ / "docs/analysis.json"), "analysis");
  damaged.erase("kernels");
  (void)folder_.write("damaged.json", to_canonical_text(damaged));
  fs::create_directory(folder_ / "empty");
  fs::create_directory(folder_ / "swapped");
  (void)folder_.write("empty/readme.txt", "");
  (void)folder_.write("swapped/profile.json", test::text_of(folder_ / "docs/dag.json"));
  const std::map<std::string, std::string> wrong = {
      {"text.json", "text.json"},
      {"other.json", "this is not a document of rocm-perf"},
      {"unknown.json", "this is not a document of rocm-perf"},
      {"damaged.json", "is damaged, or of another version of rocm-perf"},
      {"empty", "there is no document of rocm-perf in it"},
      {"swapped", "swapped/profile.json: holds the document dag"},
      {"nowhere", "nowhere"}};
  for (const auto& [path, says] : wrong) {
    const Outcome outcome = run({"report", "docs", path, "--html", "page.html"});
    EXPECT_EQ(outcome.exit_code, 3) << path;
    EXPECT_THAT(outcome.err, HasSubstr(says));
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(fs::exists(folder_ / "page.html"));
  }
}

TEST_F(Report, NeverReplacesADocumentThatItReads) {
  const std::string before = test::text_of(folder_ / "docs/dag.json");
  for (const char* page : {"docs/dag.json", "docs/../docs/dag.json", "docs"})
    EXPECT_EQ(run({"report", "docs", "--html", page}).exit_code, 2) << page;
  EXPECT_EQ(test::text_of(folder_ / "docs/dag.json"), before);
}

}  // namespace
}  // namespace perflab::cli
