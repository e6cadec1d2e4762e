// The C ABI of the HSA runtime (libhsa-runtime64.so.1), as far as capture, replay and the stand-in
// runtime of the tests use it: handles, packets, constants. Declared by ourselves because the
// headers that Debian ships (5.2.3) describe an older table than the runtimes of today
// (docs/facts/hsa_runtime.md "Tables"). Names without their hsa_ prefix; values are the ABI's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace perflab::hsa {

// An opaque handle of the runtime; 0 is none.
struct Agent {
  std::uint64_t handle;
  friend bool operator==(const Agent&, const Agent&) = default;
};
struct Signal {
  std::uint64_t handle;
  friend bool operator==(const Signal&, const Signal&) = default;
};
struct Region {
  std::uint64_t handle;
};
struct MemoryPool {
  std::uint64_t handle;
  friend bool operator==(const MemoryPool&, const MemoryPool&) = default;
};
struct Isa {
  std::uint64_t handle;
};
struct Executable {
  std::uint64_t handle;
};
struct ExecutableSymbol {
  std::uint64_t handle;
};
struct CodeObjectReader {
  std::uint64_t handle;
};
struct LoadedCodeObject {
  std::uint64_t handle;
};
struct LegacyCodeObject {
  std::uint64_t handle;
};
struct VmemHandle {
  std::uint64_t handle;
};

/// What every call answers. Other values than these exist.
enum class Status : std::uint32_t {
  success = 0,
  info_break = 1,
  invalid_memory_pool = 40,
  memory_aperture_violation = 41,
  illegal_instruction = 42,
  memory_fault = 43,
  error = 0x1000,
  invalid_argument = 0x1001,
  invalid_queue_creation = 0x1002,
  invalid_allocation = 0x1003,
  invalid_agent = 0x1004,
  invalid_region = 0x1005,
  invalid_signal = 0x1006,
  invalid_queue = 0x1007,
  out_of_resources = 0x1008,
  invalid_packet_format = 0x1009,
  resource_free = 0x100a,
  not_initialized = 0x100b,
  incompatible_arguments = 0x100d,
  invalid_isa = 0x100f,
  invalid_code_object = 0x1010,
  invalid_executable = 0x1011,
  frozen_executable = 0x1012,
  invalid_symbol_name = 0x1013,
  exception = 0x1016,
  invalid_executable_symbol = 0x1019,
  invalid_file = 0x1020,
  invalid_code_object_reader = 0x1021,
};

using SignalValue = std::int64_t;

/// Conditions of signal_wait.
enum class Condition : std::uint32_t { eq = 0, ne = 1, lt = 2, gte = 3 };
enum class WaitState : std::uint32_t { blocked = 0, active = 1 };

enum class DeviceType : std::uint32_t { cpu = 0, gpu = 1, dsp = 2 };
enum class Profile : std::uint32_t { base = 0, full = 1 };
enum class RoundingMode : std::uint32_t { by_default = 0, zero = 1, near = 2 };
enum class ExecutableState : std::uint32_t { unfrozen = 0, frozen = 1 };
enum class SymbolKind : std::uint32_t { variable = 0, kernel = 1, indirect_function = 2 };
enum class Access : std::uint32_t { none = 0, read_only = 1, write_only = 2, read_write = 3 };
enum class MemoryType : std::uint32_t { none = 0, pinned = 1 };

// Attributes of system_get_info, agent_get_info, ...: plain numbers, because the ABI passes them
// so.
namespace system_info {
inline constexpr std::uint32_t version_major = 0, version_minor = 1, timestamp = 2,
                               timestamp_frequency = 3, signal_max_wait = 4;
inline constexpr std::uint32_t build_version = 0x200;             ///< const char*
inline constexpr std::uint32_t svm_supported = 0x201;             ///< bool
inline constexpr std::uint32_t virtual_memory_supported = 0x205;  ///< bool
inline constexpr std::uint32_t xnack_enabled = 0x206;             ///< bool
}  // namespace system_info

namespace agent_info {
inline constexpr std::uint32_t name = 0;         ///< char[64]
inline constexpr std::uint32_t vendor_name = 1;  ///< char[64]
inline constexpr std::uint32_t queue_min_size = 13, queue_max_size = 14;
inline constexpr std::uint32_t node = 16;
inline constexpr std::uint32_t device = 17;  ///< DeviceType
inline constexpr std::uint32_t isa = 19;     ///< Isa
inline constexpr std::uint32_t compute_unit_count = 0xa002;
inline constexpr std::uint32_t bdf_id = 0xa006;  ///< uint32_t: bus << 8 | device << 3 | function
inline constexpr std::uint32_t product_name = 0xa009;  ///< char[64]
inline constexpr std::uint32_t domain = 0xa00f;        ///< uint32_t, of the bus
inline constexpr std::uint32_t uuid = 0xa011;          ///< char[21]
}  // namespace agent_info

namespace isa_info {
inline constexpr std::uint32_t name_length = 0, name = 1;
}

namespace pool_info {
inline constexpr std::uint32_t segment = 0, global_flags = 1;
inline constexpr std::uint32_t size = 2;           ///< size_t
inline constexpr std::uint32_t alloc_allowed = 5;  ///< bool
inline constexpr std::uint32_t granule = 6;        ///< size_t; least size of an allocation
inline constexpr std::uint32_t alignment = 7, accessible_by_all = 15, alloc_max_size = 16;
inline constexpr std::uint32_t recommended_granule = 18;
}  // namespace pool_info

