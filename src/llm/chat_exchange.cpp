// Requests and replies as JSON and back.
#include "llm/chat_exchange.h"

#include <fmt/format.h>

#include <utility>

namespace perflab::llm {

ChatReply reply_with_problem(const char* problem, std::string detail) {
  ChatReply reply;
  reply.problem = problem;
  reply.problem_detail = std::move(detail);
  return reply;
}

std::optional<Provider> provider_from(std::string_view name) {
  if (name == "openai") return Provider::openai;
  if (name == "anthropic") return Provider::anthropic;
  return std::nullopt;
}

Json to_json(const ChatRequest& request) {
  Json parameters = Json::object();
  parameters["max_answer_tokens"] = request.max_answer_tokens;
  parameters["temperature"] = request.temperature ? Json(*request.temperature) : Json();
  parameters["seed"] = request.seed ? Json(*request.seed) : Json();
  Json messages = Json::array();
  messages.push_back(Json{{"role", "system"}, {"content", request.system}});
  messages.push_back(Json{{"role", "user"}, {"content", request.user}});
  return Json{{"model", request.model},
              {"messages", std::move(messages)},
              {"parameters", std::move(parameters)}};
}

Json to_json(const ChatReply& reply) {
  if (!reply.problem.empty())
    return Json{{"problem", reply.problem}, {"detail", reply.problem_detail}};
  const auto count = [](const std::optional<std::uint64_t>& value) {
    return value ? Json(*value) : Json();
  };
  return Json{{"text", reply.text},
              {"finish", reply.finish},
              {"cut_off", reply.cut_off},
              {"prompt_tokens", count(reply.prompt_tokens)},
              {"completion_tokens", count(reply.completion_tokens)}};
}

Result<ChatReply> reply_from_json(const Json& json, std::string_view what) {
  const auto damaged = [&] {
    return fail(ErrorCode::bad_input, fmt::format("{}: the answer lacks some of its fields", what));
  };
  const auto text = [&](const char* name) -> std::optional<std::string> {
    const auto found = json.find(name);
    if (found == json.end() || !found->is_string()) return std::nullopt;
    return found->get<std::string>();
  };
  if (!json.is_object()) return damaged();
  if (const auto problem = text("problem")) {
    const auto detail = text("detail");
    if (!detail || problem->empty()) return damaged();
    return reply_with_problem(problem->c_str(), *detail);
  }
  const auto words = text("text"), finish = text("finish");
  const auto cut_off = json.find("cut_off");
  if (!words || !finish || cut_off == json.end() || !cut_off->is_boolean()) return damaged();
  ChatReply reply;
  reply.text = *words;
  reply.finish = *finish;
  reply.cut_off = cut_off->get<bool>();
  const auto count = [&](const char* name, std::optional<std::uint64_t>& value) {
    const auto found = json.find(name);
    if (found == json.end() || found->is_null()) return true;
    if (!found->is_number_unsigned()) return false;
    value = found->get<std::uint64_t>();
    return true;
  };
  if (!count("prompt_tokens", reply.prompt_tokens) ||
      !count("completion_tokens", reply.completion_tokens))
    return damaged();
  return reply;
}

}  // namespace perflab::llm
