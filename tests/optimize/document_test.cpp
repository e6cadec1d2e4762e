// Ledger and document: what is written can be read again, a torn line is dropped, what is altered
// does not pass a recheck; projection and context of the sample trace.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "optimize/fakes.h"
#include "optimize/rounds/apply.h"
#include "optimize/rounds/context.h"
#include "optimize/rounds/optimization_text.h"
#include "optimize/rounds/projection.h"
#include "optimize/rounds/recheck.h"
#include "optimize/rounds/records.h"
#include "report/kit/document.h"

namespace perflab::optimize {
namespace {

using fakes::Bench;
using fakes::FakeProposer;
using testing::Each;
using testing::HasSubstr;

const std::vector<std::string> kTexts = {"speed 0.99\n",    "broken\n",        "wrong\n",
                                         "forbidden\n",     "speed 0.8\n",     "crash\n",
                                         "problem no_code", "big\nspeed 0.4\n"};

/// A finished optimisation with its document beside the ledger.
struct Finished : Bench {
  Finished() {
    FakeProposer proposer(kTexts);
    auto ran = run(proposer);
    EXPECT_TRUE(ran) << (ran ? "" : ran.error().message);
    if (!ran) return;
    done = std::move(*ran);
    EXPECT_TRUE(write_accepted(done));
    document = optimization_document(data());
    save();
  }
  OptimizationData data() const {
    return {.optimization = &done,
            .projection = {},
            .projection_missing = {.field = "projection", .reason = "no trace", .remedy = {}},
            .trace = {},
            .capture = {}};
  }
  void save() const { EXPECT_TRUE(write_file_atomically(file(), to_canonical_text(document))); }
  std::filesystem::path file() const { return folder / "out/optimization.json"; }
  Result<Recheck> check_again() const {
    RecheckTools tools;
    tools.parse = [](std::string text, const ParseOptions&) { return fakes::fake_parse(text); };
    tools.check = fakes::fake_check;
    return recheck(file(), tools);
  }

