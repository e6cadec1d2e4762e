// The packet handler: counts and passes on. What is no match goes on untouched, a run of packets in
// one call of the writer. Facts: docs/facts/hsa_runtime.md "Handlers", "Writer", "Packets of HIP",
// "Completion signals".
#include <array>
#include <cstring>

#include "isolate/tool/tool_state.h"

namespace perflab::isolate {
namespace {

constexpr std::size_t kPacketBytes = 64;

const std::byte* packet_at(const void* packets, std::uint64_t index) {
  return static_cast<const std::byte*>(packets) + index * kPacketBytes;
}

std::uint16_t type_at(const std::byte* packet) {
  std::uint16_t header = 0;
  std::memcpy(&header, packet, sizeof(header));
  return hsa::type_of(header);
}

std::uint64_t kernel_object_at(const std::byte* packet) {
  std::uint64_t object = 0;
  std::memcpy(&object, packet + offsetof(hsa::KernelDispatchPacket, kernel_object), sizeof(object));
  return object;
}

// Passes packets [from, to) on.
void pass(const void* packets, std::uint64_t from, std::uint64_t to, hsa::PacketWriter writer) {
  if (from < to) writer(packet_at(packets, from), to - from);
}

// A barrier that nothing waits for, in place of a request: no index of the ring goes missing.
void pass_nothing(hsa::PacketWriter writer) {
  const hsa::BarrierPacket packet = barrier_packet({});
  writer(&packet, 1);
}

KernelName* name_of(Tool& tool, std::uint64_t kernel_object) {
  KernelName* const name = tool.process.kernels.find(kernel_object);
  return name != nullptr ? name : tool.code.find_name(kernel_object);
}

// Passes all on and counts it, requests replaced; none of it is a match any more.
void pass_without_requests(Tool& tool, const InterceptedQueue& queue, const void* packets,
                           std::uint64_t count, hsa::PacketWriter writer) {
  std::uint64_t first = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::byte* const packet = packet_at(packets, i);
    if (type_at(packet) == hsa::packet_type::kernel_dispatch)
      if (KernelName* const name = name_of(tool, kernel_object_at(packet)))
        tool.process.kernels.count(*name);
    if (!is_request(queue, packet)) continue;
    pass(packets, first, i, writer);
    pass_nothing(writer);
    first = i + 1;
  }
  pass(packets, first, count, writer);
}

bool only_requests(const InterceptedQueue& queue, const void* packets, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i)
    if (!is_request(queue, packet_at(packets, i))) return false;
  return true;
}

// While a capture runs on this queue's agent. True: the packets were passed on. False: the gate is
// open again, and they go the usual way.
bool pass_at_gate(Tool& tool, InterceptedQueue& queue, const void* packets, std::uint64_t count,
                  hsa::PacketWriter writer) {
  // The first to come while the queues are drained goes on, and the barrier behind it. This may be
  // the runtime's thread, which must not be held: it serves all queues.
  if (tool.gate.phase() == Gate::Phase::draining && !queue.sealed.load()) {
    const hsa::Signal drained{queue.drained.load(std::memory_order_acquire)};
    if (drained.handle != 0) {
      queue.sealed.store(true);
      pass_without_requests(tool, queue, packets, count, writer);
      const hsa::BarrierPacket barrier = barrier_packet(drained);
      writer(&barrier, 1);
      return true;
    }
  }
  if (only_requests(queue, packets, count)) {
    pass_without_requests(tool, queue, packets, count, writer);
    return true;
  }
  tool.gate.wait_for_packets();
  return false;
}

// Whether this dispatch is the one that was asked for, by this process first.
bool is_target(Tool& tool, const KernelName& name) {
  return name.wanted && tool.process.is_target();
}

}  // namespace

void on_packets(const void* packets, std::uint64_t count, std::uint64_t /*index*/, void* data,
                hsa::PacketWriter writer) noexcept {
  auto& queue = *static_cast<InterceptedQueue*>(data);
  Tool& running = tool();
  if (!queue.used.load(std::memory_order_relaxed)) queue.used.store(true);
  if (running.gate.concerns(queue.agent) && pass_at_gate(running, queue, packets, count, writer))
    return;
  std::uint64_t first = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::byte* const packet = packet_at(packets, i);
    const std::uint16_t type = type_at(packet);
    if (type == hsa::packet_type::barrier_and && is_request(queue, packet)) {
      pass(packets, first, i, writer);
      pass_nothing(writer);
      first = i + 1;
    }
    if (type != hsa::packet_type::kernel_dispatch) continue;
    KernelName* const name = name_of(running, kernel_object_at(packet));
    if (name == nullptr) continue;
    running.process.kernels.count(*name);
    if (!is_target(running, *name)) continue;
    pass(packets, first, i, writer);
    hsa::KernelDispatchPacket target{};
    std::memcpy(&target, packet, sizeof(target));
    capture_dispatch(running, queue, *name, target, writer);
    first = i + 1;
  }
  pass(packets, first, count, writer);
}

}  // namespace perflab::isolate
