// The rows that RocpdWriter writes, one struct per table, with the values that rocprofv3 would
// write as defaults: a test names only what it is about. Every struct has `overrides`, which sets
// any column to any SQLite value; most quirks of real and hand-made databases are one override.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace perflab::test {

/// A row id or a handle. Plain on purpose: tests also need ids that belong to no row.
using Id = std::int64_t;

/// A value of any SQLite type. `{"queue_id", nullptr}` is NULL, `{"size", "4096"}` is TEXT.
class Cell {
 public:
  struct Blob {
    std::string bytes;
  };
  using Value = std::variant<std::nullptr_t, std::int64_t, double, std::string, Blob>;

  Cell(std::nullptr_t) : value_(nullptr) {}
  template <std::integral T>
  Cell(T value) : value_(static_cast<std::int64_t>(value)) {}
  Cell(double value) : value_(value) {}
  Cell(const char* text) : value_(std::string(text)) {}
  Cell(std::string text) : value_(std::move(text)) {}
  Cell(std::string_view text) : value_(std::string(text)) {}
  Cell(Blob blob) : value_(std::move(blob)) {}

  [[nodiscard]] const Value& value() const { return value_; }

 private:
  Value value_;
};

/// Columns (by name) that get another value than the fields of the row say.
using Overrides = std::vector<std::pair<std::string, Cell>>;

/// Sizes in three dimensions.
struct Extent {
  std::int64_t x = 1;
  std::int64_t y = 1;
  std::int64_t z = 1;
};

struct NodeRow {
  Id id = 884468036;  ///< arbitrary in real files, never 1
  std::int64_t hash = 6628153277542038266;
  std::string machine_id = "00000000000000000000000000000000";
  std::string hostname = "node0";
  Overrides overrides = {};
};

struct ProcessRow {
  Id pid = 4242;
  Id ppid = 4200;
  std::int64_t start = 5'000'000'000'000;  ///< ns
  std::int64_t end = 5'001'000'000'000;
  std::string command = "/app/demo";
  std::string environment = "{}";  ///< JSON; put a secret here to prove that nobody prints it
  std::string extdata = "{}";
  bool with_thread = true;  ///< also writes the row of the main thread (tid = pid)
  Overrides overrides = {};
};

struct ThreadRow {
  Id tid = 0;
  std::optional<std::string> name = {};
  Overrides overrides = {};
};

struct AgentRow {
  std::optional<Id> id = {};  ///< default: the next, from 0
  std::string type = "GPU";
  std::int64_t absolute_index = 0;
  std::int64_t logical_index = 0;
  std::int64_t type_index = 0;
  std::int64_t uuid = 0;  ///< PCI device id
  std::string name = "gfx942";
  std::string model_name = {};
  std::string vendor_name = "AMD";
  std::string product_name = "AMD Instinct MI300X";
  std::string user_name = {};
  std::string extdata = "{}";  ///< "{}" is what rocprofiler-systems writes
  Overrides overrides = {};
};

/// A row of info_queue or of info_stream.
struct QueueRow {
  std::optional<Id> id = {};  ///< default: the next, from 0
  std::string name = {};      ///< default: "Default Queue", "Queue 0", ... (or "... Stream")
  Overrides overrides = {};
};

struct CodeObjectRow {
  std::optional<Id> id = {};  ///< default: the next, from 1
  std::optional<Id> agent = 1;
  std::string uri = {};  ///< default: "memory://PID#offset=0x...&size=N"
  std::int64_t load_base = 360'777'310'208;
  std::int64_t load_size = 40'960;
  std::optional<std::string> storage_type = {};  ///< rocprofv3 leaves it NULL
  std::optional<std::string> extdata = {};       ///< default: the JSON that rocprofv3 writes
  Overrides overrides = {};
};

struct KernelRow {
  std::optional<Id> id = {};  ///< default: the next, from 1
  Id code_object = 1;
  std::string name = {};           ///< mangled; ".kd" is appended unless it is there
  std::string display_name = {};   ///< demangled; default: the name without ".kd"
  std::int64_t kernel_object = 0;  ///< default: a made-up address
  std::int64_t kernarg_segment_size = 64;
  std::int64_t group_segment_size = 0;
  std::int64_t private_segment_size = 0;
  std::int64_t sgpr_count = 32;
  std::int64_t arch_vgpr_count = 32;
  std::int64_t accum_vgpr_count = 0;
  std::optional<std::string> extdata = {};  ///< default: the JSON that rocprofv3 writes
  bool add_kd_suffix = true;
  Overrides overrides = {};
};

/// What becomes of the event row behind a region, dispatch, copy, allocation or sample.
enum class EventLink {
  row,       ///< a row of its own (as every writer does)
  existing,  ///< the event `existing`, written before
  null,      ///< event_id is NULL
  dangling,  ///< event_id names a row that does not exist
};

