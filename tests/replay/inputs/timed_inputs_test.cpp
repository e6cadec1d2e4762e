// Inputs for timing as memory: what is brought back before a dispatch, from copies on the device or
// without them, and where wrong outputs are seen.
#include "replay/inputs/timed_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "replay/kernel_bench.h"

namespace perflab::replay {
namespace {

using test::buffer;
using test::kCount;
using test::KernelBench;
using test::KernelBody;
using testing::HasSubstr;

/// Writes the integers of the input's numbers.
void to_integers(const Launch& launch) {
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto number = static_cast<std::int32_t>(buffer(launch, 0)[i] * 4);
    std::memcpy(&buffer(launch, 1)[i], &number, sizeof(number));
  }
}
std::vector<float> integers_of_the_capture() {
  std::vector<float> out(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto number = static_cast<std::int32_t>((i + 1) * 4);
    std::memcpy(&out[i], &number, sizeof(number));
  }
  return out;
}
/// The last two of four pages held the right numbers before: the captured dispatch left them as
/// they were.
std::vector<float> half_of_them() {
  std::vector<float> out = integers_of_the_capture();
  std::fill_n(out.begin(), kCount / 2, 0.0F);
  return out;
}

struct TimedBench : KernelBench {
  explicit TimedBench(const KernelBody& original = to_integers)
      : KernelBench(half_of_them(), integers_of_the_capture(), original,
                    "k(float const*, int*, unsigned int)") {}

  std::vector<std::string> steps;
  std::optional<TimedInputs> inputs;

