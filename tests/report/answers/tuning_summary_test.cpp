// The answers of autotune and optimize: of searches made by hand, of recordings that are searched,
// and of a recorded optimisation with what else can come of one.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <functional>

#include "base/system/files.h"
#include "measure/tuning/autotune.h"
#include "report/autotune_samples.h"
#include "report/report_cases.h"
#include "report/summary/followed.h"
#include "report/summary/summary.h"

namespace perflab::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// The document as it is written; null: its input is kept outside the project.
struct TuningCase {
  std::string name;
  std::function<Json()> document;
};

Json of_sample(const AutotuneSample& sample) {
  return autotune_document(sample.data());
}

/// The recording of that name, searched with 40 evaluations.
Json of_search(const std::string& name) {
  const std::filesystem::path file =
      std::filesystem::path(PERFLAB_SHARED_DIR) / "data/autotune" / (name + ".json.gz");
  if (!std::filesystem::exists(file)) return nullptr;
  measure::AutotuneRequest request;
  request.simulate = file;
  request.options.budget = 40;
  const Result<measure::AutotuneRun> run = measure::run_autotune(request);
  if (!run) {
    ADD_FAILURE() << describe(run.error());
    return nullptr;
  }
  AutotuneData data{.space = &run->space, .result = &run->result, .gpu = {}, .environment = {}};
  data.environment.simulated = name + ".json.gz";
  return autotune_document(data);
}

/// The recorded optimisation of the examples, which accepted one of two.
Json optimised() {
  return *parse_json(*read_file(PERFLAB_SOURCE_DIR "/tests/web/optimization.json"), "recorded");
}

/// The same as if the second of its rules had been all.
Json nothing_accepted() {
  Json document = optimised();
  document["candidates"].erase(0);
  document["candidates"][0]["number"] = 1;
  document["candidates"][0]["against"] = 0;
  document["accepted"] = document["final"] = nullptr;
  document["decision"] = {
      {"outcome", "refused"}, {"reason", nullptr}, {"sentence", "no candidate was accepted"}};
  return document;
}

Json projected(bool on_path) {
  Json document = optimised();
  document["projection"] = {{"kernel", "row_sums"},
                            {"dispatches", 10},
                            {"kernel_ns", 2'000'000},
                            {"critical_path_ns", on_path ? 2'000'000 : 0},
                            {"on_critical_path", on_path},
                            {"makespan_ns", 10'000'000},
                            {"projected_ns", on_path ? 8'500'000 : 10'000'000},
                            {"projected_low_ns", on_path ? 8'400'000 : 10'000'000},
                            {"projected_high_ns", on_path ? 8'600'000 : 10'000'000},
                            {"end_to_end_ratio", on_path ? 0.85 : 1.0},
                            {"sentence", "a sentence"}};
  return document;
}

/// Many candidates, with more reasons than a page has rows.
Json many_candidates() {
  Json document = nothing_accepted();
  const Json one = document["candidates"][0];
  for (const char* reason : {"wrong_output", "wrong_output", "wrong_output", "slower", "unchanged",
                             "does_not_compile", "resources", "undecided"}) {
    Json next = one;
    next["number"] = document["candidates"].size() + 1;
    next["decision"]["reason"] = reason;
    next["measurement"] = nullptr;
    document["candidates"].push_back(std::move(next));
  }
  return document;
}

const std::vector<TuningCase>& tuning_cases() {
  static const std::vector<TuningCase> kAll = {
      {"Live", [] { return of_sample(sample_autotune()); }},
      {"Limits", [] { return of_sample(sample_autotune_limits()); }},
      {"Capture", [] { return of_sample(sample_autotune_capture()); }},
      {"Tie", [] { return of_sample(sample_autotune_tie()); }},
      {"Simulated", [] { return of_sample(sample_autotune_simulated()); }},
      {"Failed", [] { return of_sample(sample_autotune_failed()); }},
      {"ConvolutionMI250X", [] { return of_search("amd/convolution_milo__MI250X"); }},
      {"DedispersionW7800", [] { return of_search("amd/dedispersion_milo__W7800"); }},
      {"HotspotW7800", [] { return of_search("amd/hotspot_milo_PARTIAL__W7800"); }},
      {"GemmRTX3090", [] { return of_search("nvidia/gemm_cltune__RTX_3090"); }},
      {"PnpolyRTX3090", [] { return of_search("nvidia/pnpoly__RTX_3090"); }},
      {"Optimised", optimised},
      {"NothingAccepted", nothing_accepted},
      {"Projected", [] { return projected(true); }},
      {"OffThePath", [] { return projected(false); }},
      {"ManyCandidates", many_candidates}};
  return kAll;
}

