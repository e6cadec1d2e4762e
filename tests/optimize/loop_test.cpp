// The loop on fakes: decisions, repairs, what ends it, files that change, the final proof, --apply.
#include "optimize/rounds/loop.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "optimize/fakes.h"
#include "optimize/kernel_names.h"
#include "optimize/rounds/apply.h"
#include "optimize/rounds/diff.h"

namespace perflab::optimize {
namespace {

using fakes::Bench;
using fakes::decisions;
using fakes::FakeProposer;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Loop, DecidesEveryCandidateForItsOwnReason) {
  Bench bench;
  FakeProposer proposer({"speed 0.99\n", "speed 1.3\n", "broken\n", "wrong\nspeed 0.5\n",
                         "forbidden\nspeed 0.5\n", "layout\nspeed 0.5\n", "crash\n",
                         "unsteady\nspeed 0.5\n", "big\nspeed 1.0\n", "problem no_code",
                         "problem timed_out", "  \n", " /* words */ speed   1.0", "speed 0.8\n",
                         "speed 0.99 // once more\n", "big\nspeed 0.4\n"});
  const auto done = bench.run(proposer);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_THAT(
      decisions(*done),
      ElementsAre("no_gain", "slower", "does_not_compile", "wrong_output", "inline_assembly",
                  "kernarg_changed", "faulted", "not_reproducible", "resources", "no_code",
                  "bad_answer", "no_code", "unchanged", "accepted", "tried_before", "accepted"));
  EXPECT_EQ(done->candidates[13].against, 0U);
  EXPECT_EQ(done->candidates[15].against, 14U);
  EXPECT_THAT(done->candidates[15].decision.sentence, HasSubstr("vgprs 32 to 64"));
  EXPECT_EQ(done->accepted, 16U);
  EXPECT_EQ(done->accepted_text, "big\nspeed 0.4\n");
  EXPECT_EQ(done->ended, Ended::no_more_proposals);
  ASSERT_TRUE(done->final_proof && done->final_proof->measurement);
  EXPECT_NEAR(speed_up(*done->final_proof->measurement)->value, 2.5, 0.05);
  EXPECT_EQ(test::text_of(bench.source), fakes::kOriginal);  // nothing was applied
}

TEST(Loop, SaysWhatTheGainIsOnTheCapturedInput) {
  for (const bool differs : {true, false}) {
    Bench bench;
    bench.workshop.has_captured_input = true;
    FakeProposer proposer({differs ? "speed 0.5 captured 0.25\n" : "speed 0.5\n"});
    const auto done = bench.run(proposer);
    ASSERT_TRUE(done && done->accepted);
    const FinalProof& proof = *done->final_proof;
    ASSERT_TRUE(proof.as_captured);
    EXPECT_NEAR(speed_up(*proof.measurement)->value, 2, 0.05);
    EXPECT_NEAR(speed_up(*proof.as_captured)->value, differs ? 4 : 2, 0.1);
    EXPECT_EQ(std::ranges::count_if(done->warnings,
                                    [](const std::string& warning) {
                                      return warning.starts_with("the gain depends on the data: ");
                                    }),
              differs ? 1 : 0);
    const auto again = final_proof_from_json(to_json(proof), "here");
    ASSERT_TRUE(again);
    EXPECT_EQ(to_json(*again), to_json(proof));
  }
}

TEST(Loop, WhatIsWrongOnTheCapturedInputAloneIsNotAccepted) {
  Bench bench;
  bench.workshop.has_captured_input = true;
  FakeProposer proposer({"speed 0.5 strays there\n"});
  const auto done = bench.run(proposer);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_FALSE(done->accepted);
  EXPECT_EQ(done->decision.reason, Reason::faulted);
  EXPECT_THAT(done->decision.sentence, HasSubstr("a timed dispatch is wrong"));
}

TEST(Loop, DoesOnlyTheStepsThatAreNeeded) {
  Bench bench;
  FakeProposer proposer({"forbidden\n", "speed 1.0 // same\n", "broken\n"});
  const auto done = bench.run(proposer);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(bench.workshop.builds, 2);  // the original and the one that does not compile
  EXPECT_EQ(bench.workshop.proofs, 1);
  EXPECT_EQ(bench.workshop.measured(), 0);
  EXPECT_FALSE(done->accepted);
  EXPECT_FALSE(done->final_proof);
  EXPECT_EQ(done->decision.sentence, "no candidate was accepted");
}

TEST(Loop, TellsTheProposerWhatIsKnownAndWhatWasTried) {
  Bench bench;
  bench.options.context = {{"architecture", {{"name", "gfx942"}}}};
  FakeProposer proposer({"wrong\n", "speed 0.5\n", "speed 0.9\n"});
  ASSERT_TRUE(bench.run(proposer));
  ASSERT_EQ(proposer.asked.size(), 4U);
  const llm::Task& first = proposer.asked[0];
  EXPECT_EQ(first.source, fakes::kOriginal);
  EXPECT_EQ(first.kernel, "ns::k");
  EXPECT_EQ(first.kernel_source, fakes::kOriginal);
  EXPECT_EQ(first.context["architecture"]["name"], "gfx942");
  EXPECT_TRUE(first.context["roofline"].is_null());
  EXPECT_EQ(first.context["resources"]["vgprs"], 32);
  EXPECT_EQ(first.context["history"], Json::array());
  const llm::Task& last = proposer.asked[3];
  EXPECT_EQ(last.source, "speed 0.5\n");  // the best one
  EXPECT_EQ(last.context["history"].size(), 3U);
  EXPECT_EQ(last.context["history"][0]["reason"], "wrong_output");
  EXPECT_EQ(last.context["history"][0]["sentence"], "element 3 differs");
  EXPECT_EQ(last.context["history"][1]["outcome"], "accepted");
  // Measured figures would keep a transcript from being played back.
  EXPECT_EQ(last.context["history"][2]["sentence"], "it was slower");
}

TEST(Loop, AsksForRepairsOfWhatDoesNotCompileAtMostTwice) {
  Bench bench;
  FakeProposer proposer({"broken 1\n", "broken 2\n", "broken 3\n", "broken 4\n", "speed 0.5\n"},
                        true);
  const auto done = bench.run(proposer);
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_EQ(done->candidates.size(), 5U);
  EXPECT_EQ(done->candidates[1].repairs, 1U);
  EXPECT_EQ(done->candidates[2].repairs, 2U);
  EXPECT_EQ(done->candidates[2].round, 1U);
  EXPECT_FALSE(done->candidates[3].repairs);  // a new proposal
  EXPECT_EQ(done->candidates[4].repairs, 4U);
  EXPECT_EQ(done->accepted, 5U);
  EXPECT_EQ(proposer.asked[1].rejected_source, "broken 1\n");
  // The folder's name is not told: it is another one on every machine.
  EXPECT_EQ(proposer.asked[1].compiler_text, "candidates/001.hip:1: error: broken\n");
  EXPECT_EQ(proposer.asked[3].compiler_text, "");
}

TEST(Loop, EndsAtItsLimits) {
  Bench bench;
  bench.options.max_candidates = 2;
  FakeProposer many({"speed 1.1\n", "speed 1.2\n", "speed 1.3\n"});
  auto done = bench.run(many);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->ended, Ended::max_candidates);
  EXPECT_EQ(done->candidates.size(), 2U);

