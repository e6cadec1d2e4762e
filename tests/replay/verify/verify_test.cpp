// Verification on the fake device: what the original, right candidates and wrong ones are told,
// with and without poison, on captures written through capture::Writer.
#include "replay/verify/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/system/files.h"
#include "base/system/interrupt.h"
#include "base/temp_folder.h"
#include "replay/fake_device.h"
#include "replay/kernel_bench.h"
#include "replay/sample_capture.h"
#include "support/prng.h"

namespace perflab::replay {
namespace {

using test::argument;
using test::buffer;
using test::bytes_of_values;
using test::FakeDevice;
using test::kCount;
using test::kOut;
using test::kSampleBase;
using test::SampleCapture;
using testing::HasSubstr;
using Body = test::KernelBody;

/// Verifies on a KernelBench.
class Bench : public test::KernelBench {
 public:
  using KernelBench::KernelBench;

  /// Verifies another body, or the original without one.
  Certificate certify(const Body& other = {}, VerifyOptions options = {}) {
    if (other) options.code_object = define(other);
    open();
    auto certificate = verify(*session, options);
    EXPECT_TRUE(certificate) << certificate.error().message;
    return certificate ? std::move(*certificate) : Certificate{};
  }
};

std::vector<float> zeros() {
  return std::vector<float>(kCount);
}
float third(float value) {
  return value / 3;
}
/// The next float but one ... `steps` values away.
float moved(float value, int steps) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) +
                              static_cast<std::uint32_t>(steps));
}
void thirds(const Launch& launch) {
  std::ranges::transform(buffer(launch, 0), buffer(launch, 1).begin(), third);
}
void nothing(const Launch&) {}
std::vector<float> thirds_after() {
  std::vector<float> out(kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) out[i] = third(static_cast<float>(i) + 1);
  return out;
}

/// out = in / 3 into zeros.
Bench thirds_bench() {
  return {zeros(), thirds_after(), thirds};
}

VerifyOptions within_ulp(std::uint64_t ulp, Poison poison = Poison::written) {
  return {.code_object = {}, .poison = poison, .runs = 3, .compare = {.max_ulp = ulp}};
}
VerifyOptions with_poison(Poison poison) {
  return {.code_object = {}, .poison = poison, .runs = 3, .compare = {}};
}

TEST(Verify, AnOriginalReproducesItselfBitwise) {
  Bench bench = thirds_bench();
  const Certificate certificate = bench.certify();
  EXPECT_EQ(certificate.verdict, ProofVerdict::bitwise);
  EXPECT_EQ(certificate.exit_code(), 0);
  EXPECT_EQ(certificate.sentence, "This capture reproduces itself, bitwise, over 3 runs.");
  EXPECT_TRUE(certificate.original);
  EXPECT_TRUE(certificate.reproduces);
  EXPECT_EQ(certificate.code_object_hash, bench.session->capture().description().code_object_hash);
  ASSERT_EQ(certificate.regions.size(), 1U);
  const RegionVerdict& region = certificate.regions[0];
  EXPECT_EQ(region.region, 1U);
  EXPECT_EQ(region.comparison.type, ElementType::f32);
  EXPECT_EQ(region.comparison.type_from, "the kernel's arguments");
  EXPECT_EQ(region.comparison.elements, kCount);
  EXPECT_EQ(region.compared_bytes, kCount * 4);
  EXPECT_EQ(region.pure_output_bytes, kCount * 4);
  EXPECT_EQ(region.not_rewritten_bytes, 0U);
  EXPECT_EQ(bench.device.count("run"), 4);  // three and one on poison
}

TEST(Verify, InPlaceKernelsReproduceThemselvesWithoutPureOutputs) {
  std::vector<float> before(kCount, 1), after(kCount, 2);
  Bench bench(before, after, [](const Launch& launch) {
    for (float& x : buffer(launch, 1)) x += 1;
  });
  const Certificate certificate = bench.certify();
  EXPECT_EQ(certificate.verdict, ProofVerdict::bitwise);
  EXPECT_EQ(certificate.regions.at(0).pure_output_bytes, 0U);
}

