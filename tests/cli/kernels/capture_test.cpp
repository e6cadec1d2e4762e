// rocm-perf capture info and check from outside: text, document, exit codes.
#include <gmock/gmock.h>

#include <sstream>

#include "capture/sample_capture.h"
#include "cli/program.h"
#include "report/kit/text_table.h"

namespace perflab::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kFirst = test::kSampleCaptureBase;

class CaptureCommand : public testing::Test {
 protected:
  CaptureCommand() {
    EXPECT_TRUE(
        test::write_capture(folder_ / "good", test::sample_capture(kFirst + 8)).has_value());
    EXPECT_TRUE(
        test::write_capture(folder_ / "bad", test::sample_capture(0x555500000000)).has_value());
  }
  Outcome run(std::vector<std::string> arguments, ProcessOptions options = {}) {
    arguments.insert(arguments.begin(), "capture");
    return rocm_perf(folder_.path(), std::move(arguments), std::move(options));
  }

  test::TempFolder folder_;
};

TEST_F(CaptureCommand, InfoShowsWhatIsThere) {
  const Outcome outcome = run({"info", "good", "--details"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* text :
       {"saxpy(float const*)", "number 2 of this kernel; GPU time 12.34 us",
        "500 x 1 x 1 work-items in work-groups of 64 x 1 x 1", "1024 bytes of LDS (0 static)",
        "3 regions, 20.48 kB; 1 not captured", "2 zero, 2 shared, 3 stored; 1 changed",
        "0x7f1000000000", "GPU 0 pool", "all zero", "host locked",
        "not captured: it is memory of the host", "a queue of another GPU"})
    EXPECT_THAT(outcome.out, HasSubstr(text));
  EXPECT_THAT(outcome.out, Not(HasSubstr("note grid_remainder")));
  ProcessOptions narrow;
  narrow.set_environment = {{"COLUMNS", "80"}};
  for (const char* command : {"info", "check"}) {
    std::istringstream lines(run({command, "bad"}, narrow).out +
                             run({command, "bad", "--details"}, narrow).out);
    for (std::string line; std::getline(lines, line);)
      if (!line.starts_with("  rocm-perf ")) {
        EXPECT_LE(report::display_width(line), 80U) << line;
      }
  }
}

TEST_F(CaptureCommand, InfoHasADocument) {
  const Outcome outcome = run({"info", "--capture-dir", "good", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json json = document("capture", outcome.out);
  EXPECT_EQ(json["kernel"]["dynamic_lds_bytes"], 1024);
  EXPECT_EQ(json["kernel"]["captured_ns"], 12340);
  EXPECT_EQ(json["totals"]["regions"], 3);
  EXPECT_EQ(json["totals"]["changed_pages"], 1);
  EXPECT_EQ(json["regions"][0]["base"], "0x7f1000000000");
  EXPECT_EQ(json["regions"][0]["pool_kind"], "coarse-grained");
  EXPECT_EQ(json["regions"][0]["changed"]["pages"], 1);
  EXPECT_EQ(json["regions"][1]["image"]["zero_pages"], 2);
  EXPECT_EQ(json["regions"][2]["image"], nullptr);
  EXPECT_EQ(json["findings"], nullptr);
  EXPECT_EQ(json["integrity"], nullptr);
  EXPECT_EQ(json["missing"][0]["field"], "machine.product_name");
  EXPECT_EQ(run({"info", "good", "--json"}).out, outcome.out) << "the same capture, the same bytes";
}

TEST_F(CaptureCommand, CheckAnswersWithItsExitCode) {
  const Outcome good = run({"check", "good", "--details"});
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("Every file is the one that was written."));
  EXPECT_THAT(good.out, HasSubstr("note grid_remainder"));
  EXPECT_THAT(good.out, HasSubstr("warning limit"));
  EXPECT_THAT(good.out, HasSubstr("It can be replayed."));
  const Outcome bad = run({"check", "bad", "--details"});
  EXPECT_EQ(bad.exit_code, 1) << bad.err;
  EXPECT_THAT(bad.out, HasSubstr("error host_pointer"));
  EXPECT_THAT(bad.out, HasSubstr("argument 1 (byte 8) is 0x555500000000"));
  EXPECT_THAT(bad.out, HasSubstr("1 error"));
  const Json json = document("capture", run({"check", "bad", "--json"}).out);
  EXPECT_EQ(json["integrity"]["sound"], true);
  EXPECT_EQ(json["findings"][0]["rule"], "host_pointer");
  EXPECT_EQ(json["findings"][0]["severity"], "error");
}

/// Two captures, one answer each: an agent's question.
TEST_F(CaptureCommand, TheAnswerSaysWhichCanBeReplayed) {
  ProcessOptions no_runtime;
  no_runtime.set_environment = {{"LD_LIBRARY_PATH", "/nowhere"}};
  ProcessOptions stand_in;
  stand_in.set_environment = {{"LD_LIBRARY_PATH", PERFLAB_HSA_SIM_FOLDER}};
  const auto answer = [&](const char* folder, const ProcessOptions& options) {
    const Outcome outcome = run({"check", folder, "--json", "--brief"}, options);
    EXPECT_LE(outcome.out.size(), 8192U);
    const Json summary = document("summary", outcome.out);
    return summary["parts"][0]["rows"];
  };
  EXPECT_EQ(answer("good", stand_in)[0]["possible"], true);
  EXPECT_EQ(answer("good", stand_in)[1]["possible"], true);
  EXPECT_EQ(answer("bad", stand_in)[0]["possible"], false);
  EXPECT_THAT(answer("bad", stand_in)[0]["problem"].get<std::string>(),
              HasSubstr("0x555500000000"));
  EXPECT_EQ(run({"check", "good"}, no_runtime).exit_code, 0) << "elsewhere it can be replayed";
  const std::string info = run({"info", "good"}).out;
  EXPECT_THAT(info, testing::StartsWith("warning: a queue of another GPU was left running\n"));
  EXPECT_THAT(info, HasSubstr("\nNext\n  rocm-perf capture check good\n"));
  EXPECT_LE(lines(info), 40);
}

TEST_F(CaptureCommand, DetailsAreTheSectionsTogether) {
  std::string together;
  for (const char* section : {"dispatch", "regions", "findings"})
    together += run({"check", "good", "--details", section}).out;
  EXPECT_EQ(run({"check", "good", "--details"}).out, together);
  EXPECT_EQ(run({"info", "good", "--details", "findings"}).exit_code, 2);
}

TEST_F(CaptureCommand, DamageIsExit3) {
  const auto blob = folder_ / "good/memory/region_7f1000000000.bin";
  std::string text = test::text_of(blob);
  text[capture::kPageBytes + 30] ^= 1;
  (void)folder_.write("good/memory/region_7f1000000000.bin", text);
  EXPECT_EQ(run({"info", "good"}).exit_code, 0) << "info does not read the pages";
  const Outcome flipped = run({"check", "good", "--json"});
  EXPECT_EQ(flipped.exit_code, 3);
  const Json json = document("capture", flipped.out);
  EXPECT_EQ(json["integrity"]["sound"], false);
  EXPECT_THAT(json["integrity"]["problem"].get<std::string>(),
              HasSubstr("region_7f1000000000.bin: is damaged"));
  EXPECT_EQ(json["findings"], nullptr);
  EXPECT_THAT(run({"check", "good", "--details"}).out, HasSubstr("Damaged:"));
  EXPECT_THAT(run({"check", "good"}).out, HasSubstr("no: "));

  (void)folder_.write("good/memory/region_7f1000000000.bin", text.substr(0, text.size() - 10));
  const Outcome cut = run({"check", "good"});
  EXPECT_EQ(cut.exit_code, 3);
  EXPECT_EQ(cut.out, "");
  EXPECT_THAT(cut.err, HasSubstr("is truncated"));
  std::filesystem::remove(folder_ / "good/capture_complete.json");
  EXPECT_THAT(run({"check", "good"}).err, HasSubstr("unfinished capture"));
  EXPECT_EQ(run({"info", "nowhere"}).exit_code, 3);

  test::WrittenCapture no_code = test::sample_capture(kFirst);
  no_code.code_object = "no code object";
  ASSERT_TRUE(test::write_capture(folder_ / "no_code", no_code).has_value());
  EXPECT_EQ(run({"check", "no_code"}).exit_code, 3);
}

TEST_F(CaptureCommand, WrongCallsAreExit2) {
  const std::vector<std::vector<std::string>> wrong = {
      {}, {"info"}, {"check", "--capture-dir"}, {"look", "good"}, {"info", "good", "--", "x"}};
  for (const auto& arguments : wrong) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << testing::PrintToString(arguments);
    EXPECT_EQ(outcome.out, "");
  }
}

}  // namespace
}  // namespace perflab::cli