  Bench patient;
  patient.options.patience = 2;
  FakeProposer bad({"wrong 1\n", "speed 0.5\n", "wrong 2\n", "wrong 3\n", "speed 0.1\n"});
  done = patient.run(bad);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->ended, Ended::patience);
  EXPECT_EQ(done->candidates.size(), 4U);
  EXPECT_EQ(done->accepted, 2U);

  Bench hasty;
  hasty.options.time_budget = std::chrono::milliseconds(0);
  FakeProposer never({"speed 0.5\n"});
  done = hasty.run(never);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->ended, Ended::time_budget);
  EXPECT_TRUE(done->candidates.empty());
}

TEST(Loop, AnOriginalThatCannotBeBuiltOrProvenIsRefused) {
  for (const char* text : {"broken\n", "wrong\n"}) {
    Bench bench;
    ASSERT_TRUE(write_file_atomically(bench.source, text));
    FakeProposer proposer({"speed 0.5\n"});
    const auto done = bench.run(proposer);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::refused);
    EXPECT_TRUE(proposer.asked.empty());
  }
}

TEST(Loop, AnOriginalWhoseBuildsDifferIsAWarning) {
  Bench bench;
  ASSERT_TRUE(write_file_atomically(bench.source, "unsteady\nspeed 1.0\n"));
  FakeProposer proposer({"unsteady\nspeed 0.5\n"});
  const auto done = bench.run(proposer);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->accepted, 1U);
  EXPECT_EQ(done->warnings.size(), 1U);
}

