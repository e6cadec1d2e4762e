// rocm-perf autotune-app as a user runs it: recorded spaces and a small application in shell whose
// kernels' times depend on their configuration, with a recording of it; resumed from every journal
// that a kill can leave; what it refuses.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "cli/program.h"
#include "cli/started.h"
#include "support/api_rows.h"
#include "support/rocpd_writer.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A run of three kernels, 5 times: gemm for 50 us and softmax for 20 us behind it; beside them, in
/// a stream that ends earlier, scan for 30 us, where it is wanted.
void write_application_run(const fs::path& path, bool with_scan) {
  test::RocpdWriter writer(path);
  writer.agent(test::host_agent());
  const test::Id gpu = writer.agent(test::mi300x_agent());
  writer.queue();
  writer.queue();
  writer.stream();
  writer.stream();
  writer.code_object();
  const test::Id gemm = writer.kernel({.name = "_Z4gemmPf", .display_name = "gemm(float*)"});
  const test::Id softmax =
      writer.kernel({.name = "_Z7softmaxPf", .display_name = "softmax(float*)"});
  const test::Id scan = writer.kernel({.name = "_Z4scanPf", .display_name = "scan(float*)"});
  constexpr test::Handle kMain = 0x5500, kBeside = 0x5600;
  for (int i = 0; i < 5; ++i) {
    const auto at = [&](std::int64_t us) {
      return std::int64_t{5'000'000'000'000} + (100 * i + us) * 1000;
    };
    writer.launch(test::kernel_call(at(1), at(2), kMain),
                  {.kernel = gemm, .start = at(10), .end = at(60), .agent = gpu});
    writer.launch(test::kernel_call(at(2), at(3), kMain),
                  {.kernel = softmax, .start = at(61), .end = at(81), .agent = gpu});
    if (with_scan)
      writer.launch(
          test::kernel_call(at(3), at(4), kBeside),
          {.kernel = scan, .start = at(10), .end = at(40), .agent = gpu, .queue = 2, .stream = 1});
    writer.region(test::stream_synchronize(at(7), at(82), kMain));
    writer.region(test::stream_synchronize(at(83), at(84), kBeside));
  }
  const auto done = writer.close();
  ASSERT_TRUE(done.has_value()) << done.error().message;
}

/// Best at A = 3, B = 5, where it is 10.
constexpr int time_at(int a, int b) {
  return (a - 3) * (a - 3) * 10 + (b - 5) * (b - 5) + 10;
}

class AutotuneApp : public testing::Test {
 protected:
  void SetUp() override {
    write_application_run(folder_ / "run.db", true);
    std::string table = "A,B,time_ms\n";
    for (int a = 1; a <= 6; ++a)
      for (int b = 1; b <= 8; ++b) table += fmt::format("{},{},{}\n", a, b, time_at(a, b));
    write("in/table.csv", table);
    write("in/app.json", R"({"kernels": [
      {"name": "gemm", "simulate": "table.csv", "default": {"A": 1, "B": 1}},
      {"name": "softmax", "simulate": "table.csv", "default": {"A": 1, "B": 1}},
      {"name": "scan", "simulate": "table.csv", "default": {"A": 2, "B": 2}}]})");
  }
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string text(const std::string& name) { return test::text_of(folder_ / name); }
  Json json_file(const std::string& name) { return parse_json(text(name), name).value_or(Json()); }
  Outcome run(const Words& arguments) {
    return rocm_perf(folder_.path(), joined({"autotune-app"}, arguments));
  }
  Json json(const Words& arguments) {
    const Outcome outcome = run(joined(arguments, {"--json"}));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return document("autotune_app", outcome.out);
  }

  /// The journals as a kill leaves them: so many lines of each, and the beginning of one more.
  void leave(const std::vector<std::size_t>& lines, const std::vector<std::string>& journals) {
    fs::remove_all(folder_ / "killed");
    for (std::size_t i = 0; i < journals.size(); ++i) {
      std::string part;
      std::size_t left = lines[i];
      for (const std::string& line : text_lines(text("whole/" + journals[i] + ".journal.jsonl"))) {
        if (left == 0) {
          if (!part.empty()) part += line.substr(0, line.size() / 2);
          break;
        }
        --left;
        part += line + '\n';
      }
      if (!part.empty()) write("killed/" + journals[i] + ".journal.jsonl", part);
    }
  }
  /// All but paths, and warnings that a journal was torn.
  void expect_same(Json again, const Json& whole) {
    EXPECT_EQ(text("killed/configurations.json"), text("whole/configurations.json"));
    for (const char* apart : {"environment", "warnings"}) again.erase(apart);
    for (const auto& [key, value] : again.items()) EXPECT_EQ(value, whole[key]) << key;
  }

  test::TempFolder folder_;
  /// Five of eight seeds find the optimum of gemm with its part of these evaluations.
  const Words simulated_ = {"in/app.json", "--recording", "run.db", "--budget",
                            "60",          "--seed",      "3"};
};

