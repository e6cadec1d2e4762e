// The whole loop with a real compiler and programs that run, on the example that builds for the
// host: gains, losses and wrong results, what kill -9 leaves, and what is measured again. The
// programs count work instead of time (support/counted_clock.cpp), so that no decision depends on
// what else the machine does.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "base/sizes.h"
#include "base/system/files.h"
#include "cli/program.h"

namespace perflab::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* kExamples = PERFLAB_SOURCE_DIR "/examples";

/// A copy of the example row_sums, so that it can be written to.
class OptimizeRun : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "optimize");
    std::filesystem::copy(std::string(kExamples) + "/host", folder_ / "host",
                          std::filesystem::copy_options::recursive);
    for (const char* name : {"example.h", "optimize/row_sums.hip"})
      std::filesystem::copy_file(std::string(kExamples) + "/" + name, folder_ / name);
    original_ = test::text_of(source_);
  }

  [[nodiscard]] std::vector<std::string> words(std::vector<std::string> more) const {
    std::vector<std::string> all{"optimize",
                                 "optimize/row_sums.hip",
                                 "--host",
                                 "--build",
                                 "g++ -std=c++20 -O2 -fsanitize-coverage=trace-pc -x c++ -Ihost "
                                 "{source} " PERFLAB_SOURCE_DIR
                                 "/tests/support/counted_clock.cpp -o {build_dir}/app",
                                 "--run",
                                 "{build_dir}/app {seed} {build_dir}/out.bin",
                                 "--output",
                                 "{build_dir}/out.bin",
                                 "--type",
                                 "f32",
                                 "--metric-regex",
                                 "time_ms: ([0-9.]+)",
                                 "--metric-unit",
                                 "ms",
                                 "--perturbations",
                                 "1",
                                 "--out",
                                 "out",
                                 "--json"};
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {"--", "-Ihost"});
    return all;
  }
  [[nodiscard]] Outcome optimize(std::vector<std::string> more, ProcessOptions options = {}) const {
    return rocm_perf(folder_.path(), words(std::move(more)), std::move(options));
  }

  /// Events of the ledger by name; a torn last line is left out.
  [[nodiscard]] std::vector<Json> ledger() const {
    std::vector<Json> events;
    std::istringstream text(test::text_of(folder_ / "out/ledger.jsonl"));
    for (std::string line; std::getline(text, line);)
      if (auto json = parse_json(line, "ledger")) events.push_back(std::move(*json));
    return events;
  }

  test::TempFolder folder_;
  std::filesystem::path source_ = folder_ / "optimize/row_sums.hip";
  std::string original_;
};

TEST_F(OptimizeRun, RulesFindWhatGainsAndRollBackTheRest) {
  // The check fails when it finds the key of a language model.
  ProcessOptions options;
  options.set_environment = {{"OPENAI_API_KEY", "sk-0123456789"}};
  const Outcome outcome =
      optimize({"--rtol", "1e-4", "--atol", "1e-3", "--max-candidates", "6", "--apply", "--check",
                "sh -c '[ -z \"$OPENAI_API_KEY\" ]' {build_dir}"},
               options);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json result = document("optimization", outcome.out);
  EXPECT_GT(result["accepted"]["speed_up"]["low"].get<double>(), 1.02);
  std::set<std::string> outcomes;
  for (const Json& candidate : result["candidates"])
    outcomes.insert(candidate["decision"]["outcome"].get<std::string>());
  EXPECT_EQ(outcomes, (std::set<std::string>{"accepted", "refused"}));
  // The user's file is the accepted source, and the original is kept.
  EXPECT_EQ(test::text_of(source_), test::text_of(folder_ / "out/accepted.hip"));
  EXPECT_EQ(test::text_of(folder_ / "optimize/row_sums.hip.orig"), original_);
  EXPECT_EQ(result["environment"]["original_kept"], "optimize/row_sums.hip.orig");

  const Outcome recheck =
      rocm_perf(folder_.path(), {"optimize", "--recheck", "out/optimization.json"});
  EXPECT_EQ(recheck.exit_code, 0) << recheck.out << recheck.err;
  // One sample is altered: the figures do not follow from the samples any more.
  Json altered = result;
  altered["final"]["measurement"]["samples"]["after"][0] = 1e9;
  ASSERT_TRUE(write_file_atomically(folder_ / "out/altered.json", to_canonical_text(altered)));
  EXPECT_EQ(rocm_perf(folder_.path(), {"optimize", "--recheck", "out/altered.json"}).exit_code, 1);
}

