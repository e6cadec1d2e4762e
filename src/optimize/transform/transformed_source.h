// Sources that transforms give, those that a guard forbids, and what is known beside the source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace perflab::optimize
