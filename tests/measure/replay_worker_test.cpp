// The asking end of the worker's folder, with shell scripts as workers. The other end runs on the
// stand-in runtime in tests/optimize and tests/cli.
#include "measure/replay_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/system/interrupt.h"

namespace perflab::measure {
namespace {

using testing::HasSubstr;

/// A worker that is a shell script; $1 is its folder.
ReplayWorker scripted(const std::string& script) {
  return ReplayWorker(
      {"sh", "-c", "cd \"$1\"; until [ -e 1.request ]; do sleep 0.01; done; " + script, "sh"},
      {{"capture", "capture"}});
}

TEST(ReplayWorker, AnswersErrorsAndEndsComeBack) {
  ReplayWorker answers = scripted(
      "grep -q '\"capture\": \"capture\"' setup.json || exit 9; cp 1.request x; "
      "printf '{\"answer\": {\"got\": %s}, \"lost\": true}' \"$(cat x)\" > y; mv y 1.answer");
  for (int turn = 0; turn < 2; ++turn) {  // lost: a new one each time
    const auto answer = answers.ask(Json{{"turn", turn}});
    ASSERT_TRUE(answer) << describe(answer.error());
    ASSERT_TRUE(answer->answer) << answer->ended;
    EXPECT_EQ((*answer->answer)["got"]["turn"], turn);
  }
  ReplayWorker refuses = scripted(
      "printf '{\"error\": {\"code\": \"refused\", \"message\": \"no\", \"notes\": [\"n\"], "
      "\"remedy\": \"r\", \"kind\": 4}, \"lost\": true}' > y; mv y 1.answer");
  const auto refused = refuses.ask(Json::object());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::refused);
  EXPECT_EQ(refused.error().message, "no");
  EXPECT_EQ(refused.error().notes, std::vector<std::string>{"n"});
  EXPECT_EQ(refused.error().remedy, "r");
  EXPECT_EQ(refused.error().kind, 4);
  ReplayWorker dies =
      scripted("printf candidate > step; echo 'Memory access fault' >&2; kill -SEGV $$");
  const auto died = dies.ask(Json::object());
  ASSERT_TRUE(died);
  EXPECT_FALSE(died->answer);
  EXPECT_EQ(died->step, "candidate");
  EXPECT_THAT(died->ended, HasSubstr("SIGSEGV"));
  EXPECT_THAT(died->ended, HasSubstr("Memory access fault"));
  ReplayWorker nobody({"/nowhere/rocm-perf"}, {});
  const auto missing = nobody.ask(Json::object());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::missing_tool);
}

TEST(ReplayWorker, AnInterruptEndsTheWait) {
  const InterruptScope scope;
  Result<BenchAnswer> answer;
  {
    ReplayWorker never = scripted("printf x > step; exec sleep 60");
    raise_interrupt();
    answer = never.ask(Json::object());
  }
  clear_interrupts();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::interrupted);
}

}  // namespace
}  // namespace perflab::measure
