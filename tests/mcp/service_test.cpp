// Calls in their thread: order, cancelling, ends.
#include "mcp/service.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>

#include "mcp/sample_offer.h"

namespace perflab::mcp {
namespace {

/// Runs nothing: a call of a file named "wait" goes on until it is given up.
class FakeRunner {
 public:
  Outcome operator()(const std::vector<std::string>& words, const std::function<bool()>& give_up) {
    const std::string& file = words.at(1);
    {
      const std::lock_guard lock(mutex_);
      started_.push_back(file);
    }
    changed_.notify_all();
    if (file == "throw") throw std::runtime_error("thrown");
    while (file == "wait" && !give_up()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Outcome out;
    out.exit_code = 0;
    out.output = fmt::format("{{\"file\": \"{}\"}}", file);
    out.output_bytes = out.output.size();
    return out;
  }

  void wait_for_start(const std::string& file) {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, std::chrono::seconds(60), [&] {
      return std::ranges::find(started_, file) != started_.end();
    })) << file;
  }
  std::vector<std::string> started() {
    const std::lock_guard lock(mutex_);
    return started_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> started_;
};

struct McpService : testing::Test {
  std::unique_ptr<Service> make() {
    return std::make_unique<Service>(
        sample_offer(), std::size_t{1} << 20,
        [this](const std::vector<std::string>& words, const std::function<bool()>& give_up) {
          return runner_(words, give_up);
        },
        [this](const Json& message) {
          const std::lock_guard lock(mutex_);
          sent_.push_back(message);
        });
  }
  static std::string call(const Json& id, const std::string& file) {
    return modern_request(id, "tools/call",
                          {{"name", "analyze"}, {"arguments", {{"FILES", {file}}}}})
        .dump();
  }
  static std::string cancel(const Json& id) {
    return Json{
        {"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", id}}}}
        .dump();
  }
  /// The messages that were sent about an id.
  std::vector<Json> sent_about(const Json& id) {
    const std::lock_guard lock(mutex_);
    std::vector<Json> out;
    for (const Json& message : sent_)
      if (message.contains("id") && message["id"] == id) out.push_back(message);
    return out;
  }

  FakeRunner runner_;
  std::mutex mutex_;
  std::vector<Json> sent_;
};

TEST_F(McpService, RunsCallsInOrder) {
  const auto service = make();
  for (int i = 0; i < 5; ++i) service->receive(call(i, fmt::format("f{}", i)));
  service->drain();
  EXPECT_THAT(runner_.started(), testing::ElementsAre("f0", "f1", "f2", "f3", "f4"));
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(sent_about(i).at(0)["result"]["structuredContent"]["file"], fmt::format("f{}", i));
}

TEST_F(McpService, AnswersOtherRequestsWhileACallRuns) {
  const auto service = make();
  service->receive(call(1, "wait"));
  runner_.wait_for_start("wait");
  service->receive(modern_request(2, "tools/list").dump());
  EXPECT_EQ(sent_about(2).size(), 1U);
  service->receive(cancel(1));
  service->drain();
}

TEST_F(McpService, ACancelledCallEndsUnansweredAndTheNextOneRuns) {
  const auto service = make();
  service->receive(call("a", "wait"));
  service->receive(call("b", "never"));
  service->receive(call("c", "last"));
  runner_.wait_for_start("wait");
  service->receive(cancel("b"));  // waits still
  service->receive(cancel("a"));
  service->receive(cancel("unknown"));
  service->drain();
  EXPECT_TRUE(sent_about("a").empty());
  EXPECT_TRUE(sent_about("b").empty());
  EXPECT_EQ(sent_about("c").size(), 1U);
  EXPECT_THAT(runner_.started(), testing::ElementsAre("wait", "last"));
}

TEST_F(McpService, TheEndGivesUpWhatRunsAndForgetsWhatWaits) {
  auto service = make();
  service->receive(call(1, "wait"));
  service->receive(call(2, "never"));
  runner_.wait_for_start("wait");
  service.reset();
  EXPECT_TRUE(sent_.empty());
  EXPECT_THAT(runner_.started(), testing::ElementsAre("wait"));
}

TEST_F(McpService, RefusesAnIdThatIsInUseAndMoreCallsThanCanWait) {
  const auto service = make();
  service->receive(call("run", "wait"));
  runner_.wait_for_start("wait");
  service->receive(call("run", "x"));
  EXPECT_EQ(sent_about("run").at(0)["error"]["code"], -32600);
  for (std::size_t i = 0; i < kMostWaitingCalls; ++i) service->receive(call(i, "x"));
  service->receive(call(3, "x"));
  EXPECT_EQ(sent_about(3).at(0)["error"]["code"], -32600);
  service->receive(call("more", "x"));
  EXPECT_EQ(sent_about("more").at(0)["error"]["code"], -32000);
  for (std::size_t i = 0; i < kMostWaitingCalls; ++i) service->receive(cancel(i));
  service->receive(cancel("run"));
  service->drain();
  EXPECT_EQ(runner_.started().size(), 1U);
}

TEST_F(McpService, ALaterCallReadsWhatAnEarlierOneLeft) {
  const auto service = make();
  service->receive(call(1, "f"));
  service->drain();
  service->receive(modern_request(2, "resources/list").dump());
  const Json listed = sent_about(2).at(0)["result"]["resources"].back();
  service->receive(modern_request(3, "tools/call",
                                  {{"name", "read_document"},
                                   {"arguments", {{"uri", listed["uri"]}, {"section", "file"}}}})
                       .dump());
  service->drain();
  EXPECT_EQ(sent_about(3).at(0)["result"]["structuredContent"]["value"], "f");
  EXPECT_EQ(runner_.started().size(), 1U) << "reading runs nothing";
}

TEST_F(McpService, AnExceptionIsAnErrorAndNotTheEnd) {
  const auto service = make();
  service->receive(call(1, "throw"));
  service->receive(call(2, "after"));
  service->drain();
  EXPECT_EQ(sent_about(1).at(0)["error"]["code"], -32603);
  EXPECT_EQ(sent_about(2).size(), 1U);
}

}  // namespace
}  // namespace perflab::mcp
