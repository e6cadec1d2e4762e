// Device code in every kind of file: written ones, recorded ones, and what clang-19 makes of a HIP
// source that needs no headers.
#include "code/files/container.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/system/subprocess.h"
#include "base/temp_folder.h"
#include "code/object/code_object.h"
#include "code/recorded.h"
#include "support/code_samples.h"
#include "support/code_writer.h"

namespace perflab::code {
namespace {

using test::recorded;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kId = "hipv4-amdgcn-amd-amdhsa--gfx942";

Container must_find(std::string bytes) {
  auto container = find_code_objects(std::move(bytes), "file");
  EXPECT_TRUE(container.has_value()) << describe(container.error());
  return container.value_or(Container{});
}

Error container_error(std::string bytes) {
  auto container = find_code_objects(std::move(bytes), "file");
  EXPECT_FALSE(container.has_value());
  if (container) return {};
  EXPECT_EQ(container.error().code, ErrorCode::bad_input);
  return container.error();
}

std::string object_for(int kernels) {
  return test::write_code_object(test::sample_code_object(kernels));
}

std::string bundle_with(std::string_view bytes, std::string_view id = kId) {
  return test::write_bundle(std::vector<test::WrittenEntry>{{"host-x86_64-unknown-linux-gnu-", ""},
                                                            {std::string(id), std::string(bytes)}});
}

/// Where objects say they lie, they lie.
void expect_true_offsets(const Container& container) {
  for (const EmbeddedObject& object : container.objects) {
    if (!object.file_offset) continue;
    EXPECT_EQ(container.file->data() + *object.file_offset, object.bytes.data());
  }
}

TEST(Containers, ABareCodeObjectIsItsOnlyObject) {
  const Container container = must_find(object_for(1));
  EXPECT_EQ(container.kind, ContainerKind::code_object);
  ASSERT_EQ(container.objects.size(), 1U);
  EXPECT_EQ(container.objects[0].bytes, object_for(1));
  EXPECT_EQ(container.objects[0].target.processor, "gfx942");
  EXPECT_EQ(container.objects[0].entry, "");
  EXPECT_EQ(container.objects[0].file_offset, 0U);
  EXPECT_EQ(container.objects[0].bundle, std::nullopt);
}

TEST(Containers, ABundleFileHasItsEntries) {
  const Container plain = must_find(bundle_with(object_for(2)));
  EXPECT_EQ(plain.kind, ContainerKind::bundle);
  ASSERT_EQ(plain.objects.size(), 1U);
  EXPECT_EQ(plain.objects[0].bytes, object_for(2));
  EXPECT_EQ(plain.objects[0].entry, kId);
  EXPECT_EQ(plain.objects[0].bundle, 0U);
  EXPECT_EQ(plain.objects[0].file_offset, 4096U);
  const Container packed =
      must_find(test::compress_bundle(bundle_with(object_for(2)), 3, test::Packing::zstd));
  ASSERT_EQ(packed.objects.size(), 1U);
  EXPECT_EQ(packed.objects[0].bytes, object_for(2));
  EXPECT_EQ(packed.objects[0].file_offset, std::nullopt);
}

TEST(Containers, AHostFileHasTheBundlesOfAllItsUnits) {
  std::string fatbin = bundle_with(object_for(1));
  fatbin.resize(12288, '\0');
  fatbin += test::compress_bundle(bundle_with(object_for(2)), 2, test::Packing::zlib);
  fatbin.resize(16384, '\0');
  fatbin += bundle_with(object_for(3), "hipv4-amdgcn-amd-amdhsa--gfx942:xnack+");
  const std::vector<test::WrittenWrapper> wrappers{
      {.offset = 0}, {.offset = 12288}, {.offset = 16384}};
  for (const bool relocated : {false, true}) {
    const Container container = must_find(test::write_host_file(fatbin, wrappers, relocated));
    EXPECT_EQ(container.kind, ContainerKind::host_elf);
    EXPECT_EQ(container.bundles.size(), 3U);
    ASSERT_EQ(container.objects.size(), 3U);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(container.objects[static_cast<std::size_t>(i)].bytes, object_for(i + 1));
      EXPECT_EQ(container.objects[static_cast<std::size_t>(i)].bundle, i);
    }
    EXPECT_EQ(to_string(container.objects[2].target), "gfx942:xnack+");
    EXPECT_THAT(container.notes, IsEmpty());
    expect_true_offsets(container);
  }
}

TEST(Containers, WrappersFindBundlesInOtherSections) {
  test::ElfSpec spec;
  spec.parts.push_back({.name = ".rodata",
                        .bytes = std::string(32, 'x') + bundle_with(object_for(1)),
                        .alignment = 4096});
  spec.parts.push_back({.name = ".hipFatBinSegment", .bytes = std::string(48, '\0')});
  const std::uint64_t address = test::layout_of(spec).addresses[0] + 32;
  std::string& wrappers = spec.parts[1].bytes;
  for (const std::size_t at : {0U, 24U}) {
    wrappers.replace(at, 8, std::string("FPIH\1\0\0\0", 8));
    const std::uint64_t to = at == 0 ? address : address + 1;
    std::memcpy(wrappers.data() + at + 8, &to, sizeof to);
  }
  const Container container = must_find(test::write_elf(spec));
  ASSERT_EQ(container.objects.size(), 1U);
  EXPECT_EQ(container.objects[0].bytes, object_for(1));
  EXPECT_THAT(container.notes, ElementsAre(HasSubstr("points to no bundle")));
  expect_true_offsets(container);
}

TEST(Containers, FilesWithoutSectionTableAreSearchedByPages) {
  test::ElfSpec spec{.section_table = false};
  spec.parts.push_back({.name = "text", .bytes = std::string(100, 'x')});
  spec.parts.push_back({.name = "fatbin", .bytes = bundle_with(object_for(2)), .alignment = 4096});
  const Container container = must_find(test::write_elf(spec));
  ASSERT_EQ(container.objects.size(), 1U);
  EXPECT_EQ(container.objects[0].bytes, object_for(2));
  expect_true_offsets(container);
}

TEST(Containers, PackagerImagesAreRead) {
  const std::vector<test::WrittenImage> images{
      {"amdgcn-amd-amdhsa", "gfx942", object_for(1)},
      {"amdgcn-amd-amdhsa", "gfx90a:xnack+", object_for(2)},
      {"x86_64-unknown-linux-gnu", "", "not for a device"}};
  test::ElfSpec spec;
  std::string section;
  for (const test::WrittenImage& image : images)
    section += test::write_packager_image(std::vector{image}, 1);
  section += test::write_packager_image(images, 2);
  spec.parts.push_back({.name = ".llvm.offloading", .bytes = section, .loaded = false});
  const Container container = must_find(test::write_elf(spec));
  ASSERT_EQ(container.objects.size(), 4U);
  for (const std::size_t i : {0U, 2U}) {
    EXPECT_EQ(container.objects[i].bytes, object_for(1));
    EXPECT_EQ(container.objects[i + 1].bytes, object_for(2));
    EXPECT_EQ(to_string(container.objects[i + 1].target), "gfx90a:xnack+");
    EXPECT_EQ(container.objects[i].entry, "amdgcn-amd-amdhsa--gfx942");
    EXPECT_EQ(container.objects[i].bundle, std::nullopt);
  }
  expect_true_offsets(container);
  spec.parts[0].bytes[4] = 3;
  EXPECT_THAT(container_error(test::write_elf(spec)).message,
              HasSubstr("damaged offload image at offset 64: version 3 is not known"));
}

TEST(Containers, ForeignFilesAreNamed) {
  EXPECT_EQ(container_error("").message, "file: an empty file");
  EXPECT_EQ(container_error("#include <hip>").message,
            "file: neither an ELF file nor an offload bundle");
  const Error archive = container_error("!<arch>\nmember");
  EXPECT_EQ(archive.message, "file: a static library, which is not read");
  EXPECT_THAT(archive.remedy, HasSubstr("ar x"));
  EXPECT_THAT(container_error(std::string("\x7f"
                                          "ELF\1\1\1",
                                          7) +
                              std::string(60, '\0'))
                  .message,
              HasSubstr("not a 64-bit little-endian one"));
}

TEST(Containers, AHostFileWithoutDeviceCodeSaysWhatWasLookedFor) {
  const Error none =
      container_error(test::write_elf({.parts = {{.name = ".text", .bytes = "\xc3"}}}));
  EXPECT_EQ(none.message,
            "file: no device code in it (looked for .hip_fatbin, .llvm.offloading and "
            "__CLANG_OFFLOAD_BUNDLE__ sections, and for HIPF wrappers)");
  EXPECT_THAT(none.notes, IsEmpty());
  const Error archived = container_error(test::write_host_file(
      "", std::vector<test::WrittenWrapper>{{0x4b504948, 0}, {0x4b504948, 0}}));
  EXPECT_THAT(archived.notes, ElementsAre(HasSubstr("2 of its bundles are in an external .kpack")));
  const Error bitcode = container_error(bundle_with("BC\xC0\xDE..."));
  EXPECT_THAT(bitcode.message, HasSubstr("no device code in its bundles"));
  EXPECT_THAT(bitcode.notes, ElementsAre(HasSubstr("holds LLVM bitcode")));
  EXPECT_THAT(container_error(bundle_with("text")).notes,
              ElementsAre(HasSubstr("something else than a code object")));
  EXPECT_THAT(container_error(bundle_with("")).notes, IsEmpty());
}

TEST(Containers, EverySampleIsRead) {
  for (const auto& samples :
       {test::code_object_samples(), test::bundle_samples(), test::host_file_samples()})
    for (const test::CodeSample& sample : samples) {
      SCOPED_TRACE(sample.name);
      const Container container = must_find(sample.bytes);
      EXPECT_FALSE(container.objects.empty());
      for (const EmbeddedObject& object : container.objects)
        EXPECT_TRUE(read_code_object(object.bytes, sample.name).has_value());
      expect_true_offsets(container);
    }
}

TEST(Containers, FilesAreOpenedByPath) {
  const test::TempFolder folder;
  const auto path = folder.write("a.co", object_for(1));
  const auto container = open_container(path);
  ASSERT_TRUE(container.has_value());
  EXPECT_EQ(container->objects.size(), 1U);
  const auto missing = open_container(folder / "b.co");
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().message, HasSubstr("b.co"));
}

