// The self test without a GPU: the runner on commands of our own, the table of cases against the
// schemas, and every program through the compiler.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/system/files.h"
#include "base/temp_folder.h"
#include "code/tools/compiler.h"
#include "code/tools/hip_command.h"
#include "doctor/self_test/build_programs.h"
#include "doctor/self_test/run_case.h"
#include "doctor/self_test/self_test.h"
#include "doctor/self_test/self_test_text.h"
#include "report/kit/document.h"
#include "report/kit/text_table.h"

namespace perflab::doctor {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

TestStep shell(const std::string& words) {
  return {.name = "shell", .words = {"sh", "-c", words}};
}

TestCase one_step(TestStep step) {
  return {.id = "case", .group = "launch", .shows = "something", .steps = {std::move(step)}};
}

class SelfTestRunner : public ::testing::Test {
 protected:
  CaseRun run(const TestCase& test, AddressMode mode = AddressMode::usual) {
    kept_ = test;
    bench_.folder = folder_ / "cases";
    Result<CaseRun> run = run_case(kept_, mode, bench_);
    EXPECT_TRUE(run) << (run ? "" : run.error().message);
    return run ? *run : CaseRun{};
  }
  test::TempFolder folder_;
  TestCase kept_;
  Bench bench_;
};

TEST_F(SelfTestRunner, HoldsWhenEveryStepEndsAsItHasTo) {
  TestStep document = shell("echo '{\"a\": {\"b\": [1, {\"c\": 2, \"d\": 3}]}}'; exit 3");
  document.exits = {0, 3};
  document.document = "isolate";
  document.checks = {{"/a/b/0", Relation::equal, 1},
                     {"/a/b", Relation::contains, {{"c", 2}}},
                     {"/a/b", Relation::lacks, {{"c", 3}}},
                     {"/a/b/1/d", Relation::at_least, 3},
                     {"/a", Relation::differs, nullptr}};
  TestCase test = one_step(shell("true"));
  test.steps.push_back(document);
  const CaseRun held = run(test);
  EXPECT_EQ(held.outcome, TestOutcome::held) << held.sentence;
  EXPECT_FALSE(held.reason);
  ASSERT_EQ(held.steps.size(), 2U);
  EXPECT_EQ(held.steps[1].exit_code, 3);
}

TEST_F(SelfTestRunner, FailsWithTheFieldThatIsWrong) {
  TestStep step = shell("echo '{\"captured\": false}'");
  step.document = "isolate";
  step.checks = {{"/captured", Relation::equal, true}, {"/gone", Relation::differs, nullptr}};
  const CaseRun failed = run(one_step(step));
  EXPECT_EQ(failed.outcome, TestOutcome::failed);
  EXPECT_EQ(failed.reason, TestReason::wrong_document);
  ASSERT_EQ(failed.steps[0].unmet.size(), 2U);
  EXPECT_EQ(failed.steps[0].unmet[0].found, "false");
  EXPECT_EQ(failed.steps[0].unmet[1].found, "nothing");
}

TEST_F(SelfTestRunner, EndsAtTheFirstStepThatFails) {
  TestCase test = one_step(shell("echo 'no such device' >&2; exit 4"));
  test.steps.push_back(shell("true"));
  const CaseRun failed = run(test);
  EXPECT_EQ(failed.reason, TestReason::wrong_end);
  EXPECT_THAT(failed.sentence, HasSubstr("no such device"));
  EXPECT_EQ(failed.steps.size(), 1U);
  TestStep silent = shell("echo nothing of the kind");
  silent.document = "isolate";
  EXPECT_EQ(run(one_step(silent)).reason, TestReason::no_document);
  TestStep absent = shell("");
  absent.words = {"/nowhere/rocm-perf"};
  EXPECT_EQ(run(one_step(absent)).reason, TestReason::cannot_start);
}

TEST_F(SelfTestRunner, SkipsWhatFailsWithoutRocmPerfToo) {
  TestStep step = shell("echo 'skip: there is one GPU'; exit 77");
  step.alone = true;
  const CaseRun lacking = run(one_step(step));
  EXPECT_EQ(lacking.outcome, TestOutcome::skipped);
  EXPECT_EQ(lacking.reason, TestReason::not_here);
  EXPECT_EQ(lacking.sentence, "there is one GPU");
  step.words.back() = "echo 'wrong result'; kill -SEGV $$";
  const CaseRun broken = run(one_step(step));
  EXPECT_EQ(broken.reason, TestReason::fails_alone);
  EXPECT_THAT(broken.sentence, HasSubstr("wrong result"));
  EXPECT_EQ(broken.steps[0].signal, SIGSEGV);
}

TEST_F(SelfTestRunner, SkipsWhatTheTimesDoNotDecide) {
  TestStep step = shell("echo '{\"verdict\": \"UNDECIDED\"}'; exit 1");
  step.document = "comparison";
  step.checks = {{"/verdict", Relation::equal, "FASTER"}};
  step.undecided = {{"/verdict", Relation::equal, "UNDECIDED"}};
  const CaseRun undecided = run(one_step(step));
  EXPECT_EQ(undecided.outcome, TestOutcome::skipped);
  EXPECT_EQ(undecided.reason, TestReason::undecided);
}

TEST_F(SelfTestRunner, TellsTheLimitOfACaseFromTheBudgetOfAll) {
  TestCase test = one_step(shell("sleep 30"));
  test.limit = std::chrono::seconds{1};
  const CaseRun slow = run(test);
  EXPECT_EQ(slow.outcome, TestOutcome::failed);
  EXPECT_EQ(slow.reason, TestReason::timed_out);
  bench_.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds{200};
  test.limit = std::chrono::seconds{60};
  EXPECT_EQ(run(test).reason, TestReason::time_budget);
  const CaseRun late = run(test);
  EXPECT_EQ(late.outcome, TestOutcome::skipped);
  EXPECT_EQ(late.reason, TestReason::time_budget);
  EXPECT_TRUE(late.steps.empty());
}

TEST_F(SelfTestRunner, SkipsWhatLacksAPartOrAProgram) {
  TestCase test = one_step(shell("true"));
  test.needs = {Need::profiler};
  bench_.parts = {{.need = Need::profiler, .title = "rocprofv3", .problem = "it is not there"}};
  bench_.parts[0].remedy = "install it";
  const CaseRun lacking = run(test);
  EXPECT_EQ(lacking.reason, TestReason::part_missing);
  EXPECT_EQ(lacking.sentence, "rocprofv3: it is not there");
  EXPECT_EQ(lacking.remedy, "install it");
  bench_.parts[0].state = State::works;
  bench_.unbuilt["bin:memory"] = "memory.hip:3: error: no";
  test.steps[0].words.push_back("<bin:memory>");
  EXPECT_EQ(run(test).reason, TestReason::does_not_compile);
}

TEST_F(SelfTestRunner, ChoosesTheAddressModeByTheEnvironment) {
  const auto mode_seen = [this](AddressMode mode) {
    TestStep step = shell("echo \"{\\\"mode\\\": \\\"$HSA_RESERVE_SVM\\\"}\"");
    step.output = "<dir>/mode.json";
    run(one_step(step), mode);
    const fs::path name = mode == AddressMode::usual ? "case" : "case.reserved";
    return parse_json(read_file(folder_ / "cases" / name / "mode.json").value_or(""), "it")
        .value_or(Json())["mode"];
  };
  ASSERT_EQ(::setenv("HSA_RESERVE_SVM", "1", 1), 0);
  EXPECT_EQ(mode_seen(AddressMode::usual), "");
  ASSERT_EQ(::unsetenv("HSA_RESERVE_SVM"), 0);
  EXPECT_EQ(mode_seen(AddressMode::reserved), "1");
}

TEST(SelfTestPlaces, ArePutInAndNothingElseIs) {
  const std::map<std::string, std::string> places{{"dir", "/tmp/x"}, {"bin:a", "/bin/a"}};
  EXPECT_EQ(with_places("<dir>/<bin:a> <other> a<b, 4> {source}", places),
            "/tmp/x//bin/a <other> a<b, 4> {source}");
  EXPECT_EQ(with_places("<<dir>", places), "</tmp/x");
  EXPECT_EQ(with_places("scaled<float", places), "scaled<float");
}

// --- the table ------------------------------------------------------------------------------

/// Subschemas that a value may satisfy: behind $ref and anyOf.
std::vector<Json> alternatives(const Json& root, const Json& schema) {
  if (schema.contains("$ref"))
    return alternatives(root,
                        root.at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1))));
  if (!schema.contains("anyOf")) return {schema};
  std::vector<Json> all;
  for (const Json& one : schema["anyOf"])
    for (Json& each : alternatives(root, one)) all.push_back(std::move(each));
  return all;
}

