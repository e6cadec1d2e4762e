// The entry points of the HSA runtime that this project calls or hooks: name, place in the
// runtime's tables, signature. Offsets are bytes from the start of a table, its 16-byte version
// included; the AMD extension's moved between the headers of 5.2.3 (major 1) and the runtimes of
// today (major 2): docs/facts/hsa_runtime.md "Tables". 0 in the older column: not there yet.
#pragma once

#include "hsa/types.h"

// NOLINTBEGIN(cppcoreguidelines-macro-usage)
// clang-format off

/// X(name, offset, signature): the core table; exported as hsa_<name>.
#define PERFLAB_HSA_CORE(X)                                                                       \
  X(init, 16, Status())                                                                           \
  X(shut_down, 24, Status())                                                                      \
  X(system_get_info, 32, Status(std::uint32_t attribute, void* value))                            \
  X(system_get_extension_table, 48, Status(std::uint16_t extension, std::uint16_t major,          \
    std::uint16_t minor, void* table))                                                            \
  X(iterate_agents, 56, Status(Status (*callback)(Agent, void*), void* data))                     \
  X(agent_get_info, 64, Status(Agent agent, std::uint32_t attribute, void* value))                \
  X(queue_create, 72, Status(Agent agent, std::uint32_t size, std::uint32_t type,                 \
    QueueCallback callback, void* data, std::uint32_t private_segment_size, std::uint32_t         \
    group_segment_size, Queue** queue))                                                           \
  X(soft_queue_create, 80, Status(Region region, std::uint32_t size, std::uint32_t type,          \
    std::uint32_t features, Signal doorbell, Queue** queue))                                      \
  X(queue_destroy, 88, Status(Queue* queue))                                                      \
  X(queue_load_read_index_scacquire, 104, std::uint64_t(const Queue* queue))                      \
  X(queue_load_read_index_relaxed, 112, std::uint64_t(const Queue* queue))                        \
  X(queue_load_write_index_scacquire, 120, std::uint64_t(const Queue* queue))                     \
  X(queue_load_write_index_relaxed, 128, std::uint64_t(const Queue* queue))                       \
  X(queue_store_write_index_relaxed, 136, void(const Queue* queue, std::uint64_t value))          \
  X(queue_store_write_index_screlease, 144, void(const Queue* queue, std::uint64_t value))        \
  X(queue_add_write_index_scacq_screl, 184, std::uint64_t(const Queue* queue, std::uint64_t       \
    value))                                                                                       \
  X(queue_add_write_index_scacquire, 192, std::uint64_t(const Queue* queue, std::uint64_t         \
    value))                                                                                       \
  X(queue_add_write_index_relaxed, 200, std::uint64_t(const Queue* queue, std::uint64_t           \
    value))                                                                                       \
  X(queue_add_write_index_screlease, 208, std::uint64_t(const Queue* queue, std::uint64_t         \
    value))                                                                                       \
  X(agent_iterate_regions, 232, Status(Agent agent, Status (*callback)(Region, void*), void*      \
    data))                                                                                        \
  X(region_get_info, 240, Status(Region region, std::uint32_t attribute, void* value))            \
  X(memory_register, 264, Status(void* pointer, std::size_t size))                                \
  X(memory_deregister, 272, Status(void* pointer, std::size_t size))                              \
  X(memory_allocate, 280, Status(Region region, std::size_t size, void** pointer))                \
  X(memory_free, 288, Status(void* pointer))                                                      \
  X(memory_copy, 296, Status(void* destination, const void* source, std::size_t size))            \
  X(signal_create, 312, Status(SignalValue initial, std::uint32_t consumers, const Agent*         \
    agents, Signal* signal))                                                                      \
  X(signal_destroy, 320, Status(Signal signal))                                                   \
  X(signal_load_relaxed, 328, SignalValue(Signal signal))                                         \
  X(signal_load_scacquire, 336, SignalValue(Signal signal))                                       \
  X(signal_store_relaxed, 344, void(Signal signal, SignalValue value))                            \
  X(signal_store_screlease, 352, void(Signal signal, SignalValue value))                          \
  X(signal_wait_relaxed, 360, SignalValue(Signal signal, Condition condition, SignalValue         \
    compare, std::uint64_t timeout, WaitState state))                                             \
  X(signal_wait_scacquire, 368, SignalValue(Signal signal, Condition condition, SignalValue       \
    compare, std::uint64_t timeout, WaitState state))                                             \
  X(signal_subtract_relaxed, 536, void(Signal signal, SignalValue value))                         \
  X(signal_subtract_screlease, 552, void(Signal signal, SignalValue value))                       \
  X(code_object_deserialize, 632, Status(void* bytes, std::size_t size, const char* options,      \
    LegacyCodeObject* code_object))                                                               \
  X(code_object_destroy, 640, Status(LegacyCodeObject code_object))                               \
  X(executable_create, 680, Status(Profile profile, ExecutableState state, const char*            \
    options, Executable* executable))                                                             \
  X(executable_destroy, 688, Status(Executable executable))                                       \
  X(executable_load_code_object, 696, Status(Executable executable, Agent agent,                  \
    LegacyCodeObject code_object, const char* options))                                           \
  X(executable_freeze, 704, Status(Executable executable, const char* options))                   \
  X(executable_get_symbol, 752, Status(Executable executable, const char* module, const           \
    char* name, Agent agent, std::int32_t call_convention, ExecutableSymbol* symbol))             \
  X(executable_symbol_get_info, 760, Status(ExecutableSymbol symbol, std::uint32_t                \
    attribute, void* value))                                                                      \
  X(executable_iterate_symbols, 768, Status(Executable executable, Status                         \
    (*callback)(Executable, ExecutableSymbol, void*), void* data))                                \
  X(status_string, 776, Status(Status status, const char** text))                                 \
  X(system_get_major_extension_table, 800, Status(std::uint16_t extension, std::uint16_t major,   \
    std::size_t table_bytes, void* table))                                                        \
  X(agent_iterate_isas, 880, Status(Agent agent, Status (*callback)(Isa, void*), void*            \
    data))                                                                                        \
  X(isa_get_info_alt, 888, Status(Isa isa, std::uint32_t attribute, void* value))                 \
  X(code_object_reader_create_from_file, 936, Status(int file, CodeObjectReader* reader))         \
  X(code_object_reader_create_from_memory, 944, Status(const void* code_object, std::size_t       \
    size, CodeObjectReader* reader))                                                              \
  X(code_object_reader_destroy, 952, Status(CodeObjectReader reader))                             \
  X(executable_create_alt, 960, Status(Profile profile, RoundingMode rounding, const char*        \
    options, Executable* executable))                                                             \
  X(executable_load_agent_code_object, 976, Status(Executable executable, Agent agent,            \
    CodeObjectReader reader, const char* options, LoadedCodeObject* loaded))                      \
  X(executable_get_symbol_by_name, 992, Status(Executable executable, const char* name,           \
    const Agent* agent, ExecutableSymbol* symbol))                                                \
  X(executable_iterate_agent_symbols, 1000, Status(Executable executable, Agent agent,            \
    Status (*callback)(Executable, Agent, ExecutableSymbol, void*), void* data))

