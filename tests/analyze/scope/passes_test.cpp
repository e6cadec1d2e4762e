// Which recordings are one counter pass, and how passes are numbered.
#include "analyze/scope/passes.h"

#include <gtest/gtest.h>

#include "analyze/trace_builder.h"

namespace perflab::analyze {
namespace {

using trace::Index;
using trace::kNone;
using Names = std::vector<std::string>;

/// Recordings one after the other, each with one dispatch and some counters.
class PassesTest : public testing::Test {
 protected:
  Index recording(std::optional<int> pass, const Names& counters, double value = 7) {
    const Index source = b_.source(pass);
    const Index kernel = b_.kernel("k");
    clock_ += 1000;
    const Index dispatch = b_.dispatch(kernel, {.start = clock_, .duration = 10});
    for (const std::string& name : counters) b_.value(dispatch, counter(name), value);
    return source;
  }
  Index counter(const std::string& name) {
    for (Index i = 0; i < b_.trace.counter_infos.size(); ++i)
      if (b_.trace.strings.view(b_.trace.counter_infos[i].name) == name) return i;
    return b_.counter(name);
  }

  /// A table of counters with a dispatch at each of these times.
  Index table(const Names& counters, const std::vector<std::int64_t>& starts) {
    const Index source = b_.source(1);
    b_.trace.sources.back().counter_table = true;
    const Index kernel = b_.kernel("k");
    for (const std::int64_t start : starts) {
      clock_ = std::max(clock_, start);
      const Index dispatch = b_.dispatch(kernel, {.start = start, .duration = 10});
      for (const std::string& name : counters) b_.value(dispatch, counter(name), 7);
    }
    return source;
  }

