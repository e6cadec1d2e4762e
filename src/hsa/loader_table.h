// AMD's loader extension: a table of functions that the runtime copies to whoever asks for it
// (hsa_system_get_major_extension_table, hsa_system_get_extension_table), so that no hook of the
// core table sees its calls. CLR makes the readers of modules that lie in files through it
// (docs/facts/hsa_runtime.md "Loader extension"). The table has no head; each minor version
// appends: 1.0 has 3 entries, 1.1 5, 1.2 6, 1.3 7, 1.4 9. Nothing here allocates or throws.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hsa/api.h"

namespace perflab::hsa {

namespace loader {
inline constexpr std::uint16_t extension = 0x201, major = 1;
}

/// What loaded_code_object_get_info answers.
namespace loaded_code_info {
inline constexpr std::uint32_t agent = 3;                           ///< Agent
inline constexpr std::uint32_t storage_type = 4;                    ///< uint32_t: storage_none, ...
inline constexpr std::uint32_t memory_base = 5, memory_size = 6;    ///< uint64_t; of storage_memory
inline constexpr std::uint32_t file = 7;                            ///< int; of storage_file
inline constexpr std::uint32_t load_delta = 8;                      ///< int64_t
inline constexpr std::uint32_t load_base = 9, load_size = 10;       ///< uint64_t
inline constexpr std::uint32_t uri_length = 11;                     ///< uint32_t, without a NUL
inline constexpr std::uint32_t uri = 12;                            ///< char[uri_length]
inline constexpr std::uint32_t storage_none = 0, storage_file = 1,  //
    storage_memory = 2;
}  // namespace loaded_code_info

/// The table as of version 1.4; null where the runtime has no such entry.
struct LoaderTable {
  Status (*query_host_address)(const void* device, const void** host);
  Status (*query_segment_descriptors)(void* descriptors, std::size_t* count);
  Status (*query_executable)(const void* device, Executable* executable);
  Status (*executable_iterate_loaded_code_objects)(
      Executable executable, Status (*callback)(Executable, LoadedCodeObject, void*), void* data);
  Status (*loaded_code_object_get_info)(LoadedCodeObject object, std::uint32_t attribute,
                                        void* value);
  Status (*code_object_reader_create_from_file_with_offset_size)(int file, std::size_t offset,
                                                                 std::size_t size,
                                                                 CodeObjectReader* reader);
  Status (*iterate_executables)(Status (*callback)(Executable, void*), void* data);
  Status (*code_object_reader_get_load_size)(CodeObjectReader reader, std::size_t* bytes);
  Status (*executable_load_agent_code_object_at_address)(Executable executable, Agent agent,
                                                         CodeObjectReader reader,
                                                         const char* options, void* address,
                                                         std::size_t size,
                                                         LoadedCodeObject* loaded);
};
static_assert(sizeof(LoaderTable) == 9 * sizeof(void*));

/// Bytes of the table that a minor version promises; that of the newest known one for later ones.
std::size_t loader_table_bytes(std::uint16_t minor);

/// A copy of the runtime's table, asked for through these entry points; entries that it does not
/// have are null, all of them where there is no such extension.
LoaderTable loader_of(const Core& core);

}  // namespace perflab::hsa
