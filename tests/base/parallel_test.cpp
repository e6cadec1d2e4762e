// Loops on several threads: every index once, results in order, the first error by index.
#include "base/parallel.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <string>

namespace perflab {
namespace {

TEST(ThreadCount, IsWhatIsAskedForOrTheCores) {
  EXPECT_EQ(thread_count(3), 3U);
  EXPECT_GE(thread_count(0), 1U);
}

TEST(ParallelFor, RunsEveryIndexOnce) {
  for (const unsigned threads : {0U, 1U, 2U, 8U}) {
    std::vector<std::atomic<int>> seen(1000);
    const auto done = parallel_for(seen.size(), threads, [&](unsigned worker, std::size_t index) {
      EXPECT_LT(worker, std::max(threads, 1U));
      ++seen[index];
      return Result<void>{};
    });
    EXPECT_TRUE(done.has_value());
    for (const auto& count : seen) EXPECT_EQ(count.load(), 1);
  }
}

TEST(ParallelFor, DoesNothingForNothing) {
  EXPECT_TRUE(parallel_for(0, 4, [](unsigned, std::size_t) -> Result<void> {
                return fail(ErrorCode::internal, "was called");
              }).has_value());
}

TEST(ParallelFor, ReturnsTheFirstErrorByIndex) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    const auto done = parallel_for(100, 4, [](unsigned, std::size_t index) -> Result<void> {
      if (index == 10) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (index >= 10) return fail(ErrorCode::bad_input, std::to_string(index));
      return {};
    });
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().message, "10");
  }
}

TEST(ParallelFor, StopsAfterAnError) {
  std::atomic<int> calls{0};
  const auto done = parallel_for(1'000'000, 2, [&](unsigned, std::size_t) -> Result<void> {
    ++calls;
    return fail(ErrorCode::bad_input, "at once");
  });
  EXPECT_FALSE(done.has_value());
  EXPECT_LE(calls.load(), 2);
}

TEST(ParallelEach, RunsEveryIndexOnce) {
  std::vector<std::atomic<int>> seen(1000);
  parallel_each(seen.size(), 3, [&](std::size_t index) { ++seen[index]; });
  for (const auto& count : seen) EXPECT_EQ(count.load(), 1);
}

/// What one part waits for, a part in front of it gives: with one thread as well.
TEST(SideBySide, PartsBeginInOrder) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    std::promise<int> given;
    int taken = 0;
    const std::array<std::function<void()>, 2> parts = {[&] { given.set_value(7); },
                                                        [&] { taken = given.get_future().get(); }};
    side_by_side(parts, threads);
    EXPECT_EQ(taken, 7);
  }
}

TEST(ParallelOrdered, HandsResultsOverInOrder) {
  for (const unsigned threads : {1U, 2U, 5U}) {
    std::vector<std::size_t> order;
    const auto done = parallel_ordered<std::string>(
        200, threads,
        [](unsigned, std::size_t index) -> Result<std::string> {
          if (index % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
          return std::to_string(index);
        },
        [&](std::size_t index, std::string&& text) -> Result<void> {
          EXPECT_EQ(text, std::to_string(index));
          order.push_back(index);
          return {};
        });
    EXPECT_TRUE(done.has_value());
    std::vector<std::size_t> expected(200);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = i;
    EXPECT_EQ(order, expected);
  }
}

TEST(ParallelOrdered, ConsumesNothingAfterAnError) {
  for (const bool in_produce : {true, false}) {
    std::vector<std::size_t> consumed;
    const auto done = parallel_ordered<std::size_t>(
        1000, 4,
        [&](unsigned, std::size_t index) -> Result<std::size_t> {
          if (in_produce && index == 50) return fail(ErrorCode::bad_input, "50");
          return index;
        },
        [&](std::size_t index, std::size_t&&) -> Result<void> {
          if (!in_produce && index == 50) return fail(ErrorCode::bad_input, "50");
          consumed.push_back(index);
          return {};
        });
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().message, "50");
    EXPECT_EQ(consumed.size(), 50U);
  }
}

}  // namespace
}  // namespace perflab
