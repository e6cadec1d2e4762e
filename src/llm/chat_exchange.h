// What a chat server is asked and what it answers, apart from how it goes over the wire: as
// transcripts hold it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text/json.h"

namespace perflab::llm {

enum class Provider : std::uint8_t { openai, anthropic };
/// "openai", "anthropic".
std::optional<Provider> provider_from(std::string_view name);

struct ChatRequest {
  std::string model{}, system{}, user{};
  std::uint64_t max_answer_tokens = 16'384;
  std::optional<double> temperature{};  ///< missing: the server's own
  std::optional<std::uint64_t> seed{};  ///< Anthropic's form has none: not sent there
};
/// The request as transcripts hold it: "model", "messages", "parameters".
Json to_json(const ChatRequest& request);

/// What came back, made of the server's words with every key taken out.
struct ChatReply {
  std::string text;
  std::string finish;    ///< why the model stopped, in the server's word; may be empty
  bool cut_off = false;  ///< at the limit of tokens
  std::optional<std::uint64_t> prompt_tokens, completion_tokens;  ///< as the server counts
  /// "timed_out", "too_large", "bad_answer" with a sentence; empty: there is a text.
  std::string problem, problem_detail;
};
/// One without a text.
ChatReply reply_with_problem(const char* problem, std::string detail);
Json to_json(const ChatReply& reply);
/// Error (bad_input) naming `what`.
Result<ChatReply> reply_from_json(const Json& json, std::string_view what);

}  // namespace perflab::llm
