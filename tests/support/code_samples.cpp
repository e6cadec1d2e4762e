// See code_samples.h.
#include "support/code_samples.h"

#include <elf.h>
#include <fmt/format.h>

#include "support/code_writer.h"
#include "support/cubin_writer.h"

namespace perflab::test {
namespace {

constexpr std::string_view kHostId = "host-x86_64-unknown-linux-gnu-";
constexpr std::string_view kDeviceId = "hipv4-amdgcn-amd-amdhsa--gfx942";

/// A kernel with one of everything that the metadata may say, on few bytes.
WrittenCodeObject small_object(int version) {
  WrittenKernel kernel{.name = "scale", .code = std::string("\0\0\x81\xbf", 4)};
  const std::vector<WrittenArgument> arguments{{0, 8, "global_buffer"}, {8, 4, "by_value"}};
  kernel.metadata = kernel_metadata(kernel.name, arguments);
  kernel.metadata[".args"][0][".name"] = "x";
  kernel.metadata[".args"][0][".is_const"] = true;
  kernel.metadata[".reqd_workgroup_size"] = {64, 1, 1};
  kernel.metadata[".language_version"] = {2, 0};
  kernel.metadata[".uses_dynamic_stack"] = false;
  kernel.metadata[".not_known"] = {{"a", {1, 2.5, nullptr}}};
  kernel.kernarg_bytes = 12;
  WrittenCodeObject object{.abi_version = static_cast<std::uint8_t>(version - 2),
                           .metadata = object_metadata(version, "amdgcn-amd-amdhsa--gfx942"),
                           .kernels = {kernel}};
  if (version == 3) object.flags = 0x34c;  // one bit per feature: both on
  object.metadata["amdhsa.printf"] = {"1:1:4:%d\\n"};
  return object;
}

std::string small_bundle(std::uint64_t alignment) {
  return write_bundle(
      std::vector<WrittenEntry>{{std::string(kHostId), ""},
                                {std::string(kDeviceId), write_code_object(small_object(5))}},
      alignment);
}

}  // namespace

std::vector<CodeSample> code_object_samples() {
  std::vector<CodeSample> samples;
  for (int version = 3; version <= 6; ++version) {
    WrittenCodeObject object = small_object(version);
    if (version == 4) object.dynamic_symbols = false, object.symbols = true;
    if (version == 5) object.kernels.push_back(sample_code_object(1).kernels[0]);
    samples.push_back({fmt::format("v{}.co", version), write_code_object(object)});
  }
  WrittenCodeObject bare = small_object(6);
  bare.section_table = false;
  samples.push_back({"no_sections.co", write_code_object(bare)});
  return samples;
}

std::vector<CodeSample> bundle_samples() {
  const std::string plain = small_bundle(8);
  std::vector<CodeSample> samples{{"plain.hipfb", plain}};
  for (int version = 1; version <= 3; ++version)
    for (const Packing packing : {Packing::zlib, Packing::zstd})
      samples.push_back(
          {fmt::format("ccob_v{}_{}.hipfb", version, packing == Packing::zlib ? "zlib" : "zstd"),
           compress_bundle(plain, version, packing)});
  return samples;
}

std::vector<CodeSample> host_file_samples() {
  std::string fatbin = compress_bundle(small_bundle(8), 1, Packing::zstd);
  fatbin.resize((fatbin.size() + 63) / 64 * 64, '\0');
  const std::uint64_t second = fatbin.size();
  fatbin += small_bundle(8);
  const std::vector<WrittenWrapper> wrappers{{.offset = 0}, {.offset = second}, {0x4b504948, 0}};
  std::vector<CodeSample> samples{{"bundles.elf", write_host_file(fatbin, wrappers)}};

  ElfSpec images;
  for (const int version : {1, 2})
    images.parts.push_back({.name = ".llvm.offloading",
                            .bytes = write_packager_image(
                                std::vector<WrittenImage>{{"amdgcn-amd-amdhsa", "gfx942",
                                                           write_code_object(small_object(6))}},
                                version),
                            .loaded = false});
  samples.push_back({"packager.elf", write_elf(images)});

  ElfSpec rdc{.type = ET_REL, .parts = {}};
  rdc.parts.push_back({.name = "__CLANG_OFFLOAD_BUNDLE__" + std::string(kDeviceId),
                       .bytes = write_code_object(small_object(4)),
                       .loaded = false});
  rdc.parts.push_back({.name = "__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--gfx90a",
                       .bytes = "BC\xC0\xDE and more",
                       .loaded = false});
  samples.push_back({"rdc.o", write_elf(rdc)});

  ElfSpec bare{.parts = {{.name = "x", .bytes = small_bundle(8), .alignment = 4096}},
               .section_table = false};
  samples.push_back({"no_sections.elf", write_elf(bare)});
  return samples;
}

std::vector<CodeSample> cubin_samples() {
  WrittenCubin spec;
  spec.kernels = {{.name = "axpy",
                   .shared_bytes = 512,
                   .spills = 3,
                   .parameters = {{0, 4}, {8, 8}, {16, 20000}},
                   .max_threads = {{256, 1, 1}},
                   .cluster = {{2, 1, 1}}},
                  {.name = "helper", .entry = false}};
  spec.variables = {{.name = "table", .contents = "sixteen bytes...", .constant = true},
                    {.name = "counter", .zeros = 4}};
  std::vector<CodeSample> samples{{"cubin_new", write_cubin(spec)}};
  spec.abi_version = 7;
  spec.architecture = 80;
  samples.push_back({"cubin_old", write_cubin(spec)});
  return samples;
}

std::vector<CodeSample> cubin_file_samples() {
  const std::string cubin = cubin_samples().front().bytes;
  std::vector<WrittenFatbinEntry> entries{{.bytes = cubin}, {.bytes = ".version 9.0", .ptx = true}};
  std::vector<CodeSample> samples{{"fatbin_plain", write_fatbin(entries)}};
  entries.front().packing = FatbinPacking::zstd;
  samples.push_back({"fatbin_zstd", write_fatbin(entries)});
  samples.push_back({"fatbin_host", write_cuda_host_file(".nv_fatbin", write_fatbin(entries))});
  return samples;
}

}  // namespace perflab::test
