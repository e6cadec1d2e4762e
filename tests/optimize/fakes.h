// A proposer, a workshop and a backend without compiler and clock. A source is a text whose lines
// say what it is: "speed 0.8" (time of a run), "broken" (does not compile), "wrong" (another
// output), "crash" (fails while it is timed), "unsteady" (builds differ), "big" (needs more
// registers), "forbidden" (a guard on the source fails), "layout" (its arguments differ). While it
// is proven ("proof") or timed ("timing"), "tampers-proof-object" overwrites the original's build,
// "tampers-proof-text" its stored source, "tampers-proof-itself" its own build,
// "tampers-proof-best" that of candidate 1; "derails" makes the proof end with an error.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/system/files.h"
#include "base/temp_folder.h"
#include "optimize/rounds/loop.h"

namespace perflab::optimize::fakes {

inline bool says(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

/// Proposals in order; what it was asked is kept.
class FakeProposer : public llm::Proposer {
 public:
  explicit FakeProposer(std::vector<std::string> texts, bool mends = false)
      : texts_(std::move(texts)), mends_(mends) {}
  [[nodiscard]] std::string name() const override { return "fake"; }
  [[nodiscard]] bool repairs() const override { return mends_; }
  Result<std::optional<llm::Proposal>> next(const llm::Task& task) override {
    asked.push_back(task);
    if (before_next) before_next(asked.size());
    if (asked.size() > texts_.size()) return std::optional<llm::Proposal>();
    const std::string& text = texts_[asked.size() - 1];
    llm::Proposal proposal{
        .text = text, .summary = "proposal", .problem = {}, .problem_detail = {}};
    if (text.starts_with("problem ")) {
      proposal.text.clear();
      proposal.problem = text.substr(8);
      proposal.problem_detail = "the proposer says so";
    }
    return proposal;
  }

  std::vector<llm::Task> asked;
  std::function<void(std::size_t)> before_next;

 private:
  std::vector<std::string> texts_;
  bool mends_;
};

/// What a candidate does to files of ours while it runs. `object`: its build, in builds/NNN.
inline void tamper(const std::filesystem::path& object, const std::string& when) {
  const std::string text = test::text_of(object);
  const std::filesystem::path folder = object.parent_path().parent_path().parent_path();
  const auto overwrite = [&](const std::filesystem::path& file) {
    EXPECT_TRUE(write_file_atomically(file, "speed 7.0\n"));
  };
  if (says(text, "tampers-" + when + "-object")) overwrite(folder / "builds/000/object");
  if (says(text, "tampers-" + when + "-text")) overwrite(folder / "candidates/000.hip");
  if (says(text, "tampers-" + when + "-itself")) overwrite(object);
  if (says(text, "tampers-" + when + "-best")) overwrite(folder / "builds/001/object");
}

/// Times of a variant: its source's speed ("captured 2.0": there, on the captured input) with a
/// little deterministic noise.
class FakeBackend : public measure::Backend {
 public:
  [[nodiscard]] std::string name() const override { return "fake"; }
  [[nodiscard]] std::string unit() const override { return "ns"; }
  Result<measure::Measured> measure(const measure::Variant& variant) override {
    ++measured;
    const std::string text = test::text_of(variant.code_object);
    tamper(variant.code_object, "timing");
    if (says(text, "crash")) return measure::Measured{.samples = {}, .failure = "it crashed"};
    if (captured && says(text, "strays there"))
      return measure::Measured{.samples = {}, .failure = "a timed dispatch is wrong"};
    const std::string word = captured && says(text, "captured ") ? "captured " : "speed ";
    const std::size_t at = text.find(word);
    const double time = at == std::string::npos ? 1.0 : std::stod(text.substr(at + word.size()));
    const double noise = 0.002 * static_cast<double>((measured * 7) % 11);
    return measure::Measured{.samples = {time * 1000 * (1 + noise)}, .failure = {}};
  }
  int measured = 0;
  bool captured = false;
};

class FakeWorkshop : public Workshop {
 public:
  [[nodiscard]] Json identity() const override { return {{"kind", "fake"}, {"seed", seed}}; }
  Result<BuildOutcome> build(const std::filesystem::path& source,
                             const std::filesystem::path& folder) override {
    ++builds;
    PERFLAB_TRY(const std::string text, read_file(source));
    if (says(text, "broken"))
      return BuildOutcome{.built = {}, .compiler_text = source.string() + ":1: error: broken\n"};
    PERFLAB_TRY_VOID(write_file_atomically(folder / "object", text));
    Built built{.source = source,
                .folder = folder,
                .command = {"fake-cc", source.string()},
                .code_object = folder / "object",
                // Compilers put the name of the source into what they make.
                .hash = content_hash_text(text + flags + source.filename().string()),
                .files = {{"object", content_hash_text(text)}},
                .reproducible = !says(text, "unsteady"),
                .variant = {}};
    built.variant.code_object = folder / "object";
    return BuildOutcome{.built = built, .compiler_text = {}};
  }
  Result<ObjectGuards> check_object(const Built& /*original*/, const Built& candidate) override {
    const std::string text = test::text_of(candidate.code_object);
    ObjectGuards guards;
    guards.results.push_back({.name = "kernarg", .passed = true, .reason = {}, .detail = {}});
    if (says(text, "layout"))
      guards.results.back() = {.name = "kernarg",
                               .passed = false,
                               .reason = Reason::kernarg_changed,
                               .detail = "the layout differs"};
    const bool big = says(text, "big");
    guards.changes.push_back(
        {.figure = "vgprs", .before = 32, .after = big ? 64 : 32, .regression = big});
    return guards;
  }
  Result<Correctness> prove(const Built& /*original*/, const Built& candidate) override {
    ++proofs;
    Correctness proof;
    const bool wrong = says(test::text_of(candidate.code_object), "wrong") || proofs == fail_proof;
    const bool derails = says(test::text_of(candidate.code_object), "derails");
    tamper(candidate.code_object, "proof");
    if (derails) return fail(ErrorCode::target_failed, "the original does not end well");
    proof.checks.push_back(
        {.name = "golden output", .passed = !wrong, .detail = {}, .evidence = {{"bytes", 16}}});
    if (wrong) proof.reason = Reason::wrong_output;
    if (wrong) proof.sentence = "element 3 differs";
    return proof;
  }
  Result<void> prepare_timing(const Built& original, const Built& /*before*/,
                              const Built& /*after*/) override {
    EXPECT_EQ(original.folder.filename(), "000");
    ++prepared;
    backend_.captured = false;
    return {};
  }
  bool time_as_captured() override {
    backend_.captured = has_captured_input;
    return has_captured_input;
  }
  [[nodiscard]] measure::Backend& backend() override { return backend_; }
  [[nodiscard]] std::optional<std::int64_t> workgroup_size() const override { return 256; }

  [[nodiscard]] int measured() const { return backend_.measured; }
  int builds = 0, proofs = 0, prepared = 0, fail_proof = -1, seed = 1;
  bool has_captured_input = false;
  std::string flags;  ///< of the compiler: they are in the hashes of builds

 private:
  FakeBackend backend_;
};

inline Result<SourceModel> fake_parse(std::string text) {
  SourceModel model;
  model.text = std::move(text);
  SourceKernel kernel;
  kernel.name = "ns::k";
  kernel.signature = "void ns::k(float *)";
  kernel.definition = {.begin = 0, .end = static_cast<std::uint32_t>(model.text.size())};
  model.kernels.push_back(kernel);
  return model;
}

inline Result<GuardResults> fake_check(const SourceModel& /*original*/,
                                       const std::string& candidate,
                                       const SourceGuardOptions& /*options*/) {
  const bool bad = says(candidate, "forbidden");
  return GuardResults{{.name = "assembly",
                       .passed = !bad,
                       .reason = bad ? std::optional(Reason::inline_assembly) : std::nullopt,
                       .detail = bad ? "there is inline assembly" : ""},
                      {.name = "clocks", .passed = true, .reason = {}, .detail = {}}};
}

inline const std::string kOriginal = "// the original\nspeed 1.0\n";

/// One optimisation in a folder of its own.
struct Bench {
  test::TempFolder folder;
  std::filesystem::path source = folder.write("k.hip", kOriginal);
  FakeWorkshop workshop;
  LoopOptions options = [this] {
    LoopOptions out;
    out.source = source;
    out.folder = folder / "out";
    out.parse.path = source;
    out.judge.resamples = 200;
    return out;
  }();

  Result<Optimization> run(llm::Proposer& proposer) { return run(tools(proposer)); }
  /// With the source as it is in its file now.
  Result<Optimization> run(const LoopTools& tools) {
    PERFLAB_TRY(SourceModel original, tools.parse(test::text_of(source)));
    return run_loop(std::move(original), options, tools);
  }
  LoopTools tools(llm::Proposer& proposer) {
    LoopTools out;
    out.proposer = &proposer;
    out.workshop = &workshop;
    out.parse = fake_parse;
    out.check = fake_check;
    return out;
  }
};

/// "accepted", or the reason's name, of every candidate.
inline std::vector<std::string> decisions(const Optimization& done) {
  std::vector<std::string> out;
  for (const Candidate& candidate : done.candidates)
    out.emplace_back(candidate.decision.reason ? to_string(*candidate.decision.reason)
                                               : to_string(candidate.decision.outcome));
  return out;
}

}  // namespace perflab::optimize::fakes
