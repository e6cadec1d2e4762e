// What candidates are timed on: inputs that they cannot know, whose outputs are looked at after
// each dispatch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "optimize/replay_lab.h"

namespace perflab::optimize {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

using Inputs = std::vector<std::vector<float>>;

std::vector<float> captured_input() {
  std::vector<float> in(kCount);
  for (std::size_t i = 0; i < kCount; ++i) in[i] = static_cast<float>(i) + 1;
  return in;
}
bool is_captured(const Launch& launch) {
  return std::ranges::equal(buffer(launch, 0), captured_input());
}
/// Doubles, and writes down what it doubled.
KernelBody recording(Inputs& inputs) {
  return [&inputs](const Launch& launch) {
    inputs.emplace_back(buffer(launch, 0).begin(), buffer(launch, 0).end());
    doubled(launch);
  };
}

/// A lab with an original and a candidate that are about to be compared.
struct Timing : ReplayLab {
  using ReplayLab::ReplayLab;
  Built before, after;

  /// `name`: other bytes than those of other names.
  void compare(const KernelBody& original_body, const KernelBody& candidate,
               const std::string& name = "candidate") {
    before = built(kernels().define(original_body, "original"));
    after = built(kernels().define(candidate, name));
    const auto ready = workshop().prepare_timing(before, before, after);
    ASSERT_TRUE(ready) << ready.error().message;
  }
  measure::Measured measured(const Built& which) {
    auto out = workshop().backend().measure(which.variant);
    EXPECT_TRUE(out) << describe(out.error());
    return out ? std::move(*out) : measure::Measured{};
  }
  std::string failure(const Built& which) {
    const measure::Measured out = measured(which);
    EXPECT_EQ(out.samples.empty(), !out.failure.empty());
    return out.failure;
  }
};
Check timed_check(const Correctness& proof) {
  return proof.checks.empty() ? Check{} : proof.checks.back();
}

/// What the candidate of this name is timed on, first the original, then it.
std::pair<Inputs, Inputs> inputs_of(const std::string& name, std::uint64_t seed = 1) {
  Inputs a, b;
  Timing lab;
  lab.options.seed = seed;
  lab.compare(recording(a), recording(b), name);
  EXPECT_EQ(lab.failure(lab.before), "");
  EXPECT_EQ(lab.failure(lab.after), "");
  return {std::move(a), std::move(b)};
}

TEST(TimedInputs, DifferFromDispatchToDispatchAndAreTheSameForBoth) {
  const auto [a, b] = inputs_of("candidate");
  ASSERT_EQ(a.size(), 6U);  // one does not count
  EXPECT_EQ(a, b);
  EXPECT_EQ(std::set(a.begin(), a.end()).size(), 5U);
  for (std::size_t i = 1; i < a.size(); ++i) EXPECT_NE(a[i - 1], a[i]);
  EXPECT_EQ(std::ranges::count(a, captured_input()), 0);
}

TEST(TimedInputs, AreSeenTwiceInARowWhereCachesAreWarm) {
  Inputs a, b;
  Timing lab;
  lab.options.caches = replay::Caches::warm;
  lab.compare(recording(a), recording(b));
  EXPECT_EQ(lab.failure(lab.before), "");
  EXPECT_EQ(lab.failure(lab.after), "");
  // Once to be looked at on each of five inputs; then twice in each of six dispatches.
  ASSERT_EQ(a.size(), 5U + 12U);
  EXPECT_EQ(a, b);
  EXPECT_EQ(a[0], a[1]);
  EXPECT_EQ(a[0], a[2]);
  EXPECT_NE(a[2], a[3]);
  EXPECT_EQ(a[15], a[16]);
}

TEST(TimedInputs, ANoteToTheDispatchThatCountsIsSeen) {
  Timing lab;
  lab.options.caches = replay::Caches::warm;
  // Every other dispatch takes back what the one before changed in the input.
  const KernelBody notes = [](const Launch& launch) {
    doubled(launch);
    float& last = buffer(launch, 0)[kCount - 1];
    last = -last;
  };
  lab.compare(doubled, notes);
  EXPECT_THAT(lab.failure(lab.after), HasSubstr("on input 1 of 5 made from the captured one, "));
}

TEST(TimedInputs, FollowFromTheCandidateAndTheSeed) {
  const Inputs first = inputs_of("candidate").first;
  EXPECT_EQ(inputs_of("candidate").first, first);
  const Inputs other = inputs_of("another").first, seeded = inputs_of("candidate", 2).first;
  for (const std::vector<float>& input : first) {
    EXPECT_EQ(std::ranges::count(other, input), 0);
    EXPECT_EQ(std::ranges::count(seeded, input), 0);
  }
}

TEST(TimedInputs, ACandidateThatKnowsTheCapturedInputHasHonestTimes) {
  Timing lab;
  const KernelBody knows = [&](const Launch& launch) {
    const bool known = is_captured(launch);
    lab.device->times = {Nanos{known ? 10 : 1000}};
    for (std::size_t i = 0; i < kCount; ++i)
      buffer(launch, 1)[i] = known ? (static_cast<float>(i) + 1) * 2 : buffer(launch, 0)[i] * 2;
  };
  const Correctness proof = lab.prove(knows);
  EXPECT_FALSE(proof.reason) << proof.sentence;
  EXPECT_EQ(timed_check(proof).name, "timed inputs");
  EXPECT_TRUE(timed_check(proof).passed);
  EXPECT_EQ(timed_check(proof).detail,
            "times are taken on 5 inputs made from the captured one, which differ from candidate "
            "to candidate");
  EXPECT_EQ(timed_check(proof).evidence, (Json{{"inputs", 5}}));
  lab.compare(doubled, knows);
  EXPECT_EQ(lab.measured(lab.after).samples, std::vector<double>(5, 1000));
}

TEST(TimedInputs, WhatIsWrongOnlyWhenItIsTimedHasFailed) {
  Timing lab;
  int dispatches = 0, wrong_at = 0;
  std::size_t where = 1;
  const KernelBody wrong = [&](const Launch& launch) {
    doubled(launch);
    if (++dispatches == wrong_at) buffer(launch, where)[3] = 5;
  };
  EXPECT_FALSE(lab.prove(wrong).reason);
  lab.compare(doubled, wrong);
  for (const std::size_t buffer_number : {0U, 1U})
    for (const int turn : {1, 4}) {  // the first, and one that counts
      where = buffer_number;
      dispatches = 0;
      wrong_at = turn;
      const std::string failure = lab.failure(lab.after);
      EXPECT_THAT(failure, StartsWith("a timed dispatch is wrong: on input " +
                                      std::to_string(turn) + " of 5 made from the captured one, "));
      EXPECT_THAT(failure, AllOf(HasSubstr("1 element differs"), HasSubstr("+0xc: 5 instead of ")));
      EXPECT_EQ(lab.failure(lab.before), "");
    }
  // In a later measurement, too, and of the original.
  wrong_at = 9;
  dispatches = 0;
  where = 1;
  lab.compare(wrong, doubled);
  EXPECT_EQ(lab.failure(lab.before), "");
  EXPECT_THAT(lab.failure(lab.before), StartsWith("a timed dispatch is wrong: on input 3 of 5"));
}

TEST(TimedInputs, TheErrorBudgetHoldsForThemToo) {
  const KernelBody rounds = [](const Launch& launch) {
    doubled(launch);
    for (float& x : buffer(launch, 1)) x *= 1.00001F;
  };
  for (const double budget : {1e-4, 1e-7}) {
    Timing lab;
    lab.options.compare.max_relative = budget;
    lab.compare(doubled, rounds);
    for (int turn = 0; turn < 3; ++turn)
      EXPECT_EQ(lab.failure(lab.after).empty(), budget == 1e-4) << budget;
  }
}

TEST(TimedInputs, WhatTheOriginalDoesNotRepeatIsLeftOut) {
  // The captured value in the first runs, on the captured input: others come with others.
  int runs = 0;
  Timing lab([&](const Launch& launch) {
    doubled(launch);
    if (!is_captured(launch)) buffer(launch, 1)[7] = static_cast<float>(++runs % 3);
  });
  int element = 7;
  lab.compare(doubled, [&](const Launch& launch) {
    doubled(launch);
    if (!is_captured(launch)) buffer(launch, 1)[static_cast<std::size_t>(element)] = -1;
  });
  EXPECT_EQ(lab.failure(lab.after), "");
  element = 8;
  EXPECT_THAT(lab.failure(lab.after), HasSubstr("+0x20: -1 instead of "));
}

TEST(TimedInputs, AnOriginalThatVariesIsRunUntilWhatVariesIsKnown) {
  // Another element in each of four runs: two of them do not show all.
  int runs = 0;
  const KernelBody varies = [&](const Launch& launch) {
    doubled(launch);
    buffer(launch, 1)[10 + static_cast<std::size_t>(++runs % 4)] += 1;
  };
  Timing lab(varies);
  lab.compare(varies, varies);
  for (int turn = 0; turn < 4; ++turn) EXPECT_EQ(lab.failure(lab.after), "");
}

TEST(TimedInputs, WithoutOthersTimesAreOfTheCapturedOneAndSaySo) {
  Timing lab;
  lab.options.perturbations = 0;
  Inputs inputs;
  bool wrong = false;
  const KernelBody body = [&](const Launch& launch) {
    recording(inputs)(launch);
    if (wrong) buffer(launch, 1)[9] = 0;
  };
  const Correctness proof = lab.prove(body);
  EXPECT_EQ(timed_check(proof).name, "timed inputs");
  EXPECT_TRUE(timed_check(proof).passed);
  EXPECT_EQ(timed_check(proof).detail,
            "times are taken on the captured input only: no others were asked for");
  EXPECT_EQ(timed_check(proof).evidence, (Json{{"inputs", 0}}));
  lab.compare(doubled, body);
  inputs.clear();
  EXPECT_EQ(lab.failure(lab.after), "");
  ASSERT_EQ(inputs.size(), 6U);
  for (const std::vector<float>& input : inputs) EXPECT_EQ(input, captured_input());
  wrong = true;
  EXPECT_EQ(lab.failure(lab.after),
            "a timed dispatch is wrong: on the captured input, 1 element differs from what the "
            "original leaves (at 0x200000100000+0x24: 0 instead of 20)");
}

TEST(TimedInputs, AnOriginalThatFailsOnThemIsTimedOnMilderOnes) {
  // Nothing was proven in this process: what the original bears is learned here.
  for (const bool dies : {false, true})
    for (const bool any : {false, true}) {
      Timing lab([&, dies, any](const Launch& launch) {
        doubled(launch);
        const float first = buffer(launch, 0)[0];
        if (any ? first == 1 : first == static_cast<float>(static_cast<int>(first))) return;
        if (dies) throw Crash{};
        lab.fail_with(Failure::kernel_fault);
      });
      Inputs inputs;
      lab.compare(doubled, recording(inputs));
      EXPECT_EQ(lab.failure(lab.after), "");
      EXPECT_EQ(lab.asked, any ? 4 : 3);
      EXPECT_EQ(lab.opened, any ? 4 : 3);
      EXPECT_EQ(std::set(inputs.begin(), inputs.end()).size(), any ? 1U : 5U);
      EXPECT_EQ(std::ranges::count(inputs, captured_input()), any ? 6 : 0);
      if (!any) continue;
      EXPECT_EQ(
          timed_check(lab.prove(doubled)).detail,
          std::string("times are taken on the captured input only: the original itself does "
                      "not end well on inputs that were not captured (") +
              (dies ? "was killed by SIGSEGV (segmentation fault))" : "kernel_fault: on purpose)"));
    }
}

TEST(TimedInputs, AnOriginalThatFailsOnItsOwnInputIsAnError) {
  for (const bool dies : {false, true}) {
    Timing lab([&, dies](const Launch&) {
      if (dies) throw Crash{};
      lab.fail_with(Failure::kernel_fault);
    });
    lab.options.perturbations = 0;
    lab.compare(doubled, doubled);
    const auto measured = lab.workshop().backend().measure(lab.after.variant);
    ASSERT_FALSE(measured);
    EXPECT_EQ(measured.error().code, ErrorCode::target_failed);
    EXPECT_EQ(measured.error().message,
              dies ? "the process that replays the original was killed by SIGSEGV (segmentation "
                     "fault)"
                   : "the captured code object fails on the captured input: kernel_fault: on "
                     "purpose");
  }
}

TEST(TimedInputs, AWorkerThatDoesNotComeUpIsNamed) {
  ReplayLab lab;
  ReplayWorkshopOptions options;
  options.build = "cp {source} {code_object}";
  const auto workshop = make_replay_workshop(
      lab.kernels().written(), options, {}, [](const Json&) -> Result<measure::BenchAnswer> {
        return measure::BenchAnswer{.answer = {}, .ended = "exited with code 3", .step = {}};
      });
  ASSERT_TRUE(workshop);
  const auto measured = (*workshop)->backend().measure({});
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().message,
            "the process that replays the capture exited with code 3 before it ran anything");
}

