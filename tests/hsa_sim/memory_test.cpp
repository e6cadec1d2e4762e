// Pools, pointers, copies and virtual memory: docs/facts/hsa_runtime.md, from "Agents and pools" to
// "Repeatable addresses", and its "Statuses" that belong there.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "hsa_sim/sim_session.h"

namespace perflab::test {
namespace {

using namespace hsa;

constexpr std::size_t kPage = 4096, kHuge = std::size_t{2} << 20;

std::uint64_t address(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}
std::byte* pointer(std::uint64_t address) {
  return reinterpret_cast<std::byte*>(address);
}

/// The calls on virtual memory that most tests make.
struct Vmem : SimSession {
  using SimSession::SimSession;

  /// Where the reservation came to lie; 0 when the call failed with this status.
  std::uint64_t reserve(std::uint64_t wish, std::size_t bytes, Status expected = success,
                        std::uint64_t flags = 0) const {
    void* got = nullptr;
    EXPECT_EQ(api.amd.vmem_address_reserve(&got, bytes, wish, flags), expected);
    return expected == success ? address(got) : 0;
  }
  [[nodiscard]] VmemHandle handle(std::size_t bytes, Status expected = success) const {
    VmemHandle made{};
    EXPECT_EQ(api.amd.vmem_handle_create(device, bytes, MemoryType::pinned, 0, &made), expected);
    return made;
  }
  [[nodiscard]] Status map(std::uint64_t at, std::size_t bytes, VmemHandle handle,
                           std::size_t offset = 0) const {
    return api.amd.vmem_map(pointer(at), bytes, offset, handle, 0);
  }
  [[nodiscard]] Status allow(std::uint64_t at, std::size_t bytes,
                             Access access = Access::read_write) const {
    const AccessDescription description{access, gpu};
    return api.amd.vmem_set_access(pointer(at), bytes, &description, 1);
  }
  [[nodiscard]] Status unmap(std::uint64_t at, std::size_t bytes) const {
    return api.amd.vmem_unmap(pointer(at), bytes);
  }
  [[nodiscard]] Status free_addresses(std::uint64_t at, std::size_t bytes) const {
    return api.amd.vmem_address_free(pointer(at), bytes);
  }
  [[nodiscard]] PointerInfo info(const void* of, Status expected = success) const {
    PointerInfo found{};
    found.size = sizeof found;
    EXPECT_EQ(api.amd.pointer_info(of, &found, nullptr, nullptr, nullptr), expected);
    return found;
  }
  /// An address range that nothing holds.
  [[nodiscard]] std::uint64_t free_range(std::size_t bytes) const {
    const std::uint64_t at = reserve(0, bytes);
    EXPECT_EQ(free_addresses(at, bytes), success);
    return at;
  }
};

// "Agents and pools"
TEST(HsaSimPools, AreThoseOfARealMachine) {
  const SimSession session(Set{"HSA_SIM_GPUS", "2"});
  EXPECT_EQ(session.agents.size(), 3U);
  const auto flags = [&](MemoryPool pool) {
    std::uint32_t value = 0;
    session.api.amd.memory_pool_get_info(pool, pool_info::global_flags, &value);
    return value;
  };
  ASSERT_EQ(session.device_pools.size(), 3U);
  EXPECT_EQ(flags(session.device_pools[0]), 4U);
  EXPECT_EQ(flags(session.device_pools[1]), 8U);
  ASSERT_EQ(session.host_pools.size(), 4U);
  EXPECT_EQ(flags(session.host_pools[0]), 2U);
  EXPECT_EQ(flags(session.host_pools[1]), 8U);
  EXPECT_EQ(flags(session.host_pools[2]), 3U);
  EXPECT_EQ(flags(session.host_pools[3]), 4U);
  std::uint32_t segment = 0, access = 0;
  session.api.amd.memory_pool_get_info(session.device_pools[2], pool_info::segment, &segment);
  EXPECT_EQ(segment, 3U);
  session.api.amd.agent_memory_pool_get_info(session.cpu, session.device, agent_pool_info::access,
                                             &access);
  EXPECT_EQ(access, 2U) << "disallowed by default";
  std::size_t granule = 0, recommended = 0;
  session.api.amd.memory_pool_get_info(session.device, pool_info::granule, &granule);
  session.api.amd.memory_pool_get_info(session.device, pool_info::recommended_granule,
                                       &recommended);
  EXPECT_EQ(granule, kPage);
  EXPECT_EQ(recommended, kHuge);
  char isa[64] = {};
  Isa of{};
  session.api.core.agent_get_info(session.gpu, agent_info::isa, &of);
  session.api.core.isa_get_info_alt(of, isa_info::name, isa);
  EXPECT_STREQ(isa, "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-");
}

// "Fragments"
TEST(HsaSimPools, CarveSmallRequestsOutOfBlocks) {
  const SimSession session;
  auto* const first = session.allocate(100);
  auto* const second = session.allocate(kPage + 1);
  auto* const third = session.allocate(kPage);
  EXPECT_EQ(address(first) % kHuge, 0U);
  EXPECT_EQ(second, first + kPage);
  EXPECT_EQ(third, first + 3 * kPage) << "neighbours in 4 KiB steps";
  EXPECT_EQ(session.api.amd.memory_pool_free(second), success);
  EXPECT_EQ(session.allocate(2 * kPage), second) << "freed fragments are used again";
  const std::uint64_t large = address(session.allocate(kHuge));
  EXPECT_EQ(large % kHuge, 0U);
}

TEST(HsaSimPools, GiveEveryRequestItsMappingWhenAskedTo) {
  const SimSession session(Set{"HSA_DISABLE_FRAGMENT_ALLOCATOR", "1"});
  const std::uint64_t first = address(session.allocate(100));
  const std::uint64_t second = address(session.allocate(100));
  EXPECT_NE(first / kHuge, second / kHuge);
}

TEST(HsaSimPools, AnswerMisuseWithTheRealStatuses) {
  const SimSession session;
  const AmdExt& amd = session.api.amd;
  void* got = nullptr;
  EXPECT_EQ(amd.memory_pool_allocate(session.device, 0, 0, &got), Status::invalid_argument);
  EXPECT_EQ(amd.memory_pool_allocate(session.device, std::size_t{200} << 30, 0, &got),
            Status::invalid_allocation);
  auto* const block = session.allocate(3 * kPage);
  EXPECT_EQ(amd.memory_pool_free(block + kPage), Status::invalid_allocation) << "interior";
  EXPECT_EQ(amd.memory_pool_free(&got), Status::invalid_allocation) << "unknown";
  EXPECT_EQ(amd.memory_pool_free(block), success);
  EXPECT_EQ(amd.memory_pool_free(block), Status::invalid_allocation) << "twice";
  EXPECT_EQ(amd.memory_pool_free(nullptr), success);
}

// "Pointer queries"
TEST(HsaSimPointers, AreKnownByWhatTheyPointTo) {
  const Vmem session;
  auto* const block = session.allocate(kPage + 100);
  PointerInfo info = session.info(block + 77);
  EXPECT_EQ(info.type, PointerType::hsa);
  EXPECT_EQ(info.agent_base, block);
  EXPECT_EQ(info.host_base, block);
  EXPECT_EQ(info.bytes, kPage + 100) << "as asked for";
  EXPECT_EQ(info.owner, session.gpu);
  EXPECT_EQ(info.global_flags, 4U);

  info = session.info(block + 4 * kPage);
  EXPECT_EQ(info.type, PointerType::unknown) << "in the block, in no fragment";
  EXPECT_EQ(info.agent_base, block);
  EXPECT_EQ(info.bytes, kHuge);

  EXPECT_EQ(session.api.amd.memory_pool_free(block), success);
  EXPECT_EQ(session.info(block).type, PointerType::unknown);
  info = session.info(&info);
  EXPECT_EQ(info.type, PointerType::unknown);
  EXPECT_EQ(info.agent_base, nullptr);
  EXPECT_EQ(info.bytes, 0U);

  static_cast<void>(session.info(nullptr, Status::invalid_argument));
  PointerInfo no_size{};
  EXPECT_EQ(session.api.amd.pointer_info(block, &no_size, nullptr, nullptr, nullptr),
            Status::invalid_argument);
}

TEST(HsaSimPointers, IntoVirtualMemoryHaveTheirOddities) {
  const Vmem session;
  const std::uint64_t at = session.reserve(0, 3 * kHuge);
  PointerInfo info = session.info(pointer(at + kHuge));
  EXPECT_EQ(info.type, PointerType::reserved_address);
  EXPECT_EQ(info.agent_base, nullptr);
  EXPECT_EQ(info.host_base, pointer(at));
  EXPECT_EQ(info.bytes, 3 * kHuge);
  ASSERT_EQ(session.map(at + kHuge, kHuge, session.handle(kHuge)), success);
  info = session.info(pointer(at + kHuge + kPage));
  EXPECT_EQ(info.type, PointerType::vmem);
  EXPECT_EQ(info.agent_base, pointer(at + kHuge + kPage)) << "the queried pointer";
  EXPECT_EQ(info.bytes, kHuge) << "with the whole size";
}

TEST(HsaSimPointers, ListTheAgentsThatHaveAccess) {
  const SimSession session;
  void* block = nullptr;
  ASSERT_EQ(session.api.amd.memory_pool_allocate(session.host, kPage, 0, &block), success);
  const auto agents = [&] {
    PointerInfo info{};
    info.size = sizeof info;
    std::uint32_t count = 99;
    Agent* list = nullptr;
    EXPECT_EQ(session.api.amd.pointer_info(block, &info, std::malloc, &count, &list), success);
    std::vector<Agent> found(list, list + count);
    std::free(list);
    return found;
  };
  EXPECT_TRUE(agents().empty()) << "host memory: until access is allowed";
  EXPECT_EQ(session.api.amd.agents_allow_access(1, &session.gpu, nullptr, block), success);
  EXPECT_EQ(agents(), std::vector{session.gpu});
}

// "Copies"
TEST(HsaSimCopies, OfNothingLeaveTheSignalAlone) {
  const SimSession session;
  auto* const a = session.allocate<int>(64);
  auto* const b = session.allocate<int>(64);
  a[5] = 7;
  const Signal done = session.signal();
  const auto copy = [&](void* to, const void* from, std::size_t bytes, Agent agent) {
    return session.api.amd.memory_async_copy(to, session.gpu, from, agent, bytes, 0, nullptr, done);
  };
  EXPECT_EQ(copy(b, a, 0, session.gpu), success);
  EXPECT_FALSE(session.wait(done, 20'000'000)) << "a wait would hang";
  EXPECT_EQ(copy(nullptr, a, 4, session.gpu), Status::invalid_argument);
  EXPECT_EQ(copy(b, a, 4, Agent{}), Status::invalid_agent);
  EXPECT_EQ(copy(b, a, 64 * sizeof(int), session.gpu), success);
  EXPECT_TRUE(session.wait(done));
  EXPECT_EQ(b[5], 7);
  EXPECT_EQ(session.api.core.memory_copy(b, a, 0), success);
  EXPECT_EQ(session.api.core.memory_copy(nullptr, a, 4), Status::invalid_argument);
  EXPECT_EQ(session.api.amd.memory_fill(b, 9, 2), success) << "counted in 32-bit units";
  EXPECT_EQ(b[1], 9);
  EXPECT_EQ(b[2], 0);
  EXPECT_EQ(session.api.amd.memory_fill(reinterpret_cast<std::byte*>(b) + 1, 9, 1),
            Status::invalid_argument);
}

TEST(HsaSimCopies, WaitForTheirSignals) {
  const SimSession session;
  auto* const a = session.allocate<int>(1);
  auto* const b = session.allocate<int>(1);
  const Signal before = session.signal(), done = session.signal();
  EXPECT_EQ(session.api.amd.memory_async_copy(b, session.gpu, a, session.cpu, sizeof(int), 1,
                                              &before, done),
            success);
  EXPECT_FALSE(session.wait(done, 20'000'000));
  a[0] = 5;
  session.api.core.signal_store_screlease(before, 0);
  EXPECT_TRUE(session.wait(done));
  EXPECT_EQ(b[0], 5);
}

// "Reservations" in mmap mode.
TEST(HsaSimReservations, AreMovedWithSuccessWhenTheAddressIsTaken) {
  const Vmem session;
  const std::uint64_t free = session.free_range(4 * kHuge);
  EXPECT_EQ(session.reserve(free + kPage, kHuge), free + kPage) << "free, aligned to a page";
  EXPECT_NE(session.reserve(free + kPage, kHuge), free + kPage) << "taken by a reservation";
  EXPECT_NE(session.reserve(free + 2 * kPage, kPage), free + 2 * kPage) << "inside of one";
  EXPECT_NE(session.reserve(free, kHuge), free) << "straddling one";
  EXPECT_EQ(session.reserve(free + kPage + kHuge, kHuge), free + kPage + kHuge) << "adjacent";
  const std::uint64_t device = address(session.allocate(kPage));
  EXPECT_NE(session.reserve(device, kPage), device) << "taken by memory";
  void* const foreign =
      ::mmap(nullptr, kHuge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT_NE(session.reserve(address(foreign), kHuge), address(foreign)) << "by another mapping";
  ::munmap(foreign, kHuge);
  EXPECT_EQ(session.reserve(address(foreign), kHuge), address(foreign)) << "no more";
  EXPECT_NE(session.reserve(free + 3 * kHuge + 0x100, kPage), free + 3 * kHuge + 0x100);
}

TEST(HsaSimReservations, AnswerMisuseWithTheRealStatuses) {
  const Vmem session;
  session.reserve(0, 0, Status::invalid_argument);
  session.reserve(0, 5000, Status::out_of_resources);
  session.reserve(0, std::size_t{200} << 40, Status::out_of_resources);
  void* got = nullptr;
  EXPECT_EQ(session.api.amd.vmem_address_reserve_align(&got, kPage, 0, 3000, 0),
            Status::out_of_resources);
  EXPECT_EQ(session.api.amd.vmem_address_reserve_align(&got, kHuge, 0, kHuge, 0), success);
  EXPECT_EQ(address(got) % kHuge, 0U);
  EXPECT_EQ(session.free_addresses(address(got), kPage), Status::invalid_argument);
  EXPECT_EQ(session.free_addresses(address(got) + kPage, kHuge), Status::invalid_allocation);
  EXPECT_EQ(session.free_addresses(address(got), kHuge), success);
  EXPECT_EQ(session.free_addresses(address(got), kHuge), Status::invalid_allocation);
}

TEST(HsaSimReservations, OfLargeMemoryAreFreeAgainAfterIt) {
  const Vmem session;
  auto* const large = session.allocate(3 * kHuge);
  EXPECT_EQ(session.api.amd.memory_pool_free(large), success);
  EXPECT_EQ(session.reserve(address(large), 3 * kHuge), address(large));
}

TEST(HsaSimReservations, AreMovedByInjection) {
  const Vmem session(Set{"HSA_SIM_FAULT", "hsa_amd_vmem_address_reserve@3=relocate"});
  const std::uint64_t free = session.free_range(kHuge);
  EXPECT_EQ(session.reserve(free, kHuge), free);
  EXPECT_EQ(session.free_addresses(free, kHuge), success);
  EXPECT_NE(session.reserve(free, kHuge), free) << "the third call";
  EXPECT_EQ(session.reserve(free, kHuge), free);
}

TEST(HsaSimReservations, WithoutRegistrationAreHostMemory) {
  const Vmem session;
  const std::uint64_t at = session.reserve(0, kHuge, success, vmem_no_register);
  *pointer(at) = std::byte{1};
  EXPECT_EQ(session.info(pointer(at)).type, PointerType::reserved_address);
  SvmAttribute attribute{};
  EXPECT_EQ(session.api.amd.svm_attributes_set(pointer(at), kHuge, &attribute, 1), success);
  EXPECT_EQ(session.free_addresses(at, kHuge), success);
}

// "Reservations", reserved mode: a guard follows each, which broke a prototype's replay.
TEST(HsaSimReservedMode, MovesTheSecondOfTwoAdjacentReservations) {
  const Vmem session(Set{"HSA_RESERVE_SVM", "1"});
  const std::uint64_t free = session.free_range(8 * kHuge);
  EXPECT_EQ(session.reserve(free, kHuge), free);
  EXPECT_EQ(session.reserve(free + 2 * kHuge, kPage), free + 2 * kHuge) << "2 MiB between";
  EXPECT_EQ(session.reserve(free + 2 * kHuge + 2 * kPage, kPage), free + 2 * kHuge + 2 * kPage);
  EXPECT_NE(session.reserve(free + 2 * kHuge + kPage, kPage), free + 2 * kHuge + kPage);
  EXPECT_EQ(session.reserve(free + 4 * kHuge, kHuge), free + 4 * kHuge);
  EXPECT_NE(session.reserve(free + 5 * kHuge, kHuge), free + 5 * kHuge);
}

// A buffer of four pages behind a smaller one: only the one above may come first.
TEST(HsaSimReservedMode, MovesAReservationThatIsLargeForThePlaceBehindAnother) {
  const Vmem session(Set{"HSA_RESERVE_SVM", "1"});
  const std::uint64_t free = session.free_range(8 * kHuge) / kHuge * kHuge + kHuge;
  EXPECT_EQ(session.reserve(free, kPage), free);
  EXPECT_NE(session.reserve(free + 2 * kPage, 4 * kPage), free + 2 * kPage);
  EXPECT_EQ(session.reserve(free + kHuge + 2 * kPage, 4 * kPage), free + kHuge + 2 * kPage);
  EXPECT_EQ(session.reserve(free + kHuge, kPage), free + kHuge);
}

// "Reservations": live device memory too, but not host memory.
TEST(HsaSimReservedMode, TakesLiveDeviceMemory) {
  const Vmem session(Set{"HSA_RESERVE_SVM", "1"});
  const std::uint64_t device = address(session.allocate(kPage));
  EXPECT_EQ(session.reserve(device, kPage), device);
  void* host = nullptr;
  ASSERT_EQ(session.api.amd.memory_pool_allocate(session.host, kPage, 0, &host), success);
  EXPECT_NE(session.reserve(address(host), kPage), address(host));
}

// "Reservations", reserved mode: foreign mappings are not looked at, a map over them destroys them.
TEST(HsaSimReservedMode, TakesWhatOthersHave) {
  const Vmem session(Set{"HSA_RESERVE_SVM", "1"});
  auto* const foreign = static_cast<std::byte*>(
      ::mmap(nullptr, kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  foreign[0] = std::byte{5};
  EXPECT_EQ(session.reserve(address(foreign), kHuge), address(foreign)) << "said to be exact";
  EXPECT_EQ(foreign[0], std::byte{5}) << "the reservation alone changes nothing";
  ASSERT_EQ(session.map(address(foreign), kHuge, session.handle(kHuge)), success);
  ASSERT_EQ(session.allow(address(foreign), kHuge), success);
  EXPECT_EQ(foreign[0], std::byte{0}) << "overwritten";
}

// What was seen with a replay: host memory is refused as virtual memory, and lockable where it is,
// but not inside a reservation.
TEST(HsaSimReservedMode, HasHostMemoryByLockingOnly) {
  const Vmem session(Set{"HSA_RESERVE_SVM", "1"});
  VmemHandle handle{};
  EXPECT_EQ(session.api.amd.vmem_handle_create(session.host, kPage, MemoryType::pinned, 0, &handle),
            Status::error);
  EXPECT_EQ(
      session.api.amd.vmem_handle_create(session.device, kPage, MemoryType::pinned, 0, &handle),
      success);
  void* const mine =
      ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* got = nullptr;
  Agent gpu = session.gpu;
  const auto lock = [&] {
    return session.api.amd.memory_lock_to_pool(mine, kPage, &gpu, 1, session.host, 0, &got);
  };
  EXPECT_EQ(lock(), success);
  EXPECT_EQ(got, mine);
  EXPECT_EQ(session.api.amd.memory_unlock(mine), success);
  EXPECT_EQ(session.reserve(address(mine), kPage), address(mine));
  EXPECT_EQ(lock(), Status::error);
  EXPECT_EQ(session.api.amd.memory_lock_to_pool(mine, kPage, &gpu, 1, session.device, 0, &got),
            Status::invalid_memory_pool);
  ::munmap(mine, kPage);
}

// "Repeatable addresses": a placeholder from before hsa_init shifts the whole area above it.
TEST(HsaSimReservedMode, HasItsAreaAboveWhatWasThereBefore) {
  std::uint64_t usual = 0;
  {
    const SimSession session(Set{"HSA_RESERVE_SVM", "1"});
    usual = address(session.allocate(kPage));
  }
  void* const placeholder = ::mmap(pointer(usual), kPage, PROT_NONE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(placeholder, pointer(usual));
  {
    const Vmem session(Set{"HSA_RESERVE_SVM", "1"});
    EXPECT_GT(address(session.allocate(kPage)), usual);
    EXPECT_EQ(session.reserve(usual, kPage), usual) << "outside of the area now";
  }
  ::munmap(placeholder, kPage);
}

// Fact 7.
TEST(HsaSimMaps, IgnoreTheOffsetIntoTheHandle) {
  const Vmem session;
  const std::uint64_t at = session.reserve(0, 2 * kHuge);
  const VmemHandle handle = session.handle(2 * kHuge);
  ASSERT_EQ(session.map(at, kHuge, handle), success);
  ASSERT_EQ(session.map(at + kHuge, kHuge, handle, kHuge), success);
  ASSERT_EQ(session.allow(at, 2 * kHuge), success) << "spanning adjacent maps";
  *pointer(at) = std::byte{9};
  EXPECT_EQ(*pointer(at + kHuge), std::byte{9}) << "both show offset 0";
}

// "Mappings"
TEST(HsaSimMaps, AnswerMisuseWithTheRealStatuses) {
  const Vmem session;
  static_cast<void>(session.handle(0, Status::invalid_argument));
  static_cast<void>(session.handle(5000, Status::invalid_argument));
  static_cast<void>(session.handle(std::size_t{200} << 30, Status::invalid_allocation));
  static_cast<void>(session.handle(kPage));
  const std::uint64_t at = session.reserve(0, 3 * kHuge);
  const VmemHandle handle = session.handle(kHuge);
  EXPECT_EQ(session.map(at + 2 * kHuge, 2 * kHuge, handle), Status::invalid_argument) << "beyond";
  EXPECT_EQ(session.map(session.free_range(kHuge), kHuge, handle), Status::invalid_argument);
  EXPECT_EQ(session.allow(at, kHuge), Status::invalid_allocation) << "before any map";
  EXPECT_EQ(session.map(at, kHuge, handle), success);
  EXPECT_EQ(session.map(at, kHuge, handle), Status::invalid_argument) << "twice";
  EXPECT_EQ(session.map(at + kPage, kPage, handle), Status::invalid_argument) << "overlapping";
  EXPECT_EQ(session.map(at + kHuge, 2 * kHuge, handle), success) << "larger than the handle";
  EXPECT_EQ(session.allow(at + kPage, kPage), Status::invalid_allocation) << "inside of a map";
  EXPECT_EQ(session.unmap(at, kPage), Status::invalid_allocation) << "wrong size";
  EXPECT_EQ(session.free_addresses(at, 3 * kHuge), Status::resource_free);
  EXPECT_EQ(session.unmap(at, 3 * kHuge), success) << "two maps at once";
  EXPECT_EQ(session.unmap(at, kHuge), Status::invalid_allocation);
  EXPECT_EQ(session.api.amd.memory_pool_free(pointer(at)), Status::invalid_allocation);
  EXPECT_EQ(session.api.amd.vmem_handle_release(handle), success);
  EXPECT_EQ(session.api.amd.vmem_handle_release(handle), Status::invalid_allocation);
  EXPECT_EQ(session.free_addresses(at, 3 * kHuge), success);
}

TEST(HsaSimMaps, KeepAReleasedHandleUntilTheLastOfThemIsGone) {
  const Vmem session;
  const std::uint64_t at = session.reserve(0, 2 * kHuge);
  const VmemHandle handle = session.handle(kHuge);
  ASSERT_EQ(session.map(at, kHuge, handle), success);
  EXPECT_EQ(session.api.amd.vmem_handle_release(handle), success);
  ASSERT_EQ(session.allow(at, kHuge), success);
  *pointer(at) = std::byte{3};
  EXPECT_EQ(session.map(at + kHuge, kHuge, handle), Status::invalid_argument) << "not any more";
  EXPECT_EQ(session.unmap(at, kHuge), success);
  ASSERT_EQ(session.map(at, kHuge, session.handle(kHuge)), success);
  ASSERT_EQ(session.allow(at, kHuge), success);
  EXPECT_EQ(*pointer(at), std::byte{0}) << "new memory is empty";
}

TEST(HsaSimMaps, GiveAccessByAgentAndWhole) {
  const Vmem session;
  const std::uint64_t at = session.reserve(0, kHuge);
  ASSERT_EQ(session.map(at, kHuge, session.handle(kHuge)), success);
  const auto access = [&](Agent agent) {
    Access got{};
    EXPECT_EQ(session.api.amd.vmem_get_access(pointer(at), &got, agent), success);
    return got;
  };
  EXPECT_EQ(access(session.gpu), Access::none);
  ASSERT_EQ(session.allow(at, kPage), success) << "a part stands for the whole map";
  pointer(at)[kHuge - 1] = std::byte{1};
  const AccessDescription host{Access::read_only, session.cpu};
  EXPECT_EQ(session.api.amd.vmem_set_access(pointer(at), kHuge, &host, 1), success);
  EXPECT_EQ(access(session.cpu), Access::read_only);
  EXPECT_EQ(access(session.gpu), Access::read_write) << "an agent that is not listed keeps its own";
}

TEST(HsaSimMaps, ThatNoOneMayReadAreNotReadable) {
  const Vmem session;
  const std::uint64_t at = session.reserve(0, kHuge);
  ASSERT_EQ(session.map(at, kHuge, session.handle(kHuge)), success);
  EXPECT_DEATH(*const_cast<volatile std::byte*>(pointer(at)) = std::byte{1}, "");
}

}  // namespace
}  // namespace perflab::test
