// Source transforms, each behind its own guard, and the proposer that offers them one by one. What
// is not proven to keep the kernel's meaning is not offered; what a guard forbids is said.
// docs/OPTIMIZER.md lists them with their guards.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llm/proposer.h"
#include "optimize/model/source_model.h"

namespace perflab::optimize {

/// What is known beside the source.
struct TransformFacts {
  int wave_size = 64;
  std::optional<std::int64_t> workgroup_size;  ///< work-items of the launched work-group
  bool host = false;                           ///< a host build: attributes of GPUs mean nothing
  int lds_banks = 32;                          ///< 4 bytes wide (hal)
};

struct TransformedSource {
  std::string id;       ///< "unroll:12:4": transform, line, parameter; stable for equal sources
  std::string summary;  ///< "unroll the loop at line 12 by 4"
  std::string text;     ///< the whole file
};

/// One that a guard forbids.
struct ForbiddenTransform {
  std::string id;
  std::string guard;  ///< "barrier", "atomic", "dynamic_shared_memory", "cross_lane", ...
  std::string sentence;
};

struct Transforms {
  std::vector<TransformedSource> offered;  ///< the most promising first
  std::vector<ForbiddenTransform> forbidden;
};

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
