// The llvm model against the installed clang 19: 200 fresh random kernels, each with pinned
// registers, LDS and launch bounds (docs/facts/hardware.md "Test vectors"), every one of which must
// agree. The counts are read back from the same remarks, so that only the occupancy is under test.
// PERFLAB_SEED repeats a run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "base/system/subprocess.h"
#include "base/temp_folder.h"
#include "hal/occupancy.h"

namespace perflab::hal {
namespace {

constexpr int kKernels = 200;
constexpr int kKernelsPerSource = 4;

std::uint64_t seed_of_this_run() {
  if (const char* given = std::getenv("PERFLAB_SEED"); given != nullptr)
    return std::strtoull(given, nullptr, 10);
  return std::random_device{}();
}

/// What the compiler is told, beside the source.
struct Target {
  const Arch* arch = nullptr;
  int wave_size = 0;
  WorkgroupMode mode = WorkgroupMode::cu;
};

/// One kernel as it is asked for, and as the remarks describe it.
struct Kernel {
  std::int64_t block = 0;
  std::optional<WavesPerEu> waves_per_eu;
  std::map<std::string, std::int64_t> remarks;
};

class Agreement : public ::testing::Test {
 protected:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  bool one_in(int n) { return pick(1, n) == 1; }

  /// The n-th target: the architectures in turn, each time with its next wave size and mode.
  static Target target(std::size_t n) {
    const std::span<const Arch> archs = archs_of(Platform::amd);
    const Arch& arch = archs[n % archs.size()];
    const std::size_t modes = arch.cus_per_wgp ? 2 : 1;
    const std::size_t variant = n / archs.size() % (arch.wave_sizes.size() * modes);
    return {.arch = &arch,
            .wave_size = arch.wave_sizes[variant / modes].wave_size,
            .mode = variant % modes == 1 ? WorkgroupMode::wgp : WorkgroupMode::cu};
  }

  /// Appends the source of one kernel with random demands and returns what was asked for.
  Kernel add_kernel(const Target& target, int number, std::string& source) {
    Kernel kernel;
    // Clobbering more registers than the work-group leaves room for makes no launchable kernel.
    const bool registers = one_in(2);
    kernel.block = registers ? 64 * pick(1, 4) : one_in(2) ? 64 * pick(1, 16) : pick(1, 1024);
    const std::int64_t vgpr = registers ? pick(0, target.arch->addressable_vgprs - 1) : pick(0, 15);
    std::string clobbers = fmt::format("\"v{}\"", vgpr);
    if (registers && target.arch->addressable_agprs > 0 && one_in(2))
      clobbers += fmt::format(",\"a{}\"", pick(0, target.arch->addressable_agprs - 1));
    if (one_in(3)) clobbers += fmt::format(",\"s{}\"", pick(0, target.arch->addressable_sgprs - 1));
    std::string attributes = fmt::format("amdgpu_flat_work_group_size({0},{0})", kernel.block);
    if (one_in(5)) {
      const std::int64_t lo = pick(1, 4);
      kernel.waves_per_eu =
          WavesPerEu{.lo = lo, .hi = pick(lo, target.arch->max_waves_per_simd_llvm)};
      attributes += fmt::format(",amdgpu_waves_per_eu({},{})", lo, *kernel.waves_per_eu->hi);
    }
    source +=
        fmt::format("extern \"C\" __attribute__((global,{})) void k{}() {{\n", attributes, number);
    if (one_in(2))
      source += fmt::format(
          "  static __attribute__((shared)) char m[{}];\n"
          "  asm volatile(\"\" :: \"v\"(&m[0]));\n",
          pick(1, target.arch->lds_max_per_workgroup / pick(1, 16)));
    source += fmt::format("  asm volatile(\"\" ::: {});\n}}\n", clobbers);
    return kernel;
  }

  /// Compiles and returns the remarks; nothing when the compiler does not know the target.
  std::optional<std::string> compile(const std::filesystem::path& clang, const Target& target,
                                     const std::string& source) {
    const test::TempFolder folder;
    const auto file = folder.write("occ.hip", source);
    std::vector<std::string> command = {clang.string(),
                                        "-x",
                                        "hip",
                                        "--cuda-device-only",
                                        "-nogpuinc",
                                        "-nogpulib",
                                        "-O2",
                                        "-S",
                                        "-o",
                                        "/dev/null",
                                        "-Rpass-analysis=kernel-resource-usage",
                                        "--offload-arch=" + target.arch->gfx};
    if (target.arch->wave_sizes.size() > 1)
      command.emplace_back(target.wave_size == 64 ? "-mwavefrontsize64" : "-mno-wavefrontsize64");
    if (target.arch->cus_per_wgp)
      command.emplace_back(target.mode == WorkgroupMode::cu ? "-mcumode" : "-mno-cumode");
    command.push_back(file.string());
    ProcessOptions options;
    options.empty_input = true;
    options.standard_output = options.standard_error = StreamMode::capture;
    options.capture_limit = std::size_t{1} << 22;
    options.timeout = std::chrono::seconds(60);
    const auto result = run_program(command, options);
    EXPECT_TRUE(result.has_value());
    if (!result) return std::nullopt;
    const std::string& text = result->error.tail;
    if (text.find("unsupported HIP gpu architecture") != std::string::npos ||
        text.find("invalid target ID") != std::string::npos)
      return std::nullopt;
    EXPECT_TRUE(result->succeeded()) << target.arch->gfx << ":\n" << text << source;
    return text;
  }

