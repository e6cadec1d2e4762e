// Records as docs/facts/cuda_cupti.md "Records" says: calls when they end, work some time after it
// has finished, streams by turns.
#include "cuda_sim/activity.h"

#include <pthread.h>
#include <unistd.h>

#include <ctime>
#include <ranges>

namespace perflab::cuda_sim {

using cuda::ActivityKind;

namespace {

constexpr std::size_t kHarvestAt = 256;  // pieces of work before records of finished ones come
constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;

std::uint64_t clock_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * kNanosecondsPerSecond +
         static_cast<std::uint64_t>(time.tv_nsec);
}

std::size_t index_of(ActivityKind kind) {
  return static_cast<std::size_t>(kind);
}

ActivityKind kind_of(const Work& work) {
  switch (work.kind) {
    case WorkKind::kernel:
      return ActivityKind::concurrent_kernel;
    case WorkKind::copy:
      return ActivityKind::copy;
    case WorkKind::peer_copy:
      return ActivityKind::peer_copy;
    case WorkKind::fill:
      return ActivityKind::fill;
    case WorkKind::mark:
      break;
  }
  return ActivityKind::invalid;
}

std::uint8_t small(cuda::MemoryKind kind) {
  return static_cast<std::uint8_t>(kind);
}

}  // namespace

std::size_t record_bytes(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::copy:
      return sizeof(cuda::CopyRecord);
    case ActivityKind::fill:
      return sizeof(cuda::FillRecord);
    case ActivityKind::kernel:
    case ActivityKind::concurrent_kernel:
      return sizeof(cuda::KernelRecord);
    case ActivityKind::driver_call:
    case ActivityKind::runtime_call:
    case ActivityKind::internal_launch:
      return sizeof(cuda::ApiRecord);
    case ActivityKind::device:
      return sizeof(cuda::DeviceRecord);
    case ActivityKind::context:
      return sizeof(cuda::ContextRecord);
    case ActivityKind::marker:
      return sizeof(cuda::MarkerRecord);
    case ActivityKind::marker_data:
      return sizeof(cuda::MarkerDataRecord);
    case ActivityKind::overhead:
      return sizeof(cuda::OverheadRecord);
    case ActivityKind::peer_copy:
      return sizeof(cuda::PeerCopyRecord);
    case ActivityKind::event:
      return sizeof(cuda::EventRecord);
    case ActivityKind::stream:
      return sizeof(cuda::StreamRecord);
    case ActivityKind::synchronization:
      return sizeof(cuda::SynchronizationRecord);
    case ActivityKind::external_correlation:
      return sizeof(cuda::ExternalCorrelationRecord);
    case ActivityKind::memory:
      return sizeof(cuda::MemoryRecord);
    case ActivityKind::memory_pool:
      return sizeof(cuda::MemoryPoolRecord);
    case ActivityKind::graph_trace:
      return sizeof(cuda::GraphTraceRecord);
    case ActivityKind::invalid:
      break;
  }
  return 0;
}

Activity& Activity::get() {
  static auto* activity = new Activity;
  return *activity;
}

bool Activity::enabled(ActivityKind kind) const {
  return enabled_[index_of(kind)];
}

bool Activity::enable(ActivityKind kind, bool on) {
  if (record_bytes(kind) == 0) return false;
  if (timestamp_ == nullptr && offset_ == 0) measure_offset();
  enabled_[index_of(kind)] = on;
  return true;
}

void Activity::enable_call(cuda::CallbackDomain domain, cuda::CallbackId id, bool on) {
  muted_calls_[static_cast<std::size_t>(domain)][id % muted_calls_[0].size()] = !on;
}

void Activity::set_timestamp(cuda::TimestampFunction function) {
  timestamp_ = function;
  measure_offset();
}

void Activity::measure_offset() {
  constexpr int kSamples = 20;
  std::uint64_t shortest = ~std::uint64_t{0};
  for (int i = 0; i < kSamples; ++i) {
    const std::uint64_t before = cuda_sim_now();
    const std::uint64_t time = now();
    const std::uint64_t after = cuda_sim_now();
    if (after - before >= shortest) continue;
    shortest = after - before;
    offset_ = static_cast<std::int64_t>(time - before - shortest / 2);
  }
}

std::uint64_t Activity::now() const {
  if (const cuda::TimestampFunction function = timestamp_) return function();
  return clock_of(CLOCK_REALTIME);
}

std::uint64_t Activity::on_clients_clock(std::uint64_t machine_time) const {
  return machine_time + static_cast<std::uint64_t>(offset_.load());
}

