// What memory of a CUDA program is in a capture: every kind of allocation, lists over many of them,
// variables, what cannot be read.
#include <gmock/gmock.h>

#include "cuda/launch_parameters.h"
#include "isolate/cuda/cuda_isolated.h"
#include "isolate/cuda/cuda_memory.h"

namespace perflab::test {
namespace {

using capture::Origin;
using testing::HasSubstr;

TEST(IsolateCudaMemory, OfEveryKind) {
  const std::vector<std::pair<const char*, Origin>> kinds = {
      {"pool", Origin::pool}, {"async", Origin::stream_ordered}, {"managed", Origin::managed},
      {"vmem", Origin::vmem}, {"pinned", Origin::pinned},        {"registered", Origin::pinned}};
  for (const auto& [kind, origin] : kinds) {
    SCOPED_TRACE(kind);
    const CudaIsolated run({.options = {"--memory", kind, "--n", "5000", "--freed"}});
    ASSERT_CAPTURED(run);
    EXPECT_EQ(run.array(false, 5000).back(), 4999);
    EXPECT_EQ(run.array(true, 5000).back(), 5000);
    const capture::MemoryRegion& region = run.first_region();
    EXPECT_EQ(region.origin, origin);
    EXPECT_EQ(region.on_gpu, origin != Origin::pinned);
    EXPECT_EQ(region.bytes, origin == Origin::vmem ? 2U << 20 : 20000U);
    EXPECT_EQ(run.description().regions.size(), 1U) << "what was freed is not there";
    if (origin != Origin::vmem) continue;
    EXPECT_EQ(region.reservation_base, region.base - (2U << 20));
    EXPECT_EQ(region.reservation_bytes, 8U << 20);
  }
}

TEST(IsolateCudaMemory, AListOverManyAllocationsIsWhole) {
  const CudaIsolated run({.options = {"--kernel", "chase", "--nodes", "50"}, .kernel = "^chase"});
  ASSERT_CAPTURED(run);
  EXPECT_EQ(run.of_origin(Origin::pool).size(), 50U);
  std::uint64_t at = run.argument<std::uint64_t>(0), sum = 0;
  for (int steps = 0; at != 0 && steps < 100; ++steps) {
    const auto region = run.region_of(at);
    ASSERT_TRUE(region.has_value());
    const std::vector<std::byte> bytes = run.before(*region);
    std::uint64_t node[2];
    std::memcpy(node, bytes.data() + (at - run.description().regions[*region].base), sizeof node);
    at = node[0];
    sum += node[1];
  }
  EXPECT_EQ(sum, 50U * 51U / 2);
  ASSERT_EQ(run.written().size(), 1U);
  EXPECT_EQ(run.description().regions[run.written()[0]].origin, Origin::managed);
}

TEST(IsolateCudaMemory, AVariableThatTheKernelWritesIsThereBeforeAndAfter) {
  const CudaIsolated run(
      {.options = {"--kernel", "accumulate", "--n", "3"}, .kernel = "accumulate"});
  ASSERT_TRUE(run.capture.has_value()) << (run.problem ? describe(*run.problem) : "");
  const capture::MemoryRegion* const total = run.variable("total");
  ASSERT_NE(total, nullptr);
  EXPECT_EQ(total->written.size(), 1U);
  EXPECT_EQ(total->code_object_hash, run.description().code_object_hash);
}

TEST(IsolateCudaMemory, AMappingThatNobodyMayAccessIsNamed) {
  const CudaIsolated run({.options = {"--no-access"}});
  ASSERT_CAPTURED(run);
  ASSERT_EQ(run.of_origin(Origin::vmem).size(), 1U);
  EXPECT_EQ(run.of_origin(Origin::vmem)[0]->not_captured,
            "a mapping that the GPU of the launch may not access");
}

namespace calls = cuda::driver_call;

TEST(CudaMemoryList, WhatIsImportedAndWhatIsUnmappedInPieces) {
  isolate::CudaMemory memory;
  const auto tell = [&memory](cuda::CallbackId id, const auto& parameters) {
    memory.called(id, &parameters);
  };
  cuda::DevicePointer ipc = 0x1000, foreign = 0x2000, reserved = 0x10000000;
  cuda::MemoryHandle imported = 7;
  tell(calls::ipc_open_v2, cuda::AllocateParameters{&ipc});
  tell(calls::external_memory_map, cuda::AllocateParameters{&foreign});
  tell(calls::address_reserve, cuda::ReserveParameters{&reserved, 0x1000000, 0, 0, 0});
  tell(calls::memory_import, cuda::ImportHandleParameters{&imported});
  tell(calls::memory_map, cuda::MapParameters{0x10000000, 0x200000, 0, 7, 0});
  tell(calls::memory_map, cuda::MapParameters{0x10200000, 0x200000, 0, 8, 0});
  tell(calls::memory_map, cuda::MapParameters{0x10400000, 0x200000, 0, 9, 0});
  std::vector<isolate::CudaAllocation> all = memory.all();
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[0].origin, Origin::ipc);
  EXPECT_EQ(all[0].not_captured, "memory of another process");
  EXPECT_EQ(all[1].origin, Origin::interop);
  EXPECT_EQ(all[2].not_captured, "memory of another process");
  EXPECT_EQ(all[3].not_captured, "");
  EXPECT_EQ(std::pair(all[4].reservation_base, all[4].reservation_bytes),
            std::pair(std::uint64_t{0x10000000}, std::uint64_t{0x1000000}));
  tell(calls::memory_unmap, cuda::UnmapParameters{0x10000000, 0x400000});
  tell(calls::ipc_close, cuda::FreeParameters{0x1000});
  tell(calls::memory_release, cuda::ReleaseHandleParameters{7});
  tell(calls::memory_map, cuda::MapParameters{0x10000000, 0x200000, 0, 7, 0});
  all = memory.all();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].base, 0x10000000U);
  EXPECT_EQ(all[1].not_captured, "") << "a handle of that number made here";
  EXPECT_EQ(all[2].base, 0x10400000U);
}

}  // namespace
}  // namespace perflab::test
