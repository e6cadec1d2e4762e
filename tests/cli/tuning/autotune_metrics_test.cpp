// rocm-perf autotune with further metrics and limits, as a user runs it.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "cli/program.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class AutotuneMetrics : public testing::Test {
 protected:
  void SetUp() override {
    write("space.json", R"({"tune_params": {"A": [1, 2, 3, 4, 5, 6], "B": [1, 2, 3, 4, 5, 6, 7]},)"
                        R"( "default": {"A": 1, "B": 1}})");
    // The larger A and B, the faster, and the more watts: 40 A + 10 B.
    write("k.sh",
          "echo \"$1 $2\" >> runs.log\n"
          "echo \"time: $((200 - 20 * $1 - 3 * $2))\"\n"
          "echo \"power: $((40 * $1 + 10 * $2)) W\" >&2\n");
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  Outcome run(const Words& arguments) {
    return rocm_perf(folder_.path(), joined({"autotune"}, arguments));
  }
  Json json(const Words& arguments) {
    const Outcome outcome = run(joined(arguments, {"--json"}));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return document("autotune", outcome.out);
  }
  static Json without_environment(Json document) {
    document.erase("environment");
    return document;
  }
  std::string runs() { return test::text_of(folder_ / "runs.log"); }

  test::TempFolder folder_;
  const Words live_ = {"--space",          "space.json",
                       "--cmd-template",   "sh k.sh {A} {B}",
                       "--metric-regex",   "time: ([0-9.]+)",
                       "--timeout-factor", "100000",
                       "--repeats",        "1",
                       "--effort",         "full",
                       "--metric",         "power:W=power: (\\d+)"};
  const Words limited_ = joined(live_, {"--limit", "power<=0.2kW"});
};

TEST_F(AutotuneMetrics, TheBestKeepsTheLimitAndThePageSaysWhatThatCosts) {
  const Json found = json(joined(limited_, {"--out", "o"}));
  EXPECT_EQ(found["best"]["configuration"], Json({{"A", 4}, {"B", 4}}));  // 200 W
  EXPECT_EQ(found["best"]["metrics"], Json({200}));
  EXPECT_EQ(found["metrics"][0]["name"], "power");
  EXPECT_EQ(found["metrics"][0]["source"], "printed");
  EXPECT_EQ(found["metrics"][0]["at_most"], 200);
  EXPECT_EQ(found["metrics"][0]["unit"], "W");
  EXPECT_EQ(found["limits"]["best_outside"]["configuration"], Json({{"A", 6}, {"B", 7}}));
  EXPECT_EQ(found["limits"]["best_outside"]["metrics"], Json({310}));
  std::size_t outside = 0;
  for (const Json& step : found["history"]) {
    EXPECT_EQ(step["within_limits"], step["metrics"][0].get<double>() <= 200) << step;
    outside += step["within_limits"].get<bool>() ? 0U : 1U;
  }
  EXPECT_EQ(found["limits"]["outside"], outside);
  for (const Json& one : found["top"]) EXPECT_LE(one["metrics"][0], 200);

  // All of it is in the journal: resumed, also with another limit, nothing is measured again.
  const std::string before = runs();
  EXPECT_EQ(without_environment(json(joined(limited_, {"--out", "o", "--resume"}))),
            without_environment(found));
  EXPECT_EQ(runs(), before);
  const Outcome page = run(joined(limited_, {"--out", "o", "--resume"}));
  EXPECT_THAT(page.out, AllOf(HasSubstr("power 200 W, limit at most 200 W"),
                              HasSubstr("outside of the limits, the best of them 59  A=6 B=7")));
  EXPECT_THAT(run(joined(limited_, {"--out", "o", "--resume", "--details", "best"})).out,
              AllOf(HasSubstr("power 200 W, at most 200 W"), HasSubstr("(power 310 W")));
  const Outcome other = run(joined(live_, {"--out", "o", "--resume", "--metric", "t=time: (.*)"}));
  EXPECT_EQ(other.exit_code, 3);

  // What it wrote can be searched within limits.
  for (const char* name : {"o/results.t4.json", "o/results.csv", "o/journal.jsonl"}) {
    const Json again = json(
        {"--simulate", name, "--effort", "full", "--limit", "power<=150", "--limit", "power>=120"});
    EXPECT_EQ(again["best"]["configuration"], Json({{"A", 3}, {"B", 3}})) << name;
    EXPECT_EQ(again["simulation"]["optimum"], 131) << name;
    EXPECT_EQ(again["metrics"][0]["source"], "recorded");
  }
}

TEST_F(AutotuneMetrics, WithoutLimitsTheyAreOnlyMeasured) {
  const Json found = json(live_);
  EXPECT_EQ(found["best"]["configuration"], Json({{"A", 6}, {"B", 7}}));
  EXPECT_EQ(found["best"]["metrics"], Json({310}));
  EXPECT_EQ(found["limits"], nullptr);
}

