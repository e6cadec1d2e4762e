// Whole outputs, byte by byte, of the bundled sample and of the recorded MI350X database. After an
// intended change, PERFLAB_UPDATE_GOLDENS=1 (or `make goldens`) writes the files anew: read the
// diff.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "report/autotune_samples.h"
#include "report/bottleneck_samples.h"
#include "report/critical_path/dag_document.h"
#include "report/critical_path/dag_text.h"
#include "report/dag_samples.h"
#include "report/recording/analysis_document.h"
#include "report/recording/analysis_text.h"
#include "report/recording/profile_document.h"
#include "report/recording/profile_text.h"
#include "report/recording/timeline_document.h"
#include "report/report_cases.h"
#include "report/roofline/roofline_document.h"
#include "report/roofline/roofline_text.h"
#include "report/roofline_samples.h"
#include "report/thread_trace/thread_trace_document.h"
#include "report/thread_trace/thread_trace_text.h"
#include "report/thread_trace_samples.h"
#include "report/tuning/autotune_text.h"

namespace perflab::report {
namespace {

namespace fs = std::filesystem;

fs::path golden_folder() {
  return fs::path(PERFLAB_SOURCE_DIR) / "tests/report/golden";
}

/// The first line that differs, of both.
std::string first_difference(const std::string& expected, const std::string& found) {
  const auto at = std::ranges::mismatch(expected, found).in1 - expected.begin();
  const auto line_of = [&](const std::string& text) {
    const auto begin = text.rfind('\n', at > 0 ? static_cast<std::size_t>(at) - 1 : 0) + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  const auto line = 1 + std::count(expected.begin(), expected.begin() + at, '\n');
  return fmt::format("line {}:\n  golden: {}\n  now:    {}", line, line_of(expected),
                     line_of(found));
}

void expect_golden(const std::string& name, const std::string& text) {
  const fs::path path = golden_folder() / name;
  if (std::getenv("PERFLAB_UPDATE_GOLDENS") != nullptr) {
    fs::create_directories(golden_folder());
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file.good()) << path << " is not there; PERFLAB_UPDATE_GOLDENS=1 writes it";
  const std::string golden((std::istreambuf_iterator<char>(file)), {});
  EXPECT_TRUE(text == golden) << name << " differs in " << first_difference(golden, text)
                              << "\nPERFLAB_UPDATE_GOLDENS=1 writes it anew";
}

void expect_goldens(const std::string& name, const Case& input) {
  const auto runs = analyze_case(input);
  ASSERT_TRUE(runs);
  const auto& [trace, analysis] = runs->representative;
  const ProfileData profile = profile_of_recording(*runs);
  expect_golden(name + ".analysis.json", rendered("analysis", analysis_document(trace, analysis)));
  expect_golden(name + ".profile.json", rendered("profile", profile_document(profile)));
  if (analysis.critical_path)
    expect_golden(name + ".dag.json", rendered("dag", dag_document(trace, analysis)));
  expect_golden(name + ".txt", analysis_text(trace, analysis, {}) + dag_text(trace, analysis, {}) +
                                   roofline_text(analysis, {}) + profile_text(profile, {}));
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
  expect_golden("written.autotune.json", rendered("autotune", autotune_document(sample.data())));
  expect_golden("written.autotune.80.txt", autotune_text(sample.data(), {.width = 80}));
  expect_golden("written.autotune.tie.120.txt",
                autotune_text(sample_autotune_tie().data(), {.width = 120}));
}

TEST(Golden, WrittenRoofline) {
  const analyze::Analysis analysis = sample_roofline();
  const trace::Trace trace = sample_roofline_trace();
  expect_golden("written.roofline.json", rendered("roofline", roofline_document(trace, analysis)));
  expect_golden("written.roofline.txt", roofline_report_text(trace, analysis, {.width = 80}));
}

TEST(Golden, WrittenCriticalPath) {
  const analyze::Analysis analysis = sample_dag();
  const trace::Trace trace = sample_dag_trace();
  expect_golden("written.dag.json", rendered("dag", dag_document(trace, analysis, {.full = true})));
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
  expect_golden("written.bottleneck.json", rendered("analysis", analysis_document({}, analysis)));
  expect_golden("written.bottleneck.80.txt", thread_trace_report_text(analysis, {.width = 80}));
  expect_golden("written.bottleneck.120.txt", thread_trace_report_text(analysis, {.width = 120}));
}

TEST(Golden, WrittenThreadTrace) {
  const analyze::Analysis analysis = sample_traced_kernels("traced_golden");
  expect_golden("written.thread_trace.json",
                rendered("thread_trace", thread_trace_document(analysis)));
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
