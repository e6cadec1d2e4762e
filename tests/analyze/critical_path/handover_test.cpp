// analyze/critical_path/handover.h: found for a real producer and consumer, never for lanes that
// merely run side by side. Times in ns.
#include "analyze/critical_path/handover.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "analyze/critical_path/path_recording.h"
#include "support/prng.h"

namespace perflab::analyze {
namespace {

using test::Prng;

constexpr std::int64_t kWindow = 5'000, kNoise = 1'000;

/// Operations of several lanes, numbered in the order of their start.
class Operations {
 public:
  void add(std::uint32_t lane, std::int64_t start, std::int64_t end) {
    all_.push_back({.node = 0, .lane = lane, .start = start, .end = end});
    lanes_ = std::max(lanes_, lane + 1);
  }
  std::vector<Handover> find(std::int64_t window = kWindow) {
    std::ranges::stable_sort(all_, {}, &HandoverOperation::start);
    for (std::size_t i = 0; i < all_.size(); ++i) all_[i].node = static_cast<NodeId>(i);
    return find_handovers(all_, lanes_, window, kNoise);
  }
  [[nodiscard]] const HandoverOperation& operator[](NodeId node) const { return all_[node]; }

 private:
  std::vector<HandoverOperation> all_;
  std::uint32_t lanes_ = 0;
};

/// A lane of its own rhythm: lengths and pauses that spread by `permille`.
void add_lane(Operations& operations, Prng& prng, std::uint32_t lane, std::int64_t length,
              std::int64_t pause, std::int64_t permille, std::int64_t span) {
  for (std::int64_t at = prng.below(length + pause + 1); at < span;) {
    const std::int64_t end = at + std::max<std::int64_t>(0, prng.spread(length, permille));
    operations.add(lane, at, end);
    at = end + std::max<std::int64_t>(0, prng.spread(pause, permille));
  }
}

/// Lane 1 begins 1 to 3 us after each end of lane 0, whenever that is.
Operations producer_and_consumer(int rounds, std::uint64_t seed) {
  Prng prng(seed);
  Operations operations;
  std::int64_t at = 0;
  for (int i = 0; i < rounds; ++i) {
    const std::int64_t end = at + 20'000 + prng.below(40'000);
    operations.add(0, at, end);
    const std::int64_t begin = end + 1'000 + prng.below(2'000);
    const std::int64_t done = begin + 10'000 + prng.below(20'000);
    operations.add(1, begin, done);
    at = done + 10'000 + prng.below(50'000);
  }
  return operations;
}

TEST(Handover, IsFoundForAProducerAndItsConsumer) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Operations operations = producer_and_consumer(40, seed);
    const std::vector<Handover> found = operations.find();
    ASSERT_EQ(found.size(), 40U) << seed;
    for (const Handover& handover : found) {
      EXPECT_EQ(operations[handover.from].lane, 0U);
      EXPECT_EQ(operations[handover.to].lane, 1U);
      EXPECT_EQ(handover.to, handover.from + 1);
    }
  }
}

TEST(Handover, NeedsEnoughOfThem) {
  EXPECT_EQ(producer_and_consumer(kFewestHandovers - 1, 7).find().size(), 0U);
  EXPECT_EQ(producer_and_consumer(20, 7).find().size(), 20U);
  EXPECT_EQ(producer_and_consumer(40, 7).find(0).size(), 0U);
}

TEST(Handover, IsFoundAmongLanesThatHaveNothingToDoWithIt) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Operations operations = producer_and_consumer(60, seed);
    Prng prng(seed + 1000);
    add_lane(operations, prng, 2, 70'000, 30'000, 500, 5'000'000);
    add_lane(operations, prng, 3, 8'000, 3'000, 500, 5'000'000);
    std::size_t pairs = 0;
    for (const Handover& handover : operations.find()) {
      ++pairs;
      EXPECT_EQ(operations[handover.from].lane, 0U) << seed;
      EXPECT_EQ(operations[handover.to].lane, 1U) << seed;
    }
    EXPECT_EQ(pairs, 60U) << seed;
  }
}

