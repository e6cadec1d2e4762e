// What PC samples say about a kernel: where its waves were, why they did not issue, what the waits
// were for, and how sure that is. Formulas: docs/models/pc_sampling.md. All shares are of samples:
// they say how often, never how long. Samples of one tick are not independent, so intervals are
// those of whole ticks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/thread_trace/cycle_figures.h"
#include "base/missing.h"
#include "code/instructions/instruction_mix.h"
#include "pc_sampling/model.h"
#include "stats/shares.h"

namespace perflab::analyze {

/// A figure with its 95 % interval.
struct PcEstimate {
  std::optional<double> value;              ///< nullopt: nothing it could be made from
  std::optional<stats::Interval> interval;  ///< nullopt: KernelPcSamples::intervals says why

  /// The bound that has to hold before something is said: nullopt without an interval.
  [[nodiscard]] std::optional<double> low() const {
    return interval ? std::optional(interval->low) : std::nullopt;
  }
  [[nodiscard]] std::optional<double> high() const {
    return interval ? std::optional(interval->high) : std::nullopt;
  }
};

/// So many samples, as a share of others: of which, the field says.
struct PcShare {
  std::uint64_t samples = 0;
  PcEstimate share;
};

/// What a sampled wait was for.
enum class PcWait : std::uint8_t {
  vector_memory,  ///< loads and stores of vector memory: vmcnt, vscnt, loadcnt, storecnt, ...
  lds,            ///< dscnt; lgkmcnt with nothing but LDS instructions before it
  scalar,         ///< kmcnt; lgkmcnt with nothing but scalar loads and messages before it
  unknown,        ///< several counters at once, lgkmcnt after both kinds, no code, expcnt
};
inline constexpr std::size_t kPcWaits = 4;
std::string_view to_string(PcWait wait);

/// A stall reason.
struct PcReason {
  std::string name;  ///< of the tool: "WAITCNT", "long_scoreboard"
  pc_sampling::StallKind kind = pc_sampling::StallKind::unknown;
  std::uint64_t samples = 0;
  PcEstimate of_stalled;    ///< of the stalled samples
  PcEstimate of_all;        ///< of all samples of the kernel, issued ones too
  PcEstimate of_wave_time;  ///< of all, each sample weighted by the waves on its CU
};

/// Samples of an instruction, a line or a class.
struct PcCounts {
  std::uint64_t samples = 0, issued = 0, stalled = 0;
  PcEstimate share;            ///< of the kernel's samples
  PcEstimate wave_time_share;  ///< likewise, weighted by the waves on the CU
  /// Issued of its own samples; nullopt: fewer than kFewestForRatio samples, or host trap.
  PcEstimate issued_share;
  std::vector<std::pair<std::string, std::uint64_t>> reasons;  ///< of stalled ones, most first
  /// Whether it cannot be told from the entry before it in the list: the interval of the difference
  /// of their shares contains 0 (or there is none).
  bool tied_with_previous = false;
};
inline constexpr std::uint64_t kFewestForRatio = 30;

/// An instruction that waits were for, and how many samples of waits.
struct PcCause {
  std::size_t instruction = 0;  ///< index into KernelPcSamples::instructions
  std::uint64_t samples = 0;    ///< of waits whose oldest outstanding load it is
};

struct PcInstruction : PcCounts {
  std::optional<std::uint64_t> offset;     ///< bytes from the code object's base; nullopt: CSV
  std::optional<std::uint64_t> in_kernel;  ///< bytes from the kernel's begin
  std::string text;
  std::vector<std::string> chain;  ///< "file:line", innermost first; empty without -g
  code::InstructionClass instruction_class = code::InstructionClass::other;
  std::optional<PcWait> wait;  ///< of waits on memory counters
  /// Instructions that it waits for by program order, oldest first: the (N + 1)-th last that its
  /// counter counts; indices into KernelPcSamples::instructions. Empty: not known, not a wait.
  std::vector<std::size_t> waits_for;
};

struct PcLine : PcCounts {
  std::string line;  ///< "file:line"; empty: instructions without one
};

struct PcClass : PcCounts {
  code::InstructionClass instruction_class = code::InstructionClass::other;
};

/// A pipe of the arbiter of the sampled SIMDs, over all samples.
struct PcPipe {
  pc_sampling::Pipe pipe = pc_sampling::Pipe::valu;
  bool available = false;  ///< false: this architecture does not report it, its zeros mean nothing
  PcShare used, backpressured, idle;  ///< of the kernel's samples
};

/// Of the SIMD in the sampled cycles.
struct PcArbiter {
  std::vector<PcPipe> pipes;         ///< all of Pipe, in its order
  PcShare no_pipe_used;              ///< nothing was issued in that cycle: latency-bound
  PcShare nobody_asked;              ///< no wave wanted to: front end, or all wait
  PcEstimate issued_per_cycle;       ///< pipes used, dual issue as two
  std::uint64_t contradictions = 0;  ///< stalled without issue: such samples are corrupt
};

/// Shares that rules look at, all of the kernel's samples (issued and stalled ones). What the
/// method does not tell is nullopt, with an entry in KernelPcSamples::missing
/// ("features.memory_wait").
struct PcFeatures {
  PcEstimate issued;
  PcEstimate memory_wait;        ///< WAITCNT on vector memory; NVIDIA: long_scoreboard
  PcEstimate lds_wait;           ///< WAITCNT on the LDS
  PcEstimate scalar_wait;        ///< WAITCNT on scalar loads; NVIDIA: imc_miss
  PcEstimate wait_unknown;       ///< WAITCNT on what is not known; NVIDIA: short_scoreboard
  PcEstimate barrier;            ///< BARRIER_WAIT
  PcEstimate vmem_backpressure;  ///< EX_STALL of vector memory; NVIDIA: lg_throttle, tex_throttle
  PcEstimate lds_backpressure;   ///< EX_STALL of the LDS
  PcEstimate matrix_busy;        ///< EX_STALL of matrix instructions
  PcEstimate valu_busy;   ///< EX_STALL of other vector instructions; NVIDIA: math_pipe_throttle
  PcEstimate contention;  ///< ARBITER_NOT_WIN; NVIDIA: not_selected
  PcEstimate dependency;  ///< ALU_DEPENDENCY; NVIDIA: wait (fixed latency)
  PcEstimate instruction_fetch;  ///< NO_INSTRUCTION_AVAILABLE; NVIDIA: no_instructions
  PcEstimate lanes_active;       ///< mean share of the lanes that are on
  PcEstimate waves_per_busy_cu;  ///< waves on the CU (gfx12: SIMD), mean of samples
  PcEstimate simd_latency;  ///< no pipe of the SIMD was used; NVIDIA: its scheduler issued nothing
};

/// Waves on the CUs that gave samples: CUs without waves give none.
struct PcWaves {
  PcEstimate mean;
  double p10 = 0, median = 0, p90 = 0;
  std::uint32_t most = 0;
  bool per_simd = false;  ///< gfx12 counts those of the SIMD
};

/// Samples of one XCC. Not valid of host traps: XCC k asks wave slot k.
struct PcXcc {
  std::uint32_t xcc = 0;
  PcShare samples;        ///< of the kernel's samples
  std::uint64_t cus = 0;  ///< that gave any
  std::uint64_t ticks = 0;
};

/// How the intervals of a kernel were made.
enum class PcIntervals : std::uint8_t {
  ticks,        ///< the wider of the bootstrap over ticks and Wilson of the effective samples
  independent,  ///< Wilson's, as if all samples were independent: nothing tells ticks (CUPTI)
  none,         ///< fewer than ten ticks
};
std::string_view to_string(PcIntervals intervals);

/// How the distance of ticks is known.
enum class PcIntervalSource : std::uint8_t {
  given,      ///< by the user
  config,     ///< rocprof-compute's profiling_config.yaml beside the file
  recorded,   ///< in the file (CUPTI)
  estimated,  ///< from distances of samples of the same CU
  none,       ///< not known
};
std::string_view to_string(PcIntervalSource source);

/// The quality of a kernel's samples.
struct PcQuality {
  std::optional<double> expected;   ///< samples, by times of dispatches, CUs and the interval
  std::optional<double> delivered;  ///< share of them
  std::uint64_t undecoded = 0;      ///< of its dispatches, in no kernel's figures
  std::optional<std::uint64_t> dispatches, dispatches_sampled;  ///< of this kernel
  /// Dispatches after the last one with samples, where they are a tail that others had samples in.
  std::optional<std::uint64_t> dispatches_lost;
  std::uint64_t kernel_disagrees = 0;          ///< samples whose code lies in another kernel
  std::uint64_t reason_contradictions = 0;     ///< reasons that their instruction cannot have
  std::optional<std::uint64_t> lock_errors;    ///< nullopt: the tool does not say
  std::optional<double> sampled_ns, plain_ns;  ///< mean time of its dispatches, sampled and plain
};

/// One kernel on one GPU.
struct KernelPcSamples {
  std::size_t set = 0;  ///< index into PcSampling::sets
  std::string kernel;   ///< as in Analysis::kernels when joined, else demangled, else mangled
  std::string mangled_name;
  bool kernel_unknown = false;                 ///< neither dispatches nor code say which it is
  std::optional<std::size_t> analysis_kernel;  ///< index into Analysis::kernels
  std::string architecture;                    ///< "gfx942"; empty: not stated
  std::string agent;                           ///< product or handle; empty: not stated
  pc_sampling::Method method = pc_sampling::Method::stochastic;

