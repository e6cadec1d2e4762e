// The replay workshop on the fake device: what right, wrong, faulty and overfitted code objects are
// told, with the worker's half in this process; then the process itself, played by shell scripts.
#include "optimize/workshop/workshop_replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/system/files.h"
#include "optimize/replay_lab.h"
#include "replay/failures.h"

namespace perflab::optimize {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ReplayWorkshop, AnOriginalAndARightCandidatePassEveryCheck) {
  ReplayLab lab;
  const Built original = lab.original();
  const auto itself = lab.workshop().prove(original, original);
  ASSERT_TRUE(itself) << describe(itself.error());
  EXPECT_FALSE(itself->reason);
  const Correctness proof = lab.prove([](const Launch& launch) {
    for (std::size_t i = kCount; i-- > 0;)
      buffer(launch, 1)[i] = buffer(launch, 0)[i] + buffer(launch, 0)[i];
  });
  EXPECT_FALSE(proof.reason);
  EXPECT_THAT(names_of(proof),
              ElementsAre("golden output", "poisoned output", "perturbed input 1",
                          "perturbed input 2", "perturbed input 3", "timed inputs"));
  EXPECT_EQ(proof.checks[0].evidence["elements"], kCount);
  EXPECT_EQ(proof.checks[0].evidence["different"], 0);
  EXPECT_EQ(proof.checks[1].evidence["pure_output_bytes"], kCount * 4);
  EXPECT_EQ(proof.checks[2].evidence["scope"], "guessed");
  EXPECT_GT(proof.checks[2].evidence["changed_output_bytes"], 0);
  EXPECT_EQ(proof.sentence, "It computes what the original does in 5 checks.");
  EXPECT_EQ(lab.opened, 1);
}

TEST(ReplayWorkshop, WrongCandidatesAreRefusedWithTheReason) {
  ReplayLab lab;
  expect_refused(lab.prove([](const Launch&) {}), Reason::wrong_output, "golden output");
  const Correctness one_wrong = lab.prove([](const Launch& launch) {
    doubled(launch);
    buffer(launch, 1)[7] = 5;
  });
  expect_refused(one_wrong, Reason::wrong_output, "golden output");
  EXPECT_THAT(one_wrong.sentence, HasSubstr("(at 0x200000100000+0x1c: 5 instead of 16)"));
  EXPECT_EQ(one_wrong.checks[0].evidence["beyond_tolerance"], 1);
  expect_refused(lab.prove([](const Launch& launch) {
    doubled(launch);
    buffer(launch, 0)[0] = 9;
  }),
                 Reason::unexpected_writes, "golden output");
  // Right on zeros only.
  expect_refused(lab.prove([](const Launch& launch) {
    for (std::size_t i = 0; i < kCount; ++i) buffer(launch, 1)[i] += buffer(launch, 0)[i] * 2;
  }),
                 Reason::not_rewritten, "poisoned output");
  expect_refused(lab.prove([](const Launch& launch) {
    for (std::size_t i = 0; i < kCount; ++i) {
      const float right = buffer(launch, 0)[i] * 2;
      buffer(launch, 1)[i] = buffer(launch, 1)[i] == 0 ? right : right + 1;
    }
  }),
                 Reason::wrong_output, "poisoned output");
  // Right on what was captured.
  const Correctness overfitted = lab.prove([](const Launch& launch) {
    for (std::size_t i = 0; i < kCount; ++i) buffer(launch, 1)[i] = (static_cast<float>(i) + 1) * 2;
  });
  expect_refused(overfitted, Reason::wrong_on_perturbed_input, "perturbed input 1");
  EXPECT_EQ(overfitted.checks.size(), 3U);
  EXPECT_EQ(lab.opened, 1);
}

