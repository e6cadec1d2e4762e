// The counter tables of NVIDIA GPUs (hal/counters/sm_90.json) against the real CUPTI of this
// machine: every chip has each counter of its architecture's table, and lacks what the table says
// that it lacks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "cuda/profiler_host.h"
#include "hal/counter_catalogue.h"
#include "hal/pass_plan.h"

namespace perflab::cuda {
namespace {

constexpr std::uint32_t kComparedVersion = 130001;  // later libraries may have more

/// The counter tables that CUPTI counts.
std::vector<const hal::CounterTable*> cupti_tables() {
  std::vector<const hal::CounterTable*> found;
  for (const hal::CounterTable& table : hal::all_counter_tables())
    if (table.profiler == hal::CounterProfiler::cupti) found.push_back(&table);
  return found;
}

std::set<std::string> names_of(const hal::CounterTable& table) {
  std::set<std::string> names(table.counters.begin(), table.counters.end());
  names.insert(table.derived.begin(), table.derived.end());
  return names;
}

class MetricTables : public testing::Test {
 protected:
  void SetUp() override {
    if (PERFLAB_SANITIZED)
      GTEST_SKIP() << "sanitizers refuse to load libnvperf_host.so: preset edit runs this";
    library_ = open_cupti();
    if (library_.problem != LibraryProblem::none) GTEST_SKIP() << library_.detail;
    profiler_ = profiler_of(library_);
    if (const char* const missing = missing_entry(profiler_, false))
      GTEST_SKIP() << library_.path << " has no " << missing;
    if (library_.version != kComparedVersion) GTEST_SKIP() << "CUPTI " << library_.version;
  }

  CuptiLibrary library_;
  Profiler profiler_{};
};

TEST_F(MetricTables, EveryChipHasTheCountersOfItsTableAndNoneThatItLacks) {
  std::set<std::string> all;
  for (const hal::CounterTable* const table : cupti_tables()) all.merge(names_of(*table));
  ASSERT_GT(all.size(), 50U);
  const std::vector<std::string> wanted(all.begin(), all.end());
  for (const hal::CounterTable* const table : cupti_tables()) {
    const std::set<std::string> own = names_of(*table);
    ASSERT_FALSE(table->chips.empty()) << table->gfx;
    for (const std::string& chip : table->chips) {
      SCOPED_TRACE(table->gfx + " " + chip);
      const auto plan = plan_metrics(profiler_, chip, wanted);
      ASSERT_TRUE(plan);
      ASSERT_EQ(plan->groups.size(), 1U);
      const auto& has = plan->groups[0].metrics;
      EXPECT_EQ(std::set<std::string>(has.begin(), has.end()), own);
    }
  }
}

TEST_F(MetricTables, TheSetsOfAnH100TakeSixteenPasses) {
  const hal::CounterTable* const table = hal::find_counter_table("sm_90");
  ASSERT_NE(table, nullptr);
  const auto passes = hal::plan_passes(*table, true, {});
  ASSERT_TRUE(passes);
  ASSERT_EQ(passes->passes.size(), 1U);
  const auto plan = plan_metrics(profiler_, table->chips.front(), passes->passes.front());
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->refused.empty());
  ASSERT_EQ(plan->groups.size(), 1U);
  EXPECT_EQ(plan->groups[0].passes, 16U);
}

}  // namespace
}  // namespace perflab::cuda
