// What a thread trace says about a kernel: where the cycles of its waves went, by state, class,
// instruction and source line; which loads the waits were for; occupancy over time; and how much of
// the dispatch was seen. Formulas: docs/facts/thread_trace.md "Sums". Cycles are those of the
// traced waves only: shares of them mean something, sums of them are neither a kernel's total nor
// its runtime.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "att/thread_trace.h"
#include "base/missing.h"
#include "code/instructions/instruction_mix.h"

namespace perflab::analyze {

/// Cycles of a line, a class or a kernel over its traced waves.
struct CycleSums {
  std::int64_t hits = 0;
  std::int64_t latency = 0;  ///< `stall` is part of it
  std::int64_t stall = 0;
  std::int64_t idle = 0;

  /// Cycles of a wave that these instructions stand for: sums up to the waves' lifetimes.
  [[nodiscard]] std::int64_t cost() const { return latency + idle; }
  [[nodiscard]] std::int64_t issue() const { return latency - stall; }
};

/// The whole time of the traced waves in five parts that add up to latency + idle
/// (docs/facts/thread_trace.md "States and buckets"). Waits (s_waitcnt, s_wait_*, barriers, s_nop)
/// stand apart: on CDNA they are recorded as stall, on RDNA as issue. `wait + barrier` is the time
/// in the wave state `wait`. On RDNA instructions overlap: there the parts add up to a little more
/// than the waves' lifetimes.
struct WaveTime {
  std::int64_t issue = 0;        ///< instructions being issued (RDNA: executed), waits apart
  std::int64_t wait = 0;         ///< latency of waits on memory counters and dependencies
  std::int64_t barrier = 0;      ///< latency of barriers
  std::int64_t issue_stall = 0;  ///< wanted to issue, denied (unit busy, queue full)
  std::int64_t idle = 0;         ///< start-up, instruction fetch, branches, other waves' turn

  [[nodiscard]] std::int64_t total() const { return issue + wait + barrier + issue_stall + idle; }
};

/// One class of instructions. `wait_caused`: cycles that waits spent on this class's results
/// (attributed), in no other figure of this row.
struct ClassCycles {
  code::InstructionClass instruction_class = code::InstructionClass::other;
  CycleSums sums;
  std::int64_t wait_caused = 0;
};

/// One instruction of the code.
struct InstructionCycles {
  att::RowIndex row = att::kNoRow;  ///< of ThreadTrace::code
  std::string text;
  std::int64_t code_object = 0;
  std::uint64_t vaddr = 0;
  std::vector<std::string> chain;  ///< "file:line", innermost first; empty without -g
  code::InstructionClass instruction_class = code::InstructionClass::other;
  CycleSums sums;
  std::int64_t wait_caused = 0;  ///< cycles that waits spent on this instruction's result
};

/// One source line with everything that was inlined into it or stands on it: by the innermost frame
/// (`line`), and the chain of the most expensive instruction of it.
struct SourceCycles {
  std::string line;                ///< "file:line"; empty: instructions without one
  std::vector<std::string> chain;  ///< innermost first
  CycleSums sums;
  std::int64_t wait_caused = 0;
};

/// A wait and the instruction it waited for.
struct WaitPair {
  att::RowIndex wait = att::kNoRow, cause = att::kNoRow;
  std::string wait_text, cause_text;  ///< of those rows
  std::int64_t cycles = 0;  ///< of the wait's latency, spread evenly over what it waited for
  std::uint64_t times = 0;  ///< how often the wait was for this: twice for two loads of one line
};

/// Where the links from waits to causes came from.
enum class WaitLinks : std::uint8_t {
  trace,  ///< the decoder's
  rule,   ///< the ISA's counter rule, over the instructions of each wave
  none,   ///< no waves, or no waits
};
std::string_view to_string(WaitLinks links);

/// Waves per CU over time, from starts and ends on all CUs of the traced shader engines.
struct OccupancyOverTime {
  std::int64_t span = 0;     ///< cycles, first start to last end; the longest shader engine's
  double average = 0;        ///< waves per CU that had any wave, over the span
  std::int64_t peak = 0;     ///< waves on one CU at once
  std::uint64_t cus = 0;     ///< with at least one wave
  std::vector<double> bins;  ///< kOccupancyBins: waves per such CU, on average
  double tail_share = 0;  ///< of the span: from the last time that at least half of the peak (over
                          ///< all traced engines) were resident to the end
  double ramp_share = 0;  ///< of the span: until half of the peak were resident for the first time
  double mean_lifetime = 0, longest_lifetime = 0;  ///< cycles of a wave, those with start and end
};
inline constexpr std::size_t kOccupancyBins = 50;

/// What was seen of the dispatch.
struct TraceCoverage {
  std::vector<int> engines;              ///< traced shader engines that ran it; losses are theirs
  std::vector<std::pair<int, int>> cus;  ///< (engine, CU) with instruction detail
  std::uint64_t waves = 0;               ///< with instruction detail
  std::uint64_t waves_started = 0;       ///< on the traced engines
  std::optional<std::uint64_t> waves_of_dispatch;  ///< by its launch geometry; nullopt: not joined
  std::uint64_t packets_lost = 0, trace_stalls = 0;
  std::uint64_t unattributed = 0;    ///< executed instructions whose address the disassembly lacks
  std::uint64_t rows_differing = 0;  ///< code rows whose sums differ from those over the waves
  std::uint64_t waits = 0;           ///< executions of waits on memory counters
  std::uint64_t waits_by_rule = 0;  ///< of those: caused by what the ISA's rule says, not the trace
  att::Dropped dropped;
};

struct TraceDetail;  // detail.h

enum class Confidence : std::uint8_t { low, medium, high };
std::string_view to_string(Confidence confidence);

/// One kernel in one traced dispatch.
struct KernelThreadTrace {
  std::size_t trace = 0;  ///< index into ThreadTraces::traces
  std::string kernel;  ///< name as in Analysis::kernels when joined, else demangled, else mangled
  std::string mangled_name;
  std::optional<std::size_t> analysis_kernel;  ///< index into Analysis::kernels
  std::optional<std::int64_t> dispatch_id;
  std::optional<int> gfxip;
  std::string version;      ///< layout
  bool from_stats = false;  ///< per-line sums only

