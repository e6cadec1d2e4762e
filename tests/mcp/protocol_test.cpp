// Messages in, messages out: both eras, and what no client should send.
#include "mcp/protocol.h"

#include <gmock/gmock.h>

#include <random>

#include "mcp/sample_offer.h"
#include "mcp/tool_answer.h"

namespace perflab::mcp {
namespace {

using testing::HasSubstr;

/// The answer to a message; null when there is none.
Json answer_of(Protocol& protocol, const Json& message) {
  return protocol.receive(message.dump()).answer.value_or(Json(nullptr));
}

int error_code(const Json& answer) {
  return answer.contains("error") ? answer["error"]["code"].get<int>() : 0;
}

Protocol initialized(const std::string& revision = "2025-11-25") {
  Protocol protocol(sample_offer());
  answer_of(protocol, legacy_request(0, "initialize", {{"protocolVersion", revision}}));
  return protocol;
}

TEST(McpProtocol, InitializeAgreesOnARevision) {
  const auto agreed = [](const std::string& asked) {
    Protocol protocol(sample_offer());
    return answer_of(protocol, legacy_request(0, "initialize",
                                              {{"protocolVersion", asked},
                                               {"capabilities", Json::object()}}))["result"];
  };
  EXPECT_EQ(agreed("2025-11-25")["protocolVersion"], "2025-11-25");
  EXPECT_EQ(agreed("2025-06-18")["protocolVersion"], "2025-06-18");
  EXPECT_EQ(agreed("2024-11-05")["protocolVersion"], "2024-11-05");
  EXPECT_EQ(agreed("2025-03-26")["protocolVersion"], "2024-11-05") << "batches are not supported";
  EXPECT_EQ(agreed("2026-07-28")["protocolVersion"], "2025-11-25") << "it has no initialize";
  EXPECT_EQ(agreed("1999-01-01")["protocolVersion"], "2025-11-25");
  EXPECT_EQ(agreed("")["protocolVersion"], "2025-11-25");
  const Json result = agreed("2025-11-25");
  EXPECT_EQ(result["serverInfo"], Json::parse(R"({"name": "sample", "version": "1.2.3"})"));
  EXPECT_TRUE(result["capabilities"].contains("tools"));
  EXPECT_TRUE(result["capabilities"].contains("resources"));
  EXPECT_FALSE(result.contains("resultType"));
}

TEST(McpProtocol, ASecondInitializeAndOneWithoutAVersionAreRefused) {
  Protocol protocol(sample_offer());
  EXPECT_EQ(error_code(answer_of(protocol, legacy_request(0, "initialize"))), -32602);
  EXPECT_EQ(
      error_code(answer_of(protocol, legacy_request(0, "initialize", {{"protocolVersion", 5}}))),
      -32602);
  Protocol twice = initialized();
  EXPECT_EQ(error_code(answer_of(
                twice, legacy_request(1, "initialize", {{"protocolVersion", "2025-11-25"}}))),
            -32600);
}

TEST(McpProtocol, RequestsBeforeInitializeAreRefusedButForPing) {
  Protocol protocol(sample_offer());
  EXPECT_EQ(error_code(answer_of(protocol, legacy_request(1, "tools/list"))), -32602);
  EXPECT_EQ(error_code(answer_of(protocol, legacy_request(2, "server/discover"))), -32602);
  const Reaction call = protocol.receive(
      legacy_request(3, "tools/call", {{"name", "analyze"}, {"arguments", {{"FILES", {"a"}}}}})
          .dump());
  EXPECT_FALSE(call.call.has_value());
  EXPECT_EQ(answer_of(protocol, legacy_request(4, "ping")),
            Json::parse(R"({"jsonrpc": "2.0", "id": 4, "result": {}})"));
}

TEST(McpProtocol, TheStatelessRevisionNeedsNoInitialize) {
  Protocol protocol(sample_offer());
  const Json result = answer_of(protocol, modern_request("d", "server/discover"))["result"];
  EXPECT_EQ(result["resultType"], "complete");
  EXPECT_EQ(result["supportedVersions"][0], "2026-07-28");
  EXPECT_TRUE(result["capabilities"].contains("tools"));
  EXPECT_GE(result["ttlMs"].get<int>(), 0);
  EXPECT_EQ(result["cacheScope"], "private");
  EXPECT_EQ(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "sample");
  for (const char* method : {"tools/list", "resources/list", "resources/templates/list"}) {
    const Json list = answer_of(protocol, modern_request(1, method))["result"];
    EXPECT_EQ(list["resultType"], "complete") << method;
    EXPECT_TRUE(list.contains("ttlMs") && list.contains("cacheScope")) << method;
  }
  EXPECT_EQ(error_code(answer_of(protocol, modern_request(2, "ping"))), -32601);
  EXPECT_EQ(error_code(answer_of(protocol, modern_request(3, "initialize"))), -32601);
}

TEST(McpProtocol, RequestsOfTheStatelessRevisionAreChecked) {
  Protocol protocol(sample_offer());
  const Json answer =
      answer_of(protocol, modern_request(1, "server/discover", Json::object(), "1900-01-01"));
  EXPECT_EQ(error_code(answer), -32022);
  EXPECT_EQ(answer["error"]["data"]["requested"], "1900-01-01");
  EXPECT_EQ(answer["error"]["data"]["supported"][0], "2026-07-28");
  EXPECT_EQ(error_code(
                answer_of(protocol, modern_request(2, "tools/list", Json::object(), "2025-11-25"))),
            -32602);
  Json without = modern_request(3, "tools/list");
  without["params"]["_meta"].erase("io.modelcontextprotocol/clientCapabilities");
  EXPECT_EQ(error_code(answer_of(protocol, without)), -32602);
  Json wrong = modern_request(4, "tools/list");
  wrong["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = 7;
  EXPECT_EQ(error_code(answer_of(protocol, wrong)), -32602);
}

TEST(McpProtocol, BothErasCanShareAConnection) {
  Protocol protocol = initialized();
  const Json old_list = answer_of(protocol, legacy_request(1, "tools/list"))["result"];
  const Json new_list = answer_of(protocol, modern_request(2, "tools/list"))["result"];
  EXPECT_EQ(old_list["tools"], new_list["tools"]);
  EXPECT_FALSE(old_list.contains("resultType") || old_list.contains("ttlMs"));
  EXPECT_EQ(error_code(answer_of(protocol, legacy_request(3, "server/discover"))), -32601);
}

TEST(McpProtocol, ListsWhatIsNotWithheldAndHasNoSecondPage) {
  Protocol protocol = initialized();
  const Json tools = answer_of(protocol, legacy_request(1, "tools/list"))["result"]["tools"];
  ASSERT_EQ(tools.size(), 3U);
  EXPECT_EQ(tools[0]["name"], "analyze");
  EXPECT_EQ(tools[1]["name"], "compare");
  EXPECT_EQ(tools[2]["name"], kReadTool);
  EXPECT_EQ(error_code(answer_of(protocol, legacy_request(2, "tools/list", {{"cursor", "x"}}))),
            -32602);
}

TEST(McpProtocol, ACallBecomesACommandLine) {
  Protocol protocol(sample_offer());
  const Reaction reaction = protocol.receive(
      modern_request("c", "tools/call", {{"name", "analyze"}, {"arguments", {{"FILES", {"x.db"}}}}})
          .dump());
  ASSERT_TRUE(reaction.call.has_value());
  EXPECT_FALSE(reaction.answer.has_value());
  EXPECT_EQ(reaction.call->id, "c");
  EXPECT_THAT(reaction.call->words, testing::ElementsAre("analyze", "x.db", "--json"));
  const Json answer = protocol.answer(*reaction.call, {{"content", Json::array()}});
  EXPECT_EQ(answer["id"], "c");
  EXPECT_EQ(answer["result"]["resultType"], "complete");
  EXPECT_FALSE(answer["result"].contains("ttlMs")) << "the answers of tools are not cached";
}

TEST(McpProtocol, ThePartThatIsWantedIsNoPartOfTheCommandLine) {
  Protocol protocol(sample_offer());
  const auto call = [&](const std::string& tool, const Json& arguments) {
    return protocol
        .receive(modern_request(1, "tools/call", {{"name", tool}, {"arguments", arguments}}).dump())
        .call;
  };
  const auto part = call("analyze", {{"FILES", {"x"}}, {"section", "dag.json#/k"}, {"top", 3}});
  ASSERT_TRUE(part.has_value());
  EXPECT_THAT(part->words, testing::ElementsAre("analyze", "x", "--json"));
  EXPECT_EQ(part->selection.document, "dag");
  EXPECT_EQ(part->selection.section, "/k");
  EXPECT_EQ(part->selection.top, 3U);
  EXPECT_EQ(part->arguments, Json::parse(R"({"FILES": ["x"]})"));
  EXPECT_FALSE(part->kept.has_value());
  EXPECT_FALSE(call("analyze", {{"FILES", {"x"}}, {"top", -1}}).has_value());
  const auto read = call("read_document",
                         {{"uri", "sample://document/12/dag?section=/a&top=5"}, {"section", "/b"}});
  ASSERT_TRUE(read.has_value() && read->kept.has_value());
  EXPECT_TRUE(read->words.empty());
  EXPECT_EQ(read->kept->run, "sample://document/12");
  EXPECT_EQ(read->kept->selection.document, "dag");
  EXPECT_EQ(read->kept->selection.section, "/b") << "the argument goes before the query";
  EXPECT_EQ(read->kept->selection.top, 5U);
  EXPECT_FALSE(call("read_document", {{"uri", "file:///etc/passwd"}}).has_value());
  EXPECT_FALSE(call("read_document", Json::object()).has_value());
}

TEST(McpProtocol, KeptDocumentsAreResources) {
  Protocol protocol = initialized();
  const Json document = {{"document", "dag"}, {"rows", {1, 2, 3}}};
  const auto run = protocol.kept().keep({{"tool", "analyze"}, {"arguments", {{"FILES", {"x"}}}}},
                                        {{"dag", to_canonical_text(document)}});
  const auto read = [&](const std::string& uri) {
    return answer_of(protocol, legacy_request(2, "resources/read", {{"uri", uri}}));
  };
  const Json listed =
      answer_of(protocol, legacy_request(1, "resources/list"))["result"]["resources"].back();
  EXPECT_EQ(listed["uri"], run->uri + "/dag");
  EXPECT_EQ(listed["size"], to_canonical_text(document).size());
  const Json whole = read(listed["uri"].get<std::string>())["result"]["contents"][0];
  EXPECT_EQ(whole["text"], to_canonical_text(document));
  EXPECT_EQ(whole["mimeType"], "application/json");
  const Json part = read(run->uri + "/dag?section=rows&offset=1&top=1");
  EXPECT_EQ(Json::parse(part["result"]["contents"][0]["text"].get<std::string>())["value"],
            Json::parse("[2]"));
  EXPECT_EQ(error_code(read(run->uri + "/nonsense")), -32002);
  EXPECT_EQ(error_code(read(run->uri + "/dag?nonsense=1")), -32002);
  EXPECT_EQ(read(run->uri + "/dag?section=x")["error"]["data"]["call"]["tool"], "analyze");
  EXPECT_EQ(error_code(read("sample://document/0/dag")), -32002);
  const Json templates =
      answer_of(protocol, legacy_request(3, "resources/templates/list"))["result"];
  EXPECT_EQ(templates["resourceTemplates"][0]["uriTemplate"],
            "sample://document/{run}/{document}{?section,kernel,top,offset}");
}

TEST(McpProtocol, ARefusalSaysWhatToCallInstead) {
  Offer offer = sample_offer();
  offer.advise = [](const std::string& tool, const Json&, ErrorCode kind) {
    EXPECT_EQ(kind, ErrorCode::usage);
    return std::vector<Advice>{{.tool = tool, .arguments = {{"FILES", {"x"}}}, .why = "its form"}};
  };
  Protocol protocol(offer);
  const Json result = answer_of(
      protocol,
      modern_request(1, "tools/call", {{"name", "analyze"}, {"arguments", {{"x", 1}}}}))["result"];
  EXPECT_EQ(result["isError"], true);
  EXPECT_EQ(result["structuredContent"], Json::parse(R"({"error": "usage", "instead":
              [{"tool": "analyze", "arguments": {"FILES": ["x"]}, "why": "its form"}]})"));
}

TEST(McpProtocol, WrongCallsAreRefused) {
  Protocol protocol = initialized();
  const auto call = [&](const Json& params) {
    return answer_of(protocol, legacy_request(1, "tools/call", params));
  };
  EXPECT_EQ(error_code(call({{"name", "nonsense"}})), -32602);
  EXPECT_EQ(error_code(call({{"name", 3}})), -32602);
  EXPECT_EQ(error_code(call(Json::object())), -32602);
  EXPECT_EQ(error_code(call({{"name", "analyze"}, {"arguments", {1, 2}}})), -32602);
  // A model can read these and do better.
  const Json wrong = call({{"name", "analyze"}, {"arguments", {{"FILES", "x"}}}});
  EXPECT_EQ(wrong["result"]["isError"], true);
  const Json withheld = call({{"name", "profile"}});
  EXPECT_EQ(withheld["result"]["isError"], true);
  EXPECT_THAT(withheld["result"]["content"][0]["text"].get<std::string>(),
              HasSubstr("--allow-run"));
}

TEST(McpProtocol, ResourcesAreListedAndRead) {
  Protocol protocol = initialized();
  const Json list = answer_of(protocol, legacy_request(1, "resources/list"))["result"];
  EXPECT_EQ(list["resources"][0]["uri"], "sample://schema/x");
  const Json read = answer_of(
      protocol, legacy_request(2, "resources/read", {{"uri", "sample://schema/x"}}))["result"];
  EXPECT_EQ(read["contents"][0]["text"], "{}");
  const Json missing = {{"uri", "sample://schema/../../etc/passwd"}};
  EXPECT_EQ(error_code(answer_of(protocol, legacy_request(3, "resources/read", missing))), -32002);
  EXPECT_EQ(error_code(answer_of(protocol, modern_request(4, "resources/read", missing))), -32602);
  EXPECT_EQ(error_code(answer_of(protocol, legacy_request(5, "resources/read"))), -32602);
}

TEST(McpProtocol, NotificationsAndAnswersAreNotAnswered) {
  Protocol protocol = initialized();
  for (const char* line :
       {R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
        R"({"jsonrpc":"2.0","method":"notifications/nonsense","params":[]})",
        R"({"jsonrpc":"2.0","method":"tools/call"})", R"({"jsonrpc":"2.0","id":9,"result":{}})",
        R"({"jsonrpc":"2.0","id":9,"error":{"code":1,"message":"x"}})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled"})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{}})", "", "  \t\r"}) {
    const Reaction reaction = protocol.receive(line);
    EXPECT_FALSE(reaction.answer || reaction.call || reaction.cancelled) << line;
  }
  const Reaction cancelled = protocol.receive(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7"}})");
  EXPECT_EQ(cancelled.cancelled, Json("7"));
}

