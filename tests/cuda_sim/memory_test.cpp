// Memory of the stand-in driver: allocations with their ranges, copies that copy, virtual memory
// with the rule of 32 MiB. Programs of the real driver's entry points, without the runtime.
#include <gtest/gtest.h>

#include <sys/mman.h>

#include <cstring>
#include <string>
#include <vector>

#include "cuda_sim/driver_run.h"

namespace perflab::cuda_sim {
namespace {

using cuda::DevicePointer;
using cuda::DriverResult;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

TEST(CudaSimMemory, AllocationsAreMemoryWithTheirRanges) {
  const cuda::Driver& driver = ready_driver();
  DevicePointer small = 0, next = 0, large = 0, managed = 0, pooled = 0;
  ASSERT_EQ(driver.memory_allocate(&small, 1000), DriverResult::success);
  ASSERT_EQ(driver.memory_allocate(&next, 10), DriverResult::success);
  ASSERT_EQ(driver.memory_allocate(&large, 3 * kMiB + 5), DriverResult::success);
  ASSERT_EQ(driver.memory_allocate_managed(&managed, 64, cuda::managed_global),
            DriverResult::success);
  ASSERT_EQ(driver.memory_allocate_async(&pooled, 100, nullptr), DriverResult::success);
  EXPECT_EQ(small % 512, 0U);
  EXPECT_EQ(large % (2 * kMiB), 0U);
  for (const auto& [address, bytes] : std::vector<std::pair<DevicePointer, std::size_t>>{
           {small, 1000}, {next, 10}, {large, 3 * kMiB + 5}, {managed, 64}, {pooled, 100}}) {
    DevicePointer base = 0;
    std::size_t found = 0;
    ASSERT_EQ(driver.memory_get_address_range(&base, &found, address + bytes - 1),
              DriverResult::success);
    EXPECT_EQ(base, address);
    EXPECT_EQ(found, bytes);
    std::memset(reinterpret_cast<void*>(address), 1, bytes);
  }
  EXPECT_EQ(driver.memory_get_address_range(nullptr, nullptr, small + 1000),
            DriverResult::not_found);
  for (const DevicePointer address : {small, next, large, managed})
    EXPECT_EQ(driver.memory_free(address), DriverResult::success);
  EXPECT_EQ(driver.memory_free_async(pooled, nullptr), DriverResult::success);
  EXPECT_EQ(driver.memory_free(small), DriverResult::invalid_value);
}

TEST(CudaSimMemory, CopiesAndFillsDoWhatTheySay) {
  const cuda::Driver& driver = ready_driver();
  DevicePointer a = 0, b = 0;
  ASSERT_EQ(driver.memory_allocate(&a, 4096), DriverResult::success);
  ASSERT_EQ(driver.memory_allocate(&b, 4096), DriverResult::success);
  const std::string text = "what was written";
  ASSERT_EQ(driver.fill(b, 7, 4096), DriverResult::success);
  ASSERT_EQ(driver.copy_to_device(a, text.data(), text.size()), DriverResult::success);
  ASSERT_EQ(driver.copy_on_device_async(b + 8, a, text.size(), nullptr), DriverResult::success);
  std::string found(text.size() + 9, '\0');
  ASSERT_EQ(driver.copy_to_host(found.data(), b, found.size()), DriverResult::success);
  EXPECT_EQ(found, std::string(8, '\7') + text + '\7');
  EXPECT_EQ(driver.copy_to_device(a + 4090, text.data(), text.size()), DriverResult::invalid_value);
  driver.memory_free(a);
  driver.memory_free(b);
}

TEST(CudaSimMemory, HostMemoryIsRegisteredOnce) {
  const cuda::Driver& driver = ready_driver();
  std::vector<char> memory(8192);
  EXPECT_EQ(driver.host_register(memory.data(), memory.size(), cuda::host_memory::device_map),
            DriverResult::success);
  EXPECT_EQ(driver.host_register(memory.data(), memory.size(), 0),
            DriverResult::host_memory_already_registered);
  DevicePointer device = 0;
  EXPECT_EQ(driver.host_get_device_pointer(&device, memory.data(), 0), DriverResult::success);
  EXPECT_EQ(device, reinterpret_cast<DevicePointer>(memory.data()));
  EXPECT_EQ(driver.host_unregister(memory.data()), DriverResult::success);
  EXPECT_EQ(driver.host_unregister(memory.data()), DriverResult::host_memory_not_registered);
}

/// Addresses where nothing is, by asking for some and giving them back.
DevicePointer free_envelope(const cuda::Driver& driver, std::uint64_t bytes) {
  DevicePointer found = 0;
  EXPECT_EQ(driver.address_reserve(&found, bytes, 0, 0, 0), DriverResult::success);
  EXPECT_EQ(driver.address_free(found, bytes), DriverResult::success);
  return found;
}

TEST(CudaSimMemory, AReservationIsAHintAtWhole32MiB) {
  const cuda::Driver& driver = ready_driver();
  const DevicePointer place = free_envelope(driver, 128 * kMiB);
  DevicePointer got = 0;
  ASSERT_EQ(driver.address_reserve(&got, 2 * kMiB, 0, place, 0), DriverResult::success);
  EXPECT_EQ(got, place);
  DevicePointer again = 0;
  ASSERT_EQ(driver.address_reserve(&again, 2 * kMiB, 0, place, 0), DriverResult::success);
  EXPECT_NE(again, place);
  DevicePointer rounded = 0;
  ASSERT_EQ(driver.address_reserve(&rounded, 2 * kMiB, 0, place + 34 * kMiB, 0),
            DriverResult::success);
  EXPECT_EQ(rounded, place + 64 * kMiB);
  EXPECT_EQ(driver.address_reserve(&got, kMiB, 0, 0, 0), DriverResult::invalid_value);
  for (const DevicePointer one : {place, again, rounded})
    EXPECT_EQ(driver.address_free(one, 2 * kMiB), DriverResult::success);
}

TEST(CudaSimMemory, MappedMemoryNeedsAReservationAndAccess) {
  const cuda::Driver& driver = ready_driver();
  cuda::AllocationProperties properties{};
  properties.type = cuda::allocation_pinned;
  properties.location = {.type = cuda::LocationType::device, .id = 0};
  cuda::MemoryHandle handle = 0;
  EXPECT_EQ(driver.memory_create(&handle, kMiB, &properties, 0), DriverResult::invalid_value);
  ASSERT_EQ(driver.memory_create(&handle, 4 * kMiB, &properties, 0), DriverResult::success);
  const DevicePointer place = free_envelope(driver, 64 * kMiB);
  EXPECT_EQ(driver.memory_map(place, 4 * kMiB, 0, handle, 0), DriverResult::invalid_value);
  DevicePointer got = 0;
  ASSERT_EQ(driver.address_reserve(&got, 32 * kMiB, 0, place, 0), DriverResult::success);
  ASSERT_EQ(driver.memory_map(got + 6 * kMiB, 4 * kMiB, 0, handle, 0), DriverResult::success);
  EXPECT_EQ(driver.memory_map(got + 8 * kMiB, 2 * kMiB, 0, handle, 0), DriverResult::invalid_value);
  const cuda::AccessDescription access{.location = properties.location,
                                       .flags = cuda::access_read_write};
  EXPECT_EQ(driver.memory_set_access(got, 10 * kMiB, &access, 1), DriverResult::invalid_value);
  ASSERT_EQ(driver.memory_set_access(got + 6 * kMiB, 4 * kMiB, &access, 1), DriverResult::success);
  ASSERT_EQ(driver.fill(got + 6 * kMiB, 9, 4 * kMiB), DriverResult::success);
  EXPECT_EQ(*reinterpret_cast<const char*>(got + 10 * kMiB - 1), 9);
  EXPECT_EQ(driver.address_free(got, 32 * kMiB), DriverResult::invalid_value);
  EXPECT_EQ(driver.memory_unmap(got + 6 * kMiB, 4 * kMiB), DriverResult::success);
  EXPECT_EQ(driver.memory_release(handle), DriverResult::success);
  EXPECT_EQ(driver.memory_release(handle), DriverResult::invalid_value);
  EXPECT_EQ(driver.address_free(got, 32 * kMiB), DriverResult::success);
}

}  // namespace
}  // namespace perflab::cuda_sim
