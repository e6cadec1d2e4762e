// A tools library that intercepts every queue and passes all packets on: what interception costs
// without looking at a packet. Beside librocm_perf_isolate.so in bench/isolate_idle.cpp.
#include "hsa/api.h"

namespace {

using namespace perflab::hsa;

Api saved;

void pass_on(const void* packets, std::uint64_t count, std::uint64_t /*index*/, void* /*data*/,
             PacketWriter writer) {
  writer(packets, count);
}

Status create(Agent agent, std::uint32_t size, std::uint32_t type, QueueCallback callback,
              void* data, std::uint32_t private_segment, std::uint32_t group_segment,
              Queue** queue) {
  const Status status = saved.amd.queue_intercept_create(agent, size, type, callback, data,
                                                         private_segment, group_segment, queue);
  if (status != Status::success) return status;
  return saved.amd.queue_intercept_register(*queue, pass_on, nullptr);
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] bool OnLoad(void* tables, std::uint64_t, std::uint64_t,
                                           const char* const*) {
  const auto& api = *static_cast<const ApiTables*>(tables);
  saved = api_of(api);
  *slot(api, CoreEntry::queue_create) = reinterpret_cast<void*>(&create);
  return true;
}

[[gnu::visibility("default")]] void OnUnload() {}
}
