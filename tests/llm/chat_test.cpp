// Exchanges with a chat server that plays every part: good, broken, slow, rate-limited, malicious
// and never-ending. Waits are milliseconds.
#include "llm/chat.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/interrupt.h"
#include "base/temp_folder.h"
#include "llm/chat_server.h"
#include "llm/curl_library.h"
#include "llm/http.h"

namespace perflab::llm {
namespace {

using namespace test;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSecretKey = "sk-test-0123456789-secret";

/// No key, server or proxy of whoever runs the tests.
class ChatTest : public ::testing::Test {
 protected:
  ScopedVariable key_{"ROCM_PERF_LLM_KEY", kSecretKey};
  ScopedVariable openai_{"OPENAI_API_KEY", std::nullopt};
  ScopedVariable anthropic_{"ANTHROPIC_API_KEY", std::nullopt};
  ScopedVariable url_{"ROCM_PERF_LLM_BASE_URL", std::nullopt};
  ScopedVariable proxy_{"http_proxy", std::nullopt}, https_{"https_proxy", std::nullopt},
      https_upper_{"HTTPS_PROXY", std::nullopt}, all_{"all_proxy", std::nullopt},
      all_upper_{"ALL_PROXY", std::nullopt};
};

/// A port that refuses connections for as long as this lives: a socket is bound to it, so that no
/// other program gets it, and nobody listens.
class ClosedPort {
 public:
  ClosedPort() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const place = reinterpret_cast<sockaddr*>(&address);
    EXPECT_TRUE(::bind(fd_, place, size) == 0 && ::getsockname(fd_, place, &size) == 0);
    url_ = fmt::format("http://127.0.0.1:{}", ntohs(address.sin_port));
  }
  ~ClosedPort() { ::close(fd_); }
  ClosedPort(const ClosedPort&) = delete;
  ClosedPort& operator=(const ClosedPort&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  int fd_;
  std::string url_;
};

template <class Server>
ChatOptions quick(const Server& server) {
  ChatOptions options;
  options.model = "some-model";
  options.base_url = server.url() + "/v1/";
  options.limits.first_wait = milliseconds(2);
  options.limits.retries = 3;
  return options;
}

ChatRequest question() {
  ChatRequest request;
  request.model = "some-model";
  request.system = "Be brief.";
  request.user = "Faster, \"please\"\n\xFF";
  request.max_answer_tokens = 500;
  request.temperature = 0.0;
  request.seed = 7;
  return request;
}

Result<ChatReply> ask(const ChatOptions& options) {
  PERFLAB_TRY(Chat chat, Chat::open(options));
  return chat.ask(question());
}

std::string failure(const ChatOptions& options) {
  const auto reply = ask(options);
  if (reply) return "a reply: " + reply->text + reply->problem;
  EXPECT_EQ(reply.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(describe(reply.error()), Not(HasSubstr(kSecretKey)));
  return reply.error().message;
}

TEST_F(ChatTest, AsksInOpenAisForm) {
  const ChatServer server({says("Hello", 12, 3)});
  const auto reply = ask(quick(server));
  ASSERT_TRUE(reply.has_value()) << describe(reply.error());
  EXPECT_EQ(reply->text, "Hello");
  EXPECT_EQ(reply->finish, "stop");
  EXPECT_EQ(reply->prompt_tokens, 12U);
  EXPECT_EQ(reply->completion_tokens, 3U);
  ASSERT_EQ(server.seen().size(), 1U);
  const SeenRequest seen = server.seen().front();
  EXPECT_THAT(seen.head, HasSubstr("POST /v1/chat/completions HTTP/1.1\r\n"));
  EXPECT_THAT(seen.head, HasSubstr(std::string("Authorization: Bearer ") + kSecretKey + "\r\n"));
  EXPECT_EQ(
      seen.body,
      R"({"model":"some-model","max_tokens":500,"messages":[{"role":"system","content":"Be brief."},)"
      R"({"role":"user","content":"Faster, \"please\"\n)"
      "\xEF\xBF\xBD"
      R"("}],"temperature":0.0,"seed":7})");
}

