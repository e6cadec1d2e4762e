// A launch that differs from the captured one in its geometry: what compile-time parameters of a
// kernel (tile sizes, threads) ask for. The packet and the hidden arguments that tell a kernel of
// its geometry follow (docs/facts/code_object.md "Hidden arguments").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "capture/capture_reader.h"

namespace perflab::replay {

/// What differs; missing: as captured.
struct LaunchChange {
  std::optional<std::array<std::uint64_t, 3>> grid{};       ///< work-items
  std::optional<std::array<std::uint32_t, 3>> workgroup{};  ///< work-items
  std::optional<std::uint32_t> dynamic_lds_bytes{};         ///< beside the kernel's static LDS

  [[nodiscard]] bool any() const {
    return grid.has_value() || workgroup.has_value() || dynamic_lds_bytes.has_value();
  }
  friend bool operator==(const LaunchChange&, const LaunchChange&) = default;
};

/// The captured launch with a change.
struct Geometry {
  std::array<std::uint64_t, 3> grid{};
  std::array<std::uint32_t, 3> workgroup{};
  std::uint32_t dynamic_lds_bytes = 0;
  std::uint16_t setup = 0;
  /// The captured arguments with the hidden ones of this geometry; empty: they are as captured.
  std::vector<std::byte> kernarg;
};

/// The geometry of a launch of `kernel` of this code object (empty: no metadata that could be
/// looked at, or none is needed). Error (not_replayable): the kernel cannot be launched so.
Result<Geometry> changed_geometry(const capture::Capture& capture, const LaunchChange& change,
                                  std::string_view code_object, const std::string& kernel);

}  // namespace perflab::replay