TEST(Verify, ARightCandidateIsBitwise) {
  Bench bench = thirds_bench();
  const Certificate certificate = bench.certify(thirds);
  EXPECT_EQ(certificate.verdict, ProofVerdict::bitwise);
  EXPECT_EQ(certificate.sentence, "The other code object computes the same, bitwise.");
  EXPECT_FALSE(certificate.original);
  EXPECT_NE(certificate.code_object_hash, bench.session->capture().description().code_object_hash);
}

TEST(Verify, AnEmptyCandidateFails) {
  Bench bench = thirds_bench();
  const Certificate certificate = bench.certify(nothing);
  EXPECT_EQ(certificate.verdict, ProofVerdict::differs);
  EXPECT_EQ(certificate.exit_code(), 1);
  EXPECT_EQ(certificate.regions.at(0).comparison.beyond_tolerance, kCount);
  EXPECT_EQ(certificate.regions.at(0).not_rewritten_bytes, kCount * 4);
  EXPECT_THAT(certificate.sentence, HasSubstr("4096 of 4096 elements differ"));
}

TEST(Verify, ACandidateThatSkipsElementsFails) {
  Bench bench = thirds_bench();
  const Certificate certificate = bench.certify([](const Launch& launch) {
    for (std::size_t i = 0; i < kCount; ++i)
      if (i % 1000 != 7) buffer(launch, 1)[i] = third(buffer(launch, 0)[i]);
  });
  EXPECT_EQ(certificate.verdict, ProofVerdict::differs);
  const RegionVerdict& region = certificate.regions.at(0);
  EXPECT_EQ(region.comparison.beyond_tolerance, 5U);
  EXPECT_EQ(region.not_rewritten_bytes, 20U);
  ASSERT_EQ(region.comparison.examples.size(), 5U);
  EXPECT_EQ(region.comparison.examples[1].offset, 1007U * 4);
  EXPECT_EQ(region.comparison.examples[1].found, "0");
}

TEST(Verify, WritesOutOfBoundsAreFoundWhereverTheyGo) {
  Bench bench = thirds_bench();
  // An input in the middle of an untouched region, by one bit.
  const Certificate certificate = bench.certify([](const Launch& launch) {
    thirds(launch);
    buffer(launch, 0)[3000] = -buffer(launch, 0)[3000];
  });
  EXPECT_EQ(certificate.verdict, ProofVerdict::differs);
  ASSERT_EQ(certificate.regions.size(), 2U);
  EXPECT_EQ(certificate.regions[0].region, 0U);
  EXPECT_EQ(certificate.regions[0].unexpected_bytes, 1U);
  EXPECT_EQ(certificate.regions[0].changed_bytes, 0U);
  EXPECT_EQ(certificate.regions[0].verdict, ProofVerdict::differs);
  EXPECT_EQ(certificate.regions[1].verdict, ProofVerdict::bitwise);
  EXPECT_THAT(certificate.sentence, HasSubstr("1 bytes were written that the captured"));
}

TEST(Verify, ACandidateThatRoundsOtherwiseNeedsATolerance) {
  const Body rounds = [](const Launch& launch) {
    thirds(launch);
    for (std::size_t i = 0; i < kCount; i += 2)
      buffer(launch, 1)[i] = moved(buffer(launch, 1)[i], 2);
  };
  Bench bench = thirds_bench();
  EXPECT_EQ(bench.certify(rounds).verdict, ProofVerdict::differs);
  EXPECT_EQ(bench.certify(rounds, within_ulp(1)).verdict, ProofVerdict::differs);
  const Certificate certificate = bench.certify(rounds, within_ulp(2));
  EXPECT_EQ(certificate.verdict, ProofVerdict::within_tolerance);
  EXPECT_EQ(certificate.exit_code(), 0);
  EXPECT_EQ(certificate.sentence, "The other code object computes the same within 2 ULP (f32).");
  EXPECT_EQ(certificate.regions.at(0).comparison.different, kCount / 2);
  EXPECT_EQ(certificate.regions.at(0).not_rewritten_bytes, 0U);
}

