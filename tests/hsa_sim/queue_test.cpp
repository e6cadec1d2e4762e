// Queues, packets and interception: docs/facts/hsa_runtime.md, from "Handlers" to "Other doors",
// "Dispatch", and its "Statuses" that belong there.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "hsa_sim/sim_session.h"

namespace perflab::test {
namespace {

using namespace hsa;
using namespace hsa::sim;

constexpr std::uint32_t kElements = 256;

/// A session with one code object of several kernels and an array.
struct Bench : SimSession {
  explicit Bench(std::same_as<Set> auto... set) : SimSession(set...) {
    executable = load(sim_code_object(
        {{.name = "inplace"}, {.name = "slow"}, {.name = "reverse"}, {.name = "empty"}}));
    x = allocate<float>(kElements);
  }

  [[nodiscard]] KernelDispatchPacket add_one(Signal done = {}) const {
    return packet(executable, "inplace", ArrayArguments{.x = x, .n = kElements}, done);
  }
  [[nodiscard]] KernelDispatchPacket fill_slowly(Signal done = {},
                                                 std::uint32_t milliseconds = 40) const {
    return packet(executable, "slow",
                  SlowArguments{.x = x, .n = kElements, .value = 6, .milliseconds = milliseconds},
                  done);
  }

  Executable executable{};
  float* x = nullptr;
};

/// What a packet handler was given.
struct Call {
  std::uint64_t count = 0, index = 0;
  std::thread::id thread;
  std::vector<std::uint16_t> types;
};

/// An intercept queue whose handler passes everything on, or does something else.
class Intercepted {
 public:
  using Action = std::function<void(Intercepted&, const KernelDispatchPacket* packets,
                                    std::uint64_t count, PacketWriter writer)>;

  explicit Intercepted(const SimSession& session, Action action = pass_on, std::uint32_t size = 64)
      : action_(std::move(action)) {
    EXPECT_EQ(session.table_api.amd.queue_intercept_create(session.gpu, size, 0, nullptr, nullptr,
                                                           UINT32_MAX, UINT32_MAX, &queue),
              success);
    EXPECT_EQ(session.table_api.amd.queue_intercept_register(queue, handle, this), success);
  }
  Intercepted(const Intercepted&) = delete;
  Intercepted& operator=(const Intercepted&) = delete;

  static void pass_on(Intercepted&, const KernelDispatchPacket* packets, std::uint64_t count,
                      PacketWriter writer) {
    writer(packets, count);
  }

  [[nodiscard]] std::vector<Call> calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

  Queue* queue = nullptr;

 private:
  static void handle(const void* packets, std::uint64_t count, std::uint64_t index, void* data,
                     PacketWriter writer) {
    auto& self = *static_cast<Intercepted*>(data);
    const auto* const typed = static_cast<const KernelDispatchPacket*>(packets);
    {
      const std::lock_guard lock(self.mutex_);
      Call& call = self.calls_.emplace_back(
          Call{.count = count, .index = index, .thread = std::this_thread::get_id(), .types = {}});
      for (std::uint64_t i = 0; i < count; ++i) call.types.push_back(type_of(typed[i].header));
    }
    self.action_(self, typed, count, writer);
  }

