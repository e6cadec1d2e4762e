// A client of CUPTI for the stand-in's own tests, injected as the recording library is: writes each
// record and callback as a line to CUDA_SIM_CLIENT_OUT. CUDA_SIM_CLIENT has words: "nothing" (no
// call of CUPTI), "graphs" (kind graph_trace too), "unsynchronized" (flush at exit without waiting
// for the GPU), "subscribe" (callbacks), "no-buffers" (asked for one it gives none), "small" (of
// 512 bytes), "child" (its exit handler flushes in a fork's child too).
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>

#include "cuda/libraries.h"

namespace perflab::cuda_sim {
namespace {

using cuda::ActivityKind;
using cuda::CuptiResult;

std::FILE* out = nullptr;
cuda::CuptiLibrary* cupti = nullptr;
cuda::DriverLibrary* driver = nullptr;
std::mutex writing;
pid_t process = 0;

bool told(const char* word) {
  const char* const words = std::getenv("CUDA_SIM_CLIENT");
  return words != nullptr && std::strstr(words, word) != nullptr;
}

std::uint64_t boottime() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void answered(const char* call, CuptiResult answer) {
  std::fprintf(out, "call name=%s answer=%u\n", call, static_cast<unsigned>(answer));
}

void requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most) {
  *most = 0;
  *bytes = told("small") ? 512 : std::size_t{1} << 20U;
  *buffer = told("no-buffers") ? nullptr : static_cast<std::uint8_t*>(std::malloc(*bytes));
}

template <class Record>
const Record& as(const cuda::Record& record) {
  return reinterpret_cast<const Record&>(record);
}

void write_work(const cuda::Record& record) {
  switch (record.kind) {
    case ActivityKind::concurrent_kernel: {
      const auto& one = as<cuda::KernelRecord>(record);
      std::fprintf(out,
                   "kernel name=%s start=%lu end=%lu stream=%u correlation=%u device=%u grid=%d "
                   "block=%d shared=%d registers=%u cluster=%u type=%u graph=%u node=%lu\n",
                   one.name, one.start, one.end, one.stream_id, one.correlation_id, one.device_id,
                   one.grid_x, one.block_x, one.static_shared_memory + one.dynamic_shared_memory,
                   one.registers_per_thread, one.cluster_x, one.launch_type, one.graph_id,
                   one.graph_node_id);
      break;
    }
    case ActivityKind::copy: {
      const auto& one = as<cuda::CopyRecord>(record);
      std::fprintf(out,
                   "copy copy_kind=%u start=%lu end=%lu stream=%u correlation=%u bytes=%lu "
                   "graph=%u\n",
                   static_cast<unsigned>(one.copy_kind), one.start, one.end, one.stream_id,
                   one.correlation_id, one.bytes, one.graph_id);
      break;
    }
    case ActivityKind::peer_copy: {
      const auto& one = as<cuda::PeerCopyRecord>(record);
      std::fprintf(out, "peer_copy start=%lu end=%lu bytes=%lu from=%u to=%u\n", one.start, one.end,
                   one.bytes, one.source_device_id, one.destination_device_id);
      break;
    }
    case ActivityKind::fill: {
      const auto& one = as<cuda::FillRecord>(record);
      std::fprintf(out, "fill start=%lu end=%lu stream=%u correlation=%u bytes=%lu value=%u\n",
                   one.start, one.end, one.stream_id, one.correlation_id, one.bytes, one.value);
      break;
    }
    case ActivityKind::graph_trace: {
      const auto& one = as<cuda::GraphTraceRecord>(record);
      std::fprintf(out, "graph_trace start=%lu end=%lu correlation=%u graph=%u\n", one.start,
                   one.end, one.correlation_id, one.graph_id);
      break;
    }
    default:
      std::fprintf(out, "other kind=%u\n", static_cast<unsigned>(record.kind));
  }
}

void write_api(const cuda::ApiRecord& one) {
  const bool runtime = one.kind == ActivityKind::runtime_call;
  const char* name = "?";
  cupti->api.get_callback_name(
      runtime ? cuda::CallbackDomain::runtime_api : cuda::CallbackDomain::driver_api,
      one.callback_id, &name);
  std::fprintf(out, "%s name=%s start=%lu end=%lu correlation=%u thread=%u process=%u answer=%u\n",
               runtime ? "runtime" : "driver", name, one.start, one.end, one.correlation_id,
               one.thread_id, one.process_id, one.return_value);
}

void write_record(const cuda::Record& record) {
  switch (record.kind) {
    case ActivityKind::runtime_call:
    case ActivityKind::driver_call:
      write_api(as<cuda::ApiRecord>(record));
      break;
    case ActivityKind::synchronization: {
      const auto& one = as<cuda::SynchronizationRecord>(record);
      std::fprintf(out,
                   "wait type=%u start=%lu end=%lu stream=%u event=%u sync=%lu correlation=%u\n",
                   static_cast<unsigned>(one.type), one.start, one.end, one.stream_id, one.event_id,
                   one.event_sync_id, one.correlation_id);
      break;
    }
    case ActivityKind::event: {
      const auto& one = as<cuda::EventRecord>(record);
      std::fprintf(out, "event stream=%u event=%u sync=%lu correlation=%u\n", one.stream_id,
                   one.event_id, one.event_sync_id, one.correlation_id);
      break;
    }
    case ActivityKind::memory: {
      const auto& one = as<cuda::MemoryRecord>(record);
      std::fprintf(out, "memory operation=%u kind=%u address=%lu bytes=%lu async=%u time=%lu\n",
                   static_cast<unsigned>(one.operation), static_cast<unsigned>(one.memory_kind),
                   one.address, one.bytes, one.is_async, one.timestamp);
      break;
    }
    case ActivityKind::memory_pool: {
      const auto& one = as<cuda::MemoryPoolRecord>(record);
      std::fprintf(out, "pool operation=%u\n", static_cast<unsigned>(one.operation));
      break;
    }
    case ActivityKind::marker: {
      const auto& one = as<cuda::MarkerRecord>(record);
      std::fprintf(out, "marker flags=%u id=%u name=%s domain=%s time=%lu\n", one.flags, one.id,
                   one.name == nullptr ? "-" : one.name, one.domain == nullptr ? "-" : one.domain,
                   one.timestamp);
      break;
    }
    case ActivityKind::marker_data: {
      const auto& one = as<cuda::MarkerDataRecord>(record);
      std::fprintf(out, "marker_data id=%u payload=%lu category=%u\n", one.id, one.payload,
                   one.category);
      break;
    }
    case ActivityKind::context: {
      const auto& one = as<cuda::ContextRecord>(record);
      std::fprintf(out, "context id=%u device=%u null_stream=%u\n", one.context_id, one.device_id,
                   one.null_stream_id);
      break;
    }
    case ActivityKind::stream:
      std::fprintf(out, "stream id=%u\n", as<cuda::StreamRecord>(record).stream_id);
      break;
    case ActivityKind::overhead: {
      const auto& one = as<cuda::OverheadRecord>(record);
      std::fprintf(out, "overhead kind=%u start=%lu end=%lu\n", one.overhead_kind, one.start,
                   one.end);
      break;
    }
    default:
      write_work(record);
  }
}

void completed(cuda::Context /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer,
               std::size_t /*bytes*/, std::size_t valid) {
  const std::lock_guard held(writing);
  std::fprintf(out, "buffer bytes=%zu\n", valid);
  cuda::Record* record = nullptr;
  CuptiResult answer = CuptiResult::success;
  while ((answer = cupti->api.activity_get_next_record(buffer, valid, &record)) ==
         CuptiResult::success)
    write_record(*record);
  if (answer != CuptiResult::max_limit_reached) answered("next", answer);
  std::free(buffer);
}

void called_back(void* /*user*/, cuda::CallbackDomain domain, cuda::CallbackId id,
                 const void* data) {
  const std::lock_guard held(writing);
  if (domain == cuda::CallbackDomain::resource) {
    std::fprintf(out, "resource id=%u\n", id);
    return;
  }
  const auto& call = *static_cast<const cuda::CallbackData*>(data);
  std::fprintf(out, "callback domain=%u name=%s site=%u symbol=%s correlation=%u\n",
               static_cast<unsigned>(domain), call.function_name, static_cast<unsigned>(call.site),
               call.symbol_name == nullptr ? "-" : call.symbol_name, call.correlation_id);
}

void at_exit() {
  if (getpid() != process && !told("child")) return;
  if (!told("unsynchronized")) {
    cuda::Context context = nullptr;
    driver->api.primary_context_retain(&context, 0);
    driver->api.context_set_current(context);
    driver->api.context_synchronize();
  }
  answered("flush", cupti->api.activity_flush_all(cuda::flush_forced));
  std::size_t dropped = 0;
  cupti->api.activity_get_dropped(nullptr, 0, &dropped);
  std::fprintf(out, "dropped count=%zu\n", dropped);
  std::fprintf(out, "clock now=%lu\n", boottime());
  std::fclose(out);
}

void start() {
  if (told("subscribe")) {
    cuda::Subscriber subscriber = nullptr;
    char there[cuda::old_subscriber_name_bytes] = "-";
    cuda::SubscriberParameters parameters{.struct_size = sizeof parameters,
                                          .subscriber_name = "the client",
                                          .old_subscriber_name = there,
                                          .old_subscriber_size = sizeof there};
    answered("subscribe", cupti->api.subscribe_v2(&subscriber, &called_back, nullptr, &parameters));
    std::fprintf(out, "there name=%s\n", there);
    for (const auto domain : {cuda::CallbackDomain::driver_api, cuda::CallbackDomain::runtime_api,
                              cuda::CallbackDomain::resource})
      answered("enable_domain", cupti->api.enable_domain(1, subscriber, domain));
  }
  cupti->api.activity_register_timestamp(&boottime);
  cupti->api.set_thread_id_type(cuda::ThreadIdType::system);
  answered("register", cupti->api.activity_register_callbacks(&requested, &completed));
  for (const ActivityKind kind :
       {ActivityKind::concurrent_kernel, ActivityKind::copy, ActivityKind::peer_copy,
        ActivityKind::fill, ActivityKind::runtime_call, ActivityKind::driver_call,
        ActivityKind::synchronization, ActivityKind::event, ActivityKind::memory,
        ActivityKind::memory_pool, ActivityKind::marker, ActivityKind::marker_data,
        ActivityKind::context, ActivityKind::stream, ActivityKind::overhead})
    answered("enable", cupti->api.activity_enable(kind));
  if (told("graphs")) answered("enable", cupti->api.activity_enable(ActivityKind::graph_trace));
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int InitializeInjection() {
  const char* const path = std::getenv("CUDA_SIM_CLIENT_OUT");
  if (path == nullptr) return 0;
  process = getpid();
  // Processes that are forked before CUDA is used write one after the other.
  out = std::fopen(path, "ae");
  if (out == nullptr) return 0;
  std::setvbuf(out, nullptr, _IOLBF, 0);  // or a fork would have lines twice
  driver = new cuda::DriverLibrary(cuda::open_driver());
  cupti = new cuda::CuptiLibrary(cuda::open_cupti());
  // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): open_cupti() sets the version
  std::fprintf(out, "libraries driver=%u cupti=%u version=%u path=%s\n",
               static_cast<unsigned>(driver->problem), static_cast<unsigned>(cupti->problem),
               cupti->version, cupti->path.c_str());
  int count = 0;
  std::fprintf(out, "early answer=%u\n",
               static_cast<unsigned>(driver->api.device_get_count(&count)));
  if (cupti->problem != cuda::LibraryProblem::none || told("nothing")) {
    std::fclose(out);
    return 1;
  }
  start();
  std::fprintf(out, "clock now=%lu\n", boottime());
  std::atexit(&at_exit);
  return 1;
}

}  // namespace perflab::cuda_sim
