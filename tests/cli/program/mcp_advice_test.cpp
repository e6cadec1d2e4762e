// What an agent is told to call instead: by the kind of the error and by what the files are.
#include "cli/program/mcp_advice.h"

#include <gmock/gmock.h>

#include "base/temp_folder.h"

namespace perflab::cli {
namespace {

struct McpAdvice : testing::Test {
  McpAdvice() {
    std::filesystem::create_directories(folder_ / "kept.capture");
    std::filesystem::create_directories(folder_ / "ui_output");
    std::ignore = folder_.write("kept.capture/capture_complete.json", "{}");
    std::ignore = folder_.write("ui_output/code.json", "{}");
    std::ignore = folder_.write("b_results.db", "SQLite format 3\n...");
    std::ignore = folder_.write("a_results.db", "SQLite format 3\n...");
    std::ignore = folder_.write("kernels.hsaco",
                                "\x7f"
                                "ELF...");
    std::ignore = folder_.write("notes.txt", "text");
  }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  static std::vector<std::string> told(const std::string& tool, const Json& arguments,
                                       ErrorCode kind = ErrorCode::bad_input) {
    std::vector<std::string> out;
    for (const mcp::Advice& one : mcp_advice(tool, arguments, kind, false))
      out.push_back(one.tool + " " + one.arguments.dump());
    return out;
  }

  const test::TempFolder folder_;
};

using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(McpAdvice, AFileOfAnotherKindHasItsTool) {
  EXPECT_THAT(told("analyze", {{"TRACE", {path("kernels.hsaco")}}}),
              ElementsAre("inspect {\"FILE\":\"" + path("kernels.hsaco") + "\"}"));
  EXPECT_THAT(told("inspect", {{"FILE", path("a_results.db")}}),
              ElementsAre("analyze {\"TRACE\":[\"" + path("a_results.db") + "\"]}"));
  EXPECT_THAT(told("analyze", {{"TRACE", {path("kept.capture")}}}),
              ElementsAre("capture_check {\"DIR\":\"" + path("kept.capture") + "\"}"));
  EXPECT_THAT(told("inspect", {{"FILE", path("ui_output")}}),
              ElementsAre("analyze {\"att\":[\"" + path("ui_output") + "\"]}"));
  EXPECT_THAT(told("analyze", {{"TRACE", {path("a_results.db")}}}), IsEmpty())
      << "it is damaged, and no other tool takes it";
  EXPECT_THAT(told("analyze", {{"TRACE", {path("notes.txt")}}}), IsEmpty());
}

TEST_F(McpAdvice, AFileThatIsNotThereHasNeighbours) {
  EXPECT_THAT(told("analyze", {{"TRACE", {path("run.db")}}}),
              ElementsAre("analyze {\"TRACE\":[\"" + path("a_results.db") + "\"]}",
                          "analyze {\"TRACE\":[\"" + path("b_results.db") + "\"]}"));
  EXPECT_THAT(told("capture_check", {{"DIR", path("lost.capture")}}),
              ElementsAre("capture_check {\"DIR\":\"" + path("kept.capture") + "\"}"));
  EXPECT_THAT(told("analyze", {{"TRACE", {folder_.path().string()}}}), testing::SizeIs(2));
  EXPECT_THAT(told("analyze", {{"TRACE", {"/nowhere/at/all.db"}}}), IsEmpty());
}

TEST_F(McpAdvice, OtherKindsHaveTheirs) {
  EXPECT_THAT(told("replay_full_vm", {{"DIR", "c"}}, ErrorCode::missing_tool),
              ElementsAre("doctor {}"));
  EXPECT_THAT(told("doctor", Json::object(), ErrorCode::missing_tool), IsEmpty());
  EXPECT_THAT(told("replay_full_vm", {{"DIR", "c"}, {"iterations", 3}}, ErrorCode::target_failed),
              ElementsAre("replay_reserve_check {\"DIR\":\"c\"}"));
  EXPECT_THAT(told("profile", Json::object(), ErrorCode::usage), testing::SizeIs(1));
  EXPECT_EQ(mcp_advice("profile", Json::object(), ErrorCode::usage, true).front().tool, "profile");
  EXPECT_EQ(mcp_advice("profile", Json::object(), ErrorCode::usage, false).front().tool, "analyze");
  EXPECT_THAT(told("compare", Json::object(), ErrorCode::refused), IsEmpty());
}

}  // namespace
}  // namespace perflab::cli
