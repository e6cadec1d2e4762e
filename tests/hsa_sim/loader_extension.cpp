// AMD's loader extension as ROCr 1.21 has it, version 1.3: a table that is copied to whoever asks.
// HSA_SIM_LOADER is a list, separated by commas: "1.1" or "1.4" another version; "unseen" the
// program gets other addresses than who asked first, as with a tool in between; "no-storage" only
// the URI says where code came from.
#include <algorithm>
#include <cstring>

#include "hsa/loader_table.h"
#include "sim.h"

namespace perflab::hsa::sim {
namespace {

bool loader_does(std::string_view what) {
  std::string_view list = setting("HSA_SIM_LOADER");
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == what) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

bool is_closed() {
  return !runtime_is_open.load(std::memory_order_acquire);
}

Status iterate_loaded(Executable executable,
                      Status (*callback)(Executable, LoadedCodeObject, void*), void* data) {
  if (is_closed()) return Status::not_initialized;
  if (callback == nullptr) return Status::invalid_argument;
  const auto objects = loaded_objects(executable);
  if (!objects) return Status::invalid_executable;
  for (const LoadedCodeObject object : *objects)
    if (const Status status = callback(executable, object, data); status != Status::success)
      return status;
  return Status::success;
}

template <class T>
Status give(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
  return Status::success;
}

Status loaded_info(LoadedCodeObject handle, std::uint32_t attribute, void* value) {
  using namespace loaded_code_info;
  if (is_closed()) return Status::not_initialized;
  if (value == nullptr) return Status::invalid_argument;
  const auto object = loaded_object(handle);
  if (object == nullptr) return Status::invalid_code_object;
  switch (attribute) {
    case loaded_code_info::agent:
      return give(value, agent_of(object->agent));
    case storage_type:
      return give(value, loader_does("no-storage") ? storage_none : storage_memory);
    case memory_base:
      return give(value, reinterpret_cast<std::uint64_t>(object->storage.data()));
    case memory_size:
      return give(value, std::uint64_t{object->storage.size()});
    case load_delta:
      return give(value, static_cast<std::int64_t>(object->base));
    case load_base:
      return give(value, object->base);
    case load_size:
      return give(value, object->bytes);
    case uri_length:
      return give(value, static_cast<std::uint32_t>(object->uri.size()));
    case loaded_code_info::uri:
      std::memcpy(value, object->uri.data(), object->uri.size());
      return Status::success;
    default:
      return Status::invalid_argument;
  }
}

// The same call under two addresses.
template <int Which>
Status reader_of_part(int file, std::size_t offset, std::size_t size, CodeObjectReader* reader) {
  static volatile int address_of_its_own = Which;
  if (is_closed() || address_of_its_own != Which) return Status::not_initialized;
  return size == 0 ? Status::invalid_code_object : read_part_of_file(file, offset, size, reader);
}

// The image lies where the stand-in puts it, not at the address.
Status load_at_address(Executable executable, Agent agent, CodeObjectReader reader, const char*,
                       void* address, std::size_t, LoadedCodeObject* loaded) {
  if (is_closed()) return Status::not_initialized;
  if (address == nullptr) return Status::invalid_argument;
  return load_from_reader(executable, agent, reader, loaded);
}

Status not_offered() {
  misuse("an entry of the loader extension was called that the stand-in does not have");
}

LoaderTable loader_table() {
  static std::atomic<int> asked{0};
  const bool other = asked++ > 0 && loader_does("unseen");
  LoaderTable table{};
  void* entries[sizeof table / sizeof(void*)];
  std::ranges::fill(entries, reinterpret_cast<void*>(not_offered));
  std::memcpy(&table, entries, sizeof table);
  table.executable_iterate_loaded_code_objects = iterate_loaded;
  table.loaded_code_object_get_info = loaded_info;
  table.code_object_reader_create_from_file_with_offset_size =
      other ? reader_of_part<1> : reader_of_part<0>;
  table.executable_load_agent_code_object_at_address = load_at_address;
  return table;
}

std::size_t offered_bytes() {
  return loader_table_bytes(loader_does("1.1") ? 1 : loader_does("1.4") ? 4 : 3);
}

}  // namespace

namespace core_calls {

Status system_get_major_extension_table(std::uint16_t extension, std::uint16_t major,
                                        std::size_t bytes, void* table) {
  if (table == nullptr || bytes == 0) return Status::invalid_argument;
  if (extension != loader::extension || major != loader::major) return Status::error;
  const LoaderTable all = loader_table();
  std::memcpy(table, &all, std::min(bytes, offered_bytes()));
  return Status::success;
}

// Of an exact version, which has to be known.
Status system_get_extension_table(std::uint16_t extension, std::uint16_t major, std::uint16_t minor,
                                  void* table) {
  const std::size_t bytes = loader_table_bytes(minor);
  if (minor > 4 || bytes > offered_bytes()) return Status::invalid_argument;
  return system_get_major_extension_table(extension, major, bytes, table);
}

}  // namespace core_calls
}  // namespace perflab::hsa::sim
