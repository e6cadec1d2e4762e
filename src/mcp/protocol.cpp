// The protocol's methods. Revision 2026-07-28 and those before it differ in how a client begins,
// in what every result carries, and in a few methods and codes.
#include "mcp/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text/json_fields.h"
#include "mcp/selection.h"
#include "mcp/tool_answer.h"

namespace perflab::mcp {
namespace {

constexpr std::string_view kModern = "2026-07-28";
constexpr std::array<std::string_view, 3> kLegacy{"2025-11-25", "2025-06-18", "2024-11-05"};
constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kServerKey = "io.modelcontextprotocol/serverInfo";
// The lists do not change while the server runs, but the next start can have other options.
constexpr int kFreshMilliseconds = 60'000;
// Parts of a kept document that are read as a resource, as in the answer of a tool.
constexpr std::size_t kMostPartWeight = std::size_t{16} << 10;

bool is_legacy(std::string_view revision) {
  return std::ranges::find(kLegacy, revision) != kLegacy.end();
}

Json supported_revisions() {
  Json revisions = Json::array({kModern});
  for (const std::string_view revision : kLegacy) revisions.push_back(revision);
  return revisions;
}

/// The legacy revision that a client is answered with: its own, else the newest that is older than
/// its own (it may know that one too), else the newest.
std::string_view agreed_revision(std::string_view asked) {
  if (asked < kLegacy.front())
    for (const std::string_view revision : kLegacy)
      if (revision <= asked) return revision;
  return kLegacy.front();
}

/// Whether brackets are nested deeper than that: seen before parsing, since a value that is
/// very deep cannot even be copied.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kDeepestMessage) return true;
  }
  return false;
}

bool is_id(const Json& value) {
  return value.is_string() || value.is_number_integer();
}

Reaction answered(Json message) {
  return {.answer = std::move(message), .call = {}, .cancelled = {}};
}

Reaction failed(const Json& id, RpcError code, const std::string& text, Json data = nullptr) {
  return answered(error_message(id, code, text, std::move(data)));
}

/// Why a request of the modern era is malformed; empty: it is not.
std::string malformed(const Json& meta) {
  if (!member_as<std::string>(meta, kVersionKey))
    return fmt::format("_meta has no text {}", kVersionKey);
  const Json* const capabilities = member(meta, kCapabilitiesKey);
  if (capabilities == nullptr || !capabilities->is_object())
    return fmt::format("_meta has no object {}", kCapabilitiesKey);
  return {};
}

/// The id that a notification of a cancellation names.
std::optional<Json> cancelled_id(const std::string& method, const Json& message) {
  if (method != "notifications/cancelled") return std::nullopt;
  const Json* const id = member_at(message, {"params", "requestId"});
  return id != nullptr && is_id(*id) ? std::optional(*id) : std::nullopt;
}

}  // namespace

struct Protocol::Request {
  Json id;
  std::string method;
  Json params = Json::object();
  std::string revision;  ///< it is answered by

  [[nodiscard]] bool modern() const { return revision == kModern; }
};

Json error_message(const Json& id, RpcError code, const std::string& text, Json data) {
  Json message = {{"jsonrpc", "2.0"}};
  if (is_id(id)) message["id"] = id;
  message["error"] = {{"code", static_cast<int>(code)}, {"message", text}};
  if (!data.is_null()) message["error"]["data"] = std::move(data);
  return message;
}

Reaction Protocol::receive(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return {};
  if (line.size() > kMostMessageBytes)
    return failed(nullptr, RpcError::invalid_request,
                  fmt::format("a message has more than {} bytes", kMostMessageBytes));
  if (too_deep(line))
    return failed(nullptr, RpcError::invalid_request,
                  fmt::format("a message is nested deeper than {} levels", kDeepestMessage));
  Result<Json> message = parse_json(line, "the message");
  if (!message) return failed(nullptr, RpcError::parse, message.error().message);
  if (message->is_array())
    return failed(nullptr, RpcError::invalid_request,
                  "batches are not supported: send one message per line");
  if (!message->is_object())
    return failed(nullptr, RpcError::invalid_request, "a message has to be an object");

  const Json* const id = member(*message, "id");
  const Json request_id = id == nullptr ? Json(nullptr) : *id;
  const auto version = member_as<std::string>(*message, "jsonrpc");
  if (version != "2.0")
    return failed(request_id, RpcError::invalid_request, "jsonrpc has to be \"2.0\"");
  const auto method = member_as<std::string>(*message, "method");
  if (!method) {
    // Answers to requests: this server makes none.
    if (message->contains("result") || message->contains("error")) return {};
    return failed(request_id, RpcError::invalid_request, "method has to be a string");
  }
  if (id == nullptr)
    return {.answer = {}, .call = {}, .cancelled = cancelled_id(*method, *message)};
  if (!is_id(request_id))
    return failed(nullptr, RpcError::invalid_request, "id has to be a string or a whole number");
  Request request{.id = request_id, .method = *method, .params = Json::object(), .revision = {}};
  if (const Json* const params = member(*message, "params")) {
    if (!params->is_object())
      return failed(request_id, RpcError::invalid_params, "params has to be an object");
    request.params = *params;
  }
  return react(std::move(request));
}