  Optimization done;
  Json document;
};

/// What does not hold.
std::vector<std::string> broken(const Result<Recheck>& result) {
  std::vector<std::string> out;
  if (!result) return {"error: " + result.error().message};
  for (const RecheckItem& item : result->items)
    if (item.finding == Finding::does_not_hold) out.push_back(item.what + ": " + item.detail);
  return out;
}

TEST(OptimizationDocument, SatisfiesItsSchemaAndARecheck) {
  const Finished finished;
  const auto text = report::render("optimization", finished.document);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(finished.document["accepted"]["number"], 8);
  EXPECT_EQ(finished.document["candidates"].size(), kTexts.size());
  const auto result = finished.check_again();
  EXPECT_THAT(broken(result), testing::IsEmpty());
  EXPECT_GT(result->items.size(), 25U);
  EXPECT_EQ(result->count(Finding::not_checked), 0U) << recheck_text(*result);
}

TEST(OptimizationDocument, IsTheSameForTheSameInput) {
  Finished first, second;
  for (Finished* one : {&first, &second}) one->document.erase("environment");
  EXPECT_EQ(to_canonical_text(first.document), to_canonical_text(second.document));
  EXPECT_EQ(to_canonical_text(first.document).find("/tmp"), std::string::npos);
}

TEST(OptimizationDocument, OfAResumedRunIsThatOfOneWithoutABreak) {
  Finished finished;
  finished.options.resume = true;
  FakeProposer again(kTexts);
  auto resumed = finished.run(again);
  ASSERT_TRUE(resumed) << resumed.error().message;
  finished.done = std::move(*resumed);
  Json document = optimization_document(finished.data());
  document["environment"]["resumed"] = false;
  EXPECT_EQ(to_canonical_text(document), to_canonical_text(finished.document));
}

TEST(OptimizationDocument, OfNothingAcceptedSaysWhy) {
  Finished finished;
  finished.done.accepted.reset();
  finished.done.final_proof.reset();
  finished.done.decision = {.outcome = Outcome::refused, .reason = {}, .sentence = "no gain"};
  const Json document = optimization_document(finished.data());
  EXPECT_TRUE(report::render("optimization", document));
  std::vector<std::string> fields;
  for (const Json& one : document["missing"]) fields.push_back(one["field"]);
  EXPECT_THAT(fields, testing::ElementsAre("accepted", "final", "projection", "usage.cost_usd"));
}

TEST(OptimizationText, NamesEveryCandidateAndShowsTheDiff) {
  const Finished finished;
  const std::string text = optimization_text(finished.data(), {.width = 100});
  for (const char* part :
       {"does_not_compile", "wrong_output", "inline_assembly", "faulted", "no_code",
        "accepted: candidate 8", "+speed 0.4", "golden output passed"})
    EXPECT_THAT(text, HasSubstr(part)) << text;
  EXPECT_THAT(decided_line(finished.done.candidates[2]),
              "candidate 3: proposal: refused (wrong_output): element 3 differs");
}

TEST(OptimizationText, SaysBelowEachRefusedCandidateWhyAndTheVerdictLast) {
  Finished finished;
  const std::string text = optimization_text(finished.data(), {.width = 100});
  EXPECT_THAT(text, testing::AllOf(HasSubstr("compared with"), HasSubstr("times as fast as that")));
  for (const Candidate& candidate : finished.done.candidates) {
    if (candidate.decision.outcome != Outcome::refused) continue;
    EXPECT_THAT(text, HasSubstr("\n       " + candidate.decision.sentence + "\n"));
  }
  // Speed-up and interval are those of the final comparison, and nothing stands behind them.
  const SpeedUp speed = speed_up(*finished.done.final_proof->measurement).value();
  const std::string verdict = fmt::format(
      "\naccepted: candidate 8 is {:.3f} times as fast as the original (99.38 % interval {:.3f} to "
      "{:.3f})\n",
      speed.value, speed.low, speed.high);
  EXPECT_THAT(text, testing::EndsWith(verdict));
  EXPECT_LT(text.find("+speed 0.4"), text.rfind(verdict));
  // A long reason keeps its beginning, in one line of the width.
  std::string reason = "element 0 differs";
  for (int i = 1; i < 40; ++i) reason += fmt::format(" and so does element {}", i);
  finished.done.candidates[2].decision.sentence = reason;
  const std::string narrow = optimization_text(finished.data(), {.width = 80});
  EXPECT_THAT(narrow, HasSubstr("\n       element 0 differs and so does element 1 "));
  EXPECT_THAT(narrow, HasSubstr(" …\n"));
  EXPECT_THAT(narrow, testing::Not(HasSubstr("element 9")));
}

TEST(OptimizationText, OfNothingAcceptedCountsWhatWasRefused) {
  Finished finished;
  finished.done.accepted.reset();
  finished.done.best.reset();
  finished.done.final_proof.reset();
  for (Candidate& candidate : finished.done.candidates)
    candidate.decision = {.outcome = Outcome::refused, .reason = Reason::slower, .sentence = "s"};
  const auto text = [&] { return optimization_text(finished.data(), {.width = 100}); };
  EXPECT_THAT(text(), testing::EndsWith("\nnothing is accepted: 8 candidates refused\n"));
  finished.done.candidates[4].decision = {
      .outcome = Outcome::open, .reason = {}, .sentence = "the time ended before it was measured"};
  EXPECT_THAT(text(), testing::EndsWith("7 candidates refused, 1 not decided in time\n"));
  EXPECT_THAT(text(), HasSubstr("\n       the time ended before it was measured\n"));
  // A final proof that does not hold is not said to have passed.
  finished.done.best = 8;
  finished.done.decision.sentence = "the final comparison does not hold";
  finished.done.final_proof.emplace();
  for (const char* name : {"golden output", "poisoned output"}) {
    Check& check = finished.done.final_proof->proof.checks.emplace_back();
    check.name = name;
    check.passed = check.name == "golden output";
  }
  EXPECT_THAT(text(), HasSubstr("once more: poisoned output failed\n"));
  EXPECT_THAT(text(),
              testing::EndsWith("nothing is accepted: the final comparison does not hold\n"));
}

/// Each alteration of a sound document, and what it is found by.
TEST(Recheck, FindsWhatWasAltered) {
  using Change = std::function<void(Json&)>;
  const Json::json_pointer samples("/candidates/4/measurement/samples/after");
  const std::vector<std::pair<const char*, Change>> alterations = {
      {"comparison of candidate 5", [&](Json& d) { d[samples][0] = 1.0; }},
      {"comparison of candidate 5", [&](Json& d) { d[samples].erase(0); }},
      {"comparison of candidate 1",
       [](Json& d) { d["candidates"][0]["measurement"]["comparison"]["verdict"] = "FASTER"; }},
      {"comparison of candidate 1",
       [](Json& d) { d["candidates"][0]["measurement"]["confidence"] = 0.5; }},
      {"decision on candidate 3",
       [](Json& d) { d["candidates"][2]["decision"]["outcome"] = "accepted"; }},
      {"decision on candidate 3", [](Json& d) { d["candidates"][2]["proof"]["reason"] = nullptr; }},
      {"guards on candidate 4", [](Json& d) { d["candidates"][3]["guards"][0]["passed"] = true; }},
      // Only a guard that passed has another name; only a reason is another one.
      {"guards on candidate 1", [](Json& d) { d["candidates"][0]["guards"][1]["name"] = "x"; }},
      {"guards on candidate 4",
       [](Json& d) { d["candidates"][3]["guards"][0]["reason"] = "host_code"; }},
      {"decision on candidate 5",
       [](Json& d) { d["candidates"][4]["proof"]["checks"][0]["passed"] = false; }},
      {"decision on candidate 5",
       [](Json& d) { d["candidates"][4]["measurement"]["failure_before"] = "it crashed"; }},
      {"decision on candidate 5",
       [](Json& d) { d["candidates"][4]["measurement"]["changed_file"] = "builds/000/object"; }},
      {"the proof of the original",
       [](Json& d) { d["original"]["proof"]["checks"][0]["passed"] = false; }},
      {"what is accepted follows",
       [](Json& d) { d["final"]["proof"]["checks"][0]["passed"] = false; }},
      {"decision on candidate 2",
       [](Json& d) { d["candidates"][1]["decision"]["reason"] = "slower"; }},
      {"chain at candidate 8", [](Json& d) { d["candidates"][7]["against"] = 0; }},
      {"hash of candidates/005.hip",
       [](Json& d) { d["candidates"][4]["hash"] = "xxh3:0000000000000000"; }},
      {"the final comparison",
       [](Json& d) { d["final"]["measurement"]["samples"]["before"][2] = 1e9; }},
      {"the accepted source is the one", [](Json& d) { d["accepted"]["number"] = 5; }},
      {"the file of the accepted source",
       [](Json& d) { d["accepted"]["file"] = "candidates/003.hip"; }},
      {"source of candidate 5", [](Json& d) { d["candidates"][4]["file"] = nullptr; }},
      {"the speed-up", [](Json& d) { d["accepted"]["speed_up"]["low"] = 9.5; }},
      {"what is accepted follows", [](Json& d) { d["accepted"] = nullptr; }},
      {"what is accepted follows", [](Json& d) { d["final"]["proof"]["reason"] = "wrong_output"; }},
      {"decision on candidate 5", [](Json& d) { d["options"]["min_gain"] = 0.5; }},
      {"hash of the source", [](Json& d) { d["source"]["hash"] = "xxh3:0000000000000000"; }}};
  Finished finished;
  const Json sound = finished.document;
  for (const auto& [name, change] : alterations) {
    finished.document = sound;
    change(finished.document);
    finished.save();
    EXPECT_THAT(broken(finished.check_again()), testing::Contains(HasSubstr(name))) << name;
  }
}

TEST(Recheck, FindsFilesThatWereChangedAndSaysWhichAreGone) {
  const Finished finished;
  ASSERT_TRUE(write_file_atomically(finished.folder / "out/accepted.hip", "another\n"));
  ASSERT_TRUE(write_file_atomically(finished.source, "edited\n"));
  std::filesystem::remove(finished.folder / "out/candidates/003.hip");
  const auto result = finished.check_again();
  EXPECT_THAT(broken(result), testing::ElementsAre(HasSubstr("hash of the source"),
                                                   HasSubstr("hash of accepted.hip")));
  EXPECT_EQ(result->count(Finding::not_checked), 2U);  // its hash and its guards
}

/// What was accepted is not sound without the texts that it is about.
TEST(Recheck, WhatWasAcceptedHasToBeThere) {
  for (const char* gone : {"candidates/000.hip", "candidates/005.hip", "candidates/008.hip"}) {
    const Finished finished;
    std::filesystem::remove(finished.folder / "out" / gone);
    EXPECT_THAT(broken(finished.check_again()), testing::ElementsAre(HasSubstr(gone)));
  }
}

TEST(Recheck, OfADamagedDocumentIsAnError) {
  Finished finished;
  for (const char* text : {"", "{}", "{\"document\": \"optimization\"}", "[1, 2"}) {
    ASSERT_TRUE(write_file_atomically(finished.file(), text));
    const auto result = finished.check_again();
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, ErrorCode::bad_input);
  }
  for (const char* field : {"/candidates/0/decision/reason", "/candidates/0/number"}) {
    Json document = finished.document;
    document[Json::json_pointer(field)] = "nonsense";
    ASSERT_TRUE(write_file_atomically(finished.file(), to_canonical_text(document)));
    EXPECT_FALSE(finished.check_again()) << field;
  }
}

TEST(Ledger, HasALineForEveryStep) {
  const Finished finished;
  const std::string text = test::text_of(finished.folder / "out/ledger.jsonl");
  std::map<std::string, int> events;
  std::size_t at = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', at)) {
    const auto line = parse_json(text.substr(at, end - at), "line");
    ASSERT_TRUE(line);
    ++events[(*line)["event"].get<std::string>()];
    at = end + 1;
  }
  EXPECT_EQ(at, text.size());
  const std::map<std::string, int> expected = {
      {"begin", 1}, {"original", 1}, {"proposal", 8}, {"guards", 7}, {"build", 6}, {"object", 5},
      {"proof", 5}, {"measured", 4}, {"decision", 8}, {"final", 1},  {"end", 1}};
  EXPECT_EQ(events, expected);
}

