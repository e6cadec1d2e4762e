// All transforms of a kernel.
#include "optimize/transform/transforms.h"

#include "optimize/transform/transform_parts.h"

namespace perflab::optimize {

Transforms transforms_of(const SourceModel& model, std::size_t kernel,
                         const TransformFacts& facts) {
  TransformList list(model, model.kernels[kernel], facts);
  add_unrolling(list);
  add_aliasing(list);
  add_loads(list);
  add_attributes(list);
  add_padding(list);
  return list.take();
}

}  // namespace perflab::optimize
