// Parts of documents: places, kernels, pages; and that nothing is lost.
#include "mcp/selection.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>

#include "mcp/shortened.h"
#include "mcp/tool.h"

namespace perflab::mcp {
namespace {

using testing::HasSubstr;

const Json& sample_document() {
  static const Json kDocument = Json::parse(R"json({
    "document": "analysis",
    "total": 12,
    "kernels": [
      {"name": "gemm_bf16(float*)", "time": 5, "runs": [1, 2, 3]},
      {"name": "gemm_bf16_tail(float*)", "time": 4, "runs": []},
      {"name": "softmax", "time": 3, "runs": [4]}],
    "verdicts": [{"kernel": "gemm_bf16(float*)", "limit": "memory"}, {"kernel": "softmax"}],
    "nested": {"captures": [{"kernel": {"name": "softmax", "ordinal": 1}}], "a/b": {"~": [7]}},
    "names": [{"name": "softmax"}],
    "note": null})json");
  return kDocument;
}

Selection selection(const Json& arguments) {
  auto out = selection_of(arguments);
  EXPECT_TRUE(out.has_value()) << arguments;
  return out.value_or(Selection{});
}

Json selected(const Json& document, const Json& arguments, std::size_t most = kLeastWeight) {
  const auto out = select(document, selection(arguments), read_call("sample://document/0"), most);
  EXPECT_TRUE(out.has_value()) << arguments << (out ? "" : describe(out.error()));
  if (out) {
    EXPECT_LE(weight(*out), most) << arguments;
  }
  return out.value_or(nullptr);
}

std::string refused(const Json& document, const Json& arguments) {
  const auto out =
      select(document, selection(arguments), read_call("sample://document/0"), kLeastWeight);
  if (out) return "accepted";
  EXPECT_EQ(out.error().code, ErrorCode::usage);
  return describe(out.error());
}

TEST(McpSelection, ASectionIsAMemberAPlaceOrWhereAFigureIsFrom) {
  const auto value = [](const char* section) {
    return selected(sample_document(), {{"section", section}})["value"];
  };
  EXPECT_EQ(value("total"), 12);
  EXPECT_EQ(value("/kernels/2/name"), "softmax");
  EXPECT_EQ(value("kernels/2/name"), "softmax");
  EXPECT_EQ(value("#/kernels/2/name"), "softmax");
  EXPECT_EQ(value("/nested/a~1b/~0/0"), 7);
  EXPECT_EQ(value("note"), nullptr);
  EXPECT_EQ(value("kernels"), sample_document()["kernels"]);
  EXPECT_EQ(value(""), sample_document());
  EXPECT_EQ(selection({{"section", "dag.json#/kernels/0"}}).document, "dag");
  EXPECT_EQ(selection({{"section", "dag.json#/kernels/0"}}).section, "/kernels/0");
  EXPECT_EQ(selection({{"section", "dag.json"}}).section, "");
  EXPECT_EQ(selection({{"section", "/files/a.json"}}).document, "");
  EXPECT_EQ(arguments_of(selection({{"section", "dag.json#/x"}, {"top", 3.0}})),
            Json::parse(R"({"section": "dag.json#/x", "top": 3})"));
}

TEST(McpSelection, AWrongSectionIsAnsweredWithThoseThereAre) {
  EXPECT_THAT(refused(sample_document(), {{"section", "kernls"}}),
              HasSubstr("one of: /document, /total, /kernels, /verdicts"));
  EXPECT_THAT(refused(sample_document(), {{"section", "/kernels/3"}}),
              HasSubstr("/kernels/0 to /kernels/2"));
  EXPECT_THAT(refused(sample_document(), {{"section", "/kernels/01"}}), HasSubstr("/kernels/0"));
  EXPECT_THAT(refused(sample_document(), {{"section", "/kernels/-"}}), HasSubstr("/kernels/0"));
  EXPECT_THAT(refused(sample_document(), {{"section", "/kernels/1/runs/0"}}), HasSubstr("empty"));
  EXPECT_THAT(refused(sample_document(), {{"section", "/total/x"}}), HasSubstr("no parts"));
  EXPECT_THAT(refused(sample_document(), {{"section", "kernels"}, {"offset", 3}}),
              HasSubstr("there are 3 rows"));
}

TEST(McpSelection, ArgumentsOfAnotherKindAreRefused) {
  for (const char* arguments :
       {R"({"section": 3})", R"({"kernel": []})", R"({"top": 0})", R"({"top": "3"})",
        R"({"top": 1.5})", R"({"offset": -1})", R"({"offset": 1e300})", R"({"offset": null})"})
    EXPECT_FALSE(selection_of(Json::parse(arguments)).has_value()) << arguments;
  EXPECT_FALSE(selection_of({{"kernel", std::string(5000, 'k')}}).has_value());
  EXPECT_TRUE(selection_of({{"kernel", std::string(1100, 'k')}}).has_value());
}

TEST(McpSelection, KernelsAreFoundWhereverTheyAreAndTheExactNameGoesFirst) {
  const auto sections = [](const Json& arguments) {
    std::vector<std::string> out;
    const Json rows = selected(sample_document(), arguments)["value"];
    for (const Json& row : rows) {
      out.push_back(row["section"]);
      EXPECT_EQ(selected(sample_document(), {{"section", row["section"]}})["value"], row["value"]);
    }
    return out;
  };
  EXPECT_THAT(sections({{"kernel", "gemm_bf16(float*)"}}),
              testing::ElementsAre("/kernels/0", "/verdicts/0"));
  EXPECT_THAT(sections({{"kernel", "gemm"}}),
              testing::ElementsAre("/kernels/0", "/kernels/1", "/verdicts/0"));
  EXPECT_THAT(sections({{"kernel", "softmax"}}),
              testing::ElementsAre("/kernels/2", "/verdicts/1", "/nested/captures/0"));
  EXPECT_THAT(sections({{"kernel", "soft"}, {"section", "kernels"}}),
              testing::ElementsAre("/kernels/2"));
  // A summary cuts long names like that.
  EXPECT_THAT(sections({{"kernel", "gemm…tail(…"}}), testing::ElementsAre("/kernels/1"));
  EXPECT_THAT(sections({{"kernel", "gemm"}, {"top", 1}, {"offset", 1}}),
              testing::ElementsAre("/kernels/1"));
  EXPECT_THAT(refused(sample_document(), {{"kernel", "attention"}}), HasSubstr("section kernels"));
  EXPECT_THAT(refused(sample_document(), {{"kernel", "x"}, {"section", "names"}}),
              HasSubstr("has no kernels"));
}

TEST(McpSelection, TopIsRowsOfTheOutermostArrays) {
  const Json one = selected(sample_document(), {{"section", "kernels"}, {"top", 2}});
  EXPECT_EQ(one["value"].size(), 2U);
  EXPECT_EQ(one["value"][0]["runs"].size(), 3U) << "rows are whole";
  EXPECT_EQ(one["page"], Json::parse(R"({"offset": 0, "rows": 2, "of": 3, "next_offset": 2})"));
  EXPECT_EQ(one["next"], Json::parse(R"({"tool": "read_document", "arguments": {"uri":
    "sample://document/0", "section": "/kernels", "top": 2, "offset": 2}})"));
  const Json last = selected(sample_document(), one["next"]["arguments"]);
  EXPECT_EQ(last["page"]["next_offset"], nullptr);
  EXPECT_FALSE(last.contains("next"));
  const Json all = selected(sample_document(), {{"top", 1}});
  EXPECT_EQ(all["value"]["kernels"].size(), 1U);
  EXPECT_EQ(all["value"]["total"], 12);
  EXPECT_THAT(all["cut"],
              testing::Contains(Json::parse(R"({"section": "/kernels", "kept": 1, "of": 3})")));
}

/// All of a section, put together by following what answers say of the rest.
Json read_whole(const Json& document, const std::string& section, int& answers) {
  Json whole;
  Json arguments = {{"section", section}};
  Json cuts = Json::array();
  while (true) {
    const Json answer = selected(document, arguments);
    EXPECT_LT(++answers, 20'000);
    if (whole.is_null() || !(answer["value"].is_structured() || answer["value"].is_string()))
      whole = answer["value"];
    else if (whole.is_array())
      whole.insert(whole.end(), answer["value"].begin(), answer["value"].end());
    else if (whole.is_object())
      whole.update(answer["value"]);
    else
      whole = whole.get<std::string>() + answer["value"].get<std::string>();
    for (const Json& cut : answer.value("cut", Json::array())) cuts.push_back(cut["section"]);
    if (!answer.contains("next")) break;
    EXPECT_GT(answer["page"]["rows"], 0);
    arguments = answer["next"]["arguments"];
  }
  for (const Json& cut : cuts) {
    const auto place = cut.get<std::string>();
    const bool within = std::ranges::any_of(
        cuts, [&](const Json& other) { return place.starts_with(other.get<std::string>() + "/"); });
    if (within) continue;
    EXPECT_TRUE(place.starts_with(section + "/")) << place << " in " << section;
    whole[Json::json_pointer(place.substr(section.size()))] = read_whole(document, place, answers);
  }
  return whole;
}

Json random_value(std::mt19937& random, int depth) {
  const auto size = random() % (depth < 3 && random() % 4 == 0 ? 150 : 5);
  switch (depth > 5 ? random() % 3 : random() % 6) {
    case 0:
      return random() % 100000;
    case 1: {
      std::string text;
      for (unsigned i = 0; i < size * (random() % 20); ++i)
        text += random() % 9 == 0 ? "\"" : random() % 9 == 0 ? "ä" : "x";
      return text;
    }
    case 2:
      return nullptr;
    case 3: {
      Json out = Json::object();
      for (unsigned i = 0; i < size; ++i)
        out[fmt::format("m/{}~", i)] = random_value(random, depth + 1);
      return out;
    }
    default: {
      Json out = Json::array();
      for (unsigned i = 0; i < size; ++i) out.push_back(random_value(random, depth + 1));
      return out;
    }
  }
}

TEST(McpSelection, PagesAndCutsLeadToAllOfADocument) {
  std::mt19937 random(24);
  std::size_t large = 0;
  for (int round = 0; round < 16; ++round) {
    Json document = Json::object();
    for (int i = 0; i < 4; ++i) document[fmt::format("part{}", i)] = random_value(random, 1);
    large += weight(document) > kLeastWeight ? 1U : 0U;
    int answers = 0;
    ASSERT_EQ(read_whole(document, "", answers), document) << "round " << round;
  }
  EXPECT_GT(large, 5U) << "most are to need more than one answer";
}

TEST(McpSelection, LargeRowsMembersAndTextsComeInPages) {
  int answers = 0;
  Json document = {
      {"text", std::string(50'000, '"')}, {"rows", Json::array()}, {"members", Json::object()}};
  for (int i = 0; i < 3000; ++i) document["members"][fmt::format("member{}", i)] = i;
  for (int i = 0; i < 40; ++i)
    document["rows"].push_back({{"name", std::string(900, 'n')}, {"runs", Json(300, i)}});
  EXPECT_EQ(read_whole(document, "", answers), document);
  EXPECT_GT(answers, 40);
  EXPECT_THAT(refused({{"t", "ää"}}, {{"section", "t"}, {"offset", 1}}),
              HasSubstr("within a character"));
}

TEST(McpSelection, AnOutlineHasSomethingOfEveryMember) {
  Json document = {{"total", 1}, {"kernels", Json::array()}};
  for (int i = 0; i < 1000; ++i) document["kernels"].push_back({{"name", "k"}, {"index", i}});
  const Json outline = selected(document, Json::object());
  EXPECT_EQ(outline["section"], "/");
  EXPECT_EQ(outline["value"]["total"], 1);
  EXPECT_GE(outline["value"]["kernels"].size(), 10U);
  EXPECT_EQ(outline["cut"][0]["section"], "/kernels");
  EXPECT_EQ(outline["cut"][0]["kept"], outline["value"]["kernels"].size());
  EXPECT_EQ(outline["cut"][0]["of"], 1000);
}

TEST(McpSelection, NamesThatAreTooLongDoNotMakeAnAnswerTooLong) {
  Json document = Json::object();
  for (int i = 0; i < 30; ++i)
    document[std::string(1000, '\x01') + std::to_string(i)] = Json(2000, i);
  int pages = 0;
  for (Json arguments = Json::object(); pages < 100; ++pages) {
    const Json answer = selected(document, arguments);
    if (!answer.contains("next")) break;
    arguments = answer["next"]["arguments"];
  }
  EXPECT_LE(pages, 30);
}

}  // namespace
}  // namespace perflab::mcp
