// rocm-perf rank-summary, and ranks on what it made, from written recordings of a job's ranks: what
// is written and when not, what is refused by name, and what a Ctrl-C leaves.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "cli/program.h"
#include "cli/recordings/rank_job_files.h"
#include "ranks/rank/summary_file.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Each;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

/// Four ranks in traces/, of which rank 2 is late.
class RankSummaryCommand : public RankJobFiles {
 protected:
  void SetUp() override { write_job({.late = 2}); }
  Json summary_json(const std::vector<std::string>& arguments, int exit_code = 0) {
    return json("rank_summary", "rank-summary", arguments, exit_code);
  }
};

TEST_F(RankSummaryCommand, ASecondTimeChangesNothing) {
  const Outcome first = run({"rank-summary", "traces", "-o", "sums"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(text_lines(first.out),
              AllOf(SizeIs(4),
                    Each(AllOf(HasSubstr("written sums/rank-0000"), HasSubstr("20 collectives")))));
  const std::vector<std::string> names = names_in(folder_ / "sums");
  ASSERT_THAT(names, AllOf(SizeIs(4), Each(EndsWith(".rpsum"))));
  std::set<std::pair<std::string, fs::file_time_type>> written;
  for (const std::string& name : names) {
    written.emplace(test::text_of(folder_ / "sums" / name),
                    fs::last_write_time(folder_ / "sums" / name));
    EXPECT_LT(fs::file_size(folder_ / "sums" / name), 16'384U);
  }
  // In another order, several at once, as a document.
  const Json again = summary_json({"traces/rank_3.db", "traces/rank_0.db", "traces/rank_1.db",
                                   "traces/rank_2.db", "-o", "sums", "--jobs", "3"});
  EXPECT_EQ(again["written"], Json::array());
  ASSERT_EQ(again["kept"].size(), 4U);
  EXPECT_EQ(again["kept"][0]["rank"], 3);
  EXPECT_EQ(names_in(folder_ / "sums"), names);
  for (const std::string& name : names)
    EXPECT_TRUE(written.contains(
        {test::text_of(folder_ / "sums" / name), fs::last_write_time(folder_ / "sums" / name)}));
  EXPECT_THAT(run({"rank-summary", "traces", "-o", "sums"}).out,
              AllOf(HasSubstr("kept    sums/rank-00000"), Not(HasSubstr("written"))));
}

/// What stands in a summary is left alone as long as the recording has the same bytes: a host's
/// name that no recording has shows what was not made again.
TEST_F(RankSummaryCommand, OfTheSameBytesNothingIsMadeAgain) {
  summarize();
  const fs::path recording = folder_ / "traces/rank_2.db";
  const fs::path file = folder_ / "sums" / names_in(folder_ / "sums")[2];
  const auto mark = [&] {
    auto summary = ranks::read_summary(file);
    ASSERT_TRUE(summary.has_value());
    EXPECT_EQ(summary->origin.bytes, fs::file_size(recording));
    EXPECT_EQ(summary->origin.ranks, 1U);
    summary->identity.hostname = "marked";
    ASSERT_TRUE(ranks::write_summary(file, *summary).has_value());
  };
  const auto is_marked = [&] {
    const auto summary = ranks::read_summary(file);
    return summary && summary->identity.hostname == "marked";
  };
  mark();
  fs::last_write_time(recording, fs::last_write_time(recording) + std::chrono::hours(1));
  EXPECT_THAT(run({"rank-summary", "traces", "-o", "sums"}).out, Not(HasSubstr("written")));
  EXPECT_TRUE(is_marked());
  // Other options, and back.
  summarize();
  EXPECT_EQ(
      run({"rank-summary", "traces/rank_2.db", "-o", "sums", "--what-if", "gemm=2x"}).exit_code, 0);
  EXPECT_FALSE(is_marked());
  summarize();
  // A byte at the same size, in what SQLite leaves to applications, and the time as it was.
  mark();
  const auto time = fs::last_write_time(recording);
  std::string bytes = test::text_of(recording);
  bytes[71] = static_cast<char>(bytes[71] ^ 1);
  (void)folder_.write("traces/rank_2.db", bytes);
  fs::last_write_time(recording, time);
  EXPECT_THAT(run({"rank-summary", "traces", "-o", "sums"}).out, HasSubstr("written"));
  EXPECT_FALSE(is_marked());
  // A summary that is damaged, or has another's name.
  mark();
  std::string damaged = test::text_of(file);
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  (void)folder_.write("sums/" + file.filename().string(), damaged);
  summarize();
  EXPECT_TRUE(ranks::read_summary(file).has_value());
  EXPECT_FALSE(is_marked());
}

TEST_F(RankSummaryCommand, RanksSaysTheSameOfSummariesAndOfRecordings) {
  summarize();
  const Outcome page = run({"ranks", "sums"});
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_THAT(page.out, HasSubstr("Rank 2 makes the others wait"));
  EXPECT_EQ(run({"ranks", "traces"}).out, page.out);
  const Json whole = json("ranks", "ranks", {"sums"});
  EXPECT_EQ(json("ranks", "ranks", {"traces", "--threads", "3"}), whole);
  EXPECT_EQ(whole["job"]["size"], 4);
  EXPECT_EQ(whole["stragglers"]["rank"], 2);
  EXPECT_EQ(whole["ranks"][2]["rank_from"], "RANK");
}

TEST_F(RankSummaryCommand, RanksAnswersInEveryForm) {
  summarize();
  const Outcome brief = run({"ranks", "sums", "--json", "--brief"});
  EXPECT_EQ(brief.exit_code, 0) << brief.err;
  EXPECT_LE(brief.out.size(), 8192U);
  EXPECT_EQ(document("summary", brief.out)["made_from"], Json::array({"ranks"}));
  const Outcome page = run({"ranks", "sums", "--html", "page.html"});
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_THAT(pages_documents("page.html").dump(), HasSubstr(R"("document":"ranks")"));
  std::string together;
  for (const char* section : {"ranks", "stragglers", "collectives", "path", "clocks", "matching"}) {
    const Outcome one = run({"ranks", "sums", "--details", section});
    EXPECT_EQ(one.exit_code, 0) << one.err;
    EXPECT_NE(one.out, "") << section;
    together += one.out;
  }
  EXPECT_EQ(run({"ranks", "sums", "--details"}).out, together);
}

TEST_F(RankSummaryCommand, TwoRecordingsOfOneRankAreRefused) {
  // An earlier run of rank 2 in the same folder.
  write_rank("traces/earlier.db", {.rank = 2, .run = 1});
  summarize(5);
  for (const char* input : {"sums", "traces"}) {
    const Outcome outcome = run({"ranks", input});
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("both say that they are rank 2 (RANK)\n"));
    EXPECT_THAT(outcome.err, HasSubstr(fmt::format("rocm-perf: '{}/", input)));
  }
}

TEST_F(RankSummaryCommand, SummariesThatDoNotBelongTogetherAreNamed) {
  summarize();
  const std::string odd = "sums/" + names_in(folder_ / "sums")[1];
  const std::string good = test::text_of(folder_ / odd);
  const auto refused = [&](const std::string& bytes, const char* words) {
    (void)folder_.write(odd, bytes);
    const Outcome outcome = run({"ranks", "sums"});
    EXPECT_EQ(outcome.exit_code, 3) << words;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(odd), HasSubstr(words)));
  };
  std::string other_version = good;
  other_version[8] = '\x07';  // behind the magic
  refused(other_version, "a rank summary of version 7, this program reads version");
  refused(good.substr(0, good.size() / 2), "the rank summary is damaged: it ends early");
  refused("no summary at all", "no rank summary");
  fs::remove(folder_ / odd);
  EXPECT_EQ(
      run({"rank-summary", "traces/rank_1.db", "-o", "sums", "--what-if", "gemm=2x"}).exit_code, 0);
  const Outcome options = run({"ranks", "sums"});
  EXPECT_EQ(options.exit_code, 3);
  EXPECT_THAT(options.err, AllOf(HasSubstr("were made with different options"), HasSubstr(odd)));
}

