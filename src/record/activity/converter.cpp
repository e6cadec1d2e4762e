// Fields of the records: src/cuda/records.h, docs/facts/cuda_cupti.md "Records".
#include "record/activity/converter.h"

#include <unistd.h>

#include <array>
#include <string_view>

#include "record/activity/devices.h"
#include "record/activity/text.h"

namespace perflab::record {
namespace {

/// So many calls are remembered for the kernels that they launch: 2 MB. A power of two.
constexpr std::size_t kCallers = std::size_t{1} << 18;
/// So many rows wait for their call: some 50 MB. Calls come a buffer or two later, or never.
constexpr std::size_t kMostAwaited = std::size_t{1} << 20;
constexpr std::uint32_t kOtherContexts = 24;  ///< bits below a context's number in a stream's id

std::int64_t time_of(std::uint64_t time) {
  return static_cast<std::int64_t>(time);
}

/// JSON of an event that ran as a node of a graph; empty for all others.
std::string graph_members(std::uint64_t node, std::uint32_t graph) {
  if (node == 0) return {};
  return "\"graph_node\": " + std::to_string(node) + ", \"graph\": " + std::to_string(graph);
}

std::string cuda_json(std::string_view members) {
  return members.empty() ? std::string() : "{\"cuda\": {" + std::string(members) + "}}";
}

std::string kernel_json(const cuda::KernelRecord& record) {
  std::string members = graph_members(record.graph_node_id, record.graph_id);
  const auto add = [&members](const std::string& member) {
    members += (members.empty() ? "" : ", ") + member;
  };
  if (std::uint64_t{record.cluster_x} * record.cluster_y * record.cluster_z > 1)
    add("\"cluster\": [" + std::to_string(record.cluster_x) + ", " +
        std::to_string(record.cluster_y) + ", " + std::to_string(record.cluster_z) + "]");
  if (record.launch_type != cuda::launch_type::regular) add("\"cooperative\": true");
  return cuda_json(members);
}

constexpr std::string_view kHostToDevice = "MEMORY_COPY_HOST_TO_DEVICE";
constexpr std::string_view kDeviceToHost = "MEMORY_COPY_DEVICE_TO_HOST";
constexpr std::string_view kDeviceToDevice = "MEMORY_COPY_DEVICE_TO_DEVICE";
constexpr std::string_view kHostToHost = "MEMORY_COPY_HOST_TO_HOST";
constexpr std::string_view kPeerToPeer = "MEMORY_COPY_PEER_TO_PEER";

std::string_view copy_name(cuda::CopyKind kind) {
  using enum cuda::CopyKind;
  switch (kind) {
    case host_to_device:
    case host_to_array:
      return kHostToDevice;
    case device_to_host:
    case array_to_host:
      return kDeviceToHost;
    case host_to_host:
      return kHostToHost;
    case peer_to_peer:
      return kPeerToPeer;
    default:
      return kDeviceToDevice;
  }
}

std::string memory_json(const cuda::MemoryRecord& record) {
  using enum cuda::MemoryKind;
  std::string members;
  if (record.memory_kind == pageable) members = "\"memory\": \"pageable\"";
  if (record.memory_kind == pinned) members = "\"memory\": \"pinned\"";
  if (record.memory_kind == managed || record.memory_kind == managed_static)
    members = "\"memory\": \"managed\"";
  if (record.is_async != 0)
    members += std::string(members.empty() ? "" : ", ") +
               "\"pool\": " + std::to_string(record.pool_address);
  return cuda_json(members);
}

}  // namespace

Converter::Converter(Database& database, const cuda::Driver& driver, const cuda::Cupti& cupti,
                     What what)
    : database_(database),
      driver_(driver),
      cupti_(cupti),
      what_(what),
      pid_(getpid()),
      callers_(kCallers),
      ranges_(database) {}

void Converter::note(const cuda::Record& record) {
  if (record.kind != cuda::ActivityKind::runtime_call &&
      record.kind != cuda::ActivityKind::driver_call)
    return;
  const auto& call = reinterpret_cast<const cuda::ApiRecord&>(record);
  callers_[call.correlation_id % kCallers] = {call.correlation_id, call.thread_id};
  if (awaited_.empty()) return;
  const auto [begin, end] = awaited_.equal_range(call.correlation_id);
  for (auto row = begin; row != end; ++row) {
    database_.set_thread(row->second.first, row->second.second, call.thread_id);
    --totals_.without_thread;
  }
  awaited_.erase(begin, end);
}

void Converter::take(const cuda::Record& record) {
  using enum cuda::ActivityKind;
  switch (record.kind) {
    case concurrent_kernel:
      return take_kernel(reinterpret_cast<const cuda::KernelRecord&>(record));
    case runtime_call:
    case driver_call:
      return take_call(reinterpret_cast<const cuda::ApiRecord&>(record));
    case copy:
      return take_copy(reinterpret_cast<const cuda::CopyRecord&>(record));
    case peer_copy:
      return take_peer_copy(reinterpret_cast<const cuda::PeerCopyRecord&>(record));
    case fill:
      return take_fill(reinterpret_cast<const cuda::FillRecord&>(record));
    case event:
      return take_event(reinterpret_cast<const cuda::EventRecord&>(record));
    case synchronization:
      return take_sync(reinterpret_cast<const cuda::SynchronizationRecord&>(record));
    case memory:
      return take_memory(reinterpret_cast<const cuda::MemoryRecord&>(record));
    case memory_pool:
      return take_pool(reinterpret_cast<const cuda::MemoryPoolRecord&>(record));
    case context:
      return take_context(reinterpret_cast<const cuda::ContextRecord&>(record));
    case marker:
      return ranges_.take(reinterpret_cast<const cuda::MarkerRecord&>(record));
    case marker_data:
      return ranges_.take(reinterpret_cast<const cuda::MarkerDataRecord&>(record));
    default:
      ++totals_.unknown_kinds;
  }
}

bool Converter::finished(std::uint64_t start, std::uint64_t end) {
  if (start != 0 && end >= start) return true;
  ++totals_.unfinished;
  return false;
}

std::int64_t Converter::agent_of(std::uint32_t device) {
  if (agents_.insert(device).second) database_.add(gpu_agent(driver_, static_cast<int>(device)));
  return 1 + std::int64_t{device};
}

std::int64_t Converter::stream_of(std::uint32_t context, std::uint32_t stream) {
  const auto [found, first] = streams_.try_emplace((std::uint64_t{context} << 32) | stream, stream);
  if (!first) return found->second;
  const auto [owner, alone] = owners_.try_emplace(stream, context);
  if (!alone) found->second = (std::int64_t{context} << kOtherContexts) + stream;
  const auto known = defaults_.find(context);
  std::string name = known != defaults_.end() && known->second == stream
                         ? std::string("Default Stream")
                         : "Stream " + std::to_string(stream);
  if (!alone) name += " of context " + std::to_string(context);
  database_.add_stream(found->second, name);
  return found->second;
}

std::int64_t Converter::thread_of(std::uint32_t call) const {
  const auto& [id, thread] = callers_[call % kCallers];
  if (id == call && call != 0) return thread;
  return what_.calls ? kUnknownThread : pid_;
}

void Converter::await_caller(std::uint32_t call, OfThread table) {
  const bool seen = callers_[call % kCallers].first == call;
  if (!what_.calls || (seen && call != 0)) return;
  ++totals_.without_thread;
  if (call != 0 && awaited_.size() < kMostAwaited)
    awaited_.emplace(call, std::pair(table, database_.rows(table)));
}

std::int64_t Converter::symbol_of(const cuda::KernelRecord& record) {
  const char* name = record.name == nullptr ? "" : record.name;
  KnownSymbol& known =
      symbols_[{name, record.device_id, record.registers_per_thread, record.static_shared_memory}];
  // CUPTI's text of a name may go with its module, and another take its place.
  if (known.id != 0 && known.name == name) return known.id;
  known.name = name;
  Symbol symbol;
  symbol.agent = agent_of(record.device_id);
  symbol.name = known.name;
  symbol.display = demangled(known.name);
  symbol.registers = record.registers_per_thread;
  symbol.static_shared_bytes = record.static_shared_memory;
  symbol.local_bytes = record.local_memory_per_thread;
  known.id = database_.add(symbol);
  return known.id;
}

void Converter::take_kernel(const cuda::KernelRecord& record) {
  if (!finished(record.start, record.end)) return;
  Dispatch row;
  row.tid = thread_of(record.correlation_id);
  row.symbol = symbol_of(record);
  row.agent = agent_of(record.device_id);
  row.stream = stream_of(record.context_id, record.stream_id);
  row.start = time_of(record.start);
  row.end = time_of(record.end);
  row.call = record.correlation_id;
  row.blocks = {record.grid_x, record.grid_y, record.grid_z};
  row.block_size = {record.block_x, record.block_y, record.block_z};
  row.shared_bytes = std::int64_t{record.static_shared_memory} + record.dynamic_shared_memory;
  row.local_bytes = record.local_memory_per_thread;
  row.extdata = kernel_json(record);
  database_.add(std::move(row));
  await_caller(record.correlation_id, OfThread::dispatches);
}

std::int64_t Converter::launched(const SeenLaunch& launch) {
  Dispatch row;
  row.tid = launch.tid;
  row.agent = agent_of(launch.device);
  const auto [symbol, is_new] = seen_symbols_.try_emplace({row.agent, launch.kernel}, 0);
  if (is_new) {
    Symbol made;
    made.agent = row.agent;
    made.name = launch.kernel;
    made.display = demangled(launch.kernel);
    symbol->second = database_.add(made);
  }
  row.symbol = symbol->second;
  defaults_.try_emplace(launch.context, 0);
  row.stream = stream_of(launch.context, launch.stream);
  row.start = launch.start;
  row.end = launch.end;
  row.call = launch.call;
  std::ranges::copy(launch.grid, row.blocks.begin());
  std::ranges::copy(launch.block, row.block_size.begin());
  return database_.add(std::move(row));
}

void Converter::take_copy(const cuda::CopyRecord& record) {
  if (!finished(record.start, record.end)) return;
  Copy row;
  row.tid = thread_of(record.correlation_id);
  row.name = copy_name(record.copy_kind);
  const std::int64_t device = agent_of(record.device_id);
  const bool from_host = row.name == kHostToDevice || row.name == kHostToHost;
  const bool to_host = row.name == kDeviceToHost || row.name == kHostToHost;
  row.source = from_host ? 0 : device;
  row.destination = to_host ? 0 : device;
  row.stream = stream_of(record.context_id, record.stream_id);
  row.start = time_of(record.start);
  row.end = time_of(record.end);
  row.bytes = static_cast<std::int64_t>(record.bytes);
  row.call = record.correlation_id;
  row.extdata = cuda_json(graph_members(record.graph_node_id, record.graph_id));
  database_.add(std::move(row));
  await_caller(record.correlation_id, OfThread::copies);
}

void Converter::take_peer_copy(const cuda::PeerCopyRecord& record) {
  if (!finished(record.start, record.end)) return;
  Copy row;
  row.tid = thread_of(record.correlation_id);
  row.name = kPeerToPeer;
  row.source = agent_of(record.source_device_id);
  row.destination = agent_of(record.destination_device_id);
  row.stream = stream_of(record.context_id, record.stream_id);
  row.start = time_of(record.start);
  row.end = time_of(record.end);
  row.bytes = static_cast<std::int64_t>(record.bytes);
  row.call = record.correlation_id;
  row.extdata = cuda_json(graph_members(record.graph_node_id, record.graph_id));
  database_.add(std::move(row));
  await_caller(record.correlation_id, OfThread::copies);
}

void Converter::take_fill(const cuda::FillRecord& record) {
  if (!finished(record.start, record.end)) return;
  Copy row;
  row.tid = thread_of(record.correlation_id);
  row.name = "MEMORY_SET";
  row.source = row.destination = agent_of(record.device_id);
  row.stream = stream_of(record.context_id, record.stream_id);
  row.start = time_of(record.start);
  row.end = time_of(record.end);
  row.bytes = static_cast<std::int64_t>(record.bytes);
  row.call = record.correlation_id;
  row.extdata = cuda_json(graph_members(record.graph_node_id, record.graph_id));
  database_.add(std::move(row));
  await_caller(record.correlation_id, OfThread::copies);
}

std::int64_t Converter::name_of(const cuda::ApiRecord& record) {
  const auto kind = static_cast<std::uint64_t>(record.kind);
  std::int64_t& id = call_names_[(kind << 32) | record.callback_id];
  if (id != 0) return id;
  const bool runtime = record.kind == cuda::ActivityKind::runtime_call;
  const char* name = nullptr;
  const auto domain =
      runtime ? cuda::CallbackDomain::runtime_api : cuda::CallbackDomain::driver_api;
  if (cupti_.get_callback_name(domain, record.callback_id, &name) != cuda::CuptiResult::success ||
      name == nullptr)
    id = database_.string_id((runtime ? "runtime call " : "driver call ") +
                             std::to_string(record.callback_id));
  else
    id = database_.string_id(call_name(name));
  return id;
}

void Converter::take_call(const cuda::ApiRecord& record) {
  if (record.correlation_id == 0 || ignored_.contains(record.thread_id)) return;
  if (record.kind == cuda::ActivityKind::driver_call && record.callback_id == kKernelGetName)
    return;
  Call row;
  row.tid = record.thread_id;
  row.call = record.correlation_id;
  row.name = name_of(record);
  row.category =
      record.kind == cuda::ActivityKind::runtime_call ? "CUDA_RUNTIME_API" : "CUDA_DRIVER_API";
  row.start = time_of(record.start);
  row.end = time_of(record.end);
  if (record.return_value != 0)
    row.extdata = "{\"cuda\": {\"result\": " + std::to_string(record.return_value) + "}}";
  database_.add(std::move(row));
}

void Converter::argue(std::uint32_t call, std::int64_t position, std::string_view name,
                      std::uint64_t value) {
  if (!what_.calls || call == 0) return;
  database_.add(Argument{
      .call = call, .position = position, .name = name, .value = static_cast<std::int64_t>(value)});
}

void Converter::take_event(const cuda::EventRecord& record) {
  const std::int64_t stream = stream_of(record.context_id, record.stream_id);
  argue(record.correlation_id, 0, "event_id", record.event_id);
  argue(record.correlation_id, 1, "record_id", record.event_sync_id);
  argue(record.correlation_id, 2, "stream_id", static_cast<std::uint64_t>(stream));
}

void Converter::take_sync(const cuda::SynchronizationRecord& record) {
  std::int64_t position = 0;
  if (record.type == cuda::SynchronizationType::event_synchronize ||
      record.type == cuda::SynchronizationType::stream_wait_event) {
    argue(record.correlation_id, position++, "event_id", record.event_id);
    argue(record.correlation_id, position++, "record_id", record.event_sync_id);
  }
  if ((record.type == cuda::SynchronizationType::stream_synchronize ||
       record.type == cuda::SynchronizationType::stream_wait_event) &&
      record.stream_id != cuda::no_stream)
    argue(record.correlation_id, position, "stream_id",
          static_cast<std::uint64_t>(stream_of(record.context_id, record.stream_id)));
}

void Converter::take_memory(const cuda::MemoryRecord& record) {
  Allocation row;
  row.tid = thread_of(record.correlation_id);
  const bool of_host = record.memory_kind == cuda::MemoryKind::pageable ||
                       record.memory_kind == cuda::MemoryKind::pinned;
  row.agent = of_host ? 0 : agent_of(record.device_id);
  row.release = record.operation == cuda::MemoryOperation::release;
  row.virtual_level = record.memory_kind == cuda::MemoryKind::managed ||
                      record.memory_kind == cuda::MemoryKind::managed_static;
  row.time = time_of(record.timestamp);
  row.address = record.address;
  row.bytes = row.release ? 0 : static_cast<std::int64_t>(record.bytes);
  if (record.stream_id != cuda::no_stream)
    row.stream = stream_of(record.context_id, record.stream_id);
  row.call = record.correlation_id;
  row.extdata = memory_json(record);
  database_.add(std::move(row));
  await_caller(record.correlation_id, OfThread::allocations);
}

void Converter::take_pool(const cuda::MemoryPoolRecord& record) {
  argue(record.correlation_id, 0, "pool", record.address);
  if (record.operation == cuda::MemoryPoolOperation::trimmed)
    argue(record.correlation_id, 1, "bytes_to_keep", record.min_bytes_to_keep);
}

void Converter::take_context(const cuda::ContextRecord& record) {
  defaults_[record.context_id] = record.null_stream_id;
  // A stream that was seen before its context gets its name now.
  const auto known =
      streams_.find((std::uint64_t{record.context_id} << 32) | record.null_stream_id);
  if (known == streams_.end()) return;
  const bool alone = known->second == record.null_stream_id;
  database_.add_stream(
      known->second,
      "Default Stream" +
          (alone ? std::string() : " of context " + std::to_string(record.context_id)));
}

}  // namespace perflab::record