Reaction Protocol::react(Request request) {
  const Json* const meta = member(request.params, "_meta");
  const bool says_revision = meta != nullptr && member(*meta, kVersionKey) != nullptr;
  if (request.method == "initialize" && !says_revision) return initialize(request);
  if (says_revision) {
    if (const std::string why = malformed(*meta); !why.empty())
      return failed(request.id, RpcError::invalid_params, why);
    request.revision = *member_as<std::string>(*meta, kVersionKey);
    if (is_legacy(request.revision))
      return failed(
          request.id, RpcError::invalid_params,
          fmt::format("revision {} begins with a request `initialize`", request.revision));
    if (request.revision != kModern)
      return failed(request.id, RpcError::unsupported_version, "Unsupported protocol version",
                    {{"supported", supported_revisions()}, {"requested", request.revision}});
  } else if (session_.empty()) {
    return react_before_session(request);
  } else {
    request.revision = session_;
  }

  const std::string& method = request.method;
  const auto result = [&](Json value, bool cacheable) {
    return answered(answer_to(request.id, request.revision, std::move(value), cacheable));
  };
  const bool lists =
      method == "tools/list" || method == "resources/list" || method == "resources/templates/list";
  if (const Json* const cursor = member(request.params, "cursor");
      lists && cursor != nullptr && !cursor->is_null())
    return failed(request.id, RpcError::invalid_params,
                  "there is no such cursor: lists come in one piece");
  if (method == "tools/call") return call_tool(request);
  if (method == "tools/list") return result(list_tools(), true);
  if (method == "resources/list") {
    Json list = list_resources();
    if (request.modern()) list["ttlMs"] = 0;  // the next call adds to it
    return result(std::move(list), true);
  }
  if (method == "resources/templates/list")
    return result({{"resourceTemplates",
                    {{{"uriTemplate", kept_->uri_template()},
                      {"name", "document"},
                      {"description", "A document of an earlier call, or a part of it"},
                      {"mimeType", "application/json"}}}}},
                  true);
  if (method == "resources/read") return read_resource(request);
  if (method == "server/discover" && request.modern()) return result(discovery(), true);
  if (method == "ping" && !request.modern()) return result(Json::object(), false);
  return failed(request.id, RpcError::method_not_found,
                fmt::format("there is no method '{}'", method));
}

Reaction Protocol::react_before_session(const Request& request) {
  if (request.method == "ping")
    return answered(answer_to(request.id, std::string(kLegacy.front()), Json::object(), false));
  return failed(request.id, RpcError::invalid_params,
                fmt::format("a connection begins with `initialize`, or every request says its "
                            "revision in _meta (\"{}\": \"{}\")",
                            kVersionKey, kModern));
}

Reaction Protocol::initialize(const Request& request) {
  const auto asked = member_as<std::string>(request.params, "protocolVersion");
  if (!asked)
    return failed(request.id, RpcError::invalid_params,
                  "initialize needs the text protocolVersion");
  if (!session_.empty())
    return failed(request.id, RpcError::invalid_request,
                  "this connection is initialized already, with revision " + session_);
  session_ = agreed_revision(*asked);
  return answered(
      answer_to(request.id, session_,
                {{"protocolVersion", session_},
                 {"capabilities", {{"tools", Json::object()}, {"resources", Json::object()}}},
                 {"serverInfo", {{"name", offer_.name}, {"version", offer_.version}}},
                 {"instructions", offer_.instructions}},
                false));
}

Json Protocol::discovery() const {
  return {{"supportedVersions", supported_revisions()},
          {"capabilities", {{"tools", Json::object()}, {"resources", Json::object()}}},
          {"instructions", offer_.instructions}};
}

Json Protocol::list_tools() const {
  Json tools = Json::array();
  for (const Tool& tool : offer_.tools)
    if (!tool.withheld) tools.push_back(list_entry(tool));
  return {{"tools", std::move(tools)}};
}

Json Protocol::list_resources() const {
  Json resources = Json::array();
  for (const Resource& resource : offer_.resources)
    resources.push_back({{"uri", resource.uri},
                         {"name", resource.name},
                         {"description", resource.description},
                         {"mimeType", resource.mime_type},
                         {"size", resource.text.size()}});
  for (const auto& run : kept_->list())
    for (const KeptDocument& document : run->documents)
      resources.push_back(
          {{"uri", run->uri + "/" + document.name},
           {"name", document.name},
           {"description", fmt::format("Document of a call of {}", run->call["tool"].dump())},
           {"mimeType", "application/json"},
           {"size", document.text.size()}});
  return {{"resources", std::move(resources)}};
}

