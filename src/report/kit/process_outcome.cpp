#include "report/kit/process_outcome.h"

#include <fmt/format.h>

namespace perflab::report {

std::string outcome_of(const ProcessResult& process) {
  if (process.interrupted) return "interrupted";
  if (process.timed_out) return "timed out";
  if (process.signal) return fmt::format("signal {}", *process.signal);
  if (process.exit_code == 0) return "ok";
  return process.exit_code ? fmt::format("exit {}", *process.exit_code) : "left behind";
}

}  // namespace perflab::report
