// base/text/csv.h against RFC 4180, and what is said about text that is no CSV.
#include "base/text/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/prng.h"

namespace perflab {
namespace {

using ::testing::ElementsAre;
using Rows = std::vector<std::vector<std::string>>;

CsvTable parse(std::string_view text) {
  Result<CsvTable> table = parse_csv(text, "t.csv");
  if (table) return std::move(*table);
  ADD_FAILURE() << describe(table.error());
  return {};
}

std::string error_of(std::string_view text) {
  const Result<CsvTable> table = parse_csv(text, "t.csv");
  if (table) return "no error";
  EXPECT_EQ(table.error().code, ErrorCode::bad_input);
  return table.error().message;
}

TEST(Csv, HasAHeaderAndRows) {
  const CsvTable table = parse("a,b,c\n1,,3\n4,5,6\n");
  EXPECT_THAT(table.header, ElementsAre("a", "b", "c"));
  EXPECT_EQ(table.rows, (Rows{{"1", "", "3"}, {"4", "5", "6"}}));
  EXPECT_EQ(table.column("b"), 1U);
  EXPECT_EQ(table.column("B"), std::nullopt);
  EXPECT_EQ(parse("x,x\n1,2\n").column("x"), 0U);
}

TEST(Csv, LinesEndInAnyWay) {
  const Rows expected = {{"1", "2"}, {"3", "4"}};
  EXPECT_EQ(parse("a,b\r\n1,2\r\n3,4\r\n").rows, expected);
  EXPECT_EQ(parse("a,b\n1,2\n3,4").rows, expected);
  EXPECT_EQ(parse("a,b\r1,2\r3,4\r").rows, expected);
  EXPECT_EQ(parse("\n\na,b\n\n1,2\n\r\n3,4\n\n").rows, expected);
}

TEST(Csv, QuotedFieldsHoldAnything) {
  const CsvTable table = parse("name,n\n\"f(int, \"\"x\"\")\",1\n\"two\nlines\",2\n\"\",3\n");
  EXPECT_EQ(table.rows, (Rows{{"f(int, \"x\")", "1"}, {"two\nlines", "2"}, {"", "3"}}));
}

TEST(Csv, BlanksArePartOfAField) {
  EXPECT_EQ(parse("a,b\n 1 ,\t2\n").rows, (Rows{{" 1 ", "\t2"}}));
}

TEST(Csv, AByteOrderMarkIsNone) {
  EXPECT_THAT(parse("\xEF\xBB\xBF"
                    "a,b\n1,2\n")
                  .header,
              ElementsAre("a", "b"));
}

TEST(Csv, AHeaderAloneIsATable) {
  EXPECT_THAT(parse("a,b").header, ElementsAre("a", "b"));
  EXPECT_TRUE(parse("a,b").rows.empty());
}

TEST(Csv, ErrorsNameTheFileAndTheLine) {
  EXPECT_EQ(error_of(""), "t.csv: has no header line");
  EXPECT_EQ(error_of("\n\r\n"), "t.csv: has no header line");
  EXPECT_EQ(error_of("a,b\n1,2\n3\n"), "t.csv: line 3 has 1 field, the header has 2");
  EXPECT_EQ(error_of("a,b\n1,2,3\n"), "t.csv: line 2 has 3 fields, the header has 2");
  EXPECT_EQ(error_of("a,b\n1,x\"y\n"), "t.csv: line 2 has a quote in the middle of a field");
  EXPECT_EQ(error_of("a,b\n1,2\n\"x\ny\n"), "t.csv: the quote of line 3 is never closed");
  EXPECT_EQ(error_of("a,b\n1,2\n1,\"x\ny\n"), "t.csv: the quote of line 3 is never closed");
  EXPECT_EQ(error_of(std::string_view("a,b\n1,\0\n", 8)), "t.csv: line 2 holds a NUL byte");
}

TEST(Csv, LinesAreCountedThroughFieldsOfSeveralLinesAndEmptyOnes) {
  EXPECT_EQ(error_of("a,b\n\n\"x\ny\nz\",1\n3\n"), "t.csv: line 6 has 1 field, the header has 2");
  std::vector<std::size_t> lines;
  const auto read = for_each_csv_row("a,b\n\"x\ny\",1\n\n1,\"\n\"\n3,4", "t.csv",
                                     [&](auto fields, std::size_t line) -> Result<void> {
                                       EXPECT_EQ(fields.size(), 2U);
                                       lines.push_back(line);
                                       return {};
                                     });
  EXPECT_TRUE(read.has_value());
  EXPECT_THAT(lines, ElementsAre(1, 2, 5, 7));
}

TEST(Csv, TheVisitorsErrorEndsTheReading) {
  int rows = 0;
  const auto read = for_each_csv_row("a\n1\n2\n3\n", "t.csv", [&](auto, std::size_t) {
    return ++rows < 3 ? Result<void>() : fail(ErrorCode::bad_input, "enough");
  });
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().message, "enough");
  EXPECT_EQ(rows, 3);
}

TEST(Csv, LongFieldsAndManyColumnsAreWhole) {
  const std::string field(200'000, 'x');
  EXPECT_EQ(parse("a,b\n" + field + ",1\n").rows.at(0).at(0), field);
  std::string header = "c0", row = "0";
  for (int i = 1; i < 5000; ++i) {
    header += ",c" + std::to_string(i);
    row += "," + std::to_string(i);
  }
  const CsvTable table = parse(header + "\n" + row + "\n");
  EXPECT_EQ(table.rows.at(0).at(4999), "4999");
}

/// Rows of 3 fields with everything that a field may hold, and the same as a text in many styles.
struct WrittenTable {
  Rows rows;
  std::vector<std::size_t> lines;  ///< where each begins
  std::string text;
};

std::string in_quotes(const std::string& field) {
  std::string text = "\"";
  for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

/// `odd`: how many of a hundred fields hold quotes or line breaks.
WrittenTable write_table(std::uint64_t seed, int rows, int odd) {
  test::Prng random(seed);
  WrittenTable table;
  std::size_t line = 1;
  for (int row = 0; row < rows; ++row) {
    std::vector<std::string> fields;
    std::string text;
    for (int i = 0; i < 3; ++i) {
      std::string field(static_cast<std::size_t>(random.below(12)), 'x');
      const bool is_odd = random.below(100) < odd;
      if (is_odd)
        field += std::vector<std::string>{"\"", "\n", ",\r\n",
                                          "\"\"a"}[static_cast<std::size_t>(random.below(4))];
      text += (i > 0 ? "," : "") + (is_odd || random.below(2) == 0 ? in_quotes(field) : field);
      fields.push_back(field);
    }
    table.lines.push_back(line);
    table.rows.push_back(fields);
    text += random.below(2) == 0 ? "\n" : "\r\n";
    if (random.below(20) == 0) text += "\n";
    line += static_cast<std::size_t>(std::ranges::count(text, '\n'));
    table.text += text;
  }
  return table;
}

/// Gives a text in portions of random size.
ReadBytes portions_of(std::string_view text, std::uint64_t seed) {
  return
      [text, random = test::Prng(seed)](char* to, std::size_t size) mutable -> Result<std::size_t> {
        const auto portion = static_cast<std::size_t>(1 + random.below(300'000));
        const std::size_t many = text.copy(to, std::min(size, portion));
        text.remove_prefix(many);
        return many;
      };
}

TEST(Csv, WhatWasWrittenIsReadInOnePieceAndInMany) {
  for (const int odd : {0, 1, 50}) {
    const WrittenTable table = write_table(static_cast<std::uint64_t>(7 + odd), 60'000, odd);
    Rows rows;
    std::vector<std::size_t> lines;
    const CsvRowVisitor keep = [&](auto fields, std::size_t line) -> Result<void> {
      rows.emplace_back(fields.begin(), fields.end());
      lines.push_back(line);
      return {};
    };
    const auto check = [&](const Result<void>& read) {
      ASSERT_TRUE(read.has_value());
      EXPECT_TRUE(rows == table.rows);
      EXPECT_TRUE(lines == table.lines);
      rows.clear();
      lines.clear();
    };
    check(for_each_csv_row(table.text, "t.csv", keep));
    for (const unsigned threads : {1U, 2U})
      check(for_each_csv_row(portions_of(table.text, threads), "t.csv", keep, threads));
  }
}

TEST(Csv, ErrorsInLaterPiecesNameTheirLine) {
  const auto error_of_bytes = [](const std::string& text) {
    const auto read = for_each_csv_row(
        portions_of(text, 3), "t.csv", [](auto, std::size_t) { return Result<void>(); }, 2);
    return read ? "no error" : read.error().message;
  };
  std::string text = "a,b\n";
  while (text.size() < 1'500'000) text += "1,2\n";
  const auto next_line = std::to_string(1 + std::ranges::count(text, '\n'));
  EXPECT_EQ(error_of_bytes(text), "no error");
  EXPECT_EQ(error_of_bytes(text + "3\n" + text),
            "t.csv: line " + next_line + " has 1 field, the header has 2");
  EXPECT_EQ(error_of_bytes(text + "\"x" + text),
            "t.csv: the quote of line " + next_line + " is never closed");
  EXPECT_EQ(error_of_bytes(text + "1,x\"y\n"),
            "t.csv: line " + next_line + " has a quote in the middle of a field");
  EXPECT_EQ(error_of_bytes(text + '\0'), "t.csv: line " + next_line + " holds a NUL byte");
}

TEST(Csv, ARowThatDoesNotEndIsNoTable) {
  constexpr std::string_view kTooLong =
      "t.csv: the row of line 2 is longer than 16 MiB: is no table";
  std::size_t given = 0;
  const ReadBytes endless = [&](char* to, std::size_t size) -> Result<std::size_t> {
    for (std::size_t i = 0; i < size; ++i, ++given) to[i] = given < 4 ? "a,b\n"[given] : 'x';
    return size;
  };
  const auto read =
      for_each_csv_row(endless, "t.csv", [](auto, std::size_t) { return Result<void>(); }, 2);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().message, kTooLong);
  EXPECT_LT(given, std::size_t{1} << 26);

  std::string open_quote = "a,b\n\"x";
  for (int i = 0; i < 20; ++i) open_quote += std::string(1'000'000, 'y') + '\n';
  EXPECT_EQ(error_of(open_quote), kTooLong);
}

TEST(Csv, AnErrorOfReadingIsHandedOn) {
  int calls = 0;
  const ReadBytes read = [&](char* to, std::size_t size) -> Result<std::size_t> {
    if (++calls > 4) return fail(ErrorCode::bad_input, "t.csv: cannot be read");
    for (std::size_t i = 0; i < size; ++i) to[i] = "1,2\n"[i % 4];
    return size / 4 * 4;
  };
  const auto done =
      for_each_csv_row(read, "t.csv", [](auto, std::size_t) { return Result<void>(); }, 2);
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().message, "t.csv: cannot be read");
}

}  // namespace
}  // namespace perflab
