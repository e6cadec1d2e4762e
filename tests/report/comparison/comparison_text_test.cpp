// What the views of a comparison say: the gate's sentence, the confidence in the titles, what JUnit
// skips, shares that are not known.
#include "report/comparison/comparison_text.h"

#include <gmock/gmock.h>

#include <map>

#include "report/comparison/comparison_document.h"
#include "report/comparison/comparison_junit.h"
#include "report/comparison/comparison_markdown.h"
#include "report/kit/document.h"
#include "report/kit/text_parts.h"

namespace perflab::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A side of kernels of which each has these samples; `kind` says what a sample is.
compare::SampleSide compared_side(const std::map<std::string, std::vector<double>>& kernels,
                                  compare::SampleKind kind = compare::SampleKind::dispatch) {
  compare::SampleSide side;
  side.files = {"x"};
  side.kind = "rocpd";
  side.unit = "ns";
  side.larger_is_better = false;
  side.samples_are = kind;
  side.runs = 1;
  for (const auto& [name, samples] : kernels)
    side.series.push_back({.name = name, .samples = samples, .run_sums = {}});
  return side;
}

const std::vector<double> kSteady = {100, 101, 99, 100, 102, 98, 100, 101};
const std::vector<double> kSlow = {120, 121, 119, 120, 122, 118, 120, 121};
const std::vector<double> kFew = {100, 101};

/// What compare_sides() finds, with the options it had.
struct Compared {
  compare::CompareOptions options;
  compare::ComparisonResult result;
};

Compared compared(const std::map<std::string, std::vector<double>>& a,
                  const std::map<std::string, std::vector<double>>& b,
                  compare::CompareOptions options = {}) {
  auto result = compare::compare_sides(compared_side(a), compared_side(b), options);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return {.options = std::move(options), .result = std::move(*result)};
}

TEST(ComparisonText, TheGateNeverSaysPassOfWhatItCouldNotDecide) {
  const auto sentence = [](const Compared& one) { return gate_sentence(one.result, one.options); };
  const std::map<std::string, std::vector<double>> steady{{"k", kSteady}}, few{{"k", kFew}},
      mixed{{"k", kSteady}, {"l", kFew}};
  EXPECT_EQ(sentence(compared(steady, steady)),
            "pass: 1 comparison decided, and no median is slower by more than 2.0 %");
  EXPECT_EQ(sentence(compared(few, few)), "no regression shown: the only comparison is undecided");
  EXPECT_EQ(sentence(compared(mixed, mixed)),
            "no regression shown: 1 of 2 comparisons is undecided");
  EXPECT_EQ(sentence(compared(mixed, mixed, {.fail_undecided = true})),
            "no regression shown: 1 of 2 comparisons is undecided; the gate fails for that "
            "(--fail-undecided)");
  EXPECT_EQ(sentence(compared(mixed, mixed, {.min_share = 1})),
            "no regression shown: nothing was tested, since no kernel takes the share of time that "
            "--min-share asks for");
  EXPECT_EQ(sentence(compared(mixed, {{"k", kSlow}, {"l", kFew}})),
            "regression: 1 of 2 comparisons slower by more than 2.0 %; 1 undecided");
  const Compared nothing = compared(few, few);
  for (const std::string& text : {comparison_text(nothing.result, nothing.options, {}),
                                  comparison_markdown(nothing.result, nothing.options),
                                  comparison_junit(nothing.result, nothing.options)})
    EXPECT_THAT(text, AllOf(HasSubstr("no regression shown"), Not(HasSubstr("pass")))) << text;
}

TEST(ComparisonText, TitlesNameTheConfidenceOfTheIntervals) {
  EXPECT_EQ(interval_title(0.95), "95 % interval");
  EXPECT_EQ(interval_title(1 - 0.05 / 3), "98.3 % interval");
  EXPECT_EQ(interval_title(0.995), "99.5 % interval");
  EXPECT_EQ(interval_title(1 - 0.05 / 1000), "99.995 % interval");
  EXPECT_EQ(interval_title(0.9), "90 % interval");
  EXPECT_EQ(interval_title(0.5), "50 % interval");
  const std::map<std::string, std::vector<double>> mixed{{"k", kSteady}, {"l", kFew}};
  const Compared found = compared(mixed, mixed);
  EXPECT_THAT(comparison_text(found.result, found.options, {.width = 120}),
              AllOf(HasSubstr("97.5 % interval"), HasSubstr("samples to decide")));
  EXPECT_THAT(comparison_text(found.result, found.options, {.width = 105}),
              HasSubstr("samples  to decide"));
  EXPECT_THAT(comparison_markdown(found.result, found.options),
              HasSubstr("| B / A | 97.5 % interval | samples |"));
  EXPECT_THAT(comparison_junit(found.result, found.options), HasSubstr("B / A, 97.5 % interval: "));
}

TEST(ComparisonText, JUnitSkipsWhatIsUndecidedAndWhatCannotFail) {
  const std::map<std::string, std::vector<double>> a{{"k", kSteady}, {"l", kFew}, {"tiny", {1}}},
      b{{"k", kSteady}, {"l", kFew}, {"tiny", {2}}};
  const Compared found = compared(a, b, {.min_share = 0.05});
  EXPECT_THAT(comparison_junit(found.result, found.options),
              AllOf(HasSubstr("tests=\"3\" failures=\"0\" errors=\"0\" skipped=\"2\""),
                    HasSubstr("<skipped message=\"UNDECIDED: "),
                    HasSubstr("(below --min-share: it cannot fail)\"/>")));
  const Compared fails = compared(a, b, {.min_share = 0.05, .fail_undecided = true});
  EXPECT_THAT(comparison_junit(fails.result, fails.options),
              AllOf(HasSubstr("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""),
                    HasSubstr("<failure type=\"undecided\"")));
}

TEST(ComparisonText, AShareThatIsNotKnownIsADashAndNull) {
  EXPECT_EQ(share_text(0.125), "12.5 %");
  EXPECT_EQ(share_text(std::nullopt), kDash);
  // No times: samples add up to nothing.
  const std::map<std::string, std::vector<double>> zeros{{"k", {0, 0, 0}}, {"old", {0}}},
      times{{"k", kSteady}};
  const Compared found = compared(zeros, times);
  const Json document = comparison_document(found.result, found.options);
  EXPECT_TRUE(render("comparison", document));
  EXPECT_TRUE(document["kernels"][0]["share_a"].is_null());
  EXPECT_EQ(document["kernels"][0]["share_b"], 1.0);
  EXPECT_TRUE(document["only_in_a"][0]["share"].is_null());
  EXPECT_THAT(document["missing"].dump(),
              AllOf(HasSubstr("kernels[0].share_a"), HasSubstr("only_in_a[0].share"),
                    HasSubstr("the sum of all samples is 0 or too large")));
  EXPECT_THAT(comparison_text(found.result, found.options, {}), HasSubstr("old"));
  for (const std::string& text : {comparison_markdown(found.result, found.options),
                                  comparison_junit(found.result, found.options)})
    EXPECT_THAT(text, AllOf(HasSubstr("old"), Not(HasSubstr("of its time")))) << text;
}

}  // namespace
}  // namespace perflab::report