TEST_F(OptimizeRun, ARefusedReassociationLeavesTheSourceAlone) {
  // Without a budget for rounding the sums have to be the same, bit for bit.
  const Outcome outcome = optimize({"--max-candidates", "1", "--apply"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  const Json result = document("optimization", outcome.out);
  EXPECT_EQ(result["candidates"][0]["decision"]["reason"], "wrong_output")
      << result["candidates"][0]["decision"] << result["candidates"][0]["summary"];
  EXPECT_TRUE(result["accepted"].is_null());
  EXPECT_EQ(test::text_of(source_), original_);
}

TEST_F(OptimizeRun, ACandidateThatWritesToTheOriginalsBuildIsRefused) {
  // Whatever runs from the first candidate's folder also adds to the original's program.
  const auto run = folder_.script("run",
                                  "case $1 in */001/*) echo >> out/builds/000/app ;; esac\n"
                                  "exec \"$1\" \"$2\" \"$3\"");
  std::vector<std::string> all =
      words({"--rtol", "1e-4", "--atol", "1e-3", "--max-candidates", "1"});
  *std::next(std::ranges::find(all, "--run")) =
      run.string() + " {build_dir}/app {seed} {build_dir}/out.bin";
  const Outcome outcome = rocm_perf(folder_.path(), all);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  const Json result = document("optimization", outcome.out);
  EXPECT_EQ(result["candidates"][0]["decision"]["reason"], "files_changed")
      << result["candidates"][0];
  EXPECT_THAT(result["candidates"][0]["decision"]["sentence"].get<std::string>(),
              HasSubstr("builds/000/app was a different file"));
  const Outcome recheck =
      rocm_perf(folder_.path(), {"optimize", "--recheck", "out/optimization.json"});
  EXPECT_EQ(recheck.exit_code, 0) << recheck.out << recheck.err;
}

TEST_F(OptimizeRun, AnApplicationsHottestKernelIsChosenAndTheGainProjected) {
  // The recording is the sample's; a kernel of its name stands in the source.
  const std::string kernel = "triton_poi_fused_mul_silu_2";
  std::string source = original_;
  for (std::size_t at = 0; (at = source.find("row_sums(", at)) != std::string::npos;)
    source.replace(at, 8, kernel);
  source.replace(source.find("(row_sums,"), 9, "(" + kernel);
  ASSERT_TRUE(write_file_atomically(source_, source));
  std::vector<std::string> all = words({"--rtol", "1e-4", "--atol", "1e-3", "--source",
                                        "optimize/row_sums.hip", "--max-candidates", "1"});
  all[1] = "true";  // what is profiled
  ProcessOptions options;
  options.set_environment = {{"ROCPROFV3", PERFLAB_SOURCE_DIR "/tests/collect/fake_rocprofv3"},
                             {"FAKE_ROCPROFV3_DB", PERFLAB_SAMPLE}};
  const Outcome outcome = rocm_perf(folder_.path(), all, options);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(kernel + " is on the critical path for 0.449 ms"));
  const Json projection = document("optimization", outcome.out)["projection"];
  EXPECT_EQ(projection["kernel"], kernel);
  EXPECT_EQ(projection["on_critical_path"], true);
  EXPECT_LT(projection["projected_ns"], projection["makespan_ns"]);
  EXPECT_GT(projection["end_to_end_ratio"].get<double>(), 1 - 0.449 / 32.1);  // all it could be
}

/// A suite of its own, because it is slow (CMakeLists.txt).
class OptimizeRunKills : public OptimizeRun {};

TEST_F(OptimizeRunKills, AtAnyMomentLeaveTheOriginalOrTheAcceptedSource) {
  std::mt19937 random(20261122);  // moments differ from machine to machine all the same
  std::uniform_real_distribution<double> part(0, 1);
  const std::vector<std::string> more{"--rtol",           "1e-4", "--atol", "1e-3",
                                      "--max-candidates", "4",    "--apply"};
  int kills = 0, late_kills = 0;
  std::size_t known = 0;  // lines of the ledger
  double longest = 0.9;   // seconds; more as long as it does not grow: machines can be slow
  for (; kills < test::size_of_test(50, 25); ++kills) {
    // timeout(1) sends the signal that cannot be caught.
    std::vector<std::string> command{
        "timeout", "--signal=KILL", std::to_string(0.02 + longest * part(random)), PERFLAB_PROGRAM};
    for (const std::string& word : words(more)) command.push_back(word);
    if (kills > 0) command.insert(command.begin() + 5, "--resume");
    ProcessOptions options;
    options.working_directory = folder_.path();
    options.standard_output = options.standard_error = StreamMode::capture;
    options.empty_input = true;
    const auto ended = run_program(command, options);
    ASSERT_TRUE(ended.has_value());
    const std::string now = test::text_of(source_);
    const bool accepted = std::filesystem::exists(folder_ / "out/accepted.hip") &&
                          now == test::text_of(folder_ / "out/accepted.hip");
    ASSERT_TRUE(now == original_ || accepted) << "after " << kills << " kills";
    if (ended->exit_code == 0) break;
    const std::size_t lines_now = ledger().size();
    if (lines_now > 1) ++late_kills;  // the original was built and proven
    if (lines_now <= known) longest *= 1.3;
    known = std::max(known, lines_now);
  }
  EXPECT_GT(late_kills, 0) << "killed " << kills << " times";
  if (test::text_of(source_) == original_) {
    const Outcome last = optimize(
        {"--rtol", "1e-4", "--atol", "1e-3", "--max-candidates", "4", "--apply", "--resume"});
    ASSERT_EQ(last.exit_code, 0) << last.err;
  }
  EXPECT_EQ(test::text_of(source_), test::text_of(folder_ / "out/accepted.hip"));
  EXPECT_EQ(test::text_of(folder_ / "optimize/row_sums.hip.orig"), original_);
  std::map<unsigned, int> measured;
  for (const Json& event : ledger())
    if (event.contains("event") && event["event"] == "measured") ++measured[event["number"]];
  EXPECT_FALSE(measured.empty());
  for (const auto& [number, times] : measured)
    EXPECT_EQ(times, 1) << "candidate " << number << " was measured again";
  RecordProperty("kills", kills);
}

}  // namespace
}  // namespace perflab::cli
