// Whole outputs of the bundled sample, of the recorded MI350X database and of written samples:
// texts and short documents byte by byte, long documents by their fields (support/golden.h).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/analysis/analysis_document.h"
#include "report/analysis/analysis_text.h"
#include "report/analysis/profile_document.h"
#include "report/analysis/profile_text.h"
#include "report/analysis/timeline_document.h"
#include "report/autotune_app_samples.h"
#include "report/autotune_samples.h"
#include "report/bottleneck_samples.h"
#include "report/critical_path/dag_document.h"
#include "report/critical_path/dag_text.h"
#include "report/dag_samples.h"
#include "report/dispatch_table_samples.h"
#include "report/ranks/ranks_document.h"
#include "report/ranks/ranks_text.h"
#include "report/ranks_samples.h"
#include "report/report_cases.h"
#include "report/roofline/roofline_document.h"
#include "report/roofline/roofline_text.h"
#include "report/roofline_samples.h"
#include "report/summary/summary.h"
#include "report/thread_trace/thread_trace_document.h"
#include "report/thread_trace/thread_trace_text.h"
#include "report/thread_trace_samples.h"
#include "report/tuning/autotune_app_text.h"
#include "report/tuning/autotune_text.h"
#include "report/tuning/dispatch_table_header.h"
#include "report/tuning/dispatch_table_text.h"
#include "support/golden.h"