  std::mutex mutex_;
  std::vector<Call> calls_;
  Action action_;
};

// Fact 4: a kernel without a signal runs; the barrier behind it tells when.
TEST(HsaSimQueues, RunKernelsWithoutASignal) {
  const Bench bench;
  Queue* const queue = bench.queue();
  const Signal done = bench.signal();
  bench.submit(queue, {bench.add_one(), bench.add_one(), SimSession::barrier(done)});
  ASSERT_TRUE(bench.wait(done));
  EXPECT_EQ(bench.x[0], 2);
  EXPECT_EQ(bench.x[kElements - 1], 2);
  EXPECT_EQ(bench.api.core.queue_destroy(queue), success);
}

// An empty ring does not mean an idle queue: the read index goes ahead.
TEST(HsaSimQueues, PassTheReadIndexBeforeThePacketIsDone) {
  const SimSession session;
  Queue* const queue = session.queue();
  const Signal gate = session.signal(), done = session.signal();
  session.submit(queue, {SimSession::barrier(done, {gate})});
  while (session.api.core.queue_load_read_index_scacquire(queue) == 0) std::this_thread::yield();
  EXPECT_EQ(session.api.core.signal_load_scacquire(done), 1);
  EXPECT_EQ(session.api.core.queue_load_write_index_relaxed(queue), 1U);
  session.api.core.signal_store_screlease(gate, 0);
  EXPECT_TRUE(session.wait(done));
}

TEST(HsaSimQueues, WrapAroundTheirRing) {
  const Bench bench;
  Queue* const queue = bench.queue(64);
  for (int i = 0; i < 50; ++i) {
    const Signal done = bench.signal();
    bench.submit(queue, {bench.add_one(), bench.add_one(), bench.add_one(done)});
    ASSERT_TRUE(bench.wait(done));
    EXPECT_EQ(bench.api.core.signal_destroy(done), success);
  }
  EXPECT_EQ(bench.x[0], 150);
}

TEST(HsaSimQueues, OfTwoRunAtTheSameTime) {
  const Bench bench;
  const Signal first = bench.signal(), second = bench.signal();
  bench.submit(bench.queue(), {SimSession::barrier(first, {second})});
  bench.submit(bench.queue(), {bench.add_one(second)});
  EXPECT_TRUE(bench.wait(first)) << "the first waits for the second";
}

TEST(HsaSimQueues, WaitForAllOrForOneOfTheSignals) {
  const Bench bench;
  Queue* const queue = bench.queue();
  const Signal a = bench.signal(), b = bench.signal(), one = bench.signal(), all = bench.signal(),
               neither = bench.signal();
  bench.submit(queue, {SimSession::barrier(one, {a, b}, packet_type::barrier_or),
                       SimSession::barrier(all, {a, b}), SimSession::barrier(neither)});
  EXPECT_FALSE(bench.wait(one, 20'000'000));
  bench.api.core.signal_store_screlease(b, 0);
  EXPECT_TRUE(bench.wait(one));
  EXPECT_FALSE(bench.wait(all, 20'000'000));
  bench.api.core.signal_store_relaxed(a, 0);
  EXPECT_TRUE(bench.wait(all));
  EXPECT_TRUE(bench.wait(neither));
}

TEST(HsaSimQueues, CompleteVendorPackets) {
  const Bench bench;
  const Signal done = bench.signal();
  KernelDispatchPacket vendor{};
  vendor.header = packet_type::vendor | 1U << header::barrier_bit;
  vendor.completion_signal = done;
  bench.submit(bench.queue(), {vendor});
  EXPECT_TRUE(bench.wait(done));
}

// "Completion signals": whatever the signal's value is, 1 is subtracted.
TEST(HsaSimQueues, SubtractFromTheSignal) {
  const Bench bench;
  const Signal five = bench.signal(5), zero = bench.signal(0), last = bench.signal();
  bench.submit(bench.queue(), {bench.add_one(five), bench.add_one(zero), bench.add_one(last)});
  ASSERT_TRUE(bench.wait(last));
  EXPECT_EQ(bench.api.core.signal_load_relaxed(five), 4);
  EXPECT_EQ(bench.api.core.signal_load_relaxed(zero), -1);
  bench.api.core.signal_subtract_screlease(five, 3);
  EXPECT_EQ(bench.api.core.signal_load_relaxed(five), 1);
  EXPECT_EQ(bench.api.core.signal_destroy(five), success);
  EXPECT_EQ(bench.api.core.signal_destroy(five), success) << "7: twice succeeds";
}

// "Times of dispatches"
TEST(HsaSimQueues, TellTheTimesOfADispatch) {
  const Bench bench;
  Queue* const queue = bench.queue();
  EXPECT_EQ(bench.api.amd.profiling_set_profiler_enabled(queue, 1), success);
  EXPECT_EQ(bench.api.amd.profiling_set_profiler_enabled(nullptr, 1), Status::invalid_queue);
  const Signal done = bench.signal(), unused = bench.signal();
  bench.submit(queue, {bench.fill_slowly(done)});
  ASSERT_TRUE(bench.wait(done));
  DispatchTime time{};
  const auto get = [&](Agent agent, Signal signal) {
    return bench.api.amd.profiling_get_dispatch_time(agent, signal, &time);
  };
  EXPECT_EQ(get(bench.gpu, done), success);
  EXPECT_GE(time.end - time.start, 40'000'000U) << "nanoseconds";
  EXPECT_LT(time.end - time.start, 20'000'000'000U);
  EXPECT_EQ(get(bench.gpu, unused), success);
  EXPECT_EQ(time.start, 0U);
  EXPECT_EQ(get(bench.cpu, done), Status::invalid_agent);
  EXPECT_EQ(get(bench.gpu, Signal{}), Status::invalid_argument);
}

TEST(HsaSimQueues, AnswerMisuseWithTheRealStatuses) {
  const SimSession session;
  Queue* made = nullptr;
  const auto create = [&](Agent agent, std::uint32_t size) {
    return session.api.core.queue_create(agent, size, 0, nullptr, nullptr, 0, 0, &made);
  };
  EXPECT_EQ(create(session.gpu, 32), Status::invalid_argument);
  EXPECT_EQ(create(session.gpu, 100), Status::invalid_argument);
  EXPECT_EQ(create(session.gpu, 262144), Status::out_of_resources);
  EXPECT_EQ(create(session.cpu, 64), Status::error);
  EXPECT_EQ(create(Agent{}, 64), Status::invalid_agent);
  EXPECT_EQ(create(session.gpu, 64), success);
  EXPECT_EQ(
      session.table_api.amd.queue_intercept_register(
          made, [](const void*, std::uint64_t, std::uint64_t, void*, PacketWriter) {}, nullptr),
      Status::invalid_queue)
      << "3.7: a plain queue";
  EXPECT_EQ(session.api.core.queue_destroy(made), success);
  EXPECT_DEATH(session.api.core.queue_destroy(made), "queue is destroyed");
}

// ROCr 1.21: the runtime owns it, and an intercept queue over it believes that it does.
TEST(HsaSimQueues, ShareTheOneOfCooperativeLaunches) {
  const auto create = [](const SimSession& session) {
    Queue* made = nullptr;
    EXPECT_EQ(session.api.core.queue_create(session.gpu, 64, queue_cooperative, nullptr, nullptr, 0,
                                            0, &made),
              success);
    return made;
  };
  {
    const SimSession session;
    Queue* const made = create(session);
    EXPECT_EQ(create(session), made);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(session.api.core.queue_destroy(made), success);
    EXPECT_DEATH(session.api.core.queue_destroy(made), "queue is destroyed");
  }
  const auto intercept_and_destroy = [] {
    const SimSession session;
    Queue* made = nullptr;
    session.table_api.amd.queue_intercept_create(session.gpu, 64, queue_cooperative, nullptr,
                                                 nullptr, 0, 0, &made);
    session.api.core.queue_destroy(made);
  };
  EXPECT_DEATH(intercept_and_destroy(), "cooperative launches is destroyed twice");
}

// The barrier bit: without it kernels of one queue may overlap, as on hardware.
TEST(HsaSimQueues, MayOverlapKernelsWithoutTheBarrierBit) {
  const Bench bench(Set{"HSA_SIM_OVERLAP", "1"});
  Queue* const queue = bench.queue();
  auto* const y = bench.allocate<float>(kElements);
  const Signal slow = bench.signal(), quick = bench.signal(), last = bench.signal();
  KernelDispatchPacket first = bench.fill_slowly(slow, 3000);
  first.header = packet_type::kernel_dispatch;
  KernelDispatchPacket second =
      bench.packet(bench.executable, "inplace", ArrayArguments{.x = y, .n = kElements}, quick);
  second.header = packet_type::kernel_dispatch;
  bench.submit(queue, {first, second, bench.add_one(last)});
  ASSERT_TRUE(bench.wait(quick));
  EXPECT_EQ(bench.api.core.signal_load_scacquire(slow), 1) << "still at work";
  ASSERT_TRUE(bench.wait(last));
  EXPECT_EQ(bench.x[0], 7) << "the barrier bit of the third waited";
}

TEST(HsaSimQueues, HangOrFaultByInjection) {
  static std::atomic<Status> reported{success};
  const auto note = [](Status status, Queue*, void*) { reported = status; };
  const Bench bench(Set{"HSA_SIM_FAULT", "dispatch@2=hang,dispatch@3=fault"});
  Queue* const hanging = bench.queue();
  Queue* const faulting = bench.queue(64, note);
  const Signal fine = bench.signal(), stuck = bench.signal(), never = bench.signal();
  bench.submit(hanging, {bench.add_one(fine), bench.add_one(stuck)});
  EXPECT_TRUE(bench.wait(fine));
  EXPECT_FALSE(bench.wait(stuck, 50'000'000));
  bench.submit(faulting, {bench.add_one(never)});
  while (reported == success) std::this_thread::yield();
  EXPECT_EQ(reported.load(), Status::memory_fault);
  EXPECT_FALSE(bench.wait(never, 20'000'000));
  EXPECT_EQ(bench.x[0], 1);
  EXPECT_EQ(bench.api.core.queue_destroy(hanging), success) << "a queue that hangs can be ended";
}

// Fact 5: all packets up to the write index come in one call, on the thread that rings.
TEST(HsaSimInterception, HandsOverWholeBatches) {
  const Bench bench;
  Intercepted on(bench);
  const Signal done = bench.signal(3);
  bench.submit(on.queue, {bench.add_one(done)});
  bench.submit(on.queue, {bench.add_one(done), SimSession::barrier({}), bench.add_one(done)});
  ASSERT_TRUE(bench.wait(done));
  const auto calls = on.calls();
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].count, 1U);
  EXPECT_EQ(calls[1].count, 3U);
  EXPECT_EQ(calls[1].index, 1U);
  EXPECT_EQ(calls[1].types, (std::vector<std::uint16_t>{2, 3, 2}));
  EXPECT_EQ(calls[1].thread, std::this_thread::get_id());
  EXPECT_EQ(bench.x[0], 3);
}

TEST(HsaSimInterception, HandsOverOneByOneAsOlderRuntimesDo) {
  const Bench bench(Set{"HSA_SIM_ONE_PACKET", "1"});
  Intercepted on(bench);
  const Signal done = bench.signal(3);
  bench.submit(on.queue, {bench.add_one(done), bench.add_one(done), bench.add_one(done)});
  ASSERT_TRUE(bench.wait(done));
  const auto calls = on.calls();
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[2].index, 2U);
  EXPECT_EQ(calls[2].count, 1U);
}

