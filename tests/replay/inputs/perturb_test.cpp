// Inputs that were not captured: what is varied and how, and what right, overfitted and faulty code
// objects are told on them.
#include "replay/inputs/perturb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/enum_names.h"
#include "replay/kernel_bench.h"
#include "replay/verify/verify.h"

namespace perflab::replay {
namespace {

using test::buffer;
using test::kCount;
using test::KernelBench;
using test::KernelBody;
using test::kOut;
using test::kSampleBase;
using testing::HasSubstr;

void halve(const Launch& launch) {
  for (std::size_t i = 0; i < kCount; ++i) buffer(launch, 1)[i] = buffer(launch, 0)[i] / 2;
}
std::vector<float> halves() {
  std::vector<float> out(kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) out[i] = (static_cast<float>(i) + 1) / 2;
  return out;
}

/// out = in / 2 into zeros.
struct HalvesBench : KernelBench {
  explicit HalvesBench(KernelBody original = halve,
                       std::string demangled = "k(float const*, float*, unsigned int)")
      : KernelBench(std::vector<float>(kCount), halves(), std::move(original),
                    std::move(demangled)) {}

  PerturbedResult perturb(const KernelBody& other = {}, PerturbOptions options = {}) {
    if (other) options.code_object = define(other);
    open();
    auto result = verify_perturbed(*session, options);
    EXPECT_TRUE(result) << result.error().message;
    return result ? std::move(*result) : PerturbedResult{};
  }
  PerturbedMemory memory(PerturbScope scope = PerturbScope::guessed,
                         std::optional<ElementType> given = {}) {
    auto arguments = pointer_arguments(written());
    EXPECT_TRUE(arguments);
    auto made = PerturbedMemory::make(written(), *arguments, given, scope);
    EXPECT_TRUE(made);
    return std::move(*made);
  }
  /// The session holds the captured bytes and runs the captured code.
  void expect_restored() {
    ASSERT_TRUE(session->runs_original());
    std::vector<std::byte> now(kCount * 4), then(kCount * 4);
    for (const std::size_t region : {0U, 1U}) {
      ASSERT_TRUE(session->read(region, 0, now));
      ASSERT_TRUE(written().read_at(region, 0, then));
      EXPECT_EQ(now, then);
    }
  }
};

std::vector<float> applied(const PerturbedMemory& memory, std::vector<float> values,
                           std::uint64_t* changed = nullptr, std::size_t region = 0) {
  const std::uint64_t count = memory.apply(region, 0, std::as_writable_bytes(std::span(values)));
  if (changed != nullptr) *changed = count;
  return values;
}
std::vector<std::uint32_t> sorted_bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  std::ranges::sort(bits);
  return bits;
}

TEST(PerturbedMemory, VariesEveryFloatThatAnArgumentPointsTo) {
  HalvesBench bench;
  PerturbedMemory memory = bench.memory();
  ASSERT_EQ(memory.spans().size(), 2U);
  EXPECT_EQ(memory.spans()[0].region, 0U);
  EXPECT_EQ(memory.spans()[0].end, kCount * 4U);
  EXPECT_EQ(memory.spans()[0].type, ElementType::f32);
  EXPECT_EQ(memory.spans()[0].type_from, "the kernel's arguments");
  std::vector<float> values(1024);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = (i % 3 == 0 ? -1.0F : 1.0F) * static_cast<float>(i + 1);
  std::uint64_t changed = 0;
  memory.choose(1, 1);
  const std::vector<float> first = applied(memory, values, &changed);
  EXPECT_GT(changed, 1000U);
  std::uint64_t equal = 0;
  for (std::size_t i = 0; i < values.size(); ++i) equal += first[i] == values[i];
  EXPECT_EQ(changed, values.size() - equal);
  const auto negative = [](float value) { return std::signbit(value); };
  EXPECT_EQ(std::ranges::count_if(first, negative), std::ranges::count_if(values, negative));
  // A quarter keeps its value; the others stay within an octave below, and nothing grows.
  std::size_t kept = 0;
  for (const float value : first) {
    ASSERT_TRUE(std::isfinite(value));
    EXPECT_LE(std::fabs(value), 1024.0F);
    EXPECT_GE(std::fabs(value), 0.25F);
    kept += value == std::floor(value);
  }
  EXPECT_GT(kept, 200U);
  EXPECT_LT(kept, 320U);
  // The same seed and number give the same bytes; others do not.
  memory.choose(2, 1);
  EXPECT_NE(applied(memory, values), first);
  memory.choose(1, 2);
  EXPECT_NE(applied(memory, values), first);
  memory.choose(1, 1);
  EXPECT_EQ(applied(memory, values), first);
  // One page at a time is the same as all at once.
  std::vector<float> whole(2048, 3.5F), pages(whole);
  memory.apply(0, 0, std::as_writable_bytes(std::span(whole)));
  memory.apply(0, 0, std::as_writable_bytes(std::span(pages).first(1024)));
  memory.apply(0, 4096, std::as_writable_bytes(std::span(pages).subspan(1024)));
  EXPECT_EQ(whole, pages);
  EXPECT_FALSE(std::equal(whole.begin(), whole.begin() + 1024, whole.begin() + 1024));
}

TEST(PerturbedMemory, NanInfinityAndAddressesStayAndZerosTakeTurns) {
  HalvesBench bench;
  PerturbedMemory memory = bench.memory();
  std::vector<float> values(1024);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = i % 2 == 0 ? 0.0F : static_cast<float>(i);
  values[100] = std::numeric_limits<float>::quiet_NaN();
  values[101] = -std::numeric_limits<float>::infinity();
  values[102] = -0.0F;
  const std::uint64_t address = kOut + 64;
  std::memcpy(&values[200], &address, sizeof(address));
  const auto zeros_kept = [&](const std::vector<float>& now) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < now.size(); i += 2) kept += now[i] == 0;
    return kept;
  };
  const auto zeros_in = [](const std::vector<float>& now) { return std::ranges::count(now, 0.0F); };
  for (const int number : {1, 2, 3, 4}) {
    memory.choose(7, number);
    const std::vector<float> now = applied(memory, values);
    EXPECT_TRUE(std::isnan(now[100]));
    EXPECT_EQ(now[101], values[101]);
    EXPECT_TRUE(std::signbit(now[102]) && now[102] == 0);
    EXPECT_EQ(std::memcmp(&now[200], &address, sizeof(address)), 0);
    if (number % 3 == 1) {
      EXPECT_EQ(zeros_kept(now), zeros_kept(values));
    } else if (number == 2) {
      EXPECT_LT(zeros_kept(now), 400U);
      EXPECT_EQ(zeros_in(now), zeros_in(values));
    } else {
      EXPECT_LT(zeros_in(now), zeros_in(values) - 30);
      EXPECT_GT(zeros_in(now), zeros_in(values) - 110);
      for (std::size_t i = 0; i < now.size(); i += 2) {
        if (i == 100 || i == 102 || i == 200 || now[i] == 0) continue;
        EXPECT_GE(now[i], 0.5F);
        EXPECT_LT(now[i], 1.0F);
      }
    }
  }
}

