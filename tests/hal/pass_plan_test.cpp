// Planning of counter passes: the tables' own sets, the packing of a user's counters, and the rule
// of what fits one pass against the passes that rocprofiler-compute recorded (shared/data/pmc).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "base/system/files.h"
#include "hal/counter_catalogue.h"
#include "hal/counter_table.h"
#include "hal/counter_table_of.h"
#include "hal/pass_plan.h"
#include "support/prng.h"

namespace perflab::hal {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Names = std::vector<std::string>;

PassPlan plan(std::string_view gfx, bool own_sets, const Names& extra) {
  auto planned = plan_passes(table(gfx), own_sets, extra);
  if (!planned) throw std::runtime_error(planned.error().message);
  return std::move(*planned);
}

TEST(OwnSets, FitOnePassEachAndBeginWithTheCycles) {
  for (const CounterTable& each : rocprof_tables()) {
    EXPECT_EQ(each.in_every_pass, "GRBM_GUI_ACTIVE");
    EXPECT_FALSE(each.sets.empty()) << each.gfx;
    for (const Names& set : each.sets) {
      SCOPED_TRACE(each.gfx + " " + set.at(1));
      EXPECT_EQ(set.front(), each.in_every_pass);
      EXPECT_EQ(std::set<std::string>(set.begin(), set.end()).size(), set.size());
      EXPECT_EQ(overfull_block(each, set), "");
      // Counted once more, without the function: derived metrics by what they are made of.
      std::map<std::string, std::set<std::string>> by_block;
      int levels = 0;
      for (const std::string& counter : set) {
        EXPECT_TRUE(each.has_counter(counter) || each.is_derived(counter)) << counter;
        const auto inputs = each.derived_inputs.find(counter);
        if (inputs == each.derived_inputs.end()) {
          by_block[each.block_of(counter)].insert(counter);
          continue;
        }
        for (const std::string& input : inputs->second) {
          by_block[each.block_of(input)].insert(input);
          if (!input.ends_with("_ACCUM")) continue;
          by_block[each.block_of(input)].insert(input + " again");  // level and accumulator
          ++levels;
        }
      }
      EXPECT_LE(levels, 1);
      for (const auto& [block, names] : by_block)
        EXPECT_LE(static_cast<int>(names.size()), each.slots(block).value_or(0)) << block;
    }
  }
}

TEST(OwnSets, AreThePlanWhenNothingElseIsWanted) {
  for (const CounterTable& each : rocprof_tables()) {
    const PassPlan planned = plan(each.gfx, true, {});
    EXPECT_EQ(planned.passes, each.sets);
    EXPECT_THAT(planned.warnings, IsEmpty());
    EXPECT_THAT(plan(each.gfx, false, {}).passes, IsEmpty());
  }
}

// CUPTI repeats each kernel inside one run: nothing is split here.
TEST(PlanPasses, OfNvidiaIsOneRun) {
  const CounterTable& t = table("sm_90");
  ASSERT_EQ(t.sets.size(), 1U);
  EXPECT_EQ(plan("sm_90", true, {}).passes, t.sets);
  EXPECT_THAT(plan("sm_90", false, {}).passes, IsEmpty());
  EXPECT_THAT(plan("sm_90", false, Names{"sm__inst_issued.sum", "sm__cycles_elapsed.max"}).passes,
              ElementsAre(ElementsAre("sm__cycles_elapsed.max", "sm__inst_issued.sum")));
  const PassPlan more = plan("sm_90", true, {"sm__inst_issued.avg", "dram__bytes_read.sum"});
  ASSERT_EQ(more.passes.size(), 1U);
  EXPECT_EQ(more.passes[0].size(), t.sets[0].size() + 1);
  EXPECT_EQ(more.passes[0].back(), "sm__inst_issued.avg");
  EXPECT_THAT(more.warnings, IsEmpty());
  const auto wrong = plan_passes(t, true, Names{"dram__bytes_read_sum"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::usage);
  EXPECT_THAT(wrong.error().remedy, HasSubstr("dram__bytes_read.sum"));
}

TEST(Overfull, NamesTheBlock) {
  const CounterTable& t = table("gfx942");
  const Names eight = {"SQ_WAVES",      "SQ_INSTS",       "SQ_WAIT_ANY",    "SQ_INSTS_VALU",
                       "SQ_INSTS_SALU", "SQC_ICACHE_REQ", "SQC_DCACHE_REQ", "SQ_BUSY_CYCLES"};
  EXPECT_EQ(overfull_block(t, eight), "");
  Names nine = eight;
  nine.emplace_back("SQ_INSTS_LDS");
  EXPECT_EQ(overfull_block(t, nine), "SQ");
  nine.back() = "SQ_WAVES_sum";  // the same counter
  EXPECT_EQ(overfull_block(t, nine), "");
  nine.back() = "LdsUtil";  // one more of SQ, and the cycles
  EXPECT_EQ(overfull_block(t, nine), "SQ");
  EXPECT_EQ(overfull_block(t, Names{"TA_TA_BUSY_sum", "TA_TA_BUSY_max", "TA_FLAT_WAVEFRONTS_sum"}),
            "");
  EXPECT_EQ(overfull_block(
                t, Names{"TA_TA_BUSY_sum", "TA_TOTAL_WAVEFRONTS_sum", "TA_FLAT_WAVEFRONTS_sum"}),
            "TA");
  EXPECT_EQ(overfull_block(t, Names{"TCC_HIT[0]", "TCC_HIT[1]", "TCC_HIT[2]", "TCC_HIT[3]",
                                    "TCC_HIT[4]", "TCC_HIT_sum"}),
            "");
  // A level takes two slots, whether it is asked for as well or not.
  Names level(eight.begin(), eight.begin() + 6);
  level.emplace_back("SQ_LEVEL_WAVES_ACCUM");
  EXPECT_EQ(overfull_block(t, level), "");
  level.emplace_back("SQ_LEVEL_WAVES");
  EXPECT_EQ(overfull_block(t, level), "");
  level.emplace_back("SQ_IFETCH");
  EXPECT_EQ(overfull_block(t, level), "SQ");
  // Slots not known: one counter.
  EXPECT_EQ(overfull_block(t, Names{"TCA_BUSY"}), "");
  EXPECT_EQ(overfull_block(t, Names{"TCA_BUSY", "TCA_CYCLE"}), "TCA");
  EXPECT_EQ(overfull_block(t, Names{}), "");
}

TEST(PlanPasses, PacksWhatFitsTogether) {
  EXPECT_THAT(
      plan("gfx942", false, {"TCC_HIT_sum", "SQ_WAVES", "TCC_MISS_sum"}).passes,
      ElementsAre(ElementsAre("GRBM_GUI_ACTIVE", "TCC_HIT_sum", "SQ_WAVES", "TCC_MISS_sum")));
  const PassPlan two = plan(
      "gfx942", false,
      {"TCC_HIT_sum", "TCC_MISS_sum", "TCC_REQ_sum", "TCC_READ_sum", "TCC_WRITE_sum", "SQ_WAVES"});
  EXPECT_THAT(two.passes, ElementsAre(ElementsAre("GRBM_GUI_ACTIVE", "TCC_HIT_sum", "TCC_MISS_sum",
                                                  "TCC_REQ_sum", "TCC_READ_sum", "SQ_WAVES"),
                                      ElementsAre("GRBM_GUI_ACTIVE", "TCC_WRITE_sum")));
  // GRBM has two counters, one of which is in every pass.
  EXPECT_EQ(plan("gfx942", false, {"GRBM_COUNT", "GRBM_SPI_BUSY"}).passes.size(), 2U);
}

TEST(PlanPasses, EachNameOnce) {
  EXPECT_THAT(plan("gfx942", false, {"SQ_WAVES", "SQ_WAVES", "GRBM_GUI_ACTIVE"}).passes,
              ElementsAre(ElementsAre("GRBM_GUI_ACTIVE", "SQ_WAVES")));
  EXPECT_THAT(plan("gfx942", false, {"GRBM_GUI_ACTIVE"}).passes,
              ElementsAre(ElementsAre("GRBM_GUI_ACTIVE")));
  const PassPlan with_own = plan("gfx942", true, {"SQ_WAVES", "VmemLatency", "SQ_ITEMS"});
  Names last = with_own.passes.back();
  EXPECT_EQ(with_own.passes.size(), table("gfx942").sets.size() + 1);
  EXPECT_THAT(last, ElementsAre("GRBM_GUI_ACTIVE", "SQ_ITEMS"));
  EXPECT_THAT(Names(with_own.passes.at(0)), ElementsAreArray(table("gfx942").sets.at(0)));
}

TEST(PlanPasses, DerivedMetricsAndBlocksWithoutSlotsStandAlone) {
  EXPECT_THAT(plan("gfx942", false, {"VmemLatency", "SQ_WAVES", "VALUBusy", "TCA_BUSY"}).passes,
              ElementsAre(ElementsAre("GRBM_GUI_ACTIVE", "SQ_WAVES"),
                          ElementsAre("GRBM_GUI_ACTIVE", "VmemLatency"),
                          ElementsAre("GRBM_GUI_ACTIVE", "VALUBusy"),
                          ElementsAre("GRBM_GUI_ACTIVE", "TCA_BUSY")));
}

TEST(PlanPasses, OneAccumulatedLevelPerPass) {
  const PassPlan planned = plan(
      "gfx90a", false, {"SQ_WAVES", "SQ_LEVEL_WAVES_ACCUM", "SQ_INSTS", "SQ_IFETCH_LEVEL_ACCUM"});
  EXPECT_THAT(planned.passes, ElementsAre(ElementsAre("GRBM_GUI_ACTIVE", "SQ_LEVEL_WAVES_ACCUM",
                                                      "SQ_WAVES", "SQ_INSTS"),
                                          ElementsAre("GRBM_GUI_ACTIVE", "SQ_IFETCH_LEVEL_ACCUM")));
  EXPECT_THAT(planned.warnings,
              ElementsAre(HasSubstr("SQ_LEVEL_WAVES_ACCUM"), HasSubstr("SQ_IFETCH_LEVEL_ACCUM")));
}

TEST(PlanPasses, ChannelsShareASlotAndAreTakenAsGiven) {
  const PassPlan planned = plan(
      "gfx942", false,
      {"TCC_HIT[0]", "TCC_HIT[1]", "TCC_MISS[0]", "TCC_REQ_sum", "TCC_READ_sum", "TCC_WRITE_sum"});
  EXPECT_THAT(planned.passes, ElementsAre(ElementsAre("GRBM_GUI_ACTIVE", "TCC_HIT[0]", "TCC_HIT[1]",
                                                      "TCC_MISS[0]", "TCC_REQ_sum", "TCC_READ_sum"),
                                          ElementsAre("GRBM_GUI_ACTIVE", "TCC_WRITE_sum")));
  EXPECT_EQ(planned.warnings.size(), 3U);
}

TEST(PlanPasses, AMisspeltNameIsAnError) {
  const auto misspelt = plan_passes(table("gfx942"), true, Names{"SQ_WAVE"});
  ASSERT_FALSE(misspelt);
  EXPECT_EQ(misspelt.error().code, ErrorCode::usage);
  EXPECT_EQ(misspelt.error().message, "gfx942 has no counter SQ_WAVE");
  const auto other = plan_passes(table("gfx908"), false, Names{"TCC_EA0_RDREQ_sum"});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "gfx908 has no counter TCC_EA0_RDREQ_sum");
  EXPECT_EQ(other.error().remedy,
            "that is its name in recordings of rocprofiler-compute; "
            "rocprofv3 takes TCC_EA_RDREQ_sum");
  EXPECT_THAT(misspelt.error().remedy, HasSubstr("similar names: SQ_WAVES"));

  const auto elsewhere = plan_passes(table("gfx1100"), false, Names{"SQ_ACTIVE_INST_VALU"});
  ASSERT_FALSE(elsewhere);
  EXPECT_THAT(elsewhere.error().remedy,
              HasSubstr("counted on gfx908, gfx90a, gfx940, gfx941, gfx942, gfx950"));

  const auto derived = plan_passes(table("gfx942"), false, Names{"VmemLatenci"});
  ASSERT_FALSE(derived);
  EXPECT_THAT(derived.error().remedy, HasSubstr("VmemLatency"));

  const auto nothing_like_it = plan_passes(table("gfx942"), false, Names{"TCP_Qqqqqqqqqqqqqqqqqq"});
  ASSERT_FALSE(nothing_like_it);
  EXPECT_EQ(nothing_like_it.error().remedy, "");
}

TEST(PlanPasses, AUsersOwnCounterIsAskedForWithAWarning) {
  const PassPlan planned = plan("gfx942", false, {"MyCounter", "SQ_WAVES"});
  EXPECT_THAT(planned.passes, ElementsAre(ElementsAre("GRBM_GUI_ACTIVE", "SQ_WAVES"),
                                          ElementsAre("GRBM_GUI_ACTIVE", "MyCounter")));
  EXPECT_THAT(planned.warnings, ElementsAre("MyCounter is not among the known counters of gfx942; "
                                            "it is asked for all the same"));
}

// Any choice of counters: each is in exactly one pass, every pass fits, and there are no more
// passes than the fullest block needs.
TEST(PlanPasses, OfAnyChoiceIsCompleteFitsAndIsShort) {
  test::Prng random(20260704);
  for (const CounterTable& each : rocprof_tables()) {
    Names all;
    for (const std::string& name : each.counters)
      if (each.slots(each.block_of(name)) && name != each.in_every_pass) all.push_back(name);
    for (int round = 0; round < 20; ++round) {
      Names extra;
      const std::int64_t count = 1 + random.below(40);
      for (std::int64_t i = 0; i < count; ++i)
        extra.push_back(all[static_cast<std::size_t>(random.below(std::ssize(all)))]);
      const PassPlan planned = plan(each.gfx, false, extra);
      std::multiset<std::string> found;
      for (const Names& pass : planned.passes) {
        EXPECT_EQ(overfull_block(each, pass), "") << each.gfx;
        EXPECT_EQ(pass.front(), each.in_every_pass);
        found.insert(pass.begin() + 1, pass.end());
      }
      const std::set<std::string> wanted(extra.begin(), extra.end());
      EXPECT_TRUE(std::ranges::equal(found, wanted)) << each.gfx;
      std::map<std::string, int> by_block;
      for (const std::string& name : wanted) ++by_block[each.block_of(name)];
      int needed = 1;
      for (const auto& [block, names] : by_block) {
        const int room = each.slots(block).value() - (block == "GRBM" ? 1 : 0);
        needed = std::max(needed, (names + room - 1) / room);
      }
      EXPECT_EQ(std::ssize(planned.passes), needed) << each.gfx;
    }
  }
}

// ---------------------------------------------------------------- recorded passes

/// Counters that a file of rocprofiler-compute's perfmon folder asks for: "pmc: A B" of a text
/// file, the list under "pmc" of a job file; none in files of counter definitions.
Names asked_for(const std::filesystem::path& path) {
  std::istringstream lines(read_file(path).value());
  Names names;
  bool listing = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("pmc:")) {
      std::istringstream words(line.substr(4));
      for (std::string word; words >> word;) names.push_back(word);
    } else if (line == "- pmc:") {
      listing = true;
    } else if (listing && line.starts_with("  - ")) {
      std::string name = line.substr(4);
      std::erase(name, '\'');
      names.push_back(name);
    } else {
      listing = false;
    }
  }
  return names;
}