TEST(Loop, NothingIsAcceptedWhenTheFinalProofFails) {
  Bench bench;
  bench.workshop.fail_proof = 3;  // the original, the candidate, the final one
  FakeProposer proposer({"speed 0.5\n"});
  const auto done = bench.run(proposer);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->best, 1U);
  EXPECT_FALSE(done->accepted);
  EXPECT_EQ(done->decision.reason, Reason::wrong_output);
  EXPECT_THAT(done->decision.sentence, HasSubstr("the final comparison"));
}

/// Files of ours, as a candidate finds them while it runs.
TEST(Loop, ACandidateThatChangesFilesIsRefused) {
  for (const std::string when : {"proof", "timing"})
    for (const std::string what : {"object", "text", "itself"}) {
      Bench bench;
      FakeProposer proposer(
          {"tampers-" + when + "-" + what + "\nspeed 0.5\n", "speed 0.6\n", "wrong\n"});
      const auto done = bench.run(proposer);
      ASSERT_TRUE(done) << when << what << ": " << done.error().message;
      EXPECT_THAT(decisions(*done), ElementsAre("files_changed", "accepted", "wrong_output"));
      const Candidate& cheat = done->candidates[0];
      const std::string file = what == "object" ? "builds/000/object"
                               : what == "text" ? "candidates/000.hip"
                                                : "builds/001/object";
      EXPECT_THAT(cheat.decision.sentence, testing::StartsWith(file));
      ASSERT_TRUE(cheat.proof);
      if (when == "proof") {
        EXPECT_EQ(cheat.proof->checks.back().name, "files");
        EXPECT_FALSE(cheat.proof->checks.back().passed);
        EXPECT_FALSE(cheat.measurement);
      } else {
        ASSERT_TRUE(cheat.measurement);
        EXPECT_EQ(cheat.measurement->changed_file, file);
      }
      // The original is its own again, and the next one is measured against it.
      EXPECT_EQ(done->accepted, 2U);
      EXPECT_NEAR(speed_up(*done->candidates[1].measurement)->value, 1 / 0.6, 0.05);
      EXPECT_EQ(test::text_of(bench.folder / "out/builds/000/object"), fakes::kOriginal);
      EXPECT_EQ(test::text_of(bench.folder / "out/candidates/000.hip"), fakes::kOriginal);
      EXPECT_TRUE(done->warnings.empty());
    }
}

/// The build of the best so far is not run in a proof, but the next comparison needs it.
TEST(Loop, ACandidateThatChangesTheBestOneIsRefused) {
  for (const std::string when : {"proof", "timing"}) {
    Bench bench;
    FakeProposer proposer({"speed 0.9\n", "tampers-" + when + "-best\nspeed 0.5\n", "speed 0.6\n"});
    const auto done = bench.run(proposer);
    ASSERT_TRUE(done) << when << ": " << done.error().message;
    EXPECT_THAT(decisions(*done), ElementsAre("accepted", "files_changed", "accepted")) << when;
    EXPECT_THAT(done->candidates[1].decision.sentence, testing::StartsWith("builds/001/object"));
    EXPECT_TRUE(done->warnings.empty());
  }
}

/// Folders of builds are emptied before each build.
TEST(Loop, ASourceInAFolderOfBuildsIsRefused) {
  Bench bench;
  bench.options.source = bench.folder / "out/builds/000/k.hip";
  std::filesystem::create_directories(bench.options.source.parent_path());
  ASSERT_TRUE(write_file_atomically(bench.options.source, fakes::kOriginal));
  FakeProposer proposer({"speed 0.5\n"});
  const auto done = bench.run(proposer);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::usage);
  EXPECT_EQ(test::text_of(bench.options.source), fakes::kOriginal);
}

/// An error of a proof is nobody's fault but the candidate's, when it changed what was run.
TEST(Loop, AnErrorAfterFilesWereChangedIsTheCandidates) {
  Bench bench;
  FakeProposer cheat({"tampers-proof-object\nderails\n", "speed 0.5\n"});
  const auto done = bench.run(cheat);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_THAT(decisions(*done), ElementsAre("files_changed", "accepted"));
  Bench other;
  FakeProposer honest({"derails\n", "speed 0.5\n"});
  const auto failed = other.run(honest);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::target_failed);
}

