// rocm-perf doctor on this machine: with and without tools, with the stand-in runtime and the
// stand-in profiler.
#include <gmock/gmock.h>

#include <algorithm>

#include "cli/program.h"

namespace perflab::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The object of an array whose member has that value; null: there is none.
Json find_in(const Json& array, const char* member, const std::string& value) {
  const auto found =
      std::ranges::find_if(array, [&](const Json& one) { return one[member] == value; });
  return found == array.end() ? Json() : *found;
}

class DoctorCommand : public ::testing::Test {
 protected:
  [[nodiscard]] Outcome doctor(std::vector<std::string> arguments,
                               std::vector<std::pair<std::string, std::string>> variables) const {
    ProcessOptions options;
    options.set_environment = std::move(variables);
    options.unset_environment = {"ROCM_PATH", "ROCPROFV3"};
    arguments.insert(arguments.begin(), "doctor");
    return rocm_perf(folder_.path(), std::move(arguments), std::move(options));
  }
  test::TempFolder folder_;
};

TEST_F(DoctorCommand, FindsWhatIsThere) {
  const Outcome outcome = doctor({"--json"}, {{"LD_LIBRARY_PATH", PERFLAB_HSA_SIM_FOLDER},
                                              {"ROCPROFV3", PERFLAB_FAKE_ROCPROFV3}});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json found = document("doctor", outcome.out);
  EXPECT_EQ(find_in(found["parts"], "need", "runtime")["state"], "works");
  EXPECT_EQ(find_in(found["parts"], "need", "compiler")["state"], "works");
  const Json reader = find_in(found["parts"], "need", "source_reader");
  EXPECT_EQ(reader["state"], "works");
  EXPECT_TRUE(reader["path"].is_string()) << reader;
  EXPECT_FALSE(reader["details"].empty()) << reader;  // why this one
  EXPECT_EQ(find_in(found["parts"], "need", "capture_library")["state"], "works");
  EXPECT_EQ(find_in(found["parts"], "need", "profiler")["path"], PERFLAB_FAKE_ROCPROFV3);
  const Json gpu = find_in(found["gpus"], "processor", "gfx942");
  EXPECT_EQ(gpu["architecture_known"], true);
  EXPECT_EQ(gpu["compilable"], true);
  EXPECT_EQ(find_in(found["commands"], "command", "analyze")["readiness"], "ready");
}

TEST_F(DoctorCommand, SaysWhatIsMissingAndHowToGetIt) {
  const std::vector<std::pair<std::string, std::string>> bare{
      {"PATH", folder_.path().string()},
      {"ROCPROFV3", "/nowhere/rocprofv3"},
      {"ROCM_PERF_LIBCLANG", "/nowhere/libclang.so"}};
  const Outcome json = doctor({"--json"}, bare);
  ASSERT_EQ(json.exit_code, 0) << json.err;
  const Json found = document("doctor", json.out);
  for (const char* need :
       {"profiler", "compiler", "disassembler", "source_reader", "cluster", "sandbox"}) {
    const Json part = find_in(found["parts"], "need", need);
    EXPECT_NE(part["state"], "works") << need;
    EXPECT_TRUE(part["problem"].is_string()) << need;
    EXPECT_TRUE(part["remedy"].is_string()) << need;
  }
  EXPECT_EQ(find_in(found["commands"], "command", "optimize")["readiness"], "not_ready");
  const Outcome text = doctor({"--details"}, bare);
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, HasSubstr("/nowhere/rocprofv3"));
  EXPECT_THAT(text.out, HasSubstr("to get it: "));
}

TEST_F(DoctorCommand, TheAnswerIsOnePage) {
  const std::vector<std::pair<std::string, std::string>> bare{
      {"PATH", folder_.path().string()},
      {"ROCPROFV3", "/nowhere/rocprofv3"},
      {"ROCM_PERF_LIBCLANG", "/nowhere/libclang.so"}};
  const Outcome text = doctor({}, bare);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_LE(lines(text.out), 40) << text.out;
  EXPECT_THAT(text.out, HasSubstr("\nCommands\n  work       analyze, "));
  EXPECT_THAT(text.out, HasSubstr("\nWhat is missing\n"));
  EXPECT_THAT(text.out, HasSubstr("\nNext\n  rocm-perf doctor "));
  const Outcome brief = doctor({"--json", "--brief"}, bare);
  EXPECT_LE(brief.out.size(), 8192U);
  EXPECT_EQ(document("summary", brief.out)["made_from"][0], "doctor");
  EXPECT_EQ(doctor({"--self-test", "--brief"}, {}).exit_code, 2);
}

