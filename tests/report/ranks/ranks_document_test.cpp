// ranks.json, its page and its summary, of made-up jobs.
#include "report/ranks/ranks_document.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/document_checks.h"
#include "report/kit/document.h"
#include "report/kit/quantities.h"
#include "report/ranks/ranks_text.h"
#include "report/ranks/ranks_words.h"
#include "report/ranks_samples.h"
#include "report/summary/summary.h"

namespace perflab::report {
namespace {

test::RankJobOptions late_job_of(std::uint32_t ranks) {
  test::RankJobOptions options;
  options.ranks = ranks;
  options.kinds = {ranks::CollectiveKind::all_reduce, ranks::CollectiveKind::all_gather};
  options.late = {{1, 20'000'000}};
  options.offset_range = 1'000'000;
  return options;
}

/// The document as written, its page and its summary; the page within 40 lines of 100 columns.
std::string page_of(const ranks::RanksAnalysis& analysis) {
  std::vector<NamedDocument> documents = {{std::string("ranks"), ranks_document(analysis)}};
  const auto text = render("ranks", documents[0].value);
  EXPECT_TRUE(text) << describe(text.error());
  const Json summary = summary_document(documents);
  const auto brief = render("summary", summary);
  EXPECT_TRUE(brief) << describe(brief.error());
  EXPECT_LE(brief->size(), kMostSummaryBytes);
  const std::string page = summary_text(summary, {.width = 100}, "--details");
  EXPECT_LE(std::ranges::count(page, '\n'), static_cast<std::ptrdiff_t>(kMostSummaryLines));
  return page;
}

TEST(RanksDocument, TheLateRankStandsOnThePage) {
  const auto analysis = analysed_ranks(late_job_of(8), {"balance"});
  const Json document = ranks_document(analysis);
  EXPECT_EQ(document["stragglers"]["pattern"], "persistent");
  EXPECT_EQ(document["stragglers"]["rank"], 1);
  EXPECT_EQ(document["ranks"].size(), 8U);
  EXPECT_EQ(document["ranks"][1]["last"], analysis.figures.ranks[1].last);
  EXPECT_TRUE(document["path"]["what_if"][0]["asked"].get<bool>());
  const std::string page = page_of(analysis);
  EXPECT_NE(page.find("Rank 1 makes the others wait"), std::string::npos) << page;
  EXPECT_NE(page.find("rank:1=median"), std::string::npos) << page;
  EXPECT_NE(page.find("is not slow, it waits"), std::string::npos) << page;
}

TEST(RanksDocument, EveryKindOfJobIsWrittenAndShown) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE(seed);
    test::RankJobOptions options = test::random_rank_job(seed);
    options.bytes = seed % 2 == 0;
    options.sizes = seed % 3 != 0;
    options.rank_numbers = seed % 4 != 0;
    if (seed % 5 == 0) options.dropped = {0};
    const auto analysis = analysed_ranks(options);
    EXPECT_FALSE(page_of(analysis).empty());
    const Json document = ranks_document(analysis);
    expect_schema_order(schema_of("ranks"), schema_of("ranks"), document, "");
    expect_nulls_explained(document);
    const TerminalStyle style{.width = 100};
    for (auto* const section : {&ranks_ranks_text, &ranks_stragglers_text, &ranks_collectives_text,
                                &ranks_clocks_text, &ranks_path_text, &ranks_matching_text})
      EXPECT_FALSE(section(analysis, style).empty());
  }
}

TEST(RanksDocument, TimesCountFromTheBeginOfThePath) {
  const auto analysis = analysed_ranks(late_job_of(4));
  const Json document = ranks_document(analysis);
  const Json& hops = document["path"]["hops"];
  ASSERT_EQ(document["path"]["hop_count"], hops.size());
  EXPECT_EQ(document["job"]["begin_ns"], analysis.path->begin);
  EXPECT_EQ(hops.front()["from_ns"], 0);
  EXPECT_EQ(hops.back()["to_ns"], document["path"]["makespan_ns"]);
  const ranks::OperationFigures& one = analysis.figures.worst.front();
  const ranks::Member& member = analysis.matching.operations[one.operation].members.front();
  const std::int64_t entry = analysis.clocks.aligned(
      member.rank, analysis.ranks[member.rank].collectives[member.collective].entry);
  EXPECT_EQ(document["operations"][0]["members"][0]["entry_ns"], entry - analysis.path->begin);
}

