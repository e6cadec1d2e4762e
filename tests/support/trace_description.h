// A trace as a short JSON text: machine, kernels with their resources and durations, and a program
// of launches, copies and waits with repeats. examples/README.md says what every field means.
// read_description() checks it; write_described_trace() plays the program on a simulated host
// thread and its streams, and writes what rocprofv3 would have recorded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "support/rocpd_rows.h"

namespace perflab::test {

/// What one dispatch of a kernel does, from which its counters follow (described_counters.h).
struct DescribedCounts {
  /// Floating-point operations of the lanes that work, by kind of instruction: BF16 matrix, and
  /// FP32 vector ones (a fused multiply-add is two operations).
  std::int64_t matrix_bf16 = 0, fma = 0, add = 0, mul = 0, trans = 0;
  double lanes = 64;                       ///< at work per vector instruction, of 64
  std::int64_t read = 0, write = 0;        ///< bytes that leave L2
  std::int64_t l2_read = 0, l2_write = 0;  ///< bytes between L1 and L2
  std::int64_t lds = 0;                    ///< bytes read from and written to LDS
  double lds_conflicts = 0;                ///< cycles lost to bank conflicts per access cycle
  std::int64_t lane_bytes = 16;            ///< of a vector memory instruction
  std::int64_t lds_lane_bytes = 16;        ///< of an LDS instruction
  std::int64_t valu = 0, salu = 0;         ///< other instructions of a wave: addresses, loops
  std::int64_t smem = 0, branch = 0;

  /// All of them.
  [[nodiscard]] std::int64_t flop() const { return matrix_bf16 + fma + add + mul + trans; }
};

struct DescribedKernel {
  std::string symbol;
  std::string display;
  Id code_object = 1;
  std::string api = "hipLaunchKernel";
  Extent groups;
  Extent workgroup;
  std::int64_t lds = 0;
  std::int64_t scratch = 0;
  std::int64_t sgpr = 32;
  std::int64_t arch_vgpr = 32;
  std::int64_t accum_vgpr = 0;
  std::int64_t kernarg = 64;
  std::int64_t duration = 0;  ///< ns, before jitter
  Id id = 0;                  ///< position in the file, from 1
  std::optional<DescribedCounts> counts;
};

struct DescribedStream {
  std::string name;
  std::string queue;
  std::string handle;  ///< as argument values show it, e.g. "0x55b610969670"
  Id queue_id = 1;     ///< streams that name the same queue share it
};

struct DescribedCodeObject {
  std::string uri;
  std::int64_t bytes = 0;
};

struct CopyRate {
  double gb_per_s = 50;
  std::int64_t fixed = 0;  ///< ns
};

/// Times of the host thread, in ns, and how durations scatter.
struct DescribedTiming {
  std::int64_t call = 3'000;
  std::int64_t between_calls = 1'500;
  std::int64_t start = 4'500;
  std::int64_t kernel_gap = 900;
  std::int64_t wake = 6'000;
  std::int64_t jitter_permille = 0;
  std::int64_t tail_every = 0;  ///< one dispatch in so many is slower; 0: none
  std::int64_t tail_permille = 0;
};

/// How the application is run again for each counter pass.
struct DescribedCounting {
  double clock_mhz = 0;
  std::int64_t launch = 0;  ///< ns of launch and flush that GRBM_GUI_ACTIVE counts as well
  std::int64_t gap = 0;     ///< ns between kernels, which run one at a time
  std::int64_t slower_permille = 0;
  /// Mean cycles without load: beyond L2, to and from L2, LDS, scalar memory, instruction fetch.
  double read_cycles = 0, write_cycles = 0, l2_cycles = 0, lds_cycles = 0, smem_cycles = 0,
         fetch_cycles = 0;
};

/// One thing that the host thread does.
struct Step {
  enum class Kind { launch, repeat, range, copy, record, wait, synchronize, allocate, host };

  Kind kind = Kind::launch;
  std::string name;        ///< kernel, range text, copy direction, event, or allocating call
  std::int64_t value = 0;  ///< repeat count, bytes, or ns of host time
  std::size_t stream = 0;
  Id agent = 1;            ///< of allocations
  std::vector<Step> body;  ///< of repeat and range
};

struct TraceDescription {
  std::string synthetic;
  std::string guid;
  std::string creation_time;
  std::uint64_t seed = 1;
  std::int64_t clock_start = 0;  ///< ns
  Id pid = 4242;
  Id ppid = 4200;
  std::string command;
  std::vector<std::string> agents;  ///< presets: "host", "mi300x"
  Id gpu = 1;
  std::vector<DescribedStream> streams;
  std::vector<DescribedCodeObject> code_objects;
  std::vector<std::string> kernel_order;
  std::map<std::string, DescribedKernel> kernels;
  std::map<std::string, CopyRate> copies;  ///< by direction, "HOST_TO_DEVICE"
  DescribedTiming timing;
  std::optional<DescribedCounting> counting;
  std::vector<Step> program;
};

/// Reads a description. `what` names it in errors (bad_input).
Result<TraceDescription> read_description(std::string_view json_text, std::string_view what);

/// Plays the program and writes the database. Same description, same bytes.
Result<void> write_described_trace(const TraceDescription& description,
                                   const std::filesystem::path& path);

/// The bundled sample (examples/decode_step.json, compiled in), written to `path`.
Result<void> write_sample(const std::filesystem::path& path);

/// The JSON text of the bundled sample.
std::string_view sample_description();

}  // namespace perflab::test