TEST(Verify, ACandidateThatReliesOnWhatStoodInItsOutputFails) {
  // The output held zeros when it was captured; adding looks right until it holds something else.
  const Body adds = [](const Launch& launch) {
    for (std::size_t i = 0; i < kCount; ++i)
      buffer(launch, 1)[i] += third(buffer(launch, 0)[i]) + 0.0F;
  };
  Bench bench = thirds_bench();
  EXPECT_EQ(bench.certify(adds, with_poison(Poison::none)).verdict, ProofVerdict::bitwise);
  const Certificate certificate = bench.certify(adds);
  EXPECT_EQ(certificate.verdict, ProofVerdict::differs);
  // A third is added to what is too large for it or no number.
  EXPECT_EQ(certificate.regions.at(0).not_rewritten_bytes, kCount * 4);
  EXPECT_EQ(certificate.regions.at(0).comparison.beyond_tolerance, 0U);
  // The larger and the smaller of old and new pass over some of the poison only.
  const auto larger = [](const Launch& launch) {
    for (std::size_t i = 0; i < kCount; ++i)
      buffer(launch, 1)[i] = std::fmax(buffer(launch, 1)[i], third(buffer(launch, 0)[i]));
  };
  EXPECT_EQ(bench.certify(larger, with_poison(Poison::none)).verdict, ProofVerdict::bitwise);
  EXPECT_EQ(bench.certify(larger).verdict, ProofVerdict::differs);
  // What is added to an integer is wrong, not kept.
  const auto counts = [](const Launch& launch) {
    for (std::size_t i = 0; i < kCount; ++i) {
      auto* const word = reinterpret_cast<std::uint32_t*>(&buffer(launch, 1)[i]);
      *word += std::bit_cast<std::uint32_t>(third(buffer(launch, 0)[i]));
    }
  };
  EXPECT_GT(bench.certify(counts).regions.at(0).wrong_on_poison_bytes, kCount * 2);
}

TEST(Verify, WhatStoodThereAlreadyIsFoundByPoisonedArguments) {
  Bench bench(thirds_after(), thirds_after(), thirds);
  const Certificate blind = bench.certify(nothing, with_poison(Poison::none));
  EXPECT_EQ(blind.verdict, ProofVerdict::proves_nothing);
  EXPECT_EQ(blind.write_set, WriteSet::unknown);
  EXPECT_EQ(blind.exit_code(), 1);
  EXPECT_THAT(blind.sentence, HasSubstr("nothing was poisoned to show what it writes"));
  // By itself, and when it is asked for.
  for (const Poison poison : {Poison::written, Poison::arguments}) {
    const Certificate original = bench.certify({}, with_poison(poison));
    EXPECT_EQ(original.verdict, ProofVerdict::bitwise);
    EXPECT_EQ(original.poison, Poison::arguments);
    EXPECT_EQ(original.write_set, WriteSet::poisoned);
    ASSERT_EQ(original.regions.size(), 1U);
    EXPECT_EQ(original.regions[0].changed_bytes, 0U);
    EXPECT_EQ(original.regions[0].compared_bytes, kCount * 4);
    EXPECT_EQ(original.regions[0].changed_poison_bytes, kCount * 4);
    EXPECT_EQ(original.regions[0].pure_output_bytes, kCount * 4);
    EXPECT_EQ(original.sentence,
              "This capture reproduces itself, bitwise, over 3 runs. The captured dispatch changed "
              "nothing: the 16384 bytes that it writes were found by running the original on "
              "poisoned buffers of its arguments.");
    EXPECT_EQ(bench.certify(thirds, with_poison(poison)).verdict, ProofVerdict::bitwise);
    const Certificate cheat = bench.certify(nothing, with_poison(poison));
    EXPECT_EQ(cheat.verdict, ProofVerdict::differs);
    EXPECT_EQ(cheat.regions.at(0).not_rewritten_bytes, kCount * 4);
    EXPECT_THAT(cheat.sentence,
                HasSubstr("16384 bytes of the outputs were still poisoned afterwards"));
    // Right as far as the captured memory shows, wrong where poison shows more.
    const Body half = [](const Launch& launch) {
      for (std::size_t i = 0; i < kCount / 2; ++i)
        buffer(launch, 1)[i] = third(buffer(launch, 0)[i]);
    };
    EXPECT_EQ(bench.certify(half, with_poison(poison)).verdict, ProofVerdict::differs);
  }
}

