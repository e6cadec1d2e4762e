// thread_trace.json: nothing of the analysis is lost without being counted, tables refer to each
// other rightly, and every limit holds.
#include "report/thread_trace/thread_trace_document.h"

#include <gtest/gtest.h>

#include <numeric>

#include "report/document_checks.h"
#include "report/kit/document.h"
#include "report/kit/source_parts.h"
#include "report/report_cases.h"
#include "report/thread_trace/thread_trace_json.h"
#include "report/thread_trace_samples.h"

namespace perflab::report {
namespace {

/// The document of the sample, as it is written.
Json traced_document(const ThreadTraceLimits& limits = {}) {
  return rendered_json("thread_trace",
                       thread_trace_document(sample_traced_kernels("traced_document"), limits));
}

std::int64_t sum_of_column(const Json& rows, const char* column) {
  std::int64_t sum = 0;
  for (const Json& value : rows.at(column)) sum += value.get<std::int64_t>();
  return sum;
}

/// What holds for every document, whatever was left out.
void expect_consistent(const Json& document) {
  const Json schema = schema_of("thread_trace");
  expect_schema_order(schema, schema, document, "thread_trace");
  expect_nulls_explained(document);
  for (const Json& kernel : document.at("kernels")) {
    SCOPED_TRACE(kernel.at("name"));
    expect_entries_are_true(kernel, "thread trace: ");
    const Json& rows = kernel.at("rows");
    const std::size_t shown = rows.at("row").size();
    for (const auto& [name, column] : rows.items()) EXPECT_EQ(column.size(), shown) << name;
    const Json& left_out = kernel.at("rows_left_out");
    for (const auto& [name, total] : kernel.at("cycles").items())
      EXPECT_EQ(
          sum_of_column(rows, name.c_str()) + left_out.at("cycles").at(name).get<std::int64_t>(),
          total)
          << name;
    std::int64_t pairs = kernel.at("waits").at("left_out").at("cycles");
    for (const Json& pair : kernel.at("waits").at("pairs")) pairs += pair[2].get<std::int64_t>();
    EXPECT_EQ(pairs,
              sum_of_column(rows, "wait_caused") + left_out.at("wait_caused").get<std::int64_t>());
    for (const Json& chain : rows.at("chain")) {
      EXPECT_TRUE(chain.is_null() || chain < kernel.at("chains").size());
    }
    for (const Json& chain : kernel.at("chains"))
      for (const Json& line : chain) EXPECT_LT(line, kernel.at("lines").size());
    const std::size_t files = kernel.at("sources").is_null() ? 0 : kernel.at("sources").size();
    for (const Json& line : kernel.at("lines")) EXPECT_LT(line[0], files);
  }
}

TEST(ThreadTraceDocument, IsConsistentWithAndWithoutRoom) {
  expect_consistent(traced_document());
  expect_consistent(traced_document({.rows = 0, .pairs = 0, .source_lines = 0, .waves = 0}));
  for (std::size_t rows = 1; rows < 13; ++rows)
    expect_consistent(
        traced_document({.rows = rows, .pairs = 1, .source_lines = 9 * rows, .waves = rows}));
}

TEST(ThreadTraceDocument, HasTheKernelsOfTheAnalysisInTheirOrder) {
  const analyze::Analysis analysis = sample_traced_kernels("traced_order");
  const Json document = thread_trace_document(analysis);
  const Json same = thread_traces_json(*analysis.thread_traces);
  ASSERT_EQ(document.at("kernels").size(), 2U);
  EXPECT_EQ(document.at("traces"), same.at("traces"));
  for (std::size_t i = 0; i < 2; ++i)
    for (const char* field : {"trace", "name", "mangled_name", "kernel", "dispatch_id", "gfxip",
                              "form", "confidence", "confidence_reasons"})
      EXPECT_EQ(document.at("kernels")[i].at(field), same.at("kernels")[i].at(field)) << field;
  const Json& occupancy = same.at("kernels")[0].at("occupancy");
  for (const auto& [name, value] : document.at("kernels")[0].at("occupancy").items())
    EXPECT_EQ(value, occupancy.at(name)) << name;
  const Json again = thread_trace_document(sample_traced_kernels("traced_order"));
  EXPECT_EQ(rendered("thread_trace", document), rendered("thread_trace", again));
}

TEST(ThreadTraceDocument, NamesSourceLinesByTables) {
  const Json kernel = traced_document().at("kernels")[0];
  const Json& rows = kernel.at("rows");
  ASSERT_EQ(rows.at("text")[2], "global_load_dword v1, v0, s[0:1]");
  const Json& chain = kernel.at("chains")[rows.at("chain")[2].get<std::size_t>()];
  ASSERT_EQ(chain.size(), 2U);
  const Json& inner = kernel.at("lines")[chain[0].get<std::size_t>()];
  const Json& outer = kernel.at("lines")[chain[1].get<std::size_t>()];
  EXPECT_EQ(inner[1], 10);
  EXPECT_EQ(outer[1], 4);
  const Json& sources = kernel.at("sources");
  EXPECT_EQ(sources[inner[0].get<std::size_t>()].at("path"), "/usr/include/hip/vector.h");
  EXPECT_EQ(sources[outer[0].get<std::size_t>()].at("path"), "/src/scale.hip");
  EXPECT_TRUE(rows.at("chain")[7].is_null());  // s_trap has no line
  EXPECT_EQ(kernel.at("labels").dump(), R"x([{"row":0,"name":"scale(float*, int)"}])x");
}

TEST(ThreadTraceDocument, ShowsTheTextOfSources) {
  const Json kernel = traced_document().at("kernels")[0];
  const Json& sources = kernel.at("sources");
  ASSERT_EQ(sources.size(), 3U);
  EXPECT_EQ(sources[0].at("path"), "/gone/math.h");
  EXPECT_TRUE(sources[0].at("parts").is_null());
  EXPECT_EQ(sources[1].at("line_count"), 8);
  ASSERT_EQ(sources[1].at("parts").size(), 1U);
  EXPECT_EQ(sources[1].at("parts")[0].at("text").size(), 8U);
  EXPECT_EQ(sources[1].at("parts")[0].at("text")[0], "// scales \xef\xbf\xbd");  // was no UTF-8
  EXPECT_EQ(sources[1].at("parts")[0].at("text")[4], "\tv = exp(v);");
  EXPECT_EQ(sources[2].at("line_count"), 400);
  const Json& parts = sources[2].at("parts");
  ASSERT_EQ(parts.size(), 2U);  // around lines 10 and 200
  EXPECT_EQ(parts[0].at("first_line"), 1);
  EXPECT_EQ(parts[0].at("text").size(), 22U);
  EXPECT_EQ(parts[0].at("text")[0], "// line 1");
  EXPECT_EQ(parts[1].at("first_line"), 188);
  EXPECT_EQ(parts[1].at("text").size(), 25U);
  const std::string cut = parts[0].at("text")[9];
  EXPECT_EQ(cut, std::string(kMostLineBytes, 'x') + "…");
}

TEST(ThreadTraceDocument, GivesTheRoomToWhatCostsMost) {
  const Json kernel =
      traced_document({.rows = 6, .pairs = 1, .source_lines = 10, .waves = 3}).at("kernels")[0];
  // The stats file's two rows have their share, four are left: the wait for the load, the wait for
  // the scalar load and the two loads that were waited for.
  EXPECT_EQ(kernel.at("rows").at("row").dump(), "[1,2,3,4]");
  EXPECT_EQ(kernel.at("rows_left_out").at("rows"), 6);
  EXPECT_EQ(kernel.at("waits").at("pairs").dump(), "[[4,3,3000,6]]");
  EXPECT_EQ(kernel.at("waits").at("left_out").at("cycles"), 720);
  EXPECT_EQ(kernel.at("waves").size(), 3U);
  EXPECT_EQ(kernel.at("waves_left_out"), 3);
  for (const Json& source : kernel.at("sources"))
    EXPECT_EQ(source.at("parts").is_null(), source.at("path") != "/src/scale.hip");
}

TEST(ThreadTraceDocument, SaysWhatAStatsFileDoesNotHave) {
  const Json kernel = traced_document().at("kernels")[1];
  EXPECT_EQ(kernel.at("name"), "copy(float*)");
  EXPECT_EQ(kernel.at("rows").at("hits").dump(), "[1,1]");
  for (const char* field : {"states", "waves", "occupancy", "sources"})
    EXPECT_TRUE(kernel.at(field).is_null()) << field;
  EXPECT_EQ(kernel.at("waves_left_out"), 0);
}

TEST(ThreadTraceDocument, NeedsTheDetail) {
  EXPECT_FALSE(has_thread_trace_detail({}));
  analyze::Analysis analysis = sample_traced_kernels("traced_needs");
  EXPECT_TRUE(has_thread_trace_detail(analysis));
  analysis.thread_traces->kernels[1].detail = nullptr;
  EXPECT_FALSE(has_thread_trace_detail(analysis));
}

TEST(FairShares, NobodyGetsMoreThanNeededNorLessThanOthersWithoutNeed) {
  using Sizes = std::vector<std::size_t>;
  EXPECT_EQ(fair_shares({}, 10), Sizes{});
  EXPECT_EQ(fair_shares({3, 4}, 10), (Sizes{3, 4}));
  EXPECT_EQ(fair_shares({100, 2, 100}, 10), (Sizes{4, 2, 4}));
  EXPECT_EQ(fair_shares({100, 100, 100}, 11), (Sizes{3, 4, 4}));
  EXPECT_EQ(fair_shares({5, 5}, 0), (Sizes{0, 0}));
}

TEST(SourceParts, OfALargeFileAreTheSurroundings) {
  std::string text;
  for (int line = 1; line <= 1000; ++line) text += std::to_string(line) + "\n";
  const auto spans = [&](const std::set<std::int64_t>& lines) {
    std::vector<std::pair<std::int64_t, std::int64_t>> out;
    for (const auto shown = source_parts(text, lines); const SourcePart& part : shown.parts) {
      EXPECT_EQ(part.text.front(), std::to_string(part.first_line));
      out.emplace_back(part.first_line,
                       part.first_line + static_cast<std::int64_t>(part.text.size()) - 1);
    }
    return out;
  };
  using Spans = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(spans({}), Spans{});
  EXPECT_EQ(spans({0, 1001, -5}), Spans{});
  EXPECT_EQ(spans({500}), (Spans{{488, 512}}));
  EXPECT_EQ(spans({1, 1000}), (Spans{{1, 13}, {988, 1000}}));
  EXPECT_EQ(spans({500, 525}), (Spans{{488, 537}}));              // they touch
  EXPECT_EQ(spans({500, 526}), (Spans{{488, 512}, {514, 538}}));  // one line between
}

TEST(SourceParts, EndsOfLinesAndOfCharacters) {
  EXPECT_TRUE(source_parts("", {1}).parts.empty());
  EXPECT_EQ(source_parts("\n", {1}).parts.at(0).text, std::vector<std::string>{""});
  EXPECT_EQ(source_parts("a\r\nb", {1}).parts.at(0).text, (std::vector<std::string>{"a", "b"}));
  std::string umlauts(kMostLineBytes - 1, 'x');
  umlauts += "ä";  // two bytes, of which one fits
  EXPECT_EQ(source_parts(umlauts, {1}).parts.at(0).text.at(0),
            std::string(kMostLineBytes - 1, 'x') + "…");
  EXPECT_EQ(source_parts(std::string(1000, '\x80'), {1}).parts.at(0).text.at(0), "…");
}

}  // namespace
}  // namespace perflab::report
