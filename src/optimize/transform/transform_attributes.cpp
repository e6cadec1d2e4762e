// Attributes in front of a kernel that tell the compiler how it is launched, and how many waves are
// wanted at once. Meaning and limits: clang's attribute reference (AMD GPU attributes) and the HIP
// programming guide (launch bounds); CUDA's C++ Programming Guide, "Launch Bounds". 1024 work-items
// are the largest work-group of every GPU.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "optimize/transform/transform_parts.h"

namespace perflab::optimize {
namespace {

constexpr std::int64_t kLargestWorkgroup = 1024;
constexpr std::array<std::int64_t, 3> kWaveGoals{2, 4, 8};

std::optional<Objection> object_to_attributes(const TransformList& list) {
  if (list.facts.host) return Objection{"host", "the attribute means nothing on a host"};
  if (!list.kernel.attribute_place)
    return Objection{"in_macro", "the text does not show where the kernel's name is"};
  const std::optional<std::int64_t>& size = list.facts.workgroup_size;
  if (!size) return Objection{"workgroup_size", "the size of the launched work-group is not known"};
  if (*size <= 0 || *size > kLargestWorkgroup)
    return Objection{"workgroup_size",
                     fmt::format("no GPU has work-groups of {} work-items", *size)};
  if (list.facts.wave_size <= 0 || *size % list.facts.wave_size != 0)
    return Objection{
        "wave_multiple",
        fmt::format("the work-group's {} work-items are not a multiple of the wave's {}", *size,
                    list.facts.wave_size)};
  return {};
}

bool has_attribute(const SourceKernel& kernel, std::string_view name) {
  return std::ranges::any_of(
      kernel.attributes, [&](const KernelAttribute& attribute) { return attribute.name == name; });
}

std::string with_attribute(const TransformList& list, std::string_view attribute) {
  const std::uint32_t place = *list.kernel.attribute_place;
  return replaced(list.model.text, {place, place}, fmt::format("{} ", attribute));
}

void add_launch_bounds(TransformList& list) {
  std::optional<Objection> objection = object_to_attributes(list);
  if (has_attribute(list.kernel, "launch_bounds") ||
      has_attribute(list.kernel, "amdgpu_flat_work_group_size"))
    objection = {"has_attribute", "the kernel says already how it is launched"};
  if (objection) return list.forbid("launch-bounds", *objection);
  const std::int64_t size = *list.facts.workgroup_size;
  list.offer(Promise::launch_bounds, fmt::format("launch-bounds:{}", size),
             fmt::format("declare the launched work-group of {} work-items", size),
             with_attribute(list, fmt::format("__launch_bounds__({})", size)));
}

/// CUDA's launch bounds have the blocks of an SM for their second number.
void add_blocks(TransformList& list) {
  constexpr std::int64_t kThreadsOfSm = 2048;
  std::optional<Objection> objection = object_to_attributes(list);
  if (has_attribute(list.kernel, "launch_bounds"))
    objection = {"has_attribute", "the kernel says already how it is launched"};
  if (objection) return list.forbid("blocks-per-sm", *objection);
  const std::int64_t size = *list.facts.workgroup_size;
  for (const std::int64_t blocks : kWaveGoals)
    if (size * blocks <= kThreadsOfSm)
      list.offer(Promise::waves_per_eu, fmt::format("blocks-per-sm:{}", blocks),
                 fmt::format("let the compiler spare registers for {} blocks of {} on an SM",
                             blocks, size),
                 with_attribute(list, fmt::format("__launch_bounds__({}, {})", size, blocks)));
}

void add_waves(TransformList& list) {
  if (list.model.options.cuda()) return add_blocks(list);
  std::optional<Objection> objection = object_to_attributes(list);
  const auto bounds =
      std::ranges::find(list.kernel.attributes, "launch_bounds", &KernelAttribute::name);
  if (has_attribute(list.kernel, "amdgpu_waves_per_eu") ||
      (bounds != list.kernel.attributes.end() && bounds->values.size() > 1))
    objection = {"has_attribute", "the kernel says already how many waves it wants"};
  if (objection) return list.forbid("waves-per-eu", *objection);
  for (const std::int64_t waves : kWaveGoals) {
    list.offer(
        Promise::waves_per_eu, fmt::format("waves-per-eu:{}", waves),
        fmt::format("let the compiler spare registers for {} waves per SIMD", waves),
        with_attribute(list, fmt::format("__attribute__((amdgpu_waves_per_eu({})))", waves)));
  }
}

}  // namespace

void add_attributes(TransformList& list) {
  add_launch_bounds(list);
  add_waves(list);
}

}  // namespace perflab::optimize