TEST(Containers, RecordedFilesHaveTheirObjects) {
  const auto folder = recorded("fatbin");
  PERFLAB_SKIP_WITHOUT(folder);
  const auto objects_of = [&](std::string_view name) {
    const auto container = open_container(folder / name);
    EXPECT_TRUE(container.has_value()) << name;
    std::vector<std::string> texts;
    if (!container) return texts;
    EXPECT_THAT(container->notes, IsEmpty());
    expect_true_offsets(*container);
    for (const EmbeddedObject& object : container->objects) {
      const auto read = read_code_object(object.bytes, name);
      EXPECT_TRUE(read.has_value());
      if (read)
        texts.push_back(fmt::format("{} {} v{} {}", to_string(object.target), object.bytes.size(),
                                    read->version, read->kernels.size()));
    }
    return texts;
  };
  const std::vector<std::string> three{"gfx942:sramecc+:xnack- 4280 v4 1", "gfx950 32624 v5 10",
                                       "gfx1201 35840 v6 1"};
  for (const char* name :
       {"bundle_3targets_plain.hipfb", "bundle_3targets_ccob_v1_handmade.hipfb",
        "bundle_3targets_ccob_v2.hipfb", "bundle_3targets_ccob_v2_zlib_handmade.hipfb",
        "bundle_3targets_ccob_v3_handmade.hipfb"})
    EXPECT_EQ(objects_of(name), three) << name;
  EXPECT_THAT(objects_of("proto_hip_test_gfx1035.elf"), ElementsAre("gfx1035 4752 v6 1"));
  std::vector<std::string> host = three;
  host.emplace_back("gfx90a:xnack+ 9592 v4 1");
  host.insert(host.end(), three.begin(), three.end());
  EXPECT_EQ(objects_of("handmade_host_3bundles.elf"), host);
}