struct EventRow {
  std::string category = {};               ///< default: the usual one of the row it belongs to
  Id stack_id = 0;                         ///< internal correlation id; 0 means none
  std::optional<Id> parent_stack_id = {};  ///< default: what rocprofv3 writes for that row
  Id correlation_id = 0;                   ///< external correlation id
  std::string extdata = "{}";              ///< roctx: {"message": "..."}
  EventLink link = EventLink::row;
  Id existing = 0;
  Overrides overrides = {};
};

struct ArgumentRow {
  std::string type = {};
  std::string name = {};
  std::optional<std::string> value = {};
};

inline ArgumentRow argument(std::string type, std::string name, std::optional<std::string> value) {
  return {.type = std::move(type), .name = std::move(name), .value = std::move(value)};
}

/// A host API call or a roctx range.
struct RegionRow {
  std::string name = "hipLaunchKernel";
  std::int64_t start = 0;  ///< ns
  std::int64_t end = 0;
  std::optional<Id> tid = {};  ///< default: the main thread
  EventRow event = {};         ///< category default: HIP_RUNTIME_API_EXT
  std::vector<ArgumentRow> arguments = {};
  Overrides overrides = {};
};

struct DispatchRow {
  Id kernel = 1;
  std::int64_t start = 0;  ///< ns
  std::int64_t end = 0;
  Id agent = 1;
  std::optional<Id> queue = 1;  ///< nullopt: NULL (needs Strictness::nullable)
  std::optional<Id> stream = 0;
  std::optional<Id> tid = {};          ///< default: the main thread
  std::optional<Id> dispatch_id = {};  ///< default: the next, from 1
  Extent workgroup = {.x = 256, .y = 1, .z = 1};
  Extent grid = {.x = 65536, .y = 1, .z = 1};  ///< work-items, not groups
  std::int64_t group_segment_size = 0;         ///< static + dynamic LDS
  std::int64_t private_segment_size = 0;
  std::string region_name = {};  ///< roctx rename; default: the '' string
  EventRow event = {};           ///< category default: KERNEL_DISPATCH; parent repeats stack_id
  Overrides overrides = {};
};

struct CopyRow {
  std::string name = "MEMORY_COPY_HOST_TO_DEVICE";
  std::int64_t start = 0;  ///< ns
  std::int64_t end = 0;
  std::int64_t size = 0;  ///< bytes
  std::optional<Id> dst_agent = 1;
  std::optional<Id> src_agent = 0;
  std::int64_t dst_address = 360'789'835'776;
  std::int64_t src_address = 94'351'716'165'120;
  std::optional<Id> queue = {};  ///< rocprofv3 leaves it NULL
  std::optional<Id> stream = 0;
  std::optional<Id> tid = {};
  EventRow event = {};  ///< category default: MEMORY_COPY; parent repeats stack_id
  Overrides overrides = {};
};

struct AllocationRow {
  std::string type = "ALLOC";
  std::string level = "REAL";
  std::int64_t start = 0;  ///< ns
  std::int64_t end = 0;
  std::int64_t address = 360'789'835'776;
  std::int64_t size = 0;  ///< bytes; 0 for FREE
  std::optional<Id> agent = 1;
  std::optional<Id> queue = 0;
  std::optional<Id> stream = 0;
  std::optional<Id> tid = {};
  EventRow event = {};  ///< category default: MEMORY_ALLOCATION
  Overrides overrides = {};
};

/// A counter (row of info_pmc).
struct CounterRow {
  std::optional<Id> id = {};  ///< default: the next, from 3641
  std::optional<Id> agent = 1;
  std::optional<std::string> target_arch = "GPU";
  std::string name = "SQ_WAVES";
  std::string symbol = {};  ///< default: the name
  std::string description = {};
  std::string component = "rocm";
  std::string units = {};
  std::string value_type = "ABS";
  std::string block = "SQ";
  std::string expression = {};
  bool is_constant = false;
  bool is_derived = false;
  Overrides overrides = {};
};

struct TrackRow {
  std::string name = {};
  std::optional<Id> tid = {};  ///< default: the main thread
  Overrides overrides = {};
};

/// An instant on a track: roctxMark, or telemetry of rocprofiler-systems.
struct SampleRow {
  Id track = 1;
  std::int64_t timestamp = 0;  ///< ns
  EventRow event = {};         ///< category default: MARKER_CORE_API
  Overrides overrides = {};
};

/// Ids of a row that was written: its own and that of its event (0: none).
struct Written {
  Id id = 0;
  Id event = 0;
};

/// What RocpdWriter::launch() wrote.
struct Launched {
  Written region;
  Written dispatch;  ///< or copy
  Id stack_id = 0;
};

/// MI300X as rocprofv3 describes it (304 CUs, 8 XCCs), with the whole extdata JSON.
AgentRow mi300x_agent();
/// The host processor of the same machine.
AgentRow host_agent();

}  // namespace perflab::test