TEST(RecordedPasses, AllFit) {
  const std::filesystem::path root = std::filesystem::path(PERFLAB_SHARED_DIR) / "data/pmc";
  if (!std::filesystem::exists(root)) GTEST_SKIP() << "skipped: " << root << " is not there";
  const std::map<std::string, std::string> kFolders = {
      {"vcopy/MI200", "gfx90a"},
      {"vcopy/MI300X_A1", "gfx942"},
      {"vcopy/MI350", "gfx950"},
      {"vcopy_iteration_multiplexing/MI350", "gfx950"}};
  std::map<std::string, int> passes;
  for (const auto& [folder, gfx] : kFolders) {
    for (const auto& entry : std::filesystem::directory_iterator(root / folder / "perfmon")) {
      const Names names = asked_for(entry.path());
      if (names.empty()) continue;
      ++passes[folder];
      EXPECT_EQ(overfull_block(table(gfx), names), "") << entry.path();
    }
  }
  EXPECT_EQ(passes["vcopy/MI200"], 13);
  EXPECT_EQ(passes["vcopy/MI300X_A1"], 23);
  EXPECT_EQ(passes["vcopy/MI350"], 13);
  EXPECT_GT(passes["vcopy_iteration_multiplexing/MI350"], 13);
}

}  // namespace
}  // namespace perflab::hal
