// Captures of the stand-in CUDA's kernels, for the tests of replay and of the commands.
#pragma once

#include <string>
#include <vector>

#include "cuda_sim/sim_cubins.h"
#include "replay/sample_capture.h"

namespace perflab::test {

/// Where these captures have memory of the GPU: in the middle of 32 MiB, as cudaMalloc gives it,
/// where nothing of a process is.
inline constexpr std::uint64_t kCudaBase = 0x7000'00e0'0000;

/// A launch of one of the stand-in's kernels (kernel_bodies.h), without memory or arguments yet.
inline SampleCapture cuda_launch(const std::string& body, std::uint64_t threads,
                                 SimCubin cubin = {}) {
  if (cubin.kernels.empty()) cubin.kernels = {{.name = body}};
  SampleCapture sample;
  sample.code_object = sim_cubin(cubin);
  capture::Dispatch& dispatch = sample.description.dispatch;
  dispatch.kernel = dispatch.demangled = cubin.kernels.front().name;
  dispatch.ordinal = 1;
  constexpr std::uint32_t kBlock = 256;
  dispatch.grid = {(threads + kBlock - 1) / kBlock * kBlock, 1, 1};
  dispatch.workgroup = {kBlock, 1, 1};
  dispatch.kernarg_bytes = sim_parameter_bytes(body);
  dispatch.captured_ns = 2000;
  dispatch.cuda.emplace();
  dispatch.cuda->max_dynamic_shared_bytes = 48 * 1024;
  dispatch.cuda->registers = 16;
  for (const CubinParameter& one : sim_parameters(body))
    dispatch.cuda->parameters.push_back({.offset = one.offset, .size = one.bytes});
  capture::Machine& machine = sample.description.machine;
  machine.platform = capture::Platform::cuda;
  machine.isa = machine.agent_name = "sm_90";
  machine.product_name = "NVIDIA H100 80GB HBM3";
  machine.compute_units = 132;
  machine.gpu_count = 1;
  machine.runtime_version = "13.0";
  return sample;
}

/// Adds memory of the GPU, as cuMemAlloc gives it.
inline SampleRegion& add_cuda(SampleCapture& sample, std::uint64_t base,
                              std::vector<std::byte> before, std::vector<std::byte> after) {
  SampleRegion& one = sample.add(base, std::move(before), std::move(after));
  one.region.pool_flags = 0;
  one.region.granule = 0;
  one.region.recommended_granule = 0;
  return one;
}

inline std::vector<float> counting(std::uint32_t count, float first = 0) {
  std::vector<float> values(count);
  for (std::uint32_t i = 0; i < count; ++i) values[i] = first + static_cast<float>(i);
  return values;
}

/// x[i] += 1 over `count` floats 0, 1, 2, ... at kCudaBase.
inline SampleCapture cuda_inplace(std::uint32_t count = 5000) {
  SampleCapture sample = cuda_launch("inplace", count);
  add_cuda(sample, kCudaBase, bytes_of_values(counting(count)),
           bytes_of_values(counting(count, 1)));
  sample.push<std::uint64_t>(kCudaBase);
  sample.push<std::uint32_t>(count);
  return sample;
}

}  // namespace perflab::test
