// Runs as results of tools/call.
#include "mcp/tool_answer.h"

#include <gmock/gmock.h>

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

std::string all_text(const Json& result) {
  std::string out;
  for (const Json& block : result["content"]) out += block["text"].get<std::string>() + "\n";
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
  EXPECT_FALSE(failed.contains("structuredContent"));
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

TEST(McpAnswer, ALargeDocumentIsShortenedAndSaysWhere) {
  Json document = {{"total", 12345}, {"kernels", Json::array()}, {"few", {1, 2}}};
  for (int i = 0; i < 1000; ++i)
    document["kernels"].push_back({{"name", "k"}, {"index", i}, {"runs", Json(100, i)}});
  const Json result =
      tool_result(run_that_printed(document.dump()), "2026-07-28", std::size_t{20'000});
  EXPECT_EQ(result["isError"], false);
  const Json& content = result["structuredContent"];
  EXPECT_LE(content.dump().size(), 20'000U);
  EXPECT_EQ(content["document"]["total"], 12345);
  EXPECT_EQ(content["document"]["few"], Json::parse("[1, 2]"));
  const std::size_t kept = content["document"]["kernels"].size();
  EXPECT_GE(kept, 1U);
  EXPECT_EQ(content["cut"][0], (Json{{"path", "/kernels"}, {"kept", kept}, {"of", 1000}}));
  EXPECT_EQ(content["cut"][1]["of"], 100);
  EXPECT_EQ(content["cut"].size(), kept + 1) << "every array that was cut, and no other";
  EXPECT_EQ(content["document"]["kernels"][0],
            (Json{{"name", "k"}, {"index", 0}, {"runs", Json(kept, 0)}}));
  EXPECT_THAT(result["content"][0]["text"].get<std::string>(), HasSubstr("are cut"));
  EXPECT_EQ(Json::parse(result["content"][1]["text"].get<std::string>()), content);
}

TEST(McpAnswer, WhatCannotBeShortenedIsLeftOutAndSaid) {
  const Json result = tool_result(run_that_printed(Json{{"text", std::string(5000, 'x')}}.dump()),
                                  "2026-07-28", 2000);
  EXPECT_EQ(result["isError"], true);
  EXPECT_FALSE(result.contains("structuredContent"));
  EXPECT_THAT(all_text(result), HasSubstr("ask for less"));
  EXPECT_LT(result.dump().size(), 2000U);

  Outcome half = run_that_printed("[1, 2");
  half.output_bytes = 1'000'000;  // only its end was kept
  EXPECT_THAT(all_text(tool_result(half, "2026-07-28", kPlenty)), HasSubstr("1000000 bytes"));
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
