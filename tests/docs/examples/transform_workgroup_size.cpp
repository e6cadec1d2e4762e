#include "docs/examples/transform_workgroup_size.h"

#include <fmt/format.h>

#include <algorithm>

namespace perflab::optimize {

void add_workgroup_size(TransformList& list) {
  constexpr std::string_view id = "flat-work-group-size";
  // What is not known to be right is forbidden by a guard that has a name, and is in the ledger.
  if (list.facts.host)
    return list.forbid(std::string(id), "host", "the attribute means nothing on a host");
  if (!list.facts.workgroup_size)
    return list.forbid(std::string(id), "workgroup_size",
                       "the size of the launched work-group is not known");
  const auto named = [](const KernelAttribute& attribute) {
    return attribute.name == "launch_bounds" || attribute.name == "amdgpu_flat_work_group_size";
  };
  if (!list.kernel.attribute_place || std::ranges::any_of(list.kernel.attributes, named))
    return list.forbid(std::string(id), "has_attribute",
                       "the kernel says already how it is launched");
  const std::int64_t size = *list.facts.workgroup_size;
  const std::uint32_t place = *list.kernel.attribute_place;
  std::string text = list.model.text;
  text.insert(place, fmt::format("__attribute__((amdgpu_flat_work_group_size({0}, {0}))) ", size));
  list.offer(Promise::launch_bounds, fmt::format("{}:{}", id, size),
             fmt::format("every work-group has {} work-items", size), std::move(text));
}

}  // namespace perflab::optimize
