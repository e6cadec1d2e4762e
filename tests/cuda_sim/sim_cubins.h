// Cubins that the stand-in driver runs, for the tests of every folder: ELF files as nvcc writes
// them (sections, symbols and attributes of sm_90), whose kernels have a body in the stand-in or
// in a host library that the file carries.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace perflab::test {

struct CubinParameter {
  std::uint32_t offset = 0, bytes = 0;
};

/// One kernel. Its body is a function of tests/hsa_sim/kernel_bodies.cpp, or the library's
/// hsa_sim_call_BODY (tests/hsa_sim/host_kernel.h).
struct CubinKernel {
  std::string name;                          ///< mangled
  std::string body{};                        ///< empty: the name is the body's
  std::vector<CubinParameter> parameters{};  ///< empty: those of the body
  std::uint32_t registers = 16;
  std::uint32_t shared_bytes = 0;  ///< static
  std::uint32_t local_bytes = 0;   ///< of a thread
  std::uint32_t max_threads = 0;   ///< of __launch_bounds__; 0: none
};

struct CubinVariable {
  std::string name;
  std::string bytes;      ///< its contents
  bool constant = false;  ///< __constant__
};

struct SimCubin {
  std::vector<CubinKernel> kernels;
  std::vector<CubinVariable> variables{};
  std::uint32_t architecture = 90;
  std::string library{};  ///< a host library's bytes; empty: bodies of the stand-in
};

/// The ELF file. A kernel whose body is "scale" or "accumulate" brings its variable, `factor` (2.5)
/// or `total` (0), unless it is among the cubin's; those of "scale_through" and
/// "accumulate_through" likewise.
std::string sim_cubin(SimCubin cubin);
std::string sim_cubin(std::initializer_list<CubinKernel> kernels);

/// The parameters of a body, and the bytes of the buffer that holds them.
std::vector<CubinParameter> sim_parameters(std::string_view body);
std::uint32_t sim_parameter_bytes(std::string_view body);

}  // namespace perflab::test
