// The Trace: what a profiler recorded, as columns. Vendor-neutral: agents, queues, streams,
// dispatches, copies, API regions, allocations and counters by name; readers (trace/rocpd/) fill
// it, analyze/ reads it and nothing above trace/ sees SQL. All times are nanoseconds on the trace
// clock of their node (docs/facts/rocpd.md "Columns"). Rows are ordered by start.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/packed_column.h"
#include "base/sqlite_pages/ask_sqlite.h"
#include "trace/string_pool.h"

namespace perflab::trace {

/// Index into one of the Trace's tables. kNone: the row names none.
using Index = std::uint32_t;
inline constexpr Index kNone = 0xFFFF'FFFF;

/// Whose GPUs a program ran on, and so what its API calls, streams and registers mean.
enum class Platform : std::uint8_t {
  amd,   ///< HIP and HSA
  cuda,  ///< the CUDA runtime and driver
};

/// The name that documents and options have for it.
constexpr std::string_view to_string(Platform platform) {
  return platform == Platform::amd ? "amd" : "cuda";
}

/// One process's recording: one guid of one database.
struct Source {
  std::string file;            ///< path as it was given
  std::string guid;            ///< the recording's id: ids of rows mean something only within it
  std::string schema_version;  ///< "3", "3.0.1", ...
  std::string collector;       ///< "rocprofv3", "rocprofiler-systems", "rocm-perf-record"
  std::string synthetic;       ///< note of a made-up trace; empty for a recorded one
  std::optional<int>
      pass;  ///< N of a counter pass (folder pass_N or pmc_N): the application ran again
  bool counter_table = false;  ///< a table of counters (CSV): no API calls, no copies
  bool flat_sizes = false;     ///< grids and work-groups are products x*y*z, kept in the x axis
  bool times_known = true;     ///< false: its timestamps have lost digits; start and end only order
  bool lds_known = true;       ///< false: LaunchConfig::lds_bytes is not the whole of it
  bool scratch_known = true;   ///< false: LaunchConfig::scratch_bytes was not recorded
  bool wall_clock = false;     ///< its times are of the system's clock (UTC), not since boot
  bool copy_sizes_known = true;  ///< false: the format has no sizes of copies; bytes are then 0
  Platform platform = Platform::amd;
  /// What rocm-perf-record says of its own work; the values of others.
  bool complete = true;              ///< false: the program ended before the recording was finished
  std::int64_t lost_records = 0;     ///< that CUPTI dropped, in all
  std::string second_client = {};    ///< who else used CUPTI in the process; empty: nobody
  std::string counter_problem = {};  ///< why it could not count, a sentence; empty: it could
  std::string counter_remedy = {};
  /// Launches that the counter pass left out, by the recorder's names ("graph", "time", ...).
  std::map<std::string, std::int64_t> not_counted = {};
};

/// A machine. Clocks of different nodes are not aligned.
struct Node {
  std::string machine_id;
  std::int64_t hash = 0;
  std::string hostname = {};  ///< empty: the recording does not say
};

/// Which rank of a job a process is, as its recording says (docs/facts/ranks.md "Identity").
struct RankFacts {
  std::optional<std::int64_t> rank, size, local_rank;
  std::string
      from;  ///< where `rank` stands: "RANK", "SLURM_PROCID", "distributedInfo"; empty: none
  friend bool operator==(const RankFacts&, const RankFacts&) = default;
};

struct Process {
  Index source = kNone;
  Index node = kNone;
  std::int64_t pid = 0;
  std::string command;
  std::optional<std::int64_t> start, end;  ///< ns
  RankFacts rank = {};
};

struct Thread {
  Index process = kNone;
  std::int64_t tid = 0;
};

/// Limits of a CUDA device, from its attributes (CUDA driver API, CUdevice_attribute).
struct CudaFacts {
  std::string compute_capability;  ///< "9.0"
  std::optional<std::int64_t> registers_per_sm, shared_memory_per_block_optin,
      reserved_shared_memory_per_block, max_blocks_per_sm, l2_bytes, memory_bus_bits,
      memory_clock_khz, clock_khz, memory_bytes;
  friend bool operator==(const CudaFacts&, const CudaFacts&) = default;
};

/// What the recording itself says about an agent; every field may be missing (rocprof-sys writes
/// none).
struct AgentFacts {
  std::optional<std::int64_t> compute_units, xcc_count, simds_per_cu, wave_size, max_waves_per_simd,
      max_waves_per_cu, lds_bytes_per_cu, clock_mhz, target_version, device_id;
  std::optional<std::int64_t> vendor_id = std::nullopt;  ///< PCI
  std::optional<CudaFacts> cuda = std::nullopt;          ///< of CUDA devices
  friend bool operator==(const AgentFacts&, const AgentFacts&) = default;
};

/// A CPU, GPU or NIC. Processes of one node share their agents.
struct Agent {
  Index node = kNone;
  std::int64_t id = 0;  ///< id within a recording (node id), not the HIP ordinal
  std::int64_t absolute_index = 0;
  std::string type;       ///< "CPU", "GPU", "NIC"
  std::string name;       ///< "gfx942", a CPU's model name
  std::string product;    ///< "AMD Instinct MI300X"
  std::string model;      ///< second product string; real names stand in either
  std::int64_t uuid = 0;  ///< PCI device id where the recording knows it, else 0
  AgentFacts facts;
  friend bool operator==(const Agent&, const Agent&) = default;
};

struct Queue {
  Index source = kNone;
  std::int64_t id = 0;
  std::string name;
};

struct Stream {
  Index source = kNone;
  std::int64_t id = 0;
  std::string name;
  /// Whether it is a context's default stream, where the recording says so (CUDA).
  std::optional<bool> null_stream = std::nullopt;

