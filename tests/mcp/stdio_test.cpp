// Lines on descriptors.
#include "mcp/stdio.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>

#include "mcp/sample_offer.h"

namespace perflab::mcp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(McpLines, AreCutAtNewlinesWhereverTheBytesAreTorn) {
  LineSplitter splitter(100);
  EXPECT_THAT(splitter.feed("ab"), IsEmpty());
  EXPECT_THAT(splitter.feed("c\n\nde"), ElementsAre("abc", ""));
  EXPECT_THAT(splitter.feed("\n"), ElementsAre("de"));
  EXPECT_THAT(splitter.feed(""), IsEmpty());
}

TEST(McpLines, ALongLineIsSeenToBeTooLongAndIsNotKept) {
  LineSplitter splitter(10);
  for (int i = 0; i < 1000; ++i) EXPECT_THAT(splitter.feed("0123456"), IsEmpty());
  EXPECT_THAT(splitter.feed("x\nok\n"), ElementsAre("01234560123", "ok"));
  EXPECT_THAT(splitter.feed("0123456789\n"), ElementsAre("0123456789"));
}

/// A server in a thread, with pipes for its client.
class PipedServer {
 public:
  explicit PipedServer(Runner runner) {
    EXPECT_EQ(::pipe2(to_.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(from_.data(), O_CLOEXEC), 0);
    thread_ = std::thread([this, runner = std::move(runner)] {
      result_ = serve({.input = to_[0], .output = from_[1], .most_bytes = 1 << 20}, sample_offer(),
                      runner);
    });
  }
  ~PipedServer() {
    end_input();
    join();
    ::close(to_[0]);
    ::close(from_[1]);
    stop_reading();
  }
  void say(const std::string& bytes) {
    EXPECT_EQ(::write(to_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  /// The next line; empty when none comes for a minute.
  std::string line() {
    while (unread_.find('\n') == std::string::npos) {
      pollfd wait{from_[0], POLLIN, 0};
      std::array<char, 4096> buffer{};
      if (::poll(&wait, 1, 60'000) <= 0) return "";
      const ssize_t got = ::read(from_[0], buffer.data(), buffer.size());
      if (got <= 0) return "";
      unread_.append(buffer.data(), static_cast<std::size_t>(got));
    }
    const std::size_t end = unread_.find('\n');
    const std::string out = unread_.substr(0, end);
    unread_.erase(0, end + 1);
    return out;
  }
  void wait_for_output() const {
    pollfd wait{from_[0], POLLIN, 0};
    EXPECT_EQ(::poll(&wait, 1, 60'000), 1);
  }
  void end_input() { close_once(to_[1]); }
  void stop_reading() { close_once(from_[0]); }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  Result<void> result_;

 private:
  static void close_once(int& descriptor) {
    if (descriptor >= 0) ::close(descriptor);
    descriptor = -1;
  }
  std::array<int, 2> to_{}, from_{};
  std::string unread_;
  std::thread thread_;
};

Outcome run_nothing(const std::vector<std::string>& /*words*/,
                    const std::function<bool()>& /*give_up*/) {
  Outcome out;
  out.exit_code = 0;
  out.output = "{\"text\": \"" + std::string(300'000, 'x') + "\"}";
  out.output_bytes = out.output.size();
  return out;
}

const std::string kCall =
    modern_request(7, "tools/call", {{"name", "analyze"}, {"arguments", {{"FILES", {"a"}}}}})
        .dump() +
    "\n";

TEST(McpStdio, AnswersLineByLineAmongTornAndHostileOnes) {
  PipedServer server(run_nothing);
  server.say("\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi");
  server.say("ng\"}\r\nnonsense\n" + std::string("\0\x01\xff\n", 4));
  EXPECT_EQ(Json::parse(server.line())["id"], 1);
  EXPECT_EQ(Json::parse(server.line())["error"]["code"], -32700);
  server.say(kCall);
  Json answer;
  do answer = Json::parse(server.line());
  while (!answer.contains("id"));
  EXPECT_EQ(answer["result"]["structuredContent"]["text"].get<std::string>().size(), 300'000U);
  server.end_input();
  server.join();
  EXPECT_TRUE(server.result_.has_value());
}

TEST(McpStdio, TheEndOfInputEndsACallThatRuns) {
  std::atomic<bool> started = false, given_up = false;
  PipedServer server([&](const auto&, const std::function<bool()>& give_up) {
    started = true;
    while (!give_up()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    given_up = true;
    return Outcome{};
  });
  server.say(kCall);
  while (!started) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  server.end_input();
  server.join();
  EXPECT_TRUE(given_up);
  EXPECT_TRUE(server.result_.has_value());
}

TEST(McpStdio, TheEndOfInputEndsItAlthoughAnAnswerIsNotRead) {
  PipedServer server(run_nothing);
  server.say(kCall);
  server.wait_for_output();  // more follows than a pipe can hold
  server.end_input();
  server.join();
  EXPECT_TRUE(server.result_.has_value());
}

TEST(McpStdio, AClientThatReadsNoLongerEndsIt) {
  PipedServer server(run_nothing);
  server.stop_reading();
  server.say(kCall);
  server.join();
  EXPECT_TRUE(server.result_.has_value());
}

}  // namespace
}  // namespace perflab::mcp
