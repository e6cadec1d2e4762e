// The loop on fakes: decisions, repairs, what ends it, resumption, the final proof.
#include "optimize/loop/loop.h"

#include <gmock/gmock.h>

#include "base/interrupt.h"
#include "optimize/fakes.h"
#include "optimize/kernel_names.h"
#include "optimize/loop/apply.h"
#include "optimize/loop/diff.h"

namespace perflab::optimize {
namespace {

using fakes::Bench;
using fakes::decisions;
using fakes::FakeProposer;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Loop, decides_every_candidate_for_its_own_reason) {
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

TEST(Loop, does_only_the_steps_that_are_needed) {
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

TEST(Loop, tells_the_proposer_what_is_known_and_what_was_tried) {
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

TEST(Loop, asks_for_repairs_of_what_does_not_compile_at_most_twice) {
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

TEST(Loop, ends_at_its_limits) {
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

TEST(Loop, an_original_that_cannot_be_built_or_proven_is_refused) {
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

TEST(Loop, an_original_whose_builds_differ_is_a_warning) {
  Bench bench;
  ASSERT_TRUE(write_file_atomically(bench.source, "unsteady\nspeed 1.0\n"));
  FakeProposer proposer({"unsteady\nspeed 0.5\n"});
  const auto done = bench.run(proposer);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->accepted, 1U);
  EXPECT_EQ(done->warnings.size(), 1U);
}

TEST(Loop, nothing_is_accepted_when_the_final_proof_fails) {
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

TEST(Loop, goes_on_after_an_interrupt_without_measuring_again) {
  Bench bench;
  const std::vector<std::string> texts = {"speed 0.9\n", "wrong\n", "speed 0.5\n", "speed 0.7\n"};
  FakeProposer stopped(texts);
  stopped.before_next = [](std::size_t asked) {
    if (asked == 3) raise_interrupt();
  };
  const auto broken_off = bench.run(stopped);
  clear_interrupts();
  ASSERT_FALSE(broken_off);
  EXPECT_EQ(broken_off.error().code, ErrorCode::interrupted);

  bench.options.resume = true;
  const int measured = bench.workshop.measured();
  bench.workshop.builds = 0;
  FakeProposer again(texts);
  const auto done = bench.run(again);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(done->resumed);
  EXPECT_THAT(decisions(*done), ElementsAre("accepted", "wrong_output", "accepted", "slower"));
  EXPECT_EQ(done->accepted, 3U);
  // The original, the best one so far, and the two that were not decided.
  EXPECT_EQ(bench.workshop.builds, 4);
  EXPECT_GT(bench.workshop.measured(), measured);

  // What is finished is taken from the ledger as a whole.
  const int all = bench.workshop.measured();
  bench.workshop.builds = 0;
  FakeProposer third(texts);
  const auto same = bench.run(third);
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(same->accepted, 3U);
  EXPECT_EQ(bench.workshop.measured(), all);
  EXPECT_EQ(bench.workshop.builds, 0);
}

/// A language model without a transcript says something else the second time.
TEST(Loop, resumes_though_proposals_come_in_another_order) {
  Bench bench;
  FakeProposer first({"speed 1.2\n", "speed 0.5\n"});
  ASSERT_TRUE(bench.run(first));
  bench.options.resume = true;
  const std::vector<std::string> other = {"speed 0.5\n", "speed 0.7\n"};
  for (const bool measures : {true, false}) {
    const int before = bench.workshop.measured();
    FakeProposer again(other);
    const auto done = bench.run(again);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->accepted, 1U);
    EXPECT_THAT(decisions(*done), ElementsAre("accepted", "slower"));
    EXPECT_EQ(bench.workshop.measured() > before, measures);
  }
  // The first run's candidate of that number is still there.
  EXPECT_EQ(test::text_of(bench.folder / "out/candidates/001.hip"), "speed 1.2\n");
}

TEST(Loop, a_ledger_of_something_else_is_not_resumed) {
  Bench bench;
  FakeProposer proposer({"speed 0.5\n"});
  ASSERT_TRUE(bench.run(proposer));
  FakeProposer again({"speed 0.5\n"});
  auto done = bench.run(again);  // without --resume
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::usage);
  bench.options.resume = true;
  bench.workshop.seed = 2;
  done = bench.run(again);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::bad_input);
  EXPECT_THAT(done.error().message, HasSubstr("workshop: its seed is 1, now it is 2"));
}

TEST(Apply, replaces_the_file_and_keeps_the_original) {
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

TEST(Apply, leaves_a_file_that_was_changed_meanwhile) {
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

TEST(LayoutFree, is_equal_for_texts_that_differ_in_layout_only) {
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

TEST(Diff, is_what_patch_understands) {
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

TEST(KernelNames, of_recordings_are_those_of_sources) {
  for (const char* recorded :
       {"ns::k", "void ns::k<float, (int)3>(float*, int)", "_ZN2ns1kEPf", "_ZN2ns1kEPf.kd",
        "ns::k(std::vector<int>, void (*)(int))", "(anonymous namespace)::ns::k(float*)"})
    EXPECT_EQ(bare_kernel_name(recorded), "ns::k") << recorded;
}

}  // namespace
}  // namespace perflab::optimize
