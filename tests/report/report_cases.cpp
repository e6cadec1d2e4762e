// Where the inputs of the document tests come from.
#include "report/report_cases.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/analysis/analysis_document.h"
#include "report/analysis/profile_document.h"
#include "report/analysis/profile_text.h"
#include "report/analysis/timeline_document.h"
#include "report/bottleneck/bottleneck_text.h"
#include "report/critical_path/dag_document.h"
#include "report/kit/document.h"
#include "report/roofline/roofline_document.h"
#include "report/thread_trace/thread_trace_text.h"
#include "support/quirks_trace.h"
#include "support/rocpd_writer.h"
#include "support/test_database.h"
#include "support/trace_description.h"

namespace perflab::report {
namespace {

namespace fs = std::filesystem;
using test::RocpdWriter;
using Runs = std::vector<std::vector<fs::path>>;

constexpr std::int64_t kT0 = 5'000'000'000'000;

/// Recorded files below ../shared/data/rocpd, as one run.
Case recorded(const std::string& name, const std::string& folder, std::vector<fs::path> files) {
  return {.name = name, .runs = [=]() -> Runs {
            const fs::path where = fs::path(PERFLAB_SHARED_DIR) / "data/rocpd" / folder;
            if (!fs::exists(where / files.front())) return {};
            fs::current_path(where);
            return {files};
          }};
}

/// Makes the test's own folder the present one, and returns a name in it.
fs::path in_test_folder(const std::string& name) {
  fs::current_path(test::test_folder());
  return name;
}

void add_machine(RocpdWriter& writer) {
  writer.agent(test::host_agent());
  writer.agent(test::mi300x_agent());
  writer.queue();
  writer.queue();
  writer.stream();
  writer.code_object();
  writer.kernel({.name = "_Z4axpyPf", .display_name = "axpy(float*)"});
}

/// A run with one launched dispatch, a copy, an allocation and a counter value.
fs::path write_run(const fs::path& path, const std::string& guid, std::int64_t duration) {
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  test::WriterOptions options;
  options.guid = guid;
  RocpdWriter writer(path, options);
  add_machine(writer);
  const auto launched = writer.launch({.start = kT0, .end = kT0 + 700},
                                      {.start = kT0 + 1000, .end = kT0 + 1000 + duration});
  writer.copy({.start = kT0 + 50, .end = kT0 + 50, .size = 64});  // no time: no rate
  writer.allocation({.start = kT0, .end = kT0 + 5, .size = 4096});
  const auto ratio = writer.counter({.name = "VALUUtilization", .is_derived = true});
  writer.counter_value(launched.dispatch.event, ratio, 75);
  const Result<void> done = writer.close();
  EXPECT_TRUE(done) << describe(done.error());
  return path;
}

Runs passes() {
  in_test_folder("");
  return {{write_run("pass_1/a.db", "pass-1", 500), write_run("pass_2/b.db", "pass-2", 900)}};
}

Runs several_runs() {
  in_test_folder("");
  return {{write_run("1.db", "run-1", 500)},
          {"nobody.db"},
          {write_run("3.db", "run-3", 520)},
          {write_run("4.db", "run-4", 900)}};
}

/// Nothing is known: no symbols, agents, events; and times that do not pass.
Runs bare() {
  const fs::path path = in_test_folder("bare.db");
  std::vector<std::string> others;
  for (const test::TableSpec& spec : test::rocpd_tables())
    if (spec.name != "kernel_dispatch") others.emplace_back(spec.name);
  test::WriterOptions options;
  options.missing_tables = others;
  options.strictness = test::Strictness::untyped;
  RocpdWriter writer(path, options);
  for (int i = 0; i < 2; ++i)
    writer.dispatch({.start = kT0,
                     .end = kT0,
                     .workgroup = {.x = 0, .y = 0, .z = 0},
                     .grid = {.x = 0, .y = 0, .z = 0}});
  EXPECT_TRUE(writer.close());
  return {{path}};
}

/// Numbers at the ends of their ranges.
Runs extremes() {
  const fs::path path = in_test_folder("extremes.db");
  test::WriterOptions options;
  options.strictness = test::Strictness::untyped;
  RocpdWriter writer(path, options);
  add_machine(writer);
  test::AgentRow agent = test::mi300x_agent();
  agent.extdata =
      R"({"cu_count": 9223372036854775807, "wave_front_size": 4294967360, "max_engine_clk_fcompute": 1})";
  agent.absolute_index = INT64_MIN;
  writer.agent(agent);
  writer.kernel({.name = "large",
                 .kernarg_segment_size = INT64_MAX,
                 .group_segment_size = INT64_MAX,
                 .sgpr_count = INT64_MAX,
                 .arch_vgpr_count = 4096,
                 .accum_vgpr_count = 4096});
  constexpr std::int64_t kMost = 4'294'967'295;
  std::int64_t gpu = 1;
  for (const test::Extent& grid : {test::Extent{kMost, kMost, kMost}, test::Extent{kMost, kMost, 1},
                                   test::Extent{kMost, 1, 1}}) {
    const auto written = writer.dispatch({.kernel = 2,
                                          .start = 1,
                                          .end = INT64_MAX,
                                          .agent = gpu,
                                          .workgroup = {.x = 1, .y = 1, .z = 1},
                                          .grid = grid,
                                          .group_segment_size = kMost,
                                          .private_segment_size = kMost});
    gpu = 2;
    const auto counter = writer.counter({.name = fmt::format("C{}", grid.z)});
    for (int i = 0; i < 3; ++i) writer.counter_value(written.event, counter, -1e200);
  }
  writer.dispatch({.kernel = 1, .start = 1, .end = 2, .workgroup = {kMost, kMost, kMost}});
  for (int i = 0; i < 2; ++i) {
    writer.copy({.start = 1, .end = INT64_MAX, .size = INT64_MAX});
    writer.region({.start = 1, .end = INT64_MAX});
    writer.allocation({.start = 1, .end = INT64_MAX, .size = INT64_MAX});
  }
  const Result<void> done = writer.close();
  EXPECT_TRUE(done) << describe(done.error());
  return {{path}};
}

/// Control characters in every name that a profiler records.
Runs control_characters() {
  const fs::path path = in_test_folder("control.db");
  const std::string evil =
      "\x1b[31m\x07\r\n\t\x7f\xc2\x9b"
      "2J\x9bK\x01";
  test::WriterOptions options;
  options.strictness = test::Strictness::untyped;
  options.synthetic = "note " + evil;
  options.schema_version = "3." + evil;
  options.process.command = "/app/" + evil;
  RocpdWriter writer(path, options);
  writer.agent(
      {.id = 1, .name = "gfx" + evil, .model_name = evil, .product_name = "product " + evil});
  writer.queue({.id = 1, .name = evil});
  writer.stream({.name = evil});
  writer.code_object({.uri = evil});
  writer.kernel({.name = "kernel " + evil});
  writer.kernel({.code_object = 99, .name = "kernel 2 " + evil});
  const auto launched = writer.launch(
      {.name = "call " + evil, .start = kT0, .end = kT0 + 5, .event = {.category = "cat " + evil}},
      {.start = kT0 + 10, .end = kT0 + 30});
  writer.dispatch({.kernel = 2, .start = kT0 + 50, .end = kT0 + 60});
  const auto counter = writer.counter({.name = "counter " + evil, .units = evil});
  writer.counter_value(launched.dispatch.event, counter, 5);
  writer.copy({.name = "copy " + evil, .start = kT0, .end = kT0 + 5, .size = 1});
  writer.allocation(
      {.type = "type " + evil, .level = "level " + evil, .start = kT0, .end = kT0, .size = 1});
  const Result<void> done = writer.close();
  EXPECT_TRUE(done) << describe(done.error());
  return {{path}};
}

std::vector<Case> make_cases() {
  std::vector<Case> cases;
  for (const char* file : {"copies", "crash_abort", "graph", "kernel_only", "multi",
                           "multi_runtime", "pmc_multi_serial", "pmc_single2", "pmc_tcc", "rawhsa",
                           "single", "single_hsa", "streams", "streams_sys", "vmm_sys"})
    cases.push_back(
        recorded(std::string("emulated_") + file, "emulated_mi300x", {std::string(file) + ".db"}));
  cases.push_back(recorded("emulated_multiproc", "emulated_mi300x/multiproc",
                           {"process_1.db", "process_2.db"}));
  cases.push_back(recorded("mi350x", "mi350x_rocprofsys", {"rocpd.db"}));
  cases.push_back(recorded("mi210_pass_1", "mi210_vcopy_13_passes", {"pass_1/1001_results.db"}));
  std::vector<fs::path> all_passes;
  for (int pass = 1; pass <= 13; ++pass)
    all_passes.push_back(fmt::format("pass_{}/{}_results.db", pass, 1000 + pass));
  cases.push_back(recorded("mi210_all_passes", "mi210_vcopy_13_passes", all_passes));
  cases.push_back({.name = "sample", .runs = []() -> Runs {
                     const fs::path path = in_test_folder("decode_step.db");
                     EXPECT_TRUE(test::write_sample(path));
                     return {{path}};
                   }});
  cases.push_back({.name = "quirks", .runs = []() -> Runs {
                     const fs::path path = in_test_folder("quirks.db");
                     EXPECT_TRUE(test::write_quirks(path));
                     return {{path}};
                   }});
  cases.push_back({.name = "passes", .runs = passes});
  cases.push_back({.name = "several_runs", .runs = several_runs});
  cases.push_back({.name = "bare", .runs = bare});
  cases.push_back({.name = "extremes", .runs = extremes});
  cases.push_back({.name = "control_characters", .runs = control_characters});
  return cases;
}

}  // namespace

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = make_cases();
  return cases;
}

