// Packets: the body first, then header and setup in one store that releases it; the doorbell gets
// the index of the last packet (docs/facts/hsa_runtime.md "Dispatch"). The dispatch keeps the
// fences that it was captured with, because they are part of its time; the barriers around it reach
// the whole system, because the memory is written and read by copy engines and the host.
#include "replay/hsa/hsa_queue.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>

#include "replay/failures.h"

namespace perflab::replay {
namespace {

constexpr std::uint32_t kQueuePackets = 64;
constexpr std::uint32_t kSingleProducer = 1;
/// How often a wait looks for reported errors.
constexpr std::uint64_t kLooksPerSecond = 20;
constexpr std::size_t kPacketBytes = 64;

using Packet = std::array<std::byte, kPacketBytes>;

constexpr std::uint16_t header_of(std::uint16_t type, std::uint16_t acquire,
                                  std::uint16_t release) {
  return static_cast<std::uint16_t>(type | 1U << hsa::header::barrier_bit |
                                    unsigned{acquire} << hsa::header::acquire_shift |
                                    unsigned{release} << hsa::header::release_shift);
}

constexpr std::uint16_t kBarrierHeader =
    header_of(hsa::packet_type::barrier_and, hsa::header::scope_system, hsa::header::scope_system);

template <class T>
Packet packet_from(const T& packet) {
  static_assert(sizeof(T) == kPacketBytes);
  Packet bytes;
  std::memcpy(bytes.data(), &packet, sizeof(packet));
  return bytes;
}

/// The first member of the runtime's event (hsa_amd_event_t): a page fault of a GPU.
struct FaultEvent {
  std::uint32_t type;  ///< 0: memory fault
  std::uint32_t padding;
  std::uint64_t agent, address;
  std::uint32_t reason;
};

}  // namespace

/// Never freed: the runtime's threads may come late.
struct HsaQueue::Trouble {
  std::atomic<std::uint32_t> status{0};
  std::atomic<bool> page_fault{false};
  std::atomic<std::uint64_t> address{0};