TEST(PerturbedMemory, EveryFloatTypeGivesFiniteNumbersOfTheSameSign) {
  for (const ElementType type :
       {ElementType::f16, ElementType::bf16, ElementType::f64, ElementType::f8_e4m3,
        ElementType::f8_e5m2, ElementType::f8_e4m3fnuz, ElementType::f8_e5m2fnuz}) {
    HalvesBench bench(halve, "k(void const*, void*, unsigned int)");
    PerturbedMemory memory = bench.memory(PerturbScope::declared, type);
    ASSERT_EQ(memory.spans().size(), 2U);
    EXPECT_EQ(memory.spans()[0].type_from, "given");
    const std::size_t step = bytes_of(type);
    // Every bit pattern of the small types, of the others its upper half.
    std::vector<std::byte> bytes(4096);
    for (std::size_t i = 0; i < bytes.size() / step; ++i) {
      const std::uint64_t bits = step == 1 ? i % 256 : (i * 0x10001 % 65536) << (8 * step - 16);
      std::memcpy(bytes.data() + i * step, &bits, step);
    }
    const std::vector<std::byte> before = bytes;
    for (const int number : {1, 2, 3}) {
      bytes = before;
      memory.choose(3, number);
      EXPECT_GT(memory.apply(0, 0, bytes), bytes.size() / step / 2);
      std::array<std::size_t, 4> was{}, is{};  // positive, negative, infinite, NaN
      const auto count = [&](const std::vector<std::byte>& from, std::array<std::size_t, 4>& into) {
        for (std::size_t i = 0; i < from.size(); i += step) {
          std::uint64_t bits = 0;
          std::memcpy(&bits, from.data() + i, step);
          const FloatValue value = decode_float(type, bits);
          if (value.what == FloatClass::nan)
            ++into[3];
          else if (value.what == FloatClass::infinite)
            ++into[2];
          else if (value.value != 0 || number != 3)
            into[value.value < 0] += value.value != 0;
        }
      };
      count(before, was);
      count(bytes, is);
      EXPECT_EQ(was[1], is[1]) << to_string(type);
      EXPECT_EQ(was[2], is[2]) << to_string(type);
      EXPECT_EQ(was[3], is[3]) << to_string(type);
      EXPECT_GE(is[0], was[0]) << to_string(type);  // zeros become positive in the third
    }
  }
}

