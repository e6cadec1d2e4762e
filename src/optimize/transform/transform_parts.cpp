// The list of transforms, sorted by what they promise.
#include "optimize/transform/transform_parts.h"

#include <algorithm>

#include "hal/terms.h"

namespace perflab::optimize {

std::string TransformList::in_words(const std::string& sentence) const {
  return hal::in_terms(sentence, model.options.cuda() ? hal::Platform::nvidia : hal::Platform::amd);
}

Transforms TransformList::take() {
  std::ranges::stable_sort(
      offered_, {}, [](const std::pair<Promise, TransformedSource>& each) { return each.first; });
  Transforms transforms;
  for (auto& [promise, source] : offered_) transforms.offered.push_back(std::move(source));
  transforms.forbidden = std::move(forbidden_);
  return transforms;
}

}  // namespace perflab::optimize
