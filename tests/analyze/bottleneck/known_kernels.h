// Kernels with a known answer. Each is told by its physics on an AMD Instinct MI300X (how many
// waves run where and for how long, what they move and compute, what they wait for); from that
// follow, apart from each other, the files that a profiler would leave (database, counter passes,
// thread-trace folder) and the figures that must be found in them. Formulas:
// docs/facts/counters.md, docs/facts/thread_trace.md "Sums"; machine: src/hal/archs/gfx942.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/bottleneck/bottleneck.h"
#include "support/att_writer.h"
#include "support/counter_samples.h"

namespace perflab::analyze {

inline constexpr double kCus = 304, kSimdsPerCu = 4, kLanesOfWave = 64;
inline constexpr double kWaveSlots = 304 * 32;             ///< of the GPU
inline constexpr double kHbm = 5300;                       ///< GB/s
inline constexpr double kL2 = 128 * 128 * 2.1;             ///< GB/s: channels, bytes, GHz
inline constexpr double kLds = 304 * 128 * 2.1;            ///< GB/s
inline constexpr double kVectorFp32 = 304 * 128 * 2.1;     ///< GFLOP/s
inline constexpr double kMatrixBf16 = 304.0 * 2048 * 2.1;  ///< GFLOP/s
inline constexpr double kWordFlop = 512;                   ///< FLOP of one count of MFMA_MOPS
inline constexpr double kMatrixFlopPerCycle = 2048.0 / 4;  ///< of a SIMD
inline constexpr std::int64_t kGap = 10'000;               ///< ns between dispatches

/// What a traced instruction's time is.
enum class Role : std::uint8_t { load, memory_wait, lds_wait, arithmetic, scalar, branch, barrier };

struct LoopStep {
  std::string text;
  Role role = Role::scalar;
  std::int64_t issue = 4;  ///< cycles
  std::int64_t stall = 0;
  std::int64_t idle = 0;  ///< before it
};

/// The waves of one CU that a thread trace sees: all begin together and do the same.
struct TracedLoop {
  std::vector<LoopStep> body = {};
  int turns = 20;
  int waves = 8;
};

/// One kernel by what it does. Counts are of one dispatch, over the GPU.
struct KernelPhysics {
  std::string name;
  std::int64_t groups = 1, items = 64;  ///< work-groups, work-items of each
  std::int64_t ns = 1'000'000;
  int dispatches = 3;
  double waves = 0;                      ///< in flight, on average
  double busy_cus = 304;                 ///< with waves, on average
  double waits = 0, queues = 0;          ///< of wave time: for a result, for a unit
  double fma = 0, other_valu = 0;        ///< wave instructions; each keeps a SIMD for four cycles
  double matrix_flop = 0;                ///< BF16
  double lanes = 64;                     ///< at work per vector instruction
  double hbm_read = 0, hbm_written = 0;  ///< bytes beyond L2
  double request = 128;                  ///< bytes that one read beyond L2 brings: 64 or 128
  double l2_read = 0, l2_written = 0, l2_hits = 0;  ///< bytes; share of requests
  double lds = 0;                                   ///< bytes
  double vmem = 0, scalar = 0, branches = 0;        ///< wave instructions
  TracedLoop loop = {};
  bool all_counts_zero = false;  ///< nothing was counted, whatever it does

  [[nodiscard]] double launched_waves() const;
  [[nodiscard]] double cycles() const { return static_cast<double>(ns) * 2.1; }
  /// Wave instructions that the vector ALUs can take in that time: one per cycle and CU.
  [[nodiscard]] double valu_slots() const { return cycles() * kCus; }
};

/// The dispatch with its counts, for counter_samples.h.
test::CountedDispatch counted_dispatch(const KernelPhysics& kernel);

using Figures = std::map<FeatureId, double>;

/// What must be found, by the source that it is from; `gap`: ns of an idle GPU before each.
Figures dispatch_figures(const KernelPhysics& kernel, double gap = kGap);
Figures counter_figures(const KernelPhysics& kernel);
Figures thread_trace_figures(const KernelPhysics& kernel);

/// A capture of the dispatch. Source lines: "<name>.hip:N" of the body's N-th instruction.
test::UiOutput traced(const KernelPhysics& kernel, std::int64_t dispatch_id);

/// The kernels of the issue. Their figures are worked out where they are made.
KernelPhysics pointer_chase();     ///< 20 waves on each CU, every load needs the one before
KernelPhysics lonely_chase();      ///< the same with one wave on each CU
KernelPhysics stream_copy();       ///< 84 % of the memory bandwidth
KernelPhysics fma_loop();          ///< 85 % of the FP32 peak
KernelPhysics matrix_loop();       ///< 80 % of the BF16 matrix peak, from a quarter of the slots
KernelPhysics divergent_branch();  ///< 16 lanes of 64 at work, vector ALU 78 % busy
KernelPhysics huge_workgroup();    ///< one work-group of 1024 work-items for 10 ms
KernelPhysics unknown_kernel();    ///< full grid, one dispatch, nothing counted
KernelPhysics tiny_kernel();       ///< 2 us

/// Bytes to and from memory set so that it works at that share of its bandwidth; L2 likewise.
void set_bandwidth(KernelPhysics& kernel, double share);

/// Files of a program: the timing run, and one database per set of counters.
struct ProgramFiles {
  std::vector<std::filesystem::path> timing, passes;
  std::map<std::string, std::int64_t> first_dispatch;  ///< id in the timing run, by kernel
};

/// Writes a program that runs the kernels one after the other, after a helper of the runtime.
/// `uncounted`: kernels that the counter passes leave out.
ProgramFiles write_program(const std::filesystem::path& folder,
                           const std::vector<KernelPhysics>& kernels,
                           const std::vector<std::vector<std::string>>& sets,
                           std::string_view uncounted = {}, std::uint64_t shuffle = 0);

/// `launches` of the tiny kernel, each with its calls of the host: hipLaunchKernel for 3 us, 3 us
/// more to the start, hipStreamSynchronize to 1 us after the end; `idle` ns from end to start.
ProgramFiles write_tiny_launches(const std::filesystem::path& folder, const KernelPhysics& kernel,
                                 int launches, std::int64_t idle,
                                 const std::vector<std::vector<std::string>>& sets);

}  // namespace perflab::analyze
