// The loader extension's table, asked for in both ways. Its sizes by version are AMD's.
#include "hsa/loader_table.h"

#include <gtest/gtest.h>

#include <cstring>

namespace perflab::hsa {
namespace {

/// What the runtime has: entries whose addresses are their numbers.
std::size_t offered = 9;

Status copy(std::uint16_t extension, std::uint16_t major, std::size_t bytes, void* table) {
  if (extension != 0x201 || major != 1) return Status::error;
  std::uintptr_t entries[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::memcpy(table, entries, std::min(bytes, offered * sizeof(void*)));
  return Status::success;
}

Status copy_exact(std::uint16_t extension, std::uint16_t major, std::uint16_t minor, void* table) {
  constexpr std::size_t counts[] = {3, 5, 6, 7};
  if (minor > 3 || counts[minor] > offered) return Status::invalid_argument;
  return copy(extension, major, counts[minor] * sizeof(void*), table);
}

Status refuse(std::uint16_t, std::uint16_t, std::size_t, void*) {
  return Status::error;
}

template <class Function>
std::uintptr_t number_of(Function* entry) {
  return reinterpret_cast<std::uintptr_t>(entry);
}

TEST(HsaLoader, IsAskedForByItsLength) {
  Core core{};
  core.system_get_major_extension_table = copy;
  for (const std::size_t entries : {3U, 5U, 6U, 7U, 9U}) {
    offered = entries;
    const LoaderTable table = loader_of(core);
    EXPECT_EQ(number_of(table.query_executable), 3U);
    EXPECT_EQ(number_of(table.loaded_code_object_get_info), entries >= 5 ? 5U : 0U);
    EXPECT_EQ(number_of(table.code_object_reader_create_from_file_with_offset_size),
              entries >= 6 ? 6U : 0U);
    EXPECT_EQ(number_of(table.executable_load_agent_code_object_at_address),
              entries == 9 ? 9U : 0U);
  }
}

TEST(HsaLoader, IsAskedForByVersionsWhereThatIsAllThereIs) {
  Core core{};
  core.system_get_major_extension_table = refuse;
  core.system_get_extension_table = copy_exact;
  for (const std::size_t entries : {3U, 5U, 6U, 7U, 9U}) {
    offered = entries;
    EXPECT_EQ(number_of(loader_of(core).code_object_reader_create_from_file_with_offset_size),
              entries >= 6 ? 6U : 0U);
    EXPECT_EQ(number_of(loader_of(core).query_host_address), 1U);
  }
  EXPECT_EQ(number_of(loader_of(Core{}).query_host_address), 0U);
}

TEST(HsaLoader, PromisesAsManyBytesAsTheVersionHas) {
  EXPECT_EQ(loader_table_bytes(0), 24U);
  EXPECT_EQ(loader_table_bytes(2), 48U);
  EXPECT_EQ(loader_table_bytes(3), 56U);
  EXPECT_EQ(loader_table_bytes(4), sizeof(LoaderTable));
  EXPECT_EQ(loader_table_bytes(99), sizeof(LoaderTable));
}

}  // namespace
}  // namespace perflab::hsa