TEST(PerturbedMemory, IntegersOnlyChangePlacesAndOnlyWhereThereAreNoFloats) {
  HalvesBench bench(halve, "k(unsigned int const*, unsigned int*, unsigned int)");
  PerturbedMemory memory = bench.memory();
  ASSERT_EQ(memory.spans().size(), 2U);
  EXPECT_EQ(memory.spans()[0].type, ElementType::u32);
  memory.choose(1, 1);
  std::vector<float> values(1024);
  for (std::uint32_t i = 0; i < 1024; ++i) values[i] = std::bit_cast<float>(i * 7);
  const std::vector<float> now = applied(memory, values);
  EXPECT_NE(now, values);
  EXPECT_EQ(sorted_bits(now), sorted_bits(values));
  EXPECT_TRUE(bench.memory(PerturbScope::declared).spans().empty());
  EXPECT_THAT(bench.memory(PerturbScope::declared).none_because(), HasSubstr("hold numbers"));
  HalvesBench mixed(halve, "k(int const*, float*, unsigned int)");
  const PerturbedMemory floats = mixed.memory();
  ASSERT_EQ(floats.spans().size(), 1U);
  EXPECT_EQ(floats.spans()[0].region, 1U);
}

TEST(PerturbedMemory, WhatOnlyTheDataSaysIsTakenInTheWidestScope) {
  HalvesBench bench(halve, "k(void const*, void*, unsigned int)");
  const PerturbedMemory memory = bench.memory();
  ASSERT_FALSE(memory.spans().empty());
  EXPECT_EQ(memory.spans()[0].type_from, "the data");
  EXPECT_TRUE(bench.memory(PerturbScope::declared).spans().empty());
  // Permuted: the same numbers at other places.
  HalvesBench named;
  PerturbedMemory permuted = named.memory(PerturbScope::permuted);
  permuted.choose(1, 3);
  std::vector<float> values(1024);
  for (std::size_t i = 0; i < 1024; ++i) values[i] = static_cast<float>(i);
  EXPECT_EQ(sorted_bits(applied(permuted, values)), sorted_bits(values));
}

