// A kernel as it was recorded: times of its dispatches, what it was launched with, what it uses.
// Times are ns of the trace clock; a figure that cannot be computed is nullopt and has an entry in
// `missing`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/kernels/occupancy_gap.h"
#include "base/missing.h"
#include "hal/occupancy.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// Distribution of durations in ns. Total and extremes are exact; a total beyond 64 bits stays at
/// INT64_MAX.
struct Durations {
  std::uint64_t count = 0;
  std::int64_t total = 0, min = 0, max = 0;
  double median = 0;  ///< of an even count: the mean of the middle two
  double mean = 0;
  std::optional<double> cv;  ///< over the dispatches; nullopt for fewer than two
};

/// Registers and memory of a kernel, as recorded. What the recording does not know is nullopt.
struct Resources {
  std::optional<std::int64_t>
      vgprs;  ///< allocated per work-item: arch and accumulation registers together
  std::optional<std::int64_t>
      arch_vgprs;  ///< as recorded; wrong above 128 (docs/facts/rocpd.md "Registers")
  std::optional<std::int64_t> accum_vgprs;
  std::optional<std::int64_t> sgprs;  ///< allocated per wavefront
  std::optional<std::int64_t> lds_bytes, static_lds_bytes, dynamic_lds_bytes;  ///< per work-group
  std::optional<std::int64_t> scratch_bytes;                                   ///< per work-item
  std::optional<std::int64_t> kernarg_bytes;
};

/// A figure of an agent's record that hal's tables have otherwise. The recorded one is used.
struct TableDifference {
  std::string field;  ///< as in the documents: "compute_units"
  std::int64_t recorded = 0, table = 0;
  bool confirmed = true;  ///< the table has a source for its figure
  friend bool operator==(const TableDifference&, const TableDifference&) = default;
};

/// The architecture as the recording names it, with hal's facts where that architecture is known.
struct Gpu {
  std::string architecture;  ///< "gfx942"; empty when the dispatch names no agent
  std::string product;
  std::optional<std::int64_t> compute_units, xcc_count, wave_size, clock_mhz;
  std::string facts_from;        ///< "recording", "hal", or "recording and hal"
  std::int64_t agent_index = 0;  ///< absolute index: "Agent N" of rocprofv3
  std::vector<TableDifference> differences;
  std::vector<std::string>
      unconfirmed;  ///< figures of the tables among these without a source,
                    ///< with their owner: "max_clock_mhz of AMD Instinct MI300A"
  hal::RecordedLimits recorded_limits;  ///< for occupancy
};

/// A figure that the profiler recorded otherwise than the code object has it. The latter is used.
struct Correction {
  std::string field;  ///< of the resources: "arch_vgpr"
  std::int64_t recorded = 0, code_object = 0;
  friend bool operator==(const Correction&, const Correction&) = default;
};

/// The code object that a kernel's registers were read from.
struct CodeOfKernel {
  std::string file;                                      ///< without its folder
  std::string entry;                                     ///< bundle entry id; empty: none
  std::string target;                                    ///< "gfx942:sramecc+:xnack-"
  std::optional<std::int64_t> vgpr_spills, sgpr_spills;  ///< missing: not in its metadata
  std::vector<Correction> corrections;
};

/// One kernel by name, over all its dispatches in the timing pass.
struct Kernel {
  std::string name;
  std::string mangled_name;
  bool runtime_helper = false;  ///< of the HIP runtime, not of the application
  Durations durations;
  double share = 0;                   ///< of the time of all dispatches, 0 to 1
  std::uint64_t launches_linked = 0;  ///< dispatches whose launching API call was found
  std::uint64_t resource_variants =
      0;  ///< distinct register/LDS sets among code objects with this kernel
  std::uint64_t launch_shapes = 0;  ///< distinct grid/work-group/LDS combinations
  /// The longest dispatch's: its launch, resources, GPU and occupancy stand for the kernel.
  trace::LaunchConfig launch;
  std::optional<std::uint64_t> workgroups;  ///< of that launch; nullopt for a work-group size of 0
  Resources resources;
  std::optional<CodeOfKernel> code;  ///< none: registers are as recorded
  Gpu gpu;
  std::optional<hal::Occupancy> occupancy;
  std::optional<OccupancyGap> occupancy_gap;  ///< where counters say what was achieved
  Missing occupancy_gap_missing{.field = "occupancy_gap", .reason = {}, .remedy = {}};  ///< else
  std::vector<Missing> missing;  ///< fields relative to the kernel: "resources.vgpr_per_thread"
  std::vector<std::string> assumptions;
};

/// How the kernel of interest was chosen (docs/models/times.md "The selected kernel").
struct Selection {
  std::size_t kernel = 0;             ///< index into kernels
  std::int64_t longest_dispatch = 0;  ///< ns
  bool only_runtime_helpers =
      false;  ///< no application kernel was there: the longest of all was taken
};

}  // namespace perflab::analyze
