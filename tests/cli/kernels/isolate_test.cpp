// rocm-perf isolate from outside, on the stand-in runtime: exit codes, text, document, folders.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string_view>

#include "capture/capture_reader.h"
#include "cli/program.h"

namespace perflab::cli {
namespace {

constexpr const char* kApp = PERFLAB_HSA_SIM_FOLDER "/hsa_sim_app";

/// rocm-perf isolate with these options, before the program's.
Outcome isolate(const test::TempFolder& folder, std::vector<std::string> options,
                const std::vector<std::string>& program, const ProcessOptions& more = {}) {
  options.insert(options.begin(), "isolate");
  options.emplace_back("--");
  options.insert(options.end(), program.begin(), program.end());
  return rocm_perf(folder.path(), options, more);
}

bool is_whole(const std::filesystem::path& folder) {
  const auto capture = capture::Capture::open(folder);
  return capture && capture->verify();
}

TEST(CliIsolate, CapturesAndSaysWhat) {
  const test::TempFolder folder;
  const Outcome run = isolate(folder, {"--kernel", "inplace", "--dispatch", "2", "--details"},
                              {kApp, "--kernel", "inplace", "--launches", "3"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("captured dispatch 2 of inplace\n"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("pages of 4096 bytes that the dispatch changed: 4"), std::string::npos)
      << run.out;
  EXPECT_EQ(run.out.find("result:"), std::string::npos) << "the program's output is talk";
  EXPECT_NE(run.err.find("result:"), std::string::npos);
  EXPECT_TRUE(is_whole(folder / "capture"));
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"capture"});
}

TEST(CliIsolate, CapturesALaunchOfACudaProgramInItsWords) {
  const test::TempFolder folder;
  ProcessOptions with_cupti;
  with_cupti.set_environment = {{"LD_LIBRARY_PATH", PERFLAB_CUDA_SIM_FOLDER}};
  const std::vector<std::string> program = {PERFLAB_CUDA_SIM_FOLDER "/cuda_sim_gpu", "--launches",
                                            "3"};
  const Outcome run = isolate(folder, {"--kernel", "^inplace", "--dispatch", "2", "--details"},
                              program, with_cupti);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, testing::HasSubstr("captured launch 2 of inplace(float*, unsigned int)\n"
                                          "  grid 1024 x 1 x 1 in blocks of 256 x 1 x 1, "
                                          "128 B of shared memory"));
  EXPECT_THAT(run.out, testing::HasSubstr("pages of 4096 bytes that the launch changed: 1"));
  const Outcome info = rocm_perf(folder.path(), {"capture", "info", "capture", "--details"});
  EXPECT_EQ(info.exit_code, 0) << info.err;
  for (const char* const part : {"threads in blocks of", "bytes of local memory", "24 registers",
                                 "CUDA 13.0", "sm_90 (NVIDIA H100 80GB HBM3)"})
    EXPECT_THAT(info.out, testing::HasSubstr(part));
  const Json json =
      document("capture", rocm_perf(folder.path(), {"capture", "info", "capture", "--json"}).out);
  EXPECT_EQ(json["machine"]["platform"], "cuda");
  EXPECT_EQ(json["kernel"]["cuda"]["parameters"][1]["offset"], 8);
  const Outcome none =
      isolate(folder, {"--platform", "cuda", "--kernel", "gemm", "--out", "no", "--json"}, program,
              with_cupti);
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(document("isolate", none.out)["reason"].get<std::string>(),
              testing::StartsWith("no launch number 1 of a kernel that matches \"gemm\""));
  const Outcome other = isolate(folder, {"--platform", "amd", "--kernel", "gemm", "--out", "no"},
                                program, with_cupti);
  EXPECT_EQ(other.exit_code, 4) << other.err;
}

TEST(CliIsolate, TheAnswerNamesTheNextCommand) {
  const test::TempFolder folder;
  const std::vector<std::string> program = {kApp, "--kernel", "inplace", "--launches", "3"};
  const Outcome run = isolate(folder, {"--kernel", "inplace", "--dispatch", "2"}, program);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out,
              testing::HasSubstr("Captured\n  inplace\n  dispatch 2 on amdgcn-amd-amdhsa--"));
  EXPECT_THAT(run.out, testing::HasSubstr("\nNext\n  rocm-perf capture check " +
                                          (folder / "capture").string() + "\n"));
  const Outcome none =
      isolate(folder, {"--kernel", "gemm", "--json", "--brief", "--out", "no"}, program);
  EXPECT_EQ(none.exit_code, 1);
  const Json summary = document("summary", none.out);
  EXPECT_EQ(summary["parts"][0]["rows"][0]["captured"], false);
  EXPECT_EQ(
      summary["next"][0]["command"],
      fmt::format("rocm-perf isolate --kernel inplace -- {} --kernel inplace --launches 3", kApp));
}