Json summary_of(const Json& document) {
  const std::string name = document["document"];
  return rendered_json("summary", summary_document(std::vector<NamedDocument>{{name, document}}));
}
/// Wide enough for every sentence.
std::string tuning_page(const Json& document) {
  return summary_text(summary_of(document), {.width = 300}, "");
}

class TuningSummary : public testing::TestWithParam<std::size_t> {};

TEST_P(TuningSummary, IsTrueAndShort) {
  const Json document = tuning_cases()[GetParam()].document();
  if (document.is_null()) GTEST_SKIP() << "skipped: recordings are kept outside the project";
  const Json summary = summary_of(document);
  EXPECT_GT(figures_followed({{document["document"], document}}, summary), 10U);
  expect_short(summary);
  EXPECT_FALSE(summary["next"].empty());
}

INSTANTIATE_TEST_SUITE_P(All, TuningSummary, testing::Range(std::size_t{0}, tuning_cases().size()),
                         [](const auto& one) { return tuning_cases()[one.param].name; });

TEST(AutotuneAnswer, HasTheGainItsProofAndTheLineToPaste) {
  const std::string page = tuning_page(of_sample(sample_autotune()));
  EXPECT_THAT(page, StartsWith("Searched\n"));
  for (const char* part :
       {"10 tried (40 allowed): 5 worked (1 of them unstable), 1 did not build, 1 failed when run, "
        "1 cut at the time "
        "limit, ",
        "GPU time of kernels gemm, less is better, on gfx942", "\nBest\n  1.234 ms  BM=",
        "2x better than the default, 2.468 ms (95 % interval 1.96x to 2.04x)",
        "separated from the runner-up: 1.045x (1.03 to 1.061) better",
        "searching on would gain 0.1 % by what the model expects",
        "not known: the gain of the whole program",
        "  mkdir -p tuned && hipcc -DBM=32 -DBN=64 gemm.hip -o tuned/gemm && tuned/gemm --layout "
        "'row major'\n",
        "  rocm-perf profile -- tuned/gemm --layout 'row major'\n"})
    EXPECT_THAT(page, HasSubstr(part));
}

TEST(AutotuneAnswer, SaysWhatIsGainedOverACapturedLaunch) {
  AutotuneSample sample = sample_autotune_capture();
  const std::string page = tuning_page(of_sample(sample));
  EXPECT_THAT(page,
              AllOf(HasSubstr("  gemm(float const*, float const*, "
                              "float*) takes 1.357 ms as captured; the best one is 1.1x (1.08 "
                              "to 1.12) better\n"),
                    HasSubstr("its proof: It computes the same, bitwise."),
                    HasSubstr("mkdir -p tuned && hipcc -DBM=32 -DBN=64 gemm.hip -o"),
                    Not(HasSubstr("rocm-perf profile"))));
  sample.result.captured->winners = tune::Gain{.ratio = 0.9, .low = 0.88, .high = 0.92};
  EXPECT_THAT(tuning_page(of_sample(sample)),
              HasSubstr("no configuration is better, the best one is 0.9x (0.88 to 0.92)\n"));
}

