// Rounding, merging and reading of address ranges; placeholders; the check of reservations.
#include "replay/addresses/address_plan.h"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <random>

#include "base/temp_folder.h"
#include "hsa/types.h"
#include "replay/addresses/placeholders.h"
#include "replay/hsa/hsa_memory.h"
#include "replay/sample_capture.h"
#include "replay/session/reserve_check.h"

namespace perflab::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kAt = test::kSampleBase;
constexpr std::uint64_t kGranule = 4096;

capture::MemoryRegion region(std::uint64_t base, std::uint64_t bytes) {
  capture::MemoryRegion one;
  one.base = base;
  one.bytes = bytes;
  one.pool_flags = hsa::pool_coarse_grained;
  one.recommended_granule = 2U << 20U;
  return one;
}

AddressPlan plan_of(std::vector<capture::MemoryRegion> regions) {
  capture::Description description;
  description.regions = std::move(regions);
  auto plan = plan_addresses(description, kGranule);
  EXPECT_TRUE(plan.has_value()) << (plan ? "" : plan.error().message);
  return plan ? *plan : AddressPlan{};
}

std::string refusal_of(std::vector<capture::MemoryRegion> regions) {
  capture::Description description;
  description.regions = std::move(regions);
  const auto plan = plan_addresses(description, kGranule);
  EXPECT_FALSE(plan.has_value());
  return plan ? "" : plan.error().message;
}

std::vector<Span> spans_of(const AddressPlan& plan) {
  std::vector<Span> spans;
  for (const PlannedRange& planned : plan.ranges)
    spans.push_back({.base = planned.range.base, .bytes = planned.range.bytes});
  return spans;
}

TEST(AddressPlan, RoundsToGranulesAndMergesWhatTouchesOrSharesOne) {
  const AddressPlan plan = plan_of({region(kAt + 0x3100, 0x10),      // alone, inside one page
                                    region(kAt + 0x1000, 0x1000),    // touches the first
                                    region(kAt, 0x1000),             // out of order
                                    region(kAt + 0x8800, 0x100),     // shares a page
                                    region(kAt + 0x8900, 0x1000)});  // and runs into the next
  EXPECT_THAT(spans_of(plan), ElementsAre(Span{kAt, 0x2000}, Span{kAt + 0x3000, 0x1000},
                                          Span{kAt + 0x8000, 0x2000}));
  EXPECT_THAT(plan.ranges[0].regions, ElementsAre(2, 1));
  EXPECT_THAT(plan.ranges[2].regions, ElementsAre(3, 4));
  EXPECT_EQ(plan.bytes, 0x5000U);
  EXPECT_TRUE(plan.notes.empty());
  EXPECT_EQ(reservations(plan), spans_of(plan));
}

TEST(AddressPlan, KeepsKindsApartButReservesWhatTouchesAtOnce) {
  capture::MemoryRegion host = region(kAt + 0x1000, 0x1000), other_gpu = region(kAt + 0x2000, 8);
  host.on_gpu = false;
  host.pool_flags = hsa::pool_fine_grained;
  other_gpu.agent_index = 1;
  const AddressPlan plan = plan_of({region(kAt, 0x1000), host, other_gpu});
  ASSERT_EQ(plan.ranges.size(), 3U);
  EXPECT_FALSE(plan.ranges[1].range.on_gpu);
  EXPECT_EQ(plan.ranges[1].range.pool_flags, hsa::pool_fine_grained);
  EXPECT_EQ(plan.ranges[2].range.agent_index, 1U);
  EXPECT_THAT(reservations(plan), ElementsAre(Span{kAt, 0x1000}, Span{kAt + 0x1000, 0x1000},
                                              Span{kAt + 0x2000, 0x1000}))
      << "host memory keeps its own";
  EXPECT_THAT(reservations(plan_of({region(kAt, 0x1000), region(kAt + 0x1000, 8), other_gpu})),
              ElementsAre(Span{kAt, 0x3000}));
  // In one granule they cannot be kept apart.
  host.base = kAt + 0x800;
  host.bytes = 8;
  const AddressPlan shared = plan_of({region(kAt, 0x10), host});
  ASSERT_EQ(shared.ranges.size(), 1U);
  EXPECT_TRUE(shared.ranges[0].range.on_gpu);
  ASSERT_EQ(shared.notes.size(), 1U);
  EXPECT_THAT(shared.notes[0], HasSubstr("different kinds shares a granule at 0x200000000000"));
}