TEST_F(AutotuneApp, GivesTheBudgetWhereTheRunGains) {
  const Json app = json(joined(simulated_, {"--out", "o"}));
  const Json& gemm = app["kernels"][0];
  const Json& softmax = app["kernels"][1];
  const Json& scan = app["kernels"][2];
  EXPECT_EQ(gemm["recorded"],
            (Json{{"dispatches", 5}, {"total_ns", 250'000}, {"path_ns", 250'000}}));
  EXPECT_EQ(gemm["worth"]["per_percent_ns"], 2500);
  EXPECT_EQ(softmax["worth"]["per_percent_ns"], 1000);
  EXPECT_EQ(scan["worth"]["per_percent_ns"], 0);
  EXPECT_EQ(gemm["best"]["value"], time_at(3, 5));
  EXPECT_EQ(gemm["default"]["value"], time_at(1, 1));
  EXPECT_DOUBLE_EQ(gemm["factor"], 10.0 / 66);
  EXPECT_GE(softmax["evaluations"], 7);
  EXPECT_EQ(app["evaluations"].get<int>(), gemm["evaluations"].get<int>() +
                                               softmax["evaluations"].get<int>() +
                                               scan["evaluations"].get<int>());
  EXPECT_LE(app["evaluations"], 60);
  // Both on the path a sixth of what they were: scan is on it then, with 30 us of each step.
  EXPECT_GT(scan["evaluations"], 0);
  EXPECT_LT(app["predicted"]["makespan_ns"], app["recorded_ns"]);
  EXPECT_LE(app["predicted"]["makespan_ns"], gemm["predicted"]["makespan_ns"]);
  EXPECT_EQ(app["recorded_ns"].get<int>() - gemm["predicted"]["makespan_ns"].get<int>(),
            gemm["predicted"]["gain_ns"].get<int>());
  EXPECT_EQ(app["no_application"], "the application file has no command");
  std::size_t given = 0;
  for (const Json& share : app["shares"]) given += share["evaluations"].get<std::size_t>();
  EXPECT_EQ(app["evaluations"], given);
  // The configuration file has what the document says, and nothing else.
  Json expected = Json::object(), defaults = Json::object();
  for (const Json& kernel : app["kernels"]) {
    expected[kernel["name"].get<std::string>()] = kernel["best"]["configuration"];
    defaults[kernel["name"].get<std::string>()] = kernel["default"]["configuration"];
  }
  EXPECT_EQ(text("o/configurations.json"), to_canonical_text(expected));
  EXPECT_EQ(text("o/default_configurations.json"), to_canonical_text(defaults));
  EXPECT_EQ(expected["gemm"], (Json{{"A", 3}, {"B", 5}}));
}

