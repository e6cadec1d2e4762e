// Sizes. Half a gigabyte is sixteen times the largest L2 of AMD's and ten times that of an H100;
// eight work-groups of 256 fill a CU's wave slots (32 waves of 64 lanes, 64 of 32).
#include "calibrate/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace perflab::calibrate {
namespace {

using hal::Platform;

constexpr std::uint64_t kStreamBytes = std::uint64_t{512} << 20;
constexpr std::uint32_t kGroup = 256;
constexpr std::uint32_t kGroupsPerCu = 8;
constexpr std::uint32_t kElementBytes = 16;    // of what read_16 reads
constexpr std::uint32_t kInputThreads = 4096;  // whose values are kept; the others have the same
constexpr std::uint64_t kBytesPerThread = 64;  // of the inputs of arithmetic and matrix kernels

/// Rounds of a launch of that extent, of its larger size.
constexpr std::uint32_t kComputeRounds = 512, kResidentRounds = 16384, kCacheRounds = 128,
                        kAtomicRounds = 8;

/// Bytes that fit into L2 and by far not into L1: into one die's L2 (4 MiB on MI300, 2 MiB on small
/// GPUs) and not into that of AMD's CUs (32 KiB) or NVIDIA's SMs (256 KiB).
constexpr std::uint64_t kL2Bytes = std::uint64_t{1} << 20, kNvidiaL2Bytes = std::uint64_t{8} << 20;
/// Half of the smallest L1.
constexpr std::uint64_t kL1Bytes = 8192;

struct ConstantBits {
  Input input;
  std::uint64_t minus, one;
};
/// -1 and 1 of each type; of matrix numbers what turns their signs over (programs/host.cpp: of
/// INT8 they are 1 and -1).
constexpr std::array kBits = {
    ConstantBits{Input::fp32, 0xbf800000, 0x3f800000},
    ConstantBits{Input::ones, 0xbf800000, 0x3f800000},
    ConstantBits{Input::fp64, 0xbff0000000000000, 0x3ff0000000000000},
    ConstantBits{Input::fp16, 0xbc00, 0x3c00},
    ConstantBits{Input::fp16x2, 0xbc00bc00, 0x3c003c00},
    ConstantBits{Input::fp32x2, 0xbf800000bf800000, 0x3f8000003f800000},
    ConstantBits{Input::int32, 0xffffffff, 1},
    ConstantBits{Input::matrix_fp16, 0x8000800080008000, 0},
    ConstantBits{Input::matrix_bf16, 0x8000800080008000, 0},
    ConstantBits{Input::matrix_fp32, 0x8000000080000000, 0},
    ConstantBits{Input::matrix_fp64, 0x8000000000000000, 0},
    ConstantBits{Input::matrix_fp8, 0x8080808080808080, 0},
    ConstantBits{Input::matrix_int8, 0xfefefefefefefefe, 0},
};

/// Bytes of a request from L1 to L2 (docs/facts/counters.md, "Bytes"): a sector on
/// NVIDIA's GPUs, a line on AMD's.
double line_bytes(const hal::Arch& arch) {
  if (arch.platform == Platform::nvidia) return 32;
  return arch.gfx == "gfx908" || arch.gfx == "gfx90a" ? 64 : 128;
}

/// Bytes that a round of one thread covers.
std::uint64_t covered(const Work& work) {
  const int accesses = work.stride > 0 ? work.read / 4 : 0;
  return static_cast<std::uint64_t>(work.stride > 0 ? accesses * work.stride
                                                    : std::max(work.read, work.written));
}

void set_extent(const PlanGpu& gpu, Launch& launch) {
  const Work& work = *launch.work;
  const auto cus = static_cast<std::uint32_t>(gpu.cus);
  launch.groups = cus * kGroupsPerCu;
  launch.group = kGroup;
  launch.rounds = work.input == Input::counted ? kAtomicRounds : kComputeRounds;
  launch.mask = kInputThreads - 1;
  switch (work.extent) {
    case Extent::stream: {
      const std::uint64_t round = launch.threads() * covered(work);
      launch.rounds = static_cast<std::uint32_t>(std::max<std::uint64_t>(2, kStreamBytes / round));
      launch.mask = 0xffffffff;
      break;
    }
    case Extent::l2:
    case Extent::l1: {
      const bool nvidia = gpu.arch->platform == Platform::nvidia;
      const std::uint64_t bytes =
          work.extent == Extent::l1 ? kL1Bytes : (nvidia ? kNvidiaL2Bytes : kL2Bytes);
      launch.rounds = kCacheRounds;
      launch.mask = static_cast<std::uint32_t>(bytes / kElementBytes - 1);
      break;
    }
    case Extent::half_wave:
      launch.group = static_cast<std::uint32_t>(gpu.arch->default_wave_size) / 2;
      break;
    case Extent::resident:
      launch.groups = cus;
      launch.rounds = kResidentRounds;
      break;
    case Extent::compute:
      break;
  }
}

}  // namespace