TEST(ReplayWorkshop, FaultsHangsAndCrashesAreTheCandidatesAndCostOnlyTheWorker) {
  ReplayLab lab;
  expect_refused(lab.prove([&](const Launch&) { lab.fail_with(Failure::kernel_fault); }),
                 Reason::faulted, "golden output");
  expect_refused(lab.prove([&](const Launch&) { lab.fail_with(Failure::timed_out); }),
                 Reason::timed_out, "golden output");
  const Correctness crashed = lab.prove([](const Launch&) { throw Crash{}; });
  expect_refused(crashed, Reason::faulted, "golden output");
  EXPECT_EQ(crashed.sentence, "the process that ran it was killed by SIGSEGV (segmentation fault)");
  const auto on_other_input = [](const Launch& launch) { return buffer(launch, 0)[0] != 1; };
  expect_refused(lab.prove([&](const Launch& launch) {
    doubled(launch);
    if (on_other_input(launch)) lab.fail_with(Failure::timed_out);
  }),
                 Reason::timed_out, "perturbed input 1");
  expect_refused(lab.prove([&](const Launch& launch) {
    doubled(launch);
    if (on_other_input(launch)) throw Crash{};
  }),
                 Reason::faulted, "perturbed inputs");
  // Reads what only poison can bring it to.
  expect_refused(lab.prove([&](const Launch& launch) {
    if (buffer(launch, 1)[0] != 0) lab.fail_with(Failure::kernel_fault);
    doubled(launch);
  }),
                 Reason::faulted, "poisoned output");
  EXPECT_FALSE(lab.prove(doubled).reason);
  EXPECT_EQ(lab.opened, 7);
}

TEST(ReplayWorkshop, CandidatesThatDoNotFitTheDispatchNeverRun) {
  ReplayLab lab;
  const auto prove_object = [&](const std::string& bytes) {
    const auto file = lab.kernels().folder().write("odd.hsaco", bytes);
    auto proof = lab.workshop().prove(lab.original(), ReplayLab::built(file));
    EXPECT_TRUE(proof) << proof.error().message;
    return proof ? *proof : Correctness{};
  };
  expect_refused(
      prove_object(test::one_kernel_object(
          "k", {{0, 8, "global_buffer"}, {8, 8, "global_buffer"}, {16, 2, "by_value"}}, 18)),
      Reason::kernarg_changed, "golden output");
  expect_refused(prove_object(test::one_kernel_object("other", {}, 0)), Reason::kernel_missing,
                 "golden output");
}

TEST(ReplayWorkshop, AnOriginalThatFailsOnInventedInputsGetsMilderOnes) {
  // It takes a float for an index, as it is: fine as long as the numbers only change places.
  bool worst = false;
  ReplayLab lab([&](const Launch& launch) {
    doubled(launch);
    const float first = buffer(launch, 0)[0];
    if (first != std::floor(first) || (worst && first != 1)) throw Crash{};
  });
  const Correctness mild = lab.prove(doubled);
  EXPECT_FALSE(mild.reason);
  ASSERT_EQ(mild.checks.size(), 6U);
  EXPECT_EQ(mild.checks[2].evidence["scope"], "permuted");
  EXPECT_EQ(lab.asked, 3);
  // It is remembered.
  EXPECT_FALSE(lab.prove(doubled).reason);
  EXPECT_EQ(lab.asked, 4);
  worst = true;
  const Correctness none = lab.prove(doubled);
  EXPECT_FALSE(none.reason);
  ASSERT_EQ(none.checks.size(), 4U);
  EXPECT_EQ(none.checks[2].name, "perturbed inputs");
  EXPECT_THAT(none.checks[2].detail, HasSubstr("none possible: the original itself does not end"));
  EXPECT_EQ(lab.asked, 6);
}

TEST(ReplayWorkshop, AnOriginalThatFailsOnInventedInputsWithoutDyingToo) {
  ReplayLab lab([&](const Launch& launch) {
    doubled(launch);
    if (buffer(launch, 0)[0] != 1) lab.fail_with(Failure::kernel_fault);
  });
  const Correctness proof = lab.prove(doubled);
  EXPECT_FALSE(proof.reason);
  EXPECT_THAT(proof.checks.at(2).detail, HasSubstr("kernel_fault: on purpose"));
  EXPECT_EQ(lab.asked, 4);
}

TEST(ReplayWorkshop, AnOriginalThatFailsOnPoisonIsProvenWithout) {
  for (const bool dies : {false, true}) {
    ReplayLab lab([&](const Launch& launch) {
      if (buffer(launch, 1)[0] != 0 && buffer(launch, 0)[0] == 1) {
        if (dies) throw Crash{};
        lab.fail_with(Failure::kernel_fault);
      }
      doubled(launch);
    });
    lab.options.perturbations = 0;
    const Correctness proof = lab.prove(doubled);
    EXPECT_FALSE(proof.reason);
    ASSERT_EQ(proof.checks.size(), 4U);
    EXPECT_THAT(proof.checks[1].detail, HasSubstr("not tried"));
    EXPECT_EQ(proof.checks[2].detail, "none were asked for");
    EXPECT_EQ(lab.opened, 2);
  }
}

