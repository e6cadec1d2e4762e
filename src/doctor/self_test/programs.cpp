// The programs of the self test: sources that the binary holds, and what is made of them.
#include <fmt/format.h>

#include <algorithm>

#include "base/system/files.h"
#include "doctor/self_test/case.h"
#include "self_test_programs.h"

namespace perflab::doctor {
namespace {

constexpr int kParts = 20;

std::string_view embedded_text(std::string_view name) {
  const auto files = self_test_programs();
  const auto found = std::ranges::find(files, name, &EmbeddedFile::name);
  PERFLAB_CHECK(found != files.end());
  return found->text;
}

/// polish.hip with one piece of it replaced: candidates differ from it there and nowhere else.
std::string polish_with(std::string_view before, std::string_view after) {
  std::string text(embedded_text("polish.hip"));
  const std::size_t at = text.find(before);
  PERFLAB_CHECK(at != std::string::npos);
  return text.replace(at, before.size(), after);
}

TestProgram executable(const std::string& name) {
  return {.id = name, .sources = {name + ".hip"}, .arguments = {}};
}

TestProgram code_object(std::string id, const std::string& source) {
  return {.id = std::move(id),
          .sources = {source},
          .arguments = {"--cuda-device-only", "--no-gpu-bundle-output"}};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> program_files() {
  std::vector<std::pair<std::string, std::string>> files;
  for (const EmbeddedFile& file : self_test_programs()) {
    // HIP for the CPU must not be found by those that are for the GPU.
    const bool host = file.name == "hip_runtime.h";
    files.emplace_back(host ? "host/hip/hip_runtime.h" : std::string(file.name), file.text);
  }
  files.emplace_back("polish_fast.hip", polish_with("repeat < repeats", "repeat < 1"));
  files.emplace_back("polish_wrong.hip", polish_with("0.002F * value", "0.003F * value"));
  files.emplace_back("polish_empty.hip", polish_with("  out[i] = best;\n", ""));
  for (int part = 0; part < kParts; ++part)
    files.emplace_back(fmt::format("part_{}.hip", part),
                       fmt::format("#define PART {}\n#include \"twenty_part.h\"\n", part));
  return files;
}

std::vector<TestProgram> test_programs() {
  std::vector<TestProgram> programs{executable("launches"),
                                    executable("polish"),
                                    code_object("polish_fast_code", "polish_fast.hip"),
                                    code_object("polish_wrong_code", "polish_wrong.hip"),
                                    code_object("polish_empty_code", "polish_empty.hip"),
                                    executable("polish_fast"),
                                    executable("memory"),
                                    executable("modules"),
                                    code_object("module", "module_kernel.hip"),
                                    executable("twenty")};
  programs.push_back(
      {.id = "module_compressed",
       .sources = {"module_kernel.hip"},
       .arguments = {"--cuda-device-only", "--gpu-bundle-output", "--offload-compress"}});
  TestProgram library{
      .id = "library", .sources = {}, .arguments = {"-nogpuinc", "-nogpulib", "-fPIC", "-shared"}};
  for (int part = 0; part < kParts; ++part)
    library.sources.push_back(fmt::format("part_{}.hip", part));
  programs.push_back(std::move(library));
  return programs;
}

}  // namespace perflab::doctor
