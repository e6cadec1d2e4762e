// The documents over every input: they satisfy their schemas, keep the schema's order of keys, say
// why every null is null, and are the same bytes every time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/temp_folder.h"
#include "report/analysis/analysis_document.h"
#include "report/analysis/analysis_text.h"
#include "report/analysis/profile_document.h"
#include "report/analysis/profile_text.h"
#include "report/analysis/timeline_document.h"
#include "report/code/inspection_document.h"
#include "report/critical_path/dag_document.h"
#include "report/critical_path/dag_text.h"
#include "report/document_checks.h"
#include "report/kit/document.h"
#include "report/report_cases.h"
#include "report/roofline/roofline_document.h"
#include "report/roofline/roofline_text.h"
#include "support/code_samples.h"
#include "support/code_writer.h"
#include "support/quirks_trace.h"
#include "support/rocpd_writer.h"
#include "support/test_database.h"

namespace perflab::report {
namespace {

namespace fs = std::filesystem;

/// A case with its documents; made once for all tests that look at it.
struct AnalyzedCase {
  std::optional<analyze::AnalyzedRuns> runs;
  Documents documents;
};

const AnalyzedCase& analyzed_case(std::size_t number) {
  static std::map<std::size_t, AnalyzedCase> made;
  const auto [place, is_new] = made.try_emplace(number);
  AnalyzedCase& result = place->second;
  if (!is_new) return result;
  result.runs = analyze_case(all_cases()[number]);
  if (result.runs) result.documents = documents_of(*result.runs);
  return result;
}

class DocumentsOf : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    if (!runs_)
      GTEST_SKIP() << "skipped: " << all_cases()[GetParam()].name
                   << " is not there (recorded databases are kept outside the project)";
  }
  const std::optional<analyze::AnalyzedRuns>& runs_ = analyzed_case(GetParam()).runs;
  const Documents& documents_ = analyzed_case(GetParam()).documents;
};

TEST_P(DocumentsOf, SatisfyTheirSchemas) {
  for (const auto& [name, document] : documents_.by_name()) {
    EXPECT_GE(document.size(), 10U);
    const Result<void> valid = validate(name, document);
    EXPECT_TRUE(valid) << describe(valid.error());
  }
}

TEST_P(DocumentsOf, KeepTheOrderOfTheSchema) {
  for (const auto& [name, document] : documents_.by_name()) {
    const Json schema = schema_of(name);
    expect_schema_order(schema, schema, document, name);
  }
}

TEST_P(DocumentsOf, SayWhyEveryNullIsNull) {
  for (const auto& [name, document] : documents_.by_name()) {
    SCOPED_TRACE(name);
    expect_nulls_explained(document);
  }
}

TEST_P(DocumentsOf, NameNothingMissingThatIsThere) {
  for (const auto& [name, document] : documents_.by_name()) {
    expect_entries_are_true(document, name + ": ");
    if (!document.contains("kernels")) continue;
    for (const Json& kernel : document.at("kernels"))
      if (kernel.contains("missing"))
        expect_entries_are_true(kernel, name + ": " + kernel.at("name").get<std::string>() + ": ");
    if (!document.contains("bottlenecks")) continue;
    for (const Json& kernel : document.at("bottlenecks").at("kernels")) {
      expect_entries_are_true(kernel, name + ": bottleneck: ");
      expect_entries_are_true(kernel.at("bound"), name + ": bound: ");
    }
  }
}

TEST_P(DocumentsOf, AreTheSameBytesEveryTime) {
  const auto bytes = [&](unsigned threads) {
    const auto runs = analyze_case(all_cases()[GetParam()], threads);
    if (!runs) return std::string("failed");
    const auto& [trace, analysis] = runs->representative;
    const ProfileData profile = profile_of_recording(*runs);
    return to_canonical_text(analysis_document(trace, analysis)) +
           to_canonical_text(profile_document(profile)) +
           (analysis.roofline ? to_canonical_text(roofline_document(trace, analysis)) : "") +
           (analysis.critical_path ? to_canonical_text(dag_document(trace, analysis)) : "") +
           (analysis.timeline ? to_canonical_text(timeline_document(trace, analysis)) : "") +
           dag_text(trace, analysis, {}) + analysis_text(trace, analysis, {}) +
           roofline_text(analysis, {}) + profile_texts(profile);
  };
  const std::string first = bytes(1);
  EXPECT_EQ(bytes(1), first);
  EXPECT_EQ(bytes(2), first);
  EXPECT_EQ(bytes(5), first);
}

