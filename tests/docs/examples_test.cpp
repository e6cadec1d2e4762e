// The worked examples of docs/DEVELOPER_GUIDE.md do what the guide says. check_guide.py compares
// their text with the guide's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "analyze/bottleneck/in_words.h"
#include "analyze/pipeline.h"
#include "base/system/files.h"
#include "base/temp_folder.h"
#include "base/text/json.h"
#include "docs/examples/dispatch_log.h"
#include "docs/examples/remote_executor.h"
#include "docs/examples/spill_rule.h"
#include "docs/examples/transform_workgroup_size.h"
#include "hal/arch_table.h"
#include "hal/counter_catalogue_parse.h"
#include "hal/occupancy.h"
#include "llm/exec_proposer.h"

namespace perflab {
namespace {

using test::TempFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::filesystem::path kSource = PERFLAB_SOURCE_DIR;
const std::filesystem::path kExamples = kSource / "tests/docs/examples";

std::string text_of(const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path);
  if (!text) ADD_FAILURE() << describe(text.error());
  return text.value_or("");
}

void write(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(GuideExamples, TheArchitectureIsReadAndHasOccupancy) {
  const Result<hal::Arch> arch =
      hal::parse_arch(text_of(kExamples / "architecture.json"), "architecture.json");
  ASSERT_TRUE(arch) << describe(arch.error());
  EXPECT_EQ(arch->gfx, "gfx9999");
  const Result<hal::OccupancyLimits> limits = hal::limits_of(*arch);
  ASSERT_TRUE(limits) << describe(limits.error());
  // Its sources are keys that exist: an unknown one would stop every command.
  const Json sources = parse_json(text_of(kSource / "src/hal/archs/sources.json"), "").value();
  const Json json = parse_json(text_of(kExamples / "architecture.json"), "").value();
  for (const auto& [field, keys] : json.at("sources").items())
    for (const std::string key : keys) EXPECT_TRUE(sources.contains(key)) << field << ": " << key;
}

TEST(GuideExamples, TheFormulaComputesOnGfx942) {
  const std::filesystem::path file = kSource / "src/hal/counters/gfx942.json";
  Json table = parse_json(text_of(file), "gfx942.json").value();
  table["formulas"].push_back(parse_json(text_of(kExamples / "formula.json"), "formula").value());
  const auto tables = hal::parse_counter_tables(to_canonical_text(table), "gfx942.json");
  ASSERT_TRUE(tables) << describe(tables.error());
  const hal::CounterFormula* formula = tables->front().find("l2.read_bytes_per_wave");
  ASSERT_NE(formula, nullptr);
  const auto value = hal::evaluate(formula->alternatives.front(), [](std::string_view name) {
    return name == "SQ_WAVES" ? 4.0 : 10.0;
  });
  EXPECT_EQ(value, 320);
  // Both counters stand in one set, so that one pass gives them.
  EXPECT_TRUE(std::ranges::any_of(tables->front().sets, [&](const auto& set) {
    return std::ranges::all_of(formula->alternatives.front().counters, [&](const auto& counter) {
      return std::ranges::find(set, counter) != set.end();
    });
  }));
}

constexpr std::string_view kLog =
    R"({"kernel": "b", "start": 300, "end": 500, "grid": [256, 1, 1], "workgroup": [64, 1, 1]}
{"kernel": "a", "start": 100, "end": 200, "grid": [64, 1, 1], "workgroup": [64, 1, 1]}
{"kernel": "a", "start": 900, "end": 200, "grid": [64, 1, 1], "workgroup": [64, 1, 1]}
)";

TEST(GuideExamples, TheReaderFillsATraceThatCanBeAnalysed) {
  const TempFolder folder;
  write(folder.path() / "run.log", kLog);
  trace::Trace trace;
  trace::LoadState state(trace);
  ASSERT_TRUE(trace::dispatch_log::load(state, folder.path() / "run.log"));
  trace::finish(state);
  const analyze::Analysis analysis = analyze::analyze_trace(trace);
  ASSERT_THAT(analysis.kernels, SizeIs(2));
  EXPECT_EQ(analysis.kernels[0].name, "b");
  EXPECT_EQ(analysis.kernels[0].durations.total, 200);
  EXPECT_EQ(analysis.kernels[1].durations.count, 1U);
  const trace::ReadReport::Key key{"dispatch_log", "it ends before it starts"};
  EXPECT_EQ(trace.report.dropped.at(key), 1U);
}

TEST(GuideExamples, TheReaderNamesTheLineThatIsWrong) {
  const TempFolder folder;
  write(folder.path() / "run.log", "{\"kernel\": \"a\"}\n");
  trace::Trace trace;
  trace::LoadState state(trace);
  const auto loaded = trace::dispatch_log::load(state, folder.path() / "run.log");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::bad_input);
  EXPECT_THAT(loaded.error().message, HasSubstr("run.log: line 1"));
  write(folder.path() / "run.log", kLog);
  trace::Trace twice;
  trace::LoadState again(twice);
  ASSERT_TRUE(trace::dispatch_log::load(again, folder.path() / "run.log"));
  EXPECT_FALSE(trace::dispatch_log::load(again, folder.path() / "run.log"));
}

constexpr std::string_view kKernel =
    "#define __global__ __attribute__((annotate(\"rocm_perf_kernel\")))\n"
    "__global__ void k(float* y) { y[0] = 1; }\n";