  static void on_queue_error(hsa::Status status, hsa::Queue*, void* data) {
    auto* const trouble = static_cast<Trouble*>(data);
    if (status != hsa::Status::success) trouble->status = static_cast<std::uint32_t>(status);
  }
  /// Success says that the event is dealt with; the runtime would end the process otherwise.
  static hsa::Status on_event(const void* event, void* data) {
    FaultEvent fault{};
    std::memcpy(&fault, event, sizeof(fault));
    if (fault.type != 0) return hsa::Status::error;
    auto* const trouble = static_cast<Trouble*>(data);
    trouble->address = fault.address;
    trouble->page_fault = true;
    return hsa::Status::success;
  }
};

HsaQueue::HsaQueue(const HsaRuntime& runtime, const HsaAgent& gpu) : runtime_(runtime), gpu_(gpu) {
  static Trouble* const kTrouble = new Trouble;  // one, because the event handler stays
  kTrouble->status = 0;
  kTrouble->page_fault = false;
  trouble_ = kTrouble;
}

Result<std::unique_ptr<HsaQueue>> HsaQueue::create(const HsaRuntime& runtime, const HsaAgent& gpu) {
  std::unique_ptr<HsaQueue> queue(new HsaQueue(runtime, gpu));
  PERFLAB_TRY_VOID(queue->open());
  return queue;
}

HsaQueue::~HsaQueue() {
  if (lost_) return;
  if (queue_ != nullptr) runtime_.core().queue_destroy(queue_);
  for (const hsa::Signal signal : {completed_, done_})
    if (signal.handle != 0) runtime_.core().signal_destroy(signal);
}

Result<void> HsaQueue::open() {
  const hsa::Core& core = runtime_.core();
  // An older runtime may lack it; it ends the process at a page fault then.
  using Register = hsa::Status(hsa::Status(*)(const void*, void*), void*);
  if (void* const entry = runtime_.entry("hsa_amd_register_system_event_handler"))
    reinterpret_cast<Register*>(entry)(&Trouble::on_event, trouble_);
  PERFLAB_TRY_VOID(check_call(
      core.queue_create(gpu_.handle, kQueuePackets, kSingleProducer, &Trouble::on_queue_error,
                        trouble_, UINT32_MAX, UINT32_MAX, &queue_),
      fmt::format("hsa_queue_create({} packets)", kQueuePackets)));
  PERFLAB_TRY_VOID(check_call(runtime_.amd().profiling_set_profiler_enabled(queue_, 1),
                              "hsa_amd_profiling_set_profiler_enabled()"));
  PERFLAB_TRY_VOID(
      check_call(core.signal_create(1, 0, nullptr, &completed_), "hsa_signal_create()"));
  return check_call(core.signal_create(1, 0, nullptr, &done_), "hsa_signal_create()");
}

void HsaQueue::submit(const Launch& launch) {
  hsa::KernelDispatchPacket dispatch{};
  dispatch.header = static_cast<std::uint16_t>(launch.header | 1U << hsa::header::barrier_bit);
  dispatch.setup = launch.setup;
  dispatch.workgroup_size_x = static_cast<std::uint16_t>(launch.workgroup[0]);
  dispatch.workgroup_size_y = static_cast<std::uint16_t>(launch.workgroup[1]);
  dispatch.workgroup_size_z = static_cast<std::uint16_t>(launch.workgroup[2]);
  dispatch.grid_size_x = static_cast<std::uint32_t>(launch.grid[0]);
  dispatch.grid_size_y = static_cast<std::uint32_t>(launch.grid[1]);
  dispatch.grid_size_z = static_cast<std::uint32_t>(launch.grid[2]);
  dispatch.private_segment_size = launch.private_segment_bytes;
  dispatch.group_segment_size = launch.group_segment_bytes;
  dispatch.kernel_object = launch.kernel_object;
  dispatch.kernarg_address = reinterpret_cast<void*>(launch.kernarg_address);
  dispatch.completion_signal = completed_;
  hsa::BarrierPacket before{}, behind{};
  before.header = behind.header = kBarrierHeader;
  behind.completion_signal = done_;

  const std::array packets{packet_from(before), packet_from(dispatch), packet_from(behind)};
  const std::uint64_t first =
      runtime_.core().queue_add_write_index_screlease(queue_, packets.size());
  auto* const ring = static_cast<std::byte*>(queue_->base_address);
  for (std::size_t i = 0; i < packets.size(); ++i) {
    std::byte* const slot = ring + (first + i) % queue_->size * kPacketBytes;
    std::uint32_t head = 0;
    std::memcpy(&head, packets[i].data(), sizeof(head));
    std::memcpy(slot + sizeof(head), packets[i].data() + sizeof(head), kPacketBytes - sizeof(head));
    std::atomic_ref(*reinterpret_cast<std::uint32_t*>(slot)).store(head, std::memory_order_release);
  }
  runtime_.core().signal_store_screlease(queue_->doorbell_signal,
                                         static_cast<hsa::SignalValue>(first + packets.size() - 1));
}

Result<void> HsaQueue::wait(Nanos limit) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(limit.value);
  while (runtime_.core().signal_wait_scacquire(done_, hsa::Condition::lt, 1,
                                               runtime_.frequency() / kLooksPerSecond,
                                               hsa::WaitState::blocked) > 0) {
    if (trouble_->page_fault) {
      lost_ = true;
      return fail(Failure::kernel_fault,
                  fmt::format("the kernel touched {:#x}, where the GPU has no memory",
                              trouble_->address.load()),
                  "rocm-perf capture check says whether memory is missing from the capture");
    }
    if (const std::uint32_t status = trouble_->status; status != 0) {
      lost_ = true;
      return fail(Failure::kernel_fault,
                  fmt::format("the queue reported {} while the kernel ran",
                              status_text(static_cast<hsa::Status>(status))),
                  "rocm-perf capture check says whether memory is missing from the capture");
    }
    if (std::chrono::steady_clock::now() < deadline) continue;
    lost_ = true;
    return fail(
        Failure::timed_out,
        fmt::format("the dispatch did not end within {} s", static_cast<double>(limit.value) / 1e9),
        "give it longer with --time-limit");
  }
  return {};
}

Result<Nanos> HsaQueue::time() const {
  constexpr const char* kCall = "hsa_amd_profiling_get_dispatch_time";
  hsa::DispatchTime time{};
  PERFLAB_TRY_VOID(check_call(
      runtime_.amd().profiling_get_dispatch_time(gpu_.handle, completed_, &time), kCall));
  if (time.start == 0 || time.end < time.start)
    return fail(
        Failure::hsa_call_failed,
        fmt::format("{} answered no time (start {}, end {})", kCall, time.start, time.end),
        "run it again; when it repeats, install a newer ROCm with its driver (amdgpu-dkms)");
  const double ns_per_tick = 1e9 / static_cast<double>(runtime_.frequency());
  return Nanos{
      static_cast<std::int64_t>(static_cast<double>(time.end - time.start) * ns_per_tick + 0.5)};
}

Result<Nanos> HsaQueue::run(const Launch& launch, Nanos limit) {
  runtime_.core().signal_store_relaxed(completed_, 1);
  runtime_.core().signal_store_relaxed(done_, 1);
  submit(launch);
  PERFLAB_TRY_VOID(wait(limit));
  return time();
}

}  // namespace perflab::replay