  TraceBuilder b_;
  std::int64_t clock_ = 0;
};

TEST_F(PassesTest, NobodyCountedAnything) {
  recording(std::nullopt, {});
  const Passes passes = find_passes(b_.trace);
  EXPECT_TRUE(passes.passes.empty());
  EXPECT_EQ(passes.pass_of_source, (std::vector<Index>{kNone}));
  EXPECT_FALSE(passes.has_counters(0));
}

TEST_F(PassesTest, FoldersNumberThem) {
  recording(7, {"A"});
  recording(3, {"B"});
  const Passes passes = find_passes(b_.trace);
  ASSERT_EQ(passes.passes.size(), 2U);
  EXPECT_EQ(passes.passes[0].info.number, 3);
  EXPECT_EQ(passes.passes[1].info.number, 7);
  EXPECT_TRUE(passes.passes[0].info.numbered_by_folder);
  EXPECT_EQ(passes.passes[0].info.counters, (Names{"B"}));
  EXPECT_EQ(passes.pass_of_source, (std::vector<Index>{1, 0}));
}

TEST_F(PassesTest, ProcessesOfAPassShareItsFolderWhateverTheyCounted) {
  recording(1, {"B", "A"});
  recording(1, {"C"});
  const Passes passes = find_passes(b_.trace);
  ASSERT_EQ(passes.passes.size(), 1U);
  EXPECT_EQ(passes.passes[0].info.counters, (Names{"A", "B", "C"}));
  EXPECT_EQ(passes.passes[0].info.dispatches, 2U);
  EXPECT_EQ(passes.passes[0].sources, (std::vector<Index>{0, 1}));
}

TEST_F(PassesTest, WithoutFoldersThoseWithTheSameCountersAreOne) {
  recording(std::nullopt, {"A", "B"});
  recording(std::nullopt, {"C"});
  recording(std::nullopt, {"B", "A"});
  const Passes passes = find_passes(b_.trace);
  ASSERT_EQ(passes.passes.size(), 2U);
  EXPECT_EQ(passes.passes[0].info.number, 1);
  EXPECT_FALSE(passes.passes[0].info.numbered_by_folder);
  EXPECT_EQ(passes.passes[0].sources, (std::vector<Index>{0, 2}));
  EXPECT_EQ(passes.passes[1].info.number, 2);
  EXPECT_EQ(passes.passes[1].info.counters, (Names{"C"}));
}

TEST_F(PassesTest, ThoseWithoutAFolderAreNumberedAfterTheOthers) {
  recording(std::nullopt, {"A"});
  recording(4, {"B"});
  recording(std::nullopt, {"C"});
  const Passes passes = find_passes(b_.trace);
  ASSERT_EQ(passes.passes.size(), 3U);
  EXPECT_EQ(passes.passes[0].info.number, 4);
  EXPECT_EQ(passes.passes[1].info.number, 5);
  EXPECT_EQ(passes.passes[1].info.counters, (Names{"A"}));  // it began first
  EXPECT_EQ(passes.passes[2].info.number, 6);
}

TEST_F(PassesTest, ARunWithoutCountersIsNoPassWhateverItsFolder) {
  recording(1, {});
  recording(2, {"A"});
  const Passes passes = find_passes(b_.trace);
  ASSERT_EQ(passes.passes.size(), 1U);
  EXPECT_EQ(passes.pass_of_source, (std::vector<Index>{kNone, 0}));
  EXPECT_TRUE(passes.has_counters(1));
}

TEST_F(PassesTest, KnowsWhoCountedNothingButZeros) {
  recording(1, {"A", "B"}, 0);
  recording(2, {"A"}, 3);
  recording(3, {"A"}, -1);
  const Passes passes = find_passes(b_.trace);
  EXPECT_EQ(passes.source_counted, (std::vector<bool>{false, true, true}));
}

TEST_F(PassesTest, ADispatchWithoutCountersIsNotCounted) {
  recording(1, {"A"});
  clock_ += 1000;
  b_.dispatch(0, {.start = clock_, .duration = 10});
  EXPECT_EQ(find_passes(b_.trace).passes[0].info.dispatches, 1U);
}

TEST_F(PassesTest, ATableOfWhatADatabaseHoldsIsOfNoPass) {
  recording(1, {"A", "B"});  // at 1000
  table({"A", "B"}, {1000});
  const Passes passes = find_passes(b_.trace);
  ASSERT_EQ(passes.passes.size(), 1U);
  EXPECT_EQ(passes.passes[0].sources, (std::vector<Index>{0}));
  EXPECT_EQ(passes.passes[0].info.dispatches, 1U);
  EXPECT_EQ(passes.pass_of_source, (std::vector<Index>{0, kNone}));
  EXPECT_EQ(passes.duplicates, 1U);
}

TEST_F(PassesTest, ATableWithFewerCountersOfTheSameDispatchesIsOfNoPass) {
  recording(1, {"A", "B"});
  table({"B"}, {1000});
  EXPECT_EQ(find_passes(b_.trace).duplicates, 1U);
}

TEST_F(PassesTest, ATableOfSomethingElseIsOfItsPass) {
  struct Other {
    const char* what;
    Names counters;
    std::vector<std::int64_t> starts;
  };
  for (const Other& other :
       {Other{"another time", {"A"}, {1001}}, Other{"another counter", {"A", "C"}, {1000}},
        Other{"more dispatches", {"A"}, {1000, 1100}}}) {
    SCOPED_TRACE(other.what);
    b_ = {};
    clock_ = 0;
    recording(1, {"A", "B"});
    table(other.counters, other.starts);
    const Passes passes = find_passes(b_.trace);
    EXPECT_EQ(passes.duplicates, 0U);
    EXPECT_EQ(passes.pass_of_source, (std::vector<Index>{0, 0}));
  }
}

TEST_F(PassesTest, DatabasesNeverRepeatEachOther) {
  // Two processes that began at the same time.
  b_.source(1);
  const Index first = b_.dispatch(b_.kernel("k"), {.start = 1000, .duration = 10});
  b_.value(first, counter("A"), 7);
  b_.source(1);
  const Index second = b_.dispatch(b_.kernel("k"), {.start = 1000, .duration = 10});
  b_.value(second, counter("A"), 7);
  const Passes passes = find_passes(b_.trace);
  EXPECT_EQ(passes.duplicates, 0U);
  EXPECT_EQ(passes.passes.at(0).sources, (std::vector<Index>{0, 1}));
}

}  // namespace
}  // namespace perflab::analyze
