// Gates on an inspection for CI: limits that every selected kernel has to keep, and a comparison
// with an older build. A figure that is not known does not pass a gate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/inspect/inspection.h"

namespace perflab::analyze {

/// The limits asked for.
struct GateLimits {
  std::optional<std::int64_t> max_vgprs = {};  ///< of a wave, what decides occupancy (StaticKernel)
  std::optional<double> min_occupancy = {};    ///< fraction, resident model
  bool no_spills = false;                      ///< neither spilled registers nor scratch
};

/// One kernel that does not keep a limit.
struct GateFailure {
  std::size_t kernel = 0;       ///< index into Inspection::kernels
  std::optional<double> value;  ///< none: not known, `why` says the reason
  std::string why;
};

/// One gate's outcome.
struct Gate {
  std::string name;             ///< "max_vgpr", "min_occupancy", "no_spills", "against"
  std::optional<double> limit;  ///< none: the gate has no number
  std::size_t checked = 0;      ///< kernels
  std::vector<GateFailure> failures;
  std::string problem;  ///< why the gate as a whole fails; empty: it does not
  [[nodiscard]] bool passed() const { return failures.empty() && problem.empty(); }
};

/// One figure that differs between two builds of a kernel.
struct FigureChange {
  std::string figure;  ///< its field in the document: "resources.vgpr", "instructions"
  std::optional<double> before, after;
  bool worse = false;  ///< counts as a regression: more spills or scratch, less occupancy
};

/// One kernel whose figures differ.
struct KernelChange {
  std::size_t kernel = 0;  ///< index into the new Inspection's kernels
  std::vector<FigureChange> figures;
};

/// A new build against an old one. Kernels are the same when mangled name and target are.
struct InspectionDiff {
  std::filesystem::path path;  ///< of the old file
  std::string file_hash;
  std::size_t compared = 0;                     ///< kernels in both
  std::vector<KernelChange> changes;            ///< of those, the ones that differ
  std::vector<std::string> only_old, only_new;  ///< "name (target)"
  std::string problem;                          ///< why nothing can be concluded; empty: nothing
};

/// Checks the limits over all kernels of the inspection.
std::vector<Gate> check_gates(const Inspection& inspection, const GateLimits& limits);

/// Compares kernel by kernel.
InspectionDiff compare_inspections(const Inspection& before, const Inspection& after);

/// The gate of a comparison: fails for each kernel that became worse, and as a whole when no
/// kernel is in both files.
Gate comparison_gate(const InspectionDiff& comparison);

}  // namespace perflab::analyze
