// Which memory is in a capture: every kind of allocation, and none that is gone.
#include <algorithm>

#include "hsa/types.h"
#include "isolate/isolated.h"

namespace perflab::test {
namespace {

using capture::MemoryRegion;
using capture::Origin;

TEST(IsolateMemory, ThreeHundredRegionsAreAllThere) {
  const Isolated run({.options = {"--kernel", "inplace", "--regions", "300"}});
  ASSERT_CAPTURED(run);
  std::size_t bystanders = 0;
  for (std::size_t i = 0; i < run.description().regions.size(); ++i) {
    const auto bytes = run.before(i);
    if (!bytes.empty() && bytes.size() <= 5 * 4096 &&
        std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{42}; }))
      ++bystanders;
  }
  EXPECT_EQ(bystanders, 300U);
  EXPECT_EQ(run.written().size(), 1U);
}

TEST(IsolateMemory, FreedRangesAreNotThere) {
  const Isolated with({.options = {"--kernel", "inplace", "--free-some"}});
  const Isolated without({.options = {"--kernel", "inplace"}});
  ASSERT_CAPTURED(with);
  ASSERT_CAPTURED(without);
  EXPECT_EQ(with.description().regions.size(), without.description().regions.size());
}

TEST(IsolateMemory, ASparseGigabyteTakesNoGigabyte) {
  const Isolated run({.options = {"--kernel", "inplace", "--sparse", "1G"}});
  ASSERT_CAPTURED(run);
  const auto big =
      std::ranges::find(run.description().regions, std::uint64_t{1} << 30, &MemoryRegion::bytes);
  ASSERT_NE(big, run.description().regions.end());
  EXPECT_EQ(big->image.pages, 262144U);
  EXPECT_EQ(big->image.zero_pages, 262144U - 6);
  EXPECT_LT(big->image.file_bytes, 1U << 20);
}

TEST(IsolateMemory, OfMappingsOnlyWhatIsMapped) {
  const Isolated run({.options = {"--kernel", "inplace", "--vmem"}});
  ASSERT_CAPTURED(run);
  const auto mapped = run.of_origin(Origin::vmem);
  ASSERT_EQ(mapped.size(), 1U);
  EXPECT_EQ(mapped[0]->bytes, 2U << 20);
  EXPECT_EQ(mapped[0]->reservation_bytes, 6U << 20);
  EXPECT_EQ(mapped[0]->base, mapped[0]->reservation_base + (2U << 20));
  EXPECT_TRUE(mapped[0]->on_gpu);
  EXPECT_EQ(run.array(false)[1], 1);
  EXPECT_EQ(run.array(true)[1], 2);
}

TEST(IsolateMemory, ManagedMemoryIsThereWithItsChanges) {
  const Isolated run({.options = {"--kernel", "inplace", "--managed", "--n", "3000"}});
  ASSERT_CAPTURED(run);
  ASSERT_EQ(run.of_origin(Origin::managed).size(), 1U);
  EXPECT_EQ(run.first_region().origin, Origin::managed);
  EXPECT_EQ(run.first_region().bytes, 12288U);
  EXPECT_EQ(run.array(false)[2999 % 8], 7);
  EXPECT_EQ(run.array(true)[7], 8);
}

TEST(IsolateMemory, LockedAttachedAndImportedRangesAreNotedWithoutContents) {
  const Isolated locked({.options = {"--kernel", "inplace", "--lock"}});
  ASSERT_CAPTURED(locked);
  ASSERT_EQ(locked.of_origin(Origin::locked).size(), 1U);
  EXPECT_EQ(locked.of_origin(Origin::locked)[0]->not_captured,
            "host memory of the program that was locked for the GPU");
  const Isolated others({.options = {"--kernel", "inplace", "--ipc", "--interop"}});
  ASSERT_CAPTURED(others);
  ASSERT_EQ(others.of_origin(Origin::ipc).size(), 1U);
  EXPECT_FALSE(others.of_origin(Origin::ipc)[0]->captured());
  ASSERT_EQ(others.of_origin(Origin::interop).size(), 1U);
  EXPECT_FALSE(others.of_origin(Origin::interop)[0]->captured());
}

TEST(IsolateMemory, HostPoolsAndRegionsKeepTheirKind) {
  const Isolated host({.options = {"--kernel", "inplace", "--host"}});
  ASSERT_CAPTURED(host);
  EXPECT_FALSE(host.first_region().on_gpu);
  EXPECT_EQ(host.first_region().origin, Origin::pool);
  EXPECT_EQ(host.array(true)[3], 4);
  const Isolated region({.options = {"--kernel", "inplace", "--region"}});
  ASSERT_CAPTURED(region);
  EXPECT_EQ(region.first_region().origin, Origin::region);
  EXPECT_EQ(region.array(true)[3], 4);
  const Isolated pool({.options = {"--kernel", "inplace"}});
  ASSERT_CAPTURED(pool);
  EXPECT_TRUE(pool.first_region().on_gpu);
  EXPECT_EQ(pool.first_region().pool_flags, hsa::pool_coarse_grained);
  EXPECT_EQ(pool.first_region().granule, 4096U);
  EXPECT_EQ(pool.first_region().recommended_granule, 2U << 20);
}

TEST(IsolateMemory, VariablesAreThereBySymbolAndObject) {
  const Isolated run({.options = {"--kernel", "scale"}, .kernel = "scale"});
  ASSERT_CAPTURED(run);
  const MemoryRegion* const factor = run.variable("factor");
  ASSERT_NE(factor, nullptr);
  EXPECT_EQ(factor->bytes, 4U);
  EXPECT_EQ(factor->code_object_hash, run.description().code_object_hash);
  EXPECT_TRUE(factor->written.empty());
  float value = 0;
  const auto number = static_cast<std::size_t>(factor - run.description().regions.data());
  std::memcpy(&value, run.before(number).data(), 4);
  EXPECT_EQ(value, 2.5F);
}

TEST(IsolateMemory, ChangesOfVariablesAreInTheWriteSet) {
  const Isolated run(
      {.options = {"--kernel", "accumulate", "--launches", "2"}, .kernel = "accumulate"});
  ASSERT_CAPTURED(run);
  const MemoryRegion* const total = run.variable("total");
  ASSERT_NE(total, nullptr);
  EXPECT_EQ(total->written.size(), 1U);
  EXPECT_EQ(run.written().size(), 1U);
}

TEST(IsolateMemory, PointersInMemoryStayPointers) {
  const Isolated run({.options = {"--kernel", "chase"}, .kernel = "chase"});
  ASSERT_CAPTURED(run);
  // Every node of the list points into captured memory.
  auto at = run.argument<std::uint64_t>(0);
  for (int step = 0; step < 20; ++step) {
    const auto region = run.region_of(at);
    ASSERT_TRUE(region.has_value()) << step;
    std::uint64_t next = 0;
    const auto bytes = run.before(*region);
    std::memcpy(&next, bytes.data() + (at - run.description().regions[*region].base), 8);
    at = next;
  }
}

TEST(IsolateMemory, ReservedModeIsNamed) {
  const Isolated run(
      {.options = {"--kernel", "inplace"}, .environment = {{"HSA_RESERVE_SVM", "1"}}});
  ASSERT_CAPTURED(run);
  EXPECT_EQ(run.description().machine.address_mode, "reserved");
}

}  // namespace
}  // namespace perflab::test