TEST_F(RankSummaryCommand, WhatCannotBeReadDoesNotStopTheOthers) {
  (void)folder_.write("traces/broken.db", std::string("SQLite format 3\0, no more", 25));
  const Outcome text = run({"rank-summary", "traces", "nowhere.db", "-o", "sums"});
  EXPECT_EQ(text.exit_code, 3);
  EXPECT_THAT(names_in(folder_ / "sums"), SizeIs(4));
  EXPECT_THAT(text.out, AllOf(HasSubstr("failed  traces/broken.db: "), HasSubstr("nowhere.db: ")));
  const Json found = summary_json({"traces", "-o", "sums"}, 3);
  EXPECT_EQ(found["kept"].size(), 4U);
  ASSERT_EQ(found["failed"].size(), 1U);
  EXPECT_EQ(found["failed"][0]["recording"], "traces/broken.db");
  const Outcome direct = run({"ranks", "traces"});
  EXPECT_EQ(direct.exit_code, 3);
  EXPECT_THAT(direct.err, HasSubstr("traces/broken.db"));
}

TEST_F(RankSummaryCommand, WhatIsNoInput) {
  fs::create_directories(folder_ / "empty");
  const auto refused = [&](const std::vector<std::string>& arguments, int exit_code,
                           const char* words) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << words << "\n" << outcome.out;
    EXPECT_THAT(outcome.err + outcome.out, HasSubstr(words));
  };
  refused({"rank-summary", "empty", "-o", "sums"}, 3,
          "empty: there is no recording in this folder");
  refused({"ranks", "empty"}, 3, "'empty' has neither summaries of ranks nor recordings");
  refused({"rank-summary", "-o", "sums"}, 2, "TRACE");
  refused({"rank-summary", "traces"}, 2, "--out");
  refused({"rank-summary", "traces/rank_0.db", "traces/rank_0.db", "-o", "sums"}, 2, "twice");
  refused({"rank-summary", "traces", "traces/rank_0.db", "-o", "sums"}, 2, "twice");
  (void)folder_.write("file", "");
  refused({"rank-summary", "traces", "-o", "file"}, 2, "the folder cannot be made");
  refused({"rank-summary", "traces", "-o", "sums", "--what-if", "nonsense"}, 2, "nonsense");
  refused({"rank-summary", "traces", "-o", "sums", "--executor", "slurm"}, 2, "SLURM_JOB_ID");
}