TEST(TimedInputs, ACaptureThatChangedNothingAllowsForRounding) {
  for (const float factor : {1.00001F, 1.1F}) {
    Timing lab(doubled, doubles());
    lab.options.perturbations = 0;
    lab.options.compare.max_relative = 1e-4;
    lab.compare(doubled, [factor](const Launch& launch) {
      doubled(launch);
      buffer(launch, 1)[2] *= factor;
    });
    EXPECT_EQ(lab.failure(lab.after).empty(), factor < 1.01F);
  }
  int dispatches = 0;
  Timing lab(doubled, doubles());
  lab.options.perturbations = 0;
  lab.compare(doubled, [&](const Launch& launch) {
    doubled(launch);
    if (++dispatches == 5) buffer(launch, 1)[2] = 0;
  });
  EXPECT_THAT(lab.failure(lab.after), StartsWith("a timed dispatch is wrong: on the captured"));
}

TEST(TimedInputs, AProofSaysWhatTheCaptureLacks) {
  ReplayLab lab;
  test::SampleRegion& missing = lab.kernels().sample().add(test::kSampleBase + 0x40000000, {}, {});
  missing.region.bytes = 4096;
  missing.region.not_captured = "it was too large";
  const Correctness proof = lab.prove(doubled);
  EXPECT_FALSE(proof.reason);
  EXPECT_THAT(proof.checks.at(0).detail, HasSubstr("Note: 1 of 3 regions were not captured"));
  const Correctness wrong = lab.prove([](const Launch&) {});
  EXPECT_THAT(wrong.checks.at(0).detail, HasSubstr("Note: 1 of 3 regions were not captured"));
}

