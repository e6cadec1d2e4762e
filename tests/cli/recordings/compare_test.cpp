// rocm-perf compare on written databases, documents, journals and texts: verdicts, gate, outputs,
// and what is refused.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>
#include <sstream>

#include "base/hash.h"
#include "cli/program.h"
#include "support/described_run.h"
#include "support/prng.h"
#include "support/rocpd_writer.h"
#include "trace/kineto_text.h"
#include "tune/records/journal.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::int64_t kBegin = 7'000'000'000'000;

/// One kernel of a run: how often, how long, spread by +-1 %.
struct Work {
  std::string name;
  int dispatches = 4;
  std::int64_t duration = 10'000;
};

/// The database of one run.
void write_run(const fs::path& path, std::uint64_t seed, const std::vector<Work>& work) {
  fs::create_directories(path.parent_path());
  test::RocpdWriter writer(path, {.guid = fmt::format("run-{}", content_hash(path.string()))});
  writer.agent(test::host_agent());
  const test::Id gpu = writer.agent(test::mi300x_agent());
  writer.queue();
  writer.stream();
  writer.code_object();
  test::Prng prng(seed);
  std::int64_t at = kBegin + static_cast<std::int64_t>(seed) * 1'000'000'000;
  for (const Work& one : work) {
    const test::Id kernel = writer.kernel({.name = "_Z" + one.name, .display_name = one.name});
    for (int i = 0; i < one.dispatches; ++i) {
      const std::int64_t duration = prng.spread(one.duration, 10);
      writer.dispatch({.kernel = kernel, .start = at, .end = at + duration, .agent = gpu});
      at += duration + 100;
    }
  }
  const auto done = writer.close();
  ASSERT_TRUE(done.has_value()) << done.error().message;
}

std::string numbers(std::size_t count, double centre, std::uint64_t seed, const char* title = "") {
  test::Prng prng(seed);
  std::string out = title;
  for (std::size_t i = 0; i < count; ++i)
    out += fmt::format(
        "{}\n",
        static_cast<double>(prng.spread(static_cast<std::int64_t>(centre * 1e6), 10)) / 1e6);
  return out;
}

/// Paths of all nulls but those that are ordinary, and of all entries of `missing`.
void nulls_of(const Json& value, const std::string& path, std::set<std::string>& nulls) {
  if (value.is_null()) nulls.insert(path);
  if (value.is_object())
    for (const auto& [key, member] : value.items())
      if (key != "name_b" && key != "synthetic" && key != "remedy" &&
          !(path == "options" && key == "kernel") &&
          !(key == "samples_to_decide" && value["verdict"].is_string() &&
            value["verdict"] != "UNDECIDED"))
        nulls_of(member, path.empty() ? key : path + "." + key, nulls);
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i)
      nulls_of(value[i], fmt::format("{}[{}]", path, i), nulls);
}

class Compare : public ::testing::Test {
 protected:
  Outcome run(std::vector<std::string> arguments) const {
    ProcessOptions options;
    options.set_environment = {{"COLUMNS", "100"}};
    arguments.insert(arguments.begin(), "compare");
    return rocm_perf(folder.path(), std::move(arguments), options);
  }
  Json json(std::vector<std::string> arguments, int exit_code = 0) const {
    arguments.emplace_back("--json");
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    Json found = document("comparison", outcome.out);
    // Every null is explained, and nothing else is.
    std::set<std::string> nulls, explained;
    Json body = found;
    body.erase("missing");
    nulls_of(body, "", nulls);
    for (const Json& entry : found["missing"]) explained.insert(entry["field"].get<std::string>());
    EXPECT_EQ(nulls, explained);
    return found;
  }
  /// Exit code and nothing on stdout; the error has these words.
  void expect_error(const std::vector<std::string>& arguments, int exit_code,
                    const std::string& words) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << words;
    EXPECT_THAT(outcome.err, HasSubstr(words));
    EXPECT_EQ(outcome.out, "");
  }
  test::TempFolder folder;
};