TEST(ReplayWorkshop, ACaptureThatChangedNothingIsProvenOnPoisonedArguments) {
  ReplayLab lab(doubled, doubles());
  const Correctness proof = lab.prove(doubled);
  EXPECT_FALSE(proof.reason);
  EXPECT_EQ(proof.checks.at(0).evidence["elements"], kCount);
  EXPECT_THAT(proof.checks.at(0).detail,
              HasSubstr("found by running the original on poisoned buffers of its arguments"));
  expect_refused(lab.prove([](const Launch&) {}), Reason::not_rewritten, "poisoned output");
}

/// Why nothing can be proven in it.
Error refusal_of(ReplayLab& lab) {
  const auto proof = lab.try_prove(doubled);
  EXPECT_FALSE(proof);
  if (proof) return {};
  EXPECT_EQ(proof.error().code, ErrorCode::refused);
  return proof.error();
}

TEST(ReplayWorkshop, ACaptureOfAKernelThatWritesNothingIsRefusedByName) {
  ReplayLab lab([](const Launch&) {}, doubles());
  const Error refused = refusal_of(lab);
  EXPECT_THAT(refused.message, HasSubstr("it wrote nothing even on poisoned memory"));
  EXPECT_THAT(refused.remedy, HasSubstr("a dispatch that writes something"));
}

TEST(ReplayWorkshop, ACaptureThatWorkedInPlaceAndChangedNothingIsRefusedByName) {
  ReplayLab lab(
      [](const Launch& launch) {
        for (float& x : buffer(launch, 1)) x = x < 0 ? -x : x;
      },
      doubles());
  const Error refused = refusal_of(lab);
  EXPECT_THAT(refused.message, HasSubstr("it works in place"));
  EXPECT_THAT(refused.remedy, HasSubstr("--dispatch 1"));
}

TEST(ReplayWorkshop, ACaptureThatOnlyPoisonCouldShowIsNotTriedWithoutIt) {
  ReplayLab lab(
      [&](const Launch& launch) {
        if (buffer(launch, 1)[0] != 2) lab.fail_with(Failure::kernel_fault);
      },
      doubles());
  EXPECT_THAT(refusal_of(lab).message, HasSubstr("poison was to show what it writes"));
  EXPECT_EQ(lab.opened, 1);
}

TEST(ReplayWorkshop, WhatCannotBeProvenIsRefusedWithARemedy) {
  // The source is not that of the capture.
  ReplayLab lab;
  const Built wrong = ReplayLab::built(lab.kernels().define([](const Launch&) {}, "source"));
  const auto other_source = lab.workshop().prove(wrong, wrong);
  ASSERT_FALSE(other_source);
  EXPECT_EQ(other_source.error().code, ErrorCode::refused);
  EXPECT_THAT(other_source.error().message,
              HasSubstr("the source as it is does not compute what was captured"));
  EXPECT_THAT(other_source.error().remedy, HasSubstr("--build"));
}

TEST(ReplayWorkshop, ACaptureThatDoesNotReproduceItselfIsRefused) {
  ReplayLab lab([](const Launch& launch) {
    doubled(launch);
    buffer(launch, 1)[3] = -1;
  });
  const auto proof = lab.try_prove(doubled);
  ASSERT_FALSE(proof);
  EXPECT_EQ(proof.error().code, ErrorCode::refused);
  EXPECT_THAT(proof.error().message, HasSubstr("does not reproduce itself"));
}

TEST(ReplayWorkshop, AnOriginalThatDiesOnItsOwnInputIsAnError) {
  ReplayLab lab([](const Launch&) { throw Crash{}; });
  const auto proof = lab.try_prove(doubled);
  ASSERT_FALSE(proof);
  EXPECT_EQ(proof.error().code, ErrorCode::target_failed);
  EXPECT_EQ(proof.error().message,
            "the process that replays the original was killed by SIGSEGV (segmentation fault)");
  EXPECT_EQ(lab.asked, 2);  // again without poison
}

