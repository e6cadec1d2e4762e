// Every rule of the lint on captures that were written for it, and its silence on a clean one.
#include "replay/lint.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "base/temp_folder.h"
#include "capture/written_capture.h"
#include "code/instructions/disassembly.h"
#include "support/code_writer.h"

namespace perflab::replay {
namespace {

using capture::MemoryRegion;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kCaptured = 0x7f1000000000, kLocked = 0x7f2000000000,
                        kVariable = 0x7f3000000000, kOtherGpu = 0x7f5000000000,
                        kKernelObject = 0x7f3000100000, kNowhere = 0x7f9000000000;
constexpr std::uint64_t kHidden = 24;

/// Code of kernels for gfx942 with their arguments in s[4:5]: it ends at once, loads the hidden
/// argument at byte 104 first, or something at an offset that it computes.
const std::string kEnds("\x00\x00\x81\xbf", 4);
const std::string kLoads = std::string("\x02\x00\x06\xc0\x68\x00\x00\x00", 8) + kEnds;
const std::string kComputes = std::string("\x02\x00\x04\xc0\x06\x00\x00\x00", 8) + kEnds;
constexpr std::uint16_t kArgumentsInS4 = 0x9;  // user SGPRs: segment buffer, kernel arguments

/// Arguments: two pointers and a word by value; then the hidden ones.
struct LintCase {
  test::WrittenCapture capture;
  test::WrittenCodeObject object;
  std::vector<test::WrittenArgument> arguments{
      {0, 8, "global_buffer"}, {8, 8, "global_buffer"}, {16, 8, "by_value"}};
  std::string code = kEnds;

  LintCase() {
    object.metadata = test::object_metadata(5, "amdgcn-amd-amdhsa--gfx942");
    object.symbols = true;
    object.kernels = {{.name = "_Z1kPf"}, {.name = "_Z5otherPf"}};
    capture.kernarg.assign(kHidden + 256, '\0');
    set(0, kCaptured);
    auto& description = capture.description;
    description.dispatch = {.kernel = "_Z1kPf",
                            .demangled = "k(float*)",
                            .grid = {512, 1, 1},
                            .workgroup = {64, 1, 1},
                            .header = 0,
                            .setup = 1,
                            .kernel_object = kKernelObject,
                            .packet = {},
                            .captured_ns = {}};
    description.machine.isa = "amdgcn-amd-amdhsa--gfx942";
    description.machine.gpu_index = 0;
    add(kCaptured, "some bytes");
    capture.regions.back().after = "more bytes";
    add(kLocked, "").origin = capture::Origin::locked;
    capture.regions.back().region.bytes = 4096;
    capture.regions.back().region.not_captured = "it is host memory";
    MemoryRegion& variable = add(kVariable, "12345678");
    variable.origin = capture::Origin::variable;
    variable.symbol = "table";
    add(kOtherGpu, "elsewhere").agent_index = 1;
  }

  MemoryRegion& add(std::uint64_t base, std::string bytes) {
    MemoryRegion region;
    region.base = base;
    capture.regions.push_back({region, std::move(bytes), {}});
    return capture.regions.back().region;
  }
  void set(std::uint64_t offset, std::uint64_t value) {
    std::memcpy(capture.kernarg.data() + offset, &value, sizeof(value));
  }
  void hidden(const std::string& kind, std::uint64_t value) {
    arguments.push_back({static_cast<std::int64_t>(kHidden + 80), 8, kind});
    set(kHidden + 80, value);
  }

