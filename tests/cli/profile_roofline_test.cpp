// rocm-perf profile --roofline with the stand-in rocprofv3: base runs first, then counter passes
// planned for the GPU that was seen. Written databases, and the recorded ones of an MI210.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "cli/program.h"
#include "hal/counter_catalogue.h"
#include "hal/pass_plan.h"
#include "support/rocpd_writer.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Passes = std::vector<std::vector<std::string>>;

constexpr const char* kKernel = "vecCopy(double*, double*, double*, int, int)";

class ProfileRoofline : public testing::Test {
 protected:
  /// What the stand-in delivers.
  struct Delivery {
    std::string base = {}, passes = {}, pass_mode = {};
  };

  Outcome run(std::vector<std::string> arguments, const Delivery& delivery) {
    ProcessOptions options;
    options.set_environment = {{"ROCPROFV3", PERFLAB_FAKE_ROCPROFV3},
                               {"FAKE_ROCPROFV3_DB", delivery.base},
                               {"FAKE_ROCPROFV3_PASS_DB", delivery.passes},
                               {"FAKE_ROCPROFV3_PASS_MODE", delivery.pass_mode}};
    arguments.insert(arguments.begin(), "profile");
    return rocm_perf(folder_.path(), std::move(arguments), options);
  }

  Json written(const std::string& name) {
    return document(name, test::text_of(folder_ / (name + ".json")));
  }
  std::string warnings() { return written("profile")["warnings"].dump(); }
  [[nodiscard]] std::string missing_roofline() {
    const Json profile = written("profile");
    for (const Json& entry : profile["missing"])
      if (entry["field"] == "roofline") return entry["reason"];
    return {};
  }

  /// A database with three dispatches of vecCopy, each with these counters.
  std::string database(const std::string& name, const std::map<std::string, double>& counters,
                       const std::string& gfx = "gfx942") {
    const fs::path path = folder_ / name;
    test::RocpdWriter writer(path, {.guid = path.stem()});
    writer.agent(test::host_agent());
    test::AgentRow agent = test::mi300x_agent();
    if (gfx != "gfx942") {
      agent.name = gfx;
      agent.product_name = gfx == "gfx90a" ? "AMD Instinct MI210" : "unknown";
      agent.extdata = "{}";
      agent.absolute_index = 2;  // as in the recorded passes of the MI210
    }
    writer.agent(agent);
    writer.queue();
    writer.stream();
    writer.code_object({});
    const test::Id kernel = writer.kernel({.name = "_Z7vecCopyPdS_S_ii", .display_name = kKernel});
    std::map<std::string, test::Id> ids;
    for (const auto& [counter, value] : counters) ids[counter] = writer.counter({.name = counter});
    // Under counters kernels take longer: such times must not become the runtime.
    const std::int64_t duration = counters.empty() ? 20'000 : 25'000;
    for (std::int64_t i = 1; i <= 3; ++i) {
      const test::Written dispatch = writer.dispatch({.kernel = kernel,
                                                      .start = i * 1'000'000,
                                                      .end = i * 1'000'000 + duration,
                                                      .grid = {.x = 1'048'576}});
      for (const auto& [counter, value] : counters)
        writer.counter_value(dispatch.event, ids[counter], value);
    }
    EXPECT_TRUE(writer.close().has_value());
    return path.string();
  }

  /// A database for each pass of the plan, with everything that it asks for.
  std::string databases_for(const Passes& passes, const std::string& without = {},
                            const std::string& gfx = "gfx942") {
    std::string groups;
    for (std::size_t i = 0; i < passes.size(); ++i) {
      std::map<std::string, double> counters;
      for (const std::string& counter : passes[i])
        if (counter != without) counters[counter] = value_of(counter);
      groups += (i == 0 ? "" : "|") + database(fmt::format("counted{}.db", i + 1), counters, gfx);
    }
    return groups;
  }