Reaction Protocol::read_resource(const Request& request) const {
  const auto uri = member_as<std::string>(request.params, "uri");
  if (!uri)
    return failed(request.id, RpcError::invalid_params, "resources/read needs the text uri");
  const auto contents = [&](const std::string& type, std::string text) {
    Json one = {{"uri", *uri}, {"mimeType", type}, {"text", std::move(text)}};
    return answered(answer_to(request.id, request.revision,
                              {{"contents", Json::array({std::move(one)})}}, true));
  };
  const auto found = std::ranges::find(offer_.resources, *uri, &Resource::uri);
  if (found != offer_.resources.end()) return contents(found->mime_type, found->text);
  const RpcError code = request.modern() ? RpcError::invalid_params : RpcError::resource_not_found;
  const auto place = kept_->place_of(*uri);
  if (!place) return failed(request.id, code, describe(place.error()), {{"uri", *uri}});
  if (!*place)
    return failed(request.id, code, "there is no such resource; resources/list names them",
                  {{"uri", *uri}});
  Result<std::string> text = kept_text(**place);
  if (text) return contents("application/json", std::move(*text));
  Json data = {{"uri", *uri}};
  if (const auto run = kept_->find((*place)->run)) data["call"] = run->call;
  return failed(request.id, code, describe(text.error()), std::move(data));
}

/// A kept document whole, as the command prints it, or the part that is asked for.
Result<std::string> Protocol::kept_text(const KeptPlace& place) const {
  const auto run = kept_->find(place.run);
  if (run == nullptr)
    return fail(ErrorCode::usage, "no call left such documents here",
                "a call of a tool names those that it left");
  PERFLAB_TRY(const KeptDocument* const document, document_in(*run, place.selection.document));
  Selection part = place.selection;
  part.document.clear();
  if (!part.asks()) return document->text;
  PERFLAB_TRY(const Json value, parse_json(document->text, document->name));
  PERFLAB_TRY(const Json selected,
              select(value, part, read_call(run->uri + "/" + document->name), kMostPartWeight));
  return to_line(selected);
}

/// Wrong arguments are a result with isError: a model can read those and do better.
Reaction Protocol::call_tool(const Request& request) {
  const auto name = member_as<std::string>(request.params, "name");
  if (!name) return failed(request.id, RpcError::invalid_params, "tools/call needs the text name");
  const auto tool = std::ranges::find(offer_.tools, *name, &Tool::name);
  if (tool == offer_.tools.end())
    return failed(request.id, RpcError::invalid_params,
                  fmt::format("Unknown tool: {} (tools/list names them)", *name));
  Json arguments = Json::object();
  if (const Json* const given = member(request.params, "arguments")) {
    if (!given->is_object())
      return failed(request.id, RpcError::invalid_params, "arguments has to be an object");
    arguments = *given;
  }
  Result<Call> call = call_of(
      *tool,
      {.id = request.id, .revision = request.revision, .tool = *name, .arguments = arguments});
  if (call) return {.answer = {}, .call = std::move(*call), .cancelled = {}};
  const Call refused{.id = request.id, .revision = request.revision, .tool = *name};
  std::vector<Advice> instead;
  if (offer_.advise) instead = offer_.advise(*name, arguments, call.error().code);
  return answered(answer(refused, refusal_result(call.error(), instead, request.revision)));
}

/// The call with what its arguments make of it.
Result<Call> Protocol::call_of(const Tool& tool, Call call) const {
  PERFLAB_TRY(call.words, command_words(tool, call.arguments));
  Json selects = Json::object(), runs = Json::object();
  for (const auto& [name, value] : call.arguments.items()) {
    const auto parameter = std::ranges::find(tool.parameters, name, &Parameter::name);
    (parameter->place == Place::server ? selects : runs)[name] = value;
  }
  call.arguments = std::move(runs);
  PERFLAB_TRY(call.selection, selection_of(selects));
  call.summarises = summarises(tool, call.arguments);
  if (!tool.reads_kept) return call;
  PERFLAB_TRY(call.kept, kept_->place_of(selects["uri"].get<std::string>()));
  if (!call.kept)
    return fail(ErrorCode::usage, "uri is not that of a document of an earlier call",
                "answers of tools name the URIs of their documents");
  // What the arguments say goes before what the query says.
  PERFLAB_TRY(Selection both, selection_of([&] {
                Json arguments = arguments_of(call.kept->selection);
                arguments.update(selects);
                return arguments;
              }()));
  if (both.document.empty()) both.document = call.kept->selection.document;
  call.kept->selection = std::move(both);
  return call;
}

Json Protocol::answer(const Call& call, Json result) const {
  return answer_to(call.id, call.revision, std::move(result), false);
}

Json Protocol::answer_to(const Json& id, const std::string& revision, Json result,
                         bool cacheable) const {
  if (revision == kModern) {
    Json modern = {{"resultType", "complete"}};
    modern.update(result);
    if (cacheable) {
      if (!modern.contains("ttlMs")) modern["ttlMs"] = kFreshMilliseconds;
      modern["cacheScope"] = "private";
    }
    modern["_meta"] = {
        {std::string(kServerKey), {{"name", offer_.name}, {"version", offer_.version}}}};
    result = std::move(modern);
  }
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

}  // namespace perflab::mcp
