// Each guard by itself: for each there are cheats that nothing else refuses. All of them go through
// the loop twice, with real guards, builds, proofs and timed runs: as it is, and with the one guard
// that a cheat names left out, where it is accepted. How long something takes is said by the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/system/files.h"
#include "cheats/corpus.h"
#include "optimize/fakes.h"
#include "optimize/workshop/workshop.h"

namespace perflab::optimize {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Guards that are not on the source, by the names that the cheats have for them.
constexpr const char* kReproducible = "reproducible";
constexpr const char* kTime = "time";
/// Guards on the source that never refuse alone on a host build; docs/OPTIMIZER.md says why.
const std::set<std::string> kNeverAlone{"text", "includes", "launch_bounds"};

/// The program and its cheats.
struct AloneCorpus {
  std::string original = test::text_of(PERFLAB_SOURCE_DIR "/tests/cheats/alone/original.cpp");
  std::vector<test::Cheat> cheats = test::read_cheats("alone", original);

  [[nodiscard]] const test::Cheat* of(const std::string& text) const {
    const auto found = std::ranges::find(cheats, text, &test::Cheat::source);
    return found == cheats.end() ? nullptr : &*found;
  }
};

/// Runs what it is told to measure, and says how long that took: less for every later candidate.
class ToldTimes final : public measure::Backend {
 public:
  ToldTimes(measure::Backend& inner, const AloneCorpus& corpus, const std::string& off)
      : inner_(inner), corpus_(corpus), off_(off) {}
  [[nodiscard]] std::string name() const override { return inner_.name(); }
  [[nodiscard]] std::string unit() const override { return inner_.unit(); }
  void is_built(const Built& built) { sources_[built.variant.command] = built.source; }
  Result<measure::Measured> measure(const measure::Variant& variant) override {
    PERFLAB_TRY(measure::Measured measured, inner_.measure(variant));
    if (!measured.failure.empty()) return measured;
    const std::filesystem::path& source = sources_.at(variant.command);
    const test::Cheat* const cheat = corpus_.of(test::text_of(source));
    const bool slow = cheat != nullptr && cheat->guard == kTime && off_ != kTime;
    const double time = slow ? 3000.0 : 1000.0 / (1 + std::stoi(source.stem().string()));
    measured.samples = {time * (1 + 0.001 * static_cast<double>(++measured_ % 7))};
    return measured;
  }

 private:
  measure::Backend& inner_;
  const AloneCorpus& corpus_;
  const std::string& off_;
  std::map<std::vector<std::string>, std::filesystem::path> sources_;
  int measured_ = 0;
};

/// A real workshop without one guard.
class WithoutOne final : public Workshop {
 public:
  WithoutOne(Workshop& inner, const AloneCorpus& corpus, const std::string& off)
      : inner_(inner), off_(off), times_(inner.backend(), corpus, off) {}
  [[nodiscard]] Json identity() const override { return inner_.identity(); }
  Result<BuildOutcome> build(const std::filesystem::path& source,
                             const std::filesystem::path& folder) override {
    PERFLAB_TRY(BuildOutcome outcome, inner_.build(source, folder));
    if (!outcome.built) return outcome;
    times_.is_built(*outcome.built);
    if (off_ == kReproducible) outcome.built->reproducible = true;
    return outcome;
  }
  Result<ObjectGuards> check_object(const Built& original, const Built& candidate) override {
    return inner_.check_object(original, candidate);
  }
  Result<Correctness> prove(const Built& original, const Built& candidate) override {
    return inner_.prove(original, candidate);
  }
  Result<void> prepare_timing(const Built& original, const Built& before,
                              const Built& after) override {
    return inner_.prepare_timing(original, before, after);
  }
  [[nodiscard]] measure::Backend& backend() override { return times_; }

