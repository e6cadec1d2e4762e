// Entry points found in tables of both layouts, and in tables that are shorter or of a version that
// is not known. Offsets are written by hand from docs/facts/hsa_runtime.md "Tables".
#include "hsa/api.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace perflab::hsa {
namespace {

/// Tables whose slots hold their own addresses, so that a pointer says where it was read.
struct WrittenTables {
  explicit WrittenTables(std::uint32_t amd_major, std::uint32_t amd_bytes,
                         std::uint32_t core_bytes = 1016, std::uint32_t root_bytes = 64)
      : core(1016), amd(1024) {
    put(core, 1, core_bytes);
    put(amd, amd_major, amd_bytes);
    root.version = {.major = 3, .minor = root_bytes, .step = 1, .reserved = 0};
    root.core = core.data();
    root.amd_ext = amd.data();
  }

  static void put(std::vector<std::byte>& table, std::uint32_t major, std::uint32_t bytes) {
    for (std::size_t at = sizeof(TableVersion); at + 8 <= table.size(); at += 8) {
      const void* const self = table.data() + at;
      std::memcpy(table.data() + at, &self, sizeof self);
    }
    const TableVersion version{.major = major, .minor = bytes, .step = 0, .reserved = 0};
    std::memcpy(table.data(), &version, sizeof version);
  }

  /// Offset that an entry point was read from; 0: it is null.
  template <class Function>
  [[nodiscard]] std::ptrdiff_t offset(Function* entry, const std::vector<std::byte>& table) const {
    if (entry == nullptr) return 0;
    return reinterpret_cast<const std::byte*>(entry) - table.data();
  }