  /// The findings but for the note about the locked region, which all cases have.
  std::vector<Finding> findings() {
    for (test::WrittenKernel& kernel : object.kernels)
      if (kernel.metadata.is_null()) {
        kernel.metadata = test::kernel_metadata(kernel.name, arguments);
        kernel.metadata[".kernarg_segment_size"] = kHidden + 256;
        kernel.code = code;
        kernel.properties = kArgumentsInS4;
      }
    capture.code_object = test::write_code_object(object);
    const test::TempFolder folder;
    const auto written = test::write_capture(folder / "c", capture);
    EXPECT_TRUE(written.has_value()) << (written ? "" : describe(written.error()));
    const auto opened = capture::Capture::open(folder / "c");
    EXPECT_TRUE(opened.has_value()) << (opened ? "" : describe(opened.error()));
    if (!opened) return {};
    auto found = lint(*opened);
    EXPECT_TRUE(found.has_value()) << (found ? "" : describe(found.error()));
    if (!found) return {};
    std::erase_if(*found, [](const Finding& finding) {
      return finding.rule == "not_captured" && finding.severity == Severity::note;
    });
    return *found;
  }
};

/// "error host_pointer" for each finding.
std::vector<std::string> rules(const std::vector<Finding>& findings) {
  std::vector<std::string> out;
  for (const Finding& finding : findings) {
    EXPECT_NE(finding.sentence, "");
    out.push_back(fmt::format("{} {}", to_string(finding.severity), finding.rule));
  }
  return out;
}

std::vector<std::string> rules_after(const std::function<void(LintCase&)>& change) {
  LintCase one;
  change(one);
  return rules(one.findings());
}

TEST(ReplayLint, ACleanCaptureHasNoFinding) {
  EXPECT_THAT(LintCase().findings(), IsEmpty());
  // Nothing of a hidden argument that is null, or that the kernel does not list.
  EXPECT_THAT(rules_after([](LintCase& one) { one.hidden("hidden_hostcall_buffer", 0); }),
              IsEmpty());
  EXPECT_THAT(rules_after([](LintCase& one) { one.set(kHidden + 80, kNowhere); }), IsEmpty());
  EXPECT_THAT(rules_after([](LintCase& one) { one.hidden("hidden_block_count_x", 8); }), IsEmpty());
}

TEST(ReplayLint, HiddenArgumentsIntoTheOldProcess) {
  const std::vector<std::tuple<std::string, std::string, std::string, std::string>> table = {
      {"hidden_hostcall_buffer", "hidden_hostcall", "error", "error"},
      {"hidden_printf_buffer", "hidden_printf", "error", "warning"},
      {"hidden_heap_v1", "hidden_heap", "error", "warning"},
      {"hidden_default_queue", "hidden_default_queue", "error", "error"},
      {"hidden_completion_action", "hidden_completion_action", "error", "error"},
      {"hidden_multigrid_sync_arg", "hidden_multigrid_sync", "error", "warning"},
      {"hidden_queue_ptr", "hidden_queue_ptr", "warning", "warning"}};
  const auto objdump = code::find_disassembler("gfx942");
  if (!objdump) GTEST_SKIP() << "skipped: " << objdump.error().message;
  for (const auto& [kind, rule, outside, inside] : table) {
    LintCase away;
    away.code = kLoads;
    away.hidden(kind, kNowhere);
    const auto lost = away.findings();
    EXPECT_THAT(rules(lost), ElementsAre(outside + " " + rule));
    EXPECT_THAT(lost.at(0).sentence, HasSubstr("it is in nothing that is known"));
    EXPECT_NE(lost.at(0).remedy, "");
    LintCase here;
    here.code = kLoads;
    here.hidden(kind, kCaptured + 4);
    const auto kept = here.findings();
    EXPECT_THAT(rules(kept), ElementsAre(inside + " " + rule));
    EXPECT_THAT(kept.at(0).sentence, HasSubstr("it lies in the captured region at 0x7f1000000000"));
    LintCase locked;
    locked.code = kLoads;
    locked.hidden(kind, kLocked);
    EXPECT_THAT(rules(locked.findings()), ElementsAre(outside + " " + rule));
    // Listed, and loaded by no instruction.
    LintCase unused;
    unused.hidden(kind, kNowhere);
    const auto listed = unused.findings();
    EXPECT_THAT(rules(listed), ElementsAre("note " + rule));
    EXPECT_THAT(listed.at(0).sentence, HasSubstr("no instruction of the kernel loads it"));
    // The code does not tell: nothing is refused, and what may happen is said.
    LintCase unknown;
    unknown.code = kComputes;
    unknown.hidden(kind, kNowhere);
    const auto doubted = unknown.findings();
    EXPECT_THAT(rules(doubted), ElementsAre("warning " + rule));
    EXPECT_THAT(doubted.at(0).sentence, HasSubstr("cannot be told from the code (it reads its "
                                                  "arguments at an offset that it computes)"));
    EXPECT_THAT(doubted.at(0).sentence, HasSubstr("a replay, which ends at its time limit"));
  }
}

TEST(ReplayLint, WithoutADisassemblerNothingIsRefusedUnseen) {
  const test::ScopedVariable none("ROCM_PERF_LLVM_OBJDUMP", "/nowhere/llvm-objdump");
  LintCase one;
  one.code = kLoads;
  one.hidden("hidden_hostcall_buffer", kNowhere);
  const auto found = one.findings();
  EXPECT_THAT(rules(found), ElementsAre("warning hidden_hostcall"));
  EXPECT_THAT(found.at(0).sentence, HasSubstr("/nowhere/llvm-objdump"));
}

TEST(ReplayLint, PointerArguments) {
  const auto pointer = [](std::uint64_t value) {
    return rules_after([&](LintCase& one) { one.set(8, value); });
  };
  EXPECT_THAT(pointer(0), IsEmpty());
  EXPECT_THAT(pointer(kCaptured + 9), IsEmpty());
  EXPECT_THAT(pointer(kCaptured + 10), IsEmpty()) << "one past the end belongs to the range";
  EXPECT_THAT(pointer(kCaptured + 11), ElementsAre("error host_pointer"));
  EXPECT_THAT(pointer(kCaptured - 1), ElementsAre("error host_pointer"));
  EXPECT_THAT(pointer(0x1234), ElementsAre("error host_pointer"));
  EXPECT_THAT(pointer(kLocked + 5), ElementsAre("error not_captured"));
  EXPECT_THAT(pointer(kOtherGpu), ElementsAre("warning other_gpu_pointer"));
  EXPECT_THAT(pointer(kVariable), ElementsAre("error variable_pointer"));
  EXPECT_THAT(pointer(kKernelObject - 4096), ElementsAre("error code_pointer"));
  EXPECT_THAT(pointer(kKernelObject + (2 << 20)), ElementsAre("error host_pointer"));
  LintCase one;
  one.set(8, kLocked + 5);
  EXPECT_EQ(one.findings().at(0).sentence,
            "argument 1 (byte 8) is 0x7f2000000005: its region at 0x7f2000000000 (locked) was not "
            "captured: it is host memory");
}

TEST(ReplayLint, WordsByValueThatLookLikePointers) {
  const auto by_value = [](std::uint64_t value) {
    return rules_after([&](LintCase& one) { one.set(16, value); });
  };
  EXPECT_THAT(by_value(kCaptured), IsEmpty());
  EXPECT_THAT(by_value(1000000), IsEmpty()) << "a count";
  EXPECT_THAT(by_value(0x3ff0000000000000), IsEmpty()) << "a double";
  EXPECT_THAT(by_value(0x0000000500000007), IsEmpty()) << "two ints";
  EXPECT_THAT(by_value(kNowhere), ElementsAre("warning host_pointer"));
  EXPECT_THAT(by_value(0x561234567890), ElementsAre("warning host_pointer"));
  EXPECT_THAT(by_value(kLocked), ElementsAre("warning not_captured"));
  EXPECT_THAT(by_value(kKernelObject + 64), ElementsAre("warning code_pointer"));
  EXPECT_THAT(by_value(kVariable + 4), ElementsAre("warning variable_pointer"));
  // A kernel without recorded arguments: every word is looked at.
  EXPECT_THAT(rules_after([](LintCase& one) {
                one.arguments.clear();
                one.set(0, kNowhere);
                one.set(kHidden + 248, kLocked);
              }),
              ElementsAre("warning host_pointer", "warning not_captured"));
}

TEST(ReplayLint, SegmentsAndGeometry) {
  using Dispatch = capture::Dispatch;
  const auto dispatch = [](const std::function<void(Dispatch&)>& change) {
    return rules_after([&](LintCase& one) { change(one.capture.description.dispatch); });
  };
  EXPECT_THAT(dispatch([](Dispatch& d) { d.dynamic_callstack = true; }),
              ElementsAre("warning dynamic_callstack"));
  EXPECT_THAT(dispatch([](Dispatch& d) { d.group_segment_bytes = 1024; }),
              ElementsAre("note dynamic_lds"));
  EXPECT_THAT(dispatch([](Dispatch& d) { d.grid = {500, 1, 1}; }),
              ElementsAre("note grid_remainder"));
  EXPECT_THAT(dispatch([](Dispatch& d) { d.workgroup = {1024, 1, 1}; }),
              ElementsAre("note grid_remainder"));
  EXPECT_THAT(dispatch([](Dispatch& d) { d.workgroup = {0, 1, 1}; }),
              ElementsAre("error geometry"));
  EXPECT_THAT(dispatch([](Dispatch& d) { d.workgroup = {1024, 2, 1}; }),
              ElementsAre("error geometry"));
  EXPECT_THAT(dispatch([](Dispatch& d) { d.grid = {0, 1, 1}; }), ElementsAre("error geometry"));
  const auto metadata = [](const char* key, const Json& value) {
    return rules_after([&](LintCase& one) {
      Json& map = one.object.kernels[0].metadata;
      map = test::kernel_metadata("_Z1kPf", one.arguments);
      map[".kernarg_segment_size"] = kHidden + 256;
      map[key] = value;
    });
  };
  EXPECT_THAT(metadata(".group_segment_fixed_size", 16), ElementsAre("error segment_sizes"));
  EXPECT_THAT(metadata(".private_segment_fixed_size", 16), ElementsAre("error segment_sizes"));
  EXPECT_THAT(metadata(".uses_dynamic_stack", true), ElementsAre("warning dynamic_callstack"));
  EXPECT_THAT(metadata(".kernarg_segment_size", 1000), ElementsAre("error kernarg_size"));
  EXPECT_THAT(metadata(".kernarg_segment_size", 24), ElementsAre("note kernarg_size"));
  EXPECT_THAT(metadata(".reqd_workgroup_size", {32, 1, 1}), ElementsAre("error geometry"));
}

TEST(ReplayLint, MachineKernelAndLimits) {
  const auto isa = [](const std::string& name, std::uint32_t flags) {
    return rules_after([&](LintCase& one) {
      one.capture.description.machine.isa = name;
      one.object.flags = flags;
    });
  };
  EXPECT_THAT(isa("amdgcn-amd-amdhsa--gfx90a", 0x54c), ElementsAre("error isa"));
  EXPECT_THAT(isa("amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-", 0x54c),
              ElementsAre("note isa_features"));
  EXPECT_THAT(isa("amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-", 0xe4c),
              ElementsAre("note isa_features"));
  EXPECT_THAT(isa("amdgcn-amd-amdhsa--gfx942:sramecc+:xnack+", 0xe4c), ElementsAre("error isa"));
  EXPECT_THAT(isa("something", 0x54c), ElementsAre("warning isa"));

  LintCase missing;
  missing.capture.description.dispatch.kernel = "_Z4gone";
  const auto gone = missing.findings();
  EXPECT_THAT(rules(gone), ElementsAre("error kernel_not_found"));
  EXPECT_THAT(gone.at(0).sentence, HasSubstr("it has _Z1kPf, _Z5otherPf"));

  LintCase unchanged;
  unchanged.capture.regions[0].after.reset();
  const auto nothing = unchanged.findings();
  EXPECT_THAT(rules(nothing), ElementsAre("warning nothing_written"));
  EXPECT_THAT(nothing.at(0).remedy, HasSubstr("--poison arguments"));

  // Errors come first, then by rule.
  EXPECT_THAT(rules_after([](LintCase& one) {
                one.capture.description.limits = {"a queue was left running"};
                one.capture.description.dispatch.grid = {500, 1, 1};
                one.set(8, kNowhere);
                one.set(16, kKernelObject);
              }),
              ElementsAre("error host_pointer", "warning code_pointer", "warning limit",
                          "note grid_remainder"));
}

TEST(ReplayLint, ADamagedCodeObjectIsBadInput) {
  LintCase one;
  one.capture.code_object = "no elf";
  const test::TempFolder folder;
  ASSERT_TRUE(test::write_capture(folder / "c", one.capture).has_value());
  const auto opened = capture::Capture::open(folder / "c");
  ASSERT_TRUE(opened.has_value());
  const auto found = lint(*opened);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::bad_input);
  EXPECT_THAT(found.error().message, HasSubstr("kernel.hsaco"));
}

TEST(ReplayLint, RegionsThatWereNotCapturedAreCountedOnce) {
  LintCase one;
  one.capture.code_object = test::write_code_object(test::sample_code_object(1));
  one.capture.description.dispatch.kernel = "_Z11saxpy_00000PKfS0_Pfi";
  one.capture.kernarg.assign(288, '\0');
  const test::TempFolder folder;
  ASSERT_TRUE(test::write_capture(folder / "c", one.capture).has_value());
  const auto opened = capture::Capture::open(folder / "c");
  ASSERT_TRUE(opened.has_value());
  const auto found = lint(*opened);
  ASSERT_TRUE(found.has_value()) << describe(found.error());
  EXPECT_THAT(rules(*found), ElementsAre("note not_captured"));
  EXPECT_THAT(found->at(0).sentence, HasSubstr("1 region of 4096 bytes in all was not captured"));
}

}  // namespace
}  // namespace perflab::replay
