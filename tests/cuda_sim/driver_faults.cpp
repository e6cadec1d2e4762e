// CUDA_SIM_FAULT="cuMemCreate@2=2,cuMemAddressReserve@*=relocate,launch@1=hang": the N-th call of
// that name (*: every one) answers so.
#include "cuda_sim/driver_faults.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace perflab::cuda_sim {
namespace {

struct Fault {
  std::string call;
  std::uint64_t number = 0;  ///< 0: every one
  std::string what;
};

const std::vector<Fault>& faults() {
  static const auto* all = [] {
    auto* list = new std::vector<Fault>;
    const char* const value = std::getenv("CUDA_SIM_FAULT");
    std::string_view rest = value == nullptr ? "" : value;
    while (!rest.empty()) {
      const std::string_view one = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), one.size() + 1));
      const std::size_t at = one.find('@');
      const std::size_t equals = one.find('=');
      if (at == std::string_view::npos || equals == std::string_view::npos) continue;
      list->push_back(
          {.call = std::string(one.substr(0, at)),
           .number = std::strtoull(std::string(one.substr(at + 1)).c_str(), nullptr, 10),
           .what = std::string(one.substr(equals + 1))});
    }
    return list;
  }();
  return *all;
}

std::mutex lock;
std::map<std::string, std::uint64_t, std::less<>> counted;
thread_local bool relocates = false;

// What is to happen to this call; empty: nothing.
std::string_view next_fault(std::string_view call) {
  if (faults().empty()) return {};
  const std::lock_guard held(lock);
  const std::uint64_t number = ++counted[std::string(call)];
  for (const Fault& fault : faults())
    if (fault.call == call && (fault.number == 0 || fault.number == number)) return fault.what;
  return {};
}

}  // namespace

std::optional<cuda::DriverResult> injected_answer(const CallName& call) {
  const std::string_view what = next_fault(call.name);
  relocates = what == "relocate";
  if (what.empty() || relocates) return std::nullopt;
  return cuda::DriverResult{
      static_cast<std::uint32_t>(std::strtoul(std::string(what).c_str(), nullptr, 10))};
}

bool relocation_is_injected() {
  return relocates;
}

LaunchFault next_launch_fault() {
  const std::string_view what = next_fault("launch");
  if (what == "hang") return LaunchFault::hang;
  return what == "fault" ? LaunchFault::fault : LaunchFault::none;
}

}  // namespace perflab::cuda_sim
