// Source transforms, each behind its own guard, and the proposer that offers them one by one. What
// is not proven to keep the kernel's meaning is not offered; what a guard forbids is said.
// docs/OPTIMIZER.md lists them with their guards.
#pragma once

#include <memory>
#include <vector>

#include "llm/proposer.h"
#include "optimize/model/source_model.h"
#include "optimize/transform/transformed_source.h"

namespace perflab::optimize {

/// All transforms of one kernel of the source.
Transforms transforms_of(const SourceModel& model, std::size_t kernel, const TransformFacts& facts);

/// The built-in proposer.
class RulesProposer : public llm::Proposer {
 public:
  /// What guards forbade in the sources seen so far, each id once, in the order met.
  [[nodiscard]] virtual const std::vector<ForbiddenTransform>& forbidden() const = 0;
};

/// Offers the transforms of the task's source in order, those of a newly accepted source afresh,
/// none twice. It never repairs. `parse`: as the source is compiled. Whole numbers "workgroup_size"
/// and "wave_size" of the task's context stand above `facts`. Errors of next(): those of
/// parse_source() and find_kernel().
std::unique_ptr<RulesProposer> make_rules_proposer(ParseOptions parse, TransformFacts facts);

}  // namespace perflab::optimize
