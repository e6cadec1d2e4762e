// Compiled once per PERFLAB_CASE (see CMakeLists.txt). Case 0 must compile, the others must not.
#include "base/error.h"

using perflab::ErrorCode;
using perflab::fail;

perflab::Result<void> failed([[maybe_unused]] ErrorCode code) {
#if PERFLAB_CASE == 0
  if (code == ErrorCode::usage) return fail(ErrorCode::usage, "no such thing");
  if (code == ErrorCode::missing_tool) return fail(ErrorCode::missing_tool, "none", "install it");
  return fail(code, "no such thing", "name another one");
#elif PERFLAB_CASE == 1  // a missing tool, and nothing to do about it
  return fail(ErrorCode::missing_tool, "none");
#elif PERFLAB_CASE == 2  // it may be one
  return fail(code, "no such thing");
#endif
}
