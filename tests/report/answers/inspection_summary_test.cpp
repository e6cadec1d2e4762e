// The answer of inspect, of every recorded code object and bundle, and of written kernels.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "analyze/inspect/inspection.h"
#include "base/temp_folder.h"
#include "base/text/command_line.h"
#include "report/code/inspection_document.h"
#include "report/report_cases.h"
#include "report/summary/followed.h"
#include "support/code_writer.h"

namespace perflab::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// No disassembler is needed.
analyze::InspectOptions without_mix() {
  analyze::InspectOptions options;
  options.mix = analyze::MixChoice::never;
  return options;
}

/// The documents of an inspection with these gates.
std::vector<NamedDocument> inspected(const std::filesystem::path& file,
                                     const analyze::GateLimits& limits = {},
                                     const std::filesystem::path& older = {}) {
  const auto inspection = analyze::inspect_file(file, without_mix());
  if (!inspection) {
    ADD_FAILURE() << describe(inspection.error());
    return {};
  }
  std::vector<analyze::Gate> gates = analyze::check_gates(*inspection, limits);
  std::optional<analyze::InspectionDiff> against;
  if (!older.empty()) {
    const auto old = analyze::inspect_file(older, without_mix());
    if (old) against = analyze::compare_inspections(*old, *inspection);
    if (against) gates.push_back(analyze::comparison_gate(*against));
  }
  return {{"inspection", inspection_document(*inspection, gates, against)}};
}

class InspectionSummaryOf : public testing::TestWithParam<const char*> {};

TEST_P(InspectionSummaryOf, IsTrueAndShort) {
  const std::filesystem::path folder =
      std::filesystem::path(PERFLAB_SHARED_DIR) / "data" / GetParam();
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "skipped: kept outside the project";
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    SCOPED_TRACE(entry.path());
    // Descriptions, and one code object that is too old.
    if (!analyze::inspect_file(entry.path(), without_mix())) continue;
    ++files;
    const std::vector<NamedDocument> documents = inspected(
        entry.path(), {.max_vgprs = 16, .min_occupancy = 0.9, .no_spills = true}, entry.path());
    const Json summary = rendered_json("summary", summary_document(documents));
    EXPECT_GT(figures_followed(documents, summary), 20U);
    expect_short(summary);
    const Json kernels = part_named(summary, "kernels");
    EXPECT_EQ(kernels["rows"].size() + kernels["left_out"].get<std::size_t>(),
              documents.front().value["kernels"].size());
    EXPECT_FALSE(summary["next"].empty());
  }
  EXPECT_GT(files, 5U);
}

INSTANTIATE_TEST_SUITE_P(All, InspectionSummaryOf, testing::Values("codeobjects", "fatbin"),
                         [](const auto& one) { return std::string(one.param); });

/// A kernel as it is written: registers, spills, scratch.
struct Figures {
  int vgprs = 24, spills = 0, scratch = 0, workgroup = 256;
};

class InspectionSummary : public testing::Test {
 protected:
  /// A gfx942 code object with kernels k0, k1, ...
  std::filesystem::path written(const std::string& name, const std::vector<Figures>& kernels) {
    test::WrittenCodeObject object;
    object.metadata = test::object_metadata(5, "amdgcn-amd-amdhsa--gfx942");
    for (const Figures& figures : kernels) {
      test::WrittenKernel kernel{.name = fmt::format("k{}", object.kernels.size())};
      kernel.metadata = test::kernel_metadata(kernel.name);
      kernel.metadata[".vgpr_count"] = figures.vgprs;
      kernel.metadata[".agpr_count"] = 0;
      kernel.metadata[".vgpr_spill_count"] = figures.spills;
      kernel.metadata[".sgpr_spill_count"] = 0;
      kernel.metadata[".private_segment_fixed_size"] = figures.scratch;
      kernel.metadata[".max_flat_workgroup_size"] = figures.workgroup;
      object.kernels.push_back(std::move(kernel));
    }
    return folder_.write(name, test::write_code_object(object));
  }

  /// Names of the kernels in a part.
  static std::vector<std::string> names(const Json& part) {
    std::vector<std::string> out;
    for (const Json& row : part["rows"]) out.push_back(row["name"]);
    return out;
  }

  test::TempFolder folder_;
};

TEST_F(InspectionSummary, PutsSpillsFirstThenScratchThenFewWaves) {
  const Json summary = summary_document(inspected(written(
      "k.co", {{24}, {128}, {.vgprs = 32, .scratch = 64}, {200}, {64, 3, 16}, {32, 9, 32}, {24}})));
  const Json kernels = part_named(summary, "kernels");
  EXPECT_THAT(names(kernels), ElementsAre("k5", "k4", "k2", "k3", "k1"));
  EXPECT_EQ(kernels["left_out"], 2);
}