TEST_F(RankSummaryCommand, AnInterruptLeavesWholeSummariesAlone) {
  ProcessOptions options;
  options.set_environment = {{"LD_PRELOAD", PERFLAB_AT_FSYNC}, {"AT_FSYNC", "self:2:.rpsum"}};
  const Outcome outcome =
      rocm_perf(folder_.path(), {"rank-summary", "traces", "-o", "sums"}, options);
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("the summaries that are there are whole"));
  const std::vector<std::string> names = names_in(folder_ / "sums");
  ASSERT_THAT(names, AllOf(SizeIs(1), Each(EndsWith(".rpsum"))));
  EXPECT_TRUE(ranks::read_summary(folder_ / "sums" / names[0]));
  summarize();
}

// rocprofv3's other forms: a set of tables is one recording.
TEST_F(RankSummaryCommand, TakesEveryFormOfARecordingButNotSeveral) {
  write_other_forms("forms");
  const Json found = summary_json({"forms/csv", "forms/json", "forms/pytorch", "-o", "sums"});
  ASSERT_EQ(found["written"].size(), 3U);
  EXPECT_EQ(found["written"][0]["recording"], "forms/csv/7_kernel_trace.csv");
  EXPECT_EQ(found["written"][1]["recording"], "forms/json/out.json");
  EXPECT_EQ(found["written"][2]["recording"], "forms/pytorch/w0.pt.trace.json");
  EXPECT_EQ(found["written"][2]["rank"], 3);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"ranks", "forms"}, {"rank-summary", "forms", "-o", "other"}}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_THAT(outcome.err, HasSubstr("the folder 'forms' has recordings of several forms: "
                                       "'forms/csv/7_kernel_trace.csv' and 'forms/json/out.json'"));
  }
}

// These forms have no environment: the name of a file is a hint, which is said.
TEST_F(RankSummaryCommand, TheNameOfAFileIsSaidAsAHint) {
  write_other_forms("forms");
  fs::rename(folder_ / "forms/json/out.json", folder_ / "rank_3_results.json");
  fs::rename(folder_ / "forms/csv", folder_ / "rank_0");
  const Json found = summary_json({"rank_3_results.json", "rank_0", "-o", "sums"});
  ASSERT_EQ(found["written"].size(), 2U);
  EXPECT_EQ(found["written"][0]["rank"], 3);
  EXPECT_EQ(found["written"][0]["rank_from"], "file name");
  EXPECT_EQ(found["written"][1]["rank"], 0);
  EXPECT_THAT(run({"rank-summary", "rank_3_results.json", "rank_0", "-o", "sums"}).out,
              AllOf(HasSubstr("kept    sums/rank-00003"),
                    HasSubstr(": rank 3 (by the file's name)"), Not(HasSubstr("written"))));
  const Json whole = json("ranks", "ranks", {"sums"});
  EXPECT_EQ(whole["ranks"][1]["rank"], 3);
  EXPECT_EQ(whole["ranks"][1]["rank_from"], "file name");
  EXPECT_THAT(whole["warnings"].dump(), HasSubstr("2 of 2 recordings do not say their rank"));
  EXPECT_THAT(run({"ranks", "sums", "--details", "ranks"}).out,
              HasSubstr("Numbered by the names of files, which are hints"));
}

}  // namespace
}  // namespace perflab::cli
