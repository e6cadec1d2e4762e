// The kernel of modules.hip and compiled.hip, as a code object of its own.
#include <hip/hip_runtime.h>

extern "C" __global__ void scale_add(const float* in, float* out, float factor, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = factor * in[i] + out[i];
}
