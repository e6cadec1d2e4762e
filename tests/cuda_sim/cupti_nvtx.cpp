// NVTX in the stand-in libcupti.so.13: markers of ranges. Facts: docs/facts/cuda_cupti.md
// "Markers".
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "cuda_sim/activity.h"
#include "cuda_sim/nvtx.h"

namespace perflab::cuda_sim::nvtx {
namespace {

std::atomic<std::uint32_t> next_id = 1;

/// Open pushes of a thread: of the default domain (null) and of others.
thread_local std::map<Domain, std::vector<std::uint32_t>> open_ranges;

struct DomainState {
  std::string name;
};

const char* name_of(Domain domain) {
  return domain == nullptr ? nullptr : reinterpret_cast<const DomainState*>(domain)->name.c_str();
}

int push(Domain domain, const char* message, std::uint32_t id) {
  std::vector<std::uint32_t>& open = open_ranges[domain];
  Activity::get().marked(cuda::marker_flag::start, id, message, name_of(domain));
  open.push_back(id);
  return static_cast<int>(open.size()) - 1;
}

int pop(Domain domain) {
  std::vector<std::uint32_t>& open = open_ranges[domain];
  if (open.empty()) return -1;
  Activity::get().marked(cuda::marker_flag::end, open.back(), nullptr, name_of(domain));
  open.pop_back();
  return static_cast<int>(open.size());
}

void add_data(std::uint32_t id, const EventAttributes& event) {
  constexpr std::int32_t kSignedPayload = 2;
  constexpr std::int32_t kFloatingPayload = 3;
  std::uint32_t kind = cuda::payload_kind::unsigned_integer;
  if (event.payload_type == kSignedPayload) kind = cuda::payload_kind::signed_integer;
  if (event.payload_type == kFloatingPayload) kind = cuda::payload_kind::floating;
  Activity::get().marked_with(id, event.color_type == 1 ? event.color : 0, event.category, kind,
                              event.payload_type == 0 ? 0 : event.payload);
}

const char* text_of(const EventAttributes& event) {
  return event.message_type == 1 ? event.message : nullptr;
}

void on_mark(const char* message) {
  Activity::get().marked(cuda::marker_flag::instantaneous, next_id++, message, nullptr);
}
int on_push(const char* message) {
  return push(nullptr, message, next_id++);
}
int on_pop() {
  return pop(nullptr);
}
std::uint64_t on_start(const char* message) {
  const std::uint32_t id = next_id++;
  Activity::get().marked(cuda::marker_flag::start, id, message, nullptr);
  return id;
}
void on_end(std::uint64_t id) {
  Activity::get().marked(cuda::marker_flag::end, static_cast<std::uint32_t>(id), nullptr, nullptr);
}
void on_domain_mark(Domain domain, const EventAttributes* event) {
  const std::uint32_t id = next_id++;
  Activity::get().marked(cuda::marker_flag::instantaneous, id, text_of(*event), name_of(domain));
  add_data(id, *event);
}
int on_domain_push(Domain domain, const EventAttributes* event) {
  const std::uint32_t id = next_id++;
  const int level = push(domain, text_of(*event), id);
  add_data(id, *event);
  return level;
}
Domain on_domain_create(const char* name) {
  static std::mutex lock;
  static auto* all = new std::deque<DomainState>;  // programs need not destroy theirs
  const std::lock_guard held(lock);
  return reinterpret_cast<Domain>(&all->emplace_back(DomainState{.name = name}));
}

template <class Function>
void fill(FunctionTable table, unsigned size, unsigned place, Function* function) {
  if (place < size && table[place] != nullptr)
    *table[place] = reinterpret_cast<FunctionPointer>(function);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtx2(GetExportTable tables) {
  if (tables == nullptr) return 0;
  const auto* const callbacks = static_cast<const Callbacks*>(tables(table_callbacks));
  if (callbacks == nullptr || callbacks->bytes < sizeof(Callbacks)) return 0;
  FunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->get_module_function_table(module_core, &table, &size) == 0) return 0;
  fill(table, size, mark_a, &on_mark);
  fill(table, size, range_start_a, &on_start);
  fill(table, size, range_end, &on_end);
  fill(table, size, range_push_a, &on_push);
  fill(table, size, range_pop, &on_pop);
  if (callbacks->get_module_function_table(module_core2, &table, &size) == 0) return 1;
  fill(table, size, domain_mark_ex, &on_domain_mark);
  fill(table, size, domain_range_push_ex, &on_domain_push);
  fill(table, size, domain_range_pop, &pop);
  fill(table, size, domain_create_a, &on_domain_create);
  return 1;
}

}  // namespace perflab::cuda_sim::nvtx