namespace agent_pool_info {
inline constexpr std::uint32_t access = 0;
}

inline constexpr std::uint32_t segment_global = 0;
/// Flags of a memory pool (and of a region).
/// hsa_queue_type32_t.
inline constexpr std::uint32_t queue_multi_producer = 0, queue_single_producer = 1,
                               queue_cooperative = 2;

inline constexpr std::uint32_t pool_kernarg = 1, pool_fine_grained = 2, pool_coarse_grained = 4,
                               pool_extended_scope_fine_grained = 8;

namespace region_info {
inline constexpr std::uint32_t segment = 0, global_flags = 1, size = 2, alloc_allowed = 5,
                               granule = 6;
}

namespace symbol_info {
inline constexpr std::uint32_t type = 0;  ///< SymbolKind
inline constexpr std::uint32_t name_length = 1, name = 2, variable_size = 9,
                               kernarg_segment_size = 11, kernarg_segment_alignment = 12,
                               group_segment_size = 13, private_segment_size = 14,
                               dynamic_callstack = 15, agent = 20;
inline constexpr std::uint32_t variable_address = 21;  ///< uint64_t
inline constexpr std::uint32_t kernel_object = 22;     ///< uint64_t
}  // namespace symbol_info

/// vmem_address_reserve: the range is not given to the driver.
inline constexpr std::uint64_t vmem_no_register = 1;

/// Attributes of amd_queue_get_info.
namespace queue_info {
inline constexpr std::uint32_t agent = 0, doorbell_id = 1;
}

/// A queue as its user sees it.
struct Queue {
  std::uint32_t type;
  std::uint32_t features;
  void* base_address;  ///< `size` packets of 64 bytes
  Signal doorbell_signal;
  std::uint32_t size;  ///< packets; a power of two
  std::uint32_t reserved;
  std::uint64_t id;
};
static_assert(sizeof(Queue) == 40);

using QueueCallback = void (*)(Status status, Queue* source, void* data);

/// Types of packets: the low byte of a header.
namespace packet_type {
inline constexpr std::uint16_t vendor = 0, invalid = 1, kernel_dispatch = 2, barrier_and = 3,
                               agent_dispatch = 4, barrier_or = 5;
}
/// Bits of a header.
namespace header {
inline constexpr unsigned type_mask = 0xff, barrier_bit = 8, acquire_shift = 9, release_shift = 11;
inline constexpr std::uint16_t scope_none = 0, scope_agent = 1, scope_system = 2;
}  // namespace header

/// The type of any packet, from its header.
inline std::uint16_t type_of(std::uint16_t packet_header) {
  return static_cast<std::uint16_t>(packet_header & header::type_mask);
}

struct KernelDispatchPacket {
  std::uint16_t header;
  std::uint16_t setup;  ///< number of dimensions in the low two bits
  std::uint16_t workgroup_size_x, workgroup_size_y, workgroup_size_z;
  std::uint16_t reserved0;
  std::uint32_t grid_size_x, grid_size_y, grid_size_z;  ///< work-items
  std::uint32_t private_segment_size;                   ///< bytes of a work-item
  std::uint32_t group_segment_size;                     ///< bytes of LDS: static and dynamic
  std::uint64_t kernel_object;
  void* kernarg_address;
  std::uint64_t reserved2;
  Signal completion_signal;
};
static_assert(sizeof(KernelDispatchPacket) == 64);

struct BarrierPacket {  ///< barrier-AND and barrier-OR
  std::uint16_t header;
  std::uint16_t reserved0;
  std::uint32_t reserved1;
  Signal dep_signal[5];
  std::uint64_t reserved2;
  Signal completion_signal;
};
static_assert(sizeof(BarrierPacket) == 64);

using PacketWriter = void (*)(const void* packets, std::uint64_t count);
using PacketHandler = void (*)(const void* packets, std::uint64_t count,
                               std::uint64_t user_packet_index, void* data, PacketWriter writer);

struct DispatchTime {
  std::uint64_t start, end;  ///< ticks of system_info::timestamp
};

/// Answers of pointer_info: docs/facts/hsa_runtime.md "Pointer queries".
enum class PointerType : std::uint32_t {
  unknown = 0,
  hsa = 1,
  locked = 2,
  graphics = 3,
  ipc = 4,
  reserved_address = 5,
  vmem = 6,
};

struct PointerInfo {
  std::uint32_t size;  ///< set by the caller
  PointerType type;
  void* agent_base;
  void* host_base;
  std::size_t bytes;
  void* user_data;
  Agent owner;
  std::uint32_t global_flags;
  bool registered;
  std::uint32_t alloc_flags;
};
static_assert(sizeof(PointerInfo) == 64);

struct AccessDescription {
  Access permissions;
  Agent agent;
};
static_assert(sizeof(AccessDescription) == 16);

struct SvmAttribute {
  std::uint64_t attribute, value;
};

struct IpcMemory {
  std::uint32_t handle[8];
};

/// Head of every table of entry points. `minor` is the table's size in bytes.
struct TableVersion {
  std::uint32_t major, minor, step, reserved;
};

/// What OnLoad is given: the runtime's live tables. Those behind `image` exist from a minor (size)
/// that includes them.
struct ApiTables {
  TableVersion version;
  void* core;
  void* amd_ext;
  void* finalizer;
  void* image;
  void* tools;
  void* pc_sampling;
};

}  // namespace perflab::hsa
