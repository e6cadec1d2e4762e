// What executors have in common.
#include "tune/evaluate/executor.h"

namespace perflab::tune {

Result<void> Executor::build_all(std::span<const Job> /*jobs*/, const OnFinished& /*on_finished*/) {
  return {};
}

}  // namespace perflab::tune
