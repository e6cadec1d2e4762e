// The geometry of one launch of a captured kernel: what launch expressions give for a
// configuration.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace perflab::tune {

/// Missing: as captured.
struct LaunchValues {
  using Axes = std::array<std::int64_t, 3>;
  std::optional<Axes> workgroup{}, grid{};    ///< work-items
  std::optional<Axes> blocks{};               ///< work-groups, instead of `grid`
  std::optional<std::int64_t> dynamic_lds{};  ///< bytes
  friend bool operator==(const LaunchValues&, const LaunchValues&) = default;
};

}  // namespace perflab::tune