TEST(ReplayWorkshop, TheErrorBudgetIsKept) {
  const KernelBody rounds = [](const Launch& launch) {
    doubled(launch);
    for (float& x : buffer(launch, 1))
      x = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) + 2);
  };
  {
    ReplayLab lab;
    expect_refused(lab.prove(rounds), Reason::wrong_output, "golden output");
  }
  ReplayLab lab;
  lab.options.compare.max_ulp = 2;
  const Correctness proof = lab.prove(rounds);
  EXPECT_FALSE(proof.reason);
  EXPECT_EQ(proof.checks.at(0).evidence["largest_ulp"], 2);
  EXPECT_EQ(proof.checks.at(2).evidence["largest_ulp"], 2);
}

TEST(ReplayWorkshop, TimesComeFromTheWorkerAndProofsGoOnAfterThem) {
  ReplayLab lab;
  lab.options.iterations = 2;
  lab.times.insert(lab.times.begin(), 2, Nanos{1});  // the captured code object goes first
  measure::Backend& backend = lab.workshop().backend();
  EXPECT_EQ(backend.name(), "replay");
  EXPECT_EQ(backend.unit(), "ns");
  const Built original = lab.original();
  const auto measured = backend.measure(original.variant);
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->failure, "");
  EXPECT_EQ(measured->samples, (std::vector<double>{2000, 3000}));  // the first warms up
  EXPECT_FALSE(lab.prove(doubled).reason);
  EXPECT_EQ(lab.opened, 1);
}

TEST(ReplayWorkshop, AFailureWhileTimedIsTheVariants) {
  ReplayLab lab;
  measure::Variant faulty, crashing;
  faulty.code_object =
      lab.kernels().define([&](const Launch&) { lab.fail_with(Failure::kernel_fault); }, "faulty");
  crashing.code_object = lab.kernels().define([](const Launch&) { throw Crash{}; }, "crashing");
  measure::Backend& backend = lab.workshop().backend();
  EXPECT_EQ(backend.measure(faulty)->failure, "kernel_fault: on purpose");
  EXPECT_EQ(backend.measure(crashing)->failure,
            "the process that ran it was killed by SIGSEGV (segmentation fault)");
  EXPECT_EQ(backend.measure(lab.original().variant)->samples.size(), 5U);
  EXPECT_EQ(backend.measure({})->samples.size(), 5U);  // the captured one
  EXPECT_EQ(lab.opened, 3);
}

TEST(ReplayWorkshop, BuildsWithACommandTwice) {
  ReplayLab lab;
  const test::TempFolder folder;
  const std::string object = KernelBench::object("candidate");
  const auto source = folder.write("candidate.hip", object);
  const auto built = lab.workshop().build(source, folder / "build");
  ASSERT_TRUE(built) << built.error().message;
  ASSERT_TRUE(built->built) << built->compiler_text;
  EXPECT_TRUE(built->built->reproducible);
  EXPECT_EQ(built->built->source, source);
  EXPECT_EQ(built->built->variant.code_object, built->built->code_object);
  EXPECT_EQ(read_file(built->built->code_object), object);
  // The guards work on what was built.
  const auto guards = lab.workshop().check_object(*built->built, *built->built);
  ASSERT_TRUE(guards);
  EXPECT_EQ(guards->results.size(), 7U);
  for (const GuardResult& guard : guards->results) EXPECT_TRUE(guard.passed) << guard.detail;
  EXPECT_EQ(lab.workshop().workgroup_size(), 256);
  ReplayLab writes_nothing;
  writes_nothing.options.build = "sh -c 'echo oops; : > \"$1\"' sh {build_dir}/{code_object}x";
  const auto failed = writes_nothing.workshop().build(source, folder / "nothing");
  ASSERT_TRUE(failed);
  EXPECT_FALSE(failed->built);
  EXPECT_THAT(failed->compiler_text, HasSubstr("oops"));
  ReplayLab no_place;
  ReplayWorkshopOptions options;
  options.build = "cc {source}";
  const auto refused = make_replay_workshop(
      no_place.kernels().written(), options, {},
      [](const Json&) -> Result<measure::BenchAnswer> { return measure::BenchAnswer{}; });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::usage);
}