TEST_F(AutotuneApp, WhatIsWorthNothingKeepsItsDefault) {
  // gemm alone is on the path, whatever it takes: scan would have to be there.
  write("in/app.json", R"({"kernels": [
      {"name": "softmax", "simulate": "table.csv", "default": {"A": 1, "B": 1}},
      {"name": "scan", "simulate": "table.csv", "default": {"A": 2, "B": 2}}]})");
  const Json app = json(joined(simulated_, {"--out", "o"}));
  const Json& scan = app["kernels"][1];
  EXPECT_EQ(scan["evaluations"], 0);
  EXPECT_EQ(scan["why_none"], "it is worth nothing: the run would take as long without it");
  EXPECT_EQ(scan["best"], (Json{{"configuration", {{"A", 2}, {"B", 2}}}, {"value", nullptr}}));
  EXPECT_EQ(scan["predicted"], nullptr);
  EXPECT_EQ(json_file("o/configurations.json")["scan"], (Json{{"A", 2}, {"B", 2}}));
  EXPECT_FALSE(app["kernels"][0]["is_default"]);
}

TEST_F(AutotuneApp, WithoutARecordingTheSharesAreEqual) {
  const Json app = json({"in/app.json", "--budget", "30", "--out", "o", "--effort", "full"});
  EXPECT_EQ(app["options"]["split"], "equal");
  for (const Json& kernel : app["kernels"]) {
    EXPECT_EQ(kernel["evaluations"], 10);
    EXPECT_EQ(kernel["worth"], nullptr);
    EXPECT_EQ(kernel["recorded"], nullptr);
  }
  EXPECT_EQ(app["recorded_ns"], nullptr);
  EXPECT_EQ(app["predicted"], nullptr);
  EXPECT_EQ(app["no_prediction"], "there is no recording of the application");
}

TEST_F(AutotuneApp, SaysTheAnswerOnAPage) {
  const Outcome page = run(joined(simulated_, {"--out", "o"}));
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_LE(lines(page.out), 40);
  EXPECT_THAT(page.out, AllOf(HasSubstr("The application, as predicted"),
                              HasSubstr("not measured: the application file has no command"),
                              HasSubstr("predicted by the what-if: "),
                              HasSubstr("What each kernel is worth"), HasSubstr("gemm: A=3 B=5"),
                              HasSubstr("o/configurations.json has the values of every kernel")));
  const Outcome details = run(joined(simulated_, {"--out", "o", "--resume", "--details"}));
  EXPECT_THAT(details.out, AllOf(HasSubstr("How the budget was given"), HasSubstr("Configurations"),
                                 HasSubstr("gemm by default: A=1 B=1")));
  const Outcome brief = run(joined(simulated_, {"--out", "o", "--resume", "--json", "--brief"}));
  EXPECT_EQ(document("summary", brief.out)["parts"].size(), 3U);
}

/// The application: every kernel prints its own time; the whole takes what its file says.
class AutotuneAppLive : public AutotuneApp {
 protected:
  void SetUp() override {
    write_application_run(folder_ / "run.db", false);
    write("k.sh",
          "echo \"$1\" >> runs.log\n"
          "echo \"time: $((($2 - 3) * ($2 - 3) * 10 + ($3 - 5) * ($3 - 5) + 10))\"\n");
    // Numbers of the file in its order: A and B of gemm, then of softmax.
    write("app.sh",
          "echo app >> runs.log\nset -- $(tr -cd '0-9\\n' < \"$1\")\n"
          "echo \"total: $((100 + ($1 - 3) * ($1 - 3) * 10 + ($2 - 5) * ($2 - 5) + "
          "($3 - 3) * ($3 - 3) + ($4 - 5) * ($4 - 5)))\"\n");
    write("in/space.json",
          R"({"tune_params": {"A": [1, 3, 4], "B": [1, 5]}, "default": {"A": 1, "B": 1}})");
    write("in/live.json", R"json({"kernels": [
      {"name": "gemm", "space": "space.json", "command": "sh k.sh gemm {A} {B}",
       "metric_regex": "time: ([0-9]+)", "metric_unit": "us"},
      {"name": "softmax", "space": {"tune_params": {"A": [1, 3], "B": [4, 5]}},
       "default": {"A": 1, "B": 4}, "command": "sh k.sh softmax {A} {B}",
       "metric_regex": "time: ([0-9]+)"}],
      "command": "sh app.sh {config}", "metric_regex": "total: ([0-9]+)", "metric_unit": "us"})json");
  }
  const Words live_ = {"in/live.json", "--recording", "run.db", "--budget", "30", "--repeats", "1"};
};

