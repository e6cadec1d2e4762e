// Limits are the code object's own (launch bounds, static LDS) and the architecture's: a runtime
// reports none of them (docs/facts/hsa_runtime.md "Unreported mistakes").
#include "replay/launch_change.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "code/object/code_object.h"
#include "hal/arch.h"
#include "replay/failures.h"

namespace perflab::replay {
namespace {

constexpr std::uint64_t kMostGroupItems = 1024;  // every GPU that is known
constexpr std::uint16_t kDimensionBits = 3;      // of a packet's setup

std::unexpected<Error> refuse(const std::string& sentence) {
  return fail(Failure::not_replayable, sentence,
              "change what gives the geometry (--workgroup, --grid, --blocks, --dynamic-lds), or "
              "restrict the space");
}

std::string text_of(const Geometry& geometry) {
  return fmt::format("a grid of {} work-items in work-groups of {}",
                     fmt::join(geometry.grid, " x "), fmt::join(geometry.workgroup, " x "));
}

/// What holds of every launch.
Result<void> check_sizes(const Geometry& geometry) {
  std::uint64_t items = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    if (geometry.grid[i] == 0 || geometry.grid[i] > UINT32_MAX || geometry.workgroup[i] == 0)
      return refuse(text_of(geometry) + " is none that can be launched");
    items *= std::min<std::uint64_t>(geometry.workgroup[i], kMostGroupItems + 1);
  }
  if (items > kMostGroupItems)
    return refuse(fmt::format("{}: a work-group has at most {} work-items", text_of(geometry),
                              kMostGroupItems));
  return {};
}

/// CUDA counts its grids in blocks.
Result<void> check_whole_blocks(const Geometry& geometry) {
  constexpr std::uint64_t kMostBlocks = 0x7fff'ffff, kMostOfOthers = 0xffff;  // of a grid's axes
  for (std::size_t i = 0; i < 3; ++i) {
    if (geometry.grid[i] % geometry.workgroup[i] != 0)
      return refuse(text_of(geometry) + ": CUDA launches whole blocks only");
    if (geometry.grid[i] / geometry.workgroup[i] > (i == 0 ? kMostBlocks : kMostOfOthers))
      return refuse(text_of(geometry) + ": these are more blocks than CUDA launches");
  }
  return {};
}

/// What the kernel was compiled for.
Result<void> check_kernel(const Geometry& geometry, const code::KernelMetadata& kernel,
                          const std::string& agent) {
  const auto& group = geometry.workgroup;
  const std::int64_t items = std::int64_t{group[0]} * group[1] * group[2];
  if (kernel.max_workgroup_size && items > *kernel.max_workgroup_size)
    return refuse(fmt::format("{}: this code object's kernel is compiled for at most {}",
                              text_of(geometry), *kernel.max_workgroup_size));
  if (kernel.required_workgroup_size && !std::ranges::equal(*kernel.required_workgroup_size, group))
    return refuse(fmt::format("{}: this code object's kernel is compiled for work-groups of {}",
                              text_of(geometry),
                              fmt::join(*kernel.required_workgroup_size, " x ")));
  const hal::Arch* const arch = hal::find_arch(agent);
  if (const std::int64_t lds = kernel.lds_bytes + geometry.dynamic_lds_bytes;
      arch != nullptr && lds > arch->lds_max_per_workgroup)
    return refuse(fmt::format(
        "{} static and {} dynamic bytes of LDS are more than the {} that a "
        "work-group of {} has",
        kernel.lds_bytes, geometry.dynamic_lds_bytes, arch->lds_max_per_workgroup, agent));
  return {};
}

/// The value of a hidden argument that tells of the geometry; missing: it does not.
std::optional<std::uint64_t> hidden_value(std::string_view kind, const Geometry& geometry,
                                          std::uint16_t dimensions) {
  constexpr std::string_view kAxes = "xyz";
  const std::size_t axis = kind.empty() ? std::string_view::npos : kAxes.find(kind.back());
  if (kind == "hidden_grid_dims") return dimensions;
  if (kind == "hidden_dynamic_lds_size") return geometry.dynamic_lds_bytes;
  if (axis == std::string_view::npos) return std::nullopt;
  const std::uint64_t grid = geometry.grid.at(axis), group = geometry.workgroup.at(axis);
  if (kind.starts_with("hidden_block_count_")) return grid / group;
  if (kind.starts_with("hidden_group_size_")) return group;
  if (kind.starts_with("hidden_remainder_")) return grid % group;
  return std::nullopt;
}

std::vector<std::byte> kernarg_of(std::span<const std::byte> captured, const Geometry& geometry,
                                  const code::KernelMetadata& kernel) {
  std::vector<std::byte> bytes(captured.begin(), captured.end());
  bool changed = false;
  for (const code::KernelArgument& argument : kernel.arguments) {
    const auto value = hidden_value(argument.value_kind, geometry, geometry.setup & kDimensionBits);
    const auto at = static_cast<std::uint64_t>(argument.offset);
    const auto size = static_cast<std::uint64_t>(argument.size);
    if (!value || size > sizeof *value || at + size > bytes.size()) continue;
    std::memcpy(bytes.data() + at, &*value, size);  // little-endian, as the GPU is
    changed = true;
  }
  if (!changed) bytes.clear();
  return bytes;
}

}  // namespace

Result<Geometry> changed_geometry(const capture::Capture& capture, const LaunchChange& change,
                                  std::string_view code_object, const std::string& kernel) {
  const capture::Dispatch& dispatch = capture.description().dispatch;
  Geometry geometry;
  std::ranges::copy(dispatch.grid, geometry.grid.begin());
  geometry.workgroup = dispatch.workgroup;
  geometry.dynamic_lds_bytes =
      dispatch.group_segment_bytes -
      std::min(dispatch.group_segment_bytes, dispatch.static_group_segment_bytes);
  geometry.setup = dispatch.setup;
  if (!change.any()) return geometry;
  geometry.grid = change.grid.value_or(geometry.grid);
  geometry.workgroup = change.workgroup.value_or(geometry.workgroup);
  geometry.dynamic_lds_bytes = change.dynamic_lds_bytes.value_or(geometry.dynamic_lds_bytes);
  PERFLAB_TRY_VOID(check_sizes(geometry));
  if (capture.description().machine.platform == capture::Platform::cuda)
    PERFLAB_TRY_VOID(check_whole_blocks(geometry));
  std::uint16_t dimensions = geometry.setup & kDimensionBits;
  for (std::uint16_t axis = dimensions; dimensions > 0 && axis < 3; ++axis)
    if (geometry.grid.at(axis) > 1) dimensions = axis + 1;
  geometry.setup = static_cast<std::uint16_t>((geometry.setup & ~kDimensionBits) | dimensions);
  const auto object = code::read_code_object(code_object, "the code object");
  const code::KernelMetadata* const metadata =
      object ? code::kernel_named(*object, kernel) : nullptr;
  if (metadata == nullptr) return geometry;
  PERFLAB_TRY_VOID(check_kernel(geometry, *metadata, capture.description().machine.agent_name));
  geometry.kernarg = kernarg_of(capture.kernarg(), geometry, *metadata);
  return geometry;
}

}  // namespace perflab::replay