// --- each check by itself ----------------------------------------------------------------------

/// One candidate with checks left out, by requests as the workshop makes them.
struct Alone : ReplayLab {
  using ReplayLab::ReplayLab;
  std::string object;

  void take(const KernelBody& body) {
    kernels().define(kernels().device.kernels["k"].body, "original");
    object = kernels().define(body, "candidate").string();
  }
  static Json inputs(bool any) {
    return {{"scope", any ? Json("guessed") : Json(nullptr)},
            {"no_scope_because", "left out"},
            {"seed", 7}};
  }
  /// "REASON: CHECK", empty: it passed.
  std::string proof(bool poison, bool others) {
    const auto answer = ask({{"prove",
                              {{"original", original().code_object.string()},
                               {"candidate", object},
                               {"poison", poison ? "written" : "none"},
                               {"inputs", inputs(others)}}}});
    EXPECT_TRUE(answer) << describe(answer.error());
    const auto proof = correctness_from_json((*answer->answer)["correctness"], "the answer");
    EXPECT_TRUE(proof) << describe(proof.error());
    if (!proof->reason) return "";
    return std::string(to_string(*proof->reason)) + ": " + proof->checks.back().name;
  }
  std::string timed(bool others) {
    const auto answer =
        ask({{"measure",
              {{"name", "candidate"}, {"code_object", object}, {"inputs", inputs(others)}}}});
    EXPECT_TRUE(answer) << describe(answer.error());
    return (*answer->answer)["failure"].get<std::string>();
  }
};

