// Code objects that the stand-in runtime runs, for the tests of every folder: kernels by name with
// the metadata that a compiler would write, and variables.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "support/code_writer.h"

namespace perflab::test {

/// One kernel of an object. Its body is a function of tests/hsa_sim/kernels.cpp.
struct SimKernel {
  std::string name;    ///< the symbol, without ".kd"
  std::string body{};  ///< empty: the name is the body's
  std::uint32_t group_segment_bytes = 0;
  std::uint32_t private_segment_bytes = 0;
};

/// What else is in an object.
struct SimObject {
  std::vector<SimKernel> kernels;
  std::vector<WrittenVariable> variables{};
  std::uint32_t flags = 0x54c;  ///< ELF flags: gfx942, features any
  std::string target = "amdgcn-amd-amdhsa--gfx942";
  bool stripped = false;  ///< no .symtab
};

/// The explicit arguments of a body (kernel_arguments.h); the same on both platforms.
std::vector<WrittenArgument> sim_explicit_arguments(std::string_view body);
/// Those, then its hidden ones of version 5.
std::vector<WrittenArgument> sim_arguments(std::string_view body);
/// Bytes of the whole kernarg segment of a body.
std::uint32_t sim_kernarg_bytes(std::string_view body);

/// The ELF file. A kernel whose body is "scale" or "accumulate" brings its variable, `factor` (2.5)
/// or `total` (0), unless it is among the object's.
std::string sim_code_object(SimObject object);
/// An object with these kernels.
std::string sim_code_object(std::initializer_list<SimKernel> kernels);

/// An object whose only kernel runs in a host library that it carries (host_kernel.h).
/// `max_workgroup`: of the metadata, as launch bounds would set it.
std::string sim_library_object(const std::string& kernel,
                               const std::vector<WrittenArgument>& arguments,
                               const std::string& library, std::int64_t max_workgroup);

/// The bytes of a value, for variables and kernargs.
template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace perflab::test
