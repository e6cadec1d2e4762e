// The thread-trace pass through the stand-in rocprofv3, and the search for the decoder library.
#include "collect/att_pass.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "base/system/interrupt.h"
#include "base/temp_folder.h"
#include "base/text/pattern.h"
#include "collect/decoder.h"
#include "collect/stand_in_rocprofv3.h"

namespace perflab::collect {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using test::ScopedVariable;
using test::TempFolder;
using test::text_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kLibrary = "librocprof-trace-decoder.so";
constexpr const char* kKernel = "void scale<float, 4>(float*, int)";

class AttPass : public testing::Test {
 protected:
  AttPass() {
    base_ = test::traced_collection(folder_.path());
    fs::create_directory(folder_ / "decoder");
    const fs::path library = folder_.write("decoder/" + std::string(kLibrary), "a stand-in");
    request_.kernel = kKernel;
    request_.iteration = 3;
    request_.decoder = library.parent_path();
    fs::create_directories(folder_ / "trace/ui_output_agent_1_dispatch_3");
    trace_ = folder_.write("trace/ui_output_agent_1_dispatch_3/code.json", "{}").parent_path();
    ::setenv("FAKE_ROCPROFV3_ATT", ("1=" + trace_.parent_path().string()).c_str(), 1);
  }

  static void use_mode(const char* mode) { ::setenv("FAKE_ROCPROFV3_ATT_MODE", mode, 1); }

  [[nodiscard]] static CollectPlan plan(std::vector<std::string> target) {
    CollectPlan plan;
    plan.target = std::move(target);
    return plan;
  }

  [[nodiscard]] AttRun collected(const CollectPlan& plan) const {
    Result<AttRun> run = collect_thread_trace(plan, base_, request_);
    EXPECT_TRUE(run.has_value()) << describe(run.error());
    return std::move(run).value_or(AttRun{});
  }

  [[nodiscard]] Error refusal(const CollectPlan& plan) const {
    const Result<AttRun> run = collect_thread_trace(plan, base_, request_);
    EXPECT_FALSE(run.has_value());
    return run ? Error{} : run.error();
  }

  static Error problem_of(const AttRun& run) {
    EXPECT_TRUE(run.problem.has_value());
    return run.problem.value_or(Error{});
  }

  TempFolder folder_;
  fs::path trace_;
  Collection base_;
  AttRequest request_;