const Case& case_named(const std::string& name) {
  const auto found = std::ranges::find(all_cases(), name, &Case::name);
  EXPECT_NE(found, all_cases().end()) << name;
  return *found;
}

std::optional<analyze::AnalyzedRuns> analyze_case(const Case& a_case, unsigned threads) {
  const Runs runs = a_case.runs();
  if (runs.empty()) return std::nullopt;
  Result<analyze::AnalyzedRuns> analyzed =
      analyze::analyze_runs(runs, {.threads = threads, .timeline = true});
  if (analyzed) return std::move(*analyzed);
  ADD_FAILURE() << describe(analyzed.error());
  return std::nullopt;
}

std::string rendered(const std::string& name, const Json& document) {
  const Result<std::string> text = render(name, document);
  if (text) return *text;
  ADD_FAILURE() << describe(text.error());
  return {};
}

Json rendered_json(const std::string& name, const Json& document) {
  const std::string text = rendered(name, document);
  return text.empty() ? Json::object() : parse_json(text, name).value_or(Json::object());
}

Documents documents_of(const analyze::AnalyzedRuns& runs) {
  const auto& [trace, analysis] = runs.representative;
  return {
      .analysis = rendered_json("analysis", analysis_document(trace, analysis)),
      .profile = rendered_json("profile", profile_document(profile_of_recording(runs))),
      .roofline = analysis.roofline ? rendered_json("roofline", roofline_document(trace, analysis))
                                    : Json(nullptr),
      .dag = analysis.critical_path ? rendered_json("dag", dag_document(trace, analysis))
                                    : Json(nullptr),
      .timeline = analysis.timeline ? rendered_json("timeline", timeline_document(trace, analysis))
                                    : Json(nullptr)};
}

std::vector<std::pair<std::string, Json>> Documents::by_name() const {
  std::vector<std::pair<std::string, Json>> out = {{"analysis", analysis}, {"profile", profile}};
  if (!roofline.is_null()) out.emplace_back("roofline", roofline);
  if (!dag.is_null()) out.emplace_back("dag", dag);
  if (!timeline.is_null()) out.emplace_back("timeline", timeline);
  return out;
}

std::string profile_texts(const ProfileData& data) {
  const analyze::Analysis& analysis = data.analyzed->representative.analysis;
  return profile_text(data, {}) + thread_trace_text(analysis, {}) + bottleneck_text(analysis, {});
}

Json profile_without_gpu() {
  ProfileData data;
  data.runs.resize(2);
  data.runs[0].process_wall_ns = 1'500'000'000;
  data.runs[1].outcome = "exit 3";
  data.command = {"./app", "1"};
  data.no_gpu_reason = "rocprofv3 was not used (--no-rocprof)";
  return rendered_json("profile", profile_document(data));
}

}  // namespace perflab::report
