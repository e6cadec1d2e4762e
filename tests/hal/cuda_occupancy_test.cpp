// The cuda model against everything that says the same: numbers of an H100 written down here, all
// measured vectors and counted residencies of ../shared, and the rules of the toolkit's
// cuda_occupancy.h where one is installed (docs/facts/cuda_architectures.md "Occupancy").
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>
#include <filesystem>

#include "base/system/files.h"
#include "base/text/json.h"
#include "hal/occupancy.h"

#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>
#define PERFLAB_HAS_CUDA_OCCUPANCY 1
#else
#define PERFLAB_HAS_CUDA_OCCUPANCY 0
#endif

namespace perflab::hal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::filesystem::path kCudaVectors =
    std::filesystem::path(PERFLAB_SHARED_DIR) / "data/hal/cuda_occupancy_vectors.json";

OccupancyInput cuda_kernel(std::int64_t block, std::int64_t registers,
                           std::int64_t static_shared = 0, std::int64_t dynamic_shared = 0) {
  OccupancyInput input;
  input.kernel.workgroup_size = block;
  input.kernel.vgprs = registers;
  input.kernel.static_lds = static_shared;
  input.kernel.dynamic_lds = dynamic_shared;
  return input;
}

/// Blocks on an SM; 0 when one cannot be launched, as CUDA's functions say it.
int blocks_on(std::string_view name, const OccupancyInput& input) {
  const auto occupancy = compute_occupancy(*find_arch(name), input);
  return occupancy ? occupancy->cuda.workgroups_per_cu : 0;
}

TEST(CudaModel, IsWhatAnH100Said) {
  struct Row {
    std::int64_t block, registers, static_shared, dynamic_shared;
    int blocks;
  };
  const Row rows[] = {
      {32, 8, 0, 0, 32},       {64, 40, 0, 0, 24},          {96, 40, 0, 0, 16},
      {128, 32, 0, 16384, 13}, {160, 40, 0, 0, 9},          {320, 48, 0, 0, 4},
      {192, 28, 0, 0, 10},     {64, 64, 2048, 100000, 2},   {128, 32, 16384, 49152, 3},
      {33, 8, 0, 16384, 13},   {64, 88, 0, 100000, 2},      {512, 128, 0, 0, 1},
      {160, 255, 0, 0, 1},     {1024, 64, 2048, 231424, 0}, {288, 255, 0, 0, 0},
      {1, 44, 0, 0, 32},       {1, 32, 0, 100000, 2}};
  for (const Row& r : rows)
    EXPECT_EQ(
        blocks_on("sm_90", cuda_kernel(r.block, r.registers, r.static_shared, r.dynamic_shared)),
        r.blocks)
        << r.block << " threads, " << r.registers << " registers, " << r.dynamic_shared;
}

TEST(CudaModel, EveryMeasuredVector) {
  if (!std::filesystem::exists(kCudaVectors))
    GTEST_SKIP() << "skipped: " << kCudaVectors << " is not there";
  const Json file = parse_json(read_file(kCudaVectors).value(), kCudaVectors.string()).value();
  int zero = 0;
  for (const Json& v : file.at("vectors")) {
    const OccupancyInput input =
        cuda_kernel(v.at("block").get<int>(), v.at("regs").get<int>(),
                    v.at("static_smem").get<int>(), v.at("dynamic_smem").get<int>());
    EXPECT_EQ(blocks_on("sm_90", input), v.at("blocks_per_sm").get<int>()) << v.dump();
    zero += v.at("blocks_per_sm").get<int>() == 0 ? 1 : 0;
  }
  int counted = 0;
  for (const Json& v : file.at("resident")) {
    // A kernel of few registers and no static shared memory, which counted the blocks beside it.
    const OccupancyInput input =
        cuda_kernel(v.at("block").get<int>(), 32, 0, v.at("dynamic_smem").get<int>());
    EXPECT_EQ(blocks_on("sm_90", input), v.at("seen_max").get<int>()) << v.dump();
    ++counted;
  }
  fmt::print("{} vectors ({} cannot be launched), {} counted residencies\n",
             file.at("vectors").size(), zero, counted);
  EXPECT_EQ(file.at("vectors").size(), 570U);
  EXPECT_EQ(counted, 72);
  EXPECT_GT(zero, 0);
}

