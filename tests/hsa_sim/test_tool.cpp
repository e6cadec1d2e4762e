// A tools library for the tests of the stand-in's loader: writes a line per event to the file that
// HSA_SIM_TEST_TOOL_LOG names. HSA_SIM_TEST_TOOL_DO=refuse: OnLoad answers false; =nested: it calls
// hsa_init; =watch: it hooks nothing. Built twice, under two names.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "hsa/api.h"

namespace {

using namespace perflab::hsa;

Api original{};
ApiTables* live_tables = nullptr;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

void write_line(const std::string& line) {
  std::FILE* const file = std::fopen(variable("HSA_SIM_TEST_TOOL_LOG").c_str(), "ae");
  if (file == nullptr) return;
  std::fprintf(file, "%s %s\n", PERFLAB_TOOL_NAME, line.c_str());
  std::fclose(file);
}

// Its destructor runs at the end of the process, before exit handlers that were there before.
struct Global {
  Global() { write_line("constructed"); }
  Global(const Global&) = delete;
  Global& operator=(const Global&) = delete;
  ~Global() { write_line("destroyed"); }
} global;

Status hooked_init() {
  write_line("hsa_init");
  return original.core.init();
}
Status hooked_shut_down() {
  write_line("hsa_shut_down");
  return original.core.shut_down();
}
Status hooked_executable_destroy(Executable executable) {
  write_line("hsa_executable_destroy");
  return original.core.executable_destroy(executable);
}
Status hooked_address_reserve(void** address, std::size_t size, std::uint64_t wish,
                              std::uint64_t flags) {
  write_line("hsa_amd_vmem_address_reserve");
  return original.amd.vmem_address_reserve(address, size, wish, flags);
}

void hook(ApiTables& tables) {
  *slot(tables, CoreEntry::init) = reinterpret_cast<void*>(hooked_init);
  *slot(tables, CoreEntry::shut_down) = reinterpret_cast<void*>(hooked_shut_down);
  *slot(tables, CoreEntry::executable_destroy) = reinterpret_cast<void*>(hooked_executable_destroy);
  if (void** const place = slot(tables, AmdEntry::vmem_address_reserve))
    *place = reinterpret_cast<void*>(hooked_address_reserve);
}

Status count_agent(Agent, void* count) {
  ++*static_cast<int*>(count);
  return Status::success;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) bool OnLoad(ApiTables* tables, std::uint64_t version,
                                                   std::uint64_t failed_count,
                                                   const char* const* failed_names) {
  original = api_of(*tables);
  std::string line = "OnLoad version " + std::to_string(version) + " failed";
  for (std::uint64_t i = 0; i < failed_count; ++i)
    line += ' ' + std::string(failed_names[i]).substr(std::string(failed_names[i]).rfind('/') + 1);
  int agents = 0;
  const Status status = original.core.iterate_agents(count_agent, &agents);
  line += " agents " + std::to_string(agents) + " status " +
          std::to_string(static_cast<unsigned>(status));
  write_line(line);
  if (variable("HSA_SIM_TEST_TOOL_DO") == "refuse") return false;
  if (variable("HSA_SIM_TEST_TOOL_DO") == "nested") original.core.init();
  live_tables = tables;
  if (variable("HSA_SIM_TEST_TOOL_DO") != "watch") hook(*tables);
  return true;
}

__attribute__((visibility("default"))) void OnUnload() {
  int agents = 0;
  const Status status = original.core.iterate_agents(count_agent, &agents);
  write_line("OnUnload status " + std::to_string(static_cast<unsigned>(status)));
}

/// The tables of the last OnLoad, for tests that load this tool into their own process.
__attribute__((visibility("default"))) ApiTables* hsa_sim_test_tables() {
  return live_tables;
}

}  // extern "C"