std::uint32_t Activity::thread() const {
  if (system_threads_) return static_cast<std::uint32_t>(gettid());
  return static_cast<std::uint32_t>(pthread_self());
}

void Activity::call_ended(const Call& call) {
  const bool runtime = call.what.domain == cuda::CallbackDomain::runtime_api;
  const ActivityKind kind = runtime ? ActivityKind::runtime_call : ActivityKind::driver_call;
  // A call within another has no record; nor has one that began before the kind was enabled.
  const bool muted = muted_calls_[static_cast<std::size_t>(call.what.domain)]
                                 [call.what.id % muted_calls_[0].size()];
  if (call.outermost && call.start != 0 && !muted && enabled(kind))
    append(cuda::ApiRecord{.kind = kind,
                           .callback_id = call.what.id,
                           .start = call.start,
                           .end = now(),
                           .process_id = static_cast<std::uint32_t>(getpid()),
                           .thread_id = thread(),
                           .correlation_id = call.correlation,
                           .return_value = call.answer});
  bool many = false;
  {
    const std::lock_guard held(pending_lock_);
    many = pending_count_ >= kHarvestAt;
  }
  if (call.outermost && many) harvest(false);
}

void Activity::submitted(const Work& work) {
  if (!enabled(kind_of(work))) return;
  if (work.graph != 0 && enabled(ActivityKind::graph_trace)) return;
  const std::lock_guard held(pending_lock_);
  pending_[work.stream].push_back(work);
  ++pending_count_;
}

void Activity::harvest(bool forced) {
  const std::lock_guard one_at_a_time(harvest_lock_);
  const std::uint64_t time = cuda_sim_now();
  std::vector<Work> ended;
  std::vector<Work> unfinished;
  {
    const std::lock_guard held(pending_lock_);
    for (auto& [stream, queue] : std::views::reverse(pending_)) {
      while (!queue.empty() && queue.front().end <= time) {
        ended.push_back(queue.front());
        queue.pop_front();
      }
      if (!forced) continue;
      unfinished.insert(unfinished.end(), queue.begin(), queue.end());
      queue.clear();
    }
    pending_count_ -= ended.size() + unfinished.size();
  }
  for (const Work& work : ended) write(work, true);
  for (const Work& work : unfinished) write(work, false);
}

void Activity::write(const Work& work, bool finished) {
  const std::uint64_t start = finished && !work.repeated ? on_clients_clock(work.start) : 0;
  const std::uint64_t end = finished && !work.repeated ? on_clients_clock(work.end) : 0;
  if (work.kind == WorkKind::kernel) {
    write_kernel(work, start, end);
  } else {
    write_copy(work, start, end);
  }
}

void Activity::write_kernel(const Work& work, std::uint64_t start, std::uint64_t end) {
  cuda::KernelRecord record{};
  record.kind = ActivityKind::concurrent_kernel;
  record.registers_per_thread = work.kernel->registers;
  record.start = start;
  record.end = end;
  record.completed = end;
  record.device_id = work.device;
  record.context_id = work.context;
  record.stream_id = work.stream;
  record.grid_x = work.launch.grid.x;
  record.grid_y = work.launch.grid.y;
  record.grid_z = work.launch.grid.z;
  record.block_x = work.launch.block.x;
  record.block_y = work.launch.block.y;
  record.block_z = work.launch.block.z;
  record.static_shared_memory = work.kernel->static_shared_memory;
  record.dynamic_shared_memory = work.launch.dynamic_shared_memory;
  record.local_memory_per_thread = work.kernel->local_memory;
  record.correlation_id = work.correlation;
  record.grid_id = static_cast<std::int64_t>(work.correlation);
  record.name = work.kernel->name;
  if (latency_timestamps_ && start != 0) {
    record.queued = start - 1'500;
    record.submitted = start - 1'000;
  }
  record.launch_type = work.launch.type;
  record.shared_memory_executed = 32'768;
  record.graph_node_id = work.graph_node;
  record.graph_id = work.graph;
  record.channel_id = 8;
  record.channel_type = cuda::ChannelType::compute;
  record.cluster_x = static_cast<std::uint32_t>(work.launch.cluster.x);
  record.cluster_y = static_cast<std::uint32_t>(work.launch.cluster.y);
  record.cluster_z = static_cast<std::uint32_t>(work.launch.cluster.z);
  append(record);
}

