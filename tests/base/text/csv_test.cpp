// base/text/csv.h against RFC 4180, and what is said about text that is no CSV.
#include "base/text/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace perflab
