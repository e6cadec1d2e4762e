#include "llm/wire.h"

#include <fmt/format.h>

#include "base/text/json_fields.h"
#include "llm/model_answer.h"

namespace perflab::llm {
namespace {

/// What stands at the end of these keys, or null.
const Json& at(const Json& json, std::initializer_list<std::string_view> keys) {
  static const Json kNone;
  const Json* found = member_at(json, keys);
  return found == nullptr ? kNone : *found;
}

const Json& first_of(const Json& json) {
  static const Json kNone;
  return json.is_array() && !json.empty() ? json.front() : kNone;
}

std::optional<std::uint64_t> count_of(const Json& usage, std::string_view key) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50;  // sums of such counts cannot overflow
  const auto count = member_as<std::uint64_t>(usage, key);
  return count && *count <= kMost ? count : std::nullopt;
}

/// A text, or a list of parts of which those of type "text" count; nothing: neither.
std::optional<std::string> content_text(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) return std::nullopt;
  std::string text;
  for (const Json& part : content)
    if (member_as<std::string>(part, "type") == "text")
      text += member_as<std::string>(part, "text").value_or("");
  return text;
}

ChatReply bad_answer(std::string detail) {
  ChatReply reply;
  reply.problem = "bad_answer";
  reply.problem_detail = std::move(detail);
  return reply;
}

/// Prompt tokens of Anthropic's form: those read from or put into a cache are counted apart.
std::optional<std::uint64_t> anthropic_prompt_tokens(const Json& usage) {
  std::optional<std::uint64_t> sum = count_of(usage, "input_tokens");
  for (const char* name : {"cache_creation_input_tokens", "cache_read_input_tokens"})
    if (const auto more = count_of(usage, name); sum && more) *sum += *more;
  return sum;
}

}  // namespace

const char* own_base_url(Provider provider) {
  return provider == Provider::anthropic ? "https://api.anthropic.com"
                                         : "https://api.openai.com/v1";
}

const char* own_host(Provider provider) {
  return provider == Provider::anthropic ? "api.anthropic.com" : "api.openai.com";
}

const char* own_key_variable(Provider provider) {
  return provider == Provider::anthropic ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY";
}

Endpoint make_endpoint(Provider provider, const ServerPlace& place, const std::string& key) {
  Endpoint endpoint;
  endpoint.provider = provider;
  endpoint.shown = place.shown;
  endpoint.loopback = place.loopback;
  endpoint.own_server = place.host == own_host(provider);
  endpoint.headers.emplace_back("Content-Type", "application/json");
  if (provider == Provider::anthropic) {
    endpoint.url = place.url + (place.path.ends_with("/v1") ? "/messages" : "/v1/messages");
    endpoint.headers.emplace_back("anthropic-version", "2023-06-01");
    if (!key.empty()) endpoint.headers.emplace_back("x-api-key", key);
  } else {
    endpoint.url = place.url + "/chat/completions";
    if (!key.empty()) endpoint.headers.emplace_back("Authorization", "Bearer " + key);
  }
  return endpoint;
}

std::string wire_body(const ChatRequest& request, const Endpoint& endpoint) {
  const bool anthropic = endpoint.provider == Provider::anthropic;
  Json body = Json::object();
  body["model"] = request.model;
  // OpenAI's own server takes max_tokens for its older models only; the others know no other name.
  const bool new_name = !anthropic && endpoint.own_server;
  body[new_name ? "max_completion_tokens" : "max_tokens"] = request.max_answer_tokens;
  Json messages = Json::array();
  if (anthropic)
    body["system"] = request.system;
  else
    messages.push_back(Json{{"role", "system"}, {"content", request.system}});
  messages.push_back(Json{{"role", "user"}, {"content", request.user}});
  body["messages"] = std::move(messages);
  if (request.temperature) body["temperature"] = *request.temperature;
  if (request.seed && !anthropic) body["seed"] = *request.seed;
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ChatReply read_reply(const std::string& body, Provider provider, const Secrets& secrets) {
  const Result<Json> json = parse_json(body, "the answer");
  if (!json) return bad_answer("the server's answer is not valid JSON");
  const bool anthropic = provider == Provider::anthropic;
  const Json& choice = first_of(at(*json, {"choices"}));
  const Json& usage = at(*json, {"usage"});
  const Json& content = anthropic ? at(*json, {"content"}) : at(choice, {"message", "content"});
  const auto text = content_text(content);
  if (!text)
    return bad_answer(fmt::format("the server's answer has no text at {}",
                                  anthropic ? "content" : "choices[0].message.content"));
  ChatReply reply;
  reply.text = secrets.without(*text);
  const auto finish = anthropic ? member_as<std::string>(*json, "stop_reason")
                                : member_as<std::string>(choice, "finish_reason");
  reply.finish = one_printable_line(secrets.without(finish.value_or("")));
  reply.cut_off = reply.finish == (anthropic ? "max_tokens" : "length");
  reply.prompt_tokens =
      anthropic ? anthropic_prompt_tokens(usage) : count_of(usage, "prompt_tokens");
  reply.completion_tokens = count_of(usage, anthropic ? "output_tokens" : "completion_tokens");
  return reply;
}

std::string refusal_text(const std::string& body, const Secrets& secrets) {
  constexpr std::size_t kMost = 300;
  const Result<Json> json = parse_json(body, "the answer");
  if (!json) return {};
  // {"error": {"message": "..."}} of both forms; {"error": "..."} and {"message": "..."} of others.
  const Json& error = at(*json, {"error"});
  for (const Json* place : {&at(error, {"message"}), &error, &at(*json, {"message"})})
    if (place->is_string())
      return one_printable_line(secrets.without(place->get<std::string>()), kMost);
  return {};
}

}  // namespace perflab::llm
