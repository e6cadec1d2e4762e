// What goes wrong while capturing must not touch the program, and must leave no capture: every call
// of the capture fails once, the disk is full, the program is killed.
#include <algorithm>
#include <map>
#include <sstream>

#include "base/system/subprocess.h"
#include "isolate/isolated.h"
#include "isolate/protocol/settings.h"

namespace perflab::test {
namespace {

/// Names of the calls of a run with these options, in their order.
std::vector<std::string> calls_of(const std::string& kernel) {
  const TempFolder folder;
  const std::string log = (folder / "log").string();
  const Isolated run(
      {.options = {"--kernel", "scale"}, .kernel = kernel, .environment = {{"HSA_SIM_LOG", log}}});
  std::vector<std::string> names;
  std::istringstream lines(text_of(log));
  for (std::string line; std::getline(lines, line);)
    names.push_back(line.substr(0, line.find_first_of(" (")));
  return names;
}

/// A call of the capture itself: its name, and which of the run's calls of that name it is.
struct CaptureCall {
  std::string name;
  int number = 0;
};

/// The calls that a run with a capture makes and one without does not: those between what both
/// begin with and what both end with. Of each name the first and the last.
std::vector<CaptureCall> capture_calls() {
  const std::vector<std::string> with = calls_of("scale"), without = calls_of("nothing");
  const auto begin = std::ranges::mismatch(with, without).in1;
  const auto shared = std::mismatch(with.rbegin(), with.rend(), without.rbegin(), without.rend());
  const auto end = std::max(begin, shared.first.base());
  std::map<std::string, int> count;
  std::map<std::string, std::pair<int, int>> first_and_last;
  for (auto at = with.begin(); at != end; ++at) {
    const int number = ++count[*at];
    // The queue is ended by the program, and what we free with it comes after.
    if (at < begin || *at == "hsa_queue_destroy") continue;
    first_and_last.try_emplace(*at, number, number).first->second.second = number;
  }
  std::vector<CaptureCall> out;
  for (const auto& [name, numbers] : first_and_last) {
    out.push_back({.name = name, .number = numbers.first});
    if (numbers.second != numbers.first) out.push_back({.name = name, .number = numbers.second});
  }
  return out;
}

TEST(IsolateFaults, ACallThatFailsLeavesTheProgramAloneAndNoCapture) {
  int refused = 0;
  const std::vector<CaptureCall> calls = capture_calls();
  EXPECT_GT(calls.size(), 15U);
  for (const CaptureCall& call : calls) {
    const std::string fault = call.name + "@" + std::to_string(call.number) + "=0x1008";
    SCOPED_TRACE(fault);
    const Isolated run({.options = {"--kernel", "scale"},
                        .kernel = "scale",
                        .environment = {{"HSA_SIM_FAULT", fault}}});
    EXPECT_TRUE(run.program_is_fine()) << describe_end(run.outcome.process);
    // Some answers the capture can do without: it is whole then (Isolated verifies it).
    if (run.outcome.events.captured) continue;
    ++refused;
    EXPECT_FALSE(std::filesystem::exists(run.outcome.folder));
    ASSERT_TRUE(run.problem.has_value());
    EXPECT_EQ(run.problem->code, ErrorCode::refused);
    EXPECT_NE(run.problem->message.find("0x1008"), std::string::npos) << run.problem->message;
  }
  EXPECT_GT(refused, 8);
}

TEST(IsolateFaults, AtTheStartTheRuntimeStaysAsItIs) {
  for (const char* call :
       {"hsa_iterate_agents@1", "hsa_agent_get_info@1", "hsa_amd_agent_iterate_memory_pools@1"}) {
    const Isolated run({.options = {"--kernel", "inplace"},
                        .environment = {{"HSA_SIM_FAULT", std::string(call) + "=0x1008"}}});
    EXPECT_TRUE(run.program_is_fine()) << call;
    ASSERT_TRUE(run.problem.has_value()) << call;
    EXPECT_EQ(run.problem->code, ErrorCode::missing_tool);
    EXPECT_NE(run.problem->message.find("0x1008"), std::string::npos) << run.problem->message;
  }
}

TEST(IsolateFaults, AQueueThatCannotBeInterceptedWorksUnseen) {
  for (const char* call :
       {"hsa_amd_queue_intercept_create@1=0x1008", "hsa_amd_queue_intercept_register@1=0x1007"}) {
    const Isolated run(
        {.options = {"--kernel", "inplace"}, .environment = {{"HSA_SIM_FAULT", call}}});
    EXPECT_TRUE(run.program_is_fine()) << call;
    ASSERT_TRUE(run.problem.has_value()) << call;
    EXPECT_EQ(run.problem->code, ErrorCode::refused);
    EXPECT_TRUE(run.outcome.events.kernels.empty());
  }
}

TEST(IsolateFaults, WorkThatDoesNotEndIsNotWaitedForForEver) {
  // The slow kernel on the other queue takes longer than the capture is told to wait.
  const Isolated run({.options = {"--kernel", "inplace", "--back-to-back", "--slow-ms", "3000"},
                      .environment = {{isolate::kPatienceVariable, "50"}}});
  EXPECT_TRUE(run.program_is_fine());
  ASSERT_TRUE(run.problem.has_value());
  EXPECT_EQ(run.problem->code, ErrorCode::refused);
  EXPECT_NE(run.problem->message.find("not empty in time"), std::string::npos)
      << run.problem->message;
  EXPECT_FALSE(std::filesystem::exists(run.outcome.folder));
}

TEST(IsolateFaults, AFullDiskLeavesNoCapture) {
  // The shell sets the largest size of a file, and that reaching it is an error and not a signal.
  const Isolated run({"/bin/sh", "-c",
                      "trap '' XFSZ; ulimit -f 2048; exec " PERFLAB_HSA_SIM_FOLDER
                      "/hsa_sim_app --kernel inplace --sparse 1G"},
                     {.options = {}});
  EXPECT_TRUE(run.program_is_fine());
  ASSERT_TRUE(run.problem.has_value());
  EXPECT_EQ(run.problem->code, ErrorCode::refused);
  EXPECT_NE(run.problem->message.find("file too large"), std::string::npos) << run.problem->message;
  EXPECT_TRUE(std::filesystem::is_empty(run.folder.path()));
}

/// The environment that launch() makes.
std::vector<std::pair<std::string, std::string>> by_hand(const TempFolder& folder) {
  return {{"HSA_TOOLS_LIB", PERFLAB_ISOLATE_LIBRARY_FILE},
          {isolate::kKernelVariable, "inplace"},
          {isolate::kFolderVariable, (folder / "capture").string()},
          {isolate::kStatusVariable, folder.path().string()}};
}

TEST(IsolateFaults, AProgramThatIsKilledMeanwhileLeavesNoCapture) {
  const TempFolder folder;
  ProcessOptions options;
  options.set_environment = by_hand(folder);
  options.set_environment.emplace_back("HSA_SIM_FAULT", "dispatch@1=hang");
  options.give_up = [&] { return std::filesystem::exists(folder / isolate::kLockFile); };
  options.standard_output = StreamMode::discard;
  const auto killed =
      run_program({PERFLAB_HSA_SIM_FOLDER "/hsa_sim_app", "--kernel", "inplace"}, options);
  ASSERT_TRUE(killed.has_value());
  EXPECT_TRUE(killed->given_up);
  EXPECT_FALSE(capture::Capture::open(folder / "capture").has_value());
  const auto events = isolate::read_events(folder.path());
  ASSERT_TRUE(events.has_value());
  EXPECT_FALSE(events->captured);
  // The next one takes its place.
  std::filesystem::remove(folder / isolate::kLockFile);
  options.set_environment = by_hand(folder);
  options.give_up = {};
  const auto again =
      run_program({PERFLAB_HSA_SIM_FOLDER "/hsa_sim_app", "--kernel", "inplace"}, options);
  ASSERT_TRUE(again.has_value() && again->succeeded());
  EXPECT_TRUE(capture::Capture::open(folder / "capture").has_value());
}

TEST(IsolateFaults, AKernelThatFaultsIsTheProgramsOwnFailure) {
  const TempFolder folder;
  ProcessOptions options;
  options.set_environment = by_hand(folder);
  options.set_environment.emplace_back("HSA_SIM_FAULT", "dispatch@1=fault");
  // The program waits for its signal for ever: it is ended as soon as the refusal is written down.
  options.give_up = [&] {
    const auto events = isolate::read_events(folder.path());
    return events && events->refused;
  };
  // The program waits for ever.
  options.give_up = [&] {
    const auto so_far = isolate::read_events(folder.path());
    return so_far.has_value() && so_far->refused.has_value();
  };
  options.standard_output = StreamMode::discard;
  const auto ended =
      run_program({PERFLAB_HSA_SIM_FOLDER "/hsa_sim_app", "--kernel", "inplace"}, options);
  ASSERT_TRUE(ended.has_value());
  const auto events = isolate::read_events(folder.path());
  ASSERT_TRUE(events.has_value());
  EXPECT_FALSE(events->captured);
  EXPECT_NE(events->refused.value_or("").find("the queue failed"), std::string::npos);
  EXPECT_FALSE(capture::Capture::open(folder / "capture").has_value());
}

TEST(IsolateFaults, OfSeveralProcessesOneCaptures) {
  const std::string app = PERFLAB_HSA_SIM_FOLDER "/hsa_sim_app --kernel inplace --launches 2";
  const Isolated run({"/bin/sh", "-c", app + " & " + app + " & " + app + " & wait"},
                     {.options = {}});
  ASSERT_CAPTURED(run);
  EXPECT_EQ(run.outcome.events.loaded, 3);
  ASSERT_EQ(run.outcome.events.kernels.size(), 1U);
  EXPECT_EQ(run.outcome.events.kernels[0].dispatches, 6U);
}

}  // namespace
}  // namespace perflab::test
