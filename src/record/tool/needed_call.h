// Calls of CUPTI without which nothing can be recorded.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "cuda/api.h"

namespace perflab::record {

/// Error (refused): the call and the name of its result.
inline Result<void> need(const cuda::Cupti& cupti, std::string_view call,
                         cuda::CuptiResult result) {
  if (result == cuda::CuptiResult::success) return {};
  return fail(ErrorCode::refused, std::string(call) + ": " + cuda::result_name(cupti, result));
}

}  // namespace perflab::record