/// What the schema says of the field of a JSON pointer; empty: there is no such field.
std::vector<Json> field_schemas(const Json& root, const std::string& pointer) {
  std::vector<Json> at = alternatives(root, root);
  for (std::size_t begin = 1; begin < pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', begin), pointer.size());
    const std::string name = pointer.substr(begin, end - begin);
    std::vector<Json> next;
    for (const Json& schema : at) {
      const bool index = name.find_first_not_of("0123456789") == std::string::npos;
      if (index && schema.contains("items"))
        for (Json& one : alternatives(root, schema["items"])) next.push_back(std::move(one));
      if (!index && schema.contains("properties") && schema["properties"].contains(name))
        for (Json& one : alternatives(root, schema["properties"][name]))
          next.push_back(std::move(one));
    }
    at = std::move(next);
    begin = end + 1;
  }
  return at;
}

/// Whether the schema lets the field be that: a text has to be one of those listed.
bool possible(const std::vector<Json>& schemas, const Json& value) {
  return std::ranges::any_of(schemas, [&](const Json& schema) {
    if (schema.contains("enum"))
      return std::ranges::find(schema["enum"], value) != schema["enum"].end();
    return true;
  });
}

void check_field(const Json& root, const FieldCheck& check, const std::string& where) {
  const std::vector<Json> schemas = field_schemas(root, check.field);
  ASSERT_FALSE(schemas.empty()) << where << ": no field " << check.field;
  if (check.relation == Relation::equal) {
    EXPECT_TRUE(possible(schemas, check.value)) << where << ": " << check.field;
  } else if (check.relation == Relation::contains || check.relation == Relation::lacks) {
    for (const auto& [member, value] : check.value.items()) {
      EXPECT_TRUE(possible(field_schemas(root, check.field + "/0/" + member), value))
          << where << ": " << check.field << " " << member << ": " << value;
    }
  }
}