TEST_P(DocumentsOf, AddUp) {
  const Json& document = documents_.analysis;
  const Json& totals = document.at("totals");
  const auto sum = [&](const char* list, const char* field) {
    std::int64_t total = 0;
    for (const Json& item : document.at(list)) total += item.at(field).get<std::int64_t>();
    return total;
  };
  EXPECT_EQ(totals.at("kernels"), document.at("kernels").size());
  EXPECT_EQ(totals.at("dispatches"), sum("kernels", "dispatches"));
  EXPECT_EQ(totals.at("api_calls"), sum("api_calls", "calls"));
  EXPECT_EQ(totals.at("copies"), sum("copies", "copies"));
  EXPECT_EQ(totals.at("allocations"), sum("allocations", "count"));
  EXPECT_LE(totals.at("gpu_busy_ns"), totals.at("span_ns"));
  EXPECT_LE(totals.at("gpu_busy_ns"), totals.at("kernel_time_ns"));
}

TEST_P(DocumentsOf, HoldPathsAndProcessesOnlyUnderEnvironment) {
  for (auto [name, document] : documents_.by_name()) {
    document.erase("environment");
    const std::string text = to_canonical_text(document);
    for (const trace::Source& source : runs_->representative.trace.sources)
      EXPECT_EQ(text.find(source.file), std::string::npos) << source.file;
    for (const trace::Process& process : runs_->representative.trace.processes)
      EXPECT_TRUE(process.command.empty() || text.find(process.command) == std::string::npos)
          << process.command;
  }
}

/// Whether a text holds a character that could drive a terminal: C0 without the line feed, DEL, or
/// C1, which UTF-8 writes as C2 80 … C2 9F and 8-bit terminals take as a bare byte.
bool drives_a_terminal(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n') || byte == 0x7F) return true;
    if (byte < 0x80) continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC2 ? 2 : 0;
    if (length == 0 || i + length > text.size()) return true;  // no UTF-8
    if (byte == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0) return true;
    i += length - 1;
  }
  return false;
}

TEST_P(DocumentsOf, CannotDriveTheTerminal) {
  const auto& [trace, analysis] = runs_->representative;
  for (const std::size_t width : {40U, 100U, 400U}) {
    EXPECT_FALSE(drives_a_terminal(analysis_text(trace, analysis, {.width = width})));
    EXPECT_FALSE(drives_a_terminal(profile_text(profile_of_recording(*runs_), {.width = width})));
    EXPECT_FALSE(drives_a_terminal(roofline_report_text(trace, analysis, {.width = width})));
    EXPECT_FALSE(drives_a_terminal(dag_report_text(trace, analysis, {.width = width})));
  }
}

INSTANTIATE_TEST_SUITE_P(All, DocumentsOf, testing::Range<std::size_t>(0, all_cases().size()),
                         [](const auto& parameter) { return all_cases()[parameter.param].name; });

TEST(ProfileWithoutGpu, SaysWhyEveryNullIsNull) {
  const Json document = profile_without_gpu();
  expect_nulls_explained(document);
  expect_entries_are_true(document, "");
  const Json schema = schema_of("profile");
  expect_schema_order(schema, schema, document, "profile");
}

TEST(ProfileWithoutGpu, KeepsWhatIsKnownOfTheProcess) {
  const Json document = profile_without_gpu();
  EXPECT_TRUE(document.at("kernel").is_null());
  EXPECT_TRUE(document.at("runtime_ms").is_null());
  const Json& runs = document.at("stability").at("runs");
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].at("process_wall_ns"), 1'500'000'000);
  EXPECT_EQ(runs[0].at("target"), "ok");
  EXPECT_EQ(runs[1].at("target"), "exit 3");
  EXPECT_TRUE(runs[1].at("process_wall_ns").is_null());
  const Json& missing = document.at("missing");
  const auto entry =
      std::ranges::find(missing, "kernel", [](const Json& e) { return e.at("field"); });
  ASSERT_NE(entry, missing.end());
  EXPECT_EQ(entry->at("reason"), "rocprofv3 was not used (--no-rocprof)");
}