TEST(Handover, NeverForNoisyLanesSideBySide) {
  std::uint64_t seeds = 0;
  for (const std::int64_t a : {3'000, 20'000, 100'000, 1'000'000})
    for (const std::int64_t b : {3'000, 20'000, 100'000, 1'000'000})
      for (const std::int64_t pause : {200, 2'000, 8'000, 50'000, 400'000})
        for (const std::int64_t permille : {100, 500, 1000})
          for (std::uint64_t seed = 0; seed < 6; ++seed, ++seeds) {
            Prng prng(seeds);
            Operations operations;
            const std::int64_t span = 20 * (std::max(a, b) + pause);
            add_lane(operations, prng, 0, a, pause, permille, span);
            add_lane(operations, prng, 1, b, pause / (1 + prng.below(3)), permille, span);
            EXPECT_TRUE(operations.find().empty())
                << fmt::format("{} {} {} {} {}", a, b, pause, permille, seed);
          }
  EXPECT_EQ(seeds, 1440U);
}

TEST(Handover, NeverForLoopsInStepThatAreBackToBack) {
  for (const std::int64_t gap : {0, 100, 900, 3'000, 5'000})
    for (const std::int64_t shift : {0, 500, 10'000, 19'000, 20'000}) {
      Operations operations;
      for (std::int64_t i = 0; i < 500; ++i)
        for (std::uint32_t lane = 0; lane < 2; ++lane)
          operations.add(lane, i * 20'000 + lane * shift, i * 20'000 + lane * shift + 20'000 - gap);
      EXPECT_TRUE(operations.find().empty()) << gap << " " << shift;
    }
}

// The host launches into two streams in turn, and the kernels are shorter than a launch: each of
// them ends just before the next one of the other stream begins, but that waits for the host. When
// a kernel takes longer, the next one of the other stream does not begin later.
TEST(Handover, NeverForStreamsThatTheHostServesInTurn) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Prng prng(seed);
    Operations operations;
    for (std::int64_t i = 0; i < 500; ++i) {
      const std::int64_t start = i * 6'000 + prng.below(300);
      operations.add(static_cast<std::uint32_t>(i % 2), start, start + 2'000 + prng.below(2'500));
    }
    EXPECT_TRUE(operations.find().empty()) << seed;
  }
}

TEST(Handover, IsTakenFromKernelsAlone) {
  test::Recording r("a", {}, 1);
  for (std::int64_t i = 0; i < 30; ++i) {
    const std::int64_t at = i * 100'000 + (i * i % 7) * 3'000, end = at + 30'000 + i * 311;
    r.dispatch("produce", at, end, {.stream = 1, .queue = 1});
    r.dispatch("consume", end + 2'000, end + 20'000, {.stream = 2, .queue = 2});
  }
  const auto file = r.write();
  const test::Built b = test::build({file}, {}, 1);
  EXPECT_EQ(b.count(EdgeRule::handover), 30U);
  EXPECT_EQ(b.path.report.calls, 0U);
  EXPECT_FALSE(info(EdgeRule::handover).proven);
  for (NodeId node = 0; node < b.graph().size(); ++node) {
    if (!b.name(node).starts_with("consume")) continue;
    EXPECT_THAT(b.into(b.name(node)), testing::Contains(b.name(node - 1) + " handover"));
  }
  CriticalPathOptions options;
  options.graph.handover = 0;
  EXPECT_EQ(test::build({file}, options, 1).count(EdgeRule::handover), 0U);
}

// With launches on record nobody has to guess.
TEST(Handover, IsNotLookedForWhereLaunchesAreKnown) {
  test::Recording r("a", {}, 1);
  for (std::int64_t i = 0; i < 30; ++i) {
    const std::int64_t at = i * 100'000, end = at + 30'000 + i * 311;
    r.launch(test::kernel_call(at, at + 10), "produce", at + 20, end, {.stream = 1, .queue = 1});
    r.launch(test::kernel_call(at + 20, at + 30), "consume", end + 2'000, end + 20'000,
             {.stream = 2, .queue = 2});
  }
  EXPECT_EQ(test::build({r.write()}, {}, 1).count(EdgeRule::handover), 0U);
}

TEST(Handover, IsNeverBetweenProcesses) {
  std::vector<std::filesystem::path> files;
  for (int process = 0; process < 2; ++process) {
    test::WriterOptions options;
    options.guid = fmt::format("0000000{}-7f00-7000-8000-000000000001", process + 1);
    options.process.pid = 5000 + process;
    test::Recording r(fmt::format("p{}", process), options, 1);
    for (std::int64_t i = 0; i < 30; ++i) {
      const std::int64_t at = i * 100'000, end = at + 30'000 + i * 311;
      if (process == 0)
        r.dispatch("produce", at, end, {.stream = 1, .queue = 1});
      else
        r.dispatch("consume", end + 2'000, end + 20'000, {.stream = 2, .queue = 2});
    }
    files.push_back(r.write());
  }
  EXPECT_EQ(test::build(files, {}, 1).count(EdgeRule::handover), 0U);
}

}  // namespace
}  // namespace perflab::analyze
