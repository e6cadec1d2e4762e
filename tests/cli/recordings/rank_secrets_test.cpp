// Of a process's environment only the variables that number ranks are read and shown
// (docs/facts/ranks.md "Identity"): secrets in the recorded environment, in ours and in PyTorch's
// arguments are in nothing that rank-summary and ranks write or print.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cli/recordings/rank_job_files.h"
#include "ranks/rank/summary_fields.h"
#include "ranks/rank/summary_file.h"
#include "trace/kineto_text.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr const char* kSecret = "hunter2-of-the-tests";

/// The summary's file as numbers and texts, unpacked.
std::string unpacked_summary(const fs::path& path) {
  const auto summary = ranks::read_summary(path);
  if (!summary) {
    ADD_FAILURE() << summary.error().message;
    return {};
  }
  ranks::NumberWriter numbers;
  ranks::put_head(numbers, *summary);
  ranks::put_rest(numbers, *summary);
  return numbers.bytes();
}

/// `text` once, in front of the last `what`.
std::string with_text(std::string into, std::string_view what, const std::string& text) {
  const std::size_t at = into.rfind(what);
  EXPECT_NE(at, std::string::npos);
  return into.insert(at, text);
}

class RankSecrets : public RankJobFiles {
 protected:
  void SetUp() override {
    options_.set_environment.emplace_back("GITHUB_TOKEN", kSecret);
    write_job({.late = 1, .secret = kSecret});
    ASSERT_THAT(test::text_of(folder_ / "traces/rank_0.db"), HasSubstr(kSecret));
  }
  /// Runs it and looks at both streams.
  void expect_silent(const std::vector<std::string>& arguments, int exit_code = 0) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr(kSecret)))
        << testing::PrintToString(arguments);
    said_ += outcome.out + outcome.err;
  }
  void expect_none_in(const fs::path& folder) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      EXPECT_THAT(test::text_of(entry.path()), Not(HasSubstr(kSecret))) << entry.path();
      if (entry.path().extension() == ranks::kSummaryEnding) {
        EXPECT_THAT(unpacked_summary(entry.path()),
                    AllOf(Not(HasSubstr(kSecret)), Not(HasSubstr("AWS_SECRET_ACCESS_KEY"))));
      }
    }
  }
  void expect_silent_answers(const std::string& input) {
    expect_silent({"ranks", input});
    expect_silent({"ranks", input, "--details"});
    expect_silent({"ranks", input, "--json"});
    expect_silent({"ranks", input, "-o", "docs", "--html", "docs/page.html"});
    EXPECT_THAT(names_in(folder_ / "docs"), SizeIs(3));
    expect_none_in(folder_ / "docs");
    EXPECT_THAT(pages_documents("docs/page.html").dump(), Not(HasSubstr(kSecret)));
  }

  std::string said_;
};

TEST_F(RankSecrets, OfRecordedEnvironments) {
  expect_silent({"rank-summary", "traces", "-o", "sums"});
  expect_silent({"rank-summary", "traces", "-o", "sums", "--json"});
  expect_none_in(folder_ / "sums");
  expect_silent_answers("sums");
  expect_silent_answers("traces");
  // What was looked for is there: the variables that number the rank.
  EXPECT_THAT(said_, HasSubstr(R"("rank_from": "RANK")"));
}