  /// vecCopy on an MI300X: 8 MiB in 128-byte reads, 8 MiB in 64-byte writes.
  static double value_of(const std::string& counter) {
    static const std::map<std::string, double> kValues{
        {"GRBM_GUI_ACTIVE", 8.0 * 42'000}, {"SQ_WAVES", 16'384},
        {"TCC_EA0_RDREQ_sum", 65'536},     {"TCC_BUBBLE_sum", 65'536},
        {"TCC_EA0_RDREQ_32B_sum", 0},      {"TCC_EA0_WRREQ_sum", 131'072},
        {"TCC_EA0_WRREQ_64B_sum", 131'072}};
    const auto found = kValues.find(counter);
    return found == kValues.end() ? 16'384 : found->second;
  }

  static Passes planned(std::string_view gfx, bool own, std::vector<std::string> extra = {}) {
    const hal::CounterTable* table = hal::find_counter_table(gfx);
    if (table == nullptr) {
      ADD_FAILURE() << "no counter table for " << gfx;
      return {};
    }
    const auto plan = hal::plan_passes(*table, own, extra);
    EXPECT_TRUE(plan.has_value());
    return plan ? plan->passes : Passes{};
  }

  [[nodiscard]] Passes jobs() const {
    Passes passes;
    const auto parsed =
        parse_json(test::text_of(folder_ / ".rocpd_profile/0001/counters/jobs.json"), "jobs.json");
    if (!parsed) return passes;
    for (const Json& job : (*parsed)["jobs"]) passes.push_back(job["pmc"]);
    return passes;
  }

  test::TempFolder folder_;
};

TEST_F(ProfileRoofline, CollectsThePlannedPassesAndWritesAllDocuments) {
  const Passes passes = planned("gfx942", true);
  const Outcome outcome = run({"--roofline", "--", "true"},
                              {.base = database("base.db", {}), .passes = databases_for(passes)});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  ASSERT_EQ(jobs(), passes);
  const Json roofline = written("roofline");
  EXPECT_EQ(roofline["passes"].size(), passes.size());
  EXPECT_EQ(roofline["kernels"][0]["name"], kKernel);
  const Json hbm = roofline["kernels"][0]["levels"][0];
  EXPECT_EQ(hbm["read_bytes"]["value"], 3 * 8'388'608);
  EXPECT_EQ(hbm["write_bytes"]["value"], 3 * 8'388'608);
  const Json profile = written("profile");
  EXPECT_TRUE(profile["roofline"].is_object());
  EXPECT_DOUBLE_EQ(profile["runtime_ms"], 0.06);  // of the base run, not of a pass
  EXPECT_THAT(profile["warnings"].dump(), Not(HasSubstr("asked for")));
  EXPECT_EQ(profile["environment"]["databases"].size(), 1 + passes.size());
  written("analysis");
  EXPECT_THAT(outcome.err, HasSubstr("profile.json, analysis.json, roofline.json"));
}

TEST_F(ProfileRoofline, CountersAreCollectedOnceWhateverTheNumberOfRuns) {
  const Passes passes = planned("gfx942", true);
  const Outcome outcome =
      run({"--roofline", "--runs", "3", "--quiet", "--", "sh", "-c", "echo x >> starts"},
          {.base = database("base.db", {}), .passes = databases_for(passes)});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(lines(test::text_of(folder_ / "starts")), 3 + std::ssize(passes));
  const Json profile = written("profile");
  EXPECT_EQ(profile["stability"]["runs"].size(), 3U);
  EXPECT_TRUE(profile["roofline"].is_object());
}

TEST_F(ProfileRoofline, CountersOfTheUsersAlone) {
  const Passes passes = planned("gfx942", false, {"SQ_WAVES", "TCC_HIT_sum"});
  ASSERT_EQ(passes.size(), 1U);
  const Outcome outcome = run({"--counters", "SQ_WAVES,TCC_HIT_sum", "--", "true"},
                              {.base = database("base.db", {}), .passes = databases_for(passes)});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  ASSERT_EQ(jobs(), passes);
  EXPECT_THAT(jobs()[0],
              testing::UnorderedElementsAre("GRBM_GUI_ACTIVE", "SQ_WAVES", "TCC_HIT_sum"));
  EXPECT_EQ(written("roofline")["passes"][0]["counters"].size(), 3U);
}

TEST_F(ProfileRoofline, TheProgramMayFollowTheCountersWithoutDashes) {
  const Outcome outcome = run({"--counters", "SQ_WAVES", "true"},
                              {.base = database("base.db", {}),
                               .passes = databases_for(planned("gfx942", false, {"SQ_WAVES"}))});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(jobs().size(), 1U);
}

TEST_F(ProfileRoofline, TheRecordedPassesOfAnMi210) {
  const fs::path recorded = fs::path(PERFLAB_SHARED_DIR) / "data/rocpd/mi210_vcopy_13_passes";
  if (!fs::exists(recorded)) GTEST_SKIP() << "skipped: " << recorded << " is not there";
  // In this order: the plan has fewer passes than the recording, and these hold the requests.
  std::string groups;
  for (const int number : {11, 10, 13, 12, 5, 6, 1, 2, 3, 4, 7, 8, 9}) {
    const fs::path pass = recorded / fmt::format("pass_{}", number);
    groups +=
        (groups.empty() ? "" : "|") + (pass / fmt::format("{}_results.db", 1000 + number)).string();
  }
  const Outcome outcome = run({"--roofline", "--", "true"},
                              {.base = database("base.db", {}, "gfx90a"), .passes = groups});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Passes passes = planned("gfx90a", true);
  ASSERT_EQ(jobs(), passes);
  ASSERT_GE(passes.size(), 4U);
  const Json roofline = written("roofline");
  const Json read = roofline["kernels"][0]["levels"][0]["read_bytes"]["value"];
  const Json write = roofline["kernels"][0]["levels"][0]["write_bytes"]["value"];
  ASSERT_TRUE(read.is_number()) << roofline["kernels"][0]["levels"][0]["read_bytes"];
  ASSERT_TRUE(write.is_number());
  EXPECT_NEAR(read.get<double>() / 3 / 1'048'576, 8.0004, 0.001);
  EXPECT_NEAR(write.get<double>() / 1'048'576, 8.0 + 5.55 + 5.57, 0.1);
  // The recorded passes hold other counters than these jobs: each one is named.
  EXPECT_THAT(warnings(), HasSubstr("pass 1: GRBM_GUI_ACTIVE, SQ_WAVES, "));
  EXPECT_THAT(warnings(), HasSubstr(" were asked for but are not in its database"));
}

TEST_F(ProfileRoofline, ACounterThatIsNotThereIsNamedWithItsPass) {
  const Passes passes = planned("gfx942", true);
  const Outcome outcome =
      run({"--roofline", "--", "true"},
          {.base = database("base.db", {}), .passes = databases_for(passes, "TCC_BUBBLE_sum")});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto with = std::ranges::find_if(passes, [](const std::vector<std::string>& pass) {
    return std::ranges::find(pass, "TCC_BUBBLE_sum") != pass.end();
  });
  ASSERT_NE(with, passes.end());
  EXPECT_THAT(warnings(), HasSubstr(fmt::format(
                              "pass {}: TCC_BUBBLE_sum was asked for but is not in its database",
                              with - passes.begin() + 1)));
  EXPECT_EQ(written("roofline")["kernels"][0]["levels"][0]["read_bytes"]["value"], nullptr);
}

TEST_F(ProfileRoofline, APassWhoseDatabaseHoldsNoCounters) {
  const Passes passes = planned("gfx942", true);
  const std::string empty = database("empty.db", {});
  std::string groups = databases_for(passes);
  groups = empty + groups.substr(groups.find('|'));
  const Outcome outcome =
      run({"--roofline", "--", "true"}, {.base = database("base.db", {}), .passes = groups});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(warnings(), HasSubstr("pass 1: nothing of what was asked for is in its database"));
  EXPECT_DOUBLE_EQ(written("profile")["runtime_ms"], 0.06);
}

TEST_F(ProfileRoofline, AFailingPassIsExit5AndTheRestIsKept) {
  const Passes passes = planned("gfx942", true);
  ASSERT_GE(passes.size(), 3U);
  // The base run and the first pass end well, the second pass does not.
  const Outcome outcome =
      run({"--roofline", "--", "sh", "-c", "echo x >> starts; test $(wc -l < starts) -lt 3"},
          {.base = database("base.db", {}), .passes = databases_for(passes)});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("exited with code 1"));
  EXPECT_EQ(written("roofline")["passes"].size(), 2U);
  EXPECT_THAT(
      warnings(),
      AllOf(HasSubstr(fmt::format("partial: 2 of {} counter passes left databases", passes.size())),
            HasSubstr("pass 3: there is no database")));
}

TEST_F(ProfileRoofline, ADamagedDatabaseOfAPassDoesNotSpoilTheOthers) {
  const Passes passes = planned("gfx942", true);
  const Outcome outcome = run(
      {"--roofline", "--", "true"},
      {.base = database("base.db", {}), .passes = databases_for(passes), .pass_mode = "2=crash"});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_THAT(warnings(), HasSubstr("pass 2 cannot be used"));
  EXPECT_EQ(written("roofline")["passes"].size(), 1U);
}

TEST_F(ProfileRoofline, APassWithoutADatabaseIsExit3AndIsSaid) {
  const Passes passes = planned("gfx942", true);
  const Outcome outcome = run({"--roofline", "--", "true"}, {.base = database("base.db", {}),
                                                             .passes = databases_for(passes),
                                                             .pass_mode = "2=no_output"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_EQ(written("roofline")["passes"].size(), passes.size() - 1);
  EXPECT_THAT(warnings(), HasSubstr("pass 2: there is no database"));
}

TEST_F(ProfileRoofline, ARefusalOfRocprofv3IsQuoted) {
  const Passes passes = planned("gfx942", true);
  const std::string base = database("base.db", {});
  const std::string groups = databases_for(passes);
  const Outcome refused =
      run({"--roofline", "--", "true"}, {.base = base, .passes = groups, .pass_mode = "1=refuse"});
  EXPECT_EQ(refused.exit_code, 4) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("Request exceeds the capabilities of the hardware"));
  EXPECT_EQ(written("profile")["roofline"], nullptr);
  EXPECT_EQ(missing_roofline(), "no counter pass left a database");
  EXPECT_FALSE(fs::exists(folder_ / "roofline.json"));
  const Outcome warned =
      run({"--roofline", "--", "true"}, {.base = base, .passes = groups, .pass_mode = "1=warn"});
  EXPECT_EQ(warned.exit_code, 0) << warned.err;
  EXPECT_THAT(warnings(), HasSubstr("rocprofv3: Unable to find all counters for agent 1"));
}

TEST_F(ProfileRoofline, AnArchitectureWithoutATableLeavesTheProfileWhole) {
  const Outcome outcome = run({"--roofline", "--", "sh", "-c", "echo x >> starts"},
                              {.base = database("base.db", {}, "gfx9999")});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json profile = written("profile");
  EXPECT_DOUBLE_EQ(profile["runtime_ms"], 0.06);
  EXPECT_EQ(profile["roofline"], nullptr);
  EXPECT_EQ(missing_roofline(), "no counters are known for gfx9999");
  EXPECT_THAT(profile["warnings"].dump(), HasSubstr("no counters are known for gfx9999"));
  EXPECT_EQ(lines(test::text_of(folder_ / "starts")), 1);
  EXPECT_FALSE(fs::exists(folder_ / "roofline.json"));
}

TEST_F(ProfileRoofline, OfSeveralArchitecturesTheSelectedKernelsIsPlannedFor) {
  const fs::path base = folder_ / "base.db";
  test::RocpdWriter writer(base, {.guid = "base"});
  writer.agent(test::host_agent());
  const test::Id big = writer.agent(test::mi300x_agent());
  const test::Id small = writer.agent(
      {.absolute_index = 2, .name = "gfx1100", .product_name = "AMD Radeon RX 7900 XTX"});
  writer.queue();
  writer.stream();
  writer.code_object({});
  const test::Id kernel = writer.kernel({.name = "_Z7vecCopyPdS_S_ii", .display_name = kKernel});
  const test::Id other = writer.kernel({.name = "_Z5otherv", .display_name = "other()"});
  writer.dispatch(
      {.kernel = kernel, .start = 1'000, .end = 21'000, .agent = big, .grid = {.x = 1'048'576}});
  writer.dispatch({.kernel = other, .start = 30'000, .end = 31'000, .agent = small});
  ASSERT_TRUE(writer.close().has_value());
  const Passes passes = planned("gfx942", true);
  const Outcome outcome =
      run({"--roofline", "--", "true"}, {.base = base.string(), .passes = databases_for(passes)});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(jobs(), passes);
  EXPECT_THAT(warnings(), HasSubstr("counters are those of gfx942, on which the selected kernel "
                                    "ran; kernels on gfx1100 may lack some"));
}

TEST_F(ProfileRoofline, ACounterOfNoArchitectureIsRefusedBeforeAnythingRuns) {
  const Outcome outcome = run({"--counters", "SQ_WAVE", "--", "sh", "-c", "touch started"},
                              {.base = database("base.db", {})});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("SQ_WAVE"), HasSubstr("did you mean"), HasSubstr("SQ_WAVES")));
  EXPECT_FALSE(fs::exists(folder_ / "started"));
  EXPECT_FALSE(fs::exists(folder_ / ".rocpd_profile"));
}

TEST_F(ProfileRoofline, ACounterOfAnotherArchitectureIsExit2AndTheProfileIsKept) {
  const Outcome outcome =
      run({"--counters", "TCC_EA_RDREQ_sum", "--", "true"}, {.base = database("base.db", {})});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("TCC_EA_RDREQ_sum"), HasSubstr("gfx942")));
  EXPECT_DOUBLE_EQ(written("profile")["runtime_ms"], 0.06);
  EXPECT_THAT(missing_roofline(), HasSubstr("TCC_EA_RDREQ_sum"));
}

