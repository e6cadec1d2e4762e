// What a capture of one dispatch says: the dispatch, the agent it ran on, the memory that was there
// before it and what it changed. docs/REPLAY.md describes the folder; the facts behind the fields
// stand in docs/facts/hsa_runtime.md, docs/facts/code_object.md and docs/facts/cuda_cupti.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perflab::capture {

/// Version of the folder's layout. Another major version is refused by name.
/// 2.1: captures of CUDA programs. 2.0: hashes are SHA-256. 1: they were XXH3; such captures are
/// still read.
inline constexpr int kFormatMajor = 2, kFormatMinor = 1, kOldestFormatMajor = 1;

/// Granule of zero elision, of sharing and of the write set, in bytes.
inline constexpr std::uint64_t kPageBytes = 4096;

/// Whose runtime ran the program. In captures of format 2.0 and older it is not said: hip.
enum class Platform : std::uint8_t { hip, cuda };
std::string_view to_string(Platform platform);

/// Where an argument lies in the parameter buffer of a CUDA kernel, in bytes.
struct Parameter {
  std::uint32_t offset = 0, size = 0;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

/// What a launch through the CUDA driver has besides a grid.
struct CudaLaunch {
  std::array<std::uint32_t, 3> cluster{};      ///< thread blocks; 0: none was asked for
  bool cooperative = false;                    ///< all blocks resident at once
  std::uint32_t max_dynamic_shared_bytes = 0;  ///< the function's attribute at the launch
  std::int32_t shared_carveout = -1;           ///< the function's attribute: percent; -1: default
  std::uint32_t registers = 0;                 ///< of a thread
  std::vector<Parameter> parameters;           ///< in their order
  friend bool operator==(const CudaLaunch&, const CudaLaunch&) = default;
};

/// The captured launch and its kernel. Fields marked HSA are 0 or empty on CUDA.
struct Dispatch {
  std::string kernel;                        ///< the symbol as the runtime knows it, without ".kd"
  std::string demangled;                     ///< the name people know it by
  std::uint64_t ordinal = 0;                 ///< which of the matching dispatches, counted from 1
  std::array<std::uint64_t, 3> grid{};       ///< work-items (threads), on both platforms
  std::array<std::uint32_t, 3> workgroup{};  ///< work-items
  std::uint16_t header = 0, setup = 0;       ///< HSA: as submitted
  std::uint32_t private_segment_bytes = 0;   ///< scratch (local memory) of a work-item
  std::uint32_t group_segment_bytes = 0;     ///< static and dynamic LDS (shared memory)
  std::uint32_t static_group_segment_bytes = 0;    ///< of the symbol
  std::uint32_t static_private_segment_bytes = 0;  ///< of the symbol
  std::uint32_t kernarg_bytes = 0;                 ///< on CUDA: the end of the last parameter
  std::uint32_t kernarg_align = 0;                 ///< HSA
  bool dynamic_callstack = false;                  ///< HSA
  std::uint64_t kernel_object = 0;                 ///< HSA: address in the captured process
  std::uint64_t kernarg_address = 0;               ///< HSA: address in the captured process
  bool had_completion_signal = false;              ///< HSA
  std::string packet;                ///< HSA: the 64 bytes as submitted, lower-case hex
  std::optional<CudaLaunch> cuda{};  ///< of a CUDA launch
  /// GPU time of the dispatch when it was captured, alone on the agent; missing: not measured.
  std::optional<std::uint64_t> captured_ns;
};

/// The GPU and the software that the capture was taken with.
struct Machine {
  Platform platform = Platform::hip;
  std::string isa;           ///< "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"; "sm_90"
  std::string agent_name;    ///< "gfx942"; "sm_90"
  std::string product_name;  ///< marketing name; empty: not reported
  std::uint32_t compute_units = 0;
  std::uint32_t gpu_index = 0;  ///< among the GPU agents, in the runtime's order
  std::uint32_t gpu_count = 0;
  /// Of the HSA runtime: "1.21", with its build when known; of the CUDA driver's interface: "13.0".
  std::string runtime_version;
  std::string driver_version{};  ///< of the kernel module: "580.159.04"; empty: not known
  std::string rocm_version;      ///< of the ROCm installation; empty: not known
  std::string address_mode;      ///< "mmap" or "reserved" (HSA_RESERVE_SVM); empty: not known
};

/// How a region came to be.
enum class Origin : std::uint8_t {
  pool,            ///< hsa_amd_memory_pool_allocate; cuMemAlloc and its kind
  region,          ///< hsa_memory_allocate
  vmem,            ///< one hsa_amd_vmem_map or cuMemMap (not its reservation)
  managed,         ///< svm: attributes set on a range; cuMemAllocManaged
  locked,          ///< host memory made visible: its contents belong to the host
  ipc,             ///< memory of another process
  interop,         ///< memory of a graphics driver or a dma-buf
  stream_ordered,  ///< cuMemAllocAsync and its kind
  pinned,    ///< host memory that a CUDA program gave its GPU: cuMemHostAlloc, cuMemHostRegister
  variable,  ///< a variable inside a loaded code object; its address is not kept at replay
};
std::string_view to_string(Origin origin);

/// Where one blob's bytes stand and what they are. Written by RegionWriter.
struct Blob {
  std::uint32_t number = 0;  ///< of the blob within the capture: what shared pages refer to
  std::string file;          ///< relative to the capture's folder; empty: nothing but zero pages
  std::uint64_t pages = 0;   ///< in all; the last may be partial
  std::uint64_t zero_pages = 0;
  std::uint64_t shared_pages = 0;  ///< equal to a page stored before, in this blob or another
  std::uint64_t stored_pages = 0;
  std::uint64_t file_bytes = 0;
  /// Of the blob's header, which holds that of its tables, which hold that of every frame of pages;
  /// base/hash.h's form. Empty without a file.
  std::string hash;
};

/// Consecutive pages of a region.
struct PageRun {
  std::uint64_t first = 0, count = 0;
  friend bool operator==(const PageRun&, const PageRun&) = default;
};

/// A piece of memory that was live at the dispatch.
struct MemoryRegion {
  std::uint64_t base = 0;   ///< address
  std::uint64_t bytes = 0;  ///< as asked for, not rounded
  Origin origin = Origin::pool;
  bool on_gpu = true;             ///< the pool belongs to a GPU agent
  std::uint32_t agent_index = 0;  ///< among the agents of that kind, in the runtime's order
  std::uint32_t pool_flags = 0;   ///< hsa::pool_*
  std::uint32_t allocation_flags = 0;
  std::uint64_t granule = 0;                                  ///< of the pool
  std::uint64_t recommended_granule = 0;                      ///< of the pool; 0: not known
  std::uint64_t reservation_base = 0, reservation_bytes = 0;  ///< of Origin::vmem
  std::string symbol;                                         ///< of Origin::variable
  std::string code_object_hash;  ///< of Origin::variable: the object that holds it
  std::string not_captured;      ///< why its contents are missing; empty: they are here
  Blob image;                    ///< before the dispatch
  Blob writes;                   ///< the pages that the dispatch changed, as they were after it
  std::vector<PageRun> written;  ///< where those pages lie: ascending, not adjacent

  [[nodiscard]] std::uint64_t pages() const {
    return bytes / kPageBytes + (bytes % kPageBytes != 0);
  }
  [[nodiscard]] bool captured() const { return not_captured.empty(); }
};

/// A capture without its bytes.
struct Description {
  Dispatch dispatch;
  Machine machine;
  std::vector<MemoryRegion> regions;  ///< by base, variables last
  std::string code_object_hash;       ///< of kernel.hsaco or kernel.cubin
  std::uint64_t code_object_bytes = 0;
  std::string kernarg_hash;
  /// What the capture could not see or do, a sentence each.
  std::vector<std::string> limits;
};

}  // namespace perflab::capture
