// The order of the rows in the file does not change the analysis: writers put rows down as records
// complete, not in the order of time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "report/analysis/analysis_document.h"
#include "report/analysis/analysis_text.h"
#include "report/analysis/profile_document.h"
#include "report/analysis/profile_text.h"
#include "report/report_cases.h"
#include "support/prng.h"
#include "support/rocpd_writer.h"
#include "support/test_database.h"

namespace perflab::report {
namespace {

namespace fs = std::filesystem;
using test::DispatchRow;
using test::Id;
using test::RocpdWriter;
using Add = std::function<void(RocpdWriter&)>;

constexpr std::int64_t kRunStart = 5'000'000'000'000;

void shuffle(std::vector<Add>& rows, test::Prng& random) {
  for (std::size_t i = rows.size(); i > 1; --i)
    std::swap(rows[i - 1], rows[static_cast<std::size_t>(random.below(static_cast<Id>(i)))]);
}

/// Kernels and counters: what later rows point to.
std::vector<Add> descriptions() {
  std::vector<Add> rows;
  for (Id kernel = 1; kernel <= 6; ++kernel)
    rows.emplace_back([=](RocpdWriter& writer) {
      writer.kernel({.id = kernel,
                     .name = fmt::format("kernel_{}", kernel % 4),  // two symbols of some names
                     .arch_vgpr_count = 32 + 8 * (kernel % 4)});
    });
  for (Id counter = 1; counter <= 3; ++counter)
    rows.emplace_back([=](RocpdWriter& writer) {
      writer.counter({.id = counter, .name = fmt::format("COUNTER_{}", counter)});
    });
  return rows;
}

/// A launch with its counter values. Some dispatches share start and end, and differ otherwise.
void launch(RocpdWriter& writer, Id number) {
  const std::int64_t start = kRunStart + 1000 * (number / 2);
  const Id stack = 1000 + number;
  writer.region({.name = fmt::format("call_{}", number % 3),
                 .start = start - 500 + number % 2,
                 .end = start - 100,
                 .event = {.stack_id = stack}});
  DispatchRow row;
  row.kernel = 1 + number / 2 % 6;
  row.start = start;
  row.end = start + 300 + 7 * (number / 2 % 5);
  row.queue = number % 2;
  row.dispatch_id = number;
  row.grid.x = 256 * (1 + number);
  row.event.stack_id = stack;
  const test::Written written = writer.dispatch(row);
  for (Id counter = 1; counter <= 3; ++counter)
    for (int instance = 0; instance < 4; ++instance)
      writer.counter_value(written.event, counter,
                           static_cast<double>(number * counter + instance));
}

std::vector<Add> activity() {
  std::vector<Add> rows;
  for (Id number = 1; number <= 120; ++number)
    rows.emplace_back([=](RocpdWriter& writer) { launch(writer, number); });
  for (Id number = 1; number <= 30; ++number)
    rows.emplace_back([=](RocpdWriter& writer) {
      const std::int64_t start = kRunStart + 700 * number;
      writer.copy({.name = fmt::format("COPY_{}", number % 2),
                   .start = start,
                   .end = start + number,
                   .size = 64 * number});
      writer.allocation({.type = number % 3 == 0 ? "FREE" : "ALLOC",
                         .start = start,
                         .end = start + 1,
                         .size = number % 3 == 0 ? 0 : number});
      writer.dispatch({.start = start, .end = 0});  // unfinished
    });
  return rows;
}

/// Everything that is said about the database with its rows shuffled by this seed; 0: in order.
std::string output_of(std::uint64_t seed) {
  std::vector<Add> first = descriptions();
  std::vector<Add> then = activity();
  if (seed != 0) {
    test::Prng random(seed);
    shuffle(first, random);
    shuffle(then, random);
  }
  const Case shuffled{.name = "shuffled", .runs = [&]() -> std::vector<std::vector<fs::path>> {
                        fs::current_path(test::test_folder());
                        RocpdWriter writer("rows.db");
                        writer.agent(test::host_agent());
                        writer.agent(test::mi300x_agent());
                        writer.queue();
                        writer.queue();
                        writer.stream();
                        writer.code_object();
                        for (const Add& add : first) add(writer);
                        for (const Add& add : then) add(writer);
                        const Result<void> done = writer.close();
                        EXPECT_TRUE(done) << describe(done.error());
                        return {{"rows.db"}};
                      }};
  const auto runs = analyze_case(shuffled);
  if (!runs) return "failed";
  const auto& [trace, analysis] = runs->representative;
  const ProfileData profile = profile_of_recording(*runs);
  return rendered("analysis", analysis_document(trace, analysis)) +
         rendered("profile", profile_document(profile)) + analysis_text(trace, analysis, {}) +
         profile_texts(profile);
}

TEST(RowOrder, DoesNotChangeTheAnalysis) {
  const std::string in_order = output_of(0);
  EXPECT_NE(in_order.find("\"dispatches\": 120"), std::string::npos) << in_order;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) EXPECT_EQ(output_of(seed), in_order) << seed;
}

}  // namespace
}  // namespace perflab::report