 private:
  Workshop& inner_;
  const std::string& off_;
  ToldTimes times_;
};

class CheatsAlone : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(write_file_atomically(source_, corpus_.original));
    ASSERT_TRUE(write_file_atomically(
        folder_ / "build.sh",
        "g++ -w -O1 -x c++ \"$1\" -o \"$2/app\" || exit 1\n"
        "if grep -q differs_each_time \"$1\"; then date +%N >\"$2/note\"; fi\n"));
    CommandWorkshopOptions options;
    options.source = source_;
    options.build = "sh " + (folder_ / "build.sh").string() + " {source} {build_dir}";
    options.run = "{build_dir}/app {seed} {build_dir}/out";
    options.outputs = {"{build_dir}/out"};
    options.perturbations = 1;
    auto opened = open_command_workshop(options);
    ASSERT_TRUE(opened) << describe(opened.error());
    workshop_ = *std::move(opened);
  }

  /// These cheats in one run; of each, the guards on its source that failed. Each has its own guard
  /// left out when `without` says so.
  Result<Optimization> run(const std::vector<test::Cheat>& cheats, bool without,
                           std::vector<std::vector<std::string>>& failed) {
    std::vector<std::string> texts;
    for (const test::Cheat& cheat : cheats) texts.push_back(cheat.source);
    fakes::FakeProposer proposer(texts);
    std::string off;
    WithoutOne workshop(*workshop_, corpus_, off);
    LoopOptions options;
    options.source = source_;
    options.folder = folder_ / (without ? "without" : "with");
    options.kernel = "row_sums";
    options.parse.path = source_;
    options.parse.host = true;
    options.judge.resamples = 200;
    LoopTools tools;
    tools.proposer = &proposer;
    tools.workshop = &workshop;
    // What was accepted without its guard need not even parse.
    tools.parse = [&](std::string text) -> Result<SourceModel> {
      PERFLAB_TRY(SourceModel model, parse_source(corpus_.original, options.parse, "row_sums"));
      model.text = text.size() < model.text.size() ? model.text : std::move(text);
      return model;
    };
    tools.check = [&](const SourceModel& original, const std::string& candidate,
                      const SourceGuardOptions& guards) -> Result<GuardResults> {
      const test::Cheat* const cheat = corpus_.of(candidate);
      off = without && cheat != nullptr ? cheat->guard : "";
      PERFLAB_TRY(GuardResults results, check_source(original, candidate, guards));
      failed.emplace_back();
      for (const GuardResult& result : results)
        if (!result.passed) failed.back().push_back(result.name);
      std::erase_if(
          results, [&](const GuardResult& result) { return !result.passed && result.name == off; });
      return results;
    };
    PERFLAB_TRY(SourceModel original, tools.parse(corpus_.original));
    return run_loop(std::move(original), options, tools);
  }

  AloneCorpus corpus_;
  test::TempFolder folder_;
  std::filesystem::path source_ = folder_ / "original.cpp";
  std::unique_ptr<Workshop> workshop_;
};

TEST_F(CheatsAlone, AreRefusedByTheirGuardAndByNothingElse) {
  std::vector<std::vector<std::string>> failed;
  const auto done = run(corpus_.cheats, false, failed);
  ASSERT_TRUE(done) << describe(done.error());
  ASSERT_EQ(done->candidates.size(), corpus_.cheats.size());
  ASSERT_EQ(failed.size(), corpus_.cheats.size());
  for (std::size_t i = 0; i < corpus_.cheats.size(); ++i) {
    const test::Cheat& cheat = corpus_.cheats[i];
    const Decision& decision = done->candidates[i].decision;
    ASSERT_TRUE(decision.reason) << cheat.name << ": " << decision.sentence;
    EXPECT_EQ(to_string(*decision.reason), cheat.expected.front())
        << cheat.name << ": " << decision.sentence;
    if (cheat.guard == kReproducible || cheat.guard == kTime)
      EXPECT_THAT(failed[i], IsEmpty()) << cheat.name;
    else
      EXPECT_THAT(failed[i], ElementsAre(cheat.guard)) << cheat.name;
  }
}

TEST_F(CheatsAlone, AreAcceptedWithoutIt) {
  std::vector<std::vector<std::string>> failed;
  const auto done = run(corpus_.cheats, true, failed);
  ASSERT_TRUE(done) << describe(done.error());
  ASSERT_EQ(done->candidates.size(), corpus_.cheats.size());
  for (std::size_t i = 0; i < corpus_.cheats.size(); ++i)
    EXPECT_EQ(done->candidates[i].decision.outcome, Outcome::accepted)
        << corpus_.cheats[i].name << ": " << done->candidates[i].decision.sentence;
}

/// Every guard on the source has a cheat, and docs/OPTIMIZER.md has all of them.
TEST_F(CheatsAlone, AreThereForEveryGuard) {
  ParseOptions parse;
  parse.path = source_;
  parse.host = true;
  const auto model = parse_source(corpus_.original, parse);
  ASSERT_TRUE(model) << describe(model.error());
  const auto results = check_source(*model,
                                    test::replaced_once(corpus_.original, "    float sum = 0;",
                                                        "    float sum = 0.0F;", "honest"),
                                    {.kernel = "row_sums", .workgroup_size = {}});
  ASSERT_TRUE(results) << describe(results.error());
  std::map<std::string, std::vector<std::string>> cheats{{kReproducible, {}}, {kTime, {}}};
  for (const GuardResult& result : *results) {
    EXPECT_TRUE(result.passed) << result.name << ": " << result.detail;
    if (!kNeverAlone.contains(result.name)) cheats[result.name];
  }
  for (const test::Cheat& cheat : corpus_.cheats) {
    ASSERT_TRUE(cheats.contains(cheat.guard)) << cheat.name << ": " << cheat.guard;
    cheats[cheat.guard].push_back(cheat.name);
  }
  const std::string page = test::text_of(PERFLAB_SOURCE_DIR "/docs/OPTIMIZER.md");
  for (const auto& [guard, names] : cheats) {
    EXPECT_FALSE(names.empty()) << "no cheat for " << guard;
    const std::size_t at = page.find("| `" + guard + "` |");
    ASSERT_NE(at, std::string::npos) << guard;
    for (const std::string& name : names)
      EXPECT_THAT(page.substr(at, page.find('\n', at) - at), HasSubstr(name)) << guard;
  }
}

}  // namespace
}  // namespace perflab::optimize
