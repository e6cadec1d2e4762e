// CUDA for this machine's CPU, as far as kernels that sim_nvcc compiles need it: examples/host, and
// what CUDA has besides. Threads run one after the other; what is not here does not compile.
#pragma once

#include <hip/hip_runtime.h>

#include <algorithm>

template <class T>
inline T __ldg(const T* place) {
  return *place;
}
using std::max;
using std::min;