TEST(AddressPlan, WidensLargeRangesToRecommendedGranulesWhereThereIsRoom) {
  constexpr std::uint64_t kLarge = 2U << 20U;
  EXPECT_THAT(spans_of(plan_of({region(kAt, kLarge + 1)})), ElementsAre(Span{kAt, 2 * kLarge}));
  EXPECT_THAT(spans_of(plan_of({region(kAt, kLarge + 1), region(kAt + kLarge + 0x3000, 1)})),
              ElementsAre(Span{kAt, kLarge + 0x1000}, Span{kAt + kLarge + 0x3000, 0x1000}));
  EXPECT_THAT(spans_of(plan_of({region(kAt + 0x1000, kLarge + 1)})),  // not aligned
              ElementsAre(Span{kAt + 0x1000, kLarge + 0x1000}));
  EXPECT_THAT(spans_of(plan_of({region(kAt, kLarge - 1)})), ElementsAre(Span{kAt, kLarge}));
}

TEST(AddressPlan, LeavesOutWhatHasNoContentsOrNoAddressOfItsOwn) {
  capture::MemoryRegion locked = region(kAt, 0x1000), variable = region(kAt + 0x1000, 8);
  locked.not_captured = "memory of the host";
  variable.origin = capture::Origin::variable;
  EXPECT_TRUE(plan_of({locked, variable, region(kAt, 0)}).ranges.empty());
}

TEST(AddressPlan, RefusesOverlapsAndImpossibleAddresses) {
  EXPECT_THAT(refusal_of({region(kAt, 0x1000), region(kAt + 0xfff, 1)}),
              ::testing::AllOf(HasSubstr("not_replayable: "), HasSubstr("0x200000000fff"),
                               HasSubstr("overlaps")));
  for (const auto& [base, bytes] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, 1}, {1ULL << 47U, 1}, {(1ULL << 47U) - 4096, 4097}, {~0ULL, ~0ULL}, {4096, ~0ULL}})
    EXPECT_THAT(refusal_of({region(base, bytes)}), HasSubstr("outside the address space"));
}

// Every region lies in exactly one range that lists it, ranges are disjoint and of whole granules.
TEST(AddressPlan, HoldsItsPromisesOnRandomRegions) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<capture::MemoryRegion> regions;
    std::uint64_t at = kAt;
    for (int i = 0; i < 40; ++i) {
      at += random() % 3 == 0 ? 0 : random() % 20000;
      capture::MemoryRegion one = region(at, 1 + random() % (random() % 8 == 0 ? 5000000 : 9000));
      one.on_gpu = random() % 4 != 0;
      at += one.bytes;
      regions.push_back(one);
    }
    const AddressPlan plan = plan_of(regions);
    std::vector<int> seen(regions.size());
    std::uint64_t end = 0, bytes = 0;
    for (const PlannedRange& planned : plan.ranges) {
      const FixedRange& range = planned.range;
      EXPECT_EQ(range.base % kGranule + range.bytes % kGranule, 0U);
      EXPECT_GE(range.base, end);
      end = range.base + range.bytes;
      bytes += range.bytes;
      for (const std::size_t i : planned.regions) {
        ++seen[i];
        EXPECT_TRUE(range.base <= regions[i].base && regions[i].base + regions[i].bytes <= end);
      }
    }
    EXPECT_EQ(bytes, plan.bytes);
    EXPECT_THAT(seen, ::testing::Each(1));
    std::uint64_t reserved = 0;
    for (const Span& span : reservations(plan)) reserved += span.bytes;
    EXPECT_EQ(reserved, plan.bytes);
  }
}

