// The kernels and the program that runs them, compiled for the CPU as one unit: what the program
// expects of each kernel is what the kernel computes.
#include <cstring>

#define CALIBRATE_PLATFORM "calibrate/cpu_platform.h"
#define CALIBRATE_HOST_PLATFORM "calibrate/cpu_host_platform.h"
#include "calibrate/programs/kernels.hip"

#define CPU_KERNELS                                                                               \
  KERNEL(calibrate_copy_16)                                                                       \
  KERNEL(calibrate_copy_8)                                                                        \
  KERNEL(calibrate_copy_4)                                                                        \
  KERNEL(calibrate_write_16)                                                                      \
  KERNEL(calibrate_read_16)                                                                       \
  KERNEL(calibrate_stride_32)                                                                     \
  KERNEL(calibrate_stride_64)                                                                     \
  KERNEL(calibrate_stride_128)                                                                    \
  KERNEL(calibrate_atomic_add)                                                                    \
  KERNEL(calibrate_fma_fp32)                                                                      \
  KERNEL(calibrate_add_fp32)                                                                      \
  KERNEL(calibrate_mul_fp32)                                                                      \
  KERNEL(calibrate_trans_fp32)                                                                    \
  KERNEL(calibrate_fma_fp64)                                                                      \
  KERNEL(calibrate_add_fp64)                                                                      \
  KERNEL(calibrate_mul_fp64)                                                                      \
  KERNEL(calibrate_int32)                                                                         \
  KERNEL(calibrate_packed_fma_fp16)                                                               \
  KERNEL(calibrate_fma_fp16)                                                                      \
  KERNEL(calibrate_packed_fma_fp32)                                                               \
  KERNEL(calibrate_lds_read)                                                                      \
  KERNEL(calibrate_lds_conflict_2)                                                                \
  KERNEL(calibrate_lds_conflict_8)                                                                \
  KERNEL(calibrate_salu)                                                                          \
  KERNEL(calibrate_smem)

#define main cpu_host_main
#include "calibrate/programs/host.cpp"
#undef main

static void launch(Function function, const Line& line, Arguments& arguments) {
  Work work;
  static_assert(sizeof(work) == sizeof(arguments));
  std::memcpy(&work, &arguments, sizeof(work));
  for (cpu_block = 0; cpu_block < line.groups; ++cpu_block)
    for (cpu_thread = 0; cpu_thread < line.group; ++cpu_thread) function(work);
}