TEST_F(ChatTest, AsksInAnthropicsForm) {
  const ChatServer server({says_as_anthropic("Hello")});
  ChatOptions options = quick(server);
  options.provider = "anthropic";
  options.base_url = server.url();
  const auto reply = ask(options);
  ASSERT_TRUE(reply.has_value()) << describe(reply.error());
  EXPECT_EQ(reply->text, "Hello");
  EXPECT_EQ(reply->prompt_tokens, 75U);
  EXPECT_EQ(reply->completion_tokens, 7U);
  const SeenRequest seen = server.seen().front();
  EXPECT_THAT(seen.head, HasSubstr("POST /v1/messages HTTP/1.1\r\n"));
  EXPECT_THAT(seen.head, HasSubstr(std::string("x-api-key: ") + kSecretKey + "\r\n"));
  EXPECT_THAT(seen.head, HasSubstr("anthropic-version: 2023-06-01\r\n"));
  EXPECT_THAT(seen.head, Not(HasSubstr("Authorization")));
  EXPECT_EQ(seen.body, R"({"model":"some-model","max_tokens":500,"system":"Be brief.","messages":)"
                       R"([{"role":"user","content":"Faster, \"please\"\n)"
                       "\xEF\xBF\xBD"
                       R"("}],"temperature":0.0})");
}

TEST_F(ChatTest, TakesTheServerFromTheEnvironment) {
  const ChatServer server({says("Hello")});
  const ScopedVariable url("ROCM_PERF_LLM_BASE_URL", server.url());
  ChatOptions options = quick(server);
  options.base_url.clear();
  EXPECT_EQ(ask(options).value().text, "Hello");
}

TEST_F(ChatTest, GivesAProvidersOwnKeyToNoOtherServer) {
  const ChatServer server({says("Hello")});
  const ScopedVariable none("ROCM_PERF_LLM_KEY", std::nullopt);
  const ScopedVariable own("OPENAI_API_KEY", kSecretKey), other("ANTHROPIC_API_KEY", kSecretKey);
  EXPECT_EQ(ask(quick(server)).value().text, "Hello");
  EXPECT_THAT(server.seen().front().head, Not(HasSubstr(kSecretKey)));
  ChatOptions options;
  options.model = "m";
  EXPECT_TRUE(Chat::open(options).has_value());
  options.model = "claude-x";
  EXPECT_TRUE(Chat::open(options).has_value());
  options.base_url = "https://example.com/v1";
  const auto chat = Chat::open(options);
  ASSERT_FALSE(chat.has_value());
  EXPECT_EQ(chat.error().code, ErrorCode::missing_tool);
  EXPECT_EQ(chat.error().message, "there is no key for https://example.com");
}

TEST_F(ChatTest, AsksAServerOnThisMachineWithoutAProxy) {
  const ChatServer server({says("Hello")}), proxy({says("Evil")});
  const ScopedVariable variable("http_proxy", proxy.url());
  EXPECT_EQ(ask(quick(server)).value().text, "Hello");
  EXPECT_TRUE(proxy.seen().empty());
}

TEST_F(ChatTest, RefusesServersThatWouldBetrayTheKey) {
  const auto why = [](const std::string& url) {
    ChatOptions options;
    options.model = "m";
    options.base_url = url;
    const auto chat = Chat::open(options);
    if (chat) return std::string("opened");
    EXPECT_EQ(chat.error().code, ErrorCode::usage) << url;
    EXPECT_THAT(describe(chat.error()), Not(HasSubstr("hidden")));
    return chat.error().message;
  };
  EXPECT_THAT(why("http://example.com/v1"), HasSubstr("could be read on the way"));
  EXPECT_THAT(why("http://127.0.0.1.example.com"), HasSubstr("could be read on the way"));
  EXPECT_THAT(why("http://localhost@example.com"), HasSubstr("a user or a password"));
  EXPECT_THAT(why("https://user:hidden@example.com"), HasSubstr("a user or a password"));
  EXPECT_THAT(why("https://example.com/v1?key=hidden"), HasSubstr("a query"));
  EXPECT_THAT(why("ftp://example.com"), HasSubstr("not ftp"));
  EXPECT_THAT(why("file:///etc/passwd"), Not(HasSubstr("opened")));
  EXPECT_THAT(why("example.com/v1"), HasSubstr("is not a URL"));
  EXPECT_THAT(why("https://"), HasSubstr("is not a URL"));
  EXPECT_EQ(why("http://[::1]:8000"), "opened");
  EXPECT_EQ(why("http://LOCALHOST:8000"), "opened");
  EXPECT_EQ(why("http://127.8.0.1"), "opened");
  ChatOptions options;
  EXPECT_EQ(Chat::open(options).error().code, ErrorCode::usage);
  options.model = "m";
  options.provider = "acme";
  EXPECT_EQ(Chat::open(options).error().code, ErrorCode::usage);
}