optimize::Transforms transforms_with(const optimize::TransformFacts& facts) {
  const auto model = optimize::parse_source(
      std::string(kKernel), {.path = "k.cpp", .arguments = {}, .host = true, .arch = "gfx942"});
  if (!model || model->kernels.empty()) {
    ADD_FAILURE() << (model ? "no kernel" : describe(model.error()));
    return {};
  }
  optimize::TransformList list(*model, model->kernels.front(), facts);
  optimize::add_workgroup_size(list);
  return list.take();
}

TEST(GuideExamples, TheTransformIsOfferedWhereItsGuardsAllowIt) {
  const auto offered = transforms_with({.wave_size = 64, .workgroup_size = 256, .host = false});
  ASSERT_THAT(offered.offered, SizeIs(1));
  EXPECT_EQ(offered.offered[0].id, "flat-work-group-size:256");
  EXPECT_THAT(offered.offered[0].text, HasSubstr("amdgpu_flat_work_group_size(256, 256)))"));
  EXPECT_THAT(offered.offered[0].text, HasSubstr(" k(float* y)"));
}

TEST(GuideExamples, TheTransformSaysWhatForbidsIt) {
  const auto guard = [](const optimize::TransformFacts& facts) {
    const auto transforms = transforms_with(facts);
    EXPECT_THAT(transforms.offered, IsEmpty());
    return transforms.forbidden.empty() ? std::string() : transforms.forbidden[0].guard;
  };
  EXPECT_EQ(guard({.wave_size = 64, .workgroup_size = {}, .host = false}), "workgroup_size");
  EXPECT_EQ(guard({.wave_size = 64, .workgroup_size = 256, .host = true}), "host");
}

/// What the proposer of the guide answers in a round; nothing: no more proposals.
std::optional<llm::Proposal> proposal_of(unsigned round, std::string kernel) {
  llm::Task task;
  task.kernel = "row_sums";
  task.kernel_source = std::move(kernel);
  task.source = "// before\n" + task.kernel_source + "\n// behind\n";
  task.context = Json::object();
  task.round = round;
  auto proposer = llm::make_exec_proposer(
      {.command = "python3 '" + (kExamples / "proposer.py").string() + "'"});
  if (!proposer) {
    ADD_FAILURE() << describe(proposer.error());
    return {};
  }
  auto proposal = (*proposer)->next(task);
  if (!proposal) ADD_FAILURE() << describe(proposal.error());
  return proposal ? *proposal : std::nullopt;
}

TEST(GuideExamples, TheProposerAnswersOverTheProtocol) {
  const std::string loop =
      "void row_sums() {\n  float sum = 0.0F;\n"
      "  for (int i = 0; i < n; ++i) sum += a[r * n + i];\n}";
  const auto first = proposal_of(1, loop);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->problem, "");
  EXPECT_EQ(first->summary, "sum over 2 accumulators");
  EXPECT_THAT(first->text, HasSubstr("// before\nvoid row_sums"));
  EXPECT_THAT(first->text, HasSubstr("sum_1 += a[r * n + (i + 1)];"));
  EXPECT_THAT(first->text, HasSubstr("// behind\n"));
  EXPECT_FALSE(proposal_of(4, loop)) << "it has three proposals";
  EXPECT_FALSE(proposal_of(1, "void row_sums() {}")) << "there is no sum to split";
}

tune::Job job_that_prints(std::size_t id, std::string text) {
  tune::Job job;
  job.id = id;
  job.run = {"/bin/echo", std::move(text)};
  job.objective.kind = tune::ObjectiveKind::metric;
  job.objective.metric_pattern = "time: ([0-9.]+)";
  return job;
}

TEST(GuideExamples, TheExecutorEvaluatesJobsInAnotherProcess) {
  const TempFolder folder;
  tune::RemoteExecutor executor({PERFLAB_SLURM_WORKER}, folder.path());
  const std::vector<tune::Job> jobs = {job_that_prints(3, "time: 2.5"),
                                       job_that_prints(4, "no number")};
  std::vector<tune::Evaluation> evaluations;
  const auto done = executor.evaluate(jobs, false, [&](tune::Finished&& finished) -> Result<void> {
    EXPECT_EQ(finished.index, evaluations.size());
    evaluations.push_back(std::move(finished.evaluation));
    return {};
  });
  ASSERT_TRUE(done) << describe(done.error());
  ASSERT_THAT(evaluations, SizeIs(2));
  EXPECT_EQ(evaluations[0].value, 2.5);
  EXPECT_EQ(evaluations[1].outcome, tune::Outcome::run_failed);
}

TEST(GuideExamples, TheExecutorSaysWhichCommandDidNotStart) {
  const TempFolder folder;
  tune::RemoteExecutor executor({"/bin/false"}, folder.path());
  const std::vector<tune::Job> jobs = {job_that_prints(0, "time: 1")};
  const auto done =
      executor.evaluate(jobs, false, [](tune::Finished&&) -> Result<void> { return {}; });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "/bin/false exited with code 1");
}

TEST(GuideExamples, TheRuleHoldsAndIsRefutedAtItsThresholds) {
  using analyze::FeatureId;
  analyze::FeatureSet features;
  const auto held = [&](double scratch, double wait) {
    features[FeatureId::scratch_bytes].value = scratch;
    features[FeatureId::wait_dependency].value = wait;
    return std::ranges::all_of(analyze::kScratchRule.when, [&](const analyze::Condition& one) {
      return analyze::holds(one, features).value_or(false);
    });
  };
  EXPECT_TRUE(held(16, 0.5));
  EXPECT_FALSE(held(0, 0.9));
  EXPECT_FALSE(held(16, 0.49));
  EXPECT_THAT(analyze::kScratchRule.needs(), testing::Contains(FeatureId::scratch_bytes));
}

}  // namespace
}  // namespace perflab
