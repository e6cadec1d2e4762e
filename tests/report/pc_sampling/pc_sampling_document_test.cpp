// The part of analysis.json about PC samples, its text and its answer, of made-up samples of every
// method and form: valid, every null explained, and whole outputs as golden files.
#include "report/pc_sampling/pc_sampling_json.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "analyze/pipeline.h"
#include "report/analysis/analysis_document.h"
#include "report/document_checks.h"
#include "report/pc_sampling/pc_sampling_text.h"
#include "report/summary/summary.h"
#include "support/golden.h"
#include "support/pc_samples_writer.h"

namespace perflab::report {
namespace {

namespace fs = std::filesystem;

test::PcRun sampled_run() {
  test::PcRun run;
  run.kernels = {test::pc_copy_kernel(), test::pc_matrix_kernel()};
  run.kernels[0].dispatches = 9;
  run.kernels[1].dispatches = 4;
  run.undecoded = 20;
  run.dispatch_unknown = 10;
  return run;
}

/// What analyze --pc-samples makes of a run.
analyze::AnalyzedTrace analyzed_samples(const test::PcRun& run, test::PcForms forms,
                                        std::optional<std::uint64_t> interval) {
  const fs::path folder = fs::path(testing::TempDir()) /
                          ("pc_document_" + std::to_string(getpid()) + "_" +
                           testing::UnitTest::GetInstance()->current_test_info()->name());
  fs::remove_all(folder);
  test::write_pc_run(folder, "run", run, forms);
  analyze::AnalyzeOptions options;
  options.pc_samples = {folder};
  options.pc_interval = interval;
  auto analyzed = analyze::analyze_thread_traces(options);
  fs::remove_all(folder);
  EXPECT_TRUE(analyzed) << describe(analyzed.error());
  return analyzed ? std::move(*analyzed) : analyze::AnalyzedTrace{};
}

void expect_sound(const analyze::AnalyzedTrace& analyzed) {
  const Json document = analysis_document(analyzed.trace, analyzed.analysis);
  const auto text = render("analysis", document);
  ASSERT_TRUE(text) << describe(text.error());
  const Json read = parse_json(*text, "analysis").value();
  expect_schema_order(schema_of("analysis"), schema_of("analysis"), read, "");
  expect_nulls_explained(read);
  for (const char* const list : {"sets", "kernels"})
    for (const Json& one : read["pc_sampling"][list]) expect_entries_are_true(one, list);
}

TEST(PcSamplingDocument, OfEveryMethodAndFormIsSound) {
  constexpr test::PcForms kJson{.json = true, .csv = false}, kCsv{.json = false, .csv = true};
  test::PcRun run = sampled_run();
  expect_sound(analyzed_samples(run, kJson, 65536));
  expect_sound(analyzed_samples(run, kCsv, {}));
  run.kernel_trace = false;
  expect_sound(analyzed_samples(run, kJson, {}));
  run.kernel_trace = true;
  run.stochastic = false;
  expect_sound(analyzed_samples(run, kJson, 512));
  expect_sound(analyzed_samples(run, kCsv, 512));
  run.kernels[0].dispatches = run.kernels[1].dispatches = 1;  // too few of everything
  run.ticks = 1;
  expect_sound(analyzed_samples(run, kJson, 512));
  run.ticks = 0;
  expect_sound(analyzed_samples(run, kJson, 512));
}

TEST(PcSamplingDocument, WithoutSamplesSaysSo) {
  const Json document = analysis_document({}, {});
  EXPECT_TRUE(document["pc_sampling"].is_null());
  const Json& missing = document["missing"];
  EXPECT_TRUE(std::ranges::any_of(missing, [](const Json& one) {
    return one["field"] == "pc_sampling" && one["reason"] == "no PC samples were given";
  }));
}

TEST(PcSamplingGolden, WholeOutputs) {
  const analyze::AnalyzedTrace analyzed =
      analyzed_samples(sampled_run(), {.json = true, .csv = false}, 65536);
  const auto& [trace, analysis] = analyzed;
  ASSERT_TRUE(analysis.pc_sampling);
  test::expect_golden("report/golden/pc_sampling.txt", pc_sampling_report_text(analysis, {}));
  test::expect_golden("report/golden/pc_sampling.narrow.txt",
                      pc_sampling_text(analysis, {.width = 72, .most_rows = 4}));
  const Json document = analysis_document(trace, analysis);
  test::expect_fields("report/golden/pc_sampling.analysis", render("analysis", document).value());
}

}  // namespace
}  // namespace perflab::report