  /// "…remark:     VGPRs: 65 [-Rpass…" of every function, by its name and the figure's.
  static std::map<std::string, std::map<std::string, std::int64_t>> parse(const std::string& text) {
    std::map<std::string, std::map<std::string, std::int64_t>> result;
    std::istringstream lines(text);
    std::string function;
    for (std::string line; std::getline(lines, line);) {
      const auto mark = line.find("remark: ");
      const auto end = line.find(" [-Rpass");
      const auto colon = line.rfind(": ", end);
      if (mark == std::string::npos || end == std::string::npos || colon <= mark + 6) continue;
      const auto begin = line.find_first_not_of(' ', mark + 8);
      const std::string name = line.substr(begin, colon - begin);
      const std::string value = line.substr(colon + 2, end - colon - 2);
      if (name == "Function Name") {
        function = value;
      } else {
        result[function][name] = std::atoll(value.c_str());
      }
    }
    return result;
  }

  std::uint64_t seed_ = seed_of_this_run();
  std::mt19937_64 random_{seed_};
};

OccupancyInput input_for(const Target& target, const Kernel& kernel) {
  const auto remark = [&](const char* name) { return kernel.remarks.at(name); };
  OccupancyInput input;
  input.wave_size = target.wave_size;
  if (target.arch->cus_per_wgp) input.mode = target.mode;
  input.kernel.workgroup_size = kernel.block;
  input.kernel.static_lds = remark("LDS Size [bytes/block]");
  input.kernel.vgprs = remark("VGPRs");
  // Not printed where there are none.
  if (kernel.remarks.contains("AGPRs")) input.kernel.agprs = remark("AGPRs");
  input.kernel.sgprs = remark("SGPRs");
  input.kernel.waves_per_eu = kernel.waves_per_eu;
  return input;
}

TEST_F(Agreement, EveryFreshRandomKernelAgrees) {
  const auto clang = find_program("clang++-19");
  if (!clang) GTEST_SKIP() << "skipped: clang++-19 is not there";
  fmt::print("PERFLAB_SEED={}\n", seed_);
  std::map<std::string, int> agreed;
  int compared = 0;
  int not_launchable = 0;
  std::set<std::int64_t> figures;
  for (std::size_t round = 0; compared < kKernels; ++round) {
    ASSERT_LT(round, 400U) << "too few kernels can be compared";
    const Target on = target(round);
    std::string source;
    std::vector<Kernel> kernels;
    for (int i = 0; i < kKernelsPerSource; ++i) kernels.push_back(add_kernel(on, i, source));
    const auto text = compile(*clang, on, source);
    if (HasFailure()) return;
    if (!text) {
      agreed.try_emplace(on.arch->gfx + " (this compiler does not know it)", 0);
      continue;
    }
    auto remarks = parse(*text);
    for (int i = 0; i < kKernelsPerSource; ++i) {
      Kernel& kernel = kernels[static_cast<std::size_t>(i)];
      kernel.remarks = remarks[fmt::format("k{}", i)];
      ASSERT_TRUE(kernel.remarks.contains("Occupancy [waves/SIMD]")) << *text;
      const auto occupancy = compute_occupancy(*on.arch, input_for(on, kernel));
      if (!occupancy) {
        ++not_launchable;  // the compiler prints a figure for what no GPU can start
        continue;
      }
      EXPECT_EQ(occupancy->llvm.waves_per_simd, kernel.remarks["Occupancy [waves/SIMD]"])
          << on.arch->gfx << " wave" << on.wave_size << " " << to_string(on.mode) << " kernel k"
          << i << " with block " << kernel.block << ":\n"
          << source << *text;
      figures.insert(kernel.remarks["Occupancy [waves/SIMD]"]);
      ++compared;
      ++agreed[on.arch->gfx];
    }
    if (HasFailure()) return;
  }
  for (const auto& [gfx, count] : agreed) fmt::print("{}: {}\n", gfx, count);
  fmt::print("{} kernels agree, {} more cannot be launched\n", compared, not_launchable);
  EXPECT_GE(compared, kKernels);
  EXPECT_GE(figures.size(), 8U) << "the kernels must be worth something";
  EXPECT_LT(not_launchable, compared / 2);
}

}  // namespace
}  // namespace perflab::hal
