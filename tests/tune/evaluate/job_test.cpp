// Jobs on their way to a worker and back, and what a worker does with what it is given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder.h"
#include "tune/evaluate/executor.h"

namespace perflab::tune {
namespace {

using test::TempFolder;
using test::text_of;
using testing::HasSubstr;

/// A job in which no field has its default.
Job full_job() {
  Job job;
  job.id = 7;
  job.build = {"hipcc", "-DBM=64", "a b"};
  job.run = {"./k", "--text", "caf\xc3\xa9 \"quoted\"\n"};
  job.check = {"./check"};
  job.build_folder = "build/7";
  job.code_object = "build/7/k.hsaco";
  job.code_object_kernel = "gemm.*";
  job.architecture = "gfx942";
  job.objective = {.kind = ObjectiveKind::metric,
                   .metric_pattern = "time: ([0-9.]+)",
                   .kernel_pattern = "k",
                   .maximize = true,
                   .unit = "GB/s"};
  job.repeats = {.warm_up_runs = 2,
                 .fewest_samples = 4,
                 .most_runs = 12,
                 .steady_cv = 0.02,
                 .unstable_cv = 0.2};
  job.run_limit_seconds = 0.1;
  job.build_limit_seconds = 60;
  job.already_built = true;
  job.already_checked = true;
  job.exact_runs = 3;
  job.environment = {{"ROCR_VISIBLE_DEVICES", "1"}, {"EMPTY", ""}};
  return job;
}

TEST(JobJson, ComesBackWithEveryField) {
  const Job job = full_job();
  const Json json = to_json(job);
  const auto again = job_from_json(*parse_json(json.dump(), "text"), "the job");
  ASSERT_TRUE(again.has_value()) << describe(again.error());
  EXPECT_EQ(to_json(*again), json);
  EXPECT_EQ(again->id, 7U);
  EXPECT_EQ(again->build, job.build);
  EXPECT_EQ(again->run, job.run);
  EXPECT_EQ(again->check, job.check);
  EXPECT_EQ(again->build_folder, job.build_folder);
  EXPECT_EQ(again->code_object, job.code_object);
  EXPECT_EQ(again->environment, job.environment);
  EXPECT_EQ(again->objective.kind, ObjectiveKind::metric);
  EXPECT_EQ(again->objective.unit, "GB/s");
  EXPECT_TRUE(again->objective.maximize);
  EXPECT_EQ(again->repeats.most_runs, 12U);
  EXPECT_EQ(again->run_limit_seconds, 0.1);
  EXPECT_TRUE(again->already_built);
  EXPECT_TRUE(again->already_checked);
  EXPECT_EQ(again->exact_runs, 3U);

  const auto plain = job_from_json(to_json(Job{}), "the job");
  ASSERT_TRUE(plain.has_value()) << describe(plain.error());
  EXPECT_EQ(plain->run_limit_seconds, std::nullopt);
  EXPECT_EQ(to_json(*plain), to_json(Job{}));
}

TEST(JobJson, KeepsBytesThatAreNoText) {
  Job job;
  job.run = {"./k", "a\xff\x80z", ""};
  const auto again = job_from_json(*parse_json(to_canonical_text(to_json(job)), "text"), "the job");
  ASSERT_TRUE(again.has_value()) << describe(again.error());
  EXPECT_EQ(again->run, job.run);
}

TEST(JobJson, NamesTheFieldThatIsMissingOrWrong) {
  const Json good = to_json(full_job());
  for (const auto& [key, value] : good.items()) {
    Json without = good;
    without.erase(key);
    const auto missing = job_from_json(without, "the job");
    ASSERT_FALSE(missing.has_value()) << key;
    EXPECT_EQ(missing.error().code, ErrorCode::bad_input);
    EXPECT_EQ(missing.error().message, "the job: \"" + key + "\" is missing");
    Json wrong = good;
    wrong[key] = -1;
    const auto refused = job_from_json(wrong, "the job");
    ASSERT_FALSE(refused.has_value()) << key;
    EXPECT_THAT(refused.error().message, HasSubstr(key));
  }
  for (const char* place : {"objective", "repeats"})
    for (const auto& [key, value] : good[place].items()) {
      Json wrong = good;
      wrong[place][key] = Json::object();
      const auto refused = job_from_json(wrong, "the job");
      ASSERT_FALSE(refused.has_value()) << key;
      EXPECT_THAT(refused.error().message, HasSubstr(std::string(place) + ": \"" + key + "\""));
    }
  Json bytes = good;
  bytes["run"][0] = Json::array({65, 256});
  EXPECT_FALSE(job_from_json(bytes, "the job").has_value());
  EXPECT_FALSE(job_from_json(Json::array(), "the job").has_value());
}

Job printing(const std::string& script) {
  Job job;
  job.run = {"sh", "-c", script};
  job.objective.kind = ObjectiveKind::metric;
  job.objective.metric_pattern = "time: ([0-9.]+)";
  job.exact_runs = 1;
  job.run_limit_seconds = 300;
  return job;
}

TEST(Worker, AnswersWithTheEvaluationInOneLine) {
  const std::string answer = work_on(to_json(printing("echo time: 2.5")).dump(), {});
  EXPECT_EQ(answer.find('\n'), std::string::npos);
  const Json json = *parse_json(answer, "the answer");
  ASSERT_TRUE(json.contains("evaluation")) << answer;
  const auto evaluation = evaluation_from_json(json["evaluation"], "the answer");
  ASSERT_TRUE(evaluation.has_value()) << describe(evaluation.error());
  EXPECT_EQ(evaluation->outcome, Outcome::correct);
  EXPECT_EQ(evaluation->value, 2.5);
}

TEST(Worker, BuildsBeforeItRunsAndOnlyBuildsWhenAsked) {
  const TempFolder folder;
  Job job = printing("cat " + (folder / "made").string());
  job.build = {"sh", "-c", "echo time: 4 >> " + (folder / "made").string()};
  job.build_limit_seconds = 300;
  Json json = to_json(job);
  json["build_only"] = true;
  const Json built = *parse_json(work_on(json.dump(), {}), "the answer");
  ASSERT_TRUE(built.contains("built")) << built.dump();
  EXPECT_GT(built["built"]["build_seconds"].get<double>(), 0);
  EXPECT_EQ(text_of(folder / "made"), "time: 4\n");
  job.already_built = true;
  const Json run = *parse_json(work_on(to_json(job).dump(), {}), "the answer");
  EXPECT_EQ(run["evaluation"]["value"], 4.0) << run.dump();
  EXPECT_EQ(text_of(folder / "made"), "time: 4\n");
  job.already_built = false;
  job.build = {"sh", "-c", "exit 3"};
  for (const bool build_only : {false, true}) {
    json = to_json(job);
    json["build_only"] = build_only;
    const Json failed = *parse_json(work_on(json.dump(), {}), "the answer");
    EXPECT_EQ(failed["evaluation"]["outcome"], "compile") << failed.dump();
  }
}

TEST(Worker, SaysWhatIsWrongWithItsJob) {
  for (const char* input : {"", "{", "[]", "{\"id\": 3}"}) {
    const Json json = *parse_json(work_on(input, {}), "the answer");
    EXPECT_EQ(json["error"]["code"], "bad_input") << input;
    EXPECT_THAT(json["error"]["message"].get<std::string>(), HasSubstr("the job")) << input;
    EXPECT_TRUE(json["error"]["remedy"].is_string()) << input;
  }
}

TEST(Worker, WritesItsAnswerBesideTheJob) {
  const TempFolder folder;
  const std::string file =
      folder.write("1.json", to_json(printing("echo time: 9; echo noise >&2")).dump()).string();
  EXPECT_EQ(autotune_worker_main(std::vector{file}, {}), 0);
  EXPECT_EQ((*parse_json(text_of(file + ".done"), "the answer"))["evaluation"]["value"], 9.0);
  const std::string gpus = (folder / "gpus").string();
  EXPECT_EQ(autotune_worker_main(std::vector<std::string>{"--gpus", gpus}, {}), 0);
  EXPECT_TRUE((*parse_json(text_of(gpus + ".done"), "the answer"))["gpus"].is_array());
  EXPECT_NE(autotune_worker_main(std::vector{(folder / "none").string()}, {}), 0);
  EXPECT_NE(autotune_worker_main({}, {}), 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "none.done"));
}

}  // namespace
}  // namespace perflab::tune