void Activity::write_copy(const Work& work, std::uint64_t start, std::uint64_t end) {
  if (work.kind == WorkKind::copy)
    append(cuda::CopyRecord{.kind = ActivityKind::copy,
                            .copy_kind = work.copy_kind,
                            .source_kind = small(work.source),
                            .destination_kind = small(work.destination),
                            .flags = work.async ? cuda::activity_async : std::uint8_t{0},
                            .bytes = work.bytes,
                            .start = start,
                            .end = end,
                            .device_id = work.device,
                            .context_id = work.context,
                            .stream_id = work.stream,
                            .correlation_id = work.correlation,
                            .runtime_correlation_id = work.correlation,
                            .padding = 0,
                            .reserved = nullptr,
                            .graph_node_id = work.graph_node,
                            .graph_id = work.graph,
                            .channel_id = 1,
                            .channel_type = cuda::ChannelType::copy,
                            .is_device_launched = 0,
                            .padding_end = {},
                            .copy_count = 1});
  if (work.kind == WorkKind::peer_copy)
    append(cuda::PeerCopyRecord{.kind = ActivityKind::peer_copy,
                                .copy_kind = work.copy_kind,
                                .source_kind = small(work.source),
                                .destination_kind = small(work.destination),
                                .flags = cuda::activity_async,
                                .bytes = work.bytes,
                                .start = start,
                                .end = end,
                                .device_id = work.device,
                                .context_id = work.context,
                                .stream_id = work.stream,
                                .source_device_id = work.device,
                                .source_context_id = work.context,
                                .destination_device_id = work.destination_device,
                                .destination_context_id = 0,
                                .correlation_id = work.correlation,
                                .reserved = nullptr,
                                .graph_node_id = work.graph_node,
                                .graph_id = work.graph,
                                .channel_id = 1,
                                .channel_type = cuda::ChannelType::copy,
                                .padding_end = 0});
  if (work.kind == WorkKind::fill)
    append(cuda::FillRecord{.kind = ActivityKind::fill,
                            .value = work.value,
                            .bytes = work.bytes,
                            .start = start,
                            .end = end,
                            .device_id = work.device,
                            .context_id = work.context,
                            .stream_id = work.stream,
                            .correlation_id = work.correlation,
                            .flags = static_cast<std::uint16_t>(work.async ? 1 : 0),
                            .memory_kind = small(work.destination),
                            .padding = 0,
                            .reserved = nullptr,
                            .graph_node_id = work.graph_node,
                            .graph_id = work.graph,
                            .channel_id = 1,
                            .channel_type = cuda::ChannelType::copy,
                            .is_device_launched = 0,
                            .padding_end = {}});
}

void Activity::graph_launched(const Work& first, const Work& last) {
  if (!enabled(ActivityKind::graph_trace)) return;
  append(cuda::GraphTraceRecord{.kind = ActivityKind::graph_trace,
                                .correlation_id = first.correlation,
                                .start = on_clients_clock(first.start),
                                .end = on_clients_clock(last.end),
                                .device_id = first.device,
                                .graph_id = first.graph,
                                .context_id = first.context,
                                .stream_id = first.stream,
                                .reserved = nullptr,
                                .end_device_id = last.device,
                                .end_context_id = last.context});
}

void Activity::waited(const Call& call, const Wait& wait, std::uint64_t since) {
  if (!enabled(ActivityKind::synchronization)) return;
  append(cuda::SynchronizationRecord{.kind = ActivityKind::synchronization,
                                     .type = wait.type,
                                     .start = on_clients_clock(since),
                                     .end = now(),
                                     .correlation_id = call.correlation,
                                     .context_id = wait.context,
                                     .stream_id = wait.stream,
                                     .event_id = wait.event,
                                     .event_sync_id = wait.event_sync,
                                     .return_value = 0,
                                     .padding = 0});
}

void Activity::recorded(const Call& call, const Recorded& event) {
  if (!enabled(ActivityKind::event)) return;
  append(cuda::EventRecord{.kind = ActivityKind::event,
                           .correlation_id = call.correlation,
                           .context_id = event.context,
                           .stream_id = event.stream,
                           .event_id = event.event,
                           .padding = 0,
                           .device_id = event.device,
                           .padding_2 = 0,
                           .reserved = nullptr,
                           .device_timestamp = event_timestamps_ ? on_clients_clock(event.at) : 0,
                           .event_sync_id = event.event_sync});
}

