// Runs as results of tools/call.
#include "mcp/tool_answer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "mcp/protocol.h"
#include "mcp/sample_offer.h"
#include "mcp/selection.h"

namespace perflab::mcp {
namespace {

using testing::HasSubstr;

constexpr std::size_t kPlenty = 1 << 20;

Outcome run_that_printed(std::string output, int exit_code = 0) {
  Outcome out;
  out.exit_code = exit_code;
  out.output_bytes = output.size();
  out.output = std::move(output);
  return out;
}

/// A server and the results of its calls.
struct Answers {
  Offer offer = sample_offer();
  KeptRuns kept{"sample"};

  Json result(const Outcome& outcome, const std::string& revision = "2026-07-28",
              std::size_t most_bytes = kPlenty, Selection selection = {}) {
    const Call call{.id = 1,
                    .revision = revision,
                    .tool = "analyze",
                    .arguments = {{"FILES", {"a.db"}}},
                    .summarises = true,
                    .selection = std::move(selection)};
    return tool_result(call, outcome, {offer, kept, most_bytes});
  }
  /// Of the call that an answer names.
  Json read(const Json& arguments, std::size_t most_bytes = kLeastAnswerBytes) {
    Protocol protocol(offer);
    Call call{.id = 2, .revision = "2026-07-28", .tool = std::string(kReadTool)};
    call.kept = kept.place_of(arguments["uri"].get<std::string>()).value();
    const std::string document = call.kept->selection.document;
    call.kept->selection = selection_of(arguments).value();
    if (call.kept->selection.document.empty()) call.kept->selection.document = document;
    return kept_result(call, {offer, kept, most_bytes});
  }
};

Json tool_result(const Outcome& outcome, const std::string& revision, std::size_t most_bytes) {
  return Answers().result(outcome, revision, most_bytes);
}

std::string all_text(const Json& result) {
  std::string out;
  for (const Json& block : result["content"]) out += block.value("text", "") + "\n";
  return out;
}

TEST(McpAnswer, ADocumentIsTextAndStructuredContent) {
  const Json result = tool_result(run_that_printed("{\"a\": [1, 2.50]}\n"), "2025-11-25", kPlenty);
  EXPECT_EQ(result["isError"], false);
  EXPECT_EQ(result["structuredContent"], Json::parse(R"({"a": [1, 2.5]})"));
  EXPECT_EQ(Json::parse(result["content"][0]["text"].get<std::string>()),
            result["structuredContent"]);
  EXPECT_EQ(result["content"].size(), 1U);
}

TEST(McpAnswer, StructuredContentIsForRevisionsThatHaveIt) {
  EXPECT_FALSE(
      tool_result(run_that_printed("{}"), "2024-11-05", kPlenty).contains("structuredContent"));
  EXPECT_TRUE(
      tool_result(run_that_printed("{}"), "2025-06-18", kPlenty).contains("structuredContent"));
  EXPECT_FALSE(
      tool_result(run_that_printed("[1]"), "2025-11-25", kPlenty).contains("structuredContent"));
  EXPECT_TRUE(
      tool_result(run_that_printed("[1]"), "2026-07-28", kPlenty).contains("structuredContent"));
}

TEST(McpAnswer, ExitCode1IsAResultAndOthersAreErrors) {
  const Json no = tool_result(run_that_printed("{\"passed\": false}", 1), "2026-07-28", kPlenty);
  EXPECT_EQ(no["isError"], false);
  EXPECT_EQ(no["structuredContent"]["passed"], false);
  EXPECT_THAT(all_text(no), HasSubstr("Exit code 1: it was done, and the answer is no"));

  Outcome wrong = run_that_printed("", 3);
  wrong.said = "rocm-perf: x.db: no such file\n";
  const Json failed = tool_result(wrong, "2026-07-28", kPlenty);
  EXPECT_EQ(failed["isError"], true);
  EXPECT_THAT(all_text(failed), HasSubstr("Exit code 3: an input is missing"));
  EXPECT_THAT(all_text(failed), HasSubstr("x.db: no such file"));
  EXPECT_EQ(failed["structuredContent"]["error"], "bad_input");
}

TEST(McpAnswer, ADocumentComesWithAFailureThatHasOne) {
  const Json result = tool_result(run_that_printed("{\"lacks\": 1}", 4), "2026-07-28", kPlenty);
  EXPECT_EQ(result["isError"], true);
  EXPECT_EQ(result["structuredContent"]["lacks"], 1);
  EXPECT_THAT(all_text(result), HasSubstr("Exit code 4: the document and"));
}

TEST(McpAnswer, AKilledProgramAndOneThatDidNotStartAreErrors) {
  Outcome killed;
  killed.end = "was killed by SIGSEGV (segmentation fault)";
  EXPECT_THAT(all_text(tool_result(killed, "2026-07-28", kPlenty)), HasSubstr("SIGSEGV"));
  EXPECT_EQ(tool_result(killed, "2026-07-28", kPlenty)["isError"], true);
  Outcome never;
  never.failure = "cannot be started";
  EXPECT_EQ(tool_result(never, "2026-07-28", kPlenty)["isError"], true);
}

TEST(McpAnswer, PlainOutputAndNoneAreText) {
  EXPECT_THAT(all_text(tool_result(run_that_printed("it holds\n"), "2026-07-28", kPlenty)),
              HasSubstr("it holds"));
  EXPECT_FALSE(tool_result(run_that_printed(""), "2026-07-28", kPlenty)["content"].empty());
}

Json large_document(const std::string& name) {
  Json document = {{"document", name}, {"total", 12345}, {"kernels", Json::array()}};
  for (int i = 0; i < 1000; ++i)
    document["kernels"].push_back({{"name", fmt::format("k{}", i)}, {"runs", Json(10, i)}});
  return document;
}

/// What a command with a summary prints.
std::string printed_with_summary() {
  return Json{{"summary", {{"document", "summary"}, {"parts", Json::array()}}},
              {"analysis", large_document("analysis")},
              {"dag", large_document("dag")}}
      .dump();
}

TEST(McpAnswer, TheSummaryIsTheAnswerAndLinksLeadToTheRest) {
  Answers answers;
  const Json result =
      answers.result(run_that_printed(printed_with_summary()), "2025-06-18", kLeastAnswerBytes);
  EXPECT_EQ(result["isError"], false);
  EXPECT_EQ(result["structuredContent"]["document"], "summary");
  EXPECT_LE(to_line(result).size(), kLeastAnswerBytes);
  std::vector<std::string> linked;
  for (const Json& block : result["content"]) {
    if (block["type"] != "resource_link") continue;
    linked.push_back(block["name"]);
    const auto place = answers.kept.place_of(block["uri"].get<std::string>()).value();
    ASSERT_TRUE(place.has_value());
    const auto run = answers.kept.find(place->run);
    ASSERT_NE(run, nullptr);
    const auto document = document_in(*run, place->selection.document);
    ASSERT_TRUE(document.has_value());
    EXPECT_EQ((*document)->text.size(), block["size"]);
    if (linked.back() != "summary") {
      EXPECT_EQ((*document)->text, to_canonical_text(large_document(linked.back())));
    }
  }
  EXPECT_THAT(linked, testing::ElementsAre("analysis", "dag", "summary"));
  EXPECT_THAT(all_text(result), HasSubstr("read_document"));
  const Json old =
      answers.result(run_that_printed(printed_with_summary()), "2024-11-05", kLeastAnswerBytes);
  for (const Json& block : old["content"]) EXPECT_EQ(block["type"], "text");
}

TEST(McpAnswer, ASelectionIsOfTheFullDocuments) {
  Answers answers;
  const Outcome outcome = run_that_printed(printed_with_summary());
  const auto part = [&](const Json& arguments) {
    return answers.result(outcome, "2026-07-28", kLeastAnswerBytes,
                          selection_of(arguments).value());
  };
  EXPECT_EQ(part({{"section", "total"}})["structuredContent"]["value"], 12345);
  EXPECT_EQ(part({{"section", "dag.json#/kernels/7/name"}})["structuredContent"]["value"], "k7");
  EXPECT_EQ(part({{"section", "summary.json#/document"}})["structuredContent"]["value"], "summary");
  const Json page = part({{"section", "kernels"}, {"offset", 5}})["structuredContent"];
  EXPECT_EQ(page["value"][0]["name"], "k5");
  // The next page needs no run, and neither does what comes instead of a section that is not there.
  const Json second = answers.read(page["next"]["arguments"])["structuredContent"];
  EXPECT_EQ(second["value"][0]["name"], fmt::format("k{}", page["page"]["next_offset"].get<int>()));
  for (const char* wrong : {"nonsense", "nonsense.json#/x"}) {
    const Json refused = part({{"section", wrong}});
    EXPECT_EQ(refused["isError"], true);
    EXPECT_THAT(all_text(refused), HasSubstr("one of: "));
    const Json instead = refused["structuredContent"]["instead"][0];
    EXPECT_EQ(instead["tool"], kReadTool);
    EXPECT_EQ(answers.read(instead["arguments"])["isError"], false);
  }
}

TEST(McpAnswer, ALargeDocumentIsAnOutlineThatSaysWhereTheRestIs) {
  Answers answers;
  const Json result = answers.result(run_that_printed(large_document("inspection").dump()),
                                     "2026-07-28", kLeastAnswerBytes);
  EXPECT_EQ(result["isError"], false);
  EXPECT_LE(to_line(result).size(), kLeastAnswerBytes);
  const Json& content = result["structuredContent"];
  EXPECT_EQ(Json::parse(result["content"][0]["text"].get<std::string>()), content);
  EXPECT_EQ(content["value"]["total"], 12345);
  const std::size_t kept = content["value"]["kernels"].size();
  EXPECT_GE(kept, 5U);
  EXPECT_EQ(content["cut"][0], (Json{{"section", "/kernels"}, {"kept", kept}, {"of", 1000}}));
  EXPECT_EQ(content["value"]["kernels"][0]["name"], "k0");
}

TEST(McpAnswer, NoAnswerIsTooLong) {
  Answers answers;
  Outcome outcome = run_that_printed(std::string(200'000, '"'), 3);
  outcome.said = std::string(100'000, '\x01');
  const auto fits = [&](const Outcome& one) {
    for (const char* revision : {"2024-11-05", "2025-11-25", "2026-07-28"})
      EXPECT_LE(to_line(answers.result(one, revision, kLeastAnswerBytes)).size(),
                kLeastAnswerBytes);
  };
  fits(outcome);
  outcome.output = Json{{"text", std::string(50'000, '\x02')}}.dump();
  fits(outcome);
  Json many = Json::object();
  for (int i = 0; i < 2000; ++i) many[fmt::format("document_{}", i)] = {{"x", i}};
  outcome.output = Json{{"summary", {{"x", std::string(9000, '"')}}}, {"d", many}}.dump();
  fits(outcome);
  outcome.output = many.dump();
  fits(outcome);
  outcome.output.clear();
  outcome.output_bytes = 0;
  answers.offer.advise = [](const std::string&, const Json&, ErrorCode) {
    return std::vector<Advice>(
        9, {.tool = "t", .arguments = {{"a", std::string(700, '"')}}, .why = "x"});
  };
  fits(outcome);
  Outcome half = run_that_printed("[1, 2");
  half.output_bytes = 100'000'000;  // only its end was kept
  EXPECT_THAT(all_text(answers.result(half)), HasSubstr("100000000 bytes"));
}

TEST(McpAnswer, AFailureSaysWhatToCallInsteadByItsKind) {
  Answers answers;
  answers.offer.advise = [](const std::string& tool, const Json& arguments, ErrorCode kind) {
    EXPECT_EQ(tool, "analyze");
    EXPECT_EQ(arguments["FILES"][0], "a.db");
    return kind == ErrorCode::bad_input
               ? std::vector<Advice>{{.tool = "inspect", .arguments = {{"FILE", "a"}}, .why = "w"}}
               : std::vector<Advice>{};
  };
  const Json wrong = answers.result(run_that_printed("", 3));
  EXPECT_EQ(wrong["structuredContent"],
            Json::parse(R"({"error": "bad_input", "exit_code": 3, "instead":
              [{"tool": "inspect", "arguments": {"FILE": "a"}, "why": "w"}]})"));
  EXPECT_THAT(all_text(wrong), HasSubstr("Call instead: inspect {\"FILE\":\"a\"} (w)"));
  EXPECT_EQ(answers.result(run_that_printed("", 4))["structuredContent"]["error"], "missing_tool");
  EXPECT_FALSE(answers.result(run_that_printed("no\n", 1)).contains("structuredContent"));
}

TEST(McpAnswer, DocumentsThatHadToGoComeBackByTheCallThatMadeThem) {
  Answers answers;
  const Json uri = {{"uri", "sample://document/0123"}};
  EXPECT_EQ(answers.read(uri)["isError"], true);
  KeptRuns small("sample", 10);
  const Outcome outcome = run_that_printed(large_document("analysis").dump());
  const Call call{
      .id = 1, .revision = "2026-07-28", .tool = "analyze", .arguments = {{"FILES", {"a.db"}}}};
  const Json first = tool_result(call, outcome, {answers.offer, small, kLeastAnswerBytes});
  tool_result(call, run_that_printed(large_document("other").dump()),
              {answers.offer, small, kLeastAnswerBytes});
  Call read{.id = 2, .revision = "2026-07-28", .tool = std::string(kReadTool)};
  for (const Json& block : first["content"])
    if (block["type"] == "resource_link")
      read.kept = small.place_of(block["uri"].get<std::string>()).value();
  ASSERT_TRUE(read.kept.has_value());
  const Json gone = kept_result(read, {answers.offer, small, kLeastAnswerBytes});
  EXPECT_EQ(gone["isError"], true);
  EXPECT_EQ(gone["structuredContent"]["instead"][0]["tool"], "analyze");
  EXPECT_EQ(gone["structuredContent"]["instead"][0]["arguments"], call.arguments);
}

TEST(McpAnswer, BytesThatAreNotUtf8StillMakeALineOfJson) {
  Outcome strange = run_that_printed("", 3);
  strange.said = "caf\xe9 \xff\n";
  const std::string line = to_line(tool_result(strange, "2026-07-28", kPlenty));
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_TRUE(Json::accept(line));
}

}  // namespace
}  // namespace perflab::mcp
