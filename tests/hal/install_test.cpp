// The installed header perflab/occupancy.h as a stranger uses it: `cmake --install --component
// occupancy` into an empty prefix, find_package() from a project of its own, built with the
// standard library alone. Every answer must be the program's, on every architecture.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "base/temp_folder.h"
#include "hal/occupancy.h"
#include "hal/occupancy_lines.h"

namespace perflab::hal {
namespace {

constexpr const char* kProject = R"(
cmake_minimum_required(VERSION 3.20)
project(stranger LANGUAGES CXX)
find_package(perflab-occupancy 0.1 REQUIRED)
add_executable(stranger main.cpp)
target_link_libraries(stranger PRIVATE perflab::occupancy)
target_compile_options(stranger PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
)";

/// Reads one kernel a line, prints three lines a kernel, or its refusal.
constexpr const char* kProgram = R"(
#include <perflab/occupancy.h>

#include <fstream>
#include <iostream>

#include "occupancy_lines.h"

int main(int, char** argv) {
  namespace po = perflab::occupancy;
  if (po::report("gfx9999", {.workgroup_size = 64}).error != "unknown architecture gfx9999") return 1;
  if (po::report("gfx942", {.workgroup_size = 64}, 32)) return 1;
  if (!po::report("sm_90a", {.workgroup_size = 64})) return 1;
  std::ifstream file(argv[1]);
  std::string gfx, mode;
  std::int64_t wave = 0, sgprs = 0, min = 0, rule = 0;
  po::KernelResources k;
  while (file >> gfx >> wave >> mode >> k.workgroup_size >> min >> k.static_lds >> k.dynamic_lds >>
         k.vgprs >> k.agprs >> sgprs >> rule) {
    k.sgprs = sgprs < 0 ? std::nullopt : std::optional(sgprs);
    k.workgroup_size_min = min < 0 ? std::nullopt : std::optional(min);
    k.llvm_rule = rule == 20 ? po::LlvmRule::v20 : po::LlvmRule::v19;
    const auto report =
        po::report(gfx, k, wave, mode == "wgp" ? po::WorkgroupMode::wgp : po::WorkgroupMode::cu);
    if (!report) {
      std::cout << "refused\n";
      continue;
    }
    for (const auto model : report.models)
      std::cout << occupancy_lines::line_of(report.of(model).occupancy, report.of(model).next_step,
                                            report.of(model).headroom);
    for (const auto field : report.unconfirmed) std::cout << field << "\n";
  }
}
)";

/// Random kernels on every architecture, wave size and mode, launchable or not.
std::vector<std::pair<const Arch*, OccupancyInput>> kernels() {
  std::mt19937_64 random{20240601};
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  std::vector<std::pair<const Arch*, OccupancyInput>> all;
  for (const Arch& arch : all_archs())
    for (const WaveSizeLimits& wave : arch.wave_sizes)
      for (const WorkgroupMode mode : {WorkgroupMode::cu, WorkgroupMode::wgp})
        for (int i = 0; i < 40 && (mode == WorkgroupMode::cu || arch.cus_per_wgp); ++i) {
          OccupancyInput input{.wave_size = wave.wave_size, .mode = mode, .kernel = {}};
          KernelResources& k = input.kernel;
          k.workgroup_size = pick(1, arch.max_workgroup_size);
          if (pick(0, 2) == 0) k.workgroup_size_min = pick(1, k.workgroup_size);
          k.static_lds = pick(0, arch.lds_max_per_workgroup / pick(1, 8));
          k.dynamic_lds = pick(0, 1) * pick(0, 8192);
          k.vgprs = pick(0, arch.addressable_vgprs);
          k.agprs = pick(0, 1) * pick(0, arch.addressable_agprs);
          if (pick(0, 2) > 0 && arch.platform == Platform::amd)
            k.sgprs = pick(0, arch.addressable_sgprs);
          if (pick(0, 1) == 0) k.llvm_rule = LlvmRule::v20;
          all.emplace_back(&arch, input);
        }
  return all;
}

std::string line_for(const Arch& arch, const OccupancyInput& input) {
  const KernelResources& k = input.kernel;
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {}\n", arch.gfx, *input.wave_size,
                     to_string(*input.mode), k.workgroup_size, k.workgroup_size_min.value_or(-1),
                     k.static_lds, k.dynamic_lds, k.vgprs, k.agprs, k.sgprs.value_or(-1),
                     to_string(k.llvm_rule));
}

std::string answer_for(const Arch& arch, const OccupancyInput& input) {
  const auto occupancy = compute_occupancy(arch, input);
  if (!occupancy) return "refused\n";
  const auto advice = advise_occupancy(arch, input).value();
  std::string out;
  for (const OccupancyModel model : models_of(arch.platform))
    out += occupancy_lines::line_of(occupancy->of(model), advice.of(model).next_step,
                                    advice.of(model).headroom);
  for (const std::string& field : arch.unconfirmed_of_occupancy()) out += field + "\n";
  return out;
}

std::string output_of(const std::vector<std::string>& command) {
  ProcessOptions options;
  options.empty_input = true;
  options.standard_output = options.standard_error = StreamMode::capture;
  options.capture_limit = std::size_t{1} << 24;
  const auto result = run_program(command, options);
  EXPECT_TRUE(result && result->succeeded())
      << command.front() << ": " << (result ? result->error.tail + result->output.tail : "");
  return result ? result->output.tail : "";
}

TEST(Install, TheHeaderAloneGivesTheProgramsAnswers) {
  const test::TempFolder folder;
  const std::string prefix = folder / "prefix";
  output_of({PERFLAB_CMAKE, "--install", PERFLAB_BINARY_DIR, "--component", "occupancy", "--prefix",
             prefix});
  std::vector<std::string> headers;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(prefix + "/include"))
    if (entry.is_regular_file()) headers.push_back(entry.path().filename());
  EXPECT_THAT(headers, testing::ElementsAre("occupancy.h"));

  ASSERT_TRUE(make_directories(folder / "project"));
  const auto put = [&](std::string_view name, std::string_view text) {
    ASSERT_TRUE(write_file_atomically(folder / "project" / name, text));
  };
  put("CMakeLists.txt", kProject);
  put("main.cpp", kProgram);
  put("occupancy_lines.h",
      read_file(std::string(PERFLAB_SOURCE_DIR) + "/tests/hal/occupancy_lines.h").value());
  output_of({PERFLAB_CMAKE, "-S", folder / "project", "-B", folder / "build",
             "-DCMAKE_CXX_COMPILER=g++", "-DCMAKE_PREFIX_PATH=" + prefix});
  output_of({PERFLAB_CMAKE, "--build", folder / "build"});
  if (HasFailure()) return;

  std::string lines;
  std::string expected;
  int launched = 0;
  const auto all = kernels();
  for (const auto& [arch, input] : all) {
    lines += line_for(*arch, input);
    expected += answer_for(*arch, input);
    launched += compute_occupancy(*arch, input) ? 1 : 0;
  }
  EXPECT_GT(launched, 500);
  const auto file = folder.write("kernels", lines);
  EXPECT_TRUE(output_of({folder / "build/stranger", file}) == expected);
}

}  // namespace
}  // namespace perflab::hal
