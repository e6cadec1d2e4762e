// rocm-perf inspect from outside: binaries, sources, gates, comparison, errors.
#include <gmock/gmock.h>

#include "base/text/command_line.h"
#include "cli/program.h"
#include "support/code_writer.h"

namespace perflab::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A gfx942 code object with kernels of these VGPR counts, called k0, k1, ...
std::string code_object(const std::vector<int>& vgprs, int spills = 0) {
  test::WrittenCodeObject object;
  object.metadata = test::object_metadata(5, "amdgcn-amd-amdhsa--gfx942");
  for (std::size_t i = 0; i < vgprs.size(); ++i) {
    test::WrittenKernel kernel{.name = "k" + std::to_string(i)};
    kernel.metadata = test::kernel_metadata(kernel.name);
    kernel.metadata[".vgpr_count"] = vgprs[i];
    kernel.metadata[".agpr_count"] = 0;
    kernel.metadata[".vgpr_spill_count"] = spills;
    kernel.metadata[".max_flat_workgroup_size"] = 256;
    kernel.code = std::string("\x00\x00\x80\xbf\x00\x00\x81\xbf", 8);  // s_nop 0; s_endpgm
    object.kernels.push_back(std::move(kernel));
  }
  return test::write_code_object(object);
}

class InspectCommand : public ::testing::Test {
 protected:
  Outcome run(std::vector<std::string> arguments, const ProcessOptions& options = {}) const {
    arguments.insert(arguments.begin(), "inspect");
    return rocm_perf(folder_.path(), std::move(arguments), options);
  }
  test::TempFolder folder_;
};

