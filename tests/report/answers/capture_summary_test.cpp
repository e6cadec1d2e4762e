// The answer of capture info and check: which of two captures can be replayed, here or at all.
#include <gmock/gmock.h>

#include "base/temp_folder.h"
#include "capture/written_capture.h"
#include "report/replay/capture_document.h"
#include "report/report_cases.h"
#include "report/summary/followed.h"

namespace perflab::report {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class CaptureSummary : public testing::Test {
 protected:
  /// A capture with so many regions, every second of them not captured, and limits.
  void write(std::size_t regions, std::size_t limits) {
    test::WrittenCapture written;
    written.description.dispatch = {.kernel = "_Z5saxpyPf",
                                    .demangled = "saxpy(float*)",
                                    .ordinal = 2,
                                    .grid = {500, 1, 1},
                                    .workgroup = {64, 1, 1},
                                    .packet = {},
                                    .captured_ns = 12340};
    written.description.machine.isa = "amdgcn-amd-amdhsa--gfx942";
    written.description.limits.assign(limits, "a queue of another GPU was left running");
    for (std::size_t i = 0; i < regions; ++i) {
      capture::MemoryRegion region;
      region.base = 0x7f1000000000 + i * 0x100000;
      if (i % 2 == 1) {
        region.origin = capture::Origin::locked;
        region.bytes = 4096;
        region.not_captured = "it is memory of the host";
      }
      written.regions.push_back({region, i % 2 == 1 ? "" : std::string(5000, 'a'), {}});
    }
    ASSERT_TRUE(test::write_capture(folder_ / "c", written).has_value());
  }

  /// The document of it, with what a check found.
  std::vector<NamedDocument> documents(std::optional<CaptureCheck> check,
                                       std::optional<ReplayHere> here) {
    const auto capture = capture::Capture::open(folder_ / "c");
    if (!capture) {
      ADD_FAILURE() << describe(capture.error());
      return {};
    }
    const CaptureData data{
        .capture = &*capture, .folder = "my c", .check = std::move(check), .here = std::move(here)};
    return {{"capture", rendered_json("capture", capture_document(data))}};
  }

  test::TempFolder folder_;
};

/// So many words.
std::string words(std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += " word";
  return out;
}

CaptureCheck with_findings(std::size_t errors, std::size_t notes) {
  CaptureCheck check;
  const auto add = [&](replay::Severity severity, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      check.findings.push_back({.severity = severity,
                                .rule = "host_pointer",
                                .sentence = "argument 1 is host memory" + words(100),
                                .remedy = "pass memory of the GPU"});
  };
  add(replay::Severity::error, errors);
  check.findings.push_back(
      {.severity = replay::Severity::warning, .rule = "limit", .sentence = "s", .remedy = ""});
  add(replay::Severity::note, notes);
  return check;
}

TEST_F(CaptureSummary, IsTrueAndShort) {
  write(40, 30);
  const ReplayHere none{.problem = "it lists no GPU" + words(80), .gpus = {}};
  for (const auto& [check, here] :
       std::vector<std::pair<std::optional<CaptureCheck>, std::optional<ReplayHere>>>{
           {std::nullopt, std::nullopt},
           {with_findings(0, 0), ReplayHere{}},
           {with_findings(30, 30), none},
           {CaptureCheck{.problem = "memory/x.bin: is damaged", .findings = {}}, none}}) {
    const std::vector<NamedDocument> made = documents(check, here);
    const Json summary = rendered_json("summary", summary_document(made));
    EXPECT_GT(figures_followed(made, summary), 15U);
    expect_short(summary);
    EXPECT_EQ(summary["warnings"]["from"], "capture.json#/limits");
    EXPECT_EQ(
        summary["warnings"]["left_out"].get<std::size_t>() + summary["warnings"]["texts"].size(),
        30U);
    const Json regions = part_named(summary, "not_captured");
    EXPECT_EQ(regions["rows"].size() + regions["left_out"].get<std::size_t>(), 20U);
  }
}

/// The answer's first part, as people read it.
std::string replay_answer(const Json& summary) {
  return summary_text(summary, {}, "");
}

TEST_F(CaptureSummary, SaysWhichCaptureCanBeReplayed) {
  write(1, 0);
  const Json info = summary_document(documents({}, {}));
  EXPECT_TRUE(info["parts"][0]["rows"][0]["possible"].is_null());
  EXPECT_EQ(info["next"][0]["command"], "rocm-perf capture check 'my c'");

  const Json good = summary_document(documents(with_findings(0, 1), ReplayHere{}));
  EXPECT_EQ(good["parts"][0]["rows"][0]["possible"], true);
  EXPECT_EQ(good["parts"][0]["rows"][1]["possible"], true);
  EXPECT_EQ(good["next"][0]["command"], "rocm-perf replay verify 'my c'");

  const Json bad = summary_document(documents(with_findings(2, 0), ReplayHere{}));
  EXPECT_EQ(bad["parts"][0]["rows"][0]["possible"], false);
  EXPECT_THAT(replay_answer(bad), HasSubstr("no: argument 1 is host memory"));
  EXPECT_EQ(bad["next"][0]["command"],
            "rocm-perf isolate --kernel '^_Z5saxpyPf$' --out 'my c.new' -- ./app");

  const Json damaged = summary_document(
      documents(CaptureCheck{.problem = "x.bin: is damaged", .findings = {}}, ReplayHere{}));
  EXPECT_THAT(replay_answer(damaged), StartsWith("Can it be replayed?\n"));
  EXPECT_THAT(replay_answer(damaged), HasSubstr("no: x.bin: is damaged\n"));
}

TEST_F(CaptureSummary, TellsThisMachineFromAllOthers) {
  write(1, 0);
  const auto next = [&](const ReplayHere& here) {
    const Json summary = summary_document(documents(with_findings(0, 0), here));
    EXPECT_EQ(summary["parts"][0]["rows"][0]["possible"], true);
    EXPECT_EQ(summary["parts"][0]["rows"][1]["possible"], false);
    EXPECT_THAT(replay_answer(summary), HasSubstr("no: " + here.problem));
    return summary["next"][0]["command"];
  };
  EXPECT_EQ(next({.problem = "it lists no GPU", .gpus = {}}), "rocm-perf doctor replay");
  EXPECT_TRUE(
      next({.problem = "isa_mismatch: x", .gpus = {"amdgcn-amd-amdhsa--gfx1100"}}).is_null());
}

}  // namespace
}  // namespace perflab::report