TEST(RanksDocument, KernelsThatNobodyCanJudgeAreNoTransfer) {
  test::RankJobOptions options = late_job_of(4);
  options.kinds = {ranks::CollectiveKind::all_reduce, ranks::CollectiveKind::group};
  const auto analysis = analysed_ranks(options);
  const Json document = ranks_document(analysis);
  const Json& rank = document["ranks"][0];
  EXPECT_GT(rank["judged_time_ns"], rank["wait_ns"]);
  EXPECT_LT(rank["judged_time_ns"], rank["kernel_time_ns"]);
  const auto groups = std::ranges::count_if(document["operations"],
                                            [](const Json& one) { return one["kind"] == "group"; });
  EXPECT_GT(groups, 0);  // also those are shown
  EXPECT_EQ(document["operations"].size(), document["job"]["operations"]);
}

TEST(RanksDocument, PairsLeftOutAreAddedUp) {
  auto analysis = analysed_ranks(late_job_of(4));
  analysis.figures.matrix.clear();
  for (std::size_t i = 1; i <= kMostRankPairs + 2; ++i)
    analysis.figures.matrix.push_back(
        {.waits = 0, .last = 1, .wait = static_cast<std::int64_t>(10 * i), .operations = 1});
  const Json document = ranks_document(analysis);
  EXPECT_EQ(document["waits_for"].size(), kMostRankPairs);
  EXPECT_EQ(document["waits_for_left_out"], 2);
  EXPECT_EQ(document["waits_for_left_out_ns"], 10 + 20);  // those that wait the least
}

/// Shares are of all waiting, decided or not; what nobody knows is said.
TEST(RanksDocument, SharesAreOfAllWaiting) {
  auto analysis = analysed_ranks(late_job_of(8));
  ranks::Figures& figures = analysis.figures;
  ASSERT_GT(figures.delay.value, 0);
  figures.ranks[1].delay_caused.value = figures.delay.value;
  figures.wait.value = 4 * figures.delay.value;
  const std::string page = page_of(analysis);
  EXPECT_NE(page.find("25.0 % of all waiting"), std::string::npos) << page;
  EXPECT_NE(who_words(analysis).find("Who causes 75.0 % of the waiting is undecided"),
            std::string::npos)
      << page;
}

/// Of operations whose kind says nothing no time is called waiting, nor the rest of it transfer.
TEST(RanksDocument, TimeThatNothingIsKnownOfIsSaid) {
  test::RankJobOptions options = late_job_of(4);
  options.kinds = {ranks::CollectiveKind::all_reduce, ranks::CollectiveKind::broadcast};
  options.peers = false;
  const auto analysis = analysed_ranks(options);
  const Json job = ranks_document(analysis)["job"];
  EXPECT_LT(job["judged_time_ns"].get<std::int64_t>(), job["kernel_time_ns"].get<std::int64_t>());
  EXPECT_LE(job["wait_ns"].get<std::int64_t>(), job["judged_time_ns"].get<std::int64_t>());
  const std::string page = page_of(analysis);
  EXPECT_NE(page.find("of it waiting; of "), std::string::npos) << page;
}