TEST_F(DoctorCommand, DetailsAreTheSectionsTogether) {
  std::string together;
  for (const char* section : {"commands", "gpus", "parts"})
    together += doctor({"--details", section}, {}).out;
  EXPECT_THAT(doctor({"--details"}, {}).out, testing::StartsWith(together));
}

TEST_F(DoctorCommand, OfNamedCommandsAnswersWithItsExitCode) {
  const Outcome lacking =
      doctor({"optimize", "--json"}, {{"ROCM_PERF_LIBCLANG", "/nowhere/libclang.so"}});
  EXPECT_EQ(lacking.exit_code, 4);
  EXPECT_EQ(document("doctor", lacking.out)["commands"].size(), 1U);
  EXPECT_EQ(doctor({"analyze", "schema"}, {}).exit_code, 0);
}

TEST_F(DoctorCommand, KnowsEveryCommandOfTheHelp) {
  const Outcome outcome = doctor({"--json"}, {});
  const Json found = document("doctor", outcome.out);
  const std::string help = rocm_perf(folder_.path(), {"--help"}).out;
  std::vector<std::string> in_help, known;
  // Lines of the help's list: two blanks, the name.
  std::size_t at = help.find("SUBCOMMANDS:");
  if (at == std::string::npos) at = help.find("Subcommands:");
  ASSERT_NE(at, std::string::npos) << help;
  for (at = help.find('\n', at) + 1; at < help.size(); at = help.find('\n', at) + 1) {
    const std::size_t name = help.find_first_not_of(' ', at);
    if (name != at + 2) continue;
    in_help.push_back(help.substr(name, help.find_first_of(" \n", name) - name));
  }
  for (const Json& command : found["commands"]) known.push_back(command["command"]);
  std::erase(in_help, "doctor");
  std::ranges::sort(in_help);
  EXPECT_EQ(known, in_help);
}

TEST_F(DoctorCommand, SelfTestWithoutAGpuSaysThatNothingCouldRun) {
  // Stand-in runtimes list a GPU; this folder holds none.
  const Outcome json = doctor({"--self-test", "--json"},
                              {{"HIP_VISIBLE_DEVICES", ""}, {"LD_LIBRARY_PATH", "/nowhere"}});
  if (json.exit_code != 4) GTEST_SKIP() << "this machine has a GPU";
  const Json found = document("self_test", json.out);
  EXPECT_EQ(found["verdict"], "nothing_ran");
  EXPECT_EQ(found["obstacle"]["reason"], "no_device");
  EXPECT_TRUE(found["cases"].empty());
  EXPECT_THAT(doctor({"--self-test"}, {}).out, HasSubstr("Nothing could run."));
}

/// Over the stand-in HSA runtime there is a GPU, but HIP's own runtime finds none: programs fail
/// by themselves, which is said of them, and what needs no GPU runs.
TEST_F(DoctorCommand, SelfTestTakesEveryCaseAsFarAsItGoes) {
  const std::vector<std::pair<std::string, std::string>> stand_in{
      {"LD_LIBRARY_PATH", PERFLAB_HSA_SIM_FOLDER}};
  const Json examined = document("doctor", doctor({"--json"}, stand_in).out);
  for (const char* need : {"compiler", "source_reader"})
    if (find_in(examined["parts"], "need", need)["state"] != "works") GTEST_SKIP() << "no " << need;
  const Outcome outcome = doctor(
      {"--self-test", "--only", "^(in_place|optimize_host)$", "--keep", "kept", "--json",
       "--time-budget", "2h"},  // ten minutes are enough for a machine that does nothing else
      stand_in);
  const Json found = document("self_test", outcome.out);
  ASSERT_EQ(found["cases"].size(), 3U) << outcome.err;
  EXPECT_EQ(found["machine"]["architecture"], "gfx942");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "kept/programs/launches")) << outcome.err;
  for (const Json& one : found["cases"]) {
    if (one["case"] == "in_place") {
      EXPECT_EQ(one["outcome"], "skipped") << one;
      EXPECT_EQ(one["reason"], "fails_alone") << one;
    } else {
      EXPECT_TRUE(one["outcome"] == "held" || one["reason"] == "undecided") << one;
    }
  }
}

TEST_F(DoctorCommand, SelfTestNamesItsCasesAndGoesWithNoOtherQuestion) {
  const Outcome unknown = doctor({"--self-test", "--only", "^no such case$"}, {});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("in_place"));
  EXPECT_EQ(doctor({"replay", "--self-test"}, {}).exit_code, 2);
  EXPECT_EQ(doctor({"--only", "x"}, {}).exit_code, 2);
  EXPECT_EQ(doctor({"--self-test", "--keep", "."}, {}).exit_code, 2);
}

}  // namespace
}  // namespace perflab::cli