  /// The default stream: HIP's has id 0.
  [[nodiscard]] bool is_default() const { return null_stream.value_or(id == 0); }
};

/// Where a dispatch or copy ran: the distinct combinations, so that a row needs one index.
struct Track {
  Index process = kNone;
  Index thread = kNone;
  Index agent = kNone;  ///< of a copy: the destination's agent
  Index queue = kNone;
  Index stream = kNone;
  friend auto operator<=>(const Track&, const Track&) = default;
};

struct CodeObject {
  Index source = kNone;
  std::int64_t id = 0;
  Index agent = kNone;
  std::string uri;
  std::uint64_t load_base = 0, load_size = 0;
  std::optional<std::int64_t> load_delta;  ///< GPU address = Vaddr in the file + this
  std::optional<std::int64_t> file_bytes;  ///< size of the code object itself
  bool of_runtime = false;  ///< holds the runtime's own helpers (a kernel named __amd_rocclr_*)
};

/// A kernel of a code object as loaded by one process.
struct KernelSymbol {
  Index source = kNone;
  std::int64_t id = 0;
  Index code_object = kNone;
  Index name =
      0;  ///< display name, demangled as the profiler did; "kernel <id>" without a symbol row
  Index mangled_name = 0;  ///< without ".kd"
  bool known = false;      ///< false: dispatches name this id but the recording has no row for it
  std::optional<std::int64_t> static_lds_bytes, scratch_bytes_per_lane, kernarg_bytes;
  std::optional<std::int64_t> descriptor_address;  ///< of the .kd symbol, on the GPU
  /// Registers as allocated granules (docs/facts/rocpd.md "Registers"): the sum is right, the split
  /// may not be.
  std::optional<std::int64_t> sgprs, arch_vgprs, accum_vgprs;
};

/// Launch geometry and memory of a dispatch; the distinct ones are kept.
struct LaunchConfig {
  std::array<std::uint32_t, 3> workgroup{};  ///< work-items
  std::array<std::uint32_t, 3> grid{};       ///< work-items, not work-groups
  std::uint32_t lds_bytes = 0;               ///< static + dynamic, per work-group
  std::uint32_t scratch_bytes = 0;           ///< per work-item
  friend auto operator<=>(const LaunchConfig&, const LaunchConfig&) = default;
};

/// Kernel dispatches, ordered by (start, end, dispatch_id, source, row).
struct DispatchColumns {
  PackedColumn<std::int64_t> start, end;   ///< ns; 0 < start <= end
  PackedColumn<std::int64_t> dispatch_id;  ///< the profiler's number within its recording
  PackedColumn<Index> kernel;              ///< kernel_symbols
  PackedColumn<Index> config;              ///< launch_configs
  PackedColumn<Index> track;               ///< tracks
  PackedColumn<Index> launch;              ///< regions: the API call that launched it, or kNone