/// Cut anywhere, it is resumed to the same end.
TEST(Ledger, CutAnywhereIsResumed) {
  Finished finished;
  const std::filesystem::path file = finished.folder / "out/ledger.jsonl";
  const std::string whole = test::text_of(file);
  finished.options.resume = true;
  const auto expected = fakes::decisions(finished.done);
  for (std::size_t cut = 0; cut < whole.size(); cut += whole.size() / 23) {
    ASSERT_TRUE(write_file_atomically(file, whole.substr(0, cut)));
    FakeProposer proposer(kTexts);
    const auto done = finished.run(proposer);
    ASSERT_TRUE(done) << cut << ": " << done.error().message;
    EXPECT_EQ(fakes::decisions(*done), expected) << cut;
    EXPECT_EQ(done->accepted, 8U) << cut;
  }
}

/// A kill between a measurement and its decision does not make it measured again.
TEST(Ledger, CutBehindAMeasurementKeepsIt) {
  Finished finished;
  const std::filesystem::path file = finished.folder / "out/ledger.jsonl";
  const std::string whole = test::text_of(file);
  const std::size_t last = whole.rfind("\"event\":\"measured\"");
  ASSERT_TRUE(write_file_atomically(file, whole.substr(0, whole.find('\n', last) + 1)));
  const std::size_t finals = whole.find("\"event\":\"final\"");
  ASSERT_LT(last, finals);
  finished.options.resume = true;
  FakeProposer proposer(kTexts);
  const auto done = finished.run(proposer);
  ASSERT_TRUE(done) << done.error().message;
  const auto& before = finished.done.candidates.back().measurement;
  const auto& after = done->candidates.back().measurement;
  ASSERT_TRUE(before && after);
  EXPECT_EQ(before->after, after->after);
  EXPECT_EQ(done->accepted, 8U);
}