TEST(ReplayWorkshop, BuildsWithACompiler) {
  auto compiler = code::find_compiler("gfx942");
  if (!compiler || !compiler->knows("gfx942")) GTEST_SKIP() << "no compiler for gfx942";
  KernelBench kernels(std::vector<float>(kCount), doubles(), doubled);
  const test::TempFolder folder;
  ReplayWorkshopOptions options;
  options.source = folder.write("user.hip", "");
  static_cast<void>(folder.write("three.h", "#define THREE 3\n"));
  options.compile_arguments = {"-nogpuinc", "-nogpulib", "-DFOUR=4"};
  const auto workshop = make_replay_workshop(
      kernels.written(), options, *compiler,
      [](const Json&) -> Result<measure::BenchAnswer> { return measure::BenchAnswer{}; });
  ASSERT_TRUE(workshop);
  EXPECT_EQ((*workshop)->identity()["compiler"], compiler->version);
  std::filesystem::create_directory(folder / "candidates");
  const auto source = folder.write(
      "candidates/1.hip",
      "#include \"three.h\"\n"
      "extern \"C\" __attribute__((global)) void k(float* x) { x[0] = THREE * FOUR; }");
  const auto built = (*workshop)->build(source, folder / "1");
  ASSERT_TRUE(built) << describe(built.error());
  ASSERT_TRUE(built->built) << built->compiler_text;
  EXPECT_TRUE(built->built->reproducible);
  EXPECT_THAT(built->built->hash, HasSubstr("sha256:"));
  const auto broken = folder.write("candidates/2.hip", "this is not a source");
  const auto failed = (*workshop)->build(broken, folder / "2");
  ASSERT_TRUE(failed);
  EXPECT_FALSE(failed->built);
  EXPECT_THAT(failed->compiler_text, HasSubstr("2.hip:1:1: error: "));
}

TEST(ReplayWorkshop, ItsIdentityNamesEverythingThatDecides) {
  ReplayLab lab;
  lab.options.compare.max_ulp = 3;
  const Json identity = lab.workshop().identity();
  EXPECT_EQ(identity["kind"], "replay");
  EXPECT_EQ(identity["capture"], lab.kernels().written().hash());
  EXPECT_EQ(identity["target"], "gfx942:sramecc+:xnack-");
  EXPECT_EQ(identity["build"], "cp '{source}' '{code_object}'");
  EXPECT_EQ(identity["tolerance"]["max_ulp"], 3);
  EXPECT_TRUE(identity["tolerance"]["type"].is_null());
  EXPECT_EQ(lab.workshop().identity(), identity);
}

TEST(ReplayBench, SetupsAndProofsTravelAsJson) {
  BenchSetup setup{.capture = "/tmp/c", .perturbations = 5, .seed = 9, .iterations = 2};
  setup.compare.type = replay::ElementType::bf16;
  setup.compare.max_relative = 0.25;
  setup.compare.nan_equal = false;
  const auto back = bench_setup_from_json(to_json(setup), "setup");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), to_json(setup));
  for (const char* field : {"capture", "seed", "tolerance", "iterations"}) {
    Json damaged = to_json(setup);
    damaged.erase(field);
    EXPECT_FALSE(bench_setup_from_json(damaged, "setup")) << field;
  }
  Json zero = to_json(setup);
  zero["iterations"] = 0;
  EXPECT_FALSE(bench_setup_from_json(zero, "setup"));
  zero = to_json(setup);
  zero["tolerance"]["type"] = "f33";
  EXPECT_FALSE(bench_setup_from_json(zero, "setup"));
  Correctness proof;
  proof.checks.push_back({.name = "a", .passed = false, .detail = "b", .evidence = {{"c", 1}}});
  proof.reason = Reason::timed_out;
  proof.sentence = "d";
  const Json json = correctness_json(proof);
  EXPECT_EQ(correctness_json(*correctness_from_json(json, "proof")), json);
  Json damaged = json;
  damaged["reason"] = "bad mood";
  EXPECT_FALSE(correctness_from_json(damaged, "proof"));
  damaged = json;
  damaged["checks"][0].erase("passed");
  EXPECT_FALSE(correctness_from_json(damaged, "proof"));
}

}  // namespace
}  // namespace perflab::optimize