  [[nodiscard]] std::size_t size() const { return start.size(); }
};

/// Host API calls and user ranges, ordered by (start, longest first, source, row).
struct RegionColumns {
  PackedColumn<std::int64_t> start, end;  ///< ns
  PackedColumn<Index> name, category;     ///< strings
  PackedColumn<Index> thread;             ///< threads
  PackedColumn<Index> parent;             ///< regions: the enclosing API call, or kNone

  [[nodiscard]] std::size_t size() const { return start.size(); }
};

/// Arguments that order work: what event, stream, wait and synchronisation calls name, by region.
/// Of calls that submit work (launches, copies) only the first and the last are here, for each
/// handle, name and stream that the work ran on: enough to learn which stream a handle is at any
/// time, whatever was destroyed and created in between.
struct CallArgumentColumns {
  static constexpr std::uint8_t kStream = 1, kEvent = 2, kDevice = 4;
  /// Of CUDA: `stream` is the id of a Stream, not a handle; `record` is there.
  static constexpr std::uint8_t kStreamId = 8, kRecord = 16;

  std::vector<Index> region;                 ///< regions, ascending
  std::vector<std::uint8_t> has;             ///< which of the following the call has
  std::vector<std::uint64_t> stream, event;  ///< handles as recorded; stream 0: the default stream
  std::vector<std::int64_t> device;          ///< ordinal, of hipSetDevice
  /// Which record of the event a call made or waits for: a number of its own for each.
  std::vector<std::uint64_t> record;

  [[nodiscard]] std::size_t size() const { return region.size(); }
};

/// Texts of user ranges (roctx), by region. A range that has no text is not here.
struct RangeColumns {
  std::vector<Index> region;   ///< regions, ascending
  std::vector<Index> message;  ///< strings

  [[nodiscard]] std::size_t size() const { return region.size(); }
};

/// What a recording says of one operation of RCCL or NCCL, beside its name and times. Nothing is
/// concluded here: names are as written ("allreduce", "_allgather_base", "ncclAllReduce").
struct Communication {
  bool of_region = false;  ///< `row` is one of regions (a call, a range's text), else of dispatches
  Index row = kNone;
  Index function = kNone;  ///< strings; kNone: not said
  Index group = kNone;     ///< strings: process group
  Index handle = kNone;    ///< strings: the communicator as this process alone names it, an address
  Index data_type = kNone;                          ///< strings
  std::optional<std::int64_t> sequence;             ///< its number within the group
  std::optional<std::int64_t> group_size;           ///< ranks
  std::optional<std::int64_t> in_count, out_count;  ///< elements that this rank gives and gets
  /// Elements as the call's argument counts them: of one rank; of an AllToAll, Gather or Scatter
  /// those for one other rank.
  std::optional<std::int64_t> count;
  std::optional<std::int64_t> bytes;       ///< size of the message, where that is said
  std::optional<std::int64_t> root, peer;  ///< ranks within the group
  std::optional<std::int64_t> stream;      ///< stream argument, as recorded
  std::vector<std::int64_t> members = {};  ///< global ranks of the group, where listed
};

/// Memory copies, ordered like dispatches.
struct CopyColumns {
  PackedColumn<std::int64_t> start, end;  ///< ns
  PackedColumn<std::int64_t> bytes;
  PackedColumn<Index> kind;          ///< strings: MEMORY_COPY_HOST_TO_DEVICE, ...
  PackedColumn<Index> source_agent;  ///< agents
  PackedColumn<Index> track;         ///< tracks; its agent is the destination
  PackedColumn<Index> launch;        ///< regions