TEST(Loop, FilesThatSomethingElseChangedAreBuiltAgainOrEndIt) {
  for (const char* changed : {"out/builds/000/object", "out/candidates/000.hip"})
    for (const bool steady : {true, false}) {
      Bench bench;
      const std::string original = steady ? fakes::kOriginal : "unsteady\n" + fakes::kOriginal;
      ASSERT_TRUE(write_file_atomically(bench.source, original));
      FakeProposer proposer({"speed 0.8\n", "speed 0.5\n"});
      proposer.before_next = [&](std::size_t asked) {
        if (asked == 2) {
          ASSERT_TRUE(write_file_atomically(bench.folder / changed, "speed 7.0\n"));
        }
      };
      const auto done = bench.run(proposer);
      ASSERT_EQ(done.has_value(), steady) << changed;
      if (steady) {
        EXPECT_THAT(decisions(*done), ElementsAre("accepted", "accepted"));
        EXPECT_THAT(done->warnings, ElementsAre(HasSubstr("was changed by something else")));
        EXPECT_NEAR(speed_up(*done->final_proof->measurement)->value, 2, 0.05);
      } else {
        EXPECT_EQ(done.error().code, ErrorCode::refused);
        EXPECT_THAT(done.error().message, HasSubstr(std::string(changed) + " was changed"));
        EXPECT_THAT(done.error().remedy, HasSubstr("--out"));
      }
    }
}

TEST(Loop, TheFinalProofIsOfBuildsMadeAnew) {
  Bench bench;
  FakeProposer proposer({"speed 0.5\n"});
  ASSERT_TRUE(bench.run(proposer));
  EXPECT_EQ(bench.workshop.builds, 4);  // the original and the candidate, twice
  EXPECT_EQ(bench.workshop.prepared, 2);
  for (const int at_end : {0, 1}) {
    Bench other;
    FakeProposer again({"speed 0.5\n"});
    again.before_next = [&](std::size_t asked) {
      if (asked == 2 && at_end == 1) other.workshop.flags = "-O3";
    };
    const auto done = other.run(again);
    ASSERT_EQ(done.has_value(), at_end == 0);
    if (!done) {
      EXPECT_THAT(done.error().message, HasSubstr("the original builds to"));
    }
  }
}

TEST(Loop, AFinalProofAfterWhichFilesAreOthersAcceptsNothing) {
  for (const char* step : {"proof", "timing"}) {
    Bench bench;
    FakeProposer proposer({"speed 0.5\n"});
    LoopTools tools = bench.tools(proposer);
    tools.on_step = [&](const Candidate& candidate, std::string_view now, std::size_t turns) {
      const bool final_one =
          candidate.number == 1 && candidate.decision.outcome == Outcome::accepted;
      if (final_one && now == step && turns < 3) {
        ASSERT_TRUE(write_file_atomically(bench.folder / "out/builds/000/object", "speed 7.0\n"));
      }
    };
    const auto done = bench.run(tools);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_THAT(decisions(*done), ElementsAre("accepted"));
    EXPECT_EQ(done->decision.reason, Reason::files_changed) << step;
    EXPECT_FALSE(done->accepted);
  }
}

TEST(Decision, RecordsThatContradictThemselvesAcceptNothing) {
  Bench bench;
  FakeProposer proposer({"big\nspeed 0.5\n"});
  const auto done = bench.run(proposer);
  ASSERT_TRUE(done && done->accepted);
  using Change = std::function<void(Correctness&, Measurement&)>;
  const std::vector<std::pair<Reason, Change>> changes = {
      {Reason::proves_nothing, [](Correctness& p, Measurement&) { p.checks[0].passed = false; }},
      {Reason::proves_nothing, [](Correctness& p, Measurement&) { p.checks.clear(); }},
      {Reason::proves_nothing, [](Correctness&, Measurement& m) { m.failure_before = "fault"; }},
      {Reason::faulted, [](Correctness&, Measurement& m) { m.failure_after = "fault"; }},
      {Reason::files_changed, [](Correctness&, Measurement& m) { m.changed_file = "a"; }}};
  for (const auto& [reason, change] : changes) {
    Candidate candidate = done->candidates[0];
    change(*candidate.proof, *candidate.measurement);
    const auto decision = decision_of(candidate, bench.options.judge, true);
    ASSERT_TRUE(decision);
    EXPECT_EQ(decision->outcome, Outcome::refused);
    EXPECT_EQ(decision->reason, reason) << decision->sentence;
    FinalProof proof = *done->final_proof;
    change(proof.proof, *proof.measurement);
    EXPECT_EQ(decision_of_final(proof, bench.options.judge).reason, reason);
    if (reason != Reason::faulted && reason != Reason::files_changed) continue;
    proof = *done->final_proof;
    proof.as_captured = proof.measurement;
    change(proof.proof, *proof.as_captured);
    EXPECT_EQ(decision_of_final(proof, bench.options.judge).reason, reason);
  }
}