  std::uint64_t samples = 0;
  PcShare issued, stalled;  ///< of the samples; host trap: without a share
  std::uint64_t ticks = 0;
  double samples_per_tick = 0;
  std::optional<double> design_effect;  ///< of the distribution over instructions
  PcIntervals intervals = PcIntervals::none;
  std::string intervals_reason;  ///< why they are so

  std::vector<PcReason> reasons;        ///< most samples first
  std::array<PcShare, kPcWaits> waits;  ///< of all samples; WAITCNT ones only
  std::vector<PcCause> causes;          ///< most samples first
  /// Samples that a pipe refused (EX_STALL), by class of instruction; shares of all samples.
  std::vector<std::pair<code::InstructionClass, PcShare>> refused_by_class;
  PcFeatures features;
  std::optional<PcArbiter> arbiter;
  std::optional<PcWaves> waves;
  std::vector<PcInstruction> instructions;  ///< by address; never-sampled ones where code is known
  std::vector<std::size_t> hot;             ///< indices of sampled ones, most samples first
  std::vector<PcLine> lines, call_sites;    ///< innermost and outermost; most samples first
  std::vector<PcClass> classes;             ///< most samples first
  std::vector<PcXcc> xccs;                  ///< by number; empty: not stated, host trap
  bool slots_alias = false;  ///< host trap: each XCC was asked at few wave slots of its own
  bool code_known = false;   ///< `instructions` has all of the kernel's code
  PcQuality quality;
  Confidence confidence = Confidence::low;
  std::vector<std::string> confidence_reasons;  ///< what keeps it from being higher
  /// Why nothing may be concluded from reasons and shares; empty: something may.
  std::vector<std::string> refusals;
  std::vector<Missing> missing;  ///< fields relative to this
};

/// A kernel whose samples are counted and no more.
struct PcOtherKernel {
  std::string name;  ///< as KernelPcSamples::kernel
  std::uint64_t samples = 0;
};

/// Samples of one method, as they were read.
struct PcSampleSet {
  std::vector<std::string> files;  ///< their names
  pc_sampling::Method method = pc_sampling::Method::stochastic;
  pc_sampling::Form form = pc_sampling::Form::rocprofv3_json;
  std::optional<pc_sampling::Interval> interval;
  PcIntervalSource interval_source = PcIntervalSource::none;
  std::optional<double> tick_ns;      ///< the interval in ns, by the clock of the GPU or estimated
  std::uint64_t samples = 0;          ///< all of them
  std::uint64_t in_kernels = 0;       ///< in the figures of PcSampling::kernels
  std::uint64_t other_kernels = 0;    ///< of kernels that were not asked for, or beyond
                                      ///< kMostPcKernels
  std::vector<PcOtherKernel> others;  ///< those, most samples first; kMostPcKernels at most
  std::uint64_t kernel_unknown = 0;   ///< decoded or not, of no known kernel
  pc_sampling::Counts counts;
  std::vector<PcReason> reasons;  ///< over all samples, unfiltered, decoded or not
};

/// All PC samples that were read.
struct PcSampling {
  std::vector<PcSampleSet> sets;
  std::vector<KernelPcSamples> kernels;  ///< by set, then most samples first
  std::vector<std::string> warnings;
};
inline constexpr std::size_t kMostPcKernels = 20;
inline constexpr std::uint64_t kFewestPcSamples = 100;
inline constexpr std::uint64_t kFewestTicks = 10;

}  // namespace perflab::analyze