  void prepare(const TimedInputOptions& options = {}) {
    open();
    if (!inputs)
      inputs.emplace(*session, [this](std::string_view who) -> Result<void> {
        steps.emplace_back(who);
        return {};
      });
    const auto done = inputs->prepare(options);
    ASSERT_TRUE(done) << done.error().message;
  }
  std::vector<std::byte> memory(std::size_t region) {
    std::vector<std::byte> now(kCount * 4);
    EXPECT_TRUE(session->read(region, 0, now));
    return now;
  }
  /// A dispatch of what is loaded; what is wrong with it.
  std::string run(std::uint64_t number, const std::string& who = "it") {
    EXPECT_TRUE(inputs->bring(number));
    EXPECT_TRUE(session->run());
    const auto wrong = inputs->check(who, number);
    EXPECT_TRUE(wrong);
    return wrong ? *wrong : "error";
  }
};

TEST(TimedInputMemory, IsBroughtBackWhateverWasWrittenWithCopiesOnTheDeviceAndWithout) {
  std::vector<std::vector<std::byte>> with_room;
  for (const std::uint64_t room : {UINT64_MAX, std::uint64_t{4096}}) {
    TimedBench bench;
    bench.device.room = room;
    bench.prepare({.seed = 9});
    ASSERT_EQ(bench.inputs->count(), 5);
    EXPECT_EQ(bench.inputs->captured_only_because(), "");
    std::vector<std::vector<std::byte>> now;
    for (std::uint64_t i = 0; i < 12; ++i) {
      ASSERT_TRUE(bench.inputs->bring(i));
      now.push_back(bench.memory(0));
      EXPECT_EQ(bench.memory(1), test::bytes_of_values(half_of_them())) << i;
      EXPECT_EQ(bench.run(i), "") << i;
      EXPECT_NE(bench.memory(1), test::bytes_of_values(half_of_them()));
    }
    EXPECT_EQ(now[0], now[5]);
    EXPECT_EQ(now[1], now[11]);
    EXPECT_NE(now[0], now[1]);
    if (room > 4096)
      with_room = now;
    else
      EXPECT_EQ(now, with_room);
  }
}

/// Adds one to its input, in place.
void next_number(const Launch& launch) {
  for (std::size_t i = 0; i < kCount; ++i) buffer(launch, 0)[i] += 1;
  buffer(launch, 1)[0] = buffer(launch, 0)[0];
}

TEST(TimedInputMemory, WhatIsWrittenIsPutBackAndTheRestIsNotTouched) {
  for (const std::uint64_t room : {UINT64_MAX, std::uint64_t{4096}}) {
    TimedBench bench;
    bench.device.room = room;
    bench.prepare({.seed = 9});
    ASSERT_TRUE(bench.inputs->bring(2));
    const auto input = bench.memory(0), output = bench.memory(1);
    EXPECT_TRUE(bench.inputs->is_new("it", 2));
    EXPECT_EQ(bench.run(2), "");
    EXPECT_FALSE(bench.inputs->is_new("it", 2));
    EXPECT_FALSE(bench.inputs->is_new("it", 7)) << "the same input";
    EXPECT_TRUE(bench.inputs->is_new("it", 3));
    ASSERT_TRUE(bench.session->write(0, 0, std::vector<std::byte>(4)));
    ASSERT_TRUE(bench.inputs->bring_written(2));
    EXPECT_EQ(bench.memory(1), output);
    EXPECT_NE(bench.memory(0), input) << "nobody writes there";
    ASSERT_TRUE(bench.inputs->bring(2));
    EXPECT_EQ(bench.memory(0), input);
  }
}

TEST(TimedInputMemory, AnInputThatIsWrittenInPlaceIsPutBack) {
  for (const std::uint64_t room : {UINT64_MAX, std::uint64_t{4096}}) {
    KernelBench bench(std::vector<float>(kCount, 2.0F), std::vector<float>(kCount, 0.0F),
                      next_number, "k(float*, float*, unsigned int)");
    bench.device.room = room;
    bench.open();
    TimedInputs inputs(*bench.session, [](std::string_view) { return Result<void>(); });
    const auto prepared = inputs.prepare({});
    ASSERT_TRUE(prepared) << prepared.error().message;
    const auto memory = [&] {
      std::vector<std::byte> now(kCount * 4);
      EXPECT_TRUE(bench.session->read(0, 0, now));
      return now;
    };
    ASSERT_TRUE(inputs.bring(1));
    const auto input = memory();
    ASSERT_TRUE(bench.session->run());
    EXPECT_NE(memory(), input);
    ASSERT_TRUE(inputs.bring_written(1));
    EXPECT_EQ(memory(), input);
  }
}

TEST(TimedInputMemory, IsMadeOnceAndThenTheRoomIsUsedAgain) {
  TimedBench bench;
  bench.prepare({.seed = 1});
  EXPECT_EQ(bench.steps, std::vector<std::string>(10, "original"));
  // As captured again.
  EXPECT_EQ(bench.memory(1), test::bytes_of_values(half_of_them()));
  std::vector<std::byte> captured(kCount * 4);
  ASSERT_TRUE(bench.written().read_at(0, 0, captured));
  EXPECT_EQ(bench.memory(0), captured);
  bench.prepare({.seed = 1});
  EXPECT_EQ(bench.steps.size(), 10U);
  ASSERT_TRUE(bench.inputs->bring(0));
  const int rooms = bench.device.count("allocate");
  const auto first = bench.memory(0);
  bench.prepare({.seed = 2});
  EXPECT_EQ(bench.steps.size(), 20U);
  ASSERT_TRUE(bench.inputs->bring(0));
  EXPECT_NE(bench.memory(0), first);
  EXPECT_EQ(bench.device.count("allocate"), rooms);
  bench.prepare({.scope = {}, .no_scope_because = "why"});
  EXPECT_EQ(bench.inputs->count(), 0);
  EXPECT_EQ(bench.inputs->captured_only_because(), "why");
  EXPECT_EQ(bench.steps.back(), "captured");
  ASSERT_TRUE(bench.inputs->bring(3));
  EXPECT_EQ(bench.memory(0), captured);
}

TEST(TimedInputMemory, WrongBytesAreSeenWhereverTheOriginalWrites) {
  TimedBench bench;
  bench.prepare();
  // In the captured write set, and in pages that only other inputs have written.
  for (const std::size_t element : {5U, kCount - 5U}) {
    int dispatch = 0;
    ASSERT_TRUE(bench.session->load(bench.define(
        [&](const Launch& launch) {
          to_integers(launch);
          if (++dispatch > 5) buffer(launch, 1)[element] = -3;
        },
        "wrong" + std::to_string(element))));
    for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(bench.run(i, "wrong"), "");
    EXPECT_THAT(bench.run(5, "wrong"),
                HasSubstr("on input 1 of 5 made from the captured one, 1 element differs"));
  }
}

TEST(TimedInputMemory, ACodeObjectThatWritesElsewhereIsSeenTheFirstTimeOnEachInput) {
  for (const bool varied : {true, false}) {
    TimedBench bench;
    bench.sample().add(test::kSampleBase + 0x400000, std::vector<std::byte>(4096),
                       std::vector<std::byte>(4096));
    bench.prepare(varied ? TimedInputOptions{}
                         : TimedInputOptions{.scope = {}, .no_scope_because = "why"});
    int dispatch = 0;
    ASSERT_TRUE(bench.session->load(bench.define([&](const Launch& launch) {
      to_integers(launch);
      if (++dispatch == (varied ? 3 : 1))
        *reinterpret_cast<char*>(test::kSampleBase + 0x400000 + 77) = 1;
    })));
    if (varied) {
      EXPECT_EQ(bench.run(0), "");
      EXPECT_EQ(bench.run(1), "");
    }
    EXPECT_THAT(bench.run(2), HasSubstr("1 byte was written that the original does not write"));
  }
}

TEST(TimedInputMemory, SaysWhyThereAreNone) {
  KernelBench bench(half_of_them(), integers_of_the_capture(), to_integers,
                    "k(unknown*, unknown*, unsigned int)");
  bench.open();
  TimedInputs inputs(*bench.session, {});
  ASSERT_TRUE(inputs.prepare({.scope = PerturbScope::declared}));
  EXPECT_EQ(inputs.count(), 0);
  EXPECT_THAT(inputs.captured_only_because(), HasSubstr("buffers hold numbers"));
}

TEST(TimedInputMemory, InputsOnWhichTheOriginalStraysAreSetAside) {
  // It writes to the captured memory behind its buffers, on half of the inputs; then on all.
  for (const int every : {2, 1}) {
    int others = 0;
    float last = 1;
    bool strays = true;
    TimedBench bench([&](const Launch& launch) {
      to_integers(launch);
      if (buffer(launch, 0)[0] == 1 && buffer(launch, 0)[1] == 2) return;
      if (buffer(launch, 0)[0] != last) ++others;
      last = buffer(launch, 0)[0];
      if (strays && others % every == 0) *reinterpret_cast<char*>(test::kSampleBase + 0x400000) = 1;
    });
    bench.sample().add(test::kSampleBase + 0x400000, std::vector<std::byte>(4096),
                       std::vector<std::byte>(4096));
    bench.prepare();
    EXPECT_EQ(bench.inputs->count(), every == 2 ? 4 : 0);
    EXPECT_EQ(bench.inputs->captured_only_because().empty(), every == 2);
    if (every == 1) {
      EXPECT_THAT(bench.inputs->captured_only_because(),
                  HasSubstr("none of 7 was of use: perturbed input 7 was set aside"));
    }
    strays = false;
    EXPECT_EQ(bench.run(0), "");
  }
}

}  // namespace
}  // namespace perflab::replay