// "Handlers": a batch that wraps is handed over in one piece.
TEST(HsaSimInterception, HandsOverABatchAcrossTheRingsEnd) {
  const Bench bench;
  Intercepted on(bench);
  for (int i = 0; i < 63; ++i) bench.submit(on.queue, {SimSession::barrier({})});
  const Signal done = bench.signal(3);
  bench.submit(on.queue, {bench.add_one(done), SimSession::barrier(done), bench.add_one(done)});
  ASSERT_TRUE(bench.wait(done));
  const Call last = on.calls().back();
  EXPECT_EQ(last.count, 3U);
  EXPECT_EQ(last.index, 63U);
  EXPECT_EQ(last.types, (std::vector<std::uint16_t>{2, 3, 2}));
}

// A packet whose header is not written yet ends the batch.
TEST(HsaSimInterception, StopsAtAPacketThatIsNotValidYet) {
  const Bench bench;
  Intercepted on(bench);
  const Signal done = bench.signal(2);
  KernelDispatchPacket unfinished = bench.add_one(done);
  const std::uint16_t header = std::exchange(unfinished.header, packet_type::invalid);
  bench.submit(on.queue, {bench.add_one(done), unfinished});
  EXPECT_EQ(on.calls().at(0).count, 1U);
  auto* const slot = static_cast<KernelDispatchPacket*>(on.queue->base_address) + 1;
  __atomic_store_n(&slot->header, header, __ATOMIC_RELEASE);
  bench.api.core.signal_store_relaxed(on.queue->doorbell_signal, 1);
  EXPECT_TRUE(bench.wait(done));
  EXPECT_EQ(on.calls().size(), 2U);
}