TEST_F(AutotuneAppLive, ProvesItOnTheApplication) {
  const Outcome page = run(joined(live_, {"--out", "o"}));
  ASSERT_EQ(page.exit_code, 0) << page.err;
  const Json app = document("autotune_app", text("o/autotune_app.json"));
  const Json& proof = app["application"];
  EXPECT_EQ(proof["default_value"], 100 + 40 + 16 + 4 + 1);
  EXPECT_EQ(proof["value"], 100);
  EXPECT_EQ(proof["proven"], true);
  EXPECT_DOUBLE_EQ(proof["gain"]["ratio"], 1.61);
  EXPECT_EQ(proof["rounds"], 5);  // the fewest: they are all the same
  EXPECT_EQ(proof["objective"], (Json{{"kind", "metric"}, {"unit", "us"}, {"maximize", false}}));
  EXPECT_EQ(app["kernels"][0]["proven"], true);
  EXPECT_EQ(json_file("o/configurations.json"),
            (Json{{"gemm", {{"A", 3}, {"B", 5}}}, {"softmax", {{"A", 3}, {"B", 5}}}}));
  EXPECT_THAT(page.out,
              AllOf(HasSubstr("The application is faster"),
                    HasSubstr("measured in 5 turns: 161 us with the defaults, 100 us with what was "
                              "found, 1.610x as good")));
}

TEST_F(AutotuneAppLive, ClaimsNothingOfAnApplicationThatGainsNothing) {
  write("app.sh", "echo total: 100\n");
  const Outcome page = run(joined(live_, {"--out", "o"}));
  ASSERT_EQ(page.exit_code, 0) << page.err;
  const Json app = document("autotune_app", text("o/autotune_app.json"));
  EXPECT_EQ(app["application"]["proven"], false);
  EXPECT_EQ(app["application"]["gain"]["ratio"], 1.0);
  EXPECT_EQ(app["kernels"][0]["proven"], true);
  EXPECT_THAT(page.out, AllOf(HasSubstr("The application (its gain is not proven)"),
                              Not(HasSubstr("is faster"))));
}

TEST_F(AutotuneApp, GoesOnFromWhateverAKillLeaves) {
  const Json whole = json(joined(simulated_, {"--out", "killed"}));
  fs::rename(folder_ / "killed", folder_ / "whole");
  for (const std::vector<std::size_t>& lines :
       {std::vector<std::size_t>{4, 0, 0}, {9, 8, 0}, {12, 99, 2}, {99, 99, 99}}) {
    leave(lines, {"gemm", "softmax", "scan"});
    expect_same(json(joined(simulated_, {"--out", "killed", "--resume"})), whole);
  }
}

TEST_F(AutotuneAppLive, GoesOnFromWhateverAKillLeaves) {
  const Json whole = json(joined(live_, {"--out", "killed"}));
  fs::rename(folder_ / "killed", folder_ / "whole");
  const std::vector<std::string> journals = {"gemm", "softmax", "application"};
  leave({5, 3, 0}, journals);
  expect_same(json(joined(live_, {"--out", "killed", "--resume"})), whole);
  leave({999, 999, 999}, journals);
  fs::remove(folder_ / "runs.log");
  expect_same(json(joined(live_, {"--out", "killed", "--resume"})), whole);
  EXPECT_FALSE(fs::exists(folder_ / "runs.log"));  // all of it was known
}

TEST_F(AutotuneAppLive, SurvivesBeingKilled) {
  const Json whole = json(joined(live_, {"--out", "killed"}));
  fs::rename(folder_ / "killed", folder_ / "whole");
  const std::size_t runs = lines_of(folder_ / "runs.log").size();
  fs::remove(folder_ / "runs.log");
  const Words resumed = joined(live_, {"--out", "killed", "--resume"});
  test::Prng random(1);
  constexpr std::size_t kKills = 4;
  for (std::size_t kill = 0; kill < kKills; ++kill)
    kill_while_measuring(folder_.path(), joined({"autotune-app"}, resumed), "runs.log", random);
  expect_same(json(resumed), whole);
  // Only what was under way when a kill came was run again: two runs of one configuration or turn.
  EXPECT_LE(lines_of(folder_ / "runs.log").size(), runs + 2 * kKills);
}

