// The five kernels of examples/ on five architectures: they compile, nothing of them is unknown,
// and the code object, the compiler's remark and the occupancy model say the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "base/parallel.h"
#include "base/system/files.h"
#include "base/temp_folder.h"
#include "code/instructions/instruction_mix.h"
#include "code/object/code_object.h"
#include "code/tools/compiler.h"
#include "hal/occupancy.h"

namespace perflab::code {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

constexpr std::array<std::string_view, 5> kExamples{"attention", "gemm_tiled", "reduction",
                                                    "softmax", "vector_add"};

struct Example {
  std::string name;
  Compiled compiled;
  CodeObject object;
};

class ExamplesTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto found = find_compiler(GetParam());
    if (!found) GTEST_SKIP() << "skipped: " << describe(found.error());
    if (!found->knows(GetParam()))
      GTEST_SKIP() << "skipped: " << found->version << " does not know " << GetParam();
    if (!found->rocm_path) GTEST_SKIP() << "skipped: HIP headers are not installed";
    compiler_ = *std::move(found);
  }

  [[nodiscard]] Result<Example> build(std::string_view name,
                                      std::vector<std::string> arguments = {}) const {
    CompileRequest request;
    request.source = fs::path(PERFLAB_SOURCE_DIR) / "examples" / (std::string(name) + ".hip");
    request.arch = GetParam();
    request.arguments = std::move(arguments);
    PERFLAB_TRY(Compiled compiled, compile(compiler_, request));
    PERFLAB_TRY(CodeObject object, read_code_object(compiled.code_object, name));
    return Example{
        .name = std::string(name), .compiled = std::move(compiled), .object = std::move(object)};
  }

  [[nodiscard]] std::vector<Example> build_all() const {
    std::vector<Example> examples(kExamples.size());
    const auto done =
        parallel_for(kExamples.size(), 0, [&](unsigned, std::size_t i) -> Result<void> {
          PERFLAB_TRY(examples[i], build(kExamples.at(i)));
          return {};
        });
    EXPECT_TRUE(done.has_value()) << describe(done.error());
    return examples;
  }

  Compiler compiler_;
};

/// Registers, memory and spills: the metadata says what the remark says.
void expect_same_resources(const KernelMetadata& kernel, const ResourceRemark& remark,
                           bool unified) {
  EXPECT_EQ(kernel.name, remark.kernel);
  EXPECT_EQ(kernel.lds_bytes, remark.lds_bytes);
  EXPECT_EQ(kernel.scratch_bytes, remark.scratch_bytes);
  EXPECT_EQ(kernel.sgpr_spills, remark.sgpr_spills);
  EXPECT_EQ(kernel.vgpr_spills, remark.vgpr_spills);
  EXPECT_EQ(kernel.sgpr_count, remark.sgprs);
  EXPECT_EQ(kernel.dynamic_stack, remark.dynamic_stack);
  ASSERT_TRUE(remark.vgprs && kernel.vgpr_count);
  const std::int64_t agprs = remark.agprs.value_or(0);
  EXPECT_EQ(kernel.agpr_count.value_or(0), agprs);
  // On a unified file AGPRs come after the architected registers, rounded up to 4.
  EXPECT_EQ(*kernel.vgpr_count,
            unified && agprs > 0 ? (*remark.vgprs + 3) / 4 * 4 + agprs : *remark.vgprs);
}

void expect_same_occupancy(const KernelMetadata& kernel, const ResourceRemark& remark,
                           const hal::Arch& arch) {
  hal::OccupancyInput input;
  input.wave_size = static_cast<int>(kernel.wave_size);
  if (kernel.wgp_mode)
    input.mode = *kernel.wgp_mode ? hal::WorkgroupMode::wgp : hal::WorkgroupMode::cu;
  input.kernel.workgroup_size = kernel.max_workgroup_size.value_or(0);
  input.kernel.vgprs = remark.vgprs.value_or(0);
  input.kernel.agprs = remark.agprs.value_or(0);
  input.kernel.sgprs = remark.sgprs.value_or(0);
  input.kernel.static_lds = kernel.lds_bytes;
  const auto occupancy = hal::compute_occupancy(arch, input);
  ASSERT_TRUE(occupancy.has_value()) << describe(occupancy.error());
  EXPECT_EQ(occupancy->llvm.waves_per_simd, remark.occupancy);
}