TEST(AutotuneAnswer, SaysWhatLimitsCostAndWhatItLearnedFrom) {
  Json document = of_sample(sample_autotune_limits());
  EXPECT_THAT(tuning_page(document),
              AllOf(HasSubstr("\n  learned from gemm-mi210.json\n"),
                    HasSubstr("\n  power 380 W, limit at most 400 W; energy not known\n"
                              "  1 outside of the limits, the best of them 1.1 ms  BM=64 BN=32 "
                              "layout=col\n")));
  document["default"]["within_limits"] = false;
  EXPECT_THAT(tuning_page(document),
              AllOf(HasSubstr("\nBest within the limits; the default is not\n"),
                    HasSubstr("2x as good as the default, 2.468 ms, which is not within"),
                    Not(HasSubstr("for a proof"))));
  document["priors"][0]["weight"] = 0;
  EXPECT_THAT(tuning_page(document), HasSubstr("\n  gemm-mi210.json was not believed\n"));
}

TEST(AutotuneAnswer, SaysFirstThatNothingWorked) {
  const std::string page = tuning_page(of_sample(sample_autotune_failed()));
  EXPECT_THAT(page, StartsWith("Nothing is better: no configuration worked\n  2 failed when run\n"
                               "  the first, BM=16 BN=16 layout=row: printed nothing that the "
                               "pattern matches\n"));
  EXPECT_THAT(page, HasSubstr("2 tried (2 allowed): none worked, 2 failed when run"));
}

TEST(AutotuneAnswer, SaysATieAndWhatIsUnstable) {
  const std::string page = tuning_page(of_sample(sample_autotune_tie()));
  EXPECT_THAT(page, StartsWith("warning: the winner is unstable"));
  EXPECT_THAT(page, AllOf(HasSubstr("(unstable: cv 1.2 %)"),
                          HasSubstr("it cannot be told apart from 1 other configuration")));
}

// The figures decide: nothing else is changed.
TEST(AutotuneAnswer, SaysWhatIsNotProven) {
  Json document = of_sample(sample_autotune());
  document["best"]["gain"] = {{"ratio", 1.01}, {"low", 0.99}, {"high", 1.03}};
  const std::string page = tuning_page(document);
  EXPECT_THAT(page, AllOf(HasSubstr("\nBest (its gain is not proven)\n"),
                          HasSubstr("(95 % interval 0.99x to 1.03x)"),
                          HasSubstr("for a proof: measure again")));
  document["default"]["configuration"] = document["best"]["configuration"];
  EXPECT_THAT(tuning_page(document),
              AllOf(HasSubstr("\nBest: the default; nothing better was found\n"),
                    Not(HasSubstr("better than the default,")), Not(HasSubstr("for a proof"))));
  const std::string recorded = tuning_page(of_sample(sample_autotune_simulated()));
  EXPECT_THAT(recorded,
              AllOf(HasSubstr("\nBest (no interval proves its gain)\n"),
                    HasSubstr("1.6x better than the default, 4 ms\n"),
                    HasSubstr("the best of the recording is 1.25x better: 2 ms"),
                    HasSubstr("  rocm-perf autotune --simulate cache.json.gz --effort full "
                              "--budget 6\n")));
}

TEST(AutotuneAnswer, ShowsOfTheBestOnesWhatDiffers) {
  Json document = of_sample(sample_autotune());
  for (std::size_t i = 0; i < document["top"].size(); ++i)
    document["top"][i]["configuration"] = {{"BM", 16}, {"BN", 16 << i}, {"layout", "row"}};
  const std::string page = tuning_page(document);
  EXPECT_THAT(page, HasSubstr("  what differs between them\n"));
  EXPECT_THAT(page, HasSubstr("  1.913x (1.88 to 1.95)  BN=32\n"));
}