// "Writer": what is not written does not run; what is written more does.
TEST(HsaSimInterception, RunsWhatTheWriterIsGiven) {
  const Bench bench;
  const Signal extra = bench.signal();
  Intercepted on(bench, [&](Intercepted&, const KernelDispatchPacket* packets, std::uint64_t count,
                            PacketWriter writer) {
    if (count == 1) return;  // dropped
    writer(packets, 1);
    const KernelDispatchPacket mine = SimSession::barrier(extra);
    writer(&mine, 1);
    writer(packets + 1, count - 1);
  });
  const Signal dropped = bench.signal(), done = bench.signal(2);
  bench.submit(on.queue, {bench.add_one(dropped)});
  bench.submit(on.queue, {bench.add_one(done), bench.add_one(done)});
  EXPECT_TRUE(bench.wait(done));
  EXPECT_TRUE(bench.wait(extra));
  EXPECT_FALSE(bench.wait(dropped, 20'000'000));
  EXPECT_EQ(bench.x[0], 2);
}

// "Handlers": the last registered handler is called first, and its writer feeds the earlier one.
TEST(HsaSimInterception, StacksItsHandlers) {
  const Bench bench;
  Intercepted on(bench);
  ASSERT_EQ(
      bench.table_api.amd.queue_intercept_register(
          on.queue,
          [](const void* packets, std::uint64_t count, std::uint64_t, void*, PacketWriter writer) {
            for (std::uint64_t i = 0; i < count; ++i)
              writer(static_cast<const KernelDispatchPacket*>(packets) + i, 1);
          },
          nullptr),
      success);
  const Signal done = bench.signal(2);
  bench.submit(on.queue, {bench.add_one(done), bench.add_one(done)});
  ASSERT_TRUE(bench.wait(done));
  EXPECT_EQ(on.calls().size(), 2U) << "split by the handler above";
}