TEST(CudaModel, LimitersAndFigures) {
  const auto on = [](const OccupancyInput& input) {
    return compute_occupancy(*find_arch("sm_90"), input).value();
  };
  const Occupancy registers = on(cuda_kernel(256, 96));
  EXPECT_EQ(registers.platform, Platform::nvidia);
  EXPECT_EQ(registers.wave_size, 32);
  EXPECT_EQ(registers.simds, 4);
  EXPECT_EQ(&registers.hardware(), &registers.cuda);
  EXPECT_EQ(registers.cuda.waves_per_simd, 4);
  EXPECT_EQ(registers.cuda.max_waves_per_simd, 16);
  EXPECT_EQ(registers.cuda.occupancy, 0.25);
  EXPECT_THAT(registers.cuda.limiters, ElementsAre(Limiter::vgpr));
  EXPECT_THAT(on(cuda_kernel(256, 16)).cuda.limiters, ElementsAre(Limiter::waves));
  EXPECT_THAT(on(cuda_kernel(768, 16)).cuda.limiters, ElementsAre(Limiter::workgroup_slots));
  EXPECT_THAT(on(cuda_kernel(32, 16)).cuda.limiters, ElementsAre(Limiter::workgroups));
  EXPECT_THAT(on(cuda_kernel(64, 16)).cuda.limiters,
              ElementsAre(Limiter::waves, Limiter::workgroups));
  EXPECT_THAT(on(cuda_kernel(64, 16, 20000)).cuda.limiters, ElementsAre(Limiter::lds));
}

TEST(CudaModel, LaunchesThatCannotBeAreSaidInCudasWords) {
  const auto refusal = [](const OccupancyInput& input) {
    const auto occupancy = compute_occupancy(*find_arch("sm_90"), input);
    return occupancy ? "" : occupancy.error().message;
  };
  EXPECT_EQ(refusal(cuda_kernel(1025, 16)),
            "a block of 1025 threads is more than the 1024 of sm_90");
  EXPECT_EQ(refusal(cuda_kernel(512, 200)),
            "a block of 512 threads with 200 registers per thread does not fit the registers of "
            "sm_90: at most 256 threads do");
  EXPECT_EQ(refusal(cuda_kernel(64, 256)),
            "256 registers per thread is not possible on sm_90 (at most 255)");
  EXPECT_EQ(refusal(cuda_kernel(64, 16, 40000, 200000)),
            "40000 bytes static and 200000 bytes dynamic shared memory do not fit the 232448 bytes "
            "that a block may have on sm_90");
  OccupancyInput wide = cuda_kernel(64, 16);
  wide.wave_size = 64;
  EXPECT_EQ(refusal(wide), "sm_90 has no warps of 64");
}

TEST(CudaModel, TakesWhatTheDeviceRecords) {
  OccupancyInput input = cuda_kernel(256, 16, 0, 20000);
  EXPECT_EQ(blocks_on("sm_90", input), 8);
  input.recorded.lds_bytes_per_cu = 102400;
  EXPECT_EQ(blocks_on("sm_90", input), 4);
  input.recorded = {};
  input.recorded.max_waves_per_simd = 12;
  EXPECT_EQ(blocks_on("sm_90", input), 6);
  const TracedKernel traced{.workgroup_size = 256,
                            .static_lds = 1024,
                            .dispatch_lds = 5120,
                            .arch_vgprs = 96,
                            .accum_vgprs = 0,
                            .sgprs = 0};
  const OccupancyInput from = input_from_trace(*find_arch("sm_90"), traced);
  EXPECT_EQ(from.kernel.allocated_vgprs, 96);
  EXPECT_EQ(from.kernel.dynamic_lds, 4096);
  EXPECT_EQ(blocks_on("sm_90", from), 2);
}

#if PERFLAB_HAS_CUDA_OCCUPANCY

unsigned bit_of(Limiter limiter) {
  switch (limiter) {
    case Limiter::waves:
    case Limiter::workgroup_slots:
      return OCC_LIMIT_WARPS;
    case Limiter::vgpr:
      return OCC_LIMIT_REGISTERS;
    case Limiter::lds:
      return OCC_LIMIT_SHARED_MEMORY;
    case Limiter::workgroups:
      return OCC_LIMIT_BLOCKS;
    default:
      return ~0U;
  }
}