// Hundreds of parameters, and names that mean something in an excerpt.
TEST(AutotuneAnswer, IsOnePageWhateverTheSpace) {
  Json document = of_sample(sample_autotune());
  Json wide = {{"from", 1}, {"what", 2}};
  for (int i = 0; i < 400; ++i) wide[fmt::format("parameter_{}", i)] = std::string(400, 'x');
  document["best"]["configuration"] = document["default"]["configuration"] = wide;
  document["default"]["configuration"]["parameter_1"] = 2;
  for (Json& one : document["top"]) one["configuration"] = wide;
  document["environment"]["best_command"] = std::vector<std::string>(400, std::string(20, 'y'));
  const Json summary = summary_of(document);
  EXPECT_GT(figures_followed({{"autotune", document}}, summary), 10U);
  expect_short(summary);
  EXPECT_TRUE(summary["next"][0]["command"].is_null());
  EXPECT_THAT(summary["next"][0]["why"].get<std::string>(),
              HasSubstr("autotune.json#/environment/best_command has it"));
}

TEST(OptimizationAnswer, HasTheGainItsIntervalAndHowToApplyIt) {
  const std::string page = tuning_page(optimised());
  for (const char* part :
       {"row_sums of row_sums.hip for this machine's processor, proven and timed as a program; "
        "proposals by rules",
        "\nTried\n  2 candidates: 1 accepted, 1 refused (1 no_gain); ",
        "\nAccepted\n  candidate 1 is 3.915 times as fast as the original (99.38 % interval 3.805 "
        "to "
        "3.940); at least 1.02 was asked for\n",
        "it is optimization/candidates/001.hip, and optimization/accepted.diff is what it changes",
        "not known: no recording of the whole application was given; add --trace RUN.db",
        "  patch --forward --backup optimize/row_sums.hip optimization/accepted.diff\n",
        "  rocm-perf optimize --recheck optimization/optimization.json\n"})
    EXPECT_THAT(page, HasSubstr(part));
}

TEST(OptimizationAnswer, SaysOfWhatWasAppliedHowToUndoIt) {
  Json document = optimised();
  document["environment"]["original_kept"] = "optimize/row_sums.hip.orig";
  const std::string page = tuning_page(document);
  EXPECT_THAT(page, HasSubstr("  applied: optimize/row_sums.hip is the accepted source now, and "
                              "optimize/row_sums.hip.orig the original\n"));
  EXPECT_THAT(page, HasSubstr("  mv optimize/row_sums.hip.orig optimize/row_sums.hip\n"));
  EXPECT_THAT(page, Not(HasSubstr("patch")));
}

TEST(OptimizationAnswer, SaysFirstThatNothingIsAccepted) {
  const std::string page = tuning_page(nothing_accepted());
  EXPECT_THAT(page, StartsWith("Nothing is accepted\n  candidate 1 came nearest: 0.996 (0.981 to "
                               "1.008) times as fast as the original, and at least 1.02 was asked "
                               "for; 88.2 us before, 88.58 us after (command (metric), 7 samples"));
  EXPECT_THAT(page, AllOf(HasSubstr("other ideas: --proposer llm --model NAME"),
                          HasSubstr("  rocm-perf report optimization --html "
                                    "optimization/optimization.html\n"),
                          Not(HasSubstr("patch"))));
}

TEST(OptimizationAnswer, CountsCandidatesByReasonAndSaysWhatElseToTry) {
  Json document = many_candidates();
  const std::string page = tuning_page(document);
  EXPECT_THAT(page, HasSubstr("9 candidates: 9 refused (3 wrong_output, 1 no_gain, 1 slower, "));
  EXPECT_THAT(page, HasSubstr("1 candidate not decided: try again with another --out"));
  EXPECT_THAT(page, Not(HasSubstr("budget for rounding")));  // it has one
  for (Json& budget : document["workshop"]["tolerance"]) budget = nullptr;
  EXPECT_THAT(tuning_page(document), HasSubstr("a budget for rounding: --rtol and --atol"));
}

TEST(OptimizationAnswer, SaysWhatItIsWorthInTheWholeRun) {
  EXPECT_THAT(
      tuning_page(projected(true)),
      HasSubstr("the run takes 8.50 ms (8.40 ms to 8.60 ms) instead of 10 ms: 15.0 % less"));
  EXPECT_THAT(tuning_page(projected(false)),
              HasSubstr("nothing: row_sums is off the critical path of the run of 10 ms"));
}

}  // namespace
}  // namespace perflab::report
