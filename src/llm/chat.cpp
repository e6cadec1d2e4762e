// Server, key and retries. Nothing in here prints; every text that leaves it went through Secrets.
#include "llm/chat.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <utility>

#include "base/system/environment.h"
#include "base/system/interrupt.h"
#include "llm/http.h"
#include "llm/secrets.h"
#include "llm/wire.h"

namespace perflab::llm {

struct Chat::State {
  Http http;
  Endpoint endpoint;
  ChatLimits limits;
  Secrets secrets;
};

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kStatusOk = 200, kStatusTooMany = 429, kStatusUnauthorised = 401,
              kStatusForbidden = 403, kStatusNotFound = 404, kRedirects = 300, kClientErrors = 400;

/// By the server it is for, else by the model's name.
Provider guess_provider(const std::string& host, const std::string& model) {
  if (host == own_host(Provider::anthropic)) return Provider::anthropic;
  if (host.empty() && model.starts_with("claude")) return Provider::anthropic;
  return Provider::openai;
}

Result<Provider> choose_provider(const ChatOptions& options, const std::string& host) {
  if (options.provider.empty()) return guess_provider(host, options.model);
  if (const auto provider = provider_from(options.provider)) return *provider;
  return fail(ErrorCode::usage,
              fmt::format("\"{}\" is not a provider of chat completions", options.provider),
              "openai (any server of that form) or anthropic");
}

Result<std::string> choose_key(Provider provider, const ServerPlace& place) {
  PERFLAB_TRY(std::string key, read_key("ROCM_PERF_LLM_KEY"));
  const bool own = place.host == own_host(provider);
  if (key.empty() && own) {
    PERFLAB_TRY(key, read_key(own_key_variable(provider)));
  }
  if (!key.empty() || place.loopback) return key;
  return fail(ErrorCode::missing_tool, fmt::format("there is no key for {}", place.shown),
              fmt::format("set ROCM_PERF_LLM_KEY in the environment{}",
                          own ? fmt::format(", or {}", own_key_variable(provider)) : ""));
}

/// Waits; false: Ctrl-C came.
bool pause(milliseconds time) {
  const auto end = Clock::now() + time;
  while (!interrupted()) {
    const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
    if (left <= milliseconds(0)) return true;
    pollfd wake{.fd = interrupt_descriptor(), .events = POLLIN, .revents = 0};
    constexpr milliseconds kTurn{200};  // without an InterruptScope nothing wakes us
    ::poll(&wake, 1, static_cast<int>(std::min(left, kTurn).count()));
  }
  return false;
}

/// Whether the same request may do better the next time.
bool worth_a_retry(const HttpAnswer& answer) {
  constexpr int kServerErrors = 500;
  if (answer.end == HttpEnd::answered)
    return answer.status == kStatusTooMany || answer.status >= kServerErrors;
  return answer.end == HttpEnd::unreachable || answer.end == HttpEnd::broken;
}

bool is_redirect(int status) {
  return status >= kRedirects && status < kClientErrors;
}

std::string remedy_for(int status) {
  if (status == kStatusUnauthorised || status == kStatusForbidden)
    return "look at the key in the environment (ROCM_PERF_LLM_KEY)";
  if (status == kStatusNotFound) return "look at --model and --base-url";
  if (is_redirect(status)) return "give --base-url the address that it redirects to";
  return "do what it says, or ask another server or model: --base-url, --model";
}

}  // namespace

Chat::Chat(std::unique_ptr<State> state) : state_(std::move(state)) {}
Chat::Chat(Chat&&) noexcept = default;
Chat::~Chat() = default;

Result<Chat> Chat::open(const ChatOptions& options) {
  if (options.model.empty())
    return fail(ErrorCode::usage, "no model is named for --proposer llm", "name one with --model");
  PERFLAB_TRY(Http http, Http::open());
  std::string base_url = options.base_url;
  if (base_url.empty()) base_url = environment("ROCM_PERF_LLM_BASE_URL");
  std::string host;
  if (!base_url.empty()) {
    PERFLAB_TRY(const ServerPlace named, http.place(base_url));
    host = named.host;
  }
  PERFLAB_TRY(const Provider provider, choose_provider(options, host));
  PERFLAB_TRY(const ServerPlace place,
              http.place(base_url.empty() ? own_base_url(provider) : base_url));
  PERFLAB_TRY(const std::string key, choose_key(provider, place));
  return Chat(std::make_unique<State>(State{.http = std::move(http),
                                            .endpoint = make_endpoint(provider, place, key),
                                            .limits = options.limits,
                                            .secrets = Secrets::from_environment()}));
}

