// What the files transform_*.cpp share: the list they fill.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "optimize/model/source_model.h"
#include "optimize/transform/loop_text.h"
#include "optimize/transform/transformed_source.h"

namespace perflab::optimize {

/// How promising a transform is, the most promising first. What reassociates a sum or fills a loop
/// with independent work gains most, on GPUs and on processors; hints to the compiler gain least.
enum class Promise : std::uint8_t {
  split_by_4,
  unroll_by_4,
  restrict_all,
  hoist,
  wide_loads,
  unroll_by_8,
  split_by_8,
  unroll_by_2,
  split_by_2,
  launch_bounds,
  waves_per_eu,
  padding,
  pragma_unroll,
  read_only_alias,
};

/// Collects in any order.
class TransformList {
 public:
  TransformList(const SourceModel& of, const SourceKernel& in, const TransformFacts& known)
      : model(of), kernel(in), facts(known) {}

  void offer(Promise promise, std::string id, std::string summary, std::string text) {
    offered_.emplace_back(promise,
                          TransformedSource{std::move(id), in_words(summary), std::move(text)});
  }
  /// `sentence` without a full stop.
  void forbid(std::string id, std::string guard, std::string sentence) {
    forbidden_.push_back({std::move(id), std::move(guard), in_words(sentence)});
  }
  void forbid(std::string id, const Objection& objection) {
    forbid(std::move(id), objection.guard, objection.sentence);
  }
  /// Sorted by promise, and in the order of the source.
  Transforms take();
  /// A sentence in the words of the source's platform.
  [[nodiscard]] std::string in_words(const std::string& sentence) const;

  const SourceModel& model;
  const SourceKernel& kernel;
  const TransformFacts& facts;

 private:
  std::vector<std::pair<Promise, TransformedSource>> offered_;
  std::vector<ForbiddenTransform> forbidden_;
};

/// "unroll:LINE:N", "pragma-unroll:LINE:N", "split-accumulator:LINE:N" for N of 2, 4, 8.
void add_unrolling(TransformList& list);
/// "launch-bounds:N", "waves-per-eu:N", in CUDA "blocks-per-sm:N".
void add_attributes(TransformList& list);
/// "restrict", "read-only-alias:PARAMETER", and the refused "const-parameters".
void add_aliasing(TransformList& list);
/// "hoist:LINE:ELEMENT" and "wide-loads:LINE".
void add_loads(TransformList& list);
/// "pad-lds:ARRAY".
void add_padding(TransformList& list);

}  // namespace perflab::optimize