TEST_F(ProfileRoofline, RunsThatFailAreNotFollowedByCounters) {
  const Outcome outcome = run({"--roofline", "--", "sh", "-c", "echo x >> starts; exit 7"},
                              {.base = database("base.db", {})});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_EQ(lines(test::text_of(folder_ / "starts")), 1);
  EXPECT_THAT(missing_roofline(), HasSubstr("the runs did not end well"));
}

TEST_F(ProfileRoofline, AHangingPassIsStopped) {
  const Passes passes = planned("gfx942", false, {"SQ_WAVES", "VmemLatency"});
  ASSERT_EQ(passes.size(), 2U);
  const Outcome outcome = run({"--counters", "SQ_WAVES,VmemLatency", "--timeout", "5s", "--", "sh",
                               "-c", "echo x >> starts; test $(wc -l < starts) -lt 3 || sleep 600"},
                              {.base = database("base.db", {}), .passes = databases_for(passes)});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.err, HasSubstr("took longer than 10 s"));
  EXPECT_THAT(warnings(), HasSubstr("partial"));
}

TEST_F(ProfileRoofline, CountersWithoutRocprofv3AreAUsageError) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--roofline"}, {"--counters", "SQ_WAVES"}}) {
    std::vector<std::string> arguments = options;
    for (const char* word : {"--no-rocprof", "--", "touch", "started"})
      arguments.emplace_back(word);
    const Outcome outcome = run(arguments, {});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("--no-rocprof"));
    EXPECT_FALSE(fs::exists(folder_ / "started"));
  }
}