TEST(Verify, ACaptureThatShowsItsOutputsIsNotPoisonedAnyFurther) {
  Bench bench = thirds_bench();
  const Certificate certificate = bench.certify();
  EXPECT_EQ(certificate.poison, Poison::written);
  EXPECT_EQ(certificate.write_set, WriteSet::captured);
}

TEST(Verify, AKernelThatWritesNothingIsCalledThat) {
  // Reads its input only, and does so on poison.
  Bench idle(thirds_after(), thirds_after(), nothing);
  const Certificate none = idle.certify();
  EXPECT_EQ(none.verdict, ProofVerdict::proves_nothing);
  EXPECT_EQ(none.write_set, WriteSet::nothing);
  EXPECT_EQ(none.exit_code(), 1);
  EXPECT_THAT(none.sentence, HasSubstr("it wrote nothing even on poisoned memory"));
  EXPECT_EQ(idle.certify(nothing).write_set, WriteSet::nothing);
}

TEST(Verify, AKernelThatWorksInPlaceIsCalledThat) {
  // Makes absolute values: of such there were none but that already.
  const Body absolute = [](const Launch& launch) {
    for (float& x : buffer(launch, 1)) x = std::fabs(x);
  };
  Bench in_place(thirds_after(), thirds_after(), absolute);
  const Certificate certificate = in_place.certify();
  EXPECT_EQ(certificate.verdict, ProofVerdict::proves_nothing);
  EXPECT_EQ(certificate.write_set, WriteSet::in_place) << certificate.sentence;
  EXPECT_GT(certificate.regions.at(0).changed_poison_bytes, 0U);
  EXPECT_EQ(certificate.regions.at(0).pure_output_bytes, 0U);
  EXPECT_THAT(certificate.sentence, HasSubstr("depends on what was there (it works in place)"));
}

TEST(Verify, InputsThatNobodyCallsConstantSpoilOnlyTheirOwnRun) {
  // No signature: both buffers count as writable and are poisoned, one after the other.
  Bench bench(thirds_after(), thirds_after(), thirds, "k");
  const Certificate certificate = bench.certify(nothing);
  EXPECT_EQ(certificate.verdict, ProofVerdict::differs);
  ASSERT_EQ(certificate.regions.size(), 1U);
  EXPECT_EQ(certificate.regions[0].region, 1U);
  EXPECT_EQ(certificate.regions[0].not_rewritten_bytes, kCount * 4);
  EXPECT_EQ(certificate.regions[0].comparison.type_from, "the data");
}

TEST(Verify, UnchangedOutputsMayRoundOtherwiseOnceTheyAreKnownToBeOutputs) {
  // Half of the results stood there before; the candidate is one ULP off everywhere.
  std::vector<float> before = thirds_after();
  std::fill_n(before.begin(), kCount / 2, 0.0F);
  Bench bench(before, thirds_after(), thirds);
  const Body rounds = [](const Launch& launch) {
    thirds(launch);
    for (float& x : buffer(launch, 1)) x = moved(x, 1);
  };
  const Certificate strict = bench.certify(rounds, within_ulp(1));
  EXPECT_EQ(strict.verdict, ProofVerdict::differs);
  EXPECT_EQ(strict.regions.at(0).unexpected_bytes > 0, true);
  const Certificate forgiving = bench.certify(rounds, within_ulp(1, Poison::arguments));
  EXPECT_EQ(forgiving.verdict, ProofVerdict::within_tolerance) << forgiving.sentence;
  EXPECT_EQ(forgiving.regions.at(0).unexpected_bytes, 0U);
}

