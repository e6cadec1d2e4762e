// Ids and names of the calls that the stand-in driver and runtime have, as cuptiGetCallbackName
// gives them; compared with the toolkit's headers in calls_test.cpp.
#pragma once

#include "cuda/cupti_types.h"

namespace perflab::cuda_sim {

// NOLINTBEGIN(cppcoreguidelines-macro-usage)
// clang-format off

/// X(id, exported name)
#define PERFLAB_SIM_DRIVER_CALLS(X)                                                               \
  X(1, cuInit) X(2, cuDriverGetVersion) X(3, cuDeviceGet) X(4, cuDeviceGetCount)                  \
  X(5, cuDeviceGetName) X(9, cuDeviceGetAttribute) X(16, cuCtxGetDevice) X(17, cuCtxSynchronize)  \
  X(38, cuMemFreeHost) X(118, cuEventCreate) X(119, cuEventRecord) X(121, cuEventSynchronize)     \
  X(124, cuStreamCreate) X(125, cuStreamQuery) X(126, cuStreamSynchronize)                        \
  X(216, cuMemsetD8Async) X(243, cuMemAlloc_v2) X(245, cuMemFree_v2) X(259, cuDeviceTotalMem_v2)  \
  X(277, cuMemcpyHtoDAsync_v2) X(279, cuMemcpyDtoHAsync_v2) X(281, cuMemcpyDtoDAsync_v2)          \
  X(294, cuMemAllocHost_v2) X(295, cuStreamWaitEvent) X(303, cuCtxSetCurrent)                     \
  X(304, cuCtxGetCurrent) X(307, cuLaunchKernel) X(319, cuMemcpyPeerAsync)                        \
  X(325, cuEventDestroy_v2) X(326, cuStreamDestroy_v2) X(332, cuDeviceGetPCIBusId)                \
  X(371, cuMemAllocManaged) X(373, cuGetErrorName) X(386, cuDevicePrimaryCtxRetain)               \
  X(392, cuDevicePrimaryCtxGetState) X(442, cuLaunchKernel_ptsz)                                  \
  X(477, cuLaunchCooperativeKernel) X(497, cuStreamEndCapture) X(499, cuStreamIsCapturing)        \
  X(514, cuGraphLaunch) X(516, cuGraphExecDestroy) X(539, cuStreamBeginCapture_v2)                \
  X(544, cuDevicePrimaryCtxRelease_v2) X(598, cuMemAllocAsync) X(600, cuMemFreeAsync)             \
  X(602, cuMemPoolTrimTo) X(643, cuGraphInstantiateWithFlags) X(647, cuDeviceGetUuid_v2)          \
  X(652, cuLaunchKernelEx) X(719, cuKernelGetName)                                                \
  X(19, cuModuleLoadData) X(22, cuModuleUnload) X(23, cuModuleGetFunction) X(39, cuMemHostAlloc)  \
  X(85, cuFuncGetAttribute) X(120, cuEventQuery) X(241, cuModuleGetGlobal_v2)                     \
  X(246, cuMemGetAddressRange_v2) X(247, cuMemHostGetDevicePointer_v2) X(249, cuMemsetD8_v2)      \
  X(276, cuMemcpyHtoD_v2) X(278, cuMemcpyDtoH_v2) X(280, cuMemcpyDtoD_v2)                         \
  X(302, cuMemHostUnregister) X(310, cuPointerGetAttribute) X(379, cuMemHostRegister_v2)          \
  X(481, cuFuncSetAttribute) X(547, cuMemAddressReserve) X(548, cuMemAddressFree)                 \
  X(549, cuMemCreate) X(550, cuMemRelease) X(551, cuMemMap) X(552, cuMemUnmap)                    \
  X(553, cuMemSetAccess) X(556, cuMemGetAllocationGranularity) X(566, cuFuncGetModule)            \
  X(678, cuLibraryLoadData) X(681, cuLibraryGetKernel) X(682, cuLibraryGetModule)                 \
  X(683, cuKernelGetFunction) X(718, cuFuncGetName) X(733, cuFuncGetParamInfo)                    \
  X(754, cuKernelGetLibrary) X(780, cuEventElapsedTime_v2) X(541, cuThreadExchangeStreamCaptureMode) \
  X(558, cuMemGetAccess) X(509, cuGraphNodeGetType) X(534, cuGraphGetNodes)                        \
  X(570, cuGraphKernelNodeGetAttribute) X(690, cuGraphKernelNodeGetParams_v2)                     \
  X(725, cuGraphNodeGetDependencies_v2)

/// X(id, name, version that CUPTI puts behind it)
#define PERFLAB_SIM_RUNTIME_CALLS(X)                                                              \
  X(3, cudaGetDeviceCount, _v3020) X(16, cudaSetDevice, _v3020) X(20, cudaMalloc, _v3020)         \
  X(22, cudaFree, _v3020) X(25, cudaMallocHost, _v3020) X(26, cudaFreeHost, _v3020)               \
  X(31, cudaMemcpy, _v3020) X(41, cudaMemcpyAsync, _v3020) X(51, cudaMemsetAsync, _v3020)         \
  X(130, cudaStreamDestroy, _v3020) X(131, cudaStreamSynchronize, _v3020)                         \
  X(132, cudaStreamQuery, _v3020) X(134, cudaEventCreateWithFlags, _v3020)                        \
  X(135, cudaEventRecord, _v3020) X(136, cudaEventDestroy, _v3020)                                \
  X(137, cudaEventSynchronize, _v3020) X(147, cudaStreamWaitEvent, _v3020)                        \
  X(161, cudaMemcpyPeerAsync, _v4000) X(164, cudaDeviceReset, _v3020)                             \
  X(165, cudaDeviceSynchronize, _v3020) X(198, cudaStreamCreateWithFlags, _v5000)                 \
  X(206, cudaMallocManaged, _v6000) X(211, cudaLaunchKernel, _v7000)                              \
  X(214, cudaLaunchKernel_ptsz, _v7000) X(269, cudaLaunchCooperativeKernel, _v9000)               \
  X(311, cudaGraphLaunch, _v10000) X(313, cudaGraphExecDestroy, _v10000)                          \
  X(315, cudaStreamBeginCapture, _v10000) X(319, cudaStreamEndCapture, _v10000)                   \
  X(373, cudaMallocAsync, _v11020) X(375, cudaFreeAsync, _v11020)                                 \
  X(377, cudaMemPoolTrimTo, _v11020) X(430, cudaLaunchKernelExC, _v11060)                         \
  X(443, cudaGraphInstantiate, _v12000)

// clang-format on

/// One call: its domain, id and CUPTI's name.
struct CallName {
  cuda::CallbackDomain domain;
  cuda::CallbackId id;
  const char* name;
};

namespace driver_calls {
#define PERFLAB_SIM_CALL(id, name) \
  inline constexpr CallName name{cuda::CallbackDomain::driver_api, id, #name};
PERFLAB_SIM_DRIVER_CALLS(PERFLAB_SIM_CALL)
#undef PERFLAB_SIM_CALL
}  // namespace driver_calls

namespace runtime_calls {
#define PERFLAB_SIM_CALL(id, name, version) \
  inline constexpr CallName name{cuda::CallbackDomain::runtime_api, id, #name #version};
PERFLAB_SIM_RUNTIME_CALLS(PERFLAB_SIM_CALL)
#undef PERFLAB_SIM_CALL
}  // namespace runtime_calls
// NOLINTEND(cppcoreguidelines-macro-usage)

}  // namespace perflab::cuda_sim
