// Packed recordings, parts of recordings and limits of memory, from outside.
#include <gmock/gmock.h>

#include <utility>

#include "base/gzipped.h"
#include "base/text/pattern.h"
#include "base/zstd_packed.h"
#include "cli/program.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

std::string sample() {
  return test::text_of(PERFLAB_SAMPLE);
}

TEST(PackedRecordings, GiveTheSameDocuments) {
  const test::TempFolder folder, temporary;
  const std::string bytes = sample();
  const std::string half = bytes.substr(0, bytes.size() / 2), rest = bytes.substr(half.size());
  for (const char* name : {"plain", "gzip", "zstd"}) fs::create_directory(folder / name);
  // By content, whatever the name is.
  (void)folder.write("plain/run.db", bytes);
  (void)folder.write("gzip/run.db", gzipped(half) + gzipped(rest));
  (void)folder.write("zstd/run.db", zstd_packed(half) + zstd_packed(rest));
  ProcessOptions options;
  options.set_environment.emplace_back("TMPDIR", temporary.path().string());
  const std::vector<std::vector<std::string>> calls = {
      {"analyze", "run.db", "--json"},
      {"critical-path", "run.db", "--json"},
      {"roofline", "run.db", "--json"},
      {"compare", "run.db", PERFLAB_SAMPLE, "--json"},
      {"rank-summary", "run.db", "-o", "summaries"}};
  for (const auto& call : calls) {
    const Outcome plain = rocm_perf(folder / "plain", call, options);
    for (const char* packing : {"gzip", "zstd"}) {
      const Outcome packed = rocm_perf(folder / packing, call, options);
      EXPECT_EQ(packed.exit_code, plain.exit_code) << call[0] << ": " << packed.err;
      EXPECT_TRUE(packed.out == plain.out) << call[0] << " " << packing << packed.err;
      EXPECT_EQ(packed.err, plain.err);
    }
  }
  EXPECT_TRUE(names_in(temporary.path()).empty());
}

TEST(PackedRecordings, DamagedOnes) {
  const test::TempFolder folder;
  const std::string packed = zstd_packed(sample());
  (void)folder.write("cut.db.zst", packed.substr(0, packed.size() / 2));
  (void)folder.write("other.db.gz", gzipped("no database"));
  for (const auto& [file, says] :
       {std::pair{"cut.db.zst", "the zstd data end early"}, std::pair{"other.db.gz", "is not"}}) {
    const Outcome outcome = rocm_perf(folder.path(), {"analyze", file, "--out", "docs"});
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_THAT(outcome.err, StartsWith(std::string("rocm-perf: ") + file));
    EXPECT_THAT(outcome.err, HasSubstr(says));
    EXPECT_FALSE(fs::exists(folder / "docs"));
  }
}

TEST(PackedRecordings, NeedAPlaceForATemporaryFile) {
  const test::TempFolder folder;
  (void)folder.write("run.db.gz", gzipped(sample()));
  ProcessOptions options;
  options.set_environment.emplace_back("TMPDIR", "/proc");
  const Outcome outcome = rocm_perf(folder.path(), {"analyze", "run.db.gz"}, options);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("/proc: no temporary file can be made here"));
}

TEST(PartsOfRecordings, TimesAndKernels) {
  const test::TempFolder folder;
  const Outcome whole = rocm_perf(folder.path(), {"analyze", PERFLAB_SAMPLE, "--json"});
  const Json all = document("analysis", whole.out);
  const std::string to = std::to_string(all["totals"]["span_ns"].get<std::int64_t>() / 2) + "ns";
  const Outcome outcome =
      rocm_perf(folder.path(), {"analyze", PERFLAB_SAMPLE, "--from", "1us", "--to", to, "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json part = document("analysis", outcome.out);
  EXPECT_LT(part["totals"]["dispatches"].get<int>(), all["totals"]["dispatches"].get<int>());
  EXPECT_GT(part["totals"]["dispatches"].get<int>(), 100);
  EXPECT_TRUE(part["critical_path"].is_object());
  EXPECT_THAT(part["warnings"].dump(), HasSubstr("all figures are of what began from"));

  const std::string kernel = all["kernels"][0]["name"].get<std::string>();
  const Outcome chosen = rocm_perf(folder.path(), {"analyze", PERFLAB_SAMPLE, "--kernel",
                                                   "^" + quoted_pattern(kernel) + "$", "--json"});
  ASSERT_EQ(chosen.exit_code, 0) << chosen.err;
  const Json of_kernel = document("analysis", chosen.out);
  ASSERT_EQ(of_kernel["kernels"].size(), 1U);
  for (const char* figure : {"name", "dispatches", "total_ns"})
    EXPECT_EQ(of_kernel["kernels"][0][figure], all["kernels"][0][figure]) << figure;
  EXPECT_TRUE(of_kernel["critical_path"].is_null());
  EXPECT_TRUE(of_kernel["segments"].is_null());
}

TEST(PartsOfRecordings, ThatCannotBe) {
  const test::TempFolder folder;
  const auto error = [&](std::vector<std::string> options) {
    std::vector<std::string> call = {"analyze", PERFLAB_SAMPLE};
    call.insert(call.end(), options.begin(), options.end());
    const Outcome outcome = rocm_perf(folder.path(), call);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    return outcome.err;
  };
  EXPECT_THAT(error({"--from", "soon"}), HasSubstr("--from 'soon' is not a time"));
  EXPECT_THAT(error({"--from", "2s", "--to", "1s"}), HasSubstr("--to is not behind --from"));
  EXPECT_THAT(error({"--from", "2h"}), HasSubstr("no kernel dispatch is in the part"));
  EXPECT_THAT(error({"--kernel", "no such"}), HasSubstr("no kernel dispatch is in the part"));
  EXPECT_THAT(error({"--kernel", "("}), HasSubstr("is not a regular expression"));
  EXPECT_THAT(error({"--from", "1us", "--counters", PERFLAB_SAMPLE}),
              HasSubstr("counter passes ran at other times"));
  EXPECT_THAT(error({"--memory", "lots"}), HasSubstr("'lots' is not a size of memory"));
}

TEST(PartsOfRecordings, LimitsOfMemory) {
  const test::TempFolder folder;
  const auto with = [&](std::vector<std::string> options) {
    std::vector<std::string> call = {"analyze", PERFLAB_SAMPLE};
    call.insert(call.end(), options.begin(), options.end());
    return rocm_perf(folder.path(), call);
  };
  const Outcome refused = with({"--memory", "10K", "--out", "docs"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, HasSubstr("GB of memory, and there are 0.0"));
  EXPECT_THAT(refused.err, HasSubstr("--no-critical-path takes less"));
  EXPECT_FALSE(fs::exists(folder / "docs"));
  EXPECT_EQ(with({"--memory", "1G"}).exit_code, 0);
  EXPECT_EQ(with({"--no-critical-path", "--memory", "10K"}).exit_code, 3);
}

}  // namespace
}  // namespace perflab::cli
