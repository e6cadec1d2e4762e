// Programs that launch from many threads, under ThreadSanitizer too: the sample program, the
// stand-in runtime and the library are built with it.
#include <atomic>
#include <chrono>
#include <thread>

#include "isolate/isolated.h"
#include "isolate/machine/gate.h"

namespace perflab::test {
namespace {

// Other threads may write to host memory while it is copied (the arguments of their next launch):
// the one race that is meant.
std::string with_suppression(const TempFolder& folder) {
  const auto file = folder.write("suppressions", "race:MemoryReader::from_host\n");
  return environment("TSAN_OPTIONS") + " suppressions=" + file.string();
}

TEST(IsolateThreads, OneOfManyLaunchesIsCapturedAndAllGoOn) {
  const TempFolder folder;
  const Isolated run(
      {.options = {"--kernel", "inplace", "--threads", "4", "--launches", "40", "--n", "2000"},
       .dispatch = 70,
       .environment = {{"TSAN_OPTIONS", with_suppression(folder)}}});
  ASSERT_CAPTURED(run);
  // Whichever thread it was: all of its array had been through the same number of launches.
  const auto before = run.array(false, 2000), after = run.array(true, 2000);
  ASSERT_EQ(before.size(), 2000U);
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i] - before[0], static_cast<float>(i)) << i;
    EXPECT_EQ(after[i], before[i] + 1) << i;
  }
  EXPECT_EQ(run.written().size(), 1U) << "others ran at the same time";
  EXPECT_EQ(run.outcome.events.kernels.at(0).dispatches, 160U);
}

// A queue whose thread is held at the gate does not keep the others from being asked; half of them
// have nobody who would come by.
TEST(IsolateThreads, BusyAndIdleQueuesAreDrained) {
  const TempFolder folder;
  const Isolated run({.options = {"--kernel", "inplace", "--threads", "8", "--uneven", "--launches",
                                  "50", "--n", "64"},
                      .dispatch = 150,
                      .environment = {{"TSAN_OPTIONS", with_suppression(folder)}}});
  ASSERT_CAPTURED(run);
  EXPECT_EQ(run.written().size(), 1U) << "others ran at the same time";
  EXPECT_EQ(run.outcome.events.kernels.at(0).dispatches, 204U);
}

TEST(IsolateThreads, TheGateHoldsWhatTakesMemoryAwayAndWaitsForIt) {
  using Phase = isolate::Gate::Phase;
  using std::chrono::milliseconds;
  isolate::Gate gate;
  std::atomic<int> taken{0};
  std::atomic<bool> reading{false}, wrong{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        const isolate::Gate::Taking taking(gate);
        if (reading.load()) wrong = true;
        ++taken;
      }
    });
  for (int round = 0; round < 50; ++round) {
    EXPECT_TRUE(gate.hold_queues(milliseconds(300'000)));
    gate.start_draining({7});
    EXPECT_TRUE(gate.concerns({7}));
    EXPECT_FALSE(gate.concerns({8}));
    EXPECT_TRUE(gate.start_reading(milliseconds(300'000)));
    reading = true;
    std::this_thread::yield();
    reading = false;
    gate.open();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(wrong.load());
  EXPECT_EQ(taken.load(), 600);
  EXPECT_EQ(gate.phase(), Phase::open);
  // While the dispatch runs memory may go, queues may not.
  EXPECT_TRUE(gate.hold_queues(milliseconds(300'000)));
  EXPECT_FALSE(gate.concerns({7})) << "a queue must have its signal first";
  gate.start_draining({7});
  EXPECT_TRUE(gate.start_reading(milliseconds(300'000)));
  gate.start_running();
  {
    const isolate::Gate::Taking memory(gate);
    EXPECT_FALSE(gate.start_reading(milliseconds(1))) << "memory was being taken away";
  }
  gate.open();
  {
    const isolate::Gate::Taking queue(gate, Phase::queues_held);
    EXPECT_FALSE(gate.hold_queues(milliseconds(1))) << "a queue was being taken away";
  }
  // At the end packets pass, and a queue that ends waits.
  gate.let_packets_pass();
  EXPECT_FALSE(gate.concerns({7}));
  gate.wait_for_packets();
  std::atomic<bool> ended{false};
  std::thread ending([&] {
    const isolate::Gate::Taking queue(gate, Phase::queues_held);
    EXPECT_EQ(gate.phase(), Phase::open);
    ended = true;
  });
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_FALSE(ended.load());
  gate.open();
  ending.join();
  EXPECT_TRUE(ended.load());
}

}  // namespace
}  // namespace perflab::test