/// X(name, offset, offset at major 1, signature): the AMD extension; exported as hsa_amd_<name>,
/// except queue_intercept_create and queue_intercept_register, which only the table has.
#define PERFLAB_HSA_AMD(X)                                                                        \
  X(profiling_set_profiler_enabled, 32, 32, Status(Queue* queue, int enable))                     \
  X(profiling_get_dispatch_time, 48, 48, Status(Agent agent, Signal signal, DispatchTime*         \
    time))                                                                                        \
  X(profiling_convert_tick_to_system_domain, 64, 64, Status(Agent agent, std::uint64_t            \
    agent_tick, std::uint64_t* system_tick))                                                      \
  X(memory_pool_get_info, 104, 104, Status(MemoryPool pool, std::uint32_t attribute, void*        \
    value))                                                                                       \
  X(agent_iterate_memory_pools, 112, 112, Status(Agent agent, Status (*callback)(MemoryPool,      \
    void*), void* data))                                                                          \
  X(memory_pool_allocate, 120, 120, Status(MemoryPool pool, std::size_t size, std::uint32_t       \
    flags, void** pointer))                                                                       \
  X(memory_pool_free, 128, 128, Status(void* pointer))                                            \
  X(memory_async_copy, 136, 136, Status(void* destination, Agent destination_agent, const         \
    void* source, Agent source_agent, std::size_t size, std::uint32_t dep_count, const            \
    Signal* dep_signals, Signal completion))                                                      \
  X(agent_memory_pool_get_info, 160, 144, Status(Agent agent, MemoryPool pool, std::uint32_t      \
    attribute, void* value))                                                                      \
  X(agents_allow_access, 168, 152, Status(std::uint32_t count, const Agent* agents, const         \
    std::uint32_t* flags, const void* pointer))                                                   \
  X(memory_lock, 192, 176, Status(void* host, std::size_t size, Agent* agents, int count,         \
    void** agent_pointer))                                                                        \
  X(memory_unlock, 200, 184, Status(void* host))                                                  \
  X(memory_fill, 208, 192, Status(void* pointer, std::uint32_t value, std::size_t count))         \
  X(interop_map_buffer, 216, 200, Status(std::uint32_t count, Agent* agents, int handle,          \
    std::uint32_t flags, std::size_t* size, void** pointer, std::size_t* metadata_size,           \
    const void** metadata))                                                                       \
  X(interop_unmap_buffer, 224, 208, Status(void* pointer))                                        \
  X(pointer_info, 240, 224, Status(const void* pointer, PointerInfo* info, void*                  \
    (*allocate)(std::size_t), std::uint32_t* accessible_count, Agent** accessible))               \
  X(ipc_memory_create, 256, 240, Status(void* pointer, std::size_t size, IpcMemory* handle))      \
  X(ipc_memory_attach, 264, 248, Status(const IpcMemory* handle, std::size_t size,                \
    std::uint32_t count, const Agent* agents, void** pointer))                                    \
  X(ipc_memory_detach, 272, 256, Status(void* pointer))                                           \
  X(queue_intercept_create, 312, 296, Status(Agent agent, std::uint32_t size, std::uint32_t       \
    type, QueueCallback callback, void* data, std::uint32_t private_segment_size,                 \
    std::uint32_t group_segment_size, Queue** queue))                                             \
  X(queue_intercept_register, 320, 304, Status(Queue* queue, PacketHandler handler, void*         \
    data))                                                                                        \
  X(memory_lock_to_pool, 352, 336, Status(void* host, std::size_t size, Agent* agents, int        \
    count, MemoryPool pool, std::uint32_t flags, void** agent_pointer))                           \
  X(svm_attributes_set, 384, 368, Status(void* pointer, std::size_t size, SvmAttribute*           \
    attributes, std::size_t count))                                                               \
  X(vmem_address_reserve, 456, 0, Status(void** address, std::size_t size, std::uint64_t          \
    wish, std::uint64_t flags))                                                                   \
  X(vmem_address_free, 464, 0, Status(void* address, std::size_t size))                           \
  X(vmem_handle_create, 472, 0, Status(MemoryPool pool, std::size_t size, MemoryType type,        \
    std::uint64_t flags, VmemHandle* handle))                                                     \
  X(vmem_handle_release, 480, 0, Status(VmemHandle handle))                                       \
  X(vmem_map, 488, 0, Status(void* address, std::size_t size, std::size_t offset, VmemHandle      \
    handle, std::uint64_t flags))                                                                 \
  X(vmem_unmap, 496, 0, Status(void* address, std::size_t size))                                  \
  X(vmem_set_access, 504, 0, Status(void* address, std::size_t size, const                        \
    AccessDescription* descriptions, std::size_t count))                                          \
  X(vmem_get_access, 512, 0, Status(void* address, Access* permissions, Agent agent))             \
  X(vmem_import_shareable_handle, 528, 0, Status(int file, VmemHandle* handle))                   \
  X(vmem_get_alloc_properties_from_handle, 544, 0, Status(VmemHandle handle, MemoryPool*          \
    pool, MemoryType* type))                                                                      \
  X(queue_get_info, 560, 0, Status(Queue* queue, std::uint32_t attribute, void* value))           \
  X(vmem_address_reserve_align, 568, 0, Status(void** address, std::size_t size,                  \
    std::uint64_t wish, std::uint64_t alignment, std::uint64_t flags))                            \
  X(counted_queue_acquire, 624, 0, Status(Agent agent, std::uint32_t type, std::uint32_t          \
    priority, QueueCallback callback, void* data, std::uint64_t flags, Queue** queue))            \
  X(queue_create, 704, 0, Status(Agent agent, void* descriptions, std::uint32_t count))

// clang-format on
// NOLINTEND(cppcoreguidelines-macro-usage)