TEST(SelfTestCases, AskForFieldsThatTheDocumentsHave) {
  for (const TestCase& test : test_cases())
    for (const TestStep& step : test.steps) {
      const std::string where = test.id + ", " + step.name;
      if (step.document.empty()) {
        EXPECT_TRUE(step.checks.empty() && step.undecided.empty()) << where;
        continue;
      }
      const auto text = report::schema_text(step.document);
      ASSERT_TRUE(text) << where;
      const Json root = parse_json(*text, step.document).value_or(Json());
      for (const FieldCheck& check : step.checks) check_field(root, check, where);
      for (const FieldCheck& check : step.undecided) check_field(root, check, where);
    }
}

TEST(SelfTestCases, HaveNamesOfTheirOwnAndKnownPlaces) {
  std::set<std::string> places{"<rocm-perf>", "<rocprofv3>", "<dir>",         "<src>",
                               "<arch>",      "<compiler>",  "<hip-compile>", "<search-time>"};
  for (const TestProgram& program : test_programs()) places.insert("<bin:" + program.id + ">");
  std::set<std::string> ids, used;
  for (const TestCase& test : test_cases()) {
    EXPECT_TRUE(ids.insert(test.id).second) << test.id;
    EXPECT_LE(report::display_width(test.shows), 64U) << test.shows;
    std::set<std::string> names;
    for (const TestStep& step : test.steps) {
      EXPECT_TRUE(names.insert(step.name).second) << test.id << ": " << step.name;
      for (const std::string& word : step.words)
        for (std::size_t at = word.find('<'); at != std::string::npos; at = word.find('<', at + 1))
          if (const std::size_t end = word.find('>', at); end != std::string::npos) {
            used.insert(word.substr(at, end - at + 1));
            EXPECT_TRUE(places.contains(word.substr(at, end - at + 1))) << test.id << ": " << word;
          }
    }
  }
  for (const std::string& place : places) EXPECT_TRUE(used.contains(place)) << place;
}

// --- what comes out -------------------------------------------------------------------------

SelfTest finished() {
  SelfTest test;
  test.cases = test_cases();
  test.architecture = "gfx942";
  test.gpus = {{.node = 1, .processor = "gfx942", .product = "AMD Instinct MI300X"}};
  test.parts = {{.need = Need::runtime, .state = State::works, .version = "1.21"}};
  for (const TestCase& one : test.cases) test.runs.push_back({.test = &one});
  return test;
}