TEST(Secrets, OfTheProcessEnvironmentAreInNoOutput) {
  const auto runs = analyze_case(case_named("quirks"));
  ASSERT_TRUE(runs);
  const auto& [trace, analysis] = runs->representative;
  const ProfileData profile = profile_of_recording(*runs);
  for (const std::string& output : {rendered("analysis", analysis_document(trace, analysis)),
                                    rendered("profile", profile_document(profile)),
                                    analysis_text(trace, analysis, {}), profile_texts(profile)})
    EXPECT_EQ(output.find(test::kSecret), std::string::npos);
}

TEST(Synthetic, IsSaidWhereverTheSampleIsShown) {
  const auto runs = analyze_case(case_named("sample"));
  ASSERT_TRUE(runs);
  const Documents documents = documents_of(*runs);
  EXPECT_EQ(documents.analysis.at("synthetic"),
            "Synthetic sample: computed from examples/decode_step.json, not measured on a GPU");
  EXPECT_EQ(documents.profile.at("synthetic"), documents.analysis.at("synthetic"));
  EXPECT_TRUE(analysis_text(runs->representative.trace, runs->representative.analysis, {})
                  .starts_with("SYNTHETIC: Synthetic sample"));
}

/// Expects one difference of the GPU, in both documents and both texts.
void expect_difference(const analyze::AnalyzedRuns& runs, const Json& difference,
                       const std::string& line, const std::string& profile_line) {
  const Documents documents = documents_of(runs);
  const Json one = Json::array({difference});
  for (const Json& kernel : documents.analysis.at("kernels"))
    EXPECT_EQ(kernel.at("gpu").at("table_differences"), one) << kernel.at("gpu");
  EXPECT_EQ(documents.profile.at("gpu").at("table_differences"), one);
  EXPECT_EQ(documents.profile.at("gpu").at(difference.at("field").get<std::string>()),
            difference.at("recorded"));
  const auto& [trace, analysis] = runs.representative;
  const std::string text = analysis_text(trace, analysis, {});
  EXPECT_NE(text.find("\n" + line + "\n"), std::string::npos) << text;
  EXPECT_EQ(text.find(line), text.rfind(line)) << "said twice";
  const std::string profile = profile_texts(profile_of_recording(runs));
  EXPECT_NE(profile.find("\n  recorded   " + profile_line + "\n"), std::string::npos) << profile;
}

TEST(TableDifferences, OfTheEmulatedMi300xAreItsComputeUnits) {
  const auto runs = analyze_case(case_named("emulated_single"));
  if (!runs) GTEST_SKIP() << "skipped: the emulated databases are not there";
  expect_difference(
      *runs, {{"field", "compute_units"}, {"recorded", 320}, {"table", 304}, {"confirmed", true}},
      "agent 1, AMD Instinct MI300X gfx942: recorded compute_units 320 (304 in the tables)",
      "compute_units 320 (304 in the tables)");
}

/// One dispatch on this agent.
Case one_dispatch_on(const test::AgentRow& agent) {
  return {.name = "agent", .runs = [agent]() -> std::vector<std::vector<fs::path>> {
            fs::current_path(test::test_folder());
            test::RocpdWriter writer("agent.db", {});
            writer.agent(test::host_agent());
            writer.agent(agent);
            writer.queue();
            writer.stream();
            writer.code_object();
            writer.kernel({.name = "_Z4axpyPf", .display_name = "axpy(float*)"});
            writer.dispatch({.start = 1000, .end = 1500});
            const Result<void> done = writer.close();
            EXPECT_TRUE(done) << describe(done.error());
            return {{"agent.db"}};
          }};
}

/// An agent with one text of its facts replaced.
test::AgentRow with(test::AgentRow agent, std::string_view text, std::string_view replacement) {
  const std::size_t at = agent.extdata.find(text);
  EXPECT_NE(at, std::string::npos) << text;
  agent.extdata.replace(at, text.size(), replacement);
  return agent;
}

TEST(TableDifferences, OfALowerClockAreSaid) {
  const auto runs =
      analyze_case(one_dispatch_on(with(test::mi300x_agent(), R"("max_engine_clk_fcompute":2100)",
                                        R"("max_engine_clk_fcompute":1700)")));
  ASSERT_TRUE(runs);
  expect_difference(
      *runs, {{"field", "clock_mhz"}, {"recorded", 1700}, {"table", 2100}, {"confirmed", true}},
      "agent 1, AMD Instinct MI300X gfx942: recorded clock_mhz 1700 (2100 in the tables)",
      "clock_mhz 1700 (2100 in the tables)");
}

