// The roofline of each kernel: how much work it did and how many bytes it moved, against what the
// GPU could do at most; and the figures that counters give besides (occupancy, divergence, waits,
// latencies, hit rates). Formulas: hal/counter_catalogue.h; how passes are joined: counter_join.h;
// model: docs/models/roofline.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/counters/counter_state.h"
#include "analyze/scope/passes.h"
#include "base/missing.h"
#include "hal/arch.h"

namespace perflab::analyze {

/// What a figure lacks, as far as others lack it as well.
enum class Lack : std::uint8_t {
  other,       ///< `reason` says it
  recording,   ///< its counters were not recorded
  confidence,  ///< a counter is suspicious: `doubt` says why
};

/// A figure computed from counters, or why there is none.
struct Figure {
  std::string name;             ///< of the formula: "fabric.read_bytes"
  std::string label;            ///< for people: "bytes read beyond L2"
  std::optional<double> value;  ///< set for `measured` and `zero` only
  CounterState state = CounterState::missing;
  std::string unit;
  std::string formula;           ///< as the tables have it; empty: the architecture has none
  std::vector<int> passes;       ///< that its counters are from, ascending
  std::uint64_t dispatches = 0;  ///< on which it was measured
  /// Of a figure that depends on time and whose counters no single pass has: what they give when
  /// passes are put together. For people only; nothing is computed from it.
  std::optional<double> across_passes;
  std::string note;    ///< from the tables: how to read it
  std::string reason;  ///< why there is no value
  std::string remedy;
  Lack lack = Lack::other;
  std::string doubt;  ///< without the name of the counter, which differs from figure to figure
};

/// One ceiling.
struct Ceiling {
  std::optional<double> value;  ///< in `unit`
  std::string unit;             ///< "GFLOP/s" or "GB/s", with 1e9
  std::string from;             ///< "tables", "device" (its recorded attributes) or "measured"
  std::string formula;          ///< "5300 GB/s of AMD Instinct MI300X"; empty without a value
  std::vector<std::string> unconfirmed;  ///< inputs that no source stands behind
  std::string reason;                    ///< why there is no value
};

/// Floating-point work of one pipe at one precision, over all dispatches of the kernel.
struct Work {
  hal::Pipe pipe =
      hal::Pipe::vector;  ///< vector or matrix: packed instructions count as vector ones
  hal::Precision precision = hal::Precision::fp32;
  Figure flops;                          ///< raw convention: every lane of every instruction works
  std::optional<double> lane_corrected;  ///< times the share of lanes that worked; matrix: as it is
  Ceiling ceiling;                       ///< of this pipe and precision
};

/// Traffic of one level over all dispatches, and its ceiling.
struct LevelTraffic {
  std::string name;                 ///< "hbm", "l2", "lds"
  std::string label;                ///< "HBM and fabric (bytes that left L2)"
  Figure read_bytes, write_bytes;   ///< LDS: all bytes stand in read_bytes, write_bytes is not used
  bool split = true;                ///< reads and writes are told apart
  std::optional<double> bytes;      ///< read and written
  std::optional<double> intensity;  ///< FLOP per byte
  std::optional<double> gb_per_s;   ///< achieved
  Ceiling ceiling;                  ///< bandwidth
  std::optional<double> share;      ///< of the ceiling; can be above 1: see explanations
  std::optional<double> ridge;      ///< FLOP/byte at which the compute roof of this kernel begins
  std::optional<double> ridge_ratio;  ///< intensity / ridge: below 1 memory-bound at this level
};

/// What limits the kernel at most.
struct Binding {
  /// "hbm", "l2", "lds", "compute" (floating-point and matrix work) or "integer" (vector integer
  /// instructions, one operation per lane and clock): the one that takes the longest.
  std::string roof;
  std::string bound;                        ///< "memory" or "compute"
  std::optional<double> attainable_gflops;  ///< under that roof, at this kernel's intensities
  std::optional<double> share;  ///< of the time that the roof alone would explain; 1: at the roof
};

/// One dispatch with the figures that its own counters give.
struct DispatchFigures {
  std::uint64_t ordinal = 0;  ///< from 1, among the kernel's dispatches of this geometry and GPU
  std::uint64_t gpu = 0;      ///< which of the GPUs that ran the kernel, from 0
  std::array<std::uint32_t, 3> grid{}, workgroup{};  ///< work-items
  std::optional<double> duration_ns;                 ///< nullopt: the recording has lost it
  std::optional<double> flops;                       ///< raw convention
  std::optional<double> hbm_read_bytes, hbm_write_bytes;
  std::optional<double> waves_in_flight;  ///< on average; its counters are of one pass
  /// Where they are not: what passes put together give; for people only.
  std::optional<double> waves_across_passes;
};

/// One counter of a kernel, with where it was counted.
struct CounterValue {
  std::string name;
  CounterState state = CounterState::measured;
  std::optional<int> pass;  ///< that the value is of; nullopt: it is in no pass
  bool derived = false;
  std::uint64_t dispatches = 0;          ///< that have it in this pass
  std::optional<double> mean, min, max;  ///< per dispatch, summed over the hardware's instances
  std::uint64_t instances = 0;           ///< hardware instances per dispatch at most
  std::optional<double> instance_min, instance_max;  ///< spread over instances
  std::string reason;  ///< for states without a value, and for suspicious
};

/// FLOPs by the published estimator, where the counters per type are missing.
struct Estimate {
  double flops = 0;
  std::string formula, known_error;
  std::vector<int> passes;
};

/// One kernel on one architecture.
struct KernelRoofline {
  std::string kernel;
  bool runtime_helper = false;
  std::string architecture, product;  ///< product: empty when not known
  std::uint64_t dispatches = 0;       ///< that the totals are of
  std::optional<double> time_ns;      ///< of those dispatches
  std::string time_from;              ///< "trace" or "counter passes"; empty without time
  std::vector<Work> work;             ///< those with a formula on this architecture
  std::optional<double> flops_raw, flops_lane_corrected;  ///< sums of `work`
  std::optional<Estimate> estimate;
  std::string flops_are;         ///< what the figures below are made of: "lane-corrected", "raw",
                                 ///< "estimate", or empty
  std::optional<double> gflops;  ///< achieved
  std::optional<double> gflops_raw;
  Ceiling compute_roof;  ///< of this kernel's mix of pipes and precisions
  std::optional<double>
      overlapped_roof;  ///< GFLOP/s if vector and matrix pipes never waited for each other
  std::optional<double> compute_share;  ///< gflops / compute_roof
  std::optional<bool>
      packed_code;  ///< the code object has packed floating-point instructions; nullopt: not known
  std::vector<LevelTraffic> levels;  ///< hbm, l2, lds
  std::optional<Binding> binding;
  std::vector<Figure> features;        ///< everything else that the tables have
  std::vector<CounterValue> counters;  ///< by name
  std::vector<DispatchFigures> per_dispatch;
  std::uint64_t dispatches_left_out = 0;  ///< of per_dispatch, which holds kMostDispatchFigures
  std::vector<std::string>
      explanations;              ///< for every share above 1, and what a person should know
  std::vector<Missing> missing;  ///< fields relative to this kernel
  std::vector<std::string> assumptions;
};

/// Rows of per_dispatch that a kernel has at most.
inline constexpr std::size_t kMostDispatchFigures = 64;

struct Roofline {
  std::vector<PassInfo> passes;
  std::vector<KernelRoofline> kernels;  ///< most time first, those without time by name
  std::vector<std::string> warnings;
};

}  // namespace perflab::analyze
