// Tables of names and offsets, and the two ways to fill an Api. The members of Core and AmdExt are
// pointers in the order of the entries, so that both are filled as arrays.
#include "hsa/api.h"

#include <dlfcn.h>

#include <array>
#include <cstring>

namespace perflab::hsa {
namespace {

// NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define PERFLAB_HSA_CORE_PLACE(name, offset, ...) EntryPlace{"hsa_" #name, offset, offset},
#define PERFLAB_HSA_AMD_PLACE(name, offset, offset_1, ...) \
  EntryPlace{"hsa_amd_" #name, offset, offset_1},
// NOLINTEND(cppcoreguidelines-macro-usage)
constexpr std::array core_places{PERFLAB_HSA_CORE(PERFLAB_HSA_CORE_PLACE)};
constexpr std::array amd_places{PERFLAB_HSA_AMD(PERFLAB_HSA_AMD_PLACE)};
#undef PERFLAB_HSA_CORE_PLACE
#undef PERFLAB_HSA_AMD_PLACE

static_assert(sizeof(Core) == core_places.size() * sizeof(void*));
static_assert(sizeof(AmdExt) == amd_places.size() * sizeof(void*));

// The place in a table that starts with its version, whose minor is its size.
void** place_in(void* table, std::uint16_t offset) {
  if (table == nullptr || offset == 0) return nullptr;
  const auto* version = static_cast<const TableVersion*>(table);
  if (std::size_t{offset} + sizeof(void*) > version->minor) return nullptr;
  return reinterpret_cast<void**>(static_cast<std::byte*>(table) + offset);
}

// Whether the root table is large enough to have this member.
bool has_member(const ApiTables& tables, std::size_t offset) {
  return tables.version.minor >= offset + sizeof(void*);
}

template <class Table, class Entry, std::size_t N>
void fill_from_tables(const ApiTables& tables, const std::array<EntryPlace, N>& places,
                      Table& table) {
  std::array<void*, N> found{};
  for (std::size_t i = 0; i < places.size(); ++i)
    if (void** const from = slot(tables, static_cast<Entry>(i))) found[i] = *from;
  std::memcpy(&table, found.data(), sizeof(table));
}

template <class Table, std::size_t N>
void fill_from_library(void* library, const std::array<EntryPlace, N>& places, Table& table) {
  std::array<void*, N> found{};
  for (std::size_t i = 0; i < places.size(); ++i) found[i] = dlsym(library, places[i].name);
  std::memcpy(&table, found.data(), sizeof(table));
}

}  // namespace

std::span<const EntryPlace> core_entries() {
  return core_places;
}
std::span<const EntryPlace> amd_entries() {
  return amd_places;
}

void** slot(const ApiTables& tables, CoreEntry entry) {
  if (!has_member(tables, offsetof(ApiTables, core))) return nullptr;
  return place_in(tables.core, core_places[static_cast<std::size_t>(entry)].offset);
}

void** slot(const ApiTables& tables, AmdEntry entry) {
  if (!has_member(tables, offsetof(ApiTables, amd_ext)) || tables.amd_ext == nullptr)
    return nullptr;
  const EntryPlace& place = amd_places[static_cast<std::size_t>(entry)];
  switch (static_cast<const TableVersion*>(tables.amd_ext)->major) {
    case 1:
      return place_in(tables.amd_ext, place.offset_major_1);
    case 2:
      return place_in(tables.amd_ext, place.offset);
    default:
      return nullptr;
  }
}

Api api_of(const ApiTables& tables) {
  Api api{};
  fill_from_tables<Core, CoreEntry>(tables, core_places, api.core);
  fill_from_tables<AmdExt, AmdEntry>(tables, amd_places, api.amd);
  return api;
}

Api api_of_library(void* library) {
  Api api{};
  fill_from_library(library, core_places, api.core);
  fill_from_library(library, amd_places, api.amd);
  return api;
}

}  // namespace perflab::hsa
