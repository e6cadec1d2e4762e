// PC samples: where waves were when the GPU or its driver looked, as columns for many millions of
// samples. One value holds samples of one method and one form of file, of any number of runs.
// Facts: docs/facts/pc_sampling.md. A sample says how often, never how long: shares are of samples.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"

namespace perflab::pc_sampling {

/// Row of a table of PcSamples.
using Index = std::uint32_t;
inline constexpr Index kNone = UINT32_MAX;

/// How samples were taken; never mixed in one PcSamples.
enum class Method : std::uint8_t {
  stochastic,  ///< by the GPU, every so many cycles of a busy CU: issued or not, why, arbiter
  host_trap,   ///< by a thread of the driver, per tick one wave slot of every CU: where, only
  cupti,       ///< NVIDIA: counts per address and stall reason, summed by CUPTI
};

/// What the samples were read from; never mixed in one PcSamples.
enum class Form : std::uint8_t {
  rocprofv3_json,
  rocprofv3_csv,  ///< no offset, code object, GPU, place, workgroup or arbiter
  cuda_recording,
};

/// What the sampled wave would issue (rocprofiler_pc_sampling_instruction_type_t, same numbers).
/// Meaningful of issued samples; gfx950 also gives it of ready ones that lost the arbiter.
enum class InstructionType : std::uint8_t {
  none,
  valu,
  matrix,
  scalar,  ///< scalar loads too
  tex,     ///< buffer_ and image_
  lds,
  lds_direct,
  flat,  ///< flat_, global_, scratch_
  exporting,
  message,
  barrier,
  branch_not_taken,
  branch_taken,
  jump,
  other,
  no_inst,
  dual_valu,
  unknown,  ///< a name that is not known here: see Counts::unknown_names
};

/// What a stalled wave waited for. The first ten have the numbers of
/// rocprofiler_pc_sampling_instruction_not_issued_reason_t; those after `unknown` are NVIDIA's
/// alone. NVIDIA's not_selected, barrier, no_instructions, sleeping and misc are arbiter_not_win,
/// barrier_wait, no_instruction, sleep_wait and other_wait.
enum class StallKind : std::uint8_t {
  none,
  no_instruction,        ///< the instruction buffer is empty: after branches, or a cache miss
  alu_dependency,        ///< a result that is not there yet
  waitcnt,               ///< s_waitcnt and its kind
  internal_instruction,  ///< s_nop, s_sleep: handled by the front end
  barrier_wait,
  arbiter_not_win,       ///< ready, but another wave was taken
  arbiter_win_ex_stall,  ///< taken, but the pipe refused
  other_wait,
  sleep_wait,
  unknown,           ///< a name that is not known here: see Counts::unknown_names
  selected,          ///< no stall: the warp issued
  long_scoreboard,   ///< global, local, surface, texture memory
  short_scoreboard,  ///< shared memory and others behind the MIO queue
  fixed_latency,     ///< NVIDIA's "wait"
  branch_resolving,
  constant_miss,  ///< NVIDIA's "imc_miss"
  dispatch_stall,
  drain,           ///< stores, at the end of a warp
  memory_barrier,  ///< NVIDIA's "membar"
  lg_throttle,     ///< the queue of local and global memory is full
  mio_throttle,
  tex_throttle,
  math_pipe_throttle,
  warpgroup_wait,  ///< NVIDIA's "gmma" and "warpgroup_arrive"
};

/// A stall reason as the samples name it.
struct StallReason {
  std::string
      name;  ///< of the tool, without the prefix that all have: "WAITCNT", "long_scoreboard"
  StallKind kind = StallKind::unknown;
  /// NVIDIA's "_not_issued": samples of cycles in which the warp's scheduler issued nothing.
  bool scheduler_idle = false;
};

/// Pipes of the arbiter: bit numbers of PcSamples::arbiter_issue and arbiter_stall. A generation
/// has not all of them: a bit that it lacks is always 0, and says nothing.
enum class Pipe : std::uint8_t {
  valu,
  matrix,
  lds,
  lds_direct,
  scalar,
  vmem_tex,
  flat,
  exporting,
  misc,
  brmsg,
};

/// Bits of PcSamples::flags.
enum Flag : std::uint8_t {
  kIssued = 1,        ///< the wave issued in that cycle: the stall reason means nothing
  kDualIssue = 2,     ///< of VALU, two at once
  kLockError = 4,     ///< lck_err: reading the sample before took too long, a wave was locked out
  kMemoryCounts = 8,  ///< memory_counters has a row for it
};

/// Where the wave was. A CU is (agent, xcc, shader_engine, shader_array, cu): numbers are physical,
/// with holes where CUs are harvested.
struct HardwareId {
  std::uint8_t xcc = 0;
  std::uint8_t shader_engine = 0, shader_array = 0;
  std::uint8_t cu = 0;  ///< of the shader array; on gfx10 and later the WGP
  std::uint8_t simd = 0;
  std::uint8_t wave_slot = 0;       ///< of the SIMD
  std::uint8_t workgroup_slot = 0;  ///< of the CU: no number of the grid
  std::uint8_t microengine = 0, pipe = 0, queue = 0, vm = 0;
  friend auto operator<=>(const HardwareId&, const HardwareId&) = default;
};

/// In the grid. y and z mean nothing of one-dimensional grids on gfx12.
struct Workgroup {
  std::uint32_t x = 0, y = 0, z = 0;
  friend auto operator<=>(const Workgroup&, const Workgroup&) = default;
};

/// Operations of the wave that were outstanding (gfx12 and later). 255: that, or more.
struct MemoryCounters {
  std::uint8_t load = 0, store = 0, bvh = 0, sample = 0, ds = 0, km = 0, async = 0, tensor = 0,
               xnack = 0;
  friend auto operator<=>(const MemoryCounters&, const MemoryCounters&) = default;
};

/// One run of one process: a file, or an element of its outermost array.
struct Source {
  std::string file;
  std::size_t element = 0;      ///< of "rocprofiler-sdk-tool", from 0
  std::int64_t pid = 0;         ///< 0: not stated
  std::uint64_t samples = 0;    ///< that are in the columns
  bool has_dispatches = false;  ///< recorded with --kernel-trace, or its table lies beside
  std::string problem{};        ///< why CUPTI could not sample all; empty: nothing is known of it
  bool states_lock_errors = false;  ///< samples have lck_err (since SDK 1.3)
};

struct Agent {
  Index source = 0;
  std::uint64_t handle = 0;  ///< HSA agent handle; CUDA: the device's number; CSV: the node's
  std::string arch;          ///< "gfx942"; CUDA: "sm_90"; empty: not stated
  std::string product;       ///< "AMD Instinct MI300X"
  // 0: not stated
  std::uint32_t wave_size = 0;  ///< lanes
  std::uint32_t xccs = 0, cus = 0, shader_engines = 0;
  std::uint32_t simds_per_cu = 0, waves_per_simd = 0;
  std::uint32_t max_clock_mhz = 0;  ///< of the shader clock
};

struct CodeObject {
  Index source = 0;
  std::uint64_t id = 0;  ///< rocprofv3's; CUDA: CRC of the cubin
  Index agent = kNone;
  std::string uri;                             ///< "file://…#offset=…&size=…"; empty: not stated
  std::uint64_t load_base = 0, load_size = 0;  ///< bytes; offsets of PCs are relative to load_base
};

/// A kernel; CUDA: a function of a cubin.
struct Kernel {
  Index source = 0;
  std::uint64_t id = 0;                           ///< rocprofv3's kernel id; 0: not stated
  Index code_object = kNone;                      ///< kNone: not stated (CSV)
  std::string mangled_name;                       ///< without ".kd"; empty: not stated (CSV)
  std::string name;                               ///< demangled
  std::optional<std::uint64_t> begin;             ///< first byte of the code, relative to load_base
  std::uint32_t vgprs = 0, agprs = 0, sgprs = 0;  ///< 0: not stated
};

struct Dispatch {
  Index source = 0;
  std::uint64_t id = 0;  ///< from 1 on within a source
  Index kernel = kNone;  ///< kNone: not recorded
  Index agent = kNone;
  std::optional<std::uint64_t> start, end;  ///< ns, clock of the samples; absent: not recorded
  Workgroup grid;                           ///< work-items, as rocprofv3 states it; 0: not recorded
  Workgroup workgroup;                      ///< work-items
};

/// A distinct place in the code that samples have.
struct Pc {
  Index source = 0;
  Index code_object = kNone;  ///< kNone: none, or not stated (CSV)
  /// Bytes from the code object's load_base; CUDA: from the function's begin; without code object
  /// the absolute address; absent: not stated (CSV).
  std::optional<std::uint64_t> offset;
  /// Of the code: the last kernel of the code object that begins at or before it, CUDA: the
  /// function. The kernel that ran is the dispatch's.
  Index kernel = kNone;
  bool decoded = false;  ///< false: which instruction it is is not known; text is empty then
  /// "s_waitcnt vmcnt(0)"; CUDA: "+0x20", the offset, as recordings have no code.
  std::string instruction;
  std::string source_line;  ///< "file:line -> file:line", innermost first; empty: not stated
};

/// What was odd in the files. Samples are kept unless it says dropped.
struct Counts {
  std::uint64_t dropped = 0;    ///< rows without what every sample must have, or of wrong types
  std::uint64_t undecoded = 0;  ///< inst_index -1, or the CSV says so
  std::uint64_t index_out_of_range =
      0;                             ///< inst_index beyond the table: not decoded, not among those
  std::uint64_t no_code_object = 0;  ///< code object 0: blit kernels, trap code; not decoded
  std::uint64_t code_object_unknown = 0;  ///< an id that the file does not list
  std::uint64_t dispatch_unknown = 0;     ///< dispatch 0
  std::uint64_t dispatch_unrecorded = 0;  ///< the id is in no kernel dispatch (none recorded: all)
  std::uint64_t kernel_disagrees = 0;     ///< the code lies in another kernel than was dispatched
  std::uint64_t unknown_type = 0, unknown_reason = 0;  ///< names that are not known here
  std::uint64_t value_out_of_range = 0;  ///< a field beyond what its type holds: saturated
  std::uint64_t malformed_rows = 0;      ///< of other tables: left out
  /// Losses that CUPTI states: samples of the hardware's buffer that were dropped, and samples of
  /// code that is not the user's. 0 where nothing is stated.
  std::uint64_t lost = 0, not_user = 0;
  std::map<std::string, std::uint64_t, std::less<>>
      unknown_names;  ///< of types and reasons, as written
};

enum class IntervalUnit : std::uint8_t { cycles, microseconds };

/// Distance of two samples of a CU. Files do not state it (docs/facts/pc_sampling.md 2).
struct Interval {
  std::uint64_t value = 0;
  IntervalUnit unit = IntervalUnit::cycles;
};

/// Samples in the order of their files, which is not that of time. A column is empty where the
/// method or form has none of it, otherwise it has size() rows.
struct PcSamples {
  Method method = Method::stochastic;
  Form form = Form::rocprofv3_json;
  std::optional<Interval> interval;  ///< absent: not stated

