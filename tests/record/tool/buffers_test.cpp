// Buffers between threads: nothing lost, memory bounded, no waiting for oneself.
#include "record/tool/buffers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

namespace perflab::record {
namespace {

using std::chrono::milliseconds;

TEST(RecordBuffers, AreUsedAgain) {
  Buffers buffers;
  std::uint8_t* first = buffers.get(true);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(buffers.given_out(), 1U);
  buffers.put_filled(first, 40);
  EXPECT_EQ(buffers.given_out(), 0U);
  const auto filled = buffers.next(milliseconds(1000));
  ASSERT_TRUE(filled);
  EXPECT_EQ(filled->data, first);
  EXPECT_EQ(filled->valid_bytes, 40U);
  buffers.reuse(first);
  EXPECT_EQ(buffers.get(true), first);
  buffers.put_filled(first, 0);
  buffers.reuse(buffers.next(milliseconds(0))->data);
}

TEST(RecordBuffers, WhoAsksWaitsForASlowWriterAndNothingIsLost) {
  Buffers buffers;
  constexpr std::size_t kAll = 2 * Buffers::kMostWaiting;
  std::atomic<std::size_t> most{0}, asked{0};
  std::thread program([&] {
    for (std::size_t i = 1; i <= kAll; ++i) {
      std::uint8_t* data = buffers.get(true);
      ++asked;
      buffers.put_filled(data, i);
    }
    buffers.close();
  });
  std::size_t sum = 0, taken = 0;
  while (const auto filled = buffers.next(milliseconds(2000))) {
    ++taken;
    most = std::max(most.load(), asked - taken);
    sum += filled->valid_bytes;
    std::this_thread::sleep_for(milliseconds(1));
    buffers.reuse(filled->data);
  }
  program.join();
  EXPECT_EQ(sum, kAll * (kAll + 1) / 2);
  EXPECT_LE(most, Buffers::kMostWaiting + 2);
}

TEST(RecordBuffers, OurOwnThreadsDoNotWait) {
  Buffers buffers;
  for (std::size_t i = 0; i < Buffers::kMostWaiting + 3; ++i)
    buffers.put_filled(buffers.get(false), 1);
  std::size_t left = 0;
  buffers.close();
  while (const auto filled = buffers.next(milliseconds(0))) {
    buffers.reuse(filled->data);
    ++left;
  }
  EXPECT_EQ(left, Buffers::kMostWaiting + 3);
}

TEST(RecordBuffers, AfterTheEndThereAreNone) {
  Buffers buffers;
  buffers.close();
  EXPECT_EQ(buffers.get(true), nullptr);
  EXPECT_FALSE(buffers.next(milliseconds(60'000)));
}

}  // namespace
}  // namespace perflab::record