TEST_F(ChatTest, NamesAnswersThatAreNone) {
  std::vector<std::string> bodies;
  for (const char* body :
       {"", "not JSON", "[]", "{}", "null", R"({"choices":[]})", R"({"choices":[{"message":{}}]})",
        R"({"choices":[{"message":{"content":null}}]})", R"({"choices":{"message":"x"}})",
        R"({"choices":[{"message":{"content":7}}]})", "{\"choices\": \"\xFF\"}"})
    bodies.emplace_back(body);
  const std::string deep(100'000, '[');
  bodies.push_back(R"({"choices":)" + deep + std::string(deep.size(), ']') + "}");
  bodies.push_back(R"({"choices":[{"message":{"content":)" + deep);
  for (const std::string& body : bodies) {
    const ChatServer server({answers(200, body)});
    const auto reply = ask(quick(server));
    ASSERT_TRUE(reply.has_value()) << body.substr(0, 50);
    EXPECT_EQ(reply->problem, "bad_answer") << body.substr(0, 50);
    EXPECT_EQ(server.seen().size(), 1U);
  }
}

TEST_F(ChatTest, ReadsOddButGoodAnswers) {
  const ChatServer server({answers(
      200, R"({"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"image"},)"
           R"({"type":"text","text":"b"}]},"finish_reason":"length"}],"usage":{"prompt_tokens":-3,)"
           R"("completion_tokens":"many"}})")});
  const auto reply = ask(quick(server));
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->text, "ab");
  EXPECT_TRUE(reply->cut_off);
  EXPECT_EQ(reply->prompt_tokens, std::nullopt);
  EXPECT_EQ(reply->completion_tokens, std::nullopt);
}