/// Six runs of each side: gemm is 10 % slower in B, softmax the same.
class CompareRuns : public Compare {
 protected:
  void SetUp() override {
    for (int i = 1; i <= 6; ++i) {
      write_run(folder / fmt::format("a/run_{}/h/1_results.db", i), static_cast<std::uint64_t>(i),
                {{"gemm(float*)", 4, 50'000},
                 {"softmax(float*)", 4, 20'000},
                 {"old()", 1, 900},
                 {"__amd_rocclr_fillBufferAligned", 9, 80'000}});
      write_run(folder / fmt::format("b/run_{}/h/1_results.db", i),
                static_cast<std::uint64_t>(20 + i),
                {{"softmax(float*)", 4, 20'000}, {"gemm(float*)", 4, 55'000}, {"new()", 1, 900}});
    }
  }
};

TEST_F(CompareRuns, FoldersOfRunsAreComparedByTheirSums) {
  const Json found = json({"a", "b"}, 1);
  EXPECT_EQ(found["verdict"], "regression");
  EXPECT_EQ(found["regressions"], 2);
  EXPECT_EQ(found["comparisons"], 3);
  EXPECT_NEAR(found["confidence_each"].get<double>(), 1 - 0.05 / 3, 1e-12);
  EXPECT_EQ(found["a"]["kind"], "rocpd");
  EXPECT_EQ(found["a"]["runs"], 6);
  EXPECT_EQ(found["a"]["samples_are"], "run");
  ASSERT_EQ(found["kernels"].size(), 2U);
  const Json& gemm = found["kernels"][0];
  EXPECT_EQ(gemm["name"], "gemm(float*)");
  EXPECT_EQ(gemm["verdict"], "SLOWER");
  EXPECT_EQ(gemm["regression"], true);
  EXPECT_NEAR(gemm["ratio"].get<double>(), 1.1, 0.02);
  EXPECT_LT(gemm["interval"]["low"].get<double>(), gemm["ratio"].get<double>());
  EXPECT_EQ(gemm["a"]["samples"], 6);
  EXPECT_NEAR(gemm["a"]["median"].get<double>(), 200'000, 2'000);
  EXPECT_EQ(gemm["dispatches_per_run_b"], 4);
  EXPECT_EQ(found["kernels"][1]["verdict"], "SAME");
  EXPECT_EQ(found["total"]["estimate"], false);
  EXPECT_EQ(found["total"]["verdict"], "SLOWER");
  EXPECT_NEAR(found["total"]["ratio"].get<double>(), 300.9 / 280.9, 0.02);
  EXPECT_EQ(found["only_in_a"][0]["name"], "old()");
  ASSERT_EQ(found["not_compared"].size(), 2U);
  EXPECT_EQ(found["not_compared"][0]["reason"], "only_in_side");
  EXPECT_EQ(found["not_compared"][0]["share"], found["only_in_a"][0]["share"]);
  EXPECT_EQ(found["only_in_b"][0]["name"], "new()");
  EXPECT_EQ(found["environment"]["a"], Json::array({"a"}));
  // Nothing but the environment names a place.
  Json elsewhere = found;
  elsewhere.erase("environment");
  EXPECT_THAT(elsewhere.dump(), Not(HasSubstr("_results.db")));
}

TEST_F(CompareRuns, OptionsOfTheGate) {
  EXPECT_EQ(json({"a", "b", "--threshold", "20%"})["verdict"], "pass");
  EXPECT_EQ(json({"b", "a"})["kernels"][0]["verdict"], "FASTER");
  const Json softmax = json({"a", "b", "--kernel", "^softmax"});
  EXPECT_EQ(softmax["kernels"].size(), 1U);
  EXPECT_NEAR(softmax["kernels"][0]["share_a"].get<double>(), 80 / 280.9, 0.01);
  EXPECT_EQ(softmax["comparisons"], 1);
  EXPECT_TRUE(softmax["total"].is_null());
  ASSERT_EQ(softmax["not_compared"].size(), 2U);
  EXPECT_EQ(softmax["not_compared"][0]["reason"], "not_chosen");
  EXPECT_EQ(softmax["not_compared"][0]["kernels"], 2);
  EXPECT_NEAR(softmax["not_compared"][0]["share"].get<double>(), 200.9 / 280.9, 0.01);
  const Json large = json({"a", "b", "--min-share", "0.5"}, 1);
  EXPECT_EQ(large["kernels"][1]["gated"], false);
  EXPECT_EQ(large["comparisons"], 2);
  const Json single = json({"a", "b", "--samples", "single"}, 1);
  EXPECT_EQ(single["a"]["samples_are"], "dispatch");
  EXPECT_EQ(single["kernels"][0]["a"]["samples"], 24);
  EXPECT_EQ(single["total"]["estimate"], true);
  EXPECT_TRUE(single["total"]["verdict"].is_null());
  EXPECT_NEAR(single["total"]["a"]["median"].get<double>(), 280'900, 3'000);
}

TEST_F(CompareRuns, RunsCanBeGivenOneByOneInAnyNumberOfThreads) {
  std::vector<std::string> words = {"--a"};
  for (int i = 1; i <= 6; ++i) words.push_back(fmt::format("a/run_{}/h/1_results.db", i));
  words.emplace_back("--b");
  for (int i = 1; i <= 6; ++i) words.push_back(fmt::format("b/run_{}/h/1_results.db", i));
  Json one_by_one = json(words, 1), folders = json({"a", "b", "--threads", "1"}, 1);
  one_by_one.erase("environment");
  folders.erase("environment");
  EXPECT_EQ(one_by_one, folders);
  EXPECT_EQ(run({"a", "b", "--json"}).out, run({"a", "b", "--json", "--threads", "3"}).out);
}

TEST_F(CompareRuns, TextNamesWhatFails) {
  const Outcome outcome = run({"a", "b", "--details"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("SLOWER (fails)"), HasSubstr("SAME"), HasSubstr("total of a run"),
                    HasSubstr("Only in A"), HasSubstr("Only in B"), HasSubstr("Bonferroni"),
                    HasSubstr("regression: 2 of 3 comparisons slower by more than 2.0 %")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("rocclr")));
}

TEST_F(CompareRuns, TheAnswerIsOnePage) {
  const Outcome outcome = run({"a", "b"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(
      outcome.out,
      StartsWith("Verdict (exit code 1)\n  regression: 2 of 3 comparisons slower by more than "
                 "2.0 %\n  A: a (rocpd, 6 runs, 3 kernels)\n"));
  for (const char* part :
       {"\nKernels that changed most\n", "SLOWER (fails)  gemm(float*)\n", "\nWhat decides it\n",
        "\nThe whole run\n",
        "\nNot compared\n  1 kernel of A, 0.3 % of its time (old()): the other", "\nNext\n",
        "\nThe rest: --details kernels|notes|verdict; --json; --html FILE\n"})
    EXPECT_THAT(outcome.out, HasSubstr(part));
  EXPECT_LE(std::ranges::count(outcome.out, '\n'), 40);
  const Outcome brief = run({"a", "b", "--json", "--brief"});
  EXPECT_EQ(brief.exit_code, 1);
  EXPECT_LE(brief.out.size(), 8192U);
  const Json summary = document("summary", brief.out);
  EXPECT_EQ(summary["made_from"], Json::array({"comparison"}));
  EXPECT_EQ(summary["parts"][0]["rows"][0]["verdict"], "regression");
}

TEST_F(CompareRuns, DetailsAreSectionsOfTheText) {
  std::string together;
  for (const char* section : {"kernels", "notes", "verdict"}) {
    const Outcome one = run({"a", "b", "--details", section});
    EXPECT_EQ(one.exit_code, 1) << one.err;
    EXPECT_NE(one.out, "") << section;
    together += one.out;
  }
  EXPECT_EQ(together, run({"a", "b", "--details"}).out);
  // Refused before anything is read or written.
  const Outcome unknown = run({"a", "b", "--details=roofline", "--out", "c.json"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("--details"));
  EXPECT_FALSE(fs::exists(folder / "c.json"));
}

TEST_F(CompareRuns, OutputsAreWrittenAndNeverReplaceAnInput) {
  const Outcome outcome =
      run({"a", "b", "--out", "c.json", "--junit", "c.xml", "--markdown", "c.md", "--json"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(test::text_of(folder / "c.json"), outcome.out);
  EXPECT_THAT(test::text_of(folder / "c.xml"),
              AllOf(HasSubstr("tests=\"3\" failures=\"2\" errors=\"0\" skipped=\"0\""),
                    HasSubstr("<failure type=\"regression\" message=\"SLOWER: ")));
  EXPECT_THAT(test::text_of(folder / "c.md"),
              AllOf(HasSubstr("| `gemm(float*)` | "), HasSubstr("**SLOWER**")));
  const std::string database = "a/run_2/h/1_results.db";
  const std::string before = test::text_of(folder / database);
  for (const char* option : {"--out", "--junit", "--markdown"})
    expect_error({"a", "b", option, database}, 2, "this is an input");
  EXPECT_EQ(test::text_of(folder / database), before);
  expect_error({"a", "b", "--out", "x", "--junit", "./x"}, 2, "name the same file");
  expect_error({"a", "b", "--out", "a"}, 2, "a");
  expect_error({"a", "b", "--junit", "no/x.xml"}, 2, "no/x.xml");
  EXPECT_FALSE(fs::exists(folder / "x"));
}

TEST_F(CompareRuns, DocumentsLeadToTheirDatabases) {
  const std::string database = "a/run_1/h/1_results.db";
  ASSERT_EQ(rocm_perf(folder.path(), {"analyze", database, "--out", "docs"}).exit_code, 0);
  for (const char* name : {"docs/profile.json", "docs/analysis.json", "docs"}) {
    const Json found = json({name, database});
    EXPECT_EQ(found["kernels"][0]["ratio"], 1) << name;
    EXPECT_EQ(found["kernels"][0]["a"]["samples"], 4) << name;
  }
  fs::remove(folder / database);
  expect_error({"docs/analysis.json", "b"}, 3, "its database a/run_1/h/1_results.db is not there");
  expect_error({"docs/profile.json", "b"}, 3, "which is too few to compare");
  // Enough runs: their sums are in the profile itself.
  Json profile = document("profile", test::text_of(folder / "docs/profile.json"));
  Json& runs = profile["stability"]["runs"];
  for (int i = 1; i < 8; ++i) {
    runs.push_back(runs[0]);
    runs.back()["kernel_total_ns"] = 200'000 + i;
  }
  runs[3]["kernel_total_ns"] = nullptr;
  (void)folder.write("p.json", profile.dump());
  const Json found = json({"p.json", "b"}, 1);
  EXPECT_EQ(found["a"]["runs"], 7);
  EXPECT_EQ(found["kernels"].size(), 1U);
  EXPECT_EQ(found["kernels"][0]["verdict"], "SLOWER");
  EXPECT_TRUE(found["total"].is_null());
  EXPECT_EQ(found["not_compared"][0]["reason"], "no_databases");
  EXPECT_EQ(found["not_compared"][1]["reason"], "other_without_databases");
}

// Its profile.json alone has the selected kernel, and the sums of all of them: softmax is 20 %
// slower, which only the total shows.
TEST_F(Compare, AProfileAwayFromItsDatabasesSaysWhatWasNotCompared) {
  for (const auto& [name, softmax] : {std::pair{"base", 20'000}, {"new", 24'000}}) {
    const std::string database = fmt::format("{}.db", name);
    write_run(folder / database, 1, {{"gemm()", 4, 50'000}, {"softmax()", 4, softmax}});
    ASSERT_EQ(rocm_perf(folder.path(), {"analyze", database, "--out", name}).exit_code, 0);
    fs::remove(folder / database);
    Json profile = document("profile", test::text_of(folder / name / "profile.json"));
    EXPECT_EQ(profile["kernel"]["other_kernels"], 1);
    Json& runs = profile["stability"]["runs"];
    for (int i = 1; i < 8; ++i) {
      runs.push_back(runs[0]);
      for (const char* field : {"kernel_total_ns", "all_kernels_total_ns"})
        runs.back()[field] = runs[0][field].get<std::int64_t>() + i;
    }
    (void)folder.write(fmt::format("{}.json", name), profile.dump());
  }
  const Json seen = json({"base.json", "new.json"}, 1);
  EXPECT_EQ(seen["kernels"].size(), 1U);
  EXPECT_EQ(seen["kernels"][0]["verdict"], "SAME");
  EXPECT_EQ(seen["total"]["verdict"], "SLOWER");
  EXPECT_NEAR(seen["total"]["ratio"].get<double>(), 74.0 / 70, 0.01);
  ASSERT_EQ(seen["not_compared"].size(), 2U);
  for (const Json& one : seen["not_compared"]) {
    EXPECT_EQ(one["reason"], "no_databases");
    EXPECT_EQ(one["kernels"], 1);
  }
  EXPECT_EQ(seen["not_compared"][1]["side"], "b");
  EXPECT_NEAR(seen["not_compared"][1]["share"].get<double>(), 24.0 / 74, 0.01);
  // What is not compared can hide below the threshold of the total: the page says so first.
  const Json passed = json({"base.json", "new.json", "--threshold", "10%"});
  EXPECT_EQ(passed["verdict"], "pass");
  EXPECT_THAT(passed["sentence"].get<std::string>(),
              HasSubstr("; other kernels were not compared"));
  const Outcome page = run({"base.json", "new.json", "--threshold", "10%", "--markdown", "c.md"});
  EXPECT_LT(page.out.find("NOT COMPARED: 1 kernel of A (28."),
            page.out.find("Verdict (exit code 0)"))
      << page.out;
  EXPECT_THAT(test::text_of(folder / "c.md"), HasSubstr("NOT COMPARED"));
  // A profile that does not say how many there are, or that there are none.
  Json older = document("profile", test::text_of(folder / "base.json"));
  older["kernel"].erase("other_kernels");
  (void)folder.write("older.json", older.dump());
  EXPECT_TRUE(json({"older.json", "new.json"}, 1)["not_compared"][0]["kernels"].is_null());
  older["kernel"]["share"] = 1;
  (void)folder.write("single.json", older.dump());
  EXPECT_EQ(json({"single.json", "single.json"})["not_compared"], Json::array());
}

TEST_F(CompareRuns, SeveralProfilesInOneFolderAreRefused) {
  fs::create_directories(folder / "both/0001");
  fs::rename(folder / "a", folder / "both/0001/x");
  fs::rename(folder / "b", folder / "both/0002");
  expect_error({"both", "both/0002"}, 3, "it has several profiles");
}

TEST_F(Compare, SingleRecordingsSayWhatTheirDispatchesDoNotTell) {
  write_run(folder / "a.db", 1, {{"gemm", 40, 50'000}, {"tiny", 2, 1'000}});
  write_run(folder / "b.db", 2, {{"gemm", 20, 50'000}, {"tiny", 2, 1'000}});
  const Json found = json({"a.db", "b.db"});
  EXPECT_EQ(found["kernels"][0]["verdict"], "SAME");
  EXPECT_EQ(found["kernels"][1]["verdict"], "UNDECIDED");
  EXPECT_TRUE(found["kernels"][1]["interval"].is_null());
  EXPECT_EQ(found["undecided"], 1);
  EXPECT_EQ(found["verdict"], "undecided");
  EXPECT_EQ(found["fails"], false);
  EXPECT_THAT(run({"a.db", "b.db", "--details"}).out,
              HasSubstr("no regression shown: 1 of 2 comparisons is undecided"));
  EXPECT_THAT(found["notes"].dump(), HasSubstr("samples are single dispatches"));
  EXPECT_THAT(found["warnings"].dump(), HasSubstr("dispatched 40 times in a run of A and 20"));
  EXPECT_EQ(json({"a.db", "b.db", "--fail-undecided"}, 1)["verdict"], "undecided");
  EXPECT_EQ(json({"a.db", "b.db", "--fail-undecided", "--min-share", "5%"})["verdict"], "pass");
  expect_error({"a.db", "b.db", "--kernel", "nobody"}, 2, "matches --kernel 'nobody'");
  write_run(folder / "c.db", 3, {{"other", 20, 50'000}, {"more", 2, 9}});
  expect_error({"a.db", "c.db"}, 3, "have no kernel in common");
}

/// A run of one kernel, as rocprofv3 would have it in any of its forms.
test::DescribedRun described(std::int64_t duration) {
  test::DescribedRun run;
  run.threads = {run.pid};
  run.kernels = {{.mangled = "_Z4gemmv", .name = "gemm()"}};
  test::Prng prng(static_cast<std::uint64_t>(duration));
  std::int64_t at = kBegin;
  for (std::int64_t i = 1; i <= 40; ++i) {
    const std::int64_t end = at + prng.spread(duration, 10);
    run.dispatches.push_back({.start = at,
                              .end = end,
                              .thread = run.pid,
                              .correlation = i,
                              .workgroup = {64, 1, 1},
                              .grid = {640, 1, 1}});
    at = end + 100;
  }
  return run;
}

// In folders too, whatever the files are called.
TEST_F(Compare, TakesWhatAnalyzeTakes) {
  for (const auto& [side, duration] : {std::pair{"a", 50'000}, {"b", 60'000}}) {
    const test::DescribedRun run = described(duration);
    const auto place = [&](const char* form) { return fmt::format("{}_{}/", side, form); };
    for (const char* form : {"json", "kineto", "csv"})
      fs::create_directories(folder / (place(form) + "h"));
    (void)folder.write(place("json") + "out.json", test::json_of(run));
    (void)folder.write(place("kineto") + "w0.pt.trace.json", trace::cuda_step_file());
    for (const auto& [table, text] : test::csv_of(run))
      (void)folder.write(fmt::format("{}h/1_{}.csv", place("csv"), table), text);
    write_run(folder / (place("database") + "mine.sqlite"), 1, {{"gemm()", 40, duration}});
  }
  struct Form {
    const char *form, *kind, *recording;
  };
  for (const Form& one :
       {Form{"json", "rocprofv3", "out.json"}, Form{"database", "rocpd", "mine.sqlite"},
        Form{"csv", "rocprofv3", "h/1_kernel_trace.csv"}}) {
    SCOPED_TRACE(one.form);
    const std::string a = fmt::format("a_{}", one.form), b = fmt::format("b_{}", one.form);
    const std::string recording = fmt::format("{}/{}", b, one.recording);
    const Json found = json({a, b}, 1);
    EXPECT_EQ(found["a"]["kind"], one.kind);
    EXPECT_EQ(found["kernels"][0]["verdict"], "SLOWER");
    EXPECT_EQ(found["environment"]["recordings_b"], Json::array({recording}));
    EXPECT_EQ(json({a, recording}, 1)["kernels"], found["kernels"]);
    // What is next can be done as it stands there.
    EXPECT_THAT(run({a, b}).out, HasSubstr(fmt::format("rocm-perf analyze {}", recording)));
    EXPECT_EQ(rocm_perf(folder.path(), {"analyze", recording}).exit_code, 0);
  }
  EXPECT_EQ(json({"a_kineto", "b_kineto"})["b"]["kind"], "kineto");
  // The same run in several forms counts once.
  fs::rename(folder / "b_csv/h", folder / "b_json/h/csv");
  const Json mixed = json({"a_json", "b_json"}, 1);
  EXPECT_EQ(mixed["kernels"][0]["b"]["samples"], 40);
  EXPECT_THAT(mixed["notes"].dump(),
              HasSubstr("b_json/h/csv/1_kernel_trace.csv and other recordings"));
  fs::create_directories(folder / "none");
  (void)folder.write("none/notes.txt", "12\n");
  expect_error({"none", "a_json"}, 3, "there is no profile.json and no recording in this folder");
}

TEST_F(Compare, NumbersOfAnyTool) {
  (void)folder.write("ms.txt", "# by hand\n" + numbers(12, 1.5, 1, "time [ms]\n"));
  (void)folder.write("us.csv", numbers(12, 1500, 2, "\"time_us\"\n"));
  (void)folder.write("plain", numbers(12, 1.5, 3));
  const Json found = json({"ms.txt", "us.csv"});
  EXPECT_EQ(found["unit"], "ns");
  EXPECT_EQ(found["kernels"][0]["verdict"], "SAME");
  EXPECT_NEAR(found["kernels"][0]["a"]["median"].get<double>(), 1.5e6, 2e4);
  expect_error({"ms.txt", "plain"}, 2, "plain does not say the unit");
  EXPECT_EQ(json({"ms.txt", "plain", "--unit", "ms"})["kernels"][0]["verdict"], "SAME");
  EXPECT_TRUE(json({"plain", "plain"})["unit"].is_null());
  (void)folder.write("rate", numbers(12, 1.8, 3));
  EXPECT_EQ(json({"plain", "rate"}, 1)["kernels"][0]["verdict"], "SLOWER");
  EXPECT_EQ(
      json({"plain", "rate", "--larger-is-better", "--unit", "GB/s"})["kernels"][0]["verdict"],
      "FASTER");
  const Json rates = json({"rate", "plain", "--larger-is-better"}, 1);
  EXPECT_EQ(rates["regressions"], 1);
  EXPECT_TRUE(rates["kernels"][0]["share_a"].is_null());
  EXPECT_THAT(rates["missing"].dump(), HasSubstr("larger is better: these are rates"));
  expect_error({"ms.txt", "us.csv", "--larger-is-better"}, 2, "better when it is smaller");
  (void)folder.write("units", "1 us\n2 us\n3 ms\n");
  expect_error({"units", "ms.txt"}, 3, "units: line 3 has another unit");
  (void)folder.write("words", "1\n2\nthree\n");
  expect_error({"words", "plain"}, 3, "words: line 3 is not a number");
  (void)folder.write("empty", "\n# nothing\n");
  expect_error({"empty", "plain"}, 3, "empty: there is no number in it");
  (void)folder.write("holes", numbers(9, 1.5, 4) + "nan\ninf\n-1\n");
  const Json holes = json({"holes", "plain"});
  EXPECT_EQ(holes["kernels"][0]["rejected"], 2);
  EXPECT_THAT(holes["warnings"].dump(), HasSubstr("2 samples that are not finite numbers"));
}

TEST_F(Compare, DriftAndOutliersAreReported) {
  std::string rising;
  for (int i = 0; i < 20; ++i) rising += fmt::format("{}\n", 100 + 2 * i);
  (void)folder.write("rising", rising);
  (void)folder.write("spikes", numbers(20, 100, 1) + "900\n950\n");
  const Json found = json({"rising", "spikes"});
  EXPECT_EQ(found["kernels"][0]["a"]["drifting"], true);
  EXPECT_EQ(found["kernels"][0]["b"]["outliers"], 2);
  EXPECT_EQ(found["kernels"][0]["b"]["samples"], 22);
  EXPECT_THAT(found["warnings"].dump(),
              AllOf(HasSubstr("A's samples drift by +"), HasSubstr("2 of 22 samples of B")));
}

TEST_F(Compare, ReplaysOfACapture) {
  const auto replay = [&](const char* name, const char* mode, int base) {
    Json samples = Json::array();
    for (int i = 0; i < 10; ++i) samples.push_back(base + i);
    (void)folder.write(name, Json{{"document", "replay"},
                                  {"kernel", {{"name", "_Z4axpy"}, {"demangled", "axpy()"}}},
                                  {"execution", {{"mode", mode}}},
                                  {"timing", {{"unit", "ns"}, {"samples", samples}}}}
                                 .dump());
  };
  replay("a.json", "recopy", 1000);
  replay("b.json", "no_recopy", 900);
  const Json found = json({"a.json", "b.json"});
  EXPECT_EQ(found["kernels"][0]["name"], "axpy()");
  EXPECT_EQ(found["kernels"][0]["verdict"], "FASTER");
  EXPECT_EQ(found["a"]["samples_are"], "iteration");
  EXPECT_THAT(found["notes"].dump(), HasSubstr("B: memory was not restored"));
  // Against a trace of the application, paired by the mangled name.
  write_run(folder / "app.db", 4, {{"4axpy", 20, 1000}, {"other", 3, 70}});
  EXPECT_EQ(json({"app.db", "b.json"})["kernels"][0]["name_b"], "axpy()");
  (void)folder.write("none.json", R"({"document": "replay", "timing": {"unit": "ns"}})");
  expect_error({"none.json", "a.json"}, 3, "none.json: \"timing\" has no samples");
  (void)folder.write("dag.json", R"({"document": "dag"})");
  expect_error({"dag.json", "a.json"}, 3, "a document 'dag' holds nothing to compare");
  (void)folder.write("broken.json", "{");
  expect_error({"broken.json", "a.json"}, 3, "broken.json");
  expect_error({"nowhere.json", "a.json"}, 3, "nowhere.json");
}

TEST_F(Compare, JournalsOfATuning) {
  const auto journal = [&](const char* name, const char* kind, double best, bool compared,
                           const char* goal = "minimize") {
    tune::JournalKey key;
    key.kind = kind;
    key.goal = goal;
    auto opened = tune::Journal::open(folder / name, key, false);
    ASSERT_TRUE(opened.has_value());
    for (const std::int64_t block : {64, 128, 256}) {
      const double value = best * (block == 128 ? 1.0 : 1.5);
      tune::JournalEntry entry;
      entry.configuration = {{"BLOCK", block}};
      entry.round = "search";
      entry.evaluation.outcome = tune::Outcome::correct;
      entry.evaluation.value = value;
      for (int i = 0; i < 7; ++i) entry.evaluation.samples.push_back(value * (1 + 0.001 * i));
      ASSERT_TRUE(opened->append(entry).has_value());
      for (int round = 1; compared && block == 128 && round <= 9; ++round) {
        entry.round = fmt::format("final {}", round);
        entry.evaluation.value = value * 0.9;
        ASSERT_TRUE(opened->append(entry).has_value());
      }
    }
  };
  journal("a.jsonl", "wall_time", 2.0, false);
  journal("b.jsonl", "wall_time", 2.0, true);
  const Json found = json({"a.jsonl", "b.jsonl"});
  EXPECT_EQ(found["kernels"][0]["a"]["samples"], 7);
  EXPECT_EQ(found["kernels"][0]["b"]["samples"], 9);
  EXPECT_EQ(found["kernels"][0]["verdict"], "FASTER");
  EXPECT_EQ(found["unit"], "ns");
  EXPECT_NEAR(found["kernels"][0]["b"]["median"].get<double>(), 1.8e9, 1);
  EXPECT_THAT(found["notes"].dump(), HasSubstr("the best of 3 configurations"));
  (void)folder.write("autotune.json",
                     R"({"document": "autotune", "environment": {"journal": "b.jsonl"}})");
  EXPECT_EQ(json({"a.jsonl", "autotune.json"})["kernels"][0]["ratio"],
            found["kernels"][0]["ratio"]);
  expect_error({"a.jsonl", "autotune.json", "--out", "b.jsonl"}, 2, "this is an input");
  // Of a metric: the larger the better, and the best is the largest.
  journal("c.jsonl", "metric", 2.0, false, "maximize");
  EXPECT_NEAR(json({"c.jsonl", "c.jsonl"})["kernels"][0]["a"]["median"].get<double>(), 3.009, 1e-9);
  expect_error({"a.jsonl", "c.jsonl"}, 2, "does not say the unit");
  expect_error({"--a", "a.jsonl", "c.jsonl", "--b", "b.jsonl"}, 2, "are given as one side");
}

TEST_F(Compare, NamesAreDataInEveryFormat) {
  const std::vector<std::string> names = {"k<int, &A::b>(\"x\", 'y')", "a|b``c`", "]]> @someone",
                                          "nl\ntab\x01 esc\x1b[31m", "bad\xff utf \xef\xbf\xbe"};
  std::vector<Work> work;
  for (const std::string& name : names) work.push_back({name, 12, 10'000});
  write_run(folder / "a.db", 1, work);
  write_run(folder / "b.db", 2, work);
  const Outcome outcome = run({"a.db", "b.db", "--junit", "c.xml", "--markdown", "c.md"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, Not(HasSubstr("\x1b")));
  const std::vector<std::string> parse = {
      "python3", "-c",
      "import xml.etree.ElementTree as t;"
      "print(*sorted(c.get('name') for c in t.parse('c.xml').iter('testcase')), sep='\\n')"};
  ProcessOptions options;
  options.working_directory = folder.path();
  options.standard_output = StreamMode::capture;
  const auto parsed = run_program(parse, options);
  ASSERT_TRUE(parsed.has_value() && parsed->exit_code == 0);
  EXPECT_THAT(parsed->output.tail,
              AllOf(HasSubstr(names[0]), HasSubstr(names[1]), HasSubstr(names[2])));
  // Every row of the table has its seven cells.
  std::istringstream markdown(test::text_of(folder / "c.md"));
  int rows = 0;
  for (std::string line; std::getline(markdown, line);) {
    if (!line.starts_with("|")) continue;
    ++rows;
    int pipes = 0;
    for (std::size_t i = 0; i < line.size(); ++i)
      pipes += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
    EXPECT_EQ(pipes, 8) << line;
  }
  EXPECT_EQ(rows, 2 + 5 + 1);
  EXPECT_THAT(test::text_of(folder / "c.md"), HasSubstr("``` a\\|b``c` ```"));
}

TEST_F(Compare, WrongCommandLines) {
  (void)folder.write("n", numbers(9, 1, 1));
  expect_error({}, 2, "two sides");
  expect_error({"n"}, 2, "two sides");
  for (const char* wrong : {"-1%", "x", "", "2%%", "nan", "2000%"})
    expect_error({"n", "n", std::string("--threshold=") + wrong}, 2, "--threshold");
  for (const char* wrong : {"0", "100%", "1.5"})
    expect_error({"n", "n", "--confidence", wrong}, 2, "--confidence");
  expect_error({"n", "n", "--kernel", "("}, 2, "(");
  expect_error({"n", "n", "--samples", "runs"}, 2, "holds no runs");
  expect_error({"n", "n", "--samples", "all"}, 2, "--samples");
}

}  // namespace
}  // namespace perflab::cli