/// A HIP object made by clang-19 for two architectures, in one of its forms.
class ClangObjects : public testing::TestWithParam<const char*> {};

TEST_P(ClangObjects, AreRead) {
  const auto clang = find_program("clang++-19");
  if (!clang || !find_program("lld-19") || !find_program("clang-offload-bundler-19"))
    GTEST_SKIP() << "skipped: no clang++-19 with lld-19";
  const test::TempFolder folder;
  const auto source = folder.write(
      "k.hip",
      "struct dim3 { unsigned x, y, z; };\n"
      "extern \"C\" int hipLaunchKernel(const void*, dim3, dim3, void**, unsigned long, void*);\n"
      "__attribute__((global)) void k(float* x) { *x = 1; }\n");
  const auto object = folder / "k.o";
  const auto result =
      run_program({*clang, "-x", "hip", "-nogpulib", "-nogpuinc", "--offload-arch=gfx90a",
                   "--offload-arch=gfx1030", GetParam(), "-c", source, "-o", object});
  ASSERT_TRUE(result.has_value() && result->succeeded());
  const auto container = open_container(object);
  if (std::string_view(GetParam()) == "-fgpu-rdc") {
    // Bitcode until it is linked: said, not passed over.
    ASSERT_FALSE(container.has_value());
    EXPECT_THAT(container.error().notes, testing::SizeIs(2));
    EXPECT_THAT(container.error().notes[0], HasSubstr("LLVM bitcode"));
    return;
  }
  ASSERT_TRUE(container.has_value()) << describe(container.error());
  EXPECT_EQ(container->kind, ContainerKind::host_elf);
  ASSERT_EQ(container->objects.size(), 2U);
  std::vector<std::string> processors;
  for (const EmbeddedObject& found : container->objects) {
    const auto code = read_code_object(found.bytes, "k.o");
    ASSERT_TRUE(code.has_value());
    EXPECT_EQ(code->target.processor, found.target.processor);
    EXPECT_THAT(code->problems, IsEmpty());
    ASSERT_EQ(code->kernels.size(), 1U);
    EXPECT_EQ(code->kernels[0].name, "_Z1kPf");
    EXPECT_GT(code->kernels[0].code_bytes, 0U);
    processors.push_back(found.target.processor);
  }
  EXPECT_THAT(processors, testing::UnorderedElementsAre("gfx90a", "gfx1030"));
}

INSTANTIATE_TEST_SUITE_P(All, ClangObjects,
                         testing::Values("-O1", "--offload-compress", "-fgpu-rdc",
                                         "--offload-new-driver"),
                         [](const auto& form) {
                           std::string name = form.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace perflab::code