// ---- originals that do not repeat

/// thirds(), but elements 10 to 12 and 2000 are `steps` ULP further in every run.
Body restless(int steps) {
  const auto turn = std::make_shared<int>(0);
  return [turn, steps](const Launch& launch) {
    thirds(launch);
    ++*turn;
    for (const std::size_t i : {10U, 11U, 12U, 2000U})
      buffer(launch, 1)[i] = moved(buffer(launch, 1)[i], *turn * steps);
  };
}

TEST(Verify, BytesThatDifferBetweenRunsAreNotDeterministic) {
  Bench bench(zeros(), thirds_after(), restless(1 << 16));
  const Certificate certificate = bench.certify();
  EXPECT_EQ(certificate.verdict, ProofVerdict::not_deterministic);
  EXPECT_EQ(certificate.exit_code(), 0);
  EXPECT_THAT(certificate.sentence,
              HasSubstr("reproduces itself, but for 16 bytes in 2 ranges that 3 runs"));
  const RegionVerdict& region = certificate.regions.at(0);
  EXPECT_EQ(region.not_deterministic_ranges, 2U);
  ASSERT_EQ(region.not_deterministic.size(), 2U);
  EXPECT_EQ(region.not_deterministic[0].offset, 40U);
  EXPECT_EQ(region.not_deterministic[0].bytes, 12U);
  EXPECT_EQ(region.not_deterministic[1].offset, 8000U);
  EXPECT_EQ(region.comparison.elements, kCount - 4);
}

TEST(Verify, CandidatesAreHeldToTheRest) {
  Bench bench(zeros(), thirds_after(), restless(1 << 16));
  EXPECT_EQ(bench.certify(thirds).verdict, ProofVerdict::not_deterministic);
  const auto wrong = [](const Launch& launch) {
    thirds(launch);
    buffer(launch, 1)[13] = 0;
  };
  EXPECT_EQ(bench.certify(wrong).verdict, ProofVerdict::differs);
}

TEST(Verify, ATolerancePutsRestlessBytesBackIntoTheComparison) {
  Bench bench(zeros(), thirds_after(), restless(1));
  const Certificate original = bench.certify({}, within_ulp(40));
  EXPECT_EQ(original.verdict, ProofVerdict::within_tolerance);
  EXPECT_EQ(original.regions.at(0).not_deterministic_bytes, 16U);
  EXPECT_EQ(original.regions.at(0).comparison.elements, kCount);
  EXPECT_THAT(original.notes, testing::Contains(HasSubstr("all within the tolerance")));
  EXPECT_EQ(bench.certify(thirds, within_ulp(40)).verdict, ProofVerdict::bitwise);
  const auto wrong = [](const Launch& launch) {
    thirds(launch);
    buffer(launch, 1)[11] = 0;
  };
  EXPECT_EQ(bench.certify(wrong, within_ulp(40)).verdict, ProofVerdict::differs);
}

TEST(Verify, WhereNothingRepeatsACandidateProvesNothing) {
  const auto turn = std::make_shared<float>(0.0F);
  Bench bench(zeros(), std::vector<float>(kCount, -1.0F), [=](const Launch& launch) {
    *turn += 1;
    std::ranges::fill(buffer(launch, 1), *turn * 0x1.010101p0F);
  });
  const Certificate original = bench.certify();
  EXPECT_EQ(original.verdict, ProofVerdict::not_deterministic);
  EXPECT_THAT(original.sentence, HasSubstr("is not deterministic: 3 runs left 16384 bytes in 1"));
  const Certificate other = bench.certify(nothing);
  EXPECT_EQ(other.verdict, ProofVerdict::proves_nothing);
  EXPECT_THAT(other.sentence, HasSubstr("the original repeats nothing"));
}

