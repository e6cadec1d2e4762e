// att/parse.h: files of waves in two ways, rows from the text and all through simdjson's DOM, which
// a blank behind a key brings about; and att/row_lists.h.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "att/att_checks.h"
#include "att/parse.h"
#include "att/row_lists.h"
#include "base/system/files.h"
#include "support/prng.h"

namespace perflab::att {
namespace {

using ::testing::ElementsAre;

struct ParsedWave {
  std::string error;
  bool usable = false;
  Wave wave;
  Dropped dropped;
  friend bool operator==(const ParsedWave&, const ParsedWave&) = default;
};

ParsedWave parse_text_of_wave(const std::string& text) {
  std::vector<CodeRow> code(50);
  for (std::size_t i = 0; i < code.size(); ++i) code[i].line = static_cast<std::int64_t>(i);
  const LineTable lines(code);
  ParsedWave parsed;
  const auto done = parse_wave_text(text, "wave.json", lines, parsed.wave, parsed.dropped);
  if (done)
    parsed.usable = *done;
  else
    parsed.error = done.error().message;
  if (!parsed.usable) parsed.wave = {};  // what is left in it means nothing
  return parsed;
}

/// The same text, in which rows are read through the DOM.
std::string for_the_dom(std::string text) {
  for (const std::string key : {"\"instructions\":", "\"timeline\":"})
    for (std::size_t at = 0; (at = text.find(key, at)) != std::string::npos; at += key.size())
      text.insert(at + key.size(), 1, ' ');
  return text;
}

std::string wave_of(const std::string& instructions, const std::string& timeline,
                    const std::string& rest = R"("waitcnt":[[3,[[1,0],[2,0]]]])") {
  return fmt::format(
      R"({{"name":"SE0","wave":{{"begin":100,"cu":1,"end":900,"id":0,"instructions":{},)"
      R"("simd":0,"timeline":{},{}}}}})",
      instructions, timeline, rest);
}

/// A row's number, now and then one that rows do not hold.
std::string odd_number(test::Prng& random) {
  static const std::vector<std::string> kOdd = {"-1",
                                                "0",
                                                "-0",
                                                "1.5",
                                                "1e3",
                                                "null",
                                                "\"a\"",
                                                "[1]",
                                                "999999999999999999",
                                                "9999999999999999999",
                                                "99999999999999999999",
                                                "01",
                                                "-",
                                                "",
                                                " 7",
                                                "true"};
  return kOdd[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(kOdd.size())))];
}

std::string random_rows(test::Prng& random, int numbers, std::int64_t most, int odd_share) {
  std::string text = "[";
  const std::int64_t rows = random.below(12);
  for (std::int64_t i = 0; i < rows; ++i) {
    if (i > 0) text += ',';
    text += '[';
    const int count = random.below(1000) < odd_share ? static_cast<int>(random.below(8)) : numbers;
    for (int k = 0; k < count; ++k)
      text += (k > 0 ? "," : "") + (random.below(1000) < odd_share
                                        ? odd_number(random)
                                        : std::to_string(random.below(most)));
    text += ']';
  }
  return text + ']';
}