TEST(PerturbedMemory, SuballocationsAreApartAndKernargsAreLeftAlone) {
  // One region, an integer buffer between two of floats, and the arguments in their own region.
  KernelBench bench(std::vector<float>(kCount), halves(), halve, "k(float const*, int*, float*)");
  test::SampleCapture& sample = bench.sample();
  sample.kernarg.clear();
  sample.push<std::uint64_t>(kOut + 256);
  sample.push<std::uint64_t>(kOut + 1024);
  sample.push<std::uint64_t>(kOut + 4096 + 4);
  sample.code_object = test::one_kernel_object(
      "k", {{0, 8, "global_buffer"}, {8, 8, "global_buffer"}, {16, 8, "global_buffer"}}, 24);
  sample.description.dispatch.kernarg_bytes = 24;
  const auto arguments = pointer_arguments(bench.written());
  ASSERT_TRUE(arguments);
  auto made = PerturbedMemory::make(bench.written(), *arguments, {}, PerturbScope::guessed);
  ASSERT_TRUE(made);
  ASSERT_EQ(made->spans().size(), 2U);
  EXPECT_EQ(made->spans()[0].begin, 256U);
  EXPECT_EQ(made->spans()[0].end, 1024U);
  EXPECT_EQ(made->spans()[1].begin, 4100U);
  made->choose(1, 1);
  std::vector<float> values(2048, 2.5F);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) + 0.5F;
  const std::vector<float> now = applied(*made, values, nullptr, 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool inside = (i >= 64 && i < 256) || i >= 1025;
    EXPECT_TRUE(inside || now[i] == values[i]) << i;
  }
  EXPECT_NE(now[70], values[70]);
  HalvesBench with_kernargs;
  with_kernargs.sample().description.dispatch.kernarg_address = kSampleBase + 512;
  const PerturbedMemory memory = with_kernargs.memory();
  ASSERT_EQ(memory.spans().size(), 1U);
  EXPECT_EQ(memory.spans()[0].region, 1U);
}

TEST(Perturb, ARightCandidatePassesOnEveryInputAndAllIsRestored) {
  HalvesBench bench;
  const KernelBody other_way = [](const Launch& launch) {
    for (std::size_t i = kCount; i-- > 0;) buffer(launch, 1)[i] = buffer(launch, 0)[i] * 0.5F;
  };
  const PerturbedResult result = bench.perturb(other_way);
  ASSERT_EQ(result.inputs.size(), 3U);
  for (const PerturbedInput& input : result.inputs) {
    EXPECT_EQ(input.verdict, ProofVerdict::bitwise) << input.sentence;
    EXPECT_GT(input.elements, kCount - 100);
    EXPECT_GT(input.changed_output_bytes, kCount);
    ASSERT_EQ(input.regions.size(), 1U);
    EXPECT_EQ(input.regions[0].region, 1U);
    EXPECT_GT(input.regions[0].comparison.elements, kCount / 2);
  }
  EXPECT_TRUE(result.notes.empty());
  EXPECT_FALSE(result.device_lost);
  EXPECT_EQ(bench.device.count("run"), 9);  // two of the original and one of the other, each
  bench.expect_restored();
  EXPECT_EQ(verify(*bench.session, {})->verdict, ProofVerdict::bitwise);
  // Figures follow from the seed alone.
  const PerturbedResult again = bench.perturb(other_way);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(again.inputs.at(i).elements, result.inputs[i].elements);
    EXPECT_EQ(again.inputs[i].sentence, result.inputs[i].sentence);
  }
}