TEST(Apply, ReplacesTheFileAndKeepsTheOriginal) {
  Bench bench;
  FakeProposer proposer({"speed 0.5\n"});
  const auto done = bench.run(proposer);
  ASSERT_TRUE(done && done->accepted);
  ASSERT_TRUE(write_accepted(*done));
  EXPECT_EQ(test::text_of(bench.folder / "out/accepted.hip"), "speed 0.5\n");
  EXPECT_THAT(test::text_of(bench.folder / "out/accepted.diff"),
              HasSubstr("-speed 1.0\n+speed 0.5\n"));
  ASSERT_TRUE(write_file_atomically(bench.folder / "k.hip.orig", "someone else's"));
  const auto kept = apply_accepted(*done);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->filename(), "k.hip.orig.1");
  EXPECT_EQ(test::text_of(*kept), fakes::kOriginal);
  EXPECT_EQ(test::text_of(bench.source), "speed 0.5\n");
  EXPECT_EQ(test::text_of(bench.folder / "k.hip.orig"), "someone else's");

  bench.options.resume = true;
  FakeProposer again({"speed 0.5\n"});
  const auto resumed = bench.run(again);
  ASSERT_FALSE(resumed);
  EXPECT_THAT(resumed.error().message, HasSubstr("already is the accepted source"));
}

TEST(Apply, LeavesAFileThatWasChangedMeanwhile) {
  Bench bench;
  FakeProposer proposer({"speed 0.5\n"});
  const auto done = bench.run(proposer);
  ASSERT_TRUE(done && done->accepted);
  ASSERT_TRUE(write_file_atomically(bench.source, "edited\n"));
  const auto kept = apply_accepted(*done);
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, ErrorCode::refused);
  EXPECT_EQ(test::text_of(bench.source), "edited\n");
  EXPECT_FALSE(std::filesystem::exists(bench.folder / "k.hip.orig"));
}

/// Names in the folder of the user's file.
std::vector<std::string> names_beside(const Bench& bench) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(bench.folder.path()))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

int no_exchange(const std::string& /*one*/, const std::string& /*other*/) {
  errno = EINVAL;
  return -1;
}

TEST(Apply, KeepsModeAndLinksWithAndWithoutExchange) {
  for (const bool exchanges : {true, false}) {
    Bench bench;
    std::filesystem::permissions(bench.source, std::filesystem::perms(0640));
    bench.options.source = bench.folder / "link.hip";
    std::filesystem::create_symlink("k.hip", bench.options.source);
    FakeProposer proposer({"speed 0.5\n"});
    const auto done = bench.run(proposer);
    ASSERT_TRUE(done && done->accepted);
    ApplyTools tools;
    if (!exchanges) tools.exchange = no_exchange;
    const auto kept = apply_accepted(*done, tools);
    ASSERT_TRUE(kept) << kept.error().message;
    EXPECT_EQ(test::text_of(bench.source), "speed 0.5\n");
    EXPECT_EQ(std::filesystem::status(bench.source).permissions(), std::filesystem::perms(0640));
    EXPECT_TRUE(std::filesystem::is_symlink(bench.options.source));
    EXPECT_EQ(test::text_of(*kept), fakes::kOriginal);
    EXPECT_THAT(names_beside(bench), ElementsAre("k.hip", "link.hip", "link.hip.orig", "out"));
  }
}

/// Between the last look at the file and its replacement.
TEST(Apply, LeavesAFileThatIsSavedAtTheLastMoment) {
  for (const bool exchanges : {true, false}) {
    Bench bench;
    FakeProposer proposer({"speed 0.5\n"});
    const auto done = bench.run(proposer);
    ASSERT_TRUE(done && done->accepted);
    ApplyTools tools;
    if (!exchanges) tools.exchange = no_exchange;
    tools.before_replacing = [&] { ASSERT_TRUE(write_file_atomically(bench.source, "edited\n")); };
    const auto kept = apply_accepted(*done, tools);
    ASSERT_FALSE(kept);
    EXPECT_EQ(kept.error().code, ErrorCode::refused);
    EXPECT_EQ(test::text_of(bench.source), "edited\n");
    EXPECT_THAT(names_beside(bench), ElementsAre("k.hip", "k.hip.orig", "out"));
  }
}