TEST(Mappings, AreReadAndNamed) {
  const auto mappings = parse_mappings(
      "00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/with a space\n"
      "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
      "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0          [stack]\n");
  ASSERT_TRUE(mappings.has_value());
  ASSERT_EQ(mappings->size(), 3U);
  EXPECT_EQ((*mappings)[0].name, "/usr/bin/with a space");
  EXPECT_EQ((*mappings)[1].name, "");
  EXPECT_EQ((*mappings)[1].permissions, "rw-p");
  EXPECT_EQ(who_holds(*mappings, 0x451fff, 0x452001), "/usr/bin/with a space (r-xp 400000-452000)");
  EXPECT_EQ(who_holds(*mappings, 0x452000, 0x7f0000000000), "");
  EXPECT_EQ(who_holds(*mappings, 0, ~0ULL),
            "/usr/bin/with a space (r-xp 400000-452000), memory without a name (rw-p "
            "7f0000000000-7f0000001000), [stack] (rw-p 7ffc00000000-7ffc00021000)");
  for (const char* bad : {"nonsense", "12-10 r--p 0 0 0", "xy-zz r--p 0 0 0", "1-2 r--p"})
    EXPECT_FALSE(parse_mappings(std::string(bad) + "\n").has_value()) << bad;
  const auto own = own_mappings();
  ASSERT_TRUE(own.has_value());
  const int local = 0;
  const auto address = reinterpret_cast<std::uint64_t>(&local);
  EXPECT_THAT(who_holds(*own, address, address + 1), ::testing::Not(::testing::IsEmpty()));
}

TEST(Steering, HoldsFreeRangesNamesTakenOnesAndLetsGo) {
  void* const mine = reinterpret_cast<void*>(kAt + 0x10000);
  ASSERT_EQ(
      ::mmap(mine, kGranule, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
      mine);
  const auto is_held = [](std::uint64_t first) {
    return !who_holds(own_mappings().value(), first, first + 1).empty();
  };
  {
    auto held =
        Placeholders::hold({{kAt, 2 * kGranule}, {kAt + 0x8000, kGranule}, {kAt + 0xf000, 0x3000}});
    ASSERT_TRUE(held.has_value());
    EXPECT_TRUE(is_held(kAt) && is_held(kAt + 0x8000));
    ASSERT_EQ(held->conflicts().size(), 1U);
    EXPECT_EQ(held->conflicts()[0].span.base, kAt + 0xf000);
    EXPECT_THAT(held->conflicts()[0].holder, HasSubstr("r--p 200000010000-200000011000"));
    held->release({kAt, 2 * kGranule});
    EXPECT_FALSE(is_held(kAt));
    const Placeholders moved = std::move(*held);
    EXPECT_TRUE(is_held(kAt + 0x8000));
  }
  EXPECT_FALSE(is_held(kAt + 0x8000));
  ::munmap(mine, kGranule);
}

TEST(Steering, FindsTheRuntimesOwnAreaBetweenTwoMaps) {
  const std::vector<Mapping> before{{0x1000, 0x2000, "---p", ""},
                                    {0x7f0000000000, 0x7f3000000000, "---p", "sanitizer"}};
  std::vector<Mapping> after = before;
  EXPECT_EQ(svm_area(before, after), Span{});
  after.push_back({0x7000000000, 0x7800000000, "---p", ""});  // 32 GiB: scratch, not the area
  EXPECT_EQ(svm_area(before, after), Span{});
  after.push_back({0x1000000000, 0x4000000000, "---p", ""});
  after.push_back({0x4000000000, 0x4000200000, "rw-p", ""});
  after.push_back({0x4000200000, 0xf000000000, "---p", ""});
  EXPECT_EQ(svm_area(before, after), (Span{0x1000000000, 0xe000000000}));
}

}  // namespace
}  // namespace perflab::replay
