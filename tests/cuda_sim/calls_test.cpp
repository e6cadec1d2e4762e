// Ids of the stand-in's calls, and the numbers of NVTX that it speaks, against the toolkit's
// headers. Compiled where the build found them; elsewhere one test says that it did not.
#include "cuda_sim/calls.h"

#include <gtest/gtest.h>

#ifdef PERFLAB_CUPTI_HEADERS
#include <cupti.h>
#include <nvtx3/nvToolsExt.h>

#include <cstddef>

#include "cuda_sim/nvtx.h"

namespace perflab::cuda_sim {
namespace {

TEST(CudaSimCalls, Ids){
// NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define SAME_DRIVER_ID(id, name) static_assert(CUPTI_DRIVER_TRACE_CBID_##name == (id));
#define SAME_RUNTIME_ID(id, name, version) \
  static_assert(CUPTI_RUNTIME_TRACE_CBID_##name##version == (id));
    // NOLINTEND(cppcoreguidelines-macro-usage)
    PERFLAB_SIM_DRIVER_CALLS(SAME_DRIVER_ID) PERFLAB_SIM_RUNTIME_CALLS(SAME_RUNTIME_ID)}

TEST(CudaSimCalls, Nvtx) {
  static_assert(nvtx::table_callbacks == NVTX_ETID_CALLBACKS);
  static_assert(nvtx::table_version == NVTX_ETID_VERSIONINFO);
  static_assert(nvtx::module_core == NVTX_CB_MODULE_CORE);
  static_assert(nvtx::module_core2 == NVTX_CB_MODULE_CORE2);
  static_assert(nvtx::mark_a == NVTX_CBID_CORE_MarkA);
  static_assert(nvtx::range_start_a == NVTX_CBID_CORE_RangeStartA);
  static_assert(nvtx::range_end == NVTX_CBID_CORE_RangeEnd);
  static_assert(nvtx::range_push_a == NVTX_CBID_CORE_RangePushA);
  static_assert(nvtx::range_pop == NVTX_CBID_CORE_RangePop);
  static_assert(nvtx::core_size == NVTX_CBID_CORE_SIZE);
  static_assert(nvtx::domain_mark_ex == NVTX_CBID_CORE2_DomainMarkEx);
  static_assert(nvtx::domain_range_push_ex == NVTX_CBID_CORE2_DomainRangePushEx);
  static_assert(nvtx::domain_range_pop == NVTX_CBID_CORE2_DomainRangePop);
  static_assert(nvtx::domain_create_a == NVTX_CBID_CORE2_DomainCreateA);
  static_assert(nvtx::core2_size == NVTX_CBID_CORE2_SIZE);
  static_assert(sizeof(nvtx::EventAttributes) == sizeof(nvtxEventAttributes_t));
  static_assert(offsetof(nvtx::EventAttributes, color) == offsetof(nvtxEventAttributes_t, color));
  static_assert(offsetof(nvtx::EventAttributes, payload) ==
                offsetof(nvtxEventAttributes_t, payload));
  static_assert(offsetof(nvtx::EventAttributes, message_type) ==
                offsetof(nvtxEventAttributes_t, messageType));
  static_assert(offsetof(nvtx::EventAttributes, message) ==
                offsetof(nvtxEventAttributes_t, message));
}

}  // namespace
}  // namespace perflab::cuda_sim
#else
TEST(CudaSimCalls, Headers) {
  GTEST_SKIP() << "the build found no CUPTI headers of CUDA 13 (cupti.h): ids not compared";
}
#endif