TEST(SelfTestResult, HasTheExitCodeOfTheWorst) {
  SelfTest test = finished();
  EXPECT_EQ(test.exit_code(), 0);
  test.runs[1].outcome = TestOutcome::skipped;
  EXPECT_EQ(test.exit_code(), 0);
  test.runs[2].outcome = TestOutcome::failed;
  EXPECT_EQ(test.exit_code(), 1);
  test.runs.resize(2);
  test.runs.erase(test.runs.begin());
  EXPECT_EQ(test.exit_code(), 4);
}

TEST(SelfTestResult, IsADocumentAndATableOf100Columns) {
  SelfTest test = finished();
  test.runs[0].steps = {{.name = "isolate",
                         .command = {"rocm-perf", "isolate"},
                         .exit_code = 0,
                         .signal = {},
                         .seconds = 1.25,
                         .unmet = {{{"/captured", Relation::equal, true}, "false"}}}};
  test.runs[0].outcome = TestOutcome::failed;
  test.runs[0].reason = TestReason::wrong_document;
  test.runs[0].sentence =
      "isolate: /captured is false, not equal true, and " + std::string(90, 'x');
  for (const std::size_t index : {3U, 4U}) {
    test.runs[index].outcome = TestOutcome::skipped;
    test.runs[index].reason = TestReason::part_missing;
    test.runs[index].sentence = "libclang: there is none";
    test.runs[index].remedy = "install it";
  }
  const Json document = self_test_document(test);
  const auto valid = report::validate("self_test", document);
  EXPECT_TRUE(valid) << (valid ? "" : valid.error().message);
  EXPECT_EQ(document["verdict"], "failed");
  EXPECT_EQ(document["counts"]["skipped"], 2);
  const std::string text = self_test_text(test, {.width = 100});
  EXPECT_THAT(text, HasSubstr("FAILS"));
  EXPECT_THAT(text, HasSubstr(test.cases[3].id + ", " + test.cases[4].id));
  EXPECT_THAT(text, HasSubstr("libclang: there is none (install it)"));
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(report::display_width(text.substr(at, end - at)), 100U) << text.substr(at, end - at);
    at = end + 1;
  }
}

TEST(SelfTestResult, SaysWhyNothingCouldRun) {
  SelfTest test;
  test.obstacle = {.reason = TestReason::no_device,
                   .sentence = "HSA runtime: it lists no GPU",
                   .remedy = "see to the driver"};
  EXPECT_EQ(test.exit_code(), 4);
  const Json document = self_test_document(test);
  EXPECT_TRUE(report::validate("self_test", document));
  EXPECT_EQ(document["verdict"], "nothing_ran");
  EXPECT_EQ(document["obstacle"]["reason"], "no_device");
  EXPECT_THAT(self_test_text(test, {}), HasSubstr("it lists no GPU"));
}

// --- programs -------------------------------------------------------------------------------

TEST(SelfTestPrograms, CompileForGfx942) {
  const auto compiler = code::find_compiler("gfx942");
  if (!compiler || !compiler->knows("gfx942") || !compiler->rocm_path)
    GTEST_SKIP() << "no compiler for gfx942 with HIP headers";
  const test::TempFolder folder;
  const auto command = code::hip_compile_command(*compiler, "gfx942", folder.path());
  ASSERT_TRUE(command) << command.error().message;
  const auto builds = build_programs(*command, test_programs(), folder.path());
  ASSERT_TRUE(builds) << builds.error().message;
  for (const ProgramBuild& build : *builds) {
    EXPECT_EQ(build.complaint, "") << build.id;
    EXPECT_TRUE(fs::is_regular_file(build.file)) << build.id;
  }
}

TEST(SelfTestPrograms, ThatDoNotCompileSaySo) {
  const test::TempFolder folder;
  const auto builds = build_programs(
      {"sh", "-c", "echo 'In file x:\ny.hip:3: error: no such kernel\n1 error' >&2; exit 1"},
      {{.id = "polish", .sources = {"polish.hip"}, .arguments = {}}}, folder.path());
  ASSERT_TRUE(builds) << builds.error().message;
  EXPECT_EQ(builds->at(0).complaint, "y.hip:3: error: no such kernel");
}

}  // namespace
}  // namespace perflab::doctor