/// The instructions of every example, and what is known of them.
void expect_known_instructions(const Disassembler& objdump, const std::vector<Example>& examples) {
  std::vector<ToDisassemble> objects;
  for (const Example& example : examples)
    objects.push_back({.bytes = example.compiled.code_object,
                       .processor = example.object.target.processor,
                       .symbols = {example.object.kernels.at(0).name}});
  const auto result = disassemble(objdump, objects);
  ASSERT_TRUE(result.has_value()) << describe(result.error());
  for (std::size_t i = 0; i < examples.size(); ++i) {
    SCOPED_TRACE(examples[i].name);
    ASSERT_TRUE((*result)[i].has_value()) << describe((*result)[i].error());
    ASSERT_EQ((*result)[i].value().size(), 1U);
    const KernelMetadata& kernel = examples[i].object.kernels.at(0);
    const Function& function = (*result)[i].value()[0];
    EXPECT_EQ(function.address, kernel.code_address);
    const InstructionMix mix =
        instruction_mix(function.instructions, static_cast<int>(kernel.wave_size));
    EXPECT_THAT(mix.unknown, IsEmpty());
    EXPECT_EQ(mix.code_bytes, static_cast<std::int64_t>(kernel.code_bytes));
    EXPECT_GT(mix.vector_flops, 0);
    EXPECT_GT(mix.global_bytes, 0);
    EXPECT_EQ(mix.scratch_bytes, 0);
    EXPECT_EQ(mix.lds_bytes > 0, kernel.lds_bytes > 0);
    // Only the sum of two vectors has no loop. It moves three floats for one addition.
    const bool is_sum = examples[i].name == "vector_add";
    EXPECT_EQ(mix.backward_branches > 0, !is_sum);
    if (is_sum) {
      EXPECT_EQ(mix.static_intensity(), 1.0 / 12);
    }
  }
}

TEST_P(ExamplesTest, TheRemarkTheCodeObjectTheModelAndTheCodeAgree) {
  const hal::Arch* arch = hal::find_arch(GetParam());
  ASSERT_NE(arch, nullptr);
  const std::vector<Example> examples = build_all();
  for (const Example& example : examples) {
    SCOPED_TRACE(example.name);
    EXPECT_EQ(example.object.target.processor, GetParam());
    EXPECT_THAT(example.object.problems, IsEmpty());
    ASSERT_EQ(example.object.kernels.size(), 1U);
    ASSERT_EQ(example.compiled.remarks.size(), 1U);
    EXPECT_THAT(example.compiled.messages, IsEmpty());
    const KernelMetadata& kernel = example.object.kernels[0];
    const ResourceRemark& remark = example.compiled.remarks[0];
    ASSERT_TRUE(remark.sgprs && remark.occupancy && remark.lds_bytes);
    expect_same_resources(kernel, remark, arch->agpr_rule == hal::AgprRule::unified);
    expect_same_occupancy(kernel, remark, *arch);
  }
  const auto objdump = find_disassembler(GetParam());
  if (!objdump) GTEST_SKIP() << "skipped: " << describe(objdump.error());
  expect_known_instructions(*objdump, examples);
}

TEST_P(ExamplesTest, KnobsChangeTheKernel) {
  const auto wide = build("gemm_tiled", {"-DBLOCK_M=128", "-DBLOCK_K=8", "-DTHREAD_M=8"});
  ASSERT_TRUE(wide.has_value()) << describe(wide.error());
  EXPECT_EQ(wide->object.kernels.at(0).lds_bytes, (128 * 9 + 8 * 64) * 4);
  EXPECT_EQ(wide->object.kernels.at(0).max_workgroup_size, 256);
  const auto small = build("softmax", {"-DBLOCK_SIZE=64"});
  ASSERT_TRUE(small.has_value()) << describe(small.error());
  EXPECT_EQ(small->object.kernels.at(0).max_workgroup_size, 64);
}

TEST_P(ExamplesTest, TheSameBytesTwice) {
  const auto first = build("attention");
  const auto second = build("attention");
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->compiled.code_object == second->compiled.code_object);
}

TEST_P(ExamplesTest, ScratchIsFoundWhicheverWayItIsReached) {
  // Through buffer instructions before flat scratch (gfx90a, gfx1030), through scratch_* after.
  const auto objdump = find_disassembler(GetParam());
  if (!objdump) GTEST_SKIP() << "skipped: " << describe(objdump.error());
  const test::TempFolder folder;
  CompileRequest request;
  request.source =
      folder.write("stack.hip",
                   "#include <hip/hip_runtime.h>\n"
                   "__global__ void k(float* p) { float a[64];\n"
                   "  for (int i = 0; i < 64; ++i) a[i] = p[i];\n"
                   "  for (int i = 0; i < 64; ++i) p[i] = a[(i * (int)p[0]) & 63]; }\n");
  request.arch = GetParam();
  const auto compiled = compile(compiler_, request);
  ASSERT_TRUE(compiled.has_value()) << describe(compiled.error());
  const std::vector<ToDisassemble> objects{
      {.bytes = compiled->code_object, .processor = GetParam(), .symbols = {}}};
  const auto result = disassemble(*objdump, objects);
  ASSERT_TRUE(result && result->front());
  const InstructionMix mix = instruction_mix(result->front().value().at(0).instructions, 64);
  EXPECT_GE(compiled->remarks.at(0).scratch_bytes.value_or(0), 256);
  EXPECT_GE(mix.by_class.at(InstructionClass::scratch_store), 1);
  EXPECT_GE(mix.by_class.at(InstructionClass::scratch_load), 1);
  EXPECT_GT(mix.scratch_bytes, 0);
  EXPECT_GE(mix.by_class.at(InstructionClass::vmem_load), 1);
  EXPECT_GE(mix.by_class.at(InstructionClass::vmem_store), 1);
  EXPECT_THAT(mix.unknown, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Archs, ExamplesTest,
                         ::testing::Values("gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace perflab::code
