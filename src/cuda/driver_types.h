// The C ABI of the CUDA driver (libcuda.so.1), as far as recording, capture and replay use it:
// results, handles, attributes, memory and launches. Declared by ourselves, because building needs
// no toolkit; compared with its headers in tests/cuda. Facts: docs/facts/cuda_cupti.md "Driver".
#pragma once

#include <cstdint>

namespace perflab::cuda {

/// What every call of the driver answers. Other values than these exist.
enum class DriverResult : std::uint32_t {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  deinitialized = 4,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  no_binary_for_gpu = 209,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  host_memory_already_registered = 712,
  host_memory_not_registered = 713,
  launch_failed = 719,
  cooperative_launch_too_large = 720,
  not_supported = 801,
  stream_capture_unsupported = 900,
  stream_capture_implicit = 906,
  unknown = 999,
};

/// A device: its ordinal among those that the process sees.
using Device = std::int32_t;

// Opaque handles of the driver; null is none (of a stream: the context's default one).
struct ContextTag;
struct StreamTag;
struct EventTag;
struct FunctionTag;
struct KernelTag;
struct ModuleTag;
struct LibraryTag;
struct GraphTag;
struct GraphNodeTag;
struct GraphExecTag;
using Context = ContextTag*;
using Stream = StreamTag*;
using Event = EventTag*;
using Function = FunctionTag*;
using Kernel = KernelTag*;  ///< of a library; launches take it for a Function as well
using Module = ModuleTag*;
using Library = LibraryTag*;  ///< loaded into each context when it is needed there
using Graph = GraphTag*;
using GraphNode = GraphNodeTag*;
using GraphExec = GraphExecTag*;

/// An address in the memory of a device.
using DevicePointer = std::uint64_t;

struct Uuid {
  char bytes[16];
};

/// Attributes of cuDeviceGetAttribute. Clocks are in kHz, sizes in bytes unless said otherwise.
enum class DeviceAttribute : std::uint32_t {
  max_threads_per_block = 1,
  max_shared_memory_per_block = 8,  ///< without opting in
  warp_size = 10,
  max_registers_per_block = 12,
  clock_rate = 13,  ///< kHz, the largest
  multiprocessor_count = 16,
  pci_bus_id = 33,
  pci_device_id = 34,            ///< the slot on the bus, not the product
  memory_clock_rate = 36,        ///< kHz, the largest
  global_memory_bus_width = 37,  ///< bits
  l2_cache_size = 38,
  max_threads_per_multiprocessor = 39,
  pci_domain_id = 50,
  compute_capability_major = 75,
  compute_capability_minor = 76,
  max_shared_memory_per_multiprocessor = 81,
  max_registers_per_multiprocessor = 82,
  cooperative_launch = 95,
  max_shared_memory_per_block_optin = 97,
  max_blocks_per_multiprocessor = 106,
  reserved_shared_memory_per_block = 111,
  gpu_pci_device_id = 139,  ///< device id << 16 | vendor id; drivers from 12.8 on
};

/// Attributes of cuFuncGetAttribute and cuFuncSetAttribute.
enum class FunctionAttribute : std::uint32_t {
  max_threads_per_block = 0,
  shared_bytes = 1,    ///< static
  constant_bytes = 2,  ///< of the program, not parameters
  local_bytes = 3,     ///< of a thread
  registers = 4,       ///< of a thread
  binary_version = 6,  ///< 10 * major + minor
  max_dynamic_shared_bytes = 8,
  preferred_shared_carveout = 9,  ///< percent of the most; -1: the driver's choice
  non_portable_cluster_size_allowed = 14,
};

/// Attributes of cuPointerGetAttribute.
enum class PointerAttribute : std::uint32_t {
  memory_type = 2,  ///< MemoryType
  is_managed = 8,   ///< bool
  device_ordinal = 9,
};

/// What PointerAttribute::memory_type says; what a copy names.
enum class MemoryType : std::uint32_t { host = 1, device = 2, array = 3, unified = 4 };

/// What `extra` of a launch is made of: pairs of a word and a value, then `end`.
namespace launch_parameter {
inline constexpr std::uintptr_t end = 0, buffer_pointer = 1, buffer_size = 2;
}

/// Which of a launch's attributes a LaunchAttribute is.
enum class LaunchAttributeId : std::uint32_t {
  ignore = 0,
  cooperative = 2,
  cluster_dimension = 4,
};

/// One attribute of cuLaunchKernelEx.
union LaunchAttributeValue {
  char bytes[64];
  std::int32_t cooperative;  ///< not 0: it is
  std::uint32_t cluster[3];  ///< blocks
};
struct LaunchAttribute {
  LaunchAttributeId id;
  std::uint32_t padding;
  LaunchAttributeValue value;
};
static_assert(sizeof(LaunchAttribute) == 72);

/// The shape of a launch by cuLaunchKernelEx.
struct LaunchConfiguration {
  std::uint32_t grid[3];   ///< blocks
  std::uint32_t block[3];  ///< threads
  std::uint32_t shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  std::uint32_t attribute_count;
};
static_assert(sizeof(LaunchConfiguration) == 56);

/// Memory without an address (cuMemCreate).
using MemoryHandle = std::uint64_t;

enum class LocationType : std::uint32_t { invalid = 0, device = 1, host = 2 };

struct MemoryLocation {
  LocationType type;
  std::int32_t id;  ///< ordinal of a device
};

/// What cuMemCreate makes.
struct AllocationProperties {
  std::uint32_t type;          ///< allocation_pinned
  std::uint32_t handle_types;  ///< 0: not shared with other processes
  MemoryLocation location;
  void* windows_metadata;
  std::uint8_t compression;
  std::uint8_t gpu_direct_rdma;
  std::uint16_t usage;
  std::uint8_t reserved[4];
};
static_assert(sizeof(AllocationProperties) == 32);
inline constexpr std::uint32_t allocation_pinned = 1;

/// Who may do what with a mapped range (cuMemSetAccess).
struct AccessDescription {
  MemoryLocation location;
  std::uint32_t flags;  ///< access_read_write
};
static_assert(sizeof(AccessDescription) == 12);
inline constexpr std::uint32_t access_read_write = 3;

/// What cuThreadExchangeStreamCaptureMode changes: which calls a thread may make while a stream is
/// captured.
enum class StreamCaptureMode : std::uint32_t { global = 0, thread_local_only = 1, relaxed = 2 };

/// Kinds of a graph's nodes.
enum class GraphNodeType : std::uint32_t {
  kernel = 0,
  copy = 1,
  fill = 2,
  host = 3,
  graph = 4,
  empty = 5,
};

/// What a kernel node of a graph launches (cuGraphKernelNodeGetParams_v2).
struct KernelNodeParameters {
  Function function;       ///< null: `kernel`
  std::uint32_t grid[3];   ///< blocks
  std::uint32_t block[3];  ///< threads
  std::uint32_t shared_bytes;
  void** parameters;
  void** extra;
  Kernel kernel;
  Context context;
};
static_assert(sizeof(KernelNodeParameters) == 72);

/// Flags of cuMemHostAlloc and cuMemHostRegister.
namespace host_memory {
inline constexpr std::uint32_t portable = 1, device_map = 2, io_memory = 4;
}

/// Flag of cuMemAllocManaged: any stream may use it.
inline constexpr std::uint32_t managed_global = 1;

}  // namespace perflab::cuda