TEST_F(InspectionSummary, SaysWhatOneMoreWaveAsksForAndGives) {
  const std::vector<NamedDocument> documents = inspected(written("k.co", {{100}}));
  const Json summary = summary_document(documents);
  const Json& step = documents.front().value["kernels"][0]["occupancy"]["next_step"];
  const Json limit = part_named(summary, "limit");
  ASSERT_EQ(limit["rows"].size(), 2U);
  EXPECT_GT(figures_followed(documents, summary), 20U);
  EXPECT_EQ(limit["rows"][1]["from"], "inspection.json#/kernels/0/occupancy/next_step/changes/0");
  EXPECT_EQ(limit["rows"][1]["to"], step["changes"][0]["to"]);
  const Json worth = part_named(summary, "worth");
  EXPECT_EQ(worth["rows"][1]["waves_per_simd"], step["waves_per_simd"]);
  const std::string text = summary_text(summary, {}, "");
  EXPECT_THAT(text, HasSubstr(fmt::format("- {} VGPRs; more waves fit with {} or fewer\n",
                                          step["changes"][0]["from"].get<int>(),
                                          step["changes"][0]["to"].get<int>())));
  // The command says the same of the same kernel (tests/cli/kernels runs it).
  const std::string command = summary["next"][0]["command"];
  EXPECT_THAT(command, StartsWith("rocm-perf occupancy --arch gfx942 --vgpr 100 "));
  EXPECT_THAT(command, testing::EndsWith(" --sweep vgpr"));
}

// What caps the registers is not the same: the advice has to be one that can be followed.
TEST_F(InspectionSummary, SaysWhatAllowsAKernelThatSpillsMoreRegisters) {
  const auto advice = [&](const std::string& name, int workgroup) {
    return summary_document(inspected(written(name, {{200, 12, 64, workgroup}})))["next"][0]["why"]
        .get<std::string>();
  };
  EXPECT_THAT(advice("256.co", 256), testing::EndsWith("amdgpu_waves_per_eu)"));
  EXPECT_THAT(advice("1024.co", 1024),
              testing::EndsWith("its code allows work-groups of 1024, which caps the registers: if "
                                "it is launched with fewer work-items, __launch_bounds__ of that "
                                "number allows more"));
}

TEST_F(InspectionSummary, OfAKernelThatSpillsIsAboutItsSpills) {
  const std::filesystem::path file = written("a b.co", {{200, 12, 64}});
  const Json summary = summary_document(inspected(file));
  const std::string text = summary_text(summary, {}, "");
  EXPECT_THAT(text, HasSubstr("- 12 VGPRs and 0 SGPRs are spilled; 64 bytes of scratch"));
  EXPECT_THAT(text, HasSubstr("what that is worth is not known: nothing was run"));
  EXPECT_THAT(text, Not(HasSubstr("more waves fit")));
  const auto words = split_command_line(summary["next"][0]["command"].get<std::string>());
  ASSERT_TRUE(words);
  EXPECT_THAT(*words, ElementsAre("rocm-perf", "inspect", file.string(), "--arch", "gfx942",
                                  "--kernel", "^k0$", "--mix", "--details", "mix"));
}

TEST_F(InspectionSummary, OfAKernelWithAllWavesSendsToARun) {
  const Json summary = summary_document(inspected(written("k.co", {{24}})));
  for (const Json& part : summary["parts"]) EXPECT_NE(part["part"], "worth");
  EXPECT_THAT(summary["next"][0]["command"].get<std::string>(), StartsWith("rocm-perf profile "));
}

TEST_F(InspectionSummary, FailedGatesStandFirst) {
  const Json summary =
      summary_document(inspected(written("k.co", {{100}, {101}, {102}, {103}, {24}}),
                                 {.max_vgprs = 99, .min_occupancy = {}, .no_spills = true}));
  const Json& first = summary["parts"][0];
  EXPECT_EQ(first["rows"][0]["name"], "max_vgpr");
  EXPECT_EQ(first["rows"][0]["passed"], false);
  EXPECT_EQ(first["rows"].size(), 4U);
  EXPECT_EQ(first["left_out"], 1);
  EXPECT_EQ(summary["parts"][1]["rows"][0]["passed"], true);
  const std::string text = summary_text(summary, {}, "");
  EXPECT_THAT(text, StartsWith("Gates\n  FAILED max_vgpr 99: 4 of 5 kernels\n"
                               "         k0 (gfx942): 100 VGPRs are more than 99\n"));
  EXPECT_THAT(text, HasSubstr("\n  passed no_spills: all of 5 kernels\n"));
}

TEST_F(InspectionSummary, AgainstAnOlderBuildShowsWhatIsWorseAndWhatElseChanged) {
  const std::filesystem::path older = written("old.co", {{64}, {64}});
  const Json summary = summary_document(inspected(written("new.co", {{128}, {64}}), {}, older));
  const std::string text = summary_text(summary, {}, "");
  EXPECT_THAT(text, StartsWith("Gates\n  FAILED against old.co: 1 figure worse in 2 kernels\n"));
  const Json changes = part_named(summary, "changes");
  EXPECT_EQ(changes["rows"][0]["figure"], "resources.vgpr");
  EXPECT_EQ(changes["rows"][0]["before"], 64);
  EXPECT_EQ(changes["rows"][0]["after"], 128);
}

}  // namespace
}  // namespace perflab::report