TEST_F(RankSecrets, InErrors) {
  write_rank("traces/earlier.db", {.rank = 2, .run = 1, .secret = kSecret});
  write_rank("traces/nothing.db", {.rank = 3, .operations = 0, .run = 2, .secret = kSecret});
  expect_silent({"rank-summary", "traces", "-o", "sums"}, 3);
  expect_silent({"rank-summary", "traces", "-o", "sums", "--json"}, 3);
  expect_silent({"ranks", "sums"}, 3);
  expect_silent({"ranks", "traces"}, 3);
  // A value that is no number, and an environment that is no JSON.
  write_rank("odd/text.db", {.rank = 0,
                             .environment = fmt::format(R"({{"RANK": "{}", "WORLD_SIZE": "{}"}})",
                                                        kSecret, kSecret)});
  write_rank("odd/cut.db",
             {.rank = 1, .environment = fmt::format(R"({{"TOKEN": "{}", )", kSecret)});
  expect_silent({"rank-summary", "odd", "-o", "odd_sums"});
  expect_none_in(folder_ / "odd_sums");
  expect_silent_answers("odd_sums");
  EXPECT_THAT(said_, HasSubstr("both say that they are rank 2 (RANK)"));
}

TEST_F(RankSecrets, OfTracesOfPyTorch) {
  std::string trace = trace::cuda_step_file();
  trace = with_text(std::move(trace), R"("displayTimeUnit")",
                    fmt::format(R"("env": {{"TOKEN": "{}"}}, )", kSecret));
  trace = with_text(std::move(trace), R"("Collective name")",
                    fmt::format(R"("Input Strings": ["{}"], )", kSecret));
  trace = with_text(std::move(trace), R"("backend")",
                    fmt::format(R"("init_method": "tcp://{}", )", kSecret));
  fs::create_directories(folder_ / "pytorch");
  (void)folder_.write("pytorch/w3.json", trace);
  expect_silent({"rank-summary", "pytorch", "-o", "sums"});
  expect_none_in(folder_ / "sums");
  expect_silent_answers("sums");
  expect_silent_answers("pytorch");
  EXPECT_THAT(said_, HasSubstr(R"("rank_from": "distributedInfo")"));
}

// Which launcher it was, as the page and the document have it; else host and pid.
TEST_F(RankSecrets, WhatNumbersARankIsSaid) {
  const auto job = [&](const char* folder, const char* environment) {
    for (int rank = 0; rank < 2; ++rank)
      write_rank(fmt::format("{}/{}.db", folder, rank),
                 {.rank = rank,
                  .size = 2,
                  .environment = fmt::format(fmt::runtime(environment), rank, 2)});
    return json("ranks", "ranks", {folder});
  };
  struct Launcher {
    const char *folder, *from, *environment;
  };
  for (const Launcher& one : {
           Launcher{"torchrun", "RANK",
                    R"({{"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1", "RANK": "{}",
                         "WORLD_SIZE": "{}"}})"},
           Launcher{"openmpi", "OMPI_COMM_WORLD_RANK",
                    R"({{"OMPI_COMM_WORLD_RANK": "{}", "OMPI_COMM_WORLD_SIZE": "{}"}})"},
           Launcher{"mpich", "PMI_RANK", R"({{"PMI_RANK": "{}", "PMI_SIZE": "{}"}})"},
           Launcher{"slurm", "SLURM_PROCID",
                    R"({{"SLURM_PROCID": "{}", "SLURM_STEP_NUM_TASKS": "{}"}})"},
       }) {
    const Json found = job(one.folder, one.environment);
    EXPECT_EQ(found["job"]["numbered"], true) << one.folder;
    EXPECT_EQ(found["job"]["size"], 2) << one.folder;
    EXPECT_EQ(found["ranks"][1]["rank"], 1) << one.folder;
    EXPECT_EQ(found["ranks"][1]["rank_from"], one.from);
    EXPECT_THAT(run({"ranks", one.folder, "--details", "ranks"}).out, HasSubstr(one.from));
  }
  const Json none = job("none", R"({{"HOME": "/{}{}"}})");
  EXPECT_EQ(none["job"]["numbered"], false);
  EXPECT_TRUE(none["ranks"][1]["rank"].is_null());
  EXPECT_EQ(none["ranks"][1]["pid"], 4001);
  EXPECT_THAT(run({"ranks", "none"}).out, HasSubstr("ordered by host, process and"));
}

}  // namespace
}  // namespace perflab::cli
