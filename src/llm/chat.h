// Chat completions over HTTP: OpenAI's form (/chat/completions), which many servers speak, and
// Anthropic's (/v1/messages). What a request asks is kept apart from how it goes over the wire, so
// that a transcript names neither server nor key.
// Facts: OpenAI's API reference, "Chat completions"; Anthropic's API reference, "Messages",
// version 2023-06-01.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/error.h"
#include "llm/chat_exchange.h"

namespace perflab::llm {

struct ChatLimits {
  std::chrono::milliseconds connect{10'000};    ///< to a connection
  std::chrono::milliseconds exchange{300'000};  ///< one try, from the request to the answer's end
  std::chrono::milliseconds total{900'000};     ///< all tries with the waits between them
  unsigned retries = 5;                         ///< after the first try
  std::chrono::milliseconds first_wait{1'000};  ///< doubled after every try, unless the server says
  std::chrono::milliseconds longest_wait{60'000};
  std::size_t most_answer_bytes = std::size_t{4} << 20;
};

struct ChatOptions {
  std::string model{};
  std::string provider{};  ///< empty: by the base URL, else by the model's name, else OpenAI's form
  std::string base_url{};  ///< empty: $ROCM_PERF_LLM_BASE_URL, else the provider's own server
  ChatLimits limits{};
};

class Chat {
 public:
  /// Finds server and key; no connection is made. The key is $ROCM_PERF_LLM_KEY; the provider's own
  /// servers get $OPENAI_API_KEY or $ANTHROPIC_API_KEY without it, no other server does. A server
  /// on this machine needs none. Errors: usage (no model, no such provider, Http::place()),
  /// missing_tool (no key, no libcurl).
  static Result<Chat> open(const ChatOptions& options);
  Chat(Chat&&) noexcept;
  Chat(const Chat&) = delete;
  Chat& operator=(const Chat&) = delete;
  Chat& operator=(Chat&&) = delete;
  ~Chat();

  /// One exchange. Tried again after 429, 5xx, a refused or broken connection; not after other
  /// refusals nor a time-out. Errors: missing_tool (the server cannot be reached or refuses),
  /// interrupted.
  [[nodiscard]] Result<ChatReply> ask(const ChatRequest& request) const;

 private:
  struct State;
  explicit Chat(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace perflab::llm