  std::vector<std::byte> core, amd;
  ApiTables root{};
};

TEST(HsaTables, CoreEntriesStandWhereTheFactsSay) {
  const WrittenTables tables(2, 744);
  const Core core = api_of(tables.root).core;
  EXPECT_EQ(tables.offset(core.init, tables.core), 16);
  EXPECT_EQ(tables.offset(core.queue_create, tables.core), 72);
  EXPECT_EQ(tables.offset(core.queue_destroy, tables.core), 88);
  EXPECT_EQ(tables.offset(core.memory_allocate, tables.core), 280);
  EXPECT_EQ(tables.offset(core.memory_copy, tables.core), 296);
  EXPECT_EQ(tables.offset(core.signal_create, tables.core), 312);
  EXPECT_EQ(tables.offset(core.executable_freeze, tables.core), 704);
  EXPECT_EQ(tables.offset(core.code_object_reader_create_from_file, tables.core), 936);
  EXPECT_EQ(tables.offset(core.code_object_reader_create_from_memory, tables.core), 944);
  EXPECT_EQ(tables.offset(core.executable_create_alt, tables.core), 960);
  EXPECT_EQ(tables.offset(core.executable_load_agent_code_object, tables.core), 976);
  EXPECT_EQ(tables.offset(core.executable_iterate_agent_symbols, tables.core), 1000);
}

// Everything from offset 144 on moved when two entries were inserted, from 408 on by five.
TEST(HsaTables, ExtensionEntriesStandElsewhereInTheOlderLayout) {
  const WrittenTables now(2, 744), older(1, 400);
  const AmdExt a = api_of(now.root).amd, b = api_of(older.root).amd;
  const auto expect = [&](auto* in_new, auto* in_old, std::ptrdiff_t offset,
                          std::ptrdiff_t offset_1) {
    EXPECT_EQ(now.offset(in_new, now.amd), offset);
    EXPECT_EQ(older.offset(in_old, older.amd), offset_1) << "at " << offset << " today";
  };
  expect(a.profiling_set_profiler_enabled, b.profiling_set_profiler_enabled, 32, 32);
  expect(a.memory_pool_allocate, b.memory_pool_allocate, 120, 120);
  expect(a.memory_pool_free, b.memory_pool_free, 128, 128);
  expect(a.memory_async_copy, b.memory_async_copy, 136, 136);
  expect(a.agents_allow_access, b.agents_allow_access, 168, 152);
  expect(a.memory_lock, b.memory_lock, 192, 176);
  expect(a.memory_fill, b.memory_fill, 208, 192);
  expect(a.pointer_info, b.pointer_info, 240, 224);
  expect(a.ipc_memory_create, b.ipc_memory_create, 256, 240);
  expect(a.queue_intercept_create, b.queue_intercept_create, 312, 296);
  expect(a.queue_intercept_register, b.queue_intercept_register, 320, 304);
  expect(a.memory_lock_to_pool, b.memory_lock_to_pool, 352, 336);
  expect(a.svm_attributes_set, b.svm_attributes_set, 384, 368);
  expect(a.vmem_address_reserve, b.vmem_address_reserve, 456, 0);
  expect(a.vmem_address_free, b.vmem_address_free, 464, 0);
  expect(a.vmem_handle_create, b.vmem_handle_create, 472, 0);
  expect(a.vmem_handle_release, b.vmem_handle_release, 480, 0);
  expect(a.vmem_map, b.vmem_map, 488, 0);
  expect(a.vmem_unmap, b.vmem_unmap, 496, 0);
  expect(a.vmem_set_access, b.vmem_set_access, 504, 0);
  expect(a.vmem_get_access, b.vmem_get_access, 512, 0);
  expect(a.vmem_import_shareable_handle, b.vmem_import_shareable_handle, 528, 0);
  expect(a.queue_get_info, b.queue_get_info, 560, 0);
  expect(a.vmem_address_reserve_align, b.vmem_address_reserve_align, 568, 0);
  expect(a.counted_queue_acquire, b.counted_queue_acquire, 624, 0);
  expect(a.queue_create, b.queue_create, 704, 0);
}

TEST(HsaTables, AnEntryThatDoesNotFitIntoTheTableIsNull) {
  const WrittenTables tables(2, 456 + 8 - 1, 72 + 8 - 1);
  const Api api = api_of(tables.root);
  EXPECT_EQ(api.amd.vmem_address_reserve, nullptr);
  EXPECT_NE(api.amd.svm_attributes_set, nullptr);
  EXPECT_EQ(api.core.queue_create, nullptr);
  EXPECT_NE(api.core.agent_get_info, nullptr);

  const WrittenTables larger(2, 456 + 8, 72 + 8);
  EXPECT_NE(api_of(larger.root).amd.vmem_address_reserve, nullptr);
  EXPECT_EQ(api_of(larger.root).amd.vmem_address_free, nullptr);
  EXPECT_NE(api_of(larger.root).core.queue_create, nullptr);
}

TEST(HsaTables, AnUnknownMajorVersionHasNoEntries) {
  for (const std::uint32_t major : {0U, 3U, 77U}) {
    const WrittenTables tables(major, 744);
    const Api api = api_of(tables.root);
    EXPECT_EQ(api.amd.memory_pool_allocate, nullptr) << major;
    EXPECT_NE(api.core.init, nullptr) << "core is read by its size alone";
    EXPECT_EQ(slot(tables.root, AmdEntry::memory_pool_allocate), nullptr);
  }
}

TEST(HsaTables, MissingTablesHaveNoEntries) {
  WrittenTables tables(2, 744);
  tables.root.amd_ext = nullptr;
  EXPECT_EQ(slot(tables.root, AmdEntry::vmem_map), nullptr);
  EXPECT_NE(slot(tables.root, CoreEntry::init), nullptr);
  tables.root.core = nullptr;
  EXPECT_EQ(slot(tables.root, CoreEntry::init), nullptr);

  // A root table that ends before its members: version only, then with the core table only.
  const WrittenTables none(2, 744, 1016, sizeof(TableVersion));
  EXPECT_EQ(slot(none.root, CoreEntry::init), nullptr);
  const WrittenTables one(2, 744, 1016, sizeof(TableVersion) + sizeof(void*));
  EXPECT_NE(slot(one.root, CoreEntry::init), nullptr);
  EXPECT_EQ(slot(one.root, AmdEntry::vmem_map), nullptr);
}

TEST(HsaTables, WhatIsWrittenToASlotIsWhatTheTableHasThen) {
  const WrittenTables tables(2, 744);
  void** const place = slot(tables.root, AmdEntry::vmem_map);
  ASSERT_NE(place, nullptr);
  int other = 0;
  *place = &other;
  EXPECT_EQ(reinterpret_cast<void*>(api_of(tables.root).amd.vmem_map), &other);
}

template <class Entries>
void expect_distinct_places(Entries entries, std::size_t table_bytes) {
  std::set<std::uint16_t> offsets, older;
  std::set<std::string> names;
  for (const EntryPlace& entry : entries) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_TRUE(offsets.insert(entry.offset).second) << entry.name;
    EXPECT_TRUE(entry.offset_major_1 == 0 || older.insert(entry.offset_major_1).second)
        << entry.name;
    EXPECT_EQ(entry.offset % 8, 0) << entry.name;
    EXPECT_GE(entry.offset, sizeof(TableVersion)) << entry.name;
    EXPECT_LE(std::size_t{entry.offset} + 8, table_bytes) << entry.name;
  }
}

// Between the inserted entries the older layout is the newer one less 16; all behind 408 is new.
TEST(HsaTables, EveryEntryHasAPlaceOfItsOwn) {
  expect_distinct_places(core_entries(), 1016);
  expect_distinct_places(amd_entries(), 744);
  for (const EntryPlace& entry : core_entries()) EXPECT_EQ(entry.offset, entry.offset_major_1);
  for (const EntryPlace& entry : amd_entries()) {
    const int offset = entry.offset;
    const int expected = offset < 144 ? offset : offset < 408 ? offset - 16 : 0;
    EXPECT_EQ(int{entry.offset_major_1}, expected) << entry.name;
    EXPECT_TRUE(std::string(entry.name).starts_with("hsa_amd_"));
  }
}

}  // namespace
}  // namespace perflab::hsa