TEST_F(ChatTest, EndsWhatIsTooLongOrTooSlow) {
  ChatOptions options;
  {
    const ChatServer server({never_ends()});
    options = quick(server);
    const auto reply = ask(options);
    ASSERT_TRUE(reply.has_value()) << describe(reply.error());
    EXPECT_EQ(reply->problem, "too_large");
    EXPECT_EQ(reply->problem_detail,
              "the chat server's answer is larger than 4096 KiB; it was not read further");
    EXPECT_EQ(server.seen().size(), 1U);
  }
  {
    const ChatServer server({answers(200, openai_body(std::string(100'000, 'x'), 1, 1))});
    options = quick(server);
    options.limits.most_answer_bytes = 50'000;
    EXPECT_EQ(ask(options).value().problem, "too_large");
  }
  {
    const ChatServer server({never_ends_its_headers()});
    EXPECT_EQ(ask(quick(server)).value().problem, "too_large");
  }
  {
    const ChatServer server({keeps_silent()});
    options = quick(server);
    options.limits.exchange = milliseconds(50);
    EXPECT_EQ(ask(options).value().problem, "timed_out");
  }
}

TEST_F(ChatTest, TriesAgainWhenTheServerIsBusyOrBroken) {
  const ChatServer server({answers(429, "{}"), answers(503, "busy"), resets(), says("Hello")});
  EXPECT_EQ(ask(quick(server)).value().text, "Hello");
  const auto seen = server.seen();
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_EQ(seen.front().body, seen.back().body);
}

TEST_F(ChatTest, WaitsAsLongAsTheServerAsks) {
  const ChatServer server({answers(429, "{}", "Retry-After: 1\r\n"), says("Hello")});
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(ask(quick(server)).value().text, "Hello");
  EXPECT_GE(std::chrono::steady_clock::now() - before, milliseconds(990));
}

TEST_F(ChatTest, GivesUpWithAReason) {
  {
    const ChatServer server({answers(500, R"({"error":{"message":"out of GPUs\nsorry"}})")});
    EXPECT_EQ(failure(quick(server)), "the chat server " + server.url() +
                                          " answers with status 500: out of GPUs (4 tries)");
    EXPECT_EQ(server.seen().size(), 4U);
  }
  {
    const ChatServer server({answers(429, "{}", "Retry-After: 3600\r\n")});
    EXPECT_EQ(failure(quick(server)),
              "the chat server " + server.url() +
                  " answers with status 429, and asks to wait 3600 s (1 try)");
  }
  {
    const ChatServer server({answers(429, "{}")});
    ChatOptions options = quick(server);
    options.limits.first_wait = milliseconds(60'000);  // does not fit, so that nothing waits
    options.limits.total = milliseconds(20'000);
    EXPECT_THAT(failure(options), HasSubstr("status 429 (1 try)"));
  }
  {
    const ChatServer server({breaks_off()});
    EXPECT_THAT(failure(quick(server)), HasSubstr(" does not answer: transferred a partial file"));
    EXPECT_EQ(server.seen().size(), 4U);
  }
  const ClosedPort closed;
  ChatOptions options = quick(closed);
  EXPECT_THAT(failure(options), HasSubstr("cannot be reached: connection refused (4 tries)"));
  options.base_url = "https://no-such-host.invalid/v1";
  options.limits.retries = 0;
  options.limits.connect = milliseconds(3'000);  // a name server may be slow to say that
  EXPECT_THAT(failure(options),
              HasSubstr("the chat server https://no-such-host.invalid cannot be reached: "));
}

TEST_F(ChatTest, DoesNotTryAgainWhenItIsRefused) {
  const std::string words = std::string(R"({"error":{"message":"Incorrect key )") + kSecretKey +
                            R"(, really \u0073k-test-0123456789-secret","type":"auth"}})";
  const ChatServer server({answers(401, words)});
  EXPECT_EQ(failure(quick(server)),
            "the chat server " + server.url() +
                " answers with status 401: Incorrect key [key], really [key]");
  EXPECT_EQ(server.seen().size(), 1U);
}

TEST_F(ChatTest, FollowsNoRedirect) {
  const ChatServer other({says("Evil")});
  const ChatServer server(
      {answers(307, "", "Location: " + other.url() + "/v1/chat/completions\r\n")});
  EXPECT_THAT(failure(quick(server)), HasSubstr("a redirect (307), which is not followed"));
  EXPECT_EQ(server.seen().size(), 1U);
  EXPECT_TRUE(other.seen().empty());
}

TEST_F(ChatTest, TakesTheKeyOutOfAnAnswer) {
  const ChatServer server({says(std::string("// your key is ") + kSecretKey)});
  EXPECT_EQ(ask(quick(server)).value().text, "// your key is [key]");
}

TEST_F(ChatTest, StopsAtCtrlC) {
  const InterruptScope scope;
  // While an answer is awaited, and while it waits for the next try: minutes, both.
  for (const bool silent : {true, false}) {
    const auto part = silent ? keeps_silent() : answers(503, "");
    const ChatServer server({[&](const ServerConnection& connection, const SeenRequest& request) {
      raise_interrupt();
      part(connection, request);
    }});
    ChatOptions options = quick(server);
    options.limits.first_wait = milliseconds(60'000);
    const auto reply = ask(options);
    clear_interrupts();
    ASSERT_FALSE(reply.has_value());
    EXPECT_EQ(reply.error().code, ErrorCode::interrupted);
  }
}

TEST_F(ChatTest, KeepsARecordedReply) {
  ChatReply reply;
  reply.text = "t";
  reply.finish = "stop";
  reply.prompt_tokens = 5;
  const ChatReply back = reply_from_json(to_json(reply), "f").value();
  EXPECT_EQ(to_json(back), to_json(reply));
  EXPECT_EQ(back.completion_tokens, std::nullopt);
  for (const char* bad : {"[]", "{}", R"({"text":1})", R"({"problem":"x"})",
                          R"({"text":"","finish":"","cut_off":false,"prompt_tokens":-1})"})
    EXPECT_EQ(reply_from_json(Json::parse(bad), "f").error().code, ErrorCode::bad_input) << bad;
}

TEST(CurlLibrary, SaysWhatIsMissing) {
  const auto none = open_curl("libno-such-library.so.9");
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(none.error().message, HasSubstr("libno-such-library.so.9"));
  EXPECT_THAT(open_curl("libc.so.6").error().message, HasSubstr("has no curl_global_init"));
}

}  // namespace
}  // namespace perflab::llm