/// The device of a table, as the toolkit wants it: nothing but the table's numbers.
cudaOccDeviceProp properties_of(const Arch& arch) {
  cudaOccDeviceProp device;
  const int capability = std::stoi(arch.gfx.substr(3));
  device.computeMajor = capability / 10;
  device.computeMinor = capability % 10;
  device.maxThreadsPerBlock = arch.max_workgroup_size;
  device.maxThreadsPerMultiprocessor = arch.max_waves_per_cu * arch.default_wave_size;
  device.regsPerBlock = device.regsPerMultiprocessor =
      arch.wave_sizes.front().vgprs_per_simd * arch.default_wave_size * arch.simds_per_cu;
  device.warpSize = arch.default_wave_size;
  device.sharedMemPerBlock = static_cast<std::size_t>(arch.lds_without_opt_in);
  device.sharedMemPerMultiprocessor = static_cast<std::size_t>(arch.lds_bytes_per_cu);
  device.sharedMemPerBlockOptin = static_cast<std::size_t>(arch.lds_max_per_workgroup);
  device.reservedSharedMemPerBlock = static_cast<std::size_t>(arch.lds_reserved_per_workgroup);
  device.numSms = 1;
  return device;
}

/// Compares one kernel; returns whether it can be launched.
bool agrees(const Arch& arch, const cudaOccDeviceProp& device, const OccupancyInput& input) {
  const KernelResources& k = input.kernel;
  cudaOccFuncAttributes function;
  function.maxThreadsPerBlock = INT_MAX;
  function.numRegs = static_cast<int>(k.vgprs);
  function.sharedSizeBytes = static_cast<std::size_t>(k.static_lds);
  function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  function.maxDynamicSharedSizeBytes =
      static_cast<std::size_t>(arch.lds_max_per_workgroup - k.static_lds);
  const cudaOccDeviceState state;
  cudaOccResult result{};
  EXPECT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state,
                                                    static_cast<int>(k.workgroup_size),
                                                    static_cast<std::size_t>(k.dynamic_lds)),
            CUDA_OCC_SUCCESS);
  const auto ours = compute_occupancy(arch, input);
  EXPECT_EQ(ours ? ours->cuda.workgroups_per_cu : 0, result.activeBlocksPerMultiprocessor)
      << arch.gfx << " block " << k.workgroup_size << " registers " << k.vgprs << " shared "
      << k.static_lds << "+" << k.dynamic_lds;
  if (!ours) return false;
  unsigned limits = 0;
  for (const Limiter limiter : ours->cuda.limiters) limits |= bit_of(limiter);
  EXPECT_EQ(limits, result.limitingFactors) << arch.gfx << " block " << k.workgroup_size;
  return true;
}

TEST(CudaModel, AgreesWithTheToolkitOnEveryArchitecture) {
  int launchable = 0, refused = 0;
  for (const Arch& arch : archs_of(Platform::nvidia)) {
    const cudaOccDeviceProp device = properties_of(arch);
    for (const int block : {1,   31,  32,  33,  64,  96,  128, 160, 192,  256,
                            320, 384, 448, 512, 544, 640, 768, 800, 1023, 1024})
      for (int registers = 1; registers <= arch.addressable_vgprs; registers += 6)
        for (const int fixed : {0, 1, 512, 5000, 48000})
          for (const int dynamic : {0, 100, 3000, 16384, 33000, 51000, 53376, 90000, 99000, 101376,
                                    163000, 184448, 226000, 232448}) {
            if (fixed + dynamic > arch.lds_max_per_workgroup + 5000) continue;
            if (agrees(arch, device, cuda_kernel(block, registers, fixed, dynamic)))
              ++launchable;
            else
              ++refused;
            if (HasFailure()) return;
          }
  }
  fmt::print("{} kernels alike, {} refused alike\n", launchable, refused);
  EXPECT_GT(launchable, 100'000);
  EXPECT_GT(refused, 10'000);
}

#else

TEST(CudaModel, AgreesWithTheToolkitOnEveryArchitecture) {
  GTEST_SKIP() << "skipped: cuda_occupancy.h of a CUDA toolkit is not installed here";
}

#endif

}  // namespace
}  // namespace perflab::hal
