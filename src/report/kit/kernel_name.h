// Names of kernels in little room: what a person would say of
// "void ns::attention<float, 128>(float*, int)" is "attention".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace perflab::report {

/// The longest of these that fits in `width` columns, else the shortest: the name, without its
/// parameters, without the type before it, with "<…>" for its template arguments, without its
/// namespaces. A name that is no C++ declaration stays as it is.
std::string short_kernel_name(std::string_view name, std::size_t width);

/// The name without its parameters and the type before it, "ns::attention<float, 128>".
std::string kernel_instance(std::string_view name);

/// Its identifier alone, "attention"; empty where there is none.
std::string kernel_function(std::string_view name);

}  // namespace perflab::report
