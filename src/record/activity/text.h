// Texts of a recording: names of calls and kernels, and JSON made of what a program says.
#pragma once

#include <string>
#include <string_view>

namespace perflab::record {

/// The name of an API call without the runtime's version at its end: "cudaLaunchKernel_v7000" is
/// cudaLaunchKernel. The driver's own endings ("_v2", "_ptsz") stay.
std::string_view call_name(std::string_view name);

/// A C++ name as a person writes it; the name itself where it is none.
std::string demangled(const std::string& name);

/// A quoted JSON text. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(std::string_view text);

}  // namespace perflab::record
