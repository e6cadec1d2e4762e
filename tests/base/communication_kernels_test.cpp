// Names of kernels that wait for other ranks, and of those that only look like it.
#include "base/communication_kernels.h"

#include <gtest/gtest.h>

namespace perflab {
namespace {

TEST(CommunicationKernels, OfTheLibraries) {
  for (const char* name :
       {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
        "void vllm::cross_device_reduce_1stage<__half, 2>(vllm::RankData*)",
        "ncclDevKernel_Generic_4", "ncclSymkDevKernel_AllGather_LL", "nvshmem_barrier_all",
        "void ddaAllReduceFlatIpc<float>(float*)", "ncclDevKernel_Generic_1 [clone .kd]"})
    EXPECT_TRUE(waits_for_ranks(name)) << name;
}

TEST(CommunicationKernels, OfPrograms) {
  for (const char* name : {"my_ncclDevKernel", "volta_sgemm_128x32_nt", "", "reduce_kernel",
                           "void copy<ncclDevKernel>(float*)", "nccl", "dda_solver", "ddaAll",
                           "hierarchicalAGShuffle", "oneRankReduce"})
    EXPECT_FALSE(waits_for_ranks(name)) << name;
}

TEST(CommunicationKernels, TheCollectiveInTheName) {
  EXPECT_EQ(communication_kernel("ncclDevKernel_AllReduce_Sum_f32(int)").collective,
            "AllReduce_Sum_f32");
  EXPECT_EQ(communication_kernel("ncclDevKernelDebug_Generic").collective, "Generic");
  EXPECT_EQ(communication_kernel("ncclKernel").collective, "");
  EXPECT_EQ(communication_kernel("x::cross_device_reduce_2stage<float>").collective, "AllReduce");
  EXPECT_EQ(communication_kernel("ddaReduceScatterIpc").collective, "ReduceScatter");
  EXPECT_EQ(communication_kernel("hierarchicalAGShuffle").kernel->role, CommunicationRole::helper);
  EXPECT_EQ(communication_kernel("gemm").kernel, nullptr);
}

TEST(CommunicationKernels, NamesInSymbols) {
  for (const char* symbol :
       {"ncclDevKernel_Generic_1", "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclArgs",
        "_ZN4vllm26cross_device_reduce_1stageIfLi2EEEvv", "nvshmem_quiet"})
    EXPECT_TRUE(symbol_waits_for_ranks(symbol)) << symbol;
  for (const char* symbol : {"_Z18my_ncclDevKernel_xv", "my_ncclKernel", "a1ncclKernel", "_Z4gemmv",
                             "", "_Z13oneRankReducev"})
    EXPECT_FALSE(symbol_waits_for_ranks(symbol)) << symbol;
}

}  // namespace
}  // namespace perflab
