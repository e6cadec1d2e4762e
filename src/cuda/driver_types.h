// The C ABI of the CUDA driver (libcuda.so.1), as far as recording uses it: results, handles, the
// attributes of a device. Declared by ourselves, because building needs no toolkit; compared with
// its headers in tests/cuda. Facts: docs/facts/cuda_cupti.md "Driver".
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
  invalid_context = 201,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_failed = 719,
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
struct ModuleTag;
struct GraphExecTag;
using Context = ContextTag*;
using Stream = StreamTag*;
using Event = EventTag*;
using Function = FunctionTag*;
using Module = ModuleTag*;
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
  max_shared_memory_per_block_optin = 97,
  max_blocks_per_multiprocessor = 106,
  reserved_shared_memory_per_block = 111,
  gpu_pci_device_id = 139,  ///< device id << 16 | vendor id; drivers from 12.8 on
};

}  // namespace perflab::cuda