TEST(Verify, AStrayWriteOfOneRunOnlyIsNotDeterministic) {
  const auto turn = std::make_shared<int>(0);
  Bench bench(zeros(), thirds_after(), [=](const Launch& launch) {
    thirds(launch);
    if (++*turn == 1) buffer(launch, 0)[2048] = 0.5F;
  });
  const Certificate certificate = bench.certify();
  EXPECT_EQ(certificate.verdict, ProofVerdict::not_deterministic) << certificate.sentence;
  EXPECT_EQ(certificate.regions.at(0).not_deterministic.at(0).offset, 8192U);
}

TEST(Verify, AnOriginalThatNeverReproducesJudgesNobody) {
  Bench bench(zeros(), thirds_after(), [](const Launch& launch) {
    thirds(launch);
    buffer(launch, 1)[1] = 5;
  });
  const Certificate certificate = bench.certify(thirds);
  EXPECT_EQ(certificate.verdict, ProofVerdict::differs);
  EXPECT_FALSE(certificate.reproduces);
  EXPECT_THAT(certificate.sentence, HasSubstr("does not reproduce itself over 3 runs: 1 of 4096"));
  EXPECT_EQ(bench.device.count("run"), 3);
  VerifyOptions once;
  once.runs = 1;
  EXPECT_THAT(bench.certify({}, once).notes, testing::Contains(HasSubstr("--runs 3")));
}

// ---- dispatches that do not end well

TEST(Verify, ACandidateThatDoesNotEndFails) {
  Bench bench = thirds_bench();
  const Certificate other = bench.certify([&](const Launch&) {
    bench.device.fault = fail(Failure::timed_out, "no end after 60 s").error();
  });
  EXPECT_EQ(other.verdict, ProofVerdict::differs);
  EXPECT_THAT(other.run_failure, HasSubstr("timed_out: no end"));
  EXPECT_THAT(other.sentence, HasSubstr("does not end well where the original does: timed_out"));
}

TEST(Verify, AnOriginalThatFaultsIsAnError) {
  Bench faulty = thirds_bench();
  faulty.open();
  faulty.device.kernels["k"].body = [&](const Launch&) {
    faulty.device.fault = fail(Failure::kernel_fault, "page fault").error();
  };
  const auto certificate = verify(*faulty.session, {});
  ASSERT_FALSE(certificate);
  EXPECT_EQ(certificate.error().code, ErrorCode::target_failed);
  EXPECT_THAT(certificate.error().message, HasSubstr("kernel_fault"));
}

/// thirds() over an index list in the upper half of its own output buffer, which it sets back.
Body indexed(FakeDevice& device) {
  return [&device](const Launch& launch) {
    const auto out = buffer(launch, 1);
    for (std::size_t i = 0; i < kCount / 2; ++i) {
      const float index = out[kCount / 2 + i];
      if (!(index >= 0 && index < kCount / 2)) {
        device.fault = fail(Failure::kernel_fault, "page fault").error();
        return;
      }
      out[static_cast<std::size_t>(index)] = third(buffer(launch, 0)[i]);
    }
  };
}

Bench indexed_bench() {
  std::vector<float> before(kCount), after = thirds_after();
  for (std::size_t i = 0; i < kCount / 2; ++i)
    before[kCount / 2 + i] = after[kCount / 2 + i] = static_cast<float>(i);
  return {before, after, {}};
}

TEST(Verify, APoisonThatTheOriginalCannotTakeIsSaidAndNotHeldAgainstAnyone) {
  Bench bench = indexed_bench();
  bench.device.kernels["k"].body = indexed(bench.device);
  EXPECT_EQ(bench.certify().poison_note, "");
  const Certificate certificate =
      bench.certify(indexed(bench.device), with_poison(Poison::arguments));
  EXPECT_EQ(certificate.verdict, ProofVerdict::bitwise);
  EXPECT_THAT(certificate.poison_note, HasSubstr("kernel_fault: page fault"));
  EXPECT_EQ(certificate.run_failure, "");
}