TEST_F(InspectCommand, ShowsKernelsAsATable) {
  (void)folder_.write("k.co", code_object({24, 128}));
  const Outcome outcome = run({"k.co", "--details"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("k.co: code object"));
  EXPECT_THAT(outcome.out, HasSubstr("2 kernels in 1 code object"));
  EXPECT_THAT(outcome.out, HasSubstr("limited by"));
  EXPECT_THAT(outcome.out, HasSubstr("gfx942"));
}

TEST_F(InspectCommand, JsonSatisfiesItsSchemaAndIsTheSameEveryTime) {
  (void)folder_.write("k.co", code_object({24, 128}));
  const Outcome first = run({"k.co", "--json", "--threads", "1"});
  EXPECT_EQ(first.exit_code, 0);
  const Json json = document("inspection", first.out);
  EXPECT_EQ(json["kernels"].size(), 2U);
  EXPECT_EQ(json["kernels"][1]["resources"]["vgpr"], 128);
  EXPECT_EQ(json["kernels"][1]["occupancy"]["models"]["llvm"]["waves_per_simd"], 4);
  EXPECT_EQ(run({"k.co", "--json", "--threads", "3"}).out, first.out);
}

TEST_F(InspectCommand, GatesDecideTheExitCode) {
  (void)folder_.write("k.co", code_object({24, 128}));
  EXPECT_EQ(run({"k.co", "--max-vgpr", "128", "--min-occupancy", "50%", "--no-spills"}).exit_code,
            0);
  const Outcome failed = run({"k.co", "--max-vgpr", "127", "--min-occupancy", "0.6", "--details"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.out, HasSubstr("FAILED max_vgpr 127: 1 of 2 kernels"));
  EXPECT_THAT(failed.out, HasSubstr("k1 (gfx942): 128 VGPRs are more than 127"));
  EXPECT_THAT(failed.out, HasSubstr("FAILED min_occupancy 0.6"));
  EXPECT_EQ(run({"k.co", "--kernel", "^k0$", "--max-vgpr", "127"}).exit_code, 0)
      << "a gate is about the kernels asked for";
  (void)folder_.write("spills.co", code_object({24}, 3));
  EXPECT_EQ(run({"spills.co", "--no-spills"}).exit_code, 1);
}

TEST_F(InspectCommand, ComparesWithAnOlderBuild) {
  (void)folder_.write("old.co", code_object({64, 64}));
  (void)folder_.write("same.co", code_object({64, 64}));
  (void)folder_.write("worse.co", code_object({64, 72}));
  EXPECT_EQ(run({"same.co", "--against", "old.co"}).exit_code, 0);
  const Outcome worse = run({"worse.co", "--against", "old.co", "--details"});
  EXPECT_EQ(worse.exit_code, 1);
  EXPECT_THAT(worse.out, HasSubstr("Against old.co: 1 of 2 kernels differ"));
  EXPECT_THAT(worse.out, HasSubstr("worse"));
  EXPECT_EQ(run({"old.co", "--against", "worse.co"}).exit_code, 0) << "an improvement passes";
  const Json json = document("inspection", run({"worse.co", "--against", "old.co", "--json"}).out);
  EXPECT_EQ(json["against"]["changes"].size(), 1U);
  EXPECT_EQ(json["gates"][0]["name"], "against");
  EXPECT_EQ(json["gates"][0]["passed"], false);
}

TEST_F(InspectCommand, TheAnswerIsOnePageWithTheGatesFirst) {
  (void)folder_.write("k.co", code_object({24, 128}));
  const Outcome failed = run({"k.co", "--max-vgpr", "127"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.out, testing::StartsWith("Gates\n  FAILED max_vgpr 127: 1 of 2 kernels\n"));
  EXPECT_THAT(failed.out, HasSubstr("\nThe rest: --details kernels|mix|gates; --json; --out DIR"));
  EXPECT_LE(lines(failed.out), 40);
  const Outcome brief = run({"k.co", "--max-vgpr", "127", "--json", "--brief"});
  EXPECT_EQ(brief.exit_code, 1);
  EXPECT_LE(brief.out.size(), 8192U);
  EXPECT_EQ(document("summary", brief.out)["parts"][0]["rows"][0]["passed"], false);
}

TEST_F(InspectCommand, DetailsAreTheSectionsTogether) {
  (void)folder_.write("k.co", code_object({24, 128}));
  (void)folder_.write("old.co", code_object({24, 64}));
  const std::vector<std::string> call = {"k.co", "--no-spills", "--against", "old.co", "--details"};
  std::string together;
  for (const char* section : {"kernels", "mix", "against", "gates"}) {
    std::vector<std::string> one = call;
    one.emplace_back(section);
    const std::string text = run(one).out;
    EXPECT_NE(text, "") << section;
    together += text;
  }
  EXPECT_EQ(run(call).out, together);
  EXPECT_EQ(run({"k.co", "--details", "gates"}).exit_code, 2) << "there are no gates";
  EXPECT_EQ(run({"k.co", "--all"}).out, run({"k.co", "--details"}).out);
}

/// What a page gives to be pasted says of the kernel what the page says.
TEST_F(InspectCommand, TheNextCommandKnowsTheSameStep) {
  (void)folder_.write("k.co", code_object({100}));
  const Json inspection = document("inspection", run({"k.co", "--json"}).out);
  const Json summary = document("summary", run({"k.co", "--json", "--brief"}).out);
  auto words = split_command_line(summary["next"][0]["command"].get<std::string>());
  ASSERT_TRUE(words);
  ASSERT_EQ(words->at(1), "occupancy");
  words->erase(words->begin());
  words->emplace_back("--json");
  const Outcome outcome = rocm_perf(folder_.path(), *words);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json occupancy = document("occupancy", outcome.out);
  EXPECT_EQ(occupancy["models"]["resident"]["next_step"],
            inspection["kernels"][0]["occupancy"]["next_step"]);
}

TEST_F(InspectCommand, WritesItsDocumentIntoAFolder) {
  (void)folder_.write("k.co", code_object({24}));
  const Outcome outcome = run({"k.co", "--out", "report"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(names_in(folder_ / "report"),
            (std::vector<std::string>{"inspection.json", "summary.json"}));
  (void)document("inspection", test::text_of(folder_ / "report/inspection.json"));
}

TEST_F(InspectCommand, WrongCallsAreExit2WithASentence) {
  (void)folder_.write("k.co", code_object({24}));
  (void)folder_.write("k.hip", "__global__ void k() {}\n");
  const std::vector<std::vector<std::string>> wrong = {{},
                                                       {"k.co", "--kernel", "("},
                                                       {"k.co", "--kernel", "nothing"},
                                                       {"k.co", "--arch", "gfx90a"},
                                                       {"k.co", "--arch", "sparc"},
                                                       {"k.co", "--min-occupancy", "much"},
                                                       {"k.co", "--min-occupancy", "1.5"},
                                                       {"k.co", "--block", "0"},
                                                       {"k.co", "--mix", "--no-mix"},
                                                       {"k.hip"}};
  for (const auto& arguments : wrong) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << testing::PrintToString(arguments);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err, "");
  }
}

TEST_F(InspectCommand, BadFilesAreExit3) {
  (void)folder_.write("text.txt", "hello");
  (void)folder_.write("cut.co", code_object({24}).substr(0, 200));
  for (const char* file : {"text.txt", "cut.co", "nowhere.co"}) {
    const Outcome outcome = run({file});
    EXPECT_EQ(outcome.exit_code, 3) << file;
    EXPECT_THAT(outcome.err, HasSubstr(file));
    EXPECT_EQ(lines(outcome.err) <= 3, true) << outcome.err;
  }
}

TEST_F(InspectCommand, AMissingCompilerIsExit4AndSaysWhatToInstall) {
  (void)folder_.write("k.hip", "__global__ void k() {}\n");
  ProcessOptions options;
  options.set_environment = {{"ROCM_PERF_CLANG", (folder_ / "nowhere").string()}};
  const Outcome outcome = run({"k.hip", "--arch", "gfx942"}, options);
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_EQ(outcome.out, "");
}

TEST_F(InspectCommand, ASourceIsCompiledForEachArchitecture) {
  if (!find_program("clang++-19")) GTEST_SKIP() << "skipped: clang++-19 is not there";
  // Needs no HIP header and no device library: an empty kernel.
  (void)folder_.write("k.hip",
                      "__attribute__((global)) void scale(float* x, float a) {\n"
                      "  x[__builtin_amdgcn_workitem_id_x()] *= a;\n}\n");
  const std::vector<std::string> call = {"k.hip",  "--arch", "gfx90a",    "--arch",   "gfx1100",
                                         "--json", "--",     "-nogpuinc", "-nogpulib"};
  const Outcome outcome = run(call);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json json = document("inspection", outcome.out);
  ASSERT_EQ(json["kernels"].size(), 2U);
  EXPECT_EQ(json["kernels"][0]["architecture"], "gfx90a");
  EXPECT_EQ(json["kernels"][1]["architecture"], "gfx1100");
  EXPECT_EQ(json["kernels"][0]["name"], "scale(float*, float)");
  EXPECT_EQ(json["environment"]["commands"].size(), 2U);
  EXPECT_EQ(run(call).out, outcome.out) << "the same source gives the same bytes";
  EXPECT_THAT(names_in(folder_.path()), testing::ElementsAre("k.hip")) << "nothing is left behind";

  (void)folder_.write("bad.hip", "__attribute__((global)) void k( {\n");
  const Outcome bad = run({"bad.hip", "--arch", "gfx90a", "--", "-nogpuinc", "-nogpulib"});
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_THAT(bad.err, HasSubstr("bad.hip"));
  EXPECT_THAT(bad.err, HasSubstr("error:"));
}

}  // namespace
}  // namespace perflab::cli
