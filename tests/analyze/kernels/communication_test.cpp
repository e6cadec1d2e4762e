// Names of kernels that wait for other ranks, and of those that only look like it.
#include "analyze/kernels/communication.h"

#include <gtest/gtest.h>

namespace perflab::analyze {
namespace {

TEST(Communication, KernelsOfTheLibraries) {
  for (const char* name :
       {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
        "void vllm::cross_device_reduce_1stage<__half, 2>(vllm::RankData*)",
        "ncclDevKernel_Generic_4", "nvshmem_barrier_all"})
    EXPECT_TRUE(is_communication_kernel(name)) << name;
}

TEST(Communication, KernelsOfPrograms) {
  for (const char* name : {"my_ncclDevKernel", "volta_sgemm_128x32_nt", "", "reduce_kernel",
                           "void copy<ncclDevKernel>(float*)", "nccl", "dda_solver"})
    EXPECT_FALSE(is_communication_kernel(name)) << name;
}

}  // namespace
}  // namespace perflab::analyze
