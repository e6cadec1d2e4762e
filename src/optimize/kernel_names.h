// Names of kernels in recordings against those in sources: "void ns::vadd<float>(float*, int)",
// "_ZN2ns4vaddEPf.kd" and "ns::vadd" are one kernel.
#pragma once

#include <string>
#include <string_view>

namespace perflab::optimize {

/// The qualified name alone: demangled, without return type, template arguments, parameters, ".kd"
/// and anonymous namespaces.
std::string bare_kernel_name(std::string_view recorded);

}  // namespace perflab::optimize