  std::vector<Index> source, pc;
  std::vector<Index> dispatch;              ///< kNone: unknown
  std::vector<std::uint64_t> timestamp;     ///< ns, when the trap began; no CUDA
  std::vector<std::uint64_t> exec_mask;     ///< lanes; taken after the PC; no CUDA
  std::vector<HardwareId> hardware;         ///< JSON only
  std::vector<Workgroup> workgroup;         ///< JSON only
  std::vector<std::uint8_t> wave_in_group;  ///< JSON only
  std::vector<std::uint8_t> flags;          ///< Flag bits; no host trap
  std::vector<InstructionType> type;        ///< stochastic only
  std::vector<std::uint8_t> reason;      ///< row of `reasons`, valid unless kIssued; no host trap
  std::vector<std::uint8_t> wave_count;  ///< waves on the CU (gfx12: SIMD), 1 to 32; stochastic
  std::vector<std::uint16_t> arbiter_issue;     ///< bit per Pipe; stochastic JSON only
  std::vector<std::uint16_t> arbiter_stall;     ///< bit per Pipe; stochastic JSON only
  std::vector<MemoryCounters> memory_counters;  ///< where any sample has kMemoryCounts
  std::vector<std::uint64_t> weight;            ///< samples that a row stands for; empty: one each

