// What every call passes first: counting, injected failures (HSA_SIM_FAULT) and the log
// (HSA_SIM_LOG). HSA_SIM_FAULT is a list, separated by commas, of NAME@N=WHAT: the N-th call of
// NAME ("*": every call) answers the status WHAT (0x1008); a reservation may "relocate", and a
// "dispatch" (or a "trap": one of the kernels that replay runs before each) may "hang" or "fault".
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "sim.h"

namespace perflab::hsa::sim {

std::atomic<bool> runtime_is_open{false};
std::atomic<bool> calls_are_watched{false};
std::atomic<bool> kernels_overlap{false}, handlers_get_one_packet{false};

namespace {

constexpr const char* kAll = "*";

struct Fault {
  std::string name;
  std::optional<std::uint64_t> number;  ///< missing: every call
  std::string what;
};

// Never destroyed: programs call the runtime from their exit handlers.
struct Watch {
  std::mutex mutex;
  std::vector<Fault> faults;
  std::vector<std::uint64_t> calls;  ///< per entry
  std::uint64_t dispatches = 0, traps = 0;
  int log = -1;
};

Watch& watch() {
  static Watch& instance = *new Watch;
  return instance;
}

thread_local bool relocate_this_call = false;

std::optional<std::uint64_t> number_of(std::string_view text) {
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Fault parse_fault(std::string_view text) {
  const std::size_t at = text.find('@'), equals = text.find('=');
  if (at == std::string_view::npos || equals == std::string_view::npos || equals < at)
    misuse("HSA_SIM_FAULT is not a list of NAME@N=WHAT");
  Fault fault{.name = std::string(text.substr(0, at)),
              .number = std::nullopt,
              .what = std::string(text.substr(equals + 1))};
  const std::string_view number = text.substr(at + 1, equals - at - 1);
  if (number == kAll) return fault;
  fault.number = number_of(number);
  if (!fault.number) misuse("HSA_SIM_FAULT has a call that is not a number");
  return fault;
}

const Fault* fault_of(std::string_view name, std::uint64_t number) {
  for (const Fault& fault : watch().faults)
    if (fault.name == name && (!fault.number || *fault.number == number)) return &fault;
  return nullptr;
}

const char* name_of(std::size_t entry) {
  const auto core = core_entries();
  return entry < core.size() ? core[entry].name : amd_entries()[entry - core.size()].name;
}

void log_call(const char* name, std::initializer_list<std::uint64_t> arguments) {
  std::string line = name;
  for (const std::uint64_t argument : arguments) {
    char text[24];
    std::snprintf(text, sizeof text, " 0x%llx", static_cast<unsigned long long>(argument));
    line += text;
  }
  line += '\n';
  [[maybe_unused]] const auto written = ::write(watch().log, line.data(), line.size());
}

}  // namespace

std::string_view setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool setting_is_on(const char* name) {
  return setting(name) == "1";
}

void misuse(const char* sentence) {
  std::fprintf(stderr, "hsa_sim: %s\n", sentence);
  std::fflush(stderr);
  std::abort();
}

void read_watch_settings() {
  kernels_overlap = setting_is_on("HSA_SIM_OVERLAP");
  handlers_get_one_packet = setting_is_on("HSA_SIM_ONE_PACKET");
  Watch& state = watch();
  const std::lock_guard lock(state.mutex);
  state.faults.clear();
  state.calls.assign(core_entries().size() + amd_entries().size(), 0);
  state.dispatches = state.traps = 0;
  std::string_view list = setting("HSA_SIM_FAULT");
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) state.faults.push_back(parse_fault(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  if (state.log >= 0) ::close(std::exchange(state.log, -1));
  if (!setting("HSA_SIM_LOG").empty())
    state.log = ::open(std::string(setting("HSA_SIM_LOG")).c_str(),
                       O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  calls_are_watched = state.log >= 0 || !state.faults.empty();
}

std::optional<Status> watch_call(std::size_t entry,
                                 std::initializer_list<std::uint64_t> arguments) {
  Watch& state = watch();
  const std::lock_guard lock(state.mutex);
  if (entry >= state.calls.size()) return std::nullopt;
  const char* name = name_of(entry);
  if (state.log >= 0) log_call(name, arguments);
  relocate_this_call = false;
  const Fault* fault = fault_of(name, ++state.calls[entry]);
  if (fault == nullptr) return std::nullopt;
  if (fault->what == "relocate") {
    relocate_this_call = true;
    return std::nullopt;
  }
  const auto status = number_of(fault->what);
  if (!status) misuse("HSA_SIM_FAULT has a status that is not a number");
  return static_cast<Status>(*status);
}

bool relocation_is_injected() {
  return std::exchange(relocate_this_call, false);
}

DispatchFault next_dispatch_fault(bool of_trap) {
  if (!calls_are_watched.load(std::memory_order_relaxed)) return DispatchFault::none;
  Watch& state = watch();
  const std::lock_guard lock(state.mutex);
  const Fault* fault =
      of_trap ? fault_of("trap", ++state.traps) : fault_of("dispatch", ++state.dispatches);
  if (fault == nullptr) return DispatchFault::none;
  return fault->what == "hang" ? DispatchFault::hang : DispatchFault::fault;
}

}  // namespace perflab::hsa::sim
