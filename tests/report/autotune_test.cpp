// autotune.json and its text over searches made by hand: what every document owes, the figures of
// each part, and drawings that keep within the terminal.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "report/autotune_samples.h"
#include "report/document_checks.h"
#include "report/kit/document.h"
#include "report/kit/text_table.h"
#include "report/report_cases.h"
#include "report/tuning/autotune_chart.h"
#include "report/tuning/autotune_text.h"

namespace perflab::report {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Named {
  const char* name;
  AutotuneSample (*make)();
};

class AutotuneDocument : public testing::TestWithParam<Named> {
 protected:
  AutotuneSample sample_ = GetParam().make();
};

TEST_P(AutotuneDocument, OwesWhatEveryDocumentOwes) {
  const Json document = rendered_json("autotune", autotune_document(sample_.data()));
  const Json schema = schema_of("autotune");
  expect_schema_order(schema, schema, document, "autotune");
  expect_nulls_explained(document);
  expect_entries_are_true(document, "autotune: ");
  EXPECT_EQ(rendered("autotune", autotune_document(sample_.data())),
            rendered("autotune", autotune_document(sample_.data())));
}

TEST_P(AutotuneDocument, AddsUp) {
  const Json document = autotune_document(sample_.data());
  std::size_t outcomes = 0;
  for (const auto& [name, count] : document["outcomes"].items())
    if (name != "unstable") outcomes += count.get<std::size_t>();
  const Json& phases = document["phases"];
  EXPECT_EQ(outcomes, document["history"].size());
  EXPECT_EQ(phases["seed"]["evaluations"].get<std::size_t>() +
                phases["confirm"]["evaluations"].get<std::size_t>(),
            document["history"].size());
  EXPECT_LE(document["top"].size(), 5U);
}

TEST_P(AutotuneDocument, HoldsCommandsAndPathsOnlyUnderEnvironment) {
  Json document = autotune_document(sample_.data());
  const Json environment = document["environment"];
  document.erase("environment");
  const std::string rest = document.dump();
  for (const auto& [name, value] : environment.items())
    if (value.is_string() && name != "executor") {
      EXPECT_THAT(rest, Not(HasSubstr(value.get<std::string>()))) << name;
    }
  // What an interruption changes stands only there, too.
  for (tune::Step& step : sample_.result.steps) {
    step.from_journal = !step.from_journal;
    step.worker = "node7";
  }
  sample_.result.resumed = 99;
  sample_.result.journal_torn = !sample_.result.journal_torn;
  Json other = autotune_document(sample_.data());
  EXPECT_EQ(other["environment"]["resumed"], 99);
  other.erase("environment");
  EXPECT_EQ(other, document);
}

TEST_P(AutotuneDocument, TextKeepsWithinTheTerminal) {
  for (const std::size_t width : {60UL, 80UL, 100UL, 200UL}) {
    std::istringstream lines(autotune_text(sample_.data(), {.width = width}));
    bool commands = false;
    for (std::string line; std::getline(lines, line);) {
      commands = commands || line == "Next: use it";  // to be copied: never broken
      EXPECT_EQ(printable(line), line);
      if (!commands) {
        EXPECT_LE(display_width(line), width) << line;
      }
    }
    const AutotuneEnvironment& environment = sample_.rest.environment;
    EXPECT_EQ(commands, !environment.best_command.empty() || !environment.best_build.empty());
  }
  EXPECT_THAT(autotune_text(sample_.data(), {.colour = true}), HasSubstr("\033[1m"));
  EXPECT_THAT(autotune_text(sample_.data(), {}), Not(HasSubstr("\033")));
}

INSTANTIATE_TEST_SUITE_P(Samples, AutotuneDocument,
                         testing::Values(Named{"full", sample_autotune},
                                         Named{"limits", sample_autotune_limits},
                                         Named{"capture", sample_autotune_capture},
                                         Named{"tie", sample_autotune_tie},
                                         Named{"simulated", sample_autotune_simulated},
                                         Named{"failed", sample_autotune_failed}),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Autotune, DocumentHasTheFiguresOfTheSearch) {
  const AutotuneSample sample = sample_autotune();
  const Json document = autotune_document(sample.data());
  EXPECT_EQ(document["objective"]["kind"], "gpu_time");
  EXPECT_EQ(document["objective"]["kernel"], "gemm");
  EXPECT_EQ(document["space"]["product"], 18);
  EXPECT_EQ(document["space"]["listed"], 16);
  EXPECT_EQ(document["space"]["parameters"][2]["values"], Json({"row", "col"}));
  EXPECT_EQ(document["default"]["configuration"],
            Json({{"BM", 16}, {"BN", 16}, {"layout", "row"}}));
  EXPECT_EQ(document["best"]["value"], 1'234'000);
  EXPECT_EQ(document["best"]["unit"], "ns");
  EXPECT_EQ(document["best"]["gain"]["ratio"], 2);
  EXPECT_EQ(document["best"]["gain"]["low"], 1.96);
  EXPECT_EQ(document["phases"]["prune"]["by_restriction"],
            Json({{{"rule", "BM*BN <= 2048"}, {"combinations", 2.0}}}));
  EXPECT_EQ(document["phases"]["prune"]["by_device_limit"][0]["combinations"], 3);
  EXPECT_EQ(document["phases"]["prune"]["model_slow"], 2);
  EXPECT_EQ(document["phases"]["confirm"]["local_steps"], 1);
  EXPECT_EQ(document["phases"]["confirm"]["final"]["decision"], "separated");
  EXPECT_EQ(document["history"][2]["outcome"], "compile");
  EXPECT_EQ(document["history"][6]["outcome"], "correctness");
  EXPECT_EQ(document["history"][0]["compiled"][0]["occupancy"], 0.625);
  EXPECT_EQ(document["history"][9]["best_so_far"], 1'234'000);
  EXPECT_EQ(document["importance"][0]["parameter"], "BN");
  EXPECT_EQ(document["environment"]["workers"], Json({{{"name", "gpu 0"}, {"evaluations", 7}},
                                                      {{"name", "gpu 1"}, {"evaluations", 3}}}));
  EXPECT_EQ(document["simulation"], nullptr);
}

TEST(Autotune, DocumentOfARecordingHasItsOptimum) {
  const Json document = autotune_document(sample_autotune_simulated().data());
  EXPECT_EQ(document["objective"]["kind"], "recorded");
  EXPECT_EQ(document["simulation"]["optimum"], 2);
  EXPECT_EQ(document["simulation"]["best"], 2.5);
  EXPECT_EQ(document["simulation"]["ratio"], 1.25);
  EXPECT_EQ(document["default"]["declared"], false);
  AutotuneSample sample = sample_autotune_simulated();
  sample.result.objective.maximize = true;
  sample.result.simulation->best = 1;
  EXPECT_EQ(autotune_document(sample.data())["simulation"]["ratio"], 2);
  sample.result.simulation->optimum = -2;
  EXPECT_EQ(autotune_document(sample.data())["simulation"]["ratio"], nullptr);
}

TEST(Autotune, DocumentTakesCountsBeyondNumbers) {
  AutotuneSample sample = sample_autotune();
  sample.result.pruned.product = std::numeric_limits<double>::infinity();
  sample.result.pruned.removed[0].combinations = std::nan("");
  const Json document = rendered_json("autotune", autotune_document(sample.data()));
  EXPECT_EQ(document["space"]["product"], nullptr);
  expect_nulls_explained(document);
  expect_entries_are_true(document, "autotune: ");
}

TEST(Autotune, TextSaysHowTheWinnerStands) {
  const std::string separated = autotune_text(sample_autotune().data(), {});
  EXPECT_THAT(separated, HasSubstr("1.234 ms  BM="));
  EXPECT_THAT(separated, HasSubstr("2x (1.96 to 2.04) better than the default"));
  EXPECT_THAT(separated, HasSubstr("separated from the runner-up: 1.045x (1.03 to 1.061) better"));
  EXPECT_THAT(separated, HasSubstr("restriction: BM*BN <= 2048"));
  EXPECT_THAT(separated, HasSubstr("5 worked (1 of them unstable)"));
  EXPECT_THAT(separated, HasSubstr("  tuned/gemm --layout 'row major'\n"));
  const std::string tie = autotune_text(sample_autotune_tie().data(), {.width = 200});
  EXPECT_THAT(tie, HasSubstr("a tie: measured again in turns, it cannot be told apart from BM="));
  EXPECT_THAT(tie, HasSubstr("warning: the winner is unstable"));
  EXPECT_THAT(tie, HasSubstr("UNSTABLE"));
  EXPECT_THAT(tie, HasSubstr("4 of them were in the journal already"));
  const std::string failed = autotune_text(sample_autotune_failed().data(), {});
  EXPECT_THAT(failed, HasSubstr("none: no configuration worked"));
  EXPECT_THAT(failed, HasSubstr("printed nothing that the pattern matches"));
  EXPECT_THAT(failed, Not(HasSubstr("Next: use it")));
  EXPECT_THAT(autotune_text(sample_autotune_simulated().data(), {}),
              HasSubstr("of all that was recorded"));
}

TEST(Autotune, TextSaysWhatIsNotEstablished) {
  AutotuneSample sample = sample_autotune_tie();
  sample.result.finalists.front().over_default = tune::Gain{.ratio = 1.02, .low = 1, .high = 1.05};
  sample.result.tied.push_back(sample.result.default_id);
  const std::string tie = autotune_text(sample.data(), {.width = 200});
  EXPECT_THAT(tie, HasSubstr("1.02x (1 to 1.05) better than the default, not established\n"));
  EXPECT_THAT(tie, HasSubstr("layout=col; the default, BM=16 BN=16 layout=row"));
  EXPECT_THAT(autotune_text(sample_autotune().data(), {}), Not(HasSubstr("not established")));

  AutotuneSample recorded = sample_autotune_simulated();
  const char* why = "no interval: the recorded repeats have another median";
  EXPECT_THAT(autotune_text(recorded.data(), {}), Not(HasSubstr(why)));  // no samples
  EXPECT_THAT(autotune_text(recorded.data(), {}), HasSubstr("the first one: the space declares"));
  for (tune::Finalist& one : recorded.result.finalists) one.samples = 4;
  recorded.result.pruned.sampled = true;
  const std::string text = autotune_text(recorded.data(), {.width = 100});
  EXPECT_THAT(text, HasSubstr(why));
  EXPECT_THAT(text, HasSubstr("(one of the sample: the space declares none)"));
}

TEST(Autotune, TextOfHostileNamesCannotDriveTheTerminal) {
  AutotuneSample sample = sample_autotune();
  sample.rest.environment.best_command = {"\033[2J", "a\nb"};
  sample.result.objective.unit = "\033]0;x\a";
  sample.result.pruned.removed[0].rule = "\033[2J";
  const std::string text = autotune_text(sample.data(), {});
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(text, Not(HasSubstr("\a")));
}

TEST(Autotune, LiveLineHasGainInTheDirectionOfTheObjective) {
  tune::TuneProgress progress;
  progress.evaluated = 12;
  progress.budget = 200;
  tune::Objective objective;
  objective.unit = "ms";
  EXPECT_EQ(autotune_progress_text(progress, objective), "12/200 evaluated");
  progress.best = 1.25;
  progress.default_value = 2.5;
  progress.expected_gain = 0.03;
  EXPECT_EQ(
      autotune_progress_text(progress, objective),
      "12/200 evaluated, best 1.25 ms (2x better than the default), expected gain left 3.0 %");
  objective.maximize = true;
  objective.unit = "GFLOP/s";
  EXPECT_EQ(autotune_progress_text(progress, objective),
            "12/200 evaluated, best 1.25 GFLOP/s, expected gain left 3.0 %");
  progress.best = 2.501;  // "1x better" says nothing
  EXPECT_EQ(autotune_progress_text(progress, objective),
            "12/200 evaluated, best 2.501 GFLOP/s, expected gain left 3.0 %");
  progress.best = 5;
  progress.round = 3;
  progress.rounds = 20;
  EXPECT_EQ(autotune_progress_text(progress, objective),
            "12/200 evaluated, best 5 GFLOP/s (2x better than the default), comparing the best, "
            "round 3 of at most 20");
}

std::vector<ConvergencePoint> points_of(const std::vector<double>& values) {
  std::vector<ConvergencePoint> points;
  std::optional<double> best;
  for (const double value : values) {
    if (std::isnan(value)) {
      points.push_back({.value = {}, .best_so_far = best});
      continue;
    }
    best = std::min(best.value_or(value), value);
    points.push_back({.value = value, .best_so_far = best});
  }
  return points;
}

TEST(ConvergenceChart, PutsValuesWhereHandsPutThem) {
  const std::string chart = convergence_chart(points_of({9, std::nan(""), 5, 7, 1}), "GB/s", {});
  EXPECT_EQ(chart,
            "\nValues by evaluation (GB/s)\n"
            "         9 +*-------\n"
            "           |\n"
            "           |\n"
            "           |            .\n"
            "           |\n"
            "           |\n"
            "         5 +        *-------\n"
            "           |\n"
            "           |\n"
            "           |\n"
            "           |\n"
            "           |\n"
            "         1 +                *---\n"
            "           +----x---------------\n"
            "            1   2   3          5\n"
            "  * a new best   - the best so far   . another evaluation   x failed\n")
      << chart;
}

TEST(ConvergenceChart, IsSoundWhateverTheValues) {
  const double huge = 1.7e308;
  const std::vector<std::vector<double>> all = {
      {1, 1}, {0, 0, 0}, {-5, 5}, {huge, -huge, 0}, {1e-300, 1e300}, {5e-324, 1}, {0, 1000}};
  for (std::vector<double> values : all) {
    for (int i = 0; i < 300; ++i)
      values.push_back(values[static_cast<std::size_t>(i) % values.size()]);
    for (const std::size_t width : {1UL, 40UL, 100UL, 500UL}) {
      const std::string chart = convergence_chart(points_of(values), "ms", {.width = width});
      std::istringstream lines(chart);
      std::size_t count = 0;
      for (std::string line; std::getline(lines, line); ++count)
        EXPECT_LE(display_width(line), std::max<std::size_t>(width, 80)) << line;
      EXPECT_GE(count, 17U) << chart;
      EXPECT_THAT(chart, Not(HasSubstr("nan")));
      EXPECT_THAT(chart, HasSubstr("*"));
    }
  }
  EXPECT_EQ(convergence_chart({}, "ms", {}), "");
  EXPECT_EQ(convergence_chart(points_of({1}), "ms", {}), "");
  EXPECT_EQ(convergence_chart(points_of({std::nan(""), std::nan("")}), "ms", {}), "");
}

TEST(ConvergenceChart, IsLogarithmicFromAFactorOfTen) {
  EXPECT_THAT(convergence_chart(points_of({100, 1}), "ms", {}), HasSubstr("logarithmic"));
  EXPECT_THAT(convergence_chart(points_of({100, 1}), "ms", {}), HasSubstr("     10 ms +"));
  EXPECT_THAT(convergence_chart(points_of({9, 1}), "ms", {}), Not(HasSubstr("logarithmic")));
  EXPECT_THAT(convergence_chart(points_of({9, 0}), "ms", {}), Not(HasSubstr("logarithmic")));
}

TEST(ObjectiveText, HasUnitsThatSuit) {
  EXPECT_EQ(objective_text(1.2346, "ms"), "1.235 ms");
  EXPECT_EQ(objective_text(999.96, "us"), "1 ms");
  EXPECT_EQ(objective_text(7200, "s"), "7200 s");
  EXPECT_EQ(objective_text(0.00123, "s"), "1.23 ms");
  EXPECT_EQ(objective_text(812.51, "GFLOP/s"), "812.5 GFLOP/s");
  EXPECT_EQ(objective_text(3, ""), "3");
  EXPECT_EQ(objective_text(0.5, "ns"), "0.5 ns");
  EXPECT_EQ(objective_text(-2, "ms"), "-2 ms");
}

}  // namespace
}  // namespace perflab::report
