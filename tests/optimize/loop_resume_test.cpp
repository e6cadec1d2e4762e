// --resume on fakes: what was decided is not measured again, and nothing of a ledger is used that
// contradicts itself, the guards or the builds.
#include <gmock/gmock.h>

#include "base/system/interrupt.h"
#include "optimize/fakes.h"

namespace perflab::optimize {
namespace {

using fakes::Bench;
using fakes::decisions;
using fakes::FakeProposer;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(LoopResume, GoesOnAfterAnInterruptWithoutMeasuringAgain) {
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
  // The original, the best one so far, the two that were not decided, and the two of the final
  // proof once more.
  EXPECT_EQ(bench.workshop.builds, 6);
  EXPECT_GT(bench.workshop.measured(), measured);

  // What is finished is taken from the ledger as a whole.
  const int all = bench.workshop.measured();
  bench.workshop.builds = 0;
  FakeProposer third(texts);
  const auto same = bench.run(third);
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(same->accepted, 3U);
  EXPECT_EQ(bench.workshop.measured(), all);
  // What was accepted, and the original, have to build to the same.
  EXPECT_EQ(bench.workshop.builds, 3);
}

/// A language model without a transcript says something else the second time.
TEST(LoopResume, ResumesThoughProposalsComeInAnotherOrder) {
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

TEST(LoopResume, ALedgerOfSomethingElseIsNotResumed) {
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

TEST(LoopResume, AnotherLibclangIsAnotherKey) {
  Bench bench;
  FakeProposer proposer({"speed 0.5\n"});
  ASSERT_TRUE(bench.run(proposer));
  bench.options.resume = true;
  LoopTools tools = bench.tools(proposer);
  tools.parse = [](std::string text) {
    Result<SourceModel> model = fakes::fake_parse(std::move(text));
    model->library = "clang 99";
    return model;
  };
  const auto done = bench.run(tools);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::bad_input);
  EXPECT_THAT(done.error().message, HasSubstr("its libclang is \"\", now it is \"clang 99\""));
  EXPECT_THAT(test::text_of(bench.folder / "out/ledger.jsonl"), HasSubstr("\"program\":\""));
}

/// A finished optimisation whose ledger can be altered.
struct Altered : Bench {
  Altered() {
    FakeProposer proposer(texts);
    EXPECT_TRUE(run(proposer));
    sound = test::text_of(ledger);
    options.resume = true;
  }
  /// Replaces the `nth` line of that event, from 0; drops everything behind it with `cut`.
  void alter(const std::string& event, int nth, const std::function<void(Json&)>& change,
             bool cut = false) const {
    std::string out;
    std::size_t at = 0;
    for (std::size_t end = sound.find('\n'); end != std::string::npos; end = sound.find('\n', at)) {
      auto line = parse_json(sound.substr(at, end - at), "line");
      ASSERT_TRUE(line);
      at = end + 1;
      const bool found = (*line)["event"] == event && nth-- == 0;
      if (found) change(*line);
      out += line->dump() + "\n";
      if (found && cut) break;
    }
    ASSERT_NE(out, cut ? std::string() : sound);
    ASSERT_TRUE(write_file_atomically(ledger, out));
  }
  Result<Optimization> again() {
    FakeProposer proposer(texts);
    return run(proposer);
  }

  const std::vector<std::string> texts = {"forbidden\n", "wrong\nspeed 0.4\n", "speed 0.99\n",
                                          "speed 0.5\n"};
  std::filesystem::path ledger = folder / "out/ledger.jsonl";
  std::string sound;
};

TEST(LoopResume, ALedgerThatDoesNotSayWhatItRecordsIsRefused) {
  Altered altered;
  const auto accepts = [](Json& line) {
    line["decision"]["outcome"] = "accepted";
    line["decision"]["reason"] = nullptr;
  };
  struct Case {
    const char *event, *says;
    int nth;
    std::function<void(Json&)> change;
    bool cut = false;
  };
  const std::vector<Case> cases = {
      {"decision", "candidate 1", 0, accepts},
      {"decision", "candidate 2", 1, accepts},
      {"decision", "candidate 3", 2, accepts},
      {"guards", "candidate 1", 0, [](Json& l) { l["guards"][0]["passed"] = true; }},
      // The guards that passed before are not those of now.
      {"guards", "candidate 4", 3, [](Json& l) { l["guards"][1]["name"] = "another"; }},
      {"guards", "candidate 4", 3, [](Json& l) { l["guards"] = Json::array(); }},
      {"proof", "candidate 2", 0, [](Json& l) { l["proof"]["reason"] = nullptr; }},
      {"proof", "candidate 4", 2, [](Json& l) { l["proof"]["checks"] = Json::array(); }},
      {"measured", "candidate 4", 1,
       [](Json& l) { l["measurement"]["samples"]["after"][0] = 1.0; }},
      {"measured", "candidate 3", 0,
       [](Json& l) { l["measurement"]["comparison"]["verdict"] = "FASTER"; }},
      // Steps of a candidate that was not decided.
      {"measured", "candidate 3", 0,
       [](Json& l) { l["measurement"]["comparison"]["verdict"] = "FASTER"; }, true},
      {"guards", "candidate 1", 0, [](Json& l) { l["guards"][0]["passed"] = true; }, true},
      {"final", "the final proof", 0,
       [](Json& l) { l["measurement"]["comparison"]["ratio"] = 0.1; }},
      {"original", "the original", 0, [](Json& l) { l["proof"]["checks"][0]["passed"] = false; }},
      {"original", "the original", 0, [](Json& l) { l["proof"]["reason"] = "wrong_output"; }},
      {"original", "the original", 0, [](Json& l) { l["hash"] = "xxh3:0000000000000000"; }},
      {"original", "the original", 0, [](Json& l) { l["object"] = nullptr; }}};
  for (const Case& one : cases) {
    altered.alter(one.event, one.nth, one.change, one.cut);
    const auto done = altered.again();
    ASSERT_FALSE(done) << one.event << one.nth;
    EXPECT_EQ(done.error().code, ErrorCode::bad_input) << done.error().message;
    EXPECT_THAT(done.error().message,
                HasSubstr(altered.ledger.string() + ": what it says of " + one.says))
        << one.event << one.nth;
    EXPECT_THAT(done.error().remedy, HasSubstr("--out"));
  }
  ASSERT_TRUE(write_file_atomically(altered.ledger, altered.sound));
  EXPECT_TRUE(altered.again());
}

TEST(LoopResume, WhatWasAcceptedHasToBuildToTheSame) {
  Altered altered;
  const auto other_hash = [](Json& line) { line["build"]["hash"] = "xxh3:0000000000000000"; };
  for (const auto& [event, nth] : {std::pair{"original", 0}, {"build", 2}}) {
    altered.alter(event, nth, other_hash);
    const auto done = altered.again();
    ASSERT_FALSE(done) << event;
    EXPECT_EQ(done.error().code, ErrorCode::bad_input);
    EXPECT_THAT(done.error().message, HasSubstr("and built to xxh3:0000000000000000 before"));
  }
}

/// In every process the original is proven before a candidate runs, and the backend is told what
/// timed runs have to compute, though both proofs are recorded.
TEST(LoopResume, ProvesTheOriginalAndPreparesTimingInItsOwnProcess) {
  Altered altered;
  altered.alter("proof", 2, [](Json&) {}, true);  // candidate 4 is proven, not timed
  altered.workshop.proofs = altered.workshop.prepared = 0;
  auto done = altered.again();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->accepted, 4U);
  EXPECT_EQ(altered.workshop.proofs, 2);  // the original, and the final one
  EXPECT_EQ(altered.workshop.prepared, 2);

  altered.alter("object", 2, [](Json&) {}, true);
  altered.workshop.proofs = 0;
  altered.workshop.fail_proof = 1;  // the original does not repeat itself any more
  done = altered.again();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::refused);
  EXPECT_THAT(done.error().message, HasSubstr("cannot be proven against itself"));
}

}  // namespace
}  // namespace perflab::optimize