  CycleSums sums;                ///< over all its lines
  std::int64_t wave_cycles = 0;  ///< sum of the traced waves' lifetimes; 0 from stats
  WaveTime time;
  std::array<std::int64_t, att::kWaveStates> states{};  ///< cycles by state, sum over timelines
  std::vector<ClassCycles> classes;                     ///< most cost first
  std::map<code::InstructionClass, std::int64_t> wait_by_class;  ///< waits by class of their cause
  std::int64_t wait_unattributed =
      0;  ///< waits whose cause is not known, or had nothing to wait for
  /// Waits on no memory counter: s_nop, s_sleep, s_wait_alu and the like. wait_by_class,
  /// wait_unattributed and wait_other add up to time.wait (without links, from stats: the latter
  /// two).
  std::int64_t wait_other = 0;
  WaitLinks links = WaitLinks::none;
  std::optional<double> instructions_per_wave;
  std::optional<double> wave_ipc;        ///< instructions per cycle of a wave's life
  std::optional<double> simd_ipc;        ///< instructions per cycle of a SIMD with traced waves
  std::optional<double> core_clock_mhz;  ///< from realtime records
  std::vector<InstructionCycles> hot;    ///< most cost first, at most kMostHotRows
  std::vector<SourceCycles> lines;       ///< likewise; empty without source lines
  std::vector<WaitPair> waits;           ///< most cycles first, at most kMostHotRows
  std::vector<InstructionCycles>
      causes;  ///< instructions that waits were for, most wait_caused first
  std::optional<OccupancyOverTime> occupancy;
  TraceCoverage coverage;
  Confidence confidence = Confidence::low;
  std::vector<std::string> confidence_reasons;  ///< what keeps it from being high
  std::vector<Missing> missing;                 ///< fields relative to this
  std::shared_ptr<const TraceDetail> detail;    ///< by instruction; null: not asked for
};
inline constexpr std::size_t kMostHotRows = 20;

/// All traced dispatches that were read.
struct ThreadTraces {
  std::vector<std::string> traces;         ///< names of the folders or stats files
  std::vector<KernelThreadTrace> kernels;  ///< by trace, then most cost first
  std::vector<std::string> warnings;
};

}  // namespace perflab::analyze
