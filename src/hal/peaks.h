// Peaks of a GPU: what its pipes and memories can do at most, as figures of the tables (hal/arch.h)
// times compute units and clock. Formulas: docs/facts/hardware.md "Limits and rates". An agent's
// own compute units, clock and dies go before those of its product. Every peak carries what it was
// computed from, and whether each of those numbers has a source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hal/arch.h"

namespace perflab::hal {

/// One number that peaks are computed from.
struct PeakInput {
  std::optional<double> value;
  std::string origin;                ///< "recording", or the table's field: "gfx942 lds.banks"
  bool confirmed = true;             ///< false: the tables have no source for it
  std::vector<std::string> sources;  ///< keys for source_description(); none for a recorded number
  std::string missing;               ///< why there is no value
};

/// What an agent says of itself. Numbers below 1 count as missing.
struct AgentFigures {
  std::optional<std::int64_t> cus;
  std::optional<std::int64_t> clock_mhz;
  std::optional<std::int64_t> xcds;  ///< fewer than the product's: the agent is a partition of it
  /// 1e9 bytes per second, by the device's own attributes; used where the product is not known.
  std::optional<double> memory_gbps = std::nullopt;
};

/// What the peaks of one GPU are computed from, besides the figures per clock of its architecture.
struct PeakInputs {
  const Arch* arch = nullptr;  ///< of the tables; never null in what peak_inputs() returns
  const Product* product = nullptr;  ///< for the rates that are its own; null: not known
  PeakInput cus;
  PeakInput clock_mhz;
  PeakInput matrix_clock_mhz;  ///< of matrix rates but FP64: clock_mhz, but for some of NVIDIA's
  PeakInput memory_gbps;  ///< 1e9 bytes per second, of the whole package also for a partition
  PeakInput l2_channels;
  PeakInput mall_gbps;  ///< Infinity Cache, 1e9 bytes per second
};

/// The inputs of a product of the tables, with an agent's own figures in front where it has them.
/// Of a partition, L2 channels are those of its dies.
PeakInputs peak_inputs(const Product& product, const AgentFigures& agent = {});

/// The inputs of a GPU whose product is not known: only what the agent says.
PeakInputs peak_inputs(const Arch& arch, const AgentFigures& agent = {});

/// One peak, or why there is none.
struct Peak {
  std::optional<double> value;  ///< in `unit`
  std::string unit;             ///< "GFLOP/s", "GOP/s" (integers) or "GB/s", all with 1e9
  std::string formula;          ///< "256 FLOP/clk/CU x 304 CUs x 2100 MHz"; empty without a value
  std::vector<std::string> origins;      ///< of its inputs, in the order of the formula
  std::vector<std::string> sources;      ///< keys of all its inputs
  std::vector<std::string> unconfirmed;  ///< origins of the inputs that have no source
  std::string missing;                   ///< why there is no value; empty with a value

  /// Whether every input has a source. A peak without a value is not confirmed.
  [[nodiscard]] bool confirmed() const { return value.has_value() && unconfirmed.empty(); }
};

/// A peak of one pipe at one precision, dense; a fused multiply-add is two operations.
struct ComputePeak {
  Pipe pipe = Pipe::vector;
  Precision precision = Precision::fp32;
  Peak peak;
};

/// All peaks of a GPU.
struct Peaks {
  std::string gfx;
  std::vector<ComputePeak> compute;  ///< those that the architecture has, by pipe and precision
  Peak memory;                       ///< HBM, GDDR or LPDDR
  Peak l2;
  Peak infinity_cache;
  Peak lds;
  Peak l1;  ///< vector L1 (L0 on RDNA)

  /// The peak of a pipe; a peak with a reason instead of a value where the architecture has no such
  /// instructions in the tables.
  [[nodiscard]] Peak of(Pipe pipe, Precision precision) const;
};

/// Rate x CUs x clock per pipe and precision; LDS and vector L1: bytes per clock and CU x CUs x
/// clock; L2: bytes per clock and channel x channels x clock; memory and Infinity Cache as the
/// tables have them.
Peaks compute_peaks(const PeakInputs& inputs);

/// What is to stand beside a printed peak whose inputs are not all sourced: "no source for: gfx1030
/// ops_per_clk_per_cu.vector.fp64". Empty for other peaks.
std::string unconfirmed_text(const Peak& peak);

}  // namespace perflab::hal