  [[nodiscard]] std::size_t size() const { return start.size(); }
};

/// Memory allocations and frees, ordered by start.
struct AllocationColumns {
  std::vector<std::int64_t> start, end;  ///< ns
  std::vector<std::uint64_t> address;
  std::vector<std::int64_t> bytes;  ///< 0 for a FREE
  std::vector<Index> type, level;   ///< strings: ALLOC/FREE/REALLOC/RECLAIM, REAL/VIRTUAL/SCRATCH
  std::vector<Index> agent, process;

  [[nodiscard]] std::size_t size() const { return start.size(); }
};

struct CounterInfo {
  Index name = 0;  ///< strings
  std::string block, units, description;
  bool derived = false;  ///< a formula over counters: its values must not be added up
};

/// Counter values of dispatches, one row per (dispatch, counter) over all hardware instances, in
/// that order.
struct CounterColumns {
  std::vector<Index> dispatch, counter;
  std::vector<std::uint32_t> instances;  ///< rows that were summed
  std::vector<double> sum, min, max;

  [[nodiscard]] std::size_t size() const { return dispatch.size(); }
};

/// Rows that were left out, or kept although something about them is odd: table, reason, how many.
/// Nothing is ever dropped without a count here.
struct ReadReport {
  using Key = std::pair<std::string, std::string>;
  std::map<Key, std::uint64_t> dropped;       ///< rows that are not in the Trace
  std::map<Key, std::uint64_t> odd;           ///< rows that are
  std::map<std::string, std::uint64_t> rows;  ///< rows read, by table (base name)
  /// Ranges of rows of a database that were scanned: by table, and by why SQLite had to be asked
  /// (nothing: they were read from their pages).
  using Ranges = std::pair<std::string, std::optional<sqlite_pages::AskSqlite>>;
  std::map<Ranges, std::uint64_t> ranges;
};

/// Adds `many` to a count; does nothing for 0, so that no reason is listed that did not occur.
inline void count(std::map<ReadReport::Key, std::uint64_t>& counts, ReadReport::Key key,
                  std::uint64_t many) {
  if (many > 0) counts[std::move(key)] += many;
}

/// Everything that was read, merged over all sources.
struct Trace {
  StringPool strings;
  std::vector<Source> sources;
  std::vector<Node> nodes;
  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<Agent> agents;
  std::vector<Queue> queues;
  std::vector<Stream> streams;
  std::vector<Track> tracks;
  std::vector<CodeObject> code_objects;
  std::vector<KernelSymbol> kernel_symbols;
  std::vector<LaunchConfig> launch_configs;
  std::vector<CounterInfo> counter_infos;
  DispatchColumns dispatches;
  RegionColumns regions;
  CallArgumentColumns call_arguments;
  RangeColumns ranges;
  std::vector<Communication> communications;  ///< by (of_region, row)
  CopyColumns copies;
  AllocationColumns allocations;
  CounterColumns counters;
  ReadReport report;

  /// The recording that a dispatch or copy track belongs to.
  [[nodiscard]] Index source_of_track(Index track) const {
    return processes[tracks[track].process].source;
  }
  /// The platform that a process ran on.
  [[nodiscard]] Platform platform_of_process(Index process) const {
    const Index source = processes[process].source;
    return source == kNone ? Platform::amd : sources[source].platform;
  }
};

/// The notes of made-up recordings in a trace, joined; empty when all were recorded.
std::string synthetic_note(const Trace& trace);

}  // namespace perflab::trace