  std::vector<Source> sources;
  std::vector<Agent> agents;
  std::vector<CodeObject> code_objects;
  std::vector<Kernel> kernels;
  std::vector<Dispatch> dispatches;  ///< recorded, or only named by samples
  std::vector<Pc> pcs;
  std::vector<StallReason> reasons;  ///< of AMD: a row per StallKind up to `unknown`, by number
  Counts counts;

  [[nodiscard]] std::size_t size() const { return pc.size(); }
  [[nodiscard]] bool issued(std::size_t row) const {
    return !flags.empty() && (flags[row] & kIssued) != 0;
  }
  [[nodiscard]] std::uint64_t weight_of(std::size_t row) const {
    return weight.empty() ? 1 : weight[row];
  }
  /// What the wave waited for; nothing: it issued, or the method does not say.
  [[nodiscard]] std::optional<StallKind> stall(std::size_t row) const {
    if (reason.empty() || issued(row)) return std::nullopt;
    return reasons[reason[row]].kind;
  }
  /// The kernel that ran: the dispatch's, without one that of the code. kNone: neither is known.
  [[nodiscard]] Index kernel_of(std::size_t row) const {
    const Index ran =
        dispatch.empty() || dispatch[row] == kNone ? kNone : dispatches[dispatch[row]].kernel;
    return ran != kNone ? ran : pcs[pc[row]].kernel;
  }
  /// The GPU: the dispatch's, without one that of the code object. kNone: neither is known.
  [[nodiscard]] Index agent_of(std::size_t row) const {
    const Index ran =
        dispatch.empty() || dispatch[row] == kNone ? kNone : dispatches[dispatch[row]].agent;
    if (ran != kNone) return ran;
    const Index object = pcs[pc[row]].code_object;
    return object != kNone ? code_objects[object].agent : kNone;
  }
};

std::string_view to_string(Method method);
std::string_view to_string(InstructionType type);
std::string_view to_string(StallKind kind);
std::string_view to_string(Pipe pipe);

/// From the names of the files: "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_VALU" and
/// "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_WAITCNT". `unknown`: no such name.
InstructionType instruction_type_of(std::string_view name);
StallKind stall_kind_of(std::string_view name);

/// CUPTI's "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued" and the like.
StallReason cuda_reason(std::string_view name);

/// The table of AMD's reasons: row i is StallKind i, up to `unknown`.
std::vector<StallReason> amd_reasons();

}  // namespace perflab::pc_sampling