void set_buffers(Launch& launch) {
  const Work& work = *launch.work;
  const std::uint64_t threads = launch.threads();
  const std::uint64_t touched = threads * launch.rounds * covered(work);
  launch.in_bytes = kInputThreads * kBytesPerThread;
  launch.out_bytes = threads * 4;
  launch.stride = static_cast<std::uint32_t>(work.stride / 4);
  if (work.input == Input::copied || work.input == Input::xored) launch.in_bytes = touched;
  if (work.extent == Extent::l1 || work.extent == Extent::l2)
    launch.in_bytes = (std::uint64_t{launch.mask} + 1) * kElementBytes;
  if (work.input == Input::copied || work.input == Input::written) launch.out_bytes = touched;
  if (work.input == Input::counted) launch.out_bytes = threads * 16;
  for (const ConstantBits& bits : kBits)
    if (bits.input == work.input) {
      launch.minus = bits.minus;
      launch.one = bits.one;
    }
}

namespace {

void set_numbers(const CodeShape& shape, const PlanGpu& gpu, Launch& launch) {
  const Work& work = *launch.work;
  const auto lanes = static_cast<std::uint32_t>(gpu.arch->default_wave_size);
  const double rounds = launch.rounds;
  const auto threads = static_cast<double>(launch.threads());
  LaunchNumbers& numbers = launch.numbers;
  for (const auto& [name, value] : shape.of_wave(rounds)) numbers[name] = value;
  numbers["waves"] = launch.groups * ((launch.group + lanes - 1) / lanes);
  numbers["threads"] = threads;
  numbers["block"] = launch.group;
  numbers["rounds"] = rounds;
  numbers["read"] = threads * rounds * work.read;
  numbers["written"] = threads * rounds * work.written;
  numbers["stride"] = work.stride;
  // Of 32 lanes, which go at a time, those that meet in one bank beside the first.
  numbers["conflicts"] = std::max(1.0, 32.0 * work.lds_step / gpu.arch->lds_banks) - 1;
  numbers["LANES"] = lanes;
  numbers["CU"] = gpu.cus;
  numbers["LINE"] = line_bytes(*gpu.arch);
  numbers["MAX_WAVES_PER_CU"] = gpu.arch->max_waves_per_cu;
}

}  // namespace

std::string Launch::text() const {
  return fmt::format("{} x {} threads, {} rounds", groups, group, rounds);
}

std::vector<Launch> plan_launches(std::span<const CheckedWork> checked, const PlanGpu& gpu,
                                  int runs) {
  std::vector<Launch> launches;
  std::map<std::string_view, std::size_t> dispatches;  // by function
  for (const CheckedWork& one : checked) {
    if (one.check != hal::KernelCheck::agrees) continue;
    for (const bool half : {false, true}) {
      Launch launch{.work = one.work, .repetitions = runs + 1, .numbers = {}};
      set_extent(gpu, launch);
      if (half) launch.rounds = std::max<std::uint32_t>(1, launch.rounds / 2);
      set_buffers(launch);
      set_numbers(one.shape, gpu, launch);
      std::size_t& before = dispatches[one.work->function];
      launch.first = before;
      before += static_cast<std::size_t>(launch.repetitions);
      launches.push_back(std::move(launch));
    }
  }
  return launches;
}

std::string plan_text(std::span<const Launch> launches) {
  std::string text;
  for (const Launch& one : launches)
    text +=
        fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}\n", one.work->function,
                    to_string(one.work->input), one.groups, one.group, one.rounds, one.mask,
                    one.in_bytes, one.out_bytes, one.stride, one.minus, one.one, one.repetitions);
  return text;
}

}  // namespace perflab::calibrate
