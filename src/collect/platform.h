// Which platform a program is recorded on: AMD's GPUs with rocprofv3, NVIDIA's with
// librocm_perf_record.so. Found without running the program: from the drivers of the machine and,
// where it has both, from what the program's file needs (docs/facts/cuda_calls.md "Whose program").
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "trace/trace.h"

namespace perflab::collect {

/// What of a machine decides.
struct MachineDrivers {
  bool amd = false;     ///< /dev/kfd is there
  bool nvidia = false;  ///< /dev/nvidiactl is there, or the loader finds libcuda.so.1
  bool operator==(const MachineDrivers&) const = default;
};

/// The drivers of this machine. Loads libcuda.so.1 for a moment when /dev/nvidiactl is not there;
/// nothing of it is called.
MachineDrivers find_drivers();

/// What a program's file says that it needs.
enum class TargetNeeds {
  amd,      ///< libamdhip64 or libhsa-runtime64
  cuda,     ///< libcudart or libcuda, or device code of CUDA in it (section .nv_fatbin)
  unknown,  ///< neither or both
  script,   ///< no ELF file: an interpreter runs it
};

/// Looks into the file of a program as the command line names it; `unknown` when it cannot be read.
TargetNeeds needs_of(const std::string& program);

/// A platform and the sentence that says why this one.
struct ChosenPlatform {
  trace::Platform platform = trace::Platform::amd;
  std::string why;
};

/// "AMD", "CUDA": for sentences.
std::string_view text_of(trace::Platform platform);

/// The rule itself: `needs` is asked for only where the drivers of both are there. A machine with
/// neither counts as AMD's: the search for rocprofv3 says what is missing.
ChosenPlatform choose_platform(const MachineDrivers& drivers,
                               const std::function<TargetNeeds()>& needs,
                               std::optional<trace::Platform> forced);

/// The platform for a command on this machine.
ChosenPlatform find_platform(const std::vector<std::string>& target,
                             std::optional<trace::Platform> forced);

}  // namespace perflab::collect
