// Names of calls and kernels, as a recording has them.
#pragma once

#include <string>
#include <string_view>

namespace perflab::record {

/// The name of an API call without the runtime's version at its end: "cudaLaunchKernel_v7000" is
/// cudaLaunchKernel. The driver's own endings ("_v2", "_ptsz") stay.
std::string_view call_name(std::string_view name);

/// A C++ name as a person writes it; the name itself where it is none.
std::string demangled(const std::string& name);

}  // namespace perflab::record
