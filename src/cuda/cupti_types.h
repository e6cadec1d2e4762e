// The C ABI of CUPTI beside its records (records.h): results, domains and ids of callbacks, what a
// callback is given. Compared with the toolkit's headers in tests/cuda. Facts:
// docs/facts/cuda_cupti.md "Results", "Callbacks".
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/driver_types.h"

namespace perflab::cuda {

/// What every call of CUPTI answers. Other values than these exist.
enum class CuptiResult : std::uint32_t {
  success = 0,
  invalid_parameter = 1,
  invalid_device = 2,
  invalid_context = 3,
  invalid_operation = 7,
  out_of_memory = 8,
  hardware = 9,
  parameter_size_not_sufficient = 10,
  api_not_implemented = 11,
  max_limit_reached = 12,
  not_ready = 13,
  not_compatible = 14,
  not_initialized = 15,
  invalid_metric_name = 17,
  queue_empty = 18,
  invalid_handle = 19,
  invalid_stream = 20,
  invalid_kind = 21,
  disabled = 23,
  hardware_busy = 26,
  not_supported = 27,
  virtualized_device_not_supported = 33,
  insufficient_privileges = 35,
  old_profiler_api_initialized = 36,
  legacy_profiler_not_supported = 38,
  multiple_subscribers_not_supported = 39,
  virtualized_device_insufficient_privileges = 40,
  confidential_computing_not_supported = 41,
  cmp_device_not_supported = 42,
  mig_device_not_supported = 43,
  sli_device_not_supported = 44,
  wsl_device_not_supported = 45,
  invalid_chip_name = 46,
  unknown = 999,
};

enum class CallbackDomain : std::uint32_t {
  invalid = 0,
  driver_api = 1,
  runtime_api = 2,
  resource = 3,
  synchronize = 4,
  nvtx = 5,
  state = 6,
};

/// Which call, or which event of a domain: a number of that domain.
using CallbackId = std::uint32_t;

/// Events of CallbackDomain::resource.
namespace resource_callback {
inline constexpr CallbackId context_created = 1, context_destroy_starting = 2, stream_created = 3,
                            stream_destroy_starting = 4, init_finished = 5, module_loaded = 6,
                            module_unload_starting = 7, module_profiled = 8, graph_created = 9,
                            graph_destroy_starting = 10, graph_cloned = 11,
                            graph_node_create_starting = 12, graph_node_created = 13,
                            graph_node_destroy_starting = 14, graph_node_dependency_created = 15,
                            graph_node_dependency_destroy_starting = 16,
                            graph_exec_create_starting = 17, graph_exec_created = 18,
                            graph_exec_destroy_starting = 19, graph_node_cloned = 20;
}  // namespace resource_callback

/// Events of CallbackDomain::synchronize.
namespace synchronize_callback {
inline constexpr CallbackId stream_synchronized = 1, context_synchronized = 2;
}

/// Events of CallbackDomain::state. After `fatal_error` CUPTI has finalized itself.
namespace state_callback {
inline constexpr CallbackId fatal_error = 1, error = 2, warning = 3;
}

/// Calls of CallbackDomain::driver_api that launch kernels.
namespace driver_call {
inline constexpr CallbackId launch_kernel = 307, graph_launch = 514, launch_kernel_ptsz = 442,
                            launch_cooperative_kernel = 477, launch_cooperative_kernel_ptsz = 478,
                            graph_launch_ptsz = 515, launch_kernel_ex = 652,
                            launch_kernel_ex_ptsz = 653;
// Memory, modules, graphs: see launch_parameters.h for what they are given.
inline constexpr CallbackId module_load = 18, module_load_data = 19, module_load_data_ex = 20,
                            module_load_fat_binary = 21, memory_free_host = 38, host_allocate = 39,
                            memory_allocate = 243, memory_allocate_pitch = 244, memory_free = 245,
                            host_allocate_v2 = 271, memory_allocate_host = 294,
                            host_unregister = 302, ipc_open = 329, ipc_close = 330,
                            memory_allocate_managed = 371, host_register = 379,
                            external_memory_map = 486, graph_instantiate = 513,
                            address_reserve = 547, address_free = 548, memory_release = 550,
                            memory_map = 551, memory_unmap = 552, memory_import = 555,
                            ipc_open_v2 = 567, graph_instantiate_v2 = 578,
                            memory_allocate_async = 598, memory_allocate_async_ptsz = 599,
                            memory_free_async = 600, memory_free_async_ptsz = 601,
                            memory_allocate_from_pool = 611, memory_allocate_from_pool_ptsz = 612,
                            pool_import_pointer = 616, graph_instantiate_flags = 643,
                            graph_instantiate_parameters = 656,
                            graph_instantiate_parameters_ptsz = 657, graph_exec_destroy = 516,
                            graph_exec_kernel_node_set = 538, graph_exec_update = 561,
                            graph_exec_kernel_node_set_v2 = 692, graph_exec_update_v2 = 696,
                            graph_exec_node_set = 714;
}  // namespace driver_call

/// Calls of CallbackDomain::runtime_api.
namespace runtime_call {
inline constexpr CallbackId set_device = 16;
}  // namespace runtime_call

enum class CallbackSite : std::uint32_t { enter = 0, exit = 1 };

/// What a callback of the domains driver_api and runtime_api is given.
struct CallbackData {
  CallbackSite site;
  const char* function_name;  ///< lives as long as the process
  const void* function_parameters;
  void* function_return_value;  ///< at `exit` only
  const char* symbol_name;      ///< mangled name of a launched kernel, else null
  Context context;
  std::uint32_t context_uid;
  std::uint64_t* correlation_data;  ///< shared by enter and exit of one call
  std::uint32_t correlation_id;     ///< that of the call's record
};
static_assert(sizeof(CallbackData) == 72);

/// What a callback of the domain resource is given.
struct ResourceData {
  Context context;
  Stream stream;     ///< of stream events
  void* descriptor;  ///< ModuleData of module events, GraphData of graph events
};
static_assert(sizeof(ResourceData) == 24);

struct ModuleData {
  std::uint32_t module_id;
  std::size_t cubin_size;  ///< bytes
  const char* cubin;       ///< the whole ELF file, while the callback runs
};
static_assert(sizeof(ModuleData) == 24);

/// Of events of graphs; what an event is not about is null.
struct GraphData {
  Graph graph;
  Graph original_graph;
  GraphNode node;
  GraphNode original_node;
  GraphNodeType node_type;
  GraphNode dependency;
  GraphExec executable;
};
static_assert(sizeof(GraphData) == 56);

/// What a callback of the domain synchronize is given.
struct SynchronizeData {
  Context context;
  Stream stream;
};
static_assert(sizeof(SynchronizeData) == 16);

/// What a callback of the domain state is given.
struct StateData {
  CuptiResult result;
  const char* message;  ///< may be null
};
static_assert(sizeof(StateData) == 16);

using CallbackFunction = void (*)(void* user_data, CallbackDomain domain, CallbackId id,
                                  const void* data);

struct SubscriberTag;
using Subscriber = SubscriberTag*;

/// cuptiSubscribe_v2's answer about the client that was there before: at least this many bytes.
inline constexpr std::size_t old_subscriber_name_bytes = 64;

struct SubscriberParameters {
  std::size_t struct_size;  ///< sizeof(SubscriberParameters)
  const char* subscriber_name;
  char* old_subscriber_name;  ///< written on multiple_subscribers_not_supported; may be null
  std::size_t old_subscriber_size;
};
static_assert(sizeof(SubscriberParameters) == 32);

/// What CUPTI takes for the id of a thread: pthread_self()'s low half, or gettid().
enum class ThreadIdType : std::uint32_t { by_default = 0, system = 1 };

/// cuptiActivityFlushAll: also records of work that has not finished, whose times are 0 then.
inline constexpr std::uint32_t flush_forced = 1;

/// CUPTI wants a buffer for records: address (8-byte aligned), bytes, and the number of records
/// that fit at most (0: as many as fit). A null buffer drops records.
using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* bytes,
                                 std::size_t* max_records);
/// CUPTI is done with a buffer; the first `valid_bytes` hold records. `context` may be null.
using BufferCompleted = void (*)(Context context, std::uint32_t stream_id, std::uint8_t* buffer,
                                 std::size_t bytes, std::size_t valid_bytes);
/// The clock of all records, in ns.
using TimestampFunction = std::uint64_t (*)();

}  // namespace perflab::cuda
