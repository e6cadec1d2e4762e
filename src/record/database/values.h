// What a recording consists of, as plain values: the writer's input. Times are nanoseconds of
// CLOCK_BOOTTIME. Knows neither CUDA nor SQL; how CUDA stands in a rocpd database is in
// docs/facts/rocpd_cuda.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace perflab::record {

/// Ids of events that are no API call start here: those of calls are CUPTI's correlation ids, which
/// have 32 bits.
inline constexpr std::int64_t kFirstOwnEvent = std::int64_t{1} << 33;

/// The thread of rows whose call has no record. A row of its own and not null: AMD's views leave
/// out what has no thread.
inline constexpr std::int64_t kUnknownThread = 0;

/// The recorded process, written when the database is made.
struct Process {
  std::int64_t pid = 0;
  std::int64_t ppid = 0;
  std::int64_t start = 0;
  std::string command{};           ///< arguments separated by spaces
  std::string extdata = "{}";      ///< JSON
  std::string environment = "{}";  ///< JSON: of all variables, those of base/rank_variables.h
};

/// An agent: "CPU" or "GPU".
struct Agent {
  std::int64_t id = 0;  ///< also its absolute index
  std::string type = "GPU";
  std::int64_t type_index = 0;  ///< among those of its type
  std::int64_t uuid = 0;        ///< PCI device id; 0: not known
  std::string name{};           ///< "sm_90"
  std::string product{};        ///< "NVIDIA H100 80GB HBM3"
  std::string vendor{};         ///< "NVIDIA"
  std::string extdata = "{}";   ///< JSON
};

/// A kernel as loaded on one device.
struct Symbol {
  std::int64_t agent = 0;
  std::string name{};     ///< mangled
  std::string display{};  ///< demangled
  // Missing: not known, as of a launch that was seen as a call only.
  std::optional<std::int64_t> registers{};            ///< of a thread
  std::optional<std::int64_t> static_shared_bytes{};  ///< of a block
  std::optional<std::int64_t> local_bytes{};          ///< of a thread
};

/// Tables whose rows have the thread that asked for them.
enum class OfThread : std::uint8_t { dispatches, copies, allocations };

/// One launch of a kernel that ran.
struct Dispatch {
  std::int64_t tid = 0;  ///< of the launching thread
  std::int64_t agent = 0;
  std::int64_t symbol = 0;
  std::int64_t stream = 0;
  std::int64_t start = 0, end = 0;
  std::int64_t call = 0;  ///< correlation id of the launching call; 0: none
  std::array<std::int64_t, 3> blocks{1, 1, 1}, block_size{1, 1, 1};
  std::optional<std::int64_t> shared_bytes{};  ///< of a block, static and dynamic
  std::optional<std::int64_t> local_bytes{};   ///< of a thread
  std::string extdata{};                       ///< JSON of the event; empty: none
};

/// A copy between two agents, or a fill (both agents the same).
struct Copy {
  std::int64_t tid = 0;
  std::string_view name{};                   ///< MEMORY_COPY_..., MEMORY_SET
  std::int64_t source = 0, destination = 0;  ///< agents
  std::int64_t stream = 0;
  std::int64_t start = 0, end = 0;
  std::int64_t bytes = 0;
  std::int64_t call = 0;
  std::string extdata{};
};

/// An API call. Its event has the id `call`.
struct Call {
  std::int64_t tid = 0;
  std::int64_t call = 0;        ///< correlation id, not 0
  std::int64_t name = 0;        ///< of Database::string_id
  std::string_view category{};  ///< CUDA_RUNTIME_API or CUDA_DRIVER_API
  std::int64_t start = 0, end = 0;
  std::string extdata{};
};

/// A value of an API call.
struct Argument {
  std::int64_t call = 0;
  std::int64_t position = 0;
  std::string_view name{};  ///< of static lifetime
  std::int64_t value = 0;
};

struct Allocation {
  std::int64_t tid = 0;
  std::int64_t agent = 0;
  bool release = false;
  bool virtual_level = false;  ///< managed memory: addresses without memory of one agent
  std::int64_t time = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::optional<std::int64_t> stream{};
  std::int64_t call = 0;
  std::string extdata{};
};

/// A range that the program named (NVTX), or a mark (end = start).
struct Range {
  std::int64_t tid = 0;
  std::string_view function{};  ///< "nvtxRangePushA", "nvtxMarkA"
  std::int64_t start = 0, end = 0;
  std::string extdata{};  ///< {"message": ...}
};

/// A counter, described once per database.
struct Counter {
  std::int64_t agent = 0;
  std::string name{};
  std::string description{};
  std::string units{};
  bool derived = false;
};

/// Samples of a place in the code that had one stall reason.
struct PcCount {
  std::int64_t agent = 0;
  std::uint64_t cubin_crc = 0;  ///< of cuptiGetCubinCrc
  std::string function{};       ///< mangled
  std::uint64_t offset = 0;     ///< bytes from the function's begin
  std::string reason{};         ///< as CUPTI names it
  std::uint64_t samples = 0;
};

}  // namespace perflab::record