namespace {

/// The tries of one exchange.
class Exchange {
 public:
  Exchange(const Http& http, const Endpoint& endpoint, const ChatLimits& limits,
           const Secrets& secrets)
      : http_(http), endpoint_(endpoint), limits_(limits), secrets_(secrets) {}

  Result<ChatReply> run(std::string body) {
    const auto deadline = Clock::now() + limits_.total;
    HttpRequest request{.url = endpoint_.url,
                        .headers = endpoint_.headers,
                        .body = std::move(body),
                        .connect_limit = limits_.connect,
                        .limit = limits_.exchange,
                        .most_bytes = limits_.most_answer_bytes,
                        // A proxy would get the key of a server on this machine in the clear.
                        .direct = endpoint_.loopback};
    milliseconds wait = limits_.first_wait;
    for (unsigned tries = 1;; ++tries) {
      request.limit = std::clamp(left_until(deadline), milliseconds(1), limits_.exchange);
      PERFLAB_TRY(const HttpAnswer answer, http_.post(request));
      if (answer.end == HttpEnd::interrupted) return stopped();
      if (!worth_a_retry(answer)) return conclude(answer);
      if (tries > limits_.retries) return given_up(answer, tries, "");
      const milliseconds pause_for = answer.retry_after ? milliseconds(*answer.retry_after) : wait;
      if (pause_for > limits_.longest_wait)
        return given_up(answer, tries,
                        fmt::format(", and asks to wait {} s", answer.retry_after->count()));
      if (pause_for >= left_until(deadline)) return given_up(answer, tries, "");
      if (!pause(pause_for)) return stopped();
      wait = std::min(wait * 2, limits_.longest_wait);
    }
  }

 private:
  static milliseconds left_until(Clock::time_point deadline) {
    return std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
  }

  [[nodiscard]] std::unexpected<Error> stopped() const {
    return fail(ErrorCode::interrupted,
                fmt::format("the exchange with {} was interrupted", endpoint_.shown));
  }

  [[nodiscard]] Result<ChatReply> conclude(const HttpAnswer& answer) const {
    if (answer.end == HttpEnd::timed_out)
      return reply_with_problem("timed_out", "the chat server did not finish its answer in time");
    if (answer.end == HttpEnd::too_large)
      return reply_with_problem("too_large", fmt::format("the chat server's answer is larger than "
                                                         "{} KiB; it was not read further",
                                                         limits_.most_answer_bytes / 1024));
    if (answer.status == kStatusOk) return read_reply(answer.body, endpoint_.provider, secrets_);
    return fail(ErrorCode::missing_tool, failure_of(answer), remedy_for(answer.status));
  }

  [[nodiscard]] std::unexpected<Error> given_up(const HttpAnswer& answer, unsigned tries,
                                                std::string_view more) const {
    return fail(
        ErrorCode::missing_tool,
        fmt::format("{}{} ({} {})", failure_of(answer), more, tries, tries == 1 ? "try" : "tries"),
        "see that the server runs and can be reached, then go on with --resume");
  }

  [[nodiscard]] std::string failure_of(const HttpAnswer& answer) const {
    const std::string server = "the chat server " + endpoint_.shown;
    if (answer.end == HttpEnd::unreachable)
      return fmt::format("{} cannot be reached: {}", server, secrets_.without(answer.detail));
    if (answer.end != HttpEnd::answered)
      return fmt::format("{} does not answer: {}", server, secrets_.without(answer.detail));
    if (is_redirect(answer.status))
      return fmt::format(
          "{} answers with a redirect ({}), which is not followed because of the key", server,
          answer.status);
    const std::string words = refusal_text(answer.body, secrets_);
    return fmt::format("{} answers with status {}{}{}", server, answer.status,
                       words.empty() ? "" : ": ", words);
  }

  const Http& http_;
  const Endpoint& endpoint_;
  const ChatLimits& limits_;
  const Secrets& secrets_;
};

}  // namespace

Result<ChatReply> Chat::ask(const ChatRequest& request) const {
  return Exchange(state_->http, state_->endpoint, state_->limits, state_->secrets)
      .run(wire_body(request, state_->endpoint));
}

}  // namespace perflab::llm