TEST_F(AutotuneMetrics, NothingWithinALimitIsNoSuccess) {
  const Outcome none = run(joined(live_, {"--limit", "power<=49"}));
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.out, HasSubstr("none that worked is within the limits"));
  const Outcome text =
      run(joined(live_, {"--limit", "power<=49", "--resume", "--details", "best"}));
  EXPECT_THAT(text.out, HasSubstr("none: no configuration that worked is within the limits"));
}

TEST_F(AutotuneMetrics, TwoObjectivesHaveAFront) {
  const Words both = joined(live_, {"--objective", "metric", "--objective", "power", "--limit",
                                    "power<=250", "--budget", "30"});
  const Json found = json(joined(both, {"--out", "o"}));
  const Json& front = found["front"];
  EXPECT_EQ(front["metric"], "power");
  ASSERT_EQ(front["hypervolume"].size(), found["history"].size());
  const auto dominates = [](const Json& a, double value, double power) {
    return a["value"] <= value && a["metric"] <= power &&
           (a["value"] < value || a["metric"] < power);
  };
  std::size_t on_it = 0;
  for (const Json& step : found["history"]) {
    const double value = step["value"], power = step["metrics"][0];
    const bool dominated = std::ranges::any_of(
        front["points"], [&](const Json& one) { return dominates(one, value, power); });
    const bool known = std::ranges::any_of(front["points"], [&](const Json& one) {
      return one["configuration"] == step["configuration"];
    });
    on_it += known ? 1U : 0U;
    if (step["within_limits"].get<bool>())
      EXPECT_NE(dominated, known) << step;
    else
      EXPECT_FALSE(known) << step;
  }
  EXPECT_EQ(on_it, front["points"].size());
  EXPECT_EQ(front["points"][0]["configuration"], found["best"]["configuration"]);
  const Outcome page = run(joined(both, {"--out", "o", "--resume"}));
  EXPECT_THAT(page.out, HasSubstr("The front: nothing is better in both"));
  EXPECT_THAT(run(joined(both, {"--out", "o", "--resume", "--details", "best"})).out,
              HasSubstr("of what lies between its best values and the reference"));
  EXPECT_THAT(run(joined(both, {"--out", "o", "--resume", "--json", "--brief"})).out,
              HasSubstr("of two objectives the model predicts neither alone"));
  EXPECT_EQ(without_environment(json(joined(both, {"--out", "o", "--resume"}))),
            without_environment(found));

  const Json again = json({"--simulate", "o/results.t4.json", "--objective", "time", "--objective",
                           "power", "--limit", "power<=250", "--effort", "full"});
  EXPECT_EQ(again["front"]["points"].size(), on_it);
  EXPECT_EQ(again["front"]["hypervolume"].back(), again["front"]["recorded"]["hypervolume"]);
  for (const Words& wrong :
       std::vector<Words>{{"power"}, {"time", "wall"}, {"time", "power", "b"}}) {
    Words words = live_;
    for (const std::string& word : wrong) words = joined(words, {"--objective", word});
    EXPECT_EQ(run(words).exit_code, 2) << wrong.front();
  }
}

TEST_F(AutotuneMetrics, WhatCannotBeIsRefusedInOneSentence) {
  const auto refused = [&](const Words& words, int code, const char* sentence) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, code) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(sentence));
  };
  refused(joined(live_, {"--limit", "watts<=3"}), 2, "there is no metric watts");
  refused(joined(live_, {"--limit", "power<3"}), 2, "it is not NAME<=NUMBER");
  refused(joined(live_, {"--limit", "power<=3J"}), 2, "it is in J, and the metric in W");
  refused(joined(live_, {"--metric", "power=x(.)"}), 2, "--metric power is there twice");
  refused(joined(live_, {"--metric", "x=no group"}), 2, "has no group that holds the number");
  refused(joined(limited_, {"--model", "polynomial"}), 2, "says nothing to the polynomial model");
  write("table.csv", "A,time,power\n1,5,300\n2,4,400\n");
  refused({"--simulate", "table.csv", "--limit", "watts<=3"}, 3, "it has power");
  refused({"--simulate", "table.csv", "--limit", "power<=3"}, 3,
          "no recorded configuration is within the limits");
  refused({"--simulate", "table.csv", "--metric", "a=(.)"}, 2,
          "with --simulate nothing is printed");
  EXPECT_EQ(json({"--simulate", "table.csv", "--limit", "power<=350W"})["best"]["value"], 5);
  // A machine without a GPU of AMD's, as far as sysfs says.
  fs::create_directories(folder_ / "sys");
  const test::ScopedVariable tree("PERFLAB_SYSFS", (folder_ / "sys").string());
  refused(joined(live_, {"--limit", "energy<=3J"}), 4, "no sensor gives the energy here");
}

}  // namespace
}  // namespace perflab::cli
