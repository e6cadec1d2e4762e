// Joining a trace's code objects to files: where they are looked for, what fits, what it corrects.
#include "analyze/kernels/code_join.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyze/pipeline.h"
#include "analyze/trace_builder.h"
#include "base/temp_folder.h"
#include "support/code_writer.h"

namespace perflab::analyze {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kKernel = "_Z4gemmPf";

/// A gfx942 code object with one kernel of 132 architected and 8 accumulation registers: what the
/// profiler's five-bit mask gets wrong. `lds` makes variants differ in something recorded.
std::string code_object(std::int64_t vgprs = 140, std::int64_t lds = 0,
                        const char* name = kKernel) {
  test::WrittenCodeObject object;
  object.metadata = test::object_metadata(5, "amdgcn-amd-amdhsa--gfx942");
  test::WrittenKernel kernel{.name = name};
  kernel.metadata = test::kernel_metadata(name);
  kernel.metadata[".vgpr_count"] = vgprs;
  kernel.metadata[".agpr_count"] = 8;
  kernel.metadata[".vgpr_spill_count"] = 5;
  kernel.metadata[".group_segment_fixed_size"] = lds;
  kernel.group_segment_bytes = static_cast<std::uint32_t>(lds);
  kernel.code = std::string("\x00\x00\x81\xbf", 4);
  object.kernels.push_back(std::move(kernel));
  return test::write_code_object(object);
}

class CodeJoinTest : public ::testing::Test {
 protected:
  /// One dispatch of the kernel, recorded as the profiler does: 132 & 127 = 4 architected.
  void SetUp() override {
    b_.source();
    b_.trace.sources[0].file = (folder_ / "results.db").string();
    b_.agent("gfx942");
    b_.code_object();
    b_.trace.code_objects[0].id = 2;
    b_.trace.code_objects[0].file_bytes = static_cast<std::int64_t>(code_object().size());
    b_.dispatches(b_.kernel("gemm(float*)", {.mangled = kKernel,
                                             .arch_vgprs = 4,
                                             .accum_vgprs = 140,
                                             .sgprs = 32,
                                             .static_lds = 0,
                                             .kernarg = 0,
                                             .code_object = 0}),
                  {5});
  }

  void uri(const std::string& text) { b_.trace.code_objects[0].uri = text; }
  /// Forgets the size and records where the descriptor was loaded, `off` from where it is.
  void recorded_at(std::int64_t off) {
    constexpr std::int64_t kDelta = INT64_C(0x7f00'0000'0000);
    b_.trace.code_objects[0].file_bytes.reset();
    b_.trace.code_objects[0].load_delta = kDelta;
    const auto kernels = code::read_code_object(code_object(), "").value().kernels;
    b_.trace.kernel_symbols[0].descriptor_address =
        kDelta + static_cast<std::int64_t>(kernels.at(0).descriptor_address) + off;
  }
  [[nodiscard]] CodeJoin join(const std::vector<std::filesystem::path>& files = {}) const {
    return join_code(b_.trace, files).value();
  }
  [[nodiscard]] bool found(const std::vector<std::filesystem::path>& files = {}) const {
    return join(files).objects.at(0) != nullptr;
  }

