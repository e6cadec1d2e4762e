// Start and end of the runtime, and the tools libraries of HSA_TOOLS_LIB (docs/facts/hsa_runtime.md
// "Load and unload of tools", "HSA_TOOLS_LIB"). A nested hsa_init in OnLoad waits forever for the
// lock, as it does there.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <mutex>

#include "sim.h"

namespace perflab::hsa::sim {
namespace {

using OnLoad = bool(ApiTables* table, std::uint64_t runtime_version, std::uint64_t failed_count,
                    const char* const* failed_names);
using OnUnload = void();

struct Tool {
  std::string name;
  void* library = nullptr;
};

struct Runtime {
  std::mutex mutex;
  int users = 0;
  std::vector<Tool> tools;  ///< loaded, in order
};

Runtime& runtime() {
  static Runtime& instance = *new Runtime;
  return instance;
}

// "HSA_TOOLS_LIB": separated by spaces only.
std::vector<std::string> tool_names() {
  std::vector<std::string> names;
  std::string_view list = setting("HSA_TOOLS_LIB");
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    const std::string name(list.substr(0, end));
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return names;
}

// Whether the library took the tables; those before it that failed are told to it.
bool load_tool(const std::string& name, const std::vector<std::string>& failed) {
  void* const library = ::dlopen(name.c_str(), RTLD_NOW);
  if (library == nullptr) {
    if (setting("HSA_TOOLS_REPORT_LOAD_FAILURE") != "0")
      std::fprintf(stderr, "Tool lib \"%s\" failed to load.\n", name.c_str());
    return false;
  }
  std::vector<const char*> names;
  for (const std::string& one : failed) names.push_back(one.c_str());
  auto* const on_load = reinterpret_cast<OnLoad*>(::dlsym(library, "OnLoad"));
  if (on_load == nullptr ||
      !on_load(&live_tables(), live_tables().version.major, names.size(), names.data())) {
    ::dlclose(library);
    return false;
  }
  runtime().tools.push_back({.name = name, .library = library});
  return true;
}

// "HSA_TOOLS_LIB": with a rocprofiler-register client the variable is not looked at.
void load_tools() {
  if (setting_is_on("HSA_SIM_ROCPROFILER") && !setting_is_on("HSA_TOOLS_DISABLE_REGISTER") &&
      !setting_is_on("HSA_TOOLS_ROCPROFILER_V1_TOOLS"))
    return;
  std::vector<std::string> failed;
  for (const std::string& name : tool_names())
    if (!load_tool(name, failed)) failed.push_back(name);
}

// Libraries stay loaded: their destructors run at the end of the process.
void unload_tools() {
  auto& tools = runtime().tools;
  for (auto tool = tools.rbegin(); tool != tools.rend(); ++tool)
    if (auto* const on_unload = reinterpret_cast<OnUnload*>(::dlsym(tool->library, "OnUnload")))
      on_unload();
  tools.clear();
}

}  // namespace

namespace core_calls {

Status init() {
  Runtime& all = runtime();
  const std::lock_guard lock(all.mutex);
  if (all.users++ > 0) return Status::success;
  reset_tables();
  start_agents();
  start_addresses();
  runtime_is_open = true;
  load_tools();
  return Status::success;
}

Status shut_down() {
  Runtime& all = runtime();
  const std::lock_guard lock(all.mutex);
  if (all.users == 0) return Status::not_initialized;
  if (--all.users > 0) return Status::success;
  runtime_is_open = false;
  unload_tools();
  reset_tables();
  stop_async_events();
  stop_queues();
  stop_copies();
  stop_code_objects();
  stop_vmem();
  stop_memory();
  stop_addresses();
  return Status::success;
}

Status status_string(Status status, const char** text) {
  struct Named {
    Status status;
    const char* text;
  };
  static constexpr Named names[] = {
      {Status::success, "HSA_STATUS_SUCCESS: the call succeeded"},
      {Status::error, "HSA_STATUS_ERROR: a generic error"},
      {Status::invalid_argument, "HSA_STATUS_ERROR_INVALID_ARGUMENT: an argument is not valid"},
      {Status::invalid_allocation, "HSA_STATUS_ERROR_INVALID_ALLOCATION: no such allocation"},
      {Status::out_of_resources, "HSA_STATUS_ERROR_OUT_OF_RESOURCES: resources are lacking"},
      {Status::not_initialized, "HSA_STATUS_ERROR_NOT_INITIALIZED: the runtime is not open"},
      {Status::memory_fault, "HSA_STATUS_ERROR_MEMORY_FAULT: an agent touched memory it may not"},
  };
  if (text == nullptr) return Status::invalid_argument;
  const auto* const found = std::ranges::find(names, status, &Named::status);
  if (found == std::end(names)) return Status::invalid_argument;
  *text = found->text;
  return Status::success;
}

}  // namespace core_calls
}  // namespace perflab::hsa::sim