TEST(Perturb, OverfittedCandidatesThatVerifyAcceptsAreFound) {
  // What was captured, by heart.
  const KernelBody remembers = [](const Launch& launch) {
    for (std::size_t i = 0; i < kCount; ++i) buffer(launch, 1)[i] = (static_cast<float>(i) + 1) / 2;
  };
  // Right when every number is whole, which only the captured ones are.
  const KernelBody whole_only = [](const Launch& launch) {
    for (std::size_t i = 0; i < kCount; ++i)
      buffer(launch, 1)[i] = std::floor(buffer(launch, 0)[i]) / 2;
  };
  // Right as long as the first number is what it was.
  const KernelBody looks_first = [](const Launch& launch) {
    if (buffer(launch, 0)[0] == 1) return halve(launch);
    buffer(launch, 1)[kCount - 1] = 1;
  };
  for (const KernelBody& body : {remembers, whole_only, looks_first}) {
    HalvesBench bench;
    bench.open();
    VerifyOptions options;
    options.code_object = bench.define(body);
    EXPECT_EQ(verify(*bench.session, options)->verdict, ProofVerdict::bitwise);
    const PerturbedResult result = bench.perturb(body);
    ASSERT_EQ(result.inputs.size(), 1U);
    EXPECT_EQ(result.inputs[0].verdict, ProofVerdict::differs);
    EXPECT_THAT(result.inputs[0].sentence, HasSubstr("elements differ"));
    EXPECT_FALSE(result.inputs[0].regions.at(0).comparison.examples.empty());
    bench.expect_restored();
  }
}

TEST(Perturb, WritesWhereTheOriginalDoesNotWriteCount) {
  HalvesBench bench;
  const PerturbedResult result = bench.perturb([](const Launch& launch) {
    halve(launch);
    if (buffer(launch, 0)[5] != 6) buffer(launch, 0)[9] += 1;
  });
  ASSERT_EQ(result.inputs.size(), 1U);
  EXPECT_EQ(result.inputs[0].verdict, ProofVerdict::differs);
  EXPECT_THAT(result.inputs[0].sentence, HasSubstr("that the original does not write"));
  bench.expect_restored();
}

TEST(Perturb, TolerancesAndTypesAreThoseOfTheComparison) {
  const KernelBody rounds = [](const Launch& launch) {
    halve(launch);
    for (float& x : buffer(launch, 1))
      x = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) + 1);
  };
  PerturbOptions options;
  EXPECT_EQ(HalvesBench().perturb(rounds, options).inputs.back().verdict, ProofVerdict::differs);
  options.compare.max_ulp = 1;
  const PerturbedResult result = HalvesBench().perturb(rounds, options);
  ASSERT_EQ(result.inputs.size(), 3U);
  EXPECT_EQ(result.inputs[2].verdict, ProofVerdict::within_tolerance);
  EXPECT_EQ(result.inputs[2].regions.at(0).comparison.largest_ulp, 1U);
}

TEST(Perturb, AFaultOfTheCandidateIsItsAnswerAndEndsTheDevice) {
  HalvesBench bench;
  std::vector<std::string> steps;
  PerturbOptions options;
  options.on_step = [&](std::string_view who) -> Result<void> {
    steps.emplace_back(who);
    return {};
  };
  const PerturbedResult result = bench.perturb(
      [&bench](const Launch& launch) {
        halve(launch);
        if (buffer(launch, 0)[0] != 1)
          bench.device.fault = fail(Failure::kernel_fault, "out of bounds").error();
      },
      options);
  ASSERT_EQ(result.inputs.size(), 1U);
  EXPECT_EQ(result.inputs[0].verdict, ProofVerdict::differs);
  EXPECT_EQ(result.inputs[0].run_failure, "kernel_fault: out of bounds");
  EXPECT_TRUE(result.device_lost);
  EXPECT_EQ(steps, (std::vector<std::string>{"original", "original", "other"}));
}

TEST(Perturb, AFaultOfTheOriginalIsSaidAndNotHeldAgainstTheCandidate) {
  HalvesBench bench;
  bench.device.kernels["k"].body = [&bench](const Launch& launch) {
    halve(launch);
    if (buffer(launch, 0)[0] != 1)
      bench.device.fault = fail(Failure::timed_out, "too long").error();
  };
  const PerturbedResult result = bench.perturb(halve);
  EXPECT_TRUE(result.inputs.empty());
  EXPECT_EQ(result.original_failed, "timed_out: too long");
  EXPECT_TRUE(result.device_lost);
}

