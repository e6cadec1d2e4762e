// Compiled once per PERFLAB_CASE (see CMakeLists.txt). Case 0 must compile, the others must not.
#include "replay/failures.h"

using perflab::replay::fail;
using perflab::replay::Failure;

perflab::Result<void> failed([[maybe_unused]] Failure failure) {
#if PERFLAB_CASE == 0
  if (failure == Failure::kernel_fault) return fail(Failure::kernel_fault, "page not present");
  if (failure == Failure::no_gpu) return fail(Failure::no_gpu, "none", "put one in");
  return fail(failure, "no such thing", "give another capture");
#elif PERFLAB_CASE == 1  // a missing tool, and nothing to do about it
  return fail(Failure::no_gpu, "none");
#elif PERFLAB_CASE == 2  // it may be one
  return fail(failure, "no such thing");
#endif
}