namespace perflab::report {
namespace {

namespace fs = std::filesystem;

/// A text that is read whole.
void expect_golden(const std::string& name, const std::string& text) {
  test::expect_golden("report/golden/" + name, text);
}

/// A document by its fields: NAME.fields.
void expect_fields(const std::string& name, const std::string& document) {
  test::expect_fields("report/golden/" + name, document);
}

void expect_goldens(const std::string& name, const Case& input) {
  const auto runs = analyze_case(input);
  ASSERT_TRUE(runs);
  const auto& [trace, analysis] = runs->representative;
  const ProfileData profile = profile_of_recording(*runs);
  expect_fields(name + ".analysis", rendered("analysis", analysis_document(trace, analysis)));
  expect_golden(name + ".profile.json", rendered("profile", profile_document(profile)));
  if (analysis.critical_path)
    expect_fields(name + ".dag", rendered("dag", dag_document(trace, analysis)));
  expect_golden(name + ".txt", analysis_text(trace, analysis, {}) + dag_text(trace, analysis, {}) +
                                   roofline_text(analysis, {}) + profile_texts(profile));
}

/// The page and the sections of `ranks`.
std::string ranks_texts(const ranks::RanksAnalysis& analysis, const TerminalStyle& style) {
  const std::vector<NamedDocument> documents = {{std::string("ranks"), ranks_document(analysis)}};
  std::string text = summary_text(summary_document(documents), style, "--details");
  for (auto* const section : {&ranks_ranks_text, &ranks_stragglers_text, &ranks_collectives_text,
                              &ranks_path_text, &ranks_clocks_text, &ranks_matching_text})
    text += section(analysis, style);
  return text;
}

TEST(Golden, Sample) {
  // What the build made (target sample_trace), as `make demo` analyses it.
  expect_goldens("sample", {.name = "sample", .runs = []() -> std::vector<std::vector<fs::path>> {
                              fs::current_path(fs::path(PERFLAB_BINARY_DIR) / "share");
                              return {{"decode_step.db"}};
                            }});
}

TEST(Golden, WrittenAutotune) {
  const AutotuneSample sample = sample_autotune();
  expect_fields("written.autotune", rendered("autotune", autotune_document(sample.data())));
  expect_golden("written.autotune.80.txt", autotune_text(sample.data(), {.width = 80}));
  expect_golden("written.autotune.tie.120.txt",
                autotune_text(sample_autotune_tie().data(), {.width = 120}));
  expect_golden("written.autotune.limits.80.txt",
                autotune_text(sample_autotune_limits().data(), {.width = 80}));
}

TEST(Golden, WrittenAutotuneApp) {
  const auto texts = [](const AutotuneAppData& data, const TerminalStyle& style) {
    const std::vector<NamedDocument> documents = {
        {std::string("autotune_app"), autotune_app_document(data)}};
    std::string text = summary_text(summary_document(documents), style, "--details");
    for (const std::string_view section : kAutotuneAppSections)
      text += "\n" + autotune_app_section(documents.front().value, section, style);
    return text;
  };
  const AutotuneAppSample sample = sample_autotune_app();
  expect_fields("written.autotune_app",
                rendered("autotune_app", autotune_app_document(sample.data())));
  expect_golden("written.autotune_app.100.txt", texts(sample.data(), {.width = 100}));
  expect_golden("written.autotune_app.alone.80.txt",
                texts(sample_autotune_app_alone().data(), {.width = 80}));
}

TEST(Golden, WrittenDispatchTable) {
  const DispatchTableSample sample = sample_dispatch_table();
  const auto texts = [](const DispatchTableData& data, const TerminalStyle& style) {
    const std::vector<NamedDocument> documents = {
        {std::string("dispatch_table"), dispatch_table_document(data)}};
    std::string text = summary_text(summary_document(documents), style, "--details");
    for (const std::string_view section : kDispatchTableSections)
      text += "\n" + dispatch_table_section(documents.front().value, section, style);
    return text;
  };
  expect_fields("written.dispatch_table",
                rendered("dispatch_table", dispatch_table_document(sample.data())));
  expect_golden("written.dispatch_table.80.txt", texts(sample.data(), {.width = 80}));
  expect_golden("written.dispatch_table.uncovered.100.txt",
                texts(sample_uncovered_table().data("t.h"), {.width = 100}));
  const auto header = dispatch_table_header(sample.data("gemm.h"), "gemm");
  ASSERT_TRUE(header);
  expect_golden("written.dispatch_table.h.txt", *header);
}

TEST(Golden, WrittenRoofline) {
  const analyze::Analysis analysis = sample_roofline();
  const trace::Trace trace = sample_roofline_trace();
  expect_fields("written.roofline", rendered("roofline", roofline_document(trace, analysis)));
  expect_golden("written.roofline.txt", roofline_report_text(trace, analysis, {.width = 80}));
}

TEST(Golden, WrittenCriticalPath) {
  const analyze::Analysis analysis = sample_dag();
  const trace::Trace trace = sample_dag_trace();
  expect_fields("written.dag", rendered("dag", dag_document(trace, analysis, {.full = true})));
  expect_golden("written.dag.80.txt", dag_report_text(trace, analysis, {.width = 80}));
  expect_golden("written.dag.100.txt", dag_report_text(trace, analysis, {.width = 100}));
}

TEST(Golden, WrittenTimeline) {
  const trace::Trace trace = sample_dag_trace();
  expect_golden("written.timeline.json",
                rendered("timeline", timeline_document(trace, sample_timeline())));
  expect_golden("written.timeline.merged.json",
                rendered("timeline",
                         timeline_document(trace, sample_timeline({.slices = 3, .stretches = 4}))));
}

TEST(Golden, WrittenBottleneck) {
  const analyze::Analysis analysis = sample_bottlenecks();
  expect_fields("written.bottleneck", rendered("analysis", analysis_document({}, analysis)));
  expect_golden("written.bottleneck.80.txt", thread_trace_report_text(analysis, {.width = 80}));
  expect_golden("written.bottleneck.120.txt", thread_trace_report_text(analysis, {.width = 120}));
}

TEST(Golden, WrittenThreadTrace) {
  const analyze::Analysis analysis = sample_traced_kernels("traced_golden");
  expect_fields("written.thread_trace", rendered("thread_trace", thread_trace_document(analysis)));
}

TEST(Golden, WrittenRanks) {
  const ranks::RanksAnalysis analysis = sample_ranks();
  expect_fields("written.ranks", rendered("ranks", ranks_document(analysis)));
  expect_golden("written.ranks.80.txt", ranks_texts(analysis, {.width = 80}));
  expect_golden("written.ranks.120.txt", ranks_texts(analysis, {.width = 120}));
}

TEST(Golden, Mi350x) {
  const fs::path folder = fs::path(PERFLAB_SHARED_DIR) / "data/rocpd/mi350x_rocprofsys";
  if (!fs::exists(folder / "rocpd.db"))
    GTEST_SKIP() << "skipped: " << folder << " is not there (recorded databases are kept outside "
                 << "the project)";
  expect_goldens("mi350x", case_named("mi350x"));
}

}  // namespace
}  // namespace perflab::report