TEST_F(AutotuneApp, MoreBudgetGoesOnWhereTheLastOneEnded) {
  Words less = simulated_;
  *std::ranges::find(less, "60") = "9";
  ASSERT_EQ(run(joined(less, {"--out", "o"})).exit_code, 0);
  const Outcome refused = run(joined(less, {"--out", "o"}));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("--resume"), HasSubstr("kernel gemm")));
  EXPECT_GT(json(joined(simulated_, {"--out", "o", "--resume"}))["evaluations"], 9);
}

TEST_F(AutotuneAppLive, SaysWhichKernelDoesNotWork) {
  write("k.sh", "exit 3\n");
  const Outcome outcome = run(joined(live_, {"--out", "o", "--json"}));
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  const Json app = document("autotune_app", outcome.out);
  EXPECT_EQ(app["no_application"], "no kernel has a better configuration than its default");
  EXPECT_EQ(app["predicted"]["gain_ns"], 0);
  EXPECT_EQ(app["kernels"][0]["failed"], app["kernels"][0]["evaluations"]);
  EXPECT_THAT(app["warnings"].dump(), HasSubstr("the prediction leaves it as recorded"));
}

TEST_F(AutotuneApp, RefusesWhatItCannotUse) {
  const auto refusal = [&](const Words& arguments) {
    const Outcome outcome = run(arguments);
    EXPECT_NE(outcome.exit_code, 0);
    return outcome.err;
  };
  EXPECT_THAT(refusal({"in/app.json", "--out", "o", "--split", "worth"}),
              HasSubstr("--split worth needs to know what the kernels are worth"));
  EXPECT_THAT(refusal({"in/app.json"}), HasSubstr("--out"));
  write("in/other.json", R"({"kernels": [{"name": "fft", "simulate": "table.csv"}]})");
  EXPECT_THAT(refusal({"in/other.json", "--recording", "run.db", "--out", "o"}),
              HasSubstr("'fft': no kernel of the recording has such a name"));
  write("in/other.json", R"({"kernels": [{"name": "all", "kernel": ".", "simulate": "table.csv"},
                                         {"name": "gemm", "simulate": "table.csv"}]})");
  EXPECT_THAT(refusal({"in/other.json", "--recording", "run.db", "--out", "o"}),
              HasSubstr("'.' and 'gemm' both match kernel gemm(float*)"));
  write(
      "in/other.json",
      R"({"kernels": [{"name": "gemm", "simulate": "table.csv", "default": {"A": 1, "B": 99}}]})");
  EXPECT_THAT(refusal({"in/other.json", "--out", "o"}),
              AllOf(HasSubstr("default: 99 is no value of B"), HasSubstr("kernel gemm")));
  write("in/other.json",
        R"({"kernels": [{"name": "gemm", "simulate": "table.csv", "default": {"A": 1}}]})");
  EXPECT_THAT(refusal({"in/other.json", "--out", "o"}), HasSubstr("default: it has no value of B"));
  write("in/other.json",
        R"({"kernels": [{"name": "gemm", "simulate": "table.csv", "default": {"C": 1}}]})");
  EXPECT_THAT(refusal({"in/other.json", "--out", "o"}),
              HasSubstr("default: the space has no parameter C"));
  write("in/other.json", R"({"kernels": [{"name": "gemm", "space": {"tune_params": {"A": [1, 2]}},
                                          "capture": "gemm.capture", "build": "true", "type": "f23"}]})");
  EXPECT_THAT(refusal({"in/other.json", "--out", "o"}),
              AllOf(HasSubstr("type: 'f23' is none of u8, i8"), HasSubstr("kernel gemm")));
  EXPECT_FALSE(fs::exists(folder_ / "o/configurations.json"));
}

}  // namespace
}  // namespace perflab::cli
