// What must hold before a candidate is run: its source against the original's through the AST, its
// code object against the original's through the metadata. A guard that cannot be checked does not
// pass in silence: it says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/inspect/static_kernel.h"
#include "base/error.h"
#include "optimize/model/source_model.h"
#include "optimize/reasons.h"

namespace perflab::optimize {

/// One guard. All are checked, so that the ledger shows the whole picture; the first that fails
/// gives the reason.
struct GuardResult {
  std::string name;  ///< "signature", "outside", "includes", "assembly", ...
  bool passed = false;
  std::optional<Reason> reason;  ///< when it did not
  std::string detail;            ///< a sentence: what was found; with passed: empty, or a note
};
using GuardResults = std::vector<GuardResult>;
/// The first that did not pass; nullptr: all did.
const GuardResult* first_failure(const GuardResults& results);

struct SourceGuardOptions {
  std::string kernel;  ///< qualified name
  /// Work-items of a work-group that is launched; missing: not known.
  std::optional<std::int64_t> workgroup_size;
};

/// Guards on the source. `candidate`: text of the whole file. Errors: missing_tool only; a
/// candidate that does not parse is a guard that failed.
Result<GuardResults> check_source(const SourceModel& original, const std::string& candidate,
                                  const SourceGuardOptions& options);

/// One figure of the kernel that differs between original and candidate.
struct ResourceChange {
  /// "vgprs", "sgprs", "lds_bytes", "scratch_bytes", "spills", "occupancy"; of cubins "registers",
  /// "shared_bytes", "local_bytes", "spills" (instructions), "occupancy".
  std::string figure;
  std::optional<double> before, after;
  bool regression = false;  ///< beyond the limits below
};
/// docs/OPTIMIZER.md "What a proposal has to pass": VGPR +20 %, occupancy -15 %, LDS +30 %, any new
/// spill or scratch.
inline constexpr double kMostVgprGrowth = 0.20, kMostOccupancyLoss = 0.15, kMostLdsGrowth = 0.30;

struct ObjectGuards {
  GuardResults results;
  std::vector<ResourceChange> changes;
  /// Needs a proven gain to pass (Reason::resources otherwise).
  [[nodiscard]] bool regressed() const;
};

struct ObjectGuardOptions {
  std::string kernel;  ///< mangled symbol without ".kd"; of a template: the instance that runs
  std::optional<std::int64_t> workgroup_size;
  std::int64_t dynamic_lds = 0;
  /// Of an NVIDIA GPU, 90 for sm_90: which cubin of a file counts; missing: the first with the
  /// kernel.
  std::optional<int> architecture{};
};

/// Guards on code objects of AMD or, when the original holds cubins, on cubins: kernarg layout
/// identical, the same kernels and the same resources of the others, the same variables, launch
/// bounds that allow the work-group. Code of other kernels may differ in words when its length does
/// not: addresses relative to the program counter move; that is a note. Errors (bad_input): one
/// cannot be read, or the original has no such kernel.
Result<ObjectGuards> check_object(std::string_view original, std::string_view candidate,
                                  const ObjectGuardOptions& options);

}  // namespace perflab::optimize
