// Text for people: figures with units, cutting of long names, tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/analysis/analysis_text.h"
#include "report/analysis/profile_text.h"
#include "report/kit/quantities.h"
#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

using enum TextTable::Align;

TEST(DurationText, HasThreeOrFourDigits) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(1), "1 ns");
  EXPECT_EQ(duration_text(12.5), "12.50 ns");
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(1000), "1 us");
  EXPECT_EQ(duration_text(10'920), "10.92 us");
  EXPECT_EQ(duration_text(123'456), "123.5 us");
  EXPECT_EQ(duration_text(1'204'000), "1.20 ms");
  EXPECT_EQ(duration_text(2.5e9), "2.50 s");
  EXPECT_EQ(duration_text(86'400e9), "86400 s");
  EXPECT_EQ(duration_text(9223372036854775807.0), "9223372037 s");
}

TEST(DurationText, DoesNotGrowByRounding) {
  EXPECT_EQ(duration_text(99'994), "99.99 us");
  EXPECT_EQ(duration_text(99'996), "100.0 us");
  EXPECT_EQ(duration_text(999'949), "999.9 us");
  EXPECT_EQ(duration_text(999'960), "1000 us");
}

TEST(BytesText, IsDecimal) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(4096), "4.10 kB");
  EXPECT_EQ(bytes_text(4e6), "4 MB");
  EXPECT_EQ(bytes_text(1.5e9), "1.50 GB");
  EXPECT_EQ(bytes_text(9.2e18), "9200000 TB");
}

TEST(DisplayWidth, CountsCodePoints) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("é…µ"), 3U);
  EXPECT_EQ(display_width("\xF0\x9F\x98\x80"), 1U);
}

TEST(Fit, KeepsWhatFits) {
  EXPECT_EQ(fit("kernel", 6), "kernel");
  EXPECT_EQ(fit("", 0), "");
  EXPECT_EQ(fit("größe", 5), "größe");
}

TEST(Fit, CutsTheMiddle) {
  EXPECT_EQ(fit("abcdefghij", 7), "abc…hij");
  EXPECT_EQ(fit("abcdefghij", 6), "abc…ij");
  EXPECT_EQ(fit("abcdefghij", 2), "a…");
  EXPECT_EQ(fit("abcdefghij", 1), "…");
  EXPECT_EQ(fit("abcdefghij", 0), "");
}

TEST(Fit, DoesNotCutACharacterInTwo) {
  EXPECT_EQ(fit("äöüßéèêë", 5), "äö…êë");
}

TEST(Fit, IsNeverWiderThanAsked) {
  const std::string text = "aäb…c\xF0\x9F\x98\x80 and a longer tail of plain letters";
  for (std::size_t width = 0; width < 60; ++width)
    EXPECT_LE(display_width(fit(text, width)), width);
}

TEST(Fit, ReplacesControlCharacters) {
  EXPECT_EQ(fit("a\x1b[31mb\r\n\t\x7f", 40), "a?[31mb????");
  EXPECT_EQ(fit(std::string_view("a\0b", 3), 40), "a?b");
}

TEST(Fit, ReplacesControlCharactersOfEightBits) {
  EXPECT_EQ(fit("a\xc2\x9b"
                "2Jb",
                40),
            "a??2Jb");                             // CSI as UTF-8 has it
  EXPECT_EQ(fit("a\xc2\xa0z", 40), "a\xc2\xa0z");  // the first that is none
}

TEST(Fit, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(fit("a\x9b"
                "b\xff\xfe"
                "c\xc3",
                40),
            "a?b??c?");
  EXPECT_EQ(fit("\xc0\xaf\xed\xa0\x80", 40), "?????");  // overlong, surrogate
}

TEST(FitDistinct, CutsLikeFitWhenThatIsEnough) {
  EXPECT_EQ(fit_distinct({"abcdefghijklmnopqrstuvwxyz", "short"}, 17),
            (std::vector<std::string>{"abcdefgh…stuvwxyz", "short"}));
}

TEST(FitDistinct, KeepsNamesApart) {
  const std::string head(30, 'h');
  const std::string tail(30, 't');
  const auto cut = fit_distinct({head + "_one_" + tail, head + "_two_" + tail}, 24);
  EXPECT_NE(cut[0], cut[1]);
  EXPECT_NE(cut[0].find("one"), std::string::npos);
  EXPECT_NE(cut[1].find("two"), std::string::npos);
  for (const std::string& text : cut) EXPECT_LE(display_width(text), 24U);
}

TEST(TextTableTest, AlignsColumns) {
  TextTable table({{"n"}, {"name", left}, {"total"}});
  table.add({"1", "first", "10 us"});
  table.add({"200", "x", "5 us"});
  EXPECT_EQ(table.text(80),
            "    n  name   total\n"
            "    1  first  10 us\n"
            "  200  x       5 us\n");
}

TEST(TextTableTest, AlignsByCharactersNotBytes) {
  TextTable table({{"name", left}, {"n"}});
  table.add({"größe", "1"});
  table.add({"plain", "2"});
  EXPECT_EQ(table.text(80),
            "  name   n\n"
            "  größe  1\n"
            "  plain  2\n");
}

TEST(TextTableTest, CutsTheFlexibleColumnToTheWidth) {
  TextTable table({{"total"}, {"kernel", left, true}});
  table.add({"10 us", std::string(40, 'a') + std::string(40, 'z')});
  EXPECT_EQ(table.text(30),
            "  total  kernel\n"
            "  10 us  aaaaaaaaaa…zzzzzzzzzz\n");
}

TEST(TextTableTest, KeepsSixteenColumnsOfTheFlexibleOne) {
  TextTable table({{"total"}, {"kernel", left, true}});
  table.add({"10 us", std::string(80, 'a')});
  EXPECT_EQ(table.text(5),
            "  total  kernel\n"
            "  10 us  aaaaaaaa…aaaaaaa\n");
}

TEST(TextTableTest, LeavesExpendableColumnsOutWhereThereIsNoRoom) {
  TextTable table({{"total"},
                   {.title = "min", .expendable = 2},
                   {.title = "max", .expendable = 1},
                   {"kernel", left, true}});
  table.add({"10 us", "1 us", "9 us", std::string(40, 'a')});
  EXPECT_THAT(table.text(80), testing::HasSubstr("min"));
  EXPECT_THAT(table.text(32), testing::Not(testing::HasSubstr("min")));
  EXPECT_EQ(table.text(31),
            "  total   max  kernel\n"
            "  10 us  9 us  aaaaaaaa…aaaaaaa\n");
  EXPECT_EQ(table.text(30),
            "  total  kernel\n"
            "  10 us  aaaaaaaaaa…aaaaaaaaaa\n");
}

TEST(TextTableTest, HasNoBlanksAtTheEndOfLines) {
  TextTable table({{"a", left}, {"b", left}});
  table.add({"x", ""});
  EXPECT_EQ(table.text(80), "  a  b\n  x\n");
}

TEST(TextTableTest, CellsCannotBreakTheLine) {
  TextTable table({{"a", left}, {"b", left}});
  table.add({"x\ny", "\x1b[2J"});
  EXPECT_EQ(table.text(80), "  a    b\n  x?y  ?[2J\n");
}

TEST(TextTableTest, WithoutRowsIsEmpty) {
  TextTable table({{"a"}});
  EXPECT_TRUE(table.empty());
  table.add({"1"});
  EXPECT_FALSE(table.empty());
}

/// An analysis with that many kernels and API calls.
analyze::Analysis analysis_of(std::size_t kernels) {
  analyze::Analysis analysis;
  for (std::size_t i = 0; i < kernels; ++i) {
    analysis.kernels.emplace_back().name = "kernel " + std::to_string(i);
    analysis.api_calls.emplace_back().name = "call " + std::to_string(i);
  }
  return analysis;
}

TEST(AnalysisText, SaysHowMuchItLeavesOut) {
  const std::string text = analysis_text({}, analysis_of(20), {.most_rows = 6});
  EXPECT_NE(text.find("kernel 5"), std::string::npos);
  EXPECT_EQ(text.find("kernel 6"), std::string::npos);
  EXPECT_NE(text.find("  … and 14 more\n"), std::string::npos);
  EXPECT_NE(text.find("  … and 16 more\n"), std::string::npos);  // calls
}

TEST(AnalysisText, HasColourOnlyWhereAsked) {
  const analyze::Analysis analysis = analysis_of(1);
  EXPECT_EQ(analysis_text({}, analysis, {}).find('\x1b'), std::string::npos);
  EXPECT_NE(analysis_text({}, analysis, {.colour = true}).find("\x1b[1m"), std::string::npos);
}

TEST(AnalysisText, ListsWhatWasLeftOut) {
  trace::Trace trace;
  trace.report.dropped[{"region", "unfinished"}] = 3;
  trace.report.odd[{"kernel_dispatch", "zero length"}] = 2;
  const std::string text = analysis_text(trace, analysis_of(1), {});
  EXPECT_NE(text.find("\nLeft out\n  3 x region: unfinished\n"), std::string::npos);
  EXPECT_NE(text.find("\nKept, but odd\n  2 x kernel_dispatch: zero length\n"), std::string::npos);
}

TEST(ProfileText, WithoutGpuSaysWhy) {
  ProfileData data;
  data.runs.resize(1);
  data.runs[0].process_wall_ns = 1'500'000'000;
  data.no_gpu_reason = "rocprofv3 was not used";
  EXPECT_EQ(profile_text(data, {}),
            "\nProfile\n  run 1: the process took 1.50 s\n  no GPU figures: rocprofv3 was not "
            "used\n");
}

}  // namespace
}  // namespace perflab::report