TEST(ChecksAlone, OnlyPoisonShowsWhoLeavesWhatNoOutputWas) {
  Alone lab;
  lab.take([](const Launch& launch) {
    for (std::size_t i = 0; i < kCount; ++i)
      if (std::abs(buffer(launch, 1)[i]) < 1e30F) buffer(launch, 1)[i] = buffer(launch, 0)[i] * 2;
  });
  EXPECT_EQ(lab.proof(true, true), "not_rewritten: poisoned output");
  EXPECT_EQ(lab.proof(false, true), "");
  EXPECT_EQ(lab.timed(true), "");
}

TEST(ChecksAlone, OnlyPerturbedInputsShowWhoKnowsTheCapturedOne) {
  Alone lab;
  lab.take([](const Launch& launch) {
    for (std::size_t i = 0; i < kCount; ++i) buffer(launch, 1)[i] = (static_cast<float>(i) + 1) * 2;
  });
  EXPECT_EQ(lab.proof(true, true), "wrong_on_perturbed_input: perturbed input 1");
  EXPECT_EQ(lab.proof(true, false), "");
  EXPECT_EQ(lab.timed(false), "");
}

TEST(ChecksAlone, OnlyTimedInputsShowWhoKnowsThoseOfTheProof) {
  Alone lab;
  std::set<std::vector<float>> known;
  bool proving = true;
  lab.take([&](const Launch& launch) {
    doubled(launch);
    const std::vector<float> input(buffer(launch, 0).begin(), buffer(launch, 0).end());
    if (proving)
      known.insert(input);
    else if (!known.contains(input))
      buffer(launch, 1)[3] = 5;
  });
  EXPECT_EQ(lab.proof(true, true), "");
  proving = false;
  EXPECT_EQ(lab.proof(true, true), "");
  EXPECT_THAT(lab.timed(true), StartsWith("a timed dispatch is wrong"));
  EXPECT_EQ(lab.timed(false), "");
}

}  // namespace
}  // namespace perflab::optimize