TEST(Perturb, InputsThatSendTheOriginalElsewhereAreSetAside) {
  HalvesBench bench([](const Launch& launch) {
    halve(launch);
    if (buffer(launch, 0)[0] != 1) buffer(launch, 0)[1] = 0;
  });
  const PerturbedResult result = bench.perturb(halve);
  EXPECT_TRUE(result.inputs.empty());
  EXPECT_FALSE(result.device_lost);
  EXPECT_EQ(result.notes.size(), 5U);
  EXPECT_THAT(result.notes.at(0), HasSubstr("set aside: the original wrote to region"));
  EXPECT_THAT(result.none_because, HasSubstr("none of 5 was of use"));
  bench.expect_restored();
}

TEST(Perturb, WhatTheOriginalDoesNotRepeatIsLeftOutUnlessTheToleranceCoversIt) {
  // Every run leaves one element a little otherwise.
  int run = 0;
  const auto varies = [&run](const Launch& launch) {
    halve(launch);
    buffer(launch, 1)[77] += 1e-3F * static_cast<float>(++run);
  };
  const KernelBody wrong_there = [](const Launch& launch) {
    halve(launch);
    buffer(launch, 1)[77] = 1e6F;
  };
  HalvesBench bench(varies);
  const PerturbedResult blind = bench.perturb(wrong_there);
  ASSERT_EQ(blind.inputs.size(), 3U);
  EXPECT_EQ(blind.inputs[0].verdict, ProofVerdict::not_deterministic);
  EXPECT_EQ(blind.inputs[0].regions.at(0).excluded_bytes, 4U);
  PerturbOptions options;
  options.compare.max_absolute = 1;
  const PerturbedResult seen = bench.perturb(wrong_there, options);
  ASSERT_EQ(seen.inputs.size(), 1U);
  EXPECT_EQ(seen.inputs[0].verdict, ProofVerdict::differs);
  EXPECT_EQ(bench.perturb(halve, options).inputs.back().verdict, ProofVerdict::within_tolerance);
}

TEST(Perturb, SaysWhenNothingCanBeVaried) {
  HalvesBench none(halve, "k(void const*, void*, unsigned int)");
  PerturbOptions options;
  options.scope = PerturbScope::declared;
  const PerturbedResult untyped = none.perturb(halve, options);
  EXPECT_TRUE(untyped.inputs.empty());
  EXPECT_THAT(untyped.none_because, HasSubstr("buffers hold numbers"));
  EXPECT_EQ(none.device.count("run"), 0);
}

TEST(Perturb, SaysWhenVaryingShowsNothing) {
  // A kernel that looks at nothing leaves the same whatever stands in its input.
  const KernelBody counts = [](const Launch& launch) {
    for (std::size_t i = 0; i < kCount; ++i) buffer(launch, 1)[i] = (static_cast<float>(i) + 1) / 2;
  };
  HalvesBench blind(counts);
  const PerturbedResult same = blind.perturb(counts);
  ASSERT_EQ(same.inputs.size(), 3U);
  EXPECT_EQ(same.inputs[0].changed_output_bytes, 0U);
  ASSERT_EQ(same.notes.size(), 1U);
  EXPECT_THAT(same.notes[0], HasSubstr("prove nothing new"));
}

TEST(Perturb, AnErrorOfTheDeviceIsAnError) {
  HalvesBench bench;
  bench.open();
  bench.device.inject("read", bench.device.count("read") + 1, Failure::hsa_call_failed);
  const auto failed = verify_perturbed(*bench.session, PerturbOptions{});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::missing_tool);
}

TEST(Perturb, ScopesHaveNames) {
  for (const PerturbScope scope :
       {PerturbScope::guessed, PerturbScope::declared, PerturbScope::permuted})
    EXPECT_EQ(from_name<PerturbScope>(to_string(scope)), scope);
  EXPECT_FALSE(from_name<PerturbScope>("wild"));
}

}  // namespace
}  // namespace perflab::replay