TEST(RanksDocument, WithoutACollectiveNothingIsZero) {
  test::RankJob job = test::make_rank_job(late_job_of(4));
  for (ranks::RankSummary& rank : job.summaries) {
    rank.collectives.clear();
    rank.communicators.clear();
    rank.work.clear();
    rank.graph = {};
  }
  const auto analysis = ranks::analyze_ranks(
      {.count = job.summaries.size(),
       .load = [&](std::size_t i) -> Result<ranks::RankSummary> { return job.summaries[i]; }},
      {});
  ASSERT_TRUE(analysis) << describe(analysis.error());
  const Json document = ranks_document(*analysis);
  for (const char* field : {"delay_share", "last_share"})
    EXPECT_TRUE(document["stragglers"][field].is_null()) << field;
  for (const char* field : {"wait_ns", "wait_error_ns"})
    EXPECT_TRUE(document["job"][field].is_null()) << field;
  EXPECT_NE(document["missing"].dump().find("no rank recorded a communication kernel"),
            std::string::npos);
  std::string page = page_of(*analysis);
  EXPECT_NE(page.find("no communication kernel was recorded"), std::string::npos) << page;
  page += ranks_ranks_text(*analysis, {.width = 100});
  EXPECT_EQ(page.find("0 ns"), std::string::npos) << page;
}

TEST(RanksDocument, TheGreatestGainIsWorthTheMost) {
  auto analysis = analysed_ranks(late_job_of(4));
  std::ranges::reverse(analysis.path->what_if);
  const Json document = ranks_document(analysis);
  const Json& answers = document["path"]["what_if"];
  ASSERT_GT(answers.size(), 2U);
  for (std::size_t i = 1; i < answers.size(); ++i)
    EXPECT_GE(answers[i - 1]["gain_ns"], answers[i]["gain_ns"]);
  EXPECT_EQ(document["answer"]["worth"], answers[0]["sentence"]);
  // What was asked comes first.
  analysis.asked = 1;
  EXPECT_EQ(ranks_document(analysis)["path"]["what_if"][0]["text"],
            analysis.path->what_if.front().text);
}

TEST(RanksDocument, NegativeDurationsHaveAsManyDigits) {
  EXPECT_EQ(duration_text(-123'456), "-123.5 us");
  EXPECT_EQ(duration_text(-999'960), "-1000 us");
}

TEST(RanksDocument, OneRankAloneAsksForTheOthers) {
  test::RankJobOptions options = late_job_of(4);
  options.dropped = {0, 1, 2};
  const std::string page = page_of(analysed_ranks(options));
  EXPECT_NE(page.find("One rank alone does not tell"), std::string::npos) << page;
  EXPECT_NE(page.find("the job's other ranks"), std::string::npos) << page;
  EXPECT_EQ(page.find("0 ns"), std::string::npos) << page;
}

/// What helps to have sizes depends on the GPUs: RCCL's texts are nothing for NVIDIA's.
TEST(RanksDocument, TheWayToSizesIsThatOfThePlatform) {
  test::RankJobOptions options = late_job_of(4);
  options.bytes = false;
  auto analysis = analysed_ranks(options);
  EXPECT_NE(page_of(analysis).find("RCCL_LOG_ROCTX"), std::string::npos);
  for (ranks::RankSummary& rank : analysis.ranks) rank.identity.platform = trace::Platform::cuda;
  EXPECT_EQ(page_of(analysis).find("RCCL_LOG_ROCTX"), std::string::npos);
}

TEST(RanksDocument, WhatIfSaysWhatItSupposesAndNoGainOfNothing) {
  const auto analysis = analysed_ranks(late_job_of(4), {"transfer:broadcast=2x", "balance"});
  const std::string nothing = what_if_words(*analysis.path, analysis.path->what_if[0]);
  EXPECT_EQ(nothing.find("transfer:broadcast=2x (transfers of broadcast in 50.0 % of their time): "
                         "the job gets no shorter"),
            0U)
      << nothing;
  const std::string less = what_if_words(*analysis.path, analysis.path->what_if[1]);
  EXPECT_NE(less.find("less"), std::string::npos) << less;
  ranks::RankWhatIfAnswer longer = analysis.path->what_if[1];
  longer.gain = -*longer.gain;
  EXPECT_NE(what_if_words(*analysis.path, longer).find("more"), std::string::npos);
  EXPECT_NE(path_words(analysis).find("work of rank 1"), std::string::npos);
}

TEST(RanksDocument, ManyRanksKeepTheSummaryShort) {
  test::RankJobOptions options = late_job_of(64);
  options.communicators = 4;
  EXPECT_FALSE(page_of(analysed_ranks(options)).empty());
}

}  // namespace
}  // namespace perflab::report
