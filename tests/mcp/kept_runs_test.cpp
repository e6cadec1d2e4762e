// Documents of earlier calls: their URIs, and how long they are kept.
#include "mcp/kept_runs.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace perflab::mcp {
namespace {

using testing::HasSubstr;

Json call_number(int number) {
  return {{"tool", "analyze"}, {"arguments", {{"FILES", {fmt::format("{}.db", number)}}}}};
}

TEST(McpKeptRuns, TheSameDocumentsHaveTheSameUri) {
  KeptRuns kept("sample"), other("sample");
  const auto one = kept.keep(call_number(1), {{"a", "{}"}, {"b", "[1]"}});
  EXPECT_THAT(one->uri, testing::MatchesRegex("sample://document/[0-9a-f]+"));
  EXPECT_EQ(other.keep(call_number(2), {{"a", "{}"}, {"b", "[1]"}})->uri, one->uri);
  EXPECT_NE(other.keep(call_number(1), {{"a", "{}"}, {"b", "[2]"}})->uri, one->uri);
  EXPECT_EQ(kept.keep(call_number(1), {{"a", "{}"}, {"b", "[1]"}})->uri, one->uri);
  EXPECT_EQ(kept.list().size(), 1U);
  EXPECT_EQ(kept.find(one->uri)->documents.at(1).text, "[1]");
  EXPECT_EQ(kept.find("sample://document/0"), nullptr);
}

TEST(McpKeptRuns, WhatWasUsedLongestAgoGoesAndItsCallIsRemembered) {
  KeptRuns kept("sample", 1000);
  std::vector<std::string> uris;
  for (int i = 0; i < 4; ++i) {
    uris.push_back(
        kept.keep(call_number(i), {{"a", std::string(300, static_cast<char>('a' + i))}})->uri);
    if (i == 2) {
      EXPECT_FALSE(kept.find(uris[0])->documents.empty());  // used again
    }
  }
  EXPECT_TRUE(kept.find(uris[1])->documents.empty()) << "the oldest one";
  EXPECT_EQ(kept.find(uris[1])->call, call_number(1));
  EXPECT_FALSE(kept.find(uris[0])->documents.empty());
  EXPECT_EQ(kept.list().size(), 3U);
  const auto gone = document_in(*kept.find(uris[1]), "a");
  ASSERT_FALSE(gone.has_value());
  EXPECT_THAT(gone.error().message, HasSubstr("no longer kept"));
  // It comes back with the same URI; one that is too large is kept alone.
  EXPECT_EQ(kept.keep(call_number(1), {{"a", std::string(300, 'b')}})->uri, uris[1]);
  EXPECT_FALSE(kept.find(uris[1])->documents.empty());
  kept.keep(call_number(9), {{"a", std::string(5000, 'z')}});
  EXPECT_EQ(kept.list().size(), 1U);
}

TEST(McpKeptRuns, CallsAreForgottenAtLast) {
  KeptRuns kept("sample", 10);
  const std::string first = kept.keep(call_number(0), {{"a", "first"}})->uri;
  for (std::size_t i = 0; i < kMostRememberedCalls; ++i)
    kept.keep(call_number(1), {{"a", fmt::format("document {}", i)}});
  EXPECT_EQ(kept.find(first), nullptr);
}

TEST(McpKeptRuns, AUriNamesARunADocumentAndAPart) {
  const KeptRuns kept("sample");
  const auto place = [&](const char* uri) {
    const auto out = kept.place_of(uri);
    EXPECT_TRUE(out.has_value() && out->has_value()) << uri;
    return out.value_or(std::nullopt).value_or(KeptPlace{});
  };
  EXPECT_EQ(place("sample://document/1f").run, "sample://document/1f");
  EXPECT_EQ(place("sample://document/1f/dag").run, "sample://document/1f");
  EXPECT_EQ(place("sample://document/1f/dag").selection.document, "dag");
  EXPECT_EQ(place("sample://document/1f/dag.json").selection.document, "dag");
  const Selection part =
      place("sample://document/1f/dag?section=/kernels%2F0&kernel=a%20b&top=3&offset=4").selection;
  EXPECT_EQ(part.section, "/kernels/0");
  EXPECT_EQ(part.kernel, "a b");
  EXPECT_EQ(part.top, 3U);
  EXPECT_EQ(part.offset, 4U);
  EXPECT_EQ(part.document, "dag");
  EXPECT_EQ(place("sample://document/1f?section=dag.json%23/x").selection.document, "dag");
  EXPECT_FALSE(kept.place_of("sample://schema/x")->has_value());
  for (const char* wrong : {"?x=1", "?top=0", "?top=x", "?section=%f", "?section=%zz", "?offset"})
    EXPECT_FALSE(kept.place_of(std::string("sample://document/1f/dag") + wrong).has_value())
        << wrong;
  EXPECT_EQ(kept.uri_template(), "sample://document/{run}/{document}{?section,kernel,top,offset}");
}

}  // namespace
}  // namespace perflab::mcp