TEST(AttWaveFile, IsReadAsThroughTheDom) {
  test::Prng random(11);
  int usable = 0, refused = 0, dropped = 0;
  for (int round = 0; round < 20'000; ++round) {
    const int odd_share = round % 2 == 0 ? 0 : 20;
    std::string text =
        wave_of(random_rows(random, 5, 1000, odd_share), random_rows(random, 2, 12, odd_share));
    if (round % 5 == 4)  // damage of one byte
      text[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(text.size())))] =
          "[]{},:\"0-x\n"[random.below(11)];
    const ParsedWave parsed = parse_text_of_wave(text);
    ASSERT_TRUE(parsed == parse_text_of_wave(for_the_dom(text))) << text;
    usable += parsed.usable ? 1 : 0;
    refused += parsed.error.empty() ? 0 : 1;
    dropped += parsed.dropped.empty() ? 0 : 1;
  }
  EXPECT_GT(usable, 10'000);
  EXPECT_GT(refused, 1'000);
  EXPECT_GT(dropped, 5'000);
}

TEST(AttWaveFile, KeysInOtherPlacesAreNotTheWaves) {
  const std::string rows = "[[100,1,0,4,1],[104,1,0,4,2]]", states = "[[2,8],[3,4]]";
  const std::string plain = wave_of(rows, states);
  EXPECT_EQ(parse_text_of_wave(plain).wave.instructions.size(), 2U);
  EXPECT_EQ(parse_text_of_wave(plain).wave.link_targets.size(), 2U);
  for (const std::string& text : {
           "{\"instructions\":" + rows + ",\"wave\":{\"begin\":1,\"end\":2,\"timeline\":" + states +
               "}}",
           "{\"instructions\":" + rows +
               ",\"wave\":{\"begin\":1,\"end\":2,\"instructions\":\"@left out@\",\"timeline\":" +
               states + "}}",
           wave_of("[]", states, "\"instructions\":" + rows),
           wave_of(rows, states, "\"instructions\":" + rows),
           wave_of(rows, states, "\"note\":\"@left out@\""),
           wave_of(rows, states, "\"note\":\"\\\"instructions\\\":[[1]]\""),
           wave_of(states, rows),
           "{\"wave\":{\"timeline\":" + states + ",\"instructions\":" + rows +
               ",\"begin\":90,\"end\":200}}\n",
           "{\"wave\":[{\"instructions\":" + rows + ",\"timeline\":" + states + "}]}",
           plain.substr(0, plain.size() - 1),
           plain + "}",
           plain + "\n",
       })
    EXPECT_TRUE(parse_text_of_wave(text) == parse_text_of_wave(for_the_dom(text))) << text;
}

TEST(AttWaveFile, RecordedOnesAreReadAsThroughTheDom) {
  const std::filesystem::path traces = test::recorded_traces();
  if (!std::filesystem::exists(traces)) GTEST_SKIP() << traces << " is not there";
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(traces)) {
    if (!wave_place_of(entry.path().filename().string())) continue;
    const auto text = read_file(entry.path());
    ASSERT_TRUE(text);
    ++files;
    EXPECT_NE(rows_behind(*text, "\"instructions\":"), "") << entry.path();
    EXPECT_TRUE(parse_text_of_wave(*text) == parse_text_of_wave(for_the_dom(*text)))
        << entry.path();
  }
  EXPECT_GT(files, 10);
}

TEST(AttRowLists, TakeTheFirstNumbersOfEachRow) {
  std::vector<std::array<std::int64_t, 2>> rows;
  std::vector<std::size_t> counts;
  const auto take = [&](const auto& row, std::size_t count) {
    rows.push_back(row);
    counts.push_back(count);
  };
  EXPECT_TRUE(for_each_row<2>("[[1,-2,3],[4],[0,-0],[999999999999999999,5]]", take));
  EXPECT_THAT(rows, ElementsAre(std::array<std::int64_t, 2>{1, -2},
                                std::array<std::int64_t, 2>{4, 0}, std::array<std::int64_t, 2>{},
                                std::array<std::int64_t, 2>{999'999'999'999'999'999, 5}));
  EXPECT_THAT(counts, ElementsAre(3U, 1U, 2U, 2U));
  for (const char* list :
       {"[[]]", "[[1]", "[[1],]]", "[[1,]]", "[[1]]]", "[[01]]", "[[-]]", "[[1],[]]", "[[ 1]]",
        "[[1], [2]]", "[[1.5]]", "[[1],2]]", "[[1000000000000000000]]", "[[1][2]]"})
    EXPECT_FALSE(for_each_row<2>(list, take)) << list;
}

TEST(AttRowLists, StandBehindAKeyThatIsThereOnce) {
  const std::string key = "\"k\":";
  EXPECT_EQ(rows_behind(R"({"k":[[1]],"m":2})", key), "[[1]]");
  EXPECT_EQ(rows_behind(R"({"a":{"k":[[1],[2]]}})", key), "[[1],[2]]");
  for (const char* text : {"{}", R"({"k":[]})", R"({"k":[[1]],"a":{"k":[[2]]}})", R"({"k":[[1]})",
                           R"({"k":[["a"]]})", R"({"k": [[1]]})", R"({"k":[[1]] ,"m":2})"})
    EXPECT_EQ(rows_behind(text, key), "") << text;
}

}  // namespace
}  // namespace perflab::att
