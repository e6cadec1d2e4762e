// What an architecture can launch, as restrictions over the names that say so. Numbers: hal's
// architecture tables. Names: those of Kernel Tuner (block_size_*), Triton (num_warps; shared
// memory as its cache has it) and of the published tuner (threads_per_block).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "hal/arch.h"
#include "tune/records/read_space.h"

namespace perflab::tune {
namespace {

/// Whether an expression may count with the name: a derived value, or a parameter of numbers only.
bool is_countable(const SpaceDescription& description, std::string_view name) {
  const auto parameter = std::ranges::find(description.parameters, name, &Parameter::name);
  if (parameter != description.parameters.end())
    return std::ranges::all_of(parameter->values,
                               [](const Value& value) { return number_of(value).has_value(); });
  return std::ranges::any_of(description.derived,
                             [&](const auto& derived) { return derived.first == name; });
}

void add_limit(SpaceDescription& description, const std::string& amount, int most,
               std::string_view what, const std::string& gfx) {
  description.device_limits.push_back(fmt::format("{} <= {}", amount, most));
  description.device_limit_texts.push_back(
      fmt::format("{} is more than the {} {} of {}", amount, most, what, gfx));
}

}  // namespace

Result<void> add_device_limits(SpaceDescription& description, std::string_view architecture) {
  const hal::Arch* arch = hal::find_arch(architecture);
  if (arch == nullptr)
    return std::unexpected(hal::unknown_architecture(architecture, ErrorCode::bad_input));
  constexpr std::string_view kWorkItems = "work-items of a work-group";
  for (const char* name : {"threads", "threads_per_block", "workgroup_size"})
    if (is_countable(description, name))
      add_limit(description, name, arch->max_workgroup_size, kWorkItems, arch->gfx);
  std::vector<std::string> sides;
  for (const char* name : {"block_size_x", "block_size_y", "block_size_z"})
    if (is_countable(description, name)) sides.emplace_back(name);
  if (!sides.empty())
    add_limit(description, fmt::format("{}", fmt::join(sides, " * ")), arch->max_workgroup_size,
              kWorkItems, arch->gfx);
  if (is_countable(description, "num_warps"))
    add_limit(description, fmt::format("num_warps * {}", arch->default_wave_size),
              arch->max_workgroup_size, kWorkItems, arch->gfx);
  for (const char* name : {"lds_bytes", "shared_memory_bytes"})
    if (is_countable(description, name))
      add_limit(description, name, arch->lds_max_per_workgroup, "LDS bytes of a work-group",
                arch->gfx);
  return {};
}

}  // namespace perflab::tune