// Fact 9: waiting for own packets and copies inside the handler.
TEST(HsaSimInterception, MayWaitForItsOwnPacketsInside) {
  const Bench bench;
  float before = -1, after = -1, copied = -1;
  Intercepted on(bench, [&](Intercepted&, const KernelDispatchPacket* packets, std::uint64_t count,
                            PacketWriter writer) {
    const Signal drained = bench.signal(), ran = bench.signal(), read = bench.signal();
    const KernelDispatchPacket mine = SimSession::barrier(drained);
    writer(&mine, 1);
    EXPECT_TRUE(bench.wait(drained));
    before = bench.x[0];
    KernelDispatchPacket changed = packets[0];
    changed.completion_signal = ran;
    writer(&changed, 1);
    EXPECT_TRUE(bench.wait(ran));
    after = bench.x[0];
    EXPECT_EQ(bench.api.amd.memory_async_copy(&copied, bench.cpu, bench.x, bench.gpu, sizeof copied,
                                              0, nullptr, read),
              success);
    EXPECT_TRUE(bench.wait(read));
    // "Completion signals": the replaced signal is the handler's to subtract from.
    bench.api.core.signal_subtract_screlease(packets[0].completion_signal, 1);
    writer(packets + 1, count - 1);
  });
  const Signal done = bench.signal(5);
  bench.submit(on.queue, {bench.add_one(done)});
  EXPECT_EQ(before, 0);
  EXPECT_EQ(after, 1);
  EXPECT_EQ(copied, 1);
  EXPECT_EQ(bench.api.core.signal_load_relaxed(done), 4);
}

// "Waiting in a handler": another queue is drained from inside; its handler runs on another thread.
TEST(HsaSimInterception, MayDrainAnotherQueueInside) {
  const Bench bench;
  Intercepted other(bench);
  float seen = -1;
  Intercepted on(bench, [&](Intercepted&, const KernelDispatchPacket* packets, std::uint64_t count,
                            PacketWriter writer) {
    const Signal drained = bench.signal();
    bench.submit(other.queue, {SimSession::barrier(drained)});
    EXPECT_TRUE(bench.wait(drained));
    seen = bench.x[0];
    writer(packets, count);
  });
  bench.submit(other.queue, {bench.fill_slowly()});
  const Signal done = bench.signal();
  bench.submit(on.queue, {bench.add_one(done)});
  ASSERT_TRUE(bench.wait(done));
  EXPECT_EQ(seen, 6) << "what ran there had ended";
  const auto calls = other.calls();
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].thread, std::this_thread::get_id());
  EXPECT_NE(calls[1].thread, std::this_thread::get_id());
}

TEST(HsaSimInterception, SeesEveryPacketOfManyThreadsOnce) {
  const Bench bench;
  Intercepted on(bench, Intercepted::pass_on, 256);
  constexpr int kThreads = 4, kEach = 40;
  const Signal done = bench.signal(kThreads * kEach);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < kEach; ++k) bench.submit(on.queue, {SimSession::barrier(done)});
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(bench.wait(done));
  std::uint64_t packets = 0;
  for (const Call& call : on.calls()) {
    EXPECT_EQ(call.index, packets);
    packets += call.count;
  }
  EXPECT_EQ(packets, std::uint64_t{kThreads * kEach});
}

}  // namespace
}  // namespace perflab::test