TEST_F(ProfileRoofline, MeasuredCeilingsAreReadBeforeAnythingRuns) {
  const Outcome missing =
      run({"--roofline", "--roofs", "nothing.csv", "--", "touch", "started"}, {});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err, HasSubstr("nothing.csv"));
  EXPECT_FALSE(fs::exists(folder_ / "started"));
  EXPECT_EQ(run({"--roofs", "nothing.csv", "--", "true"}, {}).exit_code, 2);
}

TEST_F(ProfileRoofline, MeasuredCeilingsComeBeforeThoseOfTheTables) {
  const Passes passes = planned("gfx942", true);
  const fs::path roofs = folder_.write("roofline.csv", "device,HBMBw\n0,4321\n");
  const Outcome outcome = run({"--roofline", "--roofs", roofs.string(), "--", "true"},
                              {.base = database("base.db", {}), .passes = databases_for(passes)});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json ceiling = written("roofline")["kernels"][0]["levels"][0]["ceiling"];
  EXPECT_EQ(ceiling["value"], 4321);
  EXPECT_EQ(ceiling["from"], "measured");
}

TEST_F(ProfileRoofline, WithoutItNothingIsCollectedAndNoDocumentIsWritten) {
  const Outcome outcome = run({"--", "true"}, {.base = database("base.db", {})});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_FALSE(fs::exists(folder_ / "roofline.json"));
  EXPECT_FALSE(fs::exists(folder_ / ".rocpd_profile/0001/counters"));
  EXPECT_THAT(outcome.err,
              HasSubstr("documents in .: profile.json, analysis.json, dag.json, timeline.json, "
                        "summary.json\n"));
}

}  // namespace
}  // namespace perflab::cli