 private:
  ScopedVariable traces_{"FAKE_ROCPROFV3_ATT", std::nullopt};
  ScopedVariable mode_{"FAKE_ROCPROFV3_ATT_MODE", std::nullopt};
  ScopedVariable log_{"FAKE_ROCPROFV3_LOG", (folder_ / "log").string()};
};

TEST(ExactKernelPattern, FindsTheNameAloneWhateverIsInIt) {
  const std::vector<std::string> names{"vecCopy(double*, int)", "void f<(a::b)3>(T&&, float [4])",
                                       "lambda{x}#1|y$^", "a.b+c?d\\e"};
  for (const std::string& name : names) {
    const auto pattern = Pattern::compile(exact_kernel_pattern(name));
    ASSERT_TRUE(pattern.has_value()) << name;
    for (const char* tail : {"", ".kd", " [clone .kd]"})
      EXPECT_TRUE(pattern->found_in(name + tail)) << name << tail;
    for (const std::string& other : {name + "2", "x" + name, name.substr(1)})
      EXPECT_FALSE(pattern->found_in(other)) << other;
    for (const std::string& other : names)
      EXPECT_EQ(pattern->found_in(other), other == name) << name << " in " << other;
  }
}

TEST_F(AttPass, RunsTheTargetOnceAndLeavesTheFoldersOfRocprofv3) {
  const AttRun run =
      collected(plan({"sh", "-c", "echo x >> '" + (folder_ / "count").string() + "'"}));
  EXPECT_FALSE(run.problem.has_value());
  EXPECT_THAT(run.losses, IsEmpty());
  EXPECT_THAT(run.notes, IsEmpty());
  EXPECT_EQ(run.folder, base_.folder / "att/cu_1");
  EXPECT_EQ(text_of(run.folder / "ui_output_agent_1_dispatch_3/code.json"), "{}");
  EXPECT_EQ(text_of(folder_ / "count"), "x\n");
}

TEST_F(AttPass, CallsRocprofv3WithTheThreadTraceAlone) {
  const AttRun run = collected(plan({"true", "--att"}));
  EXPECT_EQ(text_of(folder_ / "log"),
            "# rocprofv3\n--att\n--att-library-path\n" + request_.decoder.string() +
                "\n--att-target-cu\n1\n--kernel-include-regex\n" + exact_kernel_pattern(kKernel) +
                "\n--kernel-iteration-range\n[3]\n-f\nrocpd\n-d\n" + run.folder.string() +
                "\n--\ntrue\n--att\n");
}

TEST_F(AttPass, PassesOnWhatWasAskedFor) {
  request_.target_cu = 7;
  request_.shader_engines = 0x11;
  request_.buffer_bytes = 1 << 26;
  CollectPlan wanted = plan({"true"});
  wanted.extra_options = {"--memory-copy-trace"};
  EXPECT_EQ(collected(wanted).folder, base_.folder / "att/cu_7");
  EXPECT_THAT(text_of(folder_ / "log"),
              HasSubstr("\n--att-target-cu\n7\n--att-shader-engine-mask\n0x11\n"
                        "--att-buffer-size\n67108864\n--kernel-include-regex\n"));
  EXPECT_THAT(text_of(folder_ / "log"), HasSubstr("\n[3]\n--memory-copy-trace\n-f\n"));
  EXPECT_EQ(collected(wanted).folder, base_.folder / "att/cu_7_2");
}

TEST_F(AttPass, SettingsOfTheEnvironmentDoNotLeakIn) {
  const ScopedVariable range("ROCPROF_KERNEL_FILTER_RANGE", "9");
  const ScopedVariable simd("ROCPROF_ATT_PARAM_SIMD_SELECT", "1");
  const ScopedVariable counters("ROCPROF_COUNTERS", "pmc: SQ_WAVES");
  EXPECT_FALSE(collected(plan({"sh", "-c",
                               "test -z \"$ROCPROF_KERNEL_FILTER_RANGE"
                               "$ROCPROF_ATT_PARAM_SIMD_SELECT$ROCPROF_COUNTERS\""}))
                   .problem.has_value());
}

TEST_F(AttPass, AFailingTargetKeepsWhatWasWritten) {
  const AttRun run = collected(plan({"sh", "-c", "echo 'bad luck' >&2; exit 3"}));
  EXPECT_EQ(problem_of(run).code, ErrorCode::target_failed);
  EXPECT_EQ(problem_of(run).message, "sh: thread trace exited with code 3");
  EXPECT_THAT(problem_of(run).notes, ElementsAre(HasSubstr("bad luck")));
  EXPECT_TRUE(fs::exists(run.folder / "ui_output_agent_1_dispatch_3"));
}

TEST_F(AttPass, AHangingTargetIsStopped) {
  CollectPlan wanted = plan({"sleep", "60"});
  wanted.timeout = milliseconds(300);
  EXPECT_THAT(problem_of(collected(wanted)).message,
              HasSubstr("sleep: thread trace took longer than"));
}

TEST_F(AttPass, CtrlCKeepsWhatThereIs) {
  const InterruptScope scope;
  const fs::path started = folder_ / "started";
  std::jthread user([&] {
    while (!fs::exists(started)) std::this_thread::sleep_for(milliseconds(20));
    raise_interrupt();
  });
  const AttRun run =
      collected(plan({"sh", "-c", "touch '" + started.string() + "'; exec sleep 60"}));
  user.join();
  clear_interrupts();
  EXPECT_EQ(problem_of(run).code, ErrorCode::interrupted);
  EXPECT_TRUE(fs::exists(run.folder / "ui_output_agent_1_dispatch_3"));
}

TEST_F(AttPass, NothingStaysOfAPassThatWasNotRun) {
  raise_interrupt();
  EXPECT_EQ(refusal(plan({"true"})).code, ErrorCode::interrupted);
  clear_interrupts();
  EXPECT_TRUE(fs::is_empty(base_.folder));
  use_mode("refuse");
  const Error refused = refusal(plan({"true"}));
  EXPECT_EQ(refused.code, ErrorCode::missing_tool);
  EXPECT_THAT(refused.message,
              AllOf(HasSubstr("unrecognized arguments: --att"), HasSubstr("7.1.1")));
  EXPECT_THAT(refused.remedy, HasSubstr("leave out --att"));
  EXPECT_TRUE(fs::is_empty(base_.folder));
  base_.rocprofv3 = Rocprofv3{.path = folder_ / "gone", .version = {}, .rocm_version = {}};
  EXPECT_EQ(refusal(plan({"true"})).code, ErrorCode::missing_tool);
}

TEST_F(AttPass, APlaceThatCannotBeWrittenAndOptionsThatAreOursAreUsageErrors) {
  for (const char* option : {"--pmc", "--att-activity", "--kernel-exclude-regex=x"}) {
    CollectPlan wanted = plan({"true"});
    wanted.extra_options = {option};
    EXPECT_EQ(refusal(wanted).code, ErrorCode::usage) << option;
  }
  base_.folder = folder_.write("file", "");
  EXPECT_EQ(refusal(plan({"true"})).code, ErrorCode::usage);
}

TEST_F(AttPass, LostDataIsQuotedOnceAndNotTheTargetsOwnWords) {
  use_mode("lost");
  const AttRun run = collected(plan({"sh", "-c", "echo 'app: the data lost its meaning' >&2"}));
  EXPECT_FALSE(run.problem.has_value());
  EXPECT_THAT(run.losses,
              ElementsAre("Data Lost: The profiler dropped part of the trace due to bandwidth "
                          "limitations."));
}

TEST_F(AttPass, ADecoderThatCannotBeLoadedIsAMissingTool) {
  use_mode("no_decoder");
  const Error problem = problem_of(collected(plan({"true"})));
  EXPECT_EQ(problem.code, ErrorCode::missing_tool);
  EXPECT_THAT(problem.message,
              AllOf(HasSubstr("Error loading decoder: 36"), HasSubstr(request_.decoder.string()),
                    Not(HasSubstr("F2026"))));
  EXPECT_THAT(problem.remedy, HasSubstr("rocprof-trace-decoder"));
  use_mode("good");
  request_.decoder = folder_ / "nothing";
  EXPECT_THAT(problem_of(collected(plan({"true"}))).message, HasSubstr("library path not found"));
}

TEST_F(AttPass, AnInputFileIsReadAgain) {
  const fs::path input = folder_.write("input", "line\n");
  const int before = ::dup(STDIN_FILENO);
  const int descriptor = ::open(input.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(before, 0);
  ASSERT_EQ(::dup2(descriptor, STDIN_FILENO), STDIN_FILENO);
  ::close(descriptor);
  const CollectPlan wanted = plan({"sh", "-c", "cat >> '" + (folder_ / "read").string() + "'"});
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(collected(wanted).problem.has_value());
  ::dup2(before, STDIN_FILENO);
  ::close(before);
  EXPECT_EQ(text_of(folder_ / "read"), "line\nline\n");
}

class FindDecoder : public testing::Test {
 protected:
  /// Makes a file in a folder of its own and returns the folder.
  [[nodiscard]] fs::path library_in(const std::string& place, const char* name = kLibrary) const {
    fs::create_directories(folder_ / place);
    return folder_.write(place + "/" + name, "a stand-in").parent_path();
  }

  [[nodiscard]] std::string found() const {
    const auto folder = find_decoder(tool_);
    return folder ? folder->string() : "none: " + describe(folder.error());
  }

  TempFolder folder_;
  Rocprofv3 tool_{.path = folder_ / "rocm/bin/rocprofv3", .version = {}, .rocm_version = {}};

 private:
  ScopedVariable named_{"ROCPROF_ATT_LIBRARY_PATH", std::nullopt};
  ScopedVariable libraries_{"LD_LIBRARY_PATH", std::nullopt};
  ScopedVariable rocm_{"ROCM_PATH", (folder_ / "other").string()};
};

TEST_F(FindDecoder, LooksWhereRocprofv3Looks) {
  if (fs::exists(fs::path("/opt/rocm/lib") / kLibrary))
    GTEST_SKIP() << "skipped: this machine has the decoder";
  const auto missing = find_decoder(tool_);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(missing.error().message, AllOf(HasSubstr(kLibrary), HasSubstr("/opt/rocm/lib")));
  EXPECT_THAT(missing.error().remedy, AllOf(HasSubstr("github.com/ROCm/rocprof-trace-decoder"),
                                            HasSubstr("ROCPROF_ATT_LIBRARY_PATH")));
  // Each place that is filled comes before those filled earlier.
  const fs::path other = library_in("other/lib");
  EXPECT_EQ(found(), other.string());
  fs::create_directories(folder_ / "rocm/bin");
  fs::create_directories(folder_ / "bin");
  const fs::path program = folder_.script("rocm/bin/rocprofv3", "exit 0");
  fs::create_symlink(program,
                     folder_ / "bin/rocprofv3");  // as in /usr/bin: what counts is its home
  tool_.path = folder_ / "bin/rocprofv3";
  const fs::path home = library_in("rocm/lib/deep/er");
  EXPECT_EQ(found(), home.string());
  const fs::path listed = library_in("listed");
  const ScopedVariable libraries("LD_LIBRARY_PATH", "/no-such-folder::" + listed.string());
  EXPECT_EQ(found(), listed.string());
  const fs::path said = library_in("said");
  const ScopedVariable named("ROCPROF_ATT_LIBRARY_PATH", said.string());
  EXPECT_EQ(found(), said.string());
}

TEST_F(FindDecoder, TheNamedPlaceIsTheOnlyOne) {
  const fs::path listed = library_in("listed");
  const ScopedVariable libraries("LD_LIBRARY_PATH", listed.string());
  const ScopedVariable named("ROCPROF_ATT_LIBRARY_PATH", (folder_ / "empty").string());
  const auto missing = find_decoder(tool_);
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().message,
              AllOf(HasSubstr((folder_ / "empty").string()), Not(HasSubstr("/opt/rocm"))));
}

TEST_F(FindDecoder, ALibraryUnderAnotherNameIsNamed) {
  const fs::path place = library_in("named", "librocprof-trace-decoder.so.0.1");
  fs::create_directory(place / kLibrary);  // a folder of that name is no library
  const ScopedVariable named("ROCPROF_ATT_LIBRARY_PATH", place.string());
  const auto missing = find_decoder(tool_);
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().notes, ElementsAre(HasSubstr("librocprof-trace-decoder.so.0.1")));
  EXPECT_THAT(missing.error().remedy, HasSubstr("ln -s librocprof-trace-decoder.so.0.1"));
}

}  // namespace
}  // namespace perflab::collect
