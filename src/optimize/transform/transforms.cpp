// All transforms of a kernel, sorted by what they promise.
#include "optimize/transform/transforms.h"

#include <algorithm>

#include "optimize/transform/transform_parts.h"

namespace perflab::optimize {

Transforms TransformList::take() {
  std::ranges::stable_sort(
      offered_, {}, [](const std::pair<Promise, TransformedSource>& each) { return each.first; });
  Transforms transforms;
  for (auto& [promise, source] : offered_) transforms.offered.push_back(std::move(source));
  transforms.forbidden = std::move(forbidden_);
  return transforms;
}

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