TEST(Verify, AWriteSetThatPoisonCannotShowIsNotKnown) {
  Bench bench(thirds_after(), thirds_after(), {});
  bench.device.kernels["k"].body = [&](const Launch& launch) {
    if (buffer(launch, 1)[0] != third(1))
      bench.device.fault = fail(Failure::kernel_fault, "page fault").error();
  };
  const Certificate certificate = bench.certify();
  EXPECT_EQ(certificate.verdict, ProofVerdict::proves_nothing);
  EXPECT_EQ(certificate.write_set, WriteSet::unknown);
  EXPECT_THAT(certificate.sentence, HasSubstr("poison was to show what it writes: the original "
                                              "does not end well"));
}

TEST(Verify, ACandidateThatFaultsOnPoisonTheOriginalTakesFails) {
  Bench bench = thirds_bench();
  const Certificate certificate = bench.certify([&](const Launch& launch) {
    // Looks at its output before it writes.
    if (buffer(launch, 1)[0] != 0) {
      bench.device.fault = fail(Failure::kernel_fault, "page fault").error();
      return;
    }
    thirds(launch);
  });
  EXPECT_EQ(certificate.verdict, ProofVerdict::differs);
  EXPECT_THAT(certificate.run_failure, HasSubstr("(on poisoned outputs)"));
  EXPECT_TRUE(certificate.failed_on_poison);
  EXPECT_EQ(certificate.failure, Failure::kernel_fault);
}

TEST(Verify, AddressesInPoisonedBuffersStay) {
  // A list of nodes {next, value} in the output buffer; the kernel walks it and writes the values.
  constexpr std::size_t kNodes = kCount / 4;
  std::vector<std::uint64_t> before(kNodes * 2), after(kNodes * 2);
  for (std::size_t i = 0; i < kNodes; ++i) {
    before[2 * i] = after[2 * i] = i + 1 == kNodes ? 0 : kOut + (i + 1) * 16;
    after[2 * i + 1] = i * i + 1;
  }
  Bench bench(zeros(), zeros(), {}, "k");
  bench.sample().regions[1].before = bytes_of_values(before);
  bench.sample().regions[1].after = bytes_of_values(after);
  const Body walk = [&](const Launch& launch) {
    auto node = argument<std::uint64_t>(launch, 8);
    for (std::uint64_t i = 0; i < kNodes; ++i) {
      if (node < kOut || node >= kOut + kCount * 4) {
        bench.device.fault = fail(Failure::kernel_fault, "page fault").error();
        return;
      }
      auto* const words = reinterpret_cast<std::uint64_t*>(node);
      words[1] = i * i + 1;
      node = words[0];
    }
  };
  bench.device.kernels["k"].body = walk;
  const Certificate certificate = bench.certify(walk, with_poison(Poison::arguments));
  EXPECT_EQ(certificate.poison_note, "");
  EXPECT_EQ(certificate.verdict, ProofVerdict::bitwise) << certificate.sentence;
  EXPECT_GT(certificate.regions.at(0).pure_output_bytes, 0U);
}

// ---- what stays behind

TEST(Verify, MemoryAndCodeAreAsBeforeAfterwards) {
  std::vector<float> factor{2.5F};
  Bench bench = thirds_bench();
  capture::MemoryRegion variable;
  variable.base = 0x7f0000000040;
  variable.bytes = 4;
  variable.origin = capture::Origin::variable;
  variable.symbol = "factor";
  variable.code_object_hash = content_hash_text(bench.sample().code_object);
  bench.sample().regions.push_back(
      {.region = variable, .before = bytes_of_values(factor), .after = bytes_of_values(factor)});
  bench.device.variables["factor"] = 4;
  const auto wild = [](const Launch& launch) {
    std::ranges::fill(buffer(launch, 0), 7.0F);
    std::ranges::fill(buffer(launch, 1), 9.0F);
  };
  EXPECT_EQ(bench.certify(wild).verdict, ProofVerdict::differs);
  EXPECT_EQ(bench.session->learn_writes().value_or(9), 0U);
  const auto address = bench.session->address(2);
  ASSERT_TRUE(address);
  EXPECT_EQ(*reinterpret_cast<const float*>(*address), 2.5F);
  ASSERT_TRUE(bench.session->run());
  EXPECT_EQ(reinterpret_cast<const float*>(kOut)[5], third(6));
}

