// The reader of code objects on written files of every version, and on every recorded one.
#include "code/object/code_object.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/json.h"
#include "code/elf/elf_flags.h"
#include "code/recorded.h"
#include "support/code_writer.h"

namespace perflab::code {
namespace {

using test::must_read;
using test::recorded;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

CodeObject must_parse(std::string_view bytes) {
  auto object = read_code_object(bytes, "file.co");
  EXPECT_TRUE(object.has_value()) << describe(object.error());
  return object.value_or(CodeObject{});
}

std::string error_of(std::string_view bytes) {
  const auto object = read_code_object(bytes, "file.co");
  if (object) return "no error";
  EXPECT_EQ(object.error().code, ErrorCode::bad_input);
  return object.error().message;
}

/// A code object with one kernel, "k".
test::WrittenCodeObject one_kernel(int version = 5) {
  test::WrittenKernel kernel{.name = "k", .code = std::string(12, 'c')};
  kernel.metadata = test::kernel_metadata("k");
  return {.abi_version = static_cast<std::uint8_t>(version - 2),
          .metadata = test::object_metadata(version, "amdgcn-amd-amdhsa--gfx942"),
          .kernels = {kernel}};
}

class WrittenVersions : public testing::TestWithParam<int> {};

TEST_P(WrittenVersions, AreReadWhole) {
  const int version = GetParam();
  test::WrittenCodeObject written = test::sample_code_object(5);
  written.abi_version = static_cast<std::uint8_t>(version - 2);
  written.metadata = test::object_metadata(version, "amdgcn-amd-amdhsa--gfx942");
  written.metadata["amdhsa.printf"] = {"1:1:4:%d", ""};
  const std::string bytes = test::write_code_object(written);
  const CodeObject object = must_parse(bytes);
  EXPECT_EQ(object.version, version);
  EXPECT_EQ(object.target.processor, "gfx942");
  EXPECT_EQ(object.metadata_target, version >= 4 ? "amdgcn-amd-amdhsa--gfx942" : "");
  EXPECT_EQ(object.metadata_version[0], 1);
  EXPECT_THAT(object.printf_formats, ElementsAre("1:1:4:%d", ""));
  EXPECT_THAT(object.problems, IsEmpty());
  ASSERT_EQ(object.kernels.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    const KernelMetadata& kernel = object.kernels[i];
    EXPECT_EQ(kernel.name, written.kernels[i].name);
    EXPECT_EQ(kernel.symbol, kernel.name + ".kd");
    EXPECT_EQ(kernel.language_version, (std::array<std::int64_t, 2>{2, 0}));
    EXPECT_EQ(kernel.arguments.size(), 17U);
    EXPECT_EQ(kernel.arguments[0].address_space, "global");
    EXPECT_FALSE(kernel.arguments[3].hidden());
    EXPECT_TRUE(kernel.arguments[4].hidden());
    EXPECT_EQ(kernel.arguments[16].offset, 96);
    EXPECT_EQ(kernel.vgpr_count, 8 + static_cast<int>(i));
    EXPECT_EQ(kernel.wgp_mode, std::nullopt);
    EXPECT_TRUE(kernel.uniform_workgroups);
    EXPECT_EQ(kernel_code(bytes, kernel), written.kernels[i].code);
  }
}

INSTANTIATE_TEST_SUITE_P(All, WrittenVersions, testing::Range(3, 7));

TEST(CodeObjectReader, DecodesTheDescriptor) {
  test::WrittenCodeObject written = one_kernel();
  test::WrittenKernel& kernel = written.kernels[0];
  kernel.group_segment_bytes = 4096;
  kernel.private_segment_bytes = 16;
  kernel.kernarg_bytes = 280;
  kernel.rsrc1 = 0x200001cd;  // WGP mode, SGPR field 7, 14 VGPR granules
  kernel.rsrc2 = 0x84;
  kernel.rsrc3 = 0x2a;
  kernel.properties = 0xc08;
  kernel.kernarg_preload = 0x0102;
  const CodeObject object = must_parse(test::write_code_object(written));
  ASSERT_TRUE(object.kernels.at(0).descriptor.has_value());
  const KernelDescriptor& descriptor = *object.kernels[0].descriptor;
  EXPECT_EQ(descriptor.group_segment_bytes, 4096U);
  EXPECT_EQ(descriptor.private_segment_bytes, 16U);
  EXPECT_EQ(descriptor.kernarg_bytes, 280U);
  EXPECT_EQ(descriptor.rsrc2, 0x84U);
  EXPECT_EQ(descriptor.kernarg_preload, 0x0102U);
  EXPECT_EQ(descriptor.vgpr_granules(), 14);
  EXPECT_EQ(descriptor.sgpr_granule_field(), 7);
  EXPECT_EQ(descriptor.accum_offset_field(), 42);
  EXPECT_TRUE(descriptor.wgp_mode());
  EXPECT_TRUE(descriptor.wave32());
  EXPECT_TRUE(descriptor.dynamic_stack());
  EXPECT_EQ(
      object.kernels[0].code_address,
      object.kernels[0].descriptor_address + static_cast<std::uint64_t>(descriptor.entry_offset));
}

TEST(CodeObjectReader, FindsSymbolsInEitherTable) {
  for (const bool dynamic : {true, false}) {
    test::WrittenCodeObject written = one_kernel();
    written.dynamic_symbols = dynamic;
    written.symbols = !dynamic;
    const std::string bytes = test::write_code_object(written);
    EXPECT_EQ(kernel_code(bytes, must_parse(bytes).kernels.at(0)), std::string(12, 'c'));
  }
}

TEST(CodeObjectReader, SaysWhatIsOddAndGoesOn) {
  test::WrittenCodeObject written = one_kernel();
  written.dynamic_symbols = false;
  CodeObject object = must_parse(test::write_code_object(written));
  EXPECT_THAT(object.problems, ElementsAre("kernel \"k\": there is no symbol \"k.kd\""));
  EXPECT_FALSE(object.kernels.at(0).descriptor.has_value());
  EXPECT_EQ(object.kernels.at(0).code_bytes, 0U);

  written = one_kernel();
  written.section_table = false;
  EXPECT_EQ(must_parse(test::write_code_object(written)).kernels.size(), 1U);

  written = one_kernel();
  written.flags = 0x36;
  object = must_parse(test::write_code_object(written));
  EXPECT_THAT(object.problems,
              ElementsAre("the metadata is for \"gfx942\", the ELF flags are for gfx1030"));
}

TEST(CodeObjectReader, KeepsUnknownProcessorsByNumber) {
  test::WrittenCodeObject written = one_kernel();
  written.flags = 0x7f;
  written.metadata.erase("amdhsa.target");
  EXPECT_EQ(must_parse(test::write_code_object(written)).target.processor, "mach 0x7f");
}

TEST(CodeObjectReader, ReadsTheGenericVersion) {
  test::WrittenCodeObject written = one_kernel(6);
  written.flags = 0x03000054;
  written.metadata["amdhsa.target"] = "amdgcn-amd-amdhsa--gfx11-generic";
  const CodeObject object = must_parse(test::write_code_object(written));
  EXPECT_EQ(object.target.processor, "gfx11-generic");
  EXPECT_EQ(object.generic_version, 3);
  EXPECT_THAT(object.problems, IsEmpty());
}

TEST(CodeObjectReader, RefusesWhatItCannotRead) {
  const std::string good = test::write_code_object(one_kernel());
  const auto with = [&](std::size_t at, char value) {
    std::string bytes = good;
    bytes[at] = value;
    return bytes;
  };
  const auto old = read_code_object(with(8, 0), "file.co");
  ASSERT_FALSE(old.has_value());
  EXPECT_EQ(old.error().message,
            "file.co: code object version 2 (2018 and older) is not supported");
  EXPECT_THAT(old.error().remedy, HasSubstr("rebuild it with"));
  EXPECT_THAT(error_of(with(8, 9)), HasSubstr("ABI version 9, which is not known"));
  EXPECT_THAT(error_of(with(7, 65)), HasSubstr("OS ABI 65, not of HSA (64)"));
  EXPECT_THAT(error_of(with(16, 1)), HasSubstr("not linked yet"));
  EXPECT_THAT(error_of(with(18, 62)), HasSubstr("not an AMDGPU code object"));
  EXPECT_THAT(error_of(with(4, 1)), HasSubstr("not a 64-bit little-endian one"));
  EXPECT_EQ(error_of("text"), "file.co: not an ELF file");
  EXPECT_EQ(error_of(""), "file.co: not an ELF file");
  EXPECT_THAT(error_of(good.substr(0, 40)), HasSubstr("ends within its header"));
  EXPECT_THAT(error_of(good.substr(0, good.size() - 1)), HasSubstr("section table lies outside"));
  test::ElfSpec no_note{.machine = 224, .os_abi = 64, .abi_version = 3};
  EXPECT_THAT(error_of(test::write_elf(no_note)), HasSubstr("without metadata note"));
}

TEST(CodeObjectReader, KnowsACodeObjectWhenItSeesOne) {
  const std::string good = test::write_code_object(one_kernel());
  EXPECT_TRUE(is_code_object(good));
  EXPECT_EQ(code_object_target(good).value().processor, "gfx942");
  EXPECT_FALSE(is_code_object(test::write_elf({})));
  EXPECT_FALSE(code_object_target(good.substr(0, 40)).has_value());
  for (std::size_t size = 0; size < 20; ++size)
    EXPECT_FALSE(is_code_object(good.substr(0, size))) << size;
}

TEST(CodeObjectReader, AnAmbiguousNameIsNoKernels) {
  CodeObject object;
  for (const char* symbol : {"_Z5alonev.intern.1.kd", "_Z4bothv.intern.1.kd",
                             "_Z4bothv.intern.2.kd", "_Z5plainv.kd", "_Z5plainv.intern.1.kd"})
    object.kernels.emplace_back().symbol = symbol;
  const auto found = [&](std::string_view name) {
    const KernelMetadata* const kernel = kernel_named(object, name);
    return kernel == nullptr ? std::string("none") : kernel->symbol;
  };
  EXPECT_EQ(found("_Z4bothv.intern.3"), "none");
  EXPECT_EQ(found("_Z4bothv.intern.2"), "_Z4bothv.intern.2.kd");
  EXPECT_EQ(found("_Z5alonev.intern.3"), "_Z5alonev.intern.1.kd");
  EXPECT_EQ(found("_Z5plainv.intern.3"), "_Z5plainv.intern.1.kd") << "the other has no unit";
  EXPECT_EQ(found("_Z5plainv"), "_Z5plainv.kd");
  EXPECT_EQ(found("_Z5alonev"), "none") << "without a unit only the whole name counts";
}

/// JSON whose objects are equal whatever their order.
using Facts = nlohmann::json;

Facts facts_of(const KernelDescriptor& descriptor) {
  return {{"group", descriptor.group_segment_bytes},
          {"private", descriptor.private_segment_bytes},
          {"kernarg", descriptor.kernarg_bytes},
          {"entry", descriptor.entry_offset},
          {"size", 64},
          {"rsrc1", fmt::format("0x{:x}", descriptor.rsrc1)},
          {"rsrc2", fmt::format("0x{:x}", descriptor.rsrc2)},
          {"rsrc3", fmt::format("0x{:x}", descriptor.rsrc3)},
          {"props", fmt::format("0x{:x}", descriptor.properties)},
          {"preload", descriptor.kernarg_preload}};
}

/// A kernel in the words of expected.json.
Facts facts_of(const KernelMetadata& kernel) {
  Facts facts = {{"name", kernel.name},
                 {"symbol", kernel.symbol},
                 {"kernarg_segment_size", kernel.kernarg_bytes},
                 {"kernarg_segment_align", kernel.kernarg_align},
                 {"group_segment_fixed_size", kernel.lds_bytes},
                 {"private_segment_fixed_size", kernel.scratch_bytes},
                 {"wavefront_size", kernel.wave_size},
                 {"uniform_work_group_size", kernel.uniform_workgroups ? 1 : 0},
                 {"uses_dynamic_stack", kernel.dynamic_stack},
                 {"args", Facts::array()},
                 {"nargs", kernel.arguments.size()},
                 // A descriptor that points elsewhere than the symbol makes the size unknown.
                 {"entry_ok", kernel.code_bytes != 0}};
  const auto add = [&](const char* key, const auto& value) {
    if (value) facts[key] = *value;
  };
  add("vgpr_count", kernel.vgpr_count);
  add("agpr_count", kernel.agpr_count);
  add("sgpr_count", kernel.sgpr_count);
  add("sgpr_spill_count", kernel.sgpr_spills);
  add("vgpr_spill_count", kernel.vgpr_spills);
  add("max_flat_workgroup_size", kernel.max_workgroup_size);
  add("language_version", kernel.language_version);
  if (kernel.wgp_mode) facts["workgroup_processor_mode"] = *kernel.wgp_mode ? 1 : 0;
  if (!kernel.language.empty()) facts["language"] = kernel.language;
  if (kernel.descriptor) facts["kd"] = facts_of(*kernel.descriptor);
  for (const KernelArgument& argument : kernel.arguments)
    facts["args"].push_back({argument.offset, argument.size, argument.value_kind});
  return facts;
}

/// What expected.json says of a kernel, without what registers come to on an architecture (hal's),
/// and with the flags that are off when they are not there.
Facts expected_facts(Facts kernel) {
  kernel.erase("alloc");
  kernel.erase("arch_alloc");
  for (const char* flag : {"uniform_work_group_size", "uses_dynamic_stack"})
    if (!kernel.contains(flag)) kernel[flag] = flag[1] == 'n' ? Facts(0) : Facts(false);
  return kernel;
}

void expect_recorded(const std::string& bytes, const Facts& expected) {
  EXPECT_TRUE(is_code_object(bytes));
  if (expected.at("abi") == 0) {
    EXPECT_THAT(error_of(bytes), HasSubstr("version 2 (2018 and older)"));
    return;
  }
  const CodeObject object = must_parse(bytes);
  EXPECT_THAT(object.problems, IsEmpty());
  EXPECT_EQ(object.version, expected.at("abi").get<int>() + 2);
  EXPECT_EQ(Facts(object.metadata_version), expected.at("version"));
  EXPECT_EQ(object.metadata_target, expected.at("target").get<std::string>());
  const auto flags = std::stoul(expected.at("e_flags").get<std::string>(), nullptr, 16);
  EXPECT_EQ(object.target, target_of_flags(static_cast<std::uint32_t>(flags), object.version));
  // Flags and metadata are two ways of saying it.
  EXPECT_EQ("amdgcn-amd-amdhsa--" + to_string(object.target), object.metadata_target);
  ASSERT_EQ(object.kernels.size(), expected.at("kernels").size());
  for (std::size_t i = 0; i < object.kernels.size(); ++i) {
    EXPECT_EQ(facts_of(object.kernels[i]), expected_facts(expected.at("kernels")[i]));
    EXPECT_EQ(kernel_code(bytes, object.kernels[i]).size(), object.kernels[i].code_bytes);
  }
}

TEST(CodeObjectReader, EqualsTheExpectationsOfEveryRecordedFile) {
  const auto folder = recorded("codeobjects");
  PERFLAB_SKIP_WITHOUT(folder / "expected.json");
  const Facts expectations = Facts::parse(must_read(folder / "expected.json"));
  std::size_t compared = 0;
  for (const auto& [name, expected] : expectations.items()) {
    SCOPED_TRACE(name);
    expect_recorded(must_read(folder / name), expected);
    ++compared;
  }
  EXPECT_GE(compared, 12U);
}

}  // namespace
}  // namespace perflab::code