TEST(McpProtocol, MalformedMessagesGetTheErrorOfJsonRpc) {
  const std::vector<std::pair<std::string, int>> wrong = {
      {"nonsense", -32700},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping")", -32700},
      {"\xff\xfe{}", -32700},
      {R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", -32600},
      {"[]", -32600},
      {"17", -32600},
      {R"({"id":1,"method":"ping"})", -32600},
      {R"({"jsonrpc":"1.0","id":1,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":1})", -32600},
      {R"({"jsonrpc":"2.0","id":1,"method":7})", -32600},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":{},"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"nonsense"})", -32601},
      {R"({"jsonrpc":"2.0","id":1,"method":"logging/setLevel"})", -32601}};
  for (const auto& [line, code] : wrong) {
    Protocol protocol = initialized();
    const Json answer = protocol.receive(line).answer.value_or(Json::object());
    EXPECT_EQ(error_code(answer), code) << line;
    EXPECT_TRUE(Json::accept(to_line(answer)));
    EXPECT_TRUE(!answer.contains("id") || answer["id"] == 1) << line;
  }
}

TEST(McpProtocol, DeepAndLongMessagesAreRefusedUnparsed) {
  Protocol protocol = initialized();
  const auto code_of = [&](const std::string& line) {
    return error_code(protocol.receive(line).answer.value_or(Json::object()));
  };
  EXPECT_EQ(code_of(std::string(500'000, '[')), -32600);
  EXPECT_EQ(
      code_of(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":)" + std::string(100'000, '{')),
      -32600);
  EXPECT_EQ(code_of(std::string(kMostMessageBytes + 1, ' ') + "x"), -32600);
  // Brackets in strings are none.
  const Json named = legacy_request(1, std::string(1000, '['));
  EXPECT_EQ(code_of(named.dump()), -32601);
  EXPECT_EQ(code_of(legacy_request(1, "\\\"[" + std::string(1000, '{')).dump()), -32601);
}

/// Torn and changed messages: every answer is a line of JSON-RPC, and no argument of a call leaves
/// its place.
TEST(McpProtocol, SurvivesTornAndChangedMessages) {
  std::mt19937 random(17);
  const std::vector<std::string> seeds = {
      legacy_request(0, "initialize", {{"protocolVersion", "2025-11-25"}}).dump(),
      modern_request(1, "tools/list").dump(),
      modern_request(
          "x", "tools/call",
          {{"name", "analyze"},
           {"arguments", {{"FILES", {"--a", "b"}}, {"segment", 1e300}, {"what_if", {"c=d"}}}}})
          .dump(),
      legacy_request(2, "resources/read", {{"uri", "sample://schema/x"}}).dump(),
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})"};
  const std::string alphabet = "{}[]\",:\\0179eE-.ntu \x80\xff";
  int calls = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string line = seeds[random() % seeds.size()];
    for (auto edits = random() % 4; edits > 0 && !line.empty(); --edits) {
      const std::size_t at = random() % line.size();
      switch (random() % 4) {
        case 0:
          line.resize(at);
          break;
        case 1:
          line[at] = alphabet[random() % alphabet.size()];
          break;
        case 2:
          line.erase(at, random() % 8);
          break;
        default:
          line.insert(at, line.substr(random() % line.size(), random() % 16));
      }
    }
    Protocol protocol(sample_offer());
    if (random() % 2 == 0) protocol = initialized();
    const Reaction reaction = protocol.receive(line);
    EXPECT_LE((reaction.answer ? 1 : 0) + (reaction.call ? 1 : 0) + (reaction.cancelled ? 1 : 0),
              1);
    if (reaction.answer) {
      const std::string text = to_line(*reaction.answer);
      EXPECT_TRUE(Json::accept(text) && text.find('\n') == std::string::npos) << line;
      EXPECT_TRUE(reaction.answer->contains("error") != reaction.answer->contains("result"));
    }
    if (reaction.call) {
      ++calls;
      for (const std::string& word : reaction.call->words)
        EXPECT_TRUE(!word.starts_with('-') || word == "--json" || word.starts_with("--what-if=") ||
                    word.starts_with("--segment="))
            << line;
    }
  }
  EXPECT_GT(calls, 100) << "some have to come through for this to mean anything";
}

}  // namespace
}  // namespace perflab::mcp
