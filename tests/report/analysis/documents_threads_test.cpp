// An analysis and its documents do not depend on the number of threads: tables, critical path and
// segments are found side by side, and documents are made, validated and written so.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyze/pipeline.h"
#include "report/analysis/recording_documents.h"
#include "support/big_trace.h"
#include "support/test_database.h"

namespace perflab::report {
namespace {

std::vector<std::string> texts(const std::filesystem::path& file, unsigned threads) {
  const auto analyzed =
      analyze::analyze_files({file}, {.threads = threads, .search_code = false, .timeline = true});
  EXPECT_TRUE(analyzed) << describe(analyzed.error());
  if (!analyzed) return {};
  EXPECT_TRUE(analyzed->analysis.critical_path && analyzed->analysis.timeline);
  const auto rendered = render_all(trace_documents(*analyzed));
  EXPECT_TRUE(rendered) << describe(rendered.error());
  std::vector<std::string> found;
  if (rendered)
    for (const RenderedDocument& one : *rendered) found.push_back(one.text);
  return found;
}

TEST(DocumentsThreads, AreTheSameOnAnyNumberOfThem) {
  const auto path = test::test_folder() / "threads.db";
  const auto made = test::write_big_trace(
      path, {.dispatches = 4'000, .streams = 4, .copies_every = 5, .events_every = 7});
  ASSERT_TRUE(made) << describe(made.error());
  const std::vector<std::string> one = texts(path, 1);
  ASSERT_GE(one.size(), 3U);
  for (const unsigned threads : {2U, 4U}) EXPECT_TRUE(texts(path, threads) == one) << threads;
}

}  // namespace
}  // namespace perflab::report