TEST(Verify, CtrlCEndsItBetweenDispatches) {
  Bench bench = thirds_bench();
  bench.open();
  raise_interrupt();
  const auto certificate = verify(*bench.session, {});
  clear_interrupts();
  ASSERT_FALSE(certificate);
  EXPECT_EQ(certificate.error().code, ErrorCode::interrupted);
  EXPECT_EQ(bench.device.count("run"), 0);
}

TEST(Verify, RegionsThatWereNotCapturedAreNamedAsNotCompared) {
  Bench bench = thirds_bench();
  capture::MemoryRegion locked;
  locked.base = 0x7e0000000000;
  locked.bytes = 8192;
  locked.origin = capture::Origin::locked;
  locked.on_gpu = false;
  locked.not_captured = "host memory";
  bench.sample().regions.push_back({.region = locked, .before = {}, .after = {}});
  EXPECT_THAT(bench.certify().notes,
              testing::Contains("1 of 3 regions were not captured: what is written to them is not "
                                "compared"));
}

// ---- large regions: counts against an element-by-element reference

TEST(Verify, CountsAgreeWithAReferenceAcrossBatches) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    test::Prng random(seed);
    const std::size_t size = (std::size_t{2} << 20U) + 100;
    std::vector<std::byte> before(size), after, other;
    for (std::size_t i = 0; i < size; i += 1 + i % 5) before[i] = static_cast<std::byte>(i * 7);
    after = before;
    const auto touch = [&](std::vector<std::byte>& bytes, int places) {
      for (int i = 0; i < places; ++i) {
        // Often near the ends of batches and of the region.
        const std::int64_t near = random.below(3) << 20U;
        const std::int64_t at = random.below(2) == 0
                                    ? near - 8 + random.below(16)
                                    : random.below(static_cast<std::int64_t>(size));
        bytes[static_cast<std::size_t>(std::clamp<std::int64_t>(
            at, 0, static_cast<std::int64_t>(size) - 1))] ^= std::byte{0x11};
      }
    };
    touch(after, 200);
    other = after;
    touch(other, 100);
    Bench bench(zeros(), zeros(), {}, "k");
    bench.sample().regions[1].before = before;
    bench.sample().regions[1].after = after;
    bench.sample().regions[1].region.bytes = size;
    const auto becomes = [](const std::vector<std::byte>& bytes) -> Body {
      return [&bytes](const Launch& launch) {
        std::memcpy(reinterpret_cast<void*>(argument<std::uint64_t>(launch, 8)), bytes.data(),
                    bytes.size());
      };
    };
    bench.device.kernels["k"].body = becomes(after);
    VerifyOptions options = with_poison(Poison::written);
    options.compare.type = ElementType::u16;
    const Certificate certificate = bench.certify(becomes(other), options);
    std::uint64_t changed = 0, elements = 0, different = 0, unexpected = 0;
    const std::byte *const a = before.data(), *const b = after.data(), *const c = other.data();
    for (std::size_t at = 0; at < size; at += 2) {
      const bool kept = a[at] == b[at] && a[at + 1] == b[at + 1];
      const bool right = b[at] == c[at] && b[at + 1] == c[at + 1];
      elements += !kept || !right;
      different += !right;
      for (const std::size_t i : {at, at + 1}) {
        changed += a[i] != b[i];
        unexpected += kept && a[i] != c[i];
      }
    }
    const RegionVerdict& region = certificate.regions.at(0);
    EXPECT_EQ(region.changed_bytes, changed);
    EXPECT_EQ(region.comparison.elements, elements);
    EXPECT_EQ(region.comparison.different, different);
    EXPECT_EQ(region.unexpected_bytes, unexpected);
    EXPECT_EQ(certificate.verdict, ProofVerdict::differs);
    // Every pure output was written, wrongly where the other one differs.
    EXPECT_EQ(region.not_rewritten_bytes, 0U);
    EXPECT_GT(region.wrong_on_poison_bytes, 0U);
  }
}

}  // namespace
}  // namespace perflab::replay