TEST(Apply, LosesNothingWhenAFileIsSavedTwiceMeanwhile) {
  Bench bench;
  FakeProposer proposer({"speed 0.5\n"});
  const auto done = bench.run(proposer);
  ASSERT_TRUE(done && done->accepted);
  int exchanges = 0;
  ApplyTools tools;
  tools.before_replacing = [&] { ASSERT_TRUE(write_file_atomically(bench.source, "first\n")); };
  tools.exchange = [&](const std::string& one, const std::string& other) {
    const int code = ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
    if (++exchanges == 1) {
      EXPECT_TRUE(write_file_atomically(bench.source, "second\n"));
    }
    return code;
  };
  const auto kept = apply_accepted(*done, tools);
  ASSERT_FALSE(kept);
  EXPECT_EQ(test::text_of(bench.source), "second\n");
  const std::string& message = kept.error().message;
  EXPECT_THAT(message, HasSubstr("it holds what was saved last"));
  EXPECT_EQ(test::text_of(message.substr(message.rfind(' ') + 1)), "first\n");
}

TEST(LayoutFree, IsEqualForTextsThatDifferInLayoutOnly) {
  const std::string text = "int f(int a) {\n  return a + 1;  // one\n}\n";
  for (const char* same :
       {"int f ( int a ) { return a + 1; }", "int f(int a){return a+ /* x */ 1;}",
        "\n\nint f(int a)\n{\nreturn a \\\n + 1;}\n"})
    EXPECT_EQ(layout_free(same), layout_free(text)) << same;
  for (const char* other : {"int f(int a) { return a + + 1; }", "intf(int a) { return a + 1; }",
                            "int f(int a) { return a + 2; }"})
    EXPECT_NE(layout_free(other), layout_free(text)) << other;
  EXPECT_NE(layout_free("a + +b"), layout_free("a ++b"));
  EXPECT_NE(layout_free("\"a  b\""), layout_free("\"a b\""));
  EXPECT_EQ(layout_free("\"/* kept */\""), "\"/* kept */\"");
  EXPECT_EQ(layout_free("R\"x( // \"no end )x\"  ;"), "R\"x( // \"no end )x\";");
  EXPECT_EQ(layout_free("1'000 /* a */ + '\"' + b"), "1'000+'\"'+b");
  EXPECT_NE(layout_free("#define F (x)\n"), layout_free("#define F(x)\n"));
  EXPECT_EQ(layout_free("int a;\n#if  A\nint b;\n#endif\n"),
            layout_free("int a;\n\n  # if A // c\n  int b;\n#endif"));
  EXPECT_NE(layout_free("#define A\nint b;"), layout_free("#define A int b;"));
}

TEST(Diff, IsWhatPatchUnderstands) {
  EXPECT_EQ(unified_diff("a\n", "a\n", "x", "y"), "");
  EXPECT_EQ(unified_diff("a\nb\nc\n", "a\nB\nc\n", "a/k", "b/k"),
            "--- a/k\n+++ b/k\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
  EXPECT_EQ(unified_diff("", "a", "x", "y"),
            "--- x\n+++ y\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n");
  std::string before, after;
  for (int i = 0; i < 40; ++i) {
    before += std::to_string(i) + "\n";
    if (i != 5 && i != 30) after += std::to_string(i) + "\n";
    if (i == 30) after += "thirty\n";
  }
  EXPECT_EQ(unified_diff(before, after, "x", "y"),
            "--- x\n+++ y\n@@ -3,7 +3,6 @@\n 2\n 3\n 4\n-5\n 6\n 7\n 8\n@@ -28,7 +27,7 @@\n 27\n "
            "28\n 29\n-30\n+thirty\n 31\n 32\n 33\n");
}

TEST(KernelNames, OfRecordingsAreThoseOfSources) {
  for (const char* recorded :
       {"ns::k", "void ns::k<float, (int)3>(float*, int)", "_ZN2ns1kEPf", "_ZN2ns1kEPf.kd",
        "ns::k(std::vector<int>, void (*)(int))", "(anonymous namespace)::ns::k(float*)"})
    EXPECT_EQ(bare_kernel_name(recorded), "ns::k") << recorded;
}

}  // namespace
}  // namespace perflab::optimize