TEST(Ledger, RefusesWhatIsDamagedAndWhatIsNone) {
  const std::string head =
      R"({"event":"begin","ledger":"rocm-perf optimize","version":2,"key":{"a":1}})"
      "\n";
  EXPECT_TRUE(parse_ledger(head, "ledger"));
  EXPECT_TRUE(parse_ledger("", "ledger"));
  EXPECT_TRUE(parse_ledger(head.substr(0, 20), "ledger")->torn);
  EXPECT_TRUE(parse_ledger(head + "{\"event\":\"pro", "ledger")->torn);
  const std::string decision = R"({"event":"decision","number":1,"decision":null})";
  const std::vector<std::string> damaged = {
      "hello\n",
      "{\"event\":\"begin\"}\n",
      head + "nonsense\n" + decision + "\n",
      head + decision + "\n",
      head + "{\"event\":\"proposal\",\"number\":1}\n",
      head + "{\"event\":\"guards\",\"number\":-1}\n",
      head + "{\"event\":\"original\"}\n",
      R"({"event":"begin","ledger":"rocm-perf optimize","version":1,"key":{}})"
      "\n",
      R"({"event":"begin","ledger":"rocm-perf optimize","version":3,"key":{}})"
      "\n"};
  for (const std::string& bad : damaged) {
    const auto contents = parse_ledger(bad, "ledger");
    ASSERT_FALSE(contents) << bad;
    EXPECT_EQ(contents.error().code, ErrorCode::bad_input);
    EXPECT_THAT(contents.error().message, testing::StartsWith("ledger"));
  }
}

