// The start of the library inside the first hsa_init (docs/facts/hsa_runtime.md "Load and unload of
// tools"): settings, the runtime's entry points, the hooks.
#include "isolate/tool/tool_state.h"

#include <algorithm>
#include <new>

#include "isolate/tool/hooks.h"

namespace perflab::isolate {
namespace {

// Leaky, and never reset: hooks can be called as long as the process lives.
Tool* running_tool = nullptr;

struct Needed {
  const char* name;
  bool there;
};

// Everything that hooking and capturing calls without asking for it first. Entries that only some
// programs use are hooked where they exist.
std::vector<Needed> needed(const hsa::Api& api) {
#define PERFLAB_NEEDED_CORE(name)          \
  Needed {                                 \
    "hsa_" #name, api.core.name != nullptr \
  }
#define PERFLAB_NEEDED_AMD(name)              \
  Needed {                                    \
    "hsa_amd_" #name, api.amd.name != nullptr \
  }
  return {
      PERFLAB_NEEDED_CORE(system_get_info),
      PERFLAB_NEEDED_CORE(iterate_agents),
      PERFLAB_NEEDED_CORE(agent_get_info),
      PERFLAB_NEEDED_CORE(isa_get_info_alt),
      PERFLAB_NEEDED_CORE(queue_create),
      PERFLAB_NEEDED_CORE(queue_destroy),
      PERFLAB_NEEDED_CORE(queue_load_read_index_scacquire),
      PERFLAB_NEEDED_CORE(queue_load_write_index_scacquire),
      PERFLAB_NEEDED_CORE(queue_add_write_index_scacq_screl),
      PERFLAB_NEEDED_CORE(signal_create),
      PERFLAB_NEEDED_CORE(signal_destroy),
      PERFLAB_NEEDED_CORE(signal_store_relaxed),
      PERFLAB_NEEDED_CORE(signal_store_screlease),
      PERFLAB_NEEDED_CORE(signal_wait_scacquire),
      PERFLAB_NEEDED_CORE(signal_subtract_screlease),
      PERFLAB_NEEDED_CORE(executable_destroy),
      PERFLAB_NEEDED_CORE(executable_freeze),
      PERFLAB_NEEDED_CORE(executable_symbol_get_info),
      PERFLAB_NEEDED_CORE(executable_load_agent_code_object),
      PERFLAB_NEEDED_CORE(executable_iterate_agent_symbols),
      PERFLAB_NEEDED_CORE(code_object_reader_create_from_memory),
      PERFLAB_NEEDED_CORE(code_object_reader_destroy),
      PERFLAB_NEEDED_AMD(profiling_set_profiler_enabled),
      PERFLAB_NEEDED_AMD(profiling_get_dispatch_time),
      PERFLAB_NEEDED_AMD(memory_pool_get_info),
      PERFLAB_NEEDED_AMD(agent_iterate_memory_pools),
      PERFLAB_NEEDED_AMD(memory_pool_allocate),
      PERFLAB_NEEDED_AMD(memory_pool_free),
      PERFLAB_NEEDED_AMD(memory_async_copy),
      PERFLAB_NEEDED_AMD(agents_allow_access),
      PERFLAB_NEEDED_AMD(queue_intercept_create),
      PERFLAB_NEEDED_AMD(queue_intercept_register),
  };
#undef PERFLAB_NEEDED_CORE
#undef PERFLAB_NEEDED_AMD
}

Result<void> check_needed(const hsa::Api& api) {
  std::string missing;
  for (const Needed& entry : needed(api))
    if (!entry.there) missing += (missing.empty() ? "" : ", ") + std::string(entry.name);
  if (missing.empty()) return {};
  return fail(ErrorCode::missing_tool, "the runtime's tables lack what capturing needs: " + missing,
              "install ROCm 6.0 or later");
}

// Puts the hooks in place of what stands in the tables, where the runtime has such an entry.
void hook(const hsa::ApiTables& tables) {
  for (const auto& hooks : {queue_hooks(), code_hooks(), memory_hooks(), vmem_hooks()})
    for (const Hook& one : hooks) {
      void** const place = one.core ? hsa::slot(tables, *one.core) : hsa::slot(tables, *one.amd);
      if (place != nullptr && *place != nullptr) *place = one.function;
    }
}

Result<void> start(const hsa::ApiTables& tables, ProcessState& process) {
  const hsa::Api api = hsa::api_of(tables);
  PERFLAB_TRY_VOID(check_needed(api));
  PERFLAB_TRY(Topology machine, read_machine(api));
  running_tool = new Tool(process, api, std::move(machine));
  hook(tables);
  return {};
}

}  // namespace

Tool& tool() {
  return *running_tool;
}

void Tool::limit(std::string_view sentence) noexcept try {
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(limits_, sentence) == limits_.end()) limits_.emplace_back(sentence);
} catch (...) {
  return;  // no memory for a sentence
}

std::vector<std::string> Tool::limits() const {
  const std::lock_guard lock(mutex_);
  return limits_;
}

void load(const hsa::ApiTables& tables) {
  const auto process = process_state();
  if (!process || *process == nullptr) return;
  const auto started = start(tables, **process);
  if (started)
    (*process)->status.say("hooked", {{"platform", capture::to_string(capture::Platform::hip)}});
  else
    (*process)->status.say("unusable", {{"reason", started.error().message}});
}

}  // namespace perflab::isolate
