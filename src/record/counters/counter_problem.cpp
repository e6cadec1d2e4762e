// The table from results to kinds, and the remedies.
#include "record/counters/counter_problem.h"

#include "base/enum_names.h"

namespace perflab::record {
namespace {

using cuda::CuptiResult;
using cuda::SupportLevel;

constexpr const char* kPermissionRemedy =
    "run the program as root, or let everyone read counters: put \"options nvidia "
    "NVreg_RestrictProfilingToAdminUsers=0\" into a file of /etc/modprobe.d and load the driver "
    "anew (RmProfilingAdminOnly in /proc/driver/nvidia/params is then 0)";
constexpr const char* kGuestRemedy =
    "have the administrator of the host permit profiling for this virtual machine's GPU";
constexpr const char* kBusyRemedy =
    "end what else profiles on this GPU (Nsight Compute, DCGM's profiling metrics: dcgmi profile "
    "--pause) and run it again";

CounterProblem kind_of(CuptiResult result) {
  switch (result) {
    case CuptiResult::insufficient_privileges:
    case CuptiResult::virtualized_device_insufficient_privileges:
      return CounterProblem::not_permitted;
    case CuptiResult::not_supported:
    case CuptiResult::not_compatible:
    case CuptiResult::virtualized_device_not_supported:
    case CuptiResult::confidential_computing_not_supported:
    case CuptiResult::cmp_device_not_supported:
    case CuptiResult::mig_device_not_supported:
    case CuptiResult::sli_device_not_supported:
    case CuptiResult::wsl_device_not_supported:
    case CuptiResult::invalid_chip_name:
      return CounterProblem::not_supported;
    case CuptiResult::hardware_busy:
    case CuptiResult::multiple_subscribers_not_supported:
    case CuptiResult::old_profiler_api_initialized:
      return CounterProblem::busy;
    case CuptiResult::api_not_implemented:
      return CounterProblem::old_library;
    case CuptiResult::invalid_metric_name:
      return CounterProblem::no_metric;
    default:
      return CounterProblem::failed;
  }
}

const char* remedy_of(CounterProblem problem, CuptiResult result) {
  if (result == CuptiResult::virtualized_device_insufficient_privileges) return kGuestRemedy;
  if (problem == CounterProblem::not_permitted) return kPermissionRemedy;
  if (problem == CounterProblem::busy) return kBusyRemedy;
  if (problem == CounterProblem::old_library)
    return "use a program with the CUPTI of CUDA 12.8 or later";
  return "";
}

}  // namespace

std::string_view to_string(CounterProblem problem) {
  using enum CounterProblem;
  static constexpr auto kNames = enum_names<CounterProblem>({{not_permitted, "not_permitted"},
                                                             {not_supported, "not_supported"},
                                                             {busy, "busy"},
                                                             {old_library, "old_library"},
                                                             {no_metric, "no_metric"},
                                                             {mismatch, "mismatch"},
                                                             {failed, "failed"}});
  return kNames[problem];
}

CounterFailure failure_of(const cuda::ProfilerFailure& failure) {
  const CounterProblem problem = kind_of(failure.result);
  std::string reason = std::string(failure.call) + " answered CUPTI result " +
                       std::to_string(static_cast<std::uint32_t>(failure.result));
  if (!failure.detail.empty()) reason += " for " + failure.detail;
  return {.problem = problem,
          .reason = std::move(reason),
          .remedy = remedy_of(problem, failure.result)};
}

CounterFailure failure_of(const cuda::DeviceSupported& support) {
  const auto lacks = [](SupportLevel level) {
    return level == SupportLevel::unsupported || level == SupportLevel::disabled;
  };
  CounterFailure failure{.problem = CounterProblem::not_supported,
                         .reason = "CUPTI does not count on this device",
                         .remedy = {}};
  if (lacks(support.architecture))
    failure.reason += ": its architecture is too old";
  else if (support.vgpu == SupportLevel::disabled)
    failure = {.problem = CounterProblem::not_permitted,
               .reason = "counting is switched off for this virtual GPU",
               .remedy = kGuestRemedy};
  else if (lacks(support.vgpu))
    failure.reason += ": it is a virtual GPU";
  else if (lacks(support.confidential))
    failure.reason += ": confidential computing is on";
  else if (lacks(support.sli))
    failure.reason += ": SLI is on";
  else if (lacks(support.cmp))
    failure.reason += ": it is a mining processor";
  else if (lacks(support.wsl))
    failure.reason += ": this version of WSL does not let it";
  return failure;
}

}  // namespace perflab::record