TEST(CliIsolate, DocumentsAreTheSameForTheSameRun) {
  const test::TempFolder folder;
  std::vector<Json> documents;
  for (const char* out : {"one", "deep/er/two"}) {
    const Outcome run =
        isolate(folder, {"--kernel", "scale", "--json", "--out", out}, {kApp, "--kernel", "scale"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    documents.push_back(document("isolate", run.out));
    EXPECT_EQ(documents.back()["environment"]["folder"], (folder / out).string());
    documents.back().erase("environment");
    documents.back()["capture"]["captured_ns"] = 0;
    // Other addresses and times lie in other kernel arguments.
    documents.back()["capture"]["stored_bytes"] = 0;
  }
  EXPECT_EQ(documents[0], documents[1]);
  EXPECT_EQ(documents[0]["captured"], true);
  EXPECT_EQ(documents[0]["reason"], nullptr);
  EXPECT_EQ(documents[0]["capture"]["kernel"], "scale");
  EXPECT_EQ(documents[0]["capture"]["variables"], 1);
  EXPECT_EQ(documents[0]["kernels"][0]["dispatches"], 1);
}

// The second launch writes what the first has written: equal outputs prove nothing.
TEST(CliIsolate, WarnsOfACaptureThatChangesNothing) {
  const test::TempFolder folder;
  const std::vector<std::string> program = {kApp, "--kernel",  "slow", "--launches",
                                            "2",  "--slow-ms", "1"};
  const auto capture = [&](const char* dispatch, const char* out) {
    return isolate(folder, {"--kernel", "slow", "--dispatch", dispatch, "--json", "--out", out},
                   program);
  };
  const Json first = document("isolate", capture("1", "one").out)["capture"];
  EXPECT_NE(first["written_pages"], 0);
  EXPECT_EQ(first["findings"], Json::array());
  const Outcome second = capture("2", "two");
  EXPECT_EQ(second.exit_code, 0) << second.err;
  const Json nothing = document("isolate", second.out)["capture"];
  EXPECT_EQ(nothing["written_pages"], 0);
  ASSERT_EQ(nothing["findings"].size(), 1U);
  EXPECT_EQ(nothing["findings"][0]["rule"], "nothing_written");
  EXPECT_NE(nothing["findings"][0]["remedy"].get<std::string>().find("--dispatch 1"),
            std::string::npos);
  const Outcome text =
      isolate(folder, {"--kernel", "slow", "--dispatch", "2", "--details"}, program);
  EXPECT_NE(text.out.find("warning: dispatch 2 changed no byte of the captured memory"),
            std::string::npos)
      << text.out;
}

TEST(CliIsolate, ListsTheKernelsWhenNoneMatches) {
  const test::TempFolder folder;
  for (const char* json : {"--details", "--json"}) {
    std::vector<std::string> options = {"--kernel", "gemm"};
    options.emplace_back(json);
    const Outcome run = isolate(folder, options, {kApp, "--kernel", "inplace", "--launches", "3"});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_NE(run.err.find("it launched inplace (3 times)"), std::string::npos) << run.err;
    if (std::string_view(json) == "--details") {
      EXPECT_NE(run.out.find("3  inplace"), std::string::npos) << run.out;
      continue;
    }
    const Json got = document("isolate", run.out);
    EXPECT_EQ(got["captured"], false);
    EXPECT_EQ(got["capture"], nullptr);
    EXPECT_EQ(got["kernels"][0]["kernel"], "inplace");
  }
  EXPECT_TRUE(names_in(folder.path()).empty());
}

TEST(CliIsolate, ExitCodesTellWhatWasWrong) {
  const test::TempFolder folder;
  const std::vector<std::string> pattern = {"--kernel", "inplace"};
  const Outcome no_runtime = isolate(folder, pattern, {"/bin/true"});
  EXPECT_EQ(no_runtime.exit_code, 4) << no_runtime.err;
  EXPECT_NE(no_runtime.err.find("HSA_TOOLS_DISABLE_REGISTER=1"), std::string::npos);
  EXPECT_EQ(isolate(folder, pattern, {"/bin/false"}).exit_code, 5);
  EXPECT_EQ(isolate(folder, pattern, {"/no/such/program"}).exit_code, 4);
  EXPECT_EQ(isolate(folder, {"--kernel", "(("}, {"/bin/true"}).exit_code, 2);
  EXPECT_EQ(isolate(folder, {"--kernel", ""}, {"/bin/true"}).exit_code, 2);
  EXPECT_EQ(isolate(folder, {}, {"/bin/true"}).exit_code, 2);
  EXPECT_EQ(isolate(folder, {"--kernel", "x", "--dispatch", "0"}, {"/bin/true"}).exit_code, 2);
  EXPECT_EQ(rocm_perf(folder.path(), {"isolate", "--kernel", "x"}).exit_code, 2);
  (void)folder.write("taken", "");
  const Outcome taken = isolate(folder, {"--kernel", "x", "--out", "taken"}, {"/bin/false"});
  EXPECT_EQ(taken.exit_code, 2) << "found before the program runs";
  EXPECT_NE(taken.err.find("exists already"), std::string::npos);
}

TEST(CliIsolate, TheLibraryCanBeNamed) {
  const test::TempFolder folder;
  ProcessOptions options;
  options.set_environment = {{"PERFLAB_ISOLATE_LIBRARY", (folder / "nothing.so").string()}};
  const Outcome none = isolate(folder, {"--kernel", "x"}, {"/bin/true"}, options);
  EXPECT_EQ(none.exit_code, 4);
  EXPECT_NE(none.err.find("nothing.so"), std::string::npos) << none.err;
  options.set_environment = {
      {"PERFLAB_ISOLATE_LIBRARY", folder.write("with space.so", "").string()}};
  EXPECT_EQ(isolate(folder, {"--kernel", "x"}, {"/bin/true"}, options).exit_code, 2);
}

TEST(CliIsolate, OtherToolsOfTheProgramStayLoaded) {
  const test::TempFolder folder;
  ProcessOptions options;
  options.set_environment = {{"HSA_TOOLS_LIB", "/no/such/tool.so"}};
  const Outcome run =
      isolate(folder, {"--kernel", "inplace"}, {kApp, "--kernel", "inplace"}, options);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("/no/such/tool.so"), std::string::npos) << "the runtime tried it";
}

TEST(CliIsolate, StopsTheProgramWhenAsked) {
  const test::TempFolder folder;
  const Outcome run = isolate(folder, {"--kernel", "inplace", "--stop", "--json"},
                              {kApp, "--kernel", "inplace", "--launches", "100000000"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(document("isolate", run.out)["program"], "stopped");
  EXPECT_TRUE(is_whole(folder / "capture"));
}

TEST(CliIsolate, AProgramThatFailsAfterwardsIsANote) {
  const test::TempFolder folder;
  const std::string line = std::string(kApp) + " --kernel inplace && exit 9";
  const Outcome run = isolate(folder, {"--kernel", "inplace"}, {"/bin/sh", "-c", line});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("after the capture, the program exited with code 9"), std::string::npos)
      << run.err;
}

}  // namespace
}  // namespace perflab::cli
