// An example of a transform (docs/DEVELOPER_GUIDE.md): it tells the compiler the one work-group
// size that the kernel is launched with. Meaning: clang's attribute reference,
// amdgpu_flat_work_group_size.
#pragma once

#include "optimize/transform/transform_parts.h"

namespace perflab::optimize {

/// "flat-work-group-size:N".
void add_workgroup_size(TransformList& list);

}  // namespace perflab::optimize
