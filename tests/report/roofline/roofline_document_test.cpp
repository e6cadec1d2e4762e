// roofline.json of written rooflines: schema, order of keys, reasons, and where figures stand.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "hal/counter_catalogue.h"
#include "report/document_checks.h"
#include "report/kit/document.h"
#include "report/report_cases.h"
#include "report/roofline/roofline_document.h"
#include "report/roofline_samples.h"

namespace perflab::report {
namespace {

Json roofline_document_of(const analyze::Analysis& analysis) {
  return rendered_json("roofline", roofline_document(sample_roofline_trace(), analysis));
}

Json roofline_sample() {
  return roofline_document_of(sample_roofline());
}

/// The reason that `missing` of an object gives for a field; empty: there is none.
std::string roofline_reason(const Json& holder, const std::string& field) {
  for (const Json& entry : holder.at("missing"))
    if (entry.at("field") == field) return entry.at("reason");
  return {};
}

TEST(RooflineDocument, SatisfiesItsSchemaInItsOrder) {
  const Json document = roofline_document(sample_roofline_trace(), sample_roofline());
  const Result<void> valid = validate("roofline", document);
  EXPECT_TRUE(valid) << describe(valid.error());
  const Json schema = schema_of("roofline");
  expect_schema_order(schema, schema, roofline_sample(), "roofline");
}

TEST(RooflineDocument, SaysWhyEveryNullIsNullAndOnlyThat) {
  const Json document = roofline_sample();
  expect_nulls_explained(document);
  expect_entries_are_true(document, "");
  for (const Json& kernel : document.at("kernels"))
    expect_entries_are_true(kernel, kernel.at("name").get<std::string>() + ": ");
}

TEST(RooflineDocument, OfAKernelWithNothingExplainsEveryNull) {
  analyze::Analysis analysis;
  analyze::KernelRoofline& kernel = analysis.roofline.emplace().kernels.emplace_back();
  kernel.kernel = "k";
  kernel.compute_roof.unit = "GFLOP/s";
  kernel.compute_roof.reason = "the GPU is not known";
  const Json document = roofline_document_of(analysis);
  expect_nulls_explained(document);
  expect_entries_are_true(document.at("kernels")[0], "");
  EXPECT_EQ(document.at("chart").at("gpus").size(), 0U);
}

TEST(RooflineDocument, HoldsTheFiguresOfTheAnalysis) {
  const Json document = roofline_sample();
  const Json& gemm = document.at("kernels")[0];
  EXPECT_EQ(gemm.at("time"), (Json{{"total_ns", 1e7}, {"from", "trace"}}));
  EXPECT_EQ(gemm.at("flops").at("raw"), 2.001e12);
  EXPECT_EQ(gemm.at("flops").at("lane_corrected"), 2.00075e12);
  EXPECT_EQ(gemm.at("flops").at("are"), "lane-corrected");
  ASSERT_EQ(gemm.at("flops").at("by_type").size(), 2U);
  EXPECT_EQ(gemm.at("flops").at("by_type")[0].at("lane_corrected"), 7.5e8);
  EXPECT_EQ(gemm.at("flops").at("by_type")[1].at("pipe"), "matrix");
  EXPECT_EQ(gemm.at("compute").at("gflops"), 200'075);
  EXPECT_EQ(gemm.at("compute").at("packed_code"), false);
  const Json& hbm = gemm.at("levels")[0];
  EXPECT_EQ(hbm.at("bytes"), 2e9);
  EXPECT_EQ(hbm.at("gb_per_s"), 200);
  EXPECT_EQ(hbm.at("read_bytes").at("passes"), (Json{1, 2}));
  EXPECT_TRUE(gemm.at("levels")[2].at("write_bytes").is_null());
  EXPECT_EQ(gemm.at("binding").at("roof"), "lds");
  EXPECT_EQ(gemm.at("dispatches_left_out"), 2);
  EXPECT_EQ(gemm.at("per_dispatch")[0].at("hbm_read_bytes"), 4e8);
  EXPECT_EQ(gemm.at("explanations").size(), 1U);
  const Json& estimate = document.at("kernels")[3].at("flops").at("estimate");
  EXPECT_EQ(estimate.at("flops"), 3e8);
  EXPECT_EQ(estimate.at("passes"), Json{3});
}

TEST(RooflineDocument, GroupsFeaturesByTheFirstPartOfTheirNames) {
  const Json document = roofline_sample();
  const Json& features = document.at("kernels")[0].at("features");
  std::vector<std::string> groups;
  for (const Json& group : features) {
    groups.push_back(group.at("group"));
    for (const Json& figure : group.at("figures"))
      EXPECT_EQ(figure.at("name").get<std::string>().find(groups.back()), 0U);
  }
  EXPECT_EQ(groups,
            (std::vector<std::string>{"lanes", "occupancy", "hit", "wave_time", "latency"}));
  EXPECT_EQ(features[2].at("figures").size(), 2U);  // hit.l2, and hit.l1 from further behind
}

TEST(RooflineDocument, FiguresSayTheirState) {
  const Json document = roofline_sample();
  std::map<std::string, Json> figures;
  for (const Json& group : document.at("kernels")[0].at("features"))
    for (const Json& figure : group.at("figures")) figures[figure.at("name")] = figure;
  EXPECT_EQ(figures["hit.l2"].at("state"), "measured");
  EXPECT_EQ(figures["latency.lds"].at("state"), "zero");
  EXPECT_EQ(figures["latency.lds"].at("value"), 0);
  EXPECT_EQ(figures["latency.vmem"].at("state"), "missing");
  EXPECT_EQ(figures["latency.vmem"].at("across_passes"), 812.5);
  EXPECT_EQ(figures["latency.vmem"].at("remedy"), "collect C_sum and D_sum in one pass");
  EXPECT_EQ(figures["latency.l1"].at("state"), "unsupported");
  EXPECT_TRUE(figures["latency.l1"].at("formula").is_null());
  EXPECT_EQ(figures["hit.l1"].at("state"), "suspicious");
  EXPECT_TRUE(figures["hit.l1"].at("value").is_null());
}

/// All figures of a kernel's object.
std::vector<Json> figures_of(const Json& kernel) {
  std::vector<Json> figures;
  for (const Json& work : kernel.at("flops").at("by_type")) figures.push_back(work.at("flops"));
  for (const Json& level : kernel.at("levels"))
    for (const char* side : {"read_bytes", "write_bytes"})
      if (!level.at(side).is_null()) figures.push_back(level.at(side));
  for (const Json& group : kernel.at("features"))
    for (const Json& figure : group.at("figures")) figures.push_back(figure);
  return figures;
}

TEST(RooflineDocument, HasWhatAllKernelsShareOncePerArchitecture) {
  analyze::Analysis analysis = sample_roofline();
  // The same figures again, on the same and on another architecture.
  analysis.roofline->kernels.push_back(analysis.roofline->kernels[0]);
  analysis.roofline->kernels.push_back(analysis.roofline->kernels[0]);
  analysis.roofline->kernels.back().architecture = "gfx90a";
  const Json document = roofline_document_of(analysis);
  std::map<std::pair<std::string, std::string>, Json> formulas;
  for (const Json& formula : document.at("formulas")) {
    const std::pair key{formula.at("architecture").dump(), formula.at("name").dump()};
    EXPECT_TRUE(formulas.emplace(key, formula).second) << formula.dump();
  }
  std::set<std::pair<std::string, std::string>> used;
  for (const Json& kernel : document.at("kernels"))
    for (const Json& figure : figures_of(kernel)) {
      const std::pair key{kernel.at("architecture").dump(), figure.at("name").dump()};
      ASSERT_TRUE(formulas.contains(key)) << figure.dump();
      EXPECT_EQ(formulas.at(key).at("unit"), figure.at("unit"));
      used.insert(key);
    }
  EXPECT_EQ(used.size(), formulas.size());
  const Json& lanes = formulas.at({"\"gfx942\"", "\"lanes\""});
  EXPECT_EQ(lanes.at("label"), "lanes per vector instruction");
  EXPECT_EQ(lanes.at("rule"), "work");
  EXPECT_EQ(formulas.at({"\"gfx942\"", "\"occupancy.achieved\""}).at("rule"), "time");
  EXPECT_TRUE(formulas.at({"\"gfx942\"", "\"hbm.read_bytes\""}).at("rule").is_null());
}

TEST(RooflineDocument, TakesNotesFromTheTablesAndKeepsAFiguresOwn) {
  const hal::CounterFormula* const formula = hal::find_counter_table("gfx942")->find("matrix.fp16");
  ASSERT_TRUE(formula != nullptr && !formula->note.empty());
  analyze::Analysis analysis;
  std::vector<analyze::KernelRoofline>& kernels = analysis.roofline.emplace().kernels;
  kernels = {simple_kernel("concluded", 20, 1), simple_kernel("counted", 20, 1)};
  for (analyze::KernelRoofline& kernel : kernels) {
    analyze::Figure& flops = kernel.work[0].flops;
    flops.name = "matrix.fp16";
    flops.note = kernel.kernel == "counted" ? formula->note : "no matrix instruction was counted";
  }
  const Json document = roofline_document_of(analysis);
  EXPECT_EQ(document.at("formulas")[0].at("note"), formula->note);
  const auto reason = [&](std::size_t kernel) {
    return document.at("kernels")[kernel].at("flops").at("by_type")[0].at("flops").at("reason");
  };
  EXPECT_EQ(reason(0), "no matrix instruction was counted");
  EXPECT_TRUE(reason(1).is_null());
}

TEST(RooflineDocument, GrowsByNoTextThatKernelsShare) {
  analyze::Analysis analysis = sample_roofline();
  analyze::KernelRoofline& kernel = analysis.roofline->kernels[0];
  const std::string shared(1000, 'n');
  for (analyze::Figure& figure : kernel.features) figure.label = shared;
  const auto size = [&] { return roofline_document_of(analysis).dump().size(); };
  const std::size_t one = size();
  EXPECT_GT(one, 10 * shared.size());
  analysis.roofline->kernels.push_back(kernel);
  EXPECT_LT(size() - one, 10 * shared.size());
}

TEST(RooflineDocument, SaysWhatItWasAskedFor) {
  const Json document = rendered_json(
      "roofline", roofline_document(sample_roofline_trace(), sample_roofline(),
                                    {.kernel_filter = "^gemm", .roofs = "a/roofline.csv"}));
  EXPECT_EQ(document.at("environment").at("kernel_filter"), "^gemm");
  EXPECT_EQ(document.at("environment").at("roofs"), "a/roofline.csv");
  EXPECT_TRUE(roofline_sample().at("environment").at("kernel_filter").is_null());
  EXPECT_TRUE(roofline_sample().at("environment").at("roofs").is_null());
}

TEST(RooflineDocument, NamesMissingFiguresAsItHasThem) {
  analyze::Analysis analysis = sample_roofline();
  analyze::KernelRoofline& kernel = analysis.roofline->kernels.back();
  const std::string reason = "as the analysis found";
  for (const char* field :
       {"time_ns", "flops.raw", "gflops", "gflops_raw", "compute.roof", "compute.overlapped_roof",
        "levels.hbm.bytes", "levels.hbm.ridge_ratio", "binding"})
    kernel.missing.push_back({.field = field, .reason = reason, .remedy = "do it"});
  const Json document = roofline_document_of(analysis);
  const Json& json = document.at("kernels").back();
  expect_entries_are_true(json, "");
  for (const char* field :
       {"time.total_ns", "flops.raw", "flops.are", "compute.gflops", "compute.gflops_raw",
        "compute.overlapped_roof", "levels[0].bytes", "levels[0].ridge_ratio", "binding"})
    EXPECT_EQ(roofline_reason(json, field), reason) << field;
  EXPECT_EQ(roofline_reason(json, "compute.roof"), "");  // the ceiling has its own
  EXPECT_EQ(json.at("compute").at("roof").at("reason"), "the product is not in the tables");
}

TEST(RooflineDocument, HoldsFilesOnlyUnderEnvironmentEachOnce) {
  Json document = roofline_sample();
  EXPECT_EQ(document.at("environment").at("files"), (Json{"a/1_results.db", "b/2_results.db"}));
  document.erase("environment");
  EXPECT_EQ(to_canonical_text(document).find("_results.db"), std::string::npos);
}

TEST(RooflineDocument, HasTheChart) {
  const Json document = roofline_sample();
  const Json& chart = document.at("chart");
  ASSERT_EQ(chart.at("gpus").size(), 2U);
  const Json& x = chart.at("gpus")[0].at("x");
  EXPECT_EQ(x.at("unit"), "FLOP/byte");
  EXPECT_EQ(x.at("log10_min"), -2);
  EXPECT_EQ(x.at("min"), 0.01);
  const Json& marks = chart.at("gpus")[0].at("marks");
  EXPECT_EQ(marks[0].at("kernel"), 0);
  EXPECT_EQ(marks[0].at("x"), document.at("kernels")[0].at("levels")[0].at("intensity"));
  EXPECT_EQ(marks[0].at("y"), document.at("kernels")[0].at("compute").at("gflops"));
  EXPECT_EQ(chart.at("without_mark")[0].at("kernel"), 1);
}

TEST(RooflineDocument, IsRefusedWithAFigureThatHasNoState) {
  Json document = roofline_document(sample_roofline_trace(), sample_roofline());
  ASSERT_TRUE(validate("roofline", document));
  document["kernels"][0]["levels"][0]["read_bytes"].erase("state");
  EXPECT_FALSE(validate("roofline", document));
  document = roofline_document(sample_roofline_trace(), sample_roofline());
  document["kernels"][0]["binding"]["roof"] = "l3";
  EXPECT_FALSE(validate("roofline", document));
}

TEST(RooflineSummary, RepeatsTheFiguresOfTheKernel) {
  const analyze::Analysis analysis = sample_roofline();
  std::vector<Missing> missing;
  const Json summary = roofline_summary(analysis.roofline->kernels[0], "roofline", missing);
  EXPECT_TRUE(missing.empty());
  EXPECT_EQ(summary.at("gflops"), 200'075);
  EXPECT_EQ(summary.at("intensity_hbm"), 2.00075e12 / 2e9);
  EXPECT_EQ(summary.at("roof"), "lds");
  EXPECT_EQ(summary.at("bound"), "memory");
  EXPECT_DOUBLE_EQ(summary.at("occupancy_achieved").get<double>(), 0.5425);
  EXPECT_EQ(summary.at("lanes_per_valu_instruction"), 48);
  EXPECT_DOUBLE_EQ(summary.at("l2_hit_rate").get<double>(), 0.347);
}

TEST(RooflineSummary, OfAnUnknownKernelExplainsEveryNull) {
  const analyze::Analysis analysis = sample_roofline();
  std::vector<Missing> missing;
  Json summary = roofline_summary(analysis.roofline->kernels.back(), "roofline", missing);
  EXPECT_EQ(missing.size(), summary.size());
  Json holder = {{"roofline", summary}, {"missing", missing_json(missing)}};
  expect_nulls_explained(holder);
  expect_entries_are_true(holder, "");
}

}  // namespace
}  // namespace perflab::report