TEST(Records, AreReadBackAsTheyWereWritten) {
  const Finished finished;
  for (const Candidate& candidate : finished.done.candidates) {
    const Json json = to_json(candidate);
    const auto again = candidate_from_json(json, "record");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(to_json(*again), json);
  }
}

analyze::AnalyzedTrace sample() {
  analyze::AnalyzeOptions options;
  options.critical_path.keep_nodes = true;
  auto analyzed = analyze::analyze_files({PERFLAB_SAMPLE}, options);
  EXPECT_TRUE(analyzed);
  return std::move(*analyzed);
}

TEST(Projection, ScalesTheKernelInTheRecordedRun) {
  const analyze::AnalyzedTrace analyzed = sample();
  const auto& rows = analyzed.analysis.critical_path->kernels;
  ASSERT_FALSE(rows.empty());
  const analyze::KernelCriticality& row = rows.front();
  const std::string name(analyzed.trace.strings.view(row.name));
  const auto same = project(analyzed, name, {.value = 1, .low = 1, .high = 1});
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(same->projected, same->makespan);
  EXPECT_EQ(same->makespan, analyzed.analysis.critical_path->length);
  // The what-if of the analysis at twice the speed.
  const auto twice = project(analyzed, name, {.value = 2, .low = 1.5, .high = 1e9});
  ASSERT_TRUE(twice);
  ASSERT_EQ(row.gains.size(), 3U);
  EXPECT_EQ(twice->projected, row.gains[1].makespan);
  EXPECT_EQ(twice->projected_at_low, row.gains[0].makespan);
  EXPECT_NEAR(static_cast<double>(twice->projected_at_high),
              static_cast<double>(row.gains[2].makespan), 2.0);
  EXPECT_TRUE(twice->on_critical_path);
  EXPECT_EQ(twice->dispatches, row.dispatches);
  const auto none = project(analyzed, "no_such_kernel", {.value = 2, .low = 2, .high = 2});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::bad_input);
}

TEST(Context, HasTheFactsOfTheKernel) {
  const analyze::AnalyzedTrace analyzed = sample();
  const std::string name(
      analyzed.trace.strings.view(analyzed.analysis.critical_path->kernels.front().name));
  const Json facts = facts_for_proposer(documents_of(analyzed), name, "gfx942");
  EXPECT_EQ(facts["architecture"]["wave_size"], 64);
  EXPECT_TRUE(facts["bottleneck"]["summary"].is_string()) << facts.dump(1);
  const Json nothing = facts_for_proposer({}, "k", "");
  for (const auto& [key, value] : nothing.items()) EXPECT_TRUE(value.is_null()) << key;
}

TEST(Context, ChoosesTheKernelThatIsMostWorthIt) {
  const analyze::AnalyzedTrace analyzed = sample();
  SourceModel model;
  model.options.path = "k.hip";
  const auto none = choose_kernel(analyzed, model);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::usage);
  for (const analyze::KernelCriticality& row : analyzed.analysis.critical_path->kernels) {
    SourceKernel kernel;
    kernel.name = analyzed.trace.strings.view(row.name);
    model.kernels.insert(model.kernels.begin(), kernel);
  }
  const auto chosen = choose_kernel(analyzed, model);
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_THAT(chosen->why, HasSubstr("on the critical path"));
}

}  // namespace
}  // namespace perflab::optimize