void Activity::allocated(const Call& call, const Allocated& memory) {
  if (!enabled(ActivityKind::memory)) return;
  cuda::MemoryRecord record{};
  record.kind = ActivityKind::memory;
  record.operation = memory.operation;
  record.memory_kind = memory.kind;
  record.correlation_id = call.correlation;
  record.address = memory.address;
  record.bytes = memory.bytes;
  record.timestamp = now();
  record.process_id = static_cast<std::uint32_t>(getpid());
  record.device_id = memory.device;
  record.context_id = memory.context;
  record.stream_id = memory.stream;
  record.is_async = memory.async ? 1 : 0;
  if (memory.async) record.pool_type = cuda::MemoryPoolType::local;
  append(record);
}

void Activity::pool(const Call& call, const PoolEvent& event) {
  if (!enabled(ActivityKind::memory_pool)) return;
  cuda::MemoryPoolRecord record{};
  record.kind = ActivityKind::memory_pool;
  record.operation = event.operation;
  record.pool_type = cuda::MemoryPoolType::local;
  record.correlation_id = call.correlation;
  record.process_id = static_cast<std::uint32_t>(getpid());
  record.device_id = event.device;
  record.address = event.address;
  record.size = event.size;
  record.timestamp = now();
  append(record);
}

void Activity::loaded_lazily(const Call& call, std::uint64_t since) {
  if (!enabled(ActivityKind::overhead)) return;
  append(cuda::OverheadRecord{.kind = ActivityKind::overhead,
                              .overhead_kind = cuda::overhead_kind::lazy_function_loading,
                              .object_kind = cuda::ObjectKind::thread,
                              .object = {.process_or_device = static_cast<std::uint32_t>(getpid()),
                                         .thread_or_context = thread(),
                                         .stream_id = 0},
                              .start = on_clients_clock(since),
                              .end = now(),
                              .correlation_id = call.correlation,
                              .reserved = 0,
                              .data = nullptr});
}

void Activity::made_context(std::uint32_t context, std::uint32_t device,
                            std::uint32_t null_stream) {
  if (enabled(ActivityKind::device)) {
    cuda::DeviceRecord record{};
    record.kind = ActivityKind::device;
    record.global_memory_size = std::uint64_t{81'559} << 20U;
    record.multiprocessors = 132;
    record.threads_per_warp = 32;
    record.core_clock_rate = 1'980'000;
    record.max_warps_per_multiprocessor = 64;
    record.compute_capability_major = 9;
    record.id = device;
    record.name = "NVIDIA H100 80GB HBM3";
    record.is_cuda_visible = 1;
    append(record);
  }
  if (enabled(ActivityKind::context)) {
    cuda::ContextRecord record{};
    record.kind = ActivityKind::context;
    record.context_id = context;
    record.device_id = device;
    record.compute_api_kind = 1;
    record.null_stream_id = static_cast<std::uint16_t>(null_stream);
    record.multiprocessors = 132;
    append(record);
  }
}

void Activity::made_stream(const Call* call, std::uint32_t context, std::uint32_t stream) {
  if (!enabled(ActivityKind::stream)) return;
  append(cuda::StreamRecord{.kind = ActivityKind::stream,
                            .context_id = context,
                            .stream_id = stream,
                            .priority = 0,
                            .flag = cuda::stream_flag::by_default,
                            .correlation_id = call == nullptr ? 0 : call->correlation});
}

void Activity::marked(std::uint32_t flags, std::uint32_t id, const char* text, const char* domain) {
  if (!enabled(ActivityKind::marker)) return;
  const auto kept = [this](const char* words) -> const char* {
    if (words == nullptr) return nullptr;
    const std::lock_guard held(text_lock_);
    return texts_.insert(words).first->c_str();
  };
  append(cuda::MarkerRecord{.kind = ActivityKind::marker,
                            .flags = flags,
                            .timestamp = now(),
                            .id = id,
                            .object_kind = cuda::ObjectKind::thread,
                            .object = {.process_or_device = static_cast<std::uint32_t>(getpid()),
                                       .thread_or_context = thread(),
                                       .stream_id = 0},
                            .padding = 0,
                            .name = kept(text),
                            .domain = kept(domain)});
}

void Activity::marked_with(std::uint32_t id, std::uint32_t color, std::uint32_t category,
                           std::uint32_t payload_kind, std::uint64_t payload) {
  if (!enabled(ActivityKind::marker_data)) return;
  append(cuda::MarkerDataRecord{.kind = ActivityKind::marker_data,
                                .flags = color == 0 ? 1U : 2U,
                                .id = id,
                                .payload_kind = payload_kind,
                                .payload = payload,
                                .color = color,
                                .category = category,
                                .domain_id = 0,
                                .padding = 0});
}

void Activity::flush(bool forced) {
  harvest(forced);
  buffers.flush();
}

}  // namespace perflab::cuda_sim