  test::TempFolder folder_;
  TraceBuilder b_;
};

TEST_F(CodeJoinTest, NothingThereNothingJoined) {
  uri("memory://10#offset=0x1000&size=4000");
  const CodeJoin nothing = join();
  EXPECT_EQ(nothing.objects.at(0), nullptr);
  EXPECT_TRUE(nothing.warnings.empty());
}

TEST_F(CodeJoinTest, FollowsFileUrisWithOffsetAndEncoding) {
  const std::string object = code_object();
  (void)folder_.write("my app",
                      "\x7f"
                      "ELF" +
                          std::string(100, 'x'));
  const std::vector<test::WrittenEntry> entries = {
      {.id = "host-x86_64-unknown-linux-gnu-", .bytes = ""},
      {.id = "hipv4-amdgcn-amd-amdhsa--gfx942", .bytes = object}};
  const std::string bundle = test::write_bundle(entries);
  (void)folder_.write("my app.hipfb", bundle);
  const auto at = bundle.find(
      "\x7f"
      "ELF");
  uri(fmt::format("file://{}/my%20app.hipfb#offset={}&size={}", folder_.path().string(), at,
                  object.size()));
  EXPECT_TRUE(found());
  uri(fmt::format("file://{}/my%20app.hipfb#offset={}&size={}", folder_.path().string(), at,
                  object.size() + 8));
  EXPECT_FALSE(found()) << "another size is another object";
  uri(fmt::format("file://{}/my%20app.hipfb#offset={}&size={}", folder_.path().string(), at + 4096,
                  object.size()));
  EXPECT_FALSE(found()) << "and so is another offset";
}

TEST_F(CodeJoinTest, FindsThreadTraceDumpsBesideTheDatabase) {
  (void)folder_.write("77_gfx942_code_object_id_2.out", code_object());
  EXPECT_TRUE(found());
  b_.trace.code_objects[0].id = 3;
  EXPECT_FALSE(found()) << "the dump of another code object";
}

TEST_F(CodeJoinTest, FindsBinariesBesideTheDatabaseAndTheProgram) {
  const auto program = folder_.write("app", code_object());
  EXPECT_TRUE(found());
  test::TempFolder elsewhere;
  b_.trace.sources[0].file = (elsewhere / "results.db").string();
  EXPECT_FALSE(found());
  b_.trace.processes[0].command = program.string() + " --size 4";
  EXPECT_TRUE(found());
}

TEST_F(CodeJoinTest, NamesAloneProveNothing) {
  const auto file = folder_.write("a.bin", code_object());
  b_.trace.code_objects[0].file_bytes.reset();
  EXPECT_FALSE(found({file})) << "neither size nor address is recorded";
  recorded_at(0);
  EXPECT_TRUE(found({file}));
  recorded_at(64);
  EXPECT_FALSE(found({file})) << "another build of the same kernel";
}

TEST_F(CodeJoinTest, AFileGivenForNothingIsWarnedAbout) {
  const auto other = folder_.write("a.bin", code_object(140, 0, "_Z4otherv"));
  EXPECT_THAT(join({other}).warnings, ElementsAre(HasSubstr("a.bin: none of its code objects")));
  EXPECT_TRUE(join({folder_.write("b.bin", code_object())}).warnings.empty());
}

TEST_F(CodeJoinTest, TablesDoNotSayWhatWasLoaded) {
  b_.trace.code_objects.clear();
  b_.trace.kernel_symbols[0].code_object = trace::kNone;
  EXPECT_THAT(join({folder_.write("a.bin", code_object())}).warnings,
              ElementsAre(HasSubstr("a.bin: the recording does not say which code objects")));
}

TEST_F(CodeJoinTest, WhatContradictsTheRecordingDoesNotFit) {
  recorded_at(0);
  const auto other_kernel = folder_.write("a.bin", code_object(140, 0, "_Z4otherv"));
  EXPECT_FALSE(found({other_kernel}));
  const auto other_lds = folder_.write("b.bin", code_object(140, 512));
  EXPECT_FALSE(found({other_lds}));
  const auto good = folder_.write("c.bin", code_object());
  EXPECT_TRUE(found({other_kernel, other_lds, good}));
  b_.trace.agents[0].name = "gfx90a";
  EXPECT_FALSE(found({good}));
}

TEST_F(CodeJoinTest, DifferentObjectsThatFitEquallyWellAreNotChosenFrom) {
  const auto entries = [](std::int64_t second) {
    return std::vector<test::WrittenEntry>{
        {.id = "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-", .bytes = code_object()},
        {.id = "hipv4-amdgcn-amd-amdhsa--gfx942:xnack+", .bytes = code_object(second)}};
  };
  const CodeJoin join_two = join({folder_.write("two.hipfb", test::write_bundle(entries(128)))});
  EXPECT_EQ(join_two.objects.at(0), nullptr);
  EXPECT_THAT(join_two.warnings, ElementsAre(HasSubstr("differ in registers")));
  EXPECT_TRUE(found({folder_.write("same.hipfb", test::write_bundle(entries(140)))}));
}

TEST_F(CodeJoinTest, AFileThatWasNamedHasToBeUsable) {
  const auto missing = join_code(b_.trace, {folder_ / "nowhere"});
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::bad_input);
  // One that is only found is passed over.
  (void)folder_.write("broken",
                      "\x7f"
                      "ELF");
  EXPECT_FALSE(found());
}

TEST_F(CodeJoinTest, CorrectsTheProfilersRegisterSplit) {
  const CodeJoin joined = join({folder_.write("app.bin", code_object())});
  const Kernel kernel = analyze_trace(b_.trace, joined).kernels.at(0);
  EXPECT_EQ(kernel.resources.vgprs, 144);
  EXPECT_EQ(kernel.resources.arch_vgprs, 132);
  EXPECT_EQ(kernel.resources.accum_vgprs, 8);
  ASSERT_TRUE(kernel.code.has_value());
  EXPECT_EQ(kernel.code->file, "app.bin");
  EXPECT_EQ(kernel.code->vgpr_spills, 5);
  EXPECT_THAT(kernel.code->corrections,
              ElementsAre(Correction{.field = "arch_vgpr", .recorded = 4, .code_object = 132},
                          Correction{.field = "accum_vgpr", .recorded = 140, .code_object = 8}));
  EXPECT_EQ(kernel.occupancy.value().llvm.waves_per_simd, 3);

  const Kernel recorded = analyze_trace(b_.trace).kernels.at(0);
  EXPECT_FALSE(recorded.code.has_value());
  EXPECT_EQ(recorded.resources.arch_vgprs, 4);
}

TEST_F(CodeJoinTest, GivesRegistersThatTheRecordingLacks) {
  b_.trace.kernel_symbols[0].arch_vgprs.reset();
  const Kernel without = analyze_trace(b_.trace).kernels.at(0);
  EXPECT_FALSE(without.occupancy.has_value());
  const CodeJoin joined = join({folder_.write("app.bin", code_object())});
  const Kernel kernel = analyze_trace(b_.trace, joined).kernels.at(0);
  EXPECT_EQ(kernel.resources.vgprs, 144);
  EXPECT_TRUE(kernel.occupancy.has_value());
  EXPECT_TRUE(kernel.code->corrections.empty()) << "nothing recorded was wrong";
  for (const Missing& missing : kernel.missing)
    EXPECT_FALSE(missing.field.starts_with("resources.vgpr") ||
                 missing.field.starts_with("occupancy."))
        << missing.field;
}

}  // namespace
}  // namespace perflab::analyze
