// make-code-object: writes a fat binary of any size, or the small samples that fuzzing starts from.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/system/files.h"
#include "support/code_samples.h"
#include "support/code_writer.h"

namespace {

using namespace perflab;
using namespace perflab::test;

/// `cubins`: behind a letter, those that fuzz/cubin_fuzz.cpp wants as bare cubins.
Result<void> write_samples(const std::filesystem::path& folder, bool cubins) {
  PERFLAB_TRY_VOID(make_directories(folder));
  std::vector<CodeSample> all;
  const auto add = [&](std::vector<CodeSample> samples, const char* front) {
    for (CodeSample& sample : samples) all.push_back({sample.name, front + sample.bytes});
  };
  if (cubins) {
    add(cubin_samples(), "c");
    add(cubin_file_samples(), "");
  } else {
    for (const auto& samples : {code_object_samples(), bundle_samples(), host_file_samples()})
      add(samples, "");
  }
  for (const CodeSample& sample : all)
    PERFLAB_TRY_VOID(write_file_atomically(folder / sample.name, sample.bytes));
  return {};
}

Result<void> write_fat_binary(const std::filesystem::path& path, int kernels, bool packed,
                              bool bare) {
  const std::string object = write_code_object(sample_code_object(kernels));
  if (bare) return write_file_atomically(path, object);
  const std::vector<WrittenEntry> entries{{"host-x86_64-unknown-linux-gnu-", ""},
                                          {"hipv4-amdgcn-amd-amdhsa--gfx942", object}};
  std::string bundle = write_bundle(entries);
  if (packed) bundle = compress_bundle(bundle, 3, Packing::zstd);
  return write_file_atomically(path, write_host_file(bundle, std::vector<WrittenWrapper>(1)));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes device code for tests and benchmarks.", "make-code-object");
  std::string samples, out;
  int kernels = 2000;
  bool packed = false, bare = false, cubins = false;
  app.add_option("--samples", samples, "folder for one small file of every form");
  app.add_flag("--cubins", cubins, "samples of cubins and fat binaries, as fuzz_cubin takes them");
  app.add_option("--out", out, "a host ELF file with one bundle for gfx942");
  app.add_option("--kernels", kernels, "kernels in it");
  app.add_flag("--compress", packed, "compress the bundle (CCOB version 3, zstd)");
  app.add_flag("--bare", bare, "write the code object itself, without bundle and host file");
  CLI11_PARSE(app, argc, argv);
  Result<void> written = samples.empty() ? Result<void>() : write_samples(samples, cubins);
  if (written && !out.empty()) written = write_fat_binary(out, kernels, packed, bare);
  if (written) return 0;
  std::fprintf(stderr, "%s\n", describe(written.error()).c_str());
  return exit_code(written.error().code);
}
