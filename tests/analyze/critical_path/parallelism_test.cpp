// analyze/critical_path/parallelism.h against counting nanosecond by nanosecond, on thousands of
// random sets of operations with many equal times and zero lengths.
#include "analyze/critical_path/parallelism.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "analyze/critical_path/random_graph.h"

namespace perflab::analyze {
namespace {

using test::add_node;
using test::Prng;

/// The figures by counting: running[t] is of [t, t + 1).
struct Counted {
  std::vector<int> dispatches, copies;
  std::vector<bool> touched;  ///< an operation of no length begins at t

  explicit Counted(const Graph& graph, std::int64_t length)
      : dispatches(static_cast<std::size_t>(length), 0),
        copies(dispatches.size(), 0),
        touched(dispatches.size() + 1, false) {
    for (NodeId node = 0; node < graph.size(); ++node) {
      if (is_call(graph.kind(node))) continue;
      auto& running = graph.kind(node) == NodeKind::dispatch ? dispatches : copies;
      for (auto t = graph.start[node]; t < graph.end[node]; ++t) ++running[std::size_t(t)];
      if (graph.start[node] == graph.end[node]) touched[std::size_t(graph.start[node])] = true;
    }
  }
  [[nodiscard]] int at(std::size_t t) const { return dispatches[t] + copies[t]; }

  /// {from, to} of each stretch with nothing running that an operation ends, longest first.
  [[nodiscard]] std::vector<std::pair<std::int64_t, std::int64_t>> bubbles() const {
    std::vector<std::pair<std::int64_t, std::int64_t>> found;
    std::int64_t from = 0;
    for (std::size_t t = 0; t <= dispatches.size(); ++t) {
      const auto now = static_cast<std::int64_t>(t);
      const bool runs = t < dispatches.size() && at(t) > 0;
      if ((touched[t] || runs) && now > from) found.emplace_back(from, now);
      if (touched[t]) from = now;
      if (runs) from = now + 1;
    }
    std::ranges::stable_sort(found, {}, [](const auto& b) { return b.first - b.second; });
    return found;
  }
};

/// A run of that length with a call over all of it.
Graph random_run(Prng& prng, std::int64_t length) {
  Graph graph;
  add_node(graph, NodeKind::call, 0, length);
  for (std::int64_t i = prng.below(12); i > 0; --i) {
    const std::int64_t a = prng.below(length + 1), b = prng.below(length + 1);
    add_node(graph, prng.below(3) == 0 ? NodeKind::copy : NodeKind::dispatch, std::min(a, b),
             prng.below(5) == 0 ? std::min(a, b) : std::max(a, b));
  }
  return graph;
}

/// A random run, counted and measured.
struct RandomRun {
  explicit RandomRun(std::uint64_t seed)
      : prng(seed),
        length(seed % 4 == 0 ? 100 * (1 + prng.below(3)) : 1 + prng.below(200)),
        graph(random_run(prng, length)),
        counted(graph, length),
        found(measure_parallelism(graph, 0, length, 1000)) {}

  Prng prng;
  std::int64_t length;
  Graph graph;
  Counted counted;
  Parallelism found;
};

void check_levels(const RandomRun& run) {
  std::map<std::uint64_t, std::int64_t> levels;
  for (std::size_t t = 0; t < run.counted.dispatches.size(); ++t)
    ++levels[static_cast<std::uint64_t>(run.counted.at(t))];
  ASSERT_EQ(run.found.levels.size(), levels.size());
  for (const ConcurrencyLevel& level : run.found.levels)
    EXPECT_EQ(level.time, levels[level.running]);
}

void check_bubbles(const RandomRun& run) {
  const auto bubbles = run.counted.bubbles();
  ASSERT_EQ(run.found.bubbles.size(), bubbles.size());
  EXPECT_EQ(run.found.bubble_count, bubbles.size());
  std::int64_t bubble_time = 0;
  for (std::size_t i = 0; i < bubbles.size(); ++i) {
    const Bubble& bubble = run.found.bubbles[i];
    EXPECT_EQ(bubble.from, bubbles[i].first);
    EXPECT_EQ(bubble.to, bubbles[i].second);
    EXPECT_EQ(run.graph.start[bubble.after], bubble.to);
    EXPECT_EQ(bubble.before == kNoNode ? 0 : run.graph.end[bubble.before], bubble.from);
    bubble_time += bubble.to - bubble.from;
  }
  EXPECT_EQ(run.found.bubble_time, bubble_time);
}

void check_bins(const RandomRun& run) {
  double dispatches = 0, copies = 0, busy = 0;
  ASSERT_EQ(run.found.bins.size(), kParallelismBins);
  for (const ParallelismBin& bin : run.found.bins) {
    dispatches += bin.dispatches;
    copies += bin.copies;
    busy += bin.busy;
    EXPECT_GE(bin.busy, 0);
    EXPECT_LE(bin.busy, 1);
  }
  const double width = static_cast<double>(run.length) / 100;
  double all_dispatches = 0, all_copies = 0, all_busy = 0;
  for (std::size_t t = 0; t < run.counted.dispatches.size(); ++t) {
    all_dispatches += run.counted.dispatches[t];
    all_copies += run.counted.copies[t];
    all_busy += run.counted.at(t) > 0 ? 1 : 0;
  }
  EXPECT_NEAR(dispatches * width, all_dispatches, 1e-6);
  EXPECT_NEAR(copies * width, all_copies, 1e-6);
  EXPECT_NEAR(busy * width, all_busy, 1e-6);
  if (run.length % 100 != 0) return;
  const auto step = static_cast<std::size_t>(run.length / 100);  // bins of whole nanoseconds
  for (std::size_t bin = 0; bin < kParallelismBins; ++bin) {
    double here = 0;
    for (std::size_t t = bin * step; t < (bin + 1) * step; ++t) here += run.counted.dispatches[t];
    EXPECT_NEAR(run.found.bins[bin].dispatches * width, here, 1e-6);
  }
}

TEST(Parallelism, EqualsCounting) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    const RandomRun run(seed);
    check_levels(run);
    check_bubbles(run);
    check_bins(run);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Parallelism, KeepsTheLongestBubbles) {
  Graph graph;
  for (std::int64_t i = 0; i < 50; ++i)  // gaps of 1, 2, ... 50 before each
    add_node(graph, NodeKind::dispatch, 10 * i + (i + 1) * (i + 2) / 2,
             10 * i + (i + 1) * (i + 2) / 2 + 10);
  const Parallelism found = measure_parallelism(graph, 0, graph.end.back(), 3);
  EXPECT_EQ(found.bubble_count, 50U);
  EXPECT_EQ(found.bubble_time, 50 * 51 / 2);
  ASSERT_EQ(found.bubbles.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(found.bubbles[i].to - found.bubbles[i].from, 50 - static_cast<std::int64_t>(i));
  EXPECT_TRUE(measure_parallelism(graph, 0, graph.end.back(), 0).bubbles.empty());
}

TEST(Parallelism, OfNothing) {
  const Parallelism found = measure_parallelism({}, 0, 0, 5);
  EXPECT_TRUE(found.levels.empty());
  EXPECT_TRUE(found.bins.empty());
  EXPECT_EQ(found.bubble_count, 0U);
}

}  // namespace
}  // namespace perflab::analyze