TEST(TableDifferences, FromAFigureWithoutASourceSaySo) {
  // An MI300A (PCI id 0x74a0) with the compute units and dies of its tables and a clock of its own.
  test::AgentRow agent = with(test::mi300x_agent(), R"("max_engine_clk_fcompute":2100)",
                              R"("max_engine_clk_fcompute":1700)");
  agent = with(agent, R"("device_id":29857)", R"("device_id":29856)");
  agent = with(agent, R"("cu_count":304)", R"("cu_count":228)");
  agent = with(agent, R"("num_xcc":8)", R"("num_xcc":6)");
  const auto runs = analyze_case(one_dispatch_on(agent));
  ASSERT_TRUE(runs);
  expect_difference(
      *runs, {{"field", "clock_mhz"}, {"recorded", 1700}, {"table", 2100}, {"confirmed", false}},
      "agent 1, AMD Instinct MI300A gfx942: recorded clock_mhz 1700 (2100 in the "
      "tables, unconfirmed)",
      "clock_mhz 1700 (2100 in the tables, unconfirmed)");
}

TEST(TableDifferences, AreNoneOfARecordThatAgrees) {
  const auto runs = analyze_case(case_named("passes"));
  ASSERT_TRUE(runs);
  EXPECT_EQ(documents_of(*runs).profile.at("gpu").at("table_differences"), Json::array());
  const auto& [trace, analysis] = runs->representative;
  EXPECT_EQ(analysis_text(trace, analysis, {}).find("in the tables"), std::string::npos);
}

/// The inspection document of a file's bytes; nothing when they are refused.
std::optional<Json> inspected(const std::string& name, const std::string& bytes) {
  const test::TempFolder folder;
  analyze::InspectOptions options;
  options.mix = analyze::MixChoice::never;
  const auto inspection = analyze::inspect_file(folder.write(name, bytes), options);
  if (!inspection) return std::nullopt;
  const auto gates =
      analyze::check_gates(*inspection, {.max_vgprs = 8, .min_occupancy = 1.0, .no_spills = true});
  return inspection_document(*inspection, gates,
                             analyze::compare_inspections(*inspection, *inspection));
}

TEST(Inspections, OfEveryFormSatisfyTheirSchemaAndExplainTheirNulls) {
  std::size_t shown = 0;
  for (const auto& samples :
       {test::code_object_samples(), test::bundle_samples(), test::host_file_samples()})
    for (const test::CodeSample& sample : samples) {
      const auto json = inspected(sample.name, sample.bytes);
      if (!json) continue;
      ++shown;
      SCOPED_TRACE(sample.name);
      const Json document = rendered_json("inspection", *json);
      expect_nulls_explained(document);
      expect_schema_order(schema_of("inspection"), schema_of("inspection"), document, "");
    }
  EXPECT_GE(shown, 8U);
}

TEST(Inspections, OfAnUnknownArchitectureExplainEveryNull) {
  // gfx1250 (0x49): in the ELF flags, in no table.
  const auto json = inspected("new.co", test::write_code_object(test::sample_code_object(
                                            2, 0x49, "amdgcn-amd-amdhsa--gfx1250")));
  ASSERT_TRUE(json.has_value());
  const Json document = rendered_json("inspection", *json);
  expect_nulls_explained(document);
  EXPECT_TRUE(document["kernels"][0]["occupancy"]["models"].is_null());
  EXPECT_EQ(document["gates"][1]["passed"], false);
}

TEST(SeveralRuns, StandInTheProfile) {
  const auto runs = analyze_case(case_named("several_runs"));
  ASSERT_TRUE(runs);
  const Json profile = documents_of(*runs).profile;
  EXPECT_EQ(profile.at("runtime").at("representative_run"), 3);
  EXPECT_EQ(profile.at("runtime_ms"), 0.00052);
  EXPECT_EQ(profile.at("stability").at("label"), "unstable");
  const Json& list = profile.at("stability").at("runs");
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list[0].at("kernel_total_ns"), 500);
  EXPECT_TRUE(list[1].at("kernel_total_ns").is_null());
  EXPECT_EQ(list[3].at("kernel_total_ns"), 900);
  EXPECT_EQ(profile.at("warnings").back(),
            "unstable: the kernel's time varies by 35 % over the runs; do not compare it with "
            "another build");
}

}  // namespace
}  // namespace perflab::report
