// What guards on code objects have in common, whatever GPU the code is for: results in words, and
// figures that got worse. Inside src/optimize/objects only.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "optimize/guards/guards.h"

namespace perflab::optimize {

GuardResult object_passed(std::string name, std::string note = {});
GuardResult object_failed(std::string name, Reason reason, std::string detail);

/// The first few of the names, and how many there are besides.
std::string listed_names(std::vector<std::string> names);

/// How a figure may grow.
enum class Growth : std::uint8_t {
  none,       ///< any growth is worse
  registers,  ///< kMostVgprGrowth
  shared,     ///< kMostLdsGrowth
  occupancy,  ///< a loss of kMostOccupancyLoss
  any,        ///< never worse
};
/// Adds the figure when it differs.
void add_change(std::vector<ResourceChange>& changes, std::string figure,
                std::optional<double> before, std::optional<double> after, Growth growth);

/// The guard "resources", which always passes: whether the gain pays for it is known later. `note`:
/// what is not known.
GuardResult describe_resources(const std::vector<ResourceChange>& changes, std::string note);

/// The guards "other_kernels" and "variables" from what was found, names each.
struct OtherCode {
  std::vector<std::string> fresh, gone, altered;  ///< kernels
  std::vector<std::string> moved;                 ///< with how many words differ
};
GuardResult describe_others(const OtherCode& found);
GuardResult describe_variables(std::vector<std::string> problems);

/// The guard "launch_bounds_of_code". `most`, `required`: work-items of a work-group that the
/// candidate's code allows at most, or requires (0: an impossible number).
GuardResult describe_bounds(const std::optional<std::int64_t>& most,
                            const std::optional<std::int64_t>& required,
                            const std::optional<std::int64_t>& workgroup_size,
                            hal::Platform platform);

}  // namespace perflab::optimize
