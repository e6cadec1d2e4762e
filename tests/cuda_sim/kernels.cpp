// Running a launch of a module's function: its arguments, its body, and what a fault of it does.
#include <dlfcn.h>

#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "cuda_sim/driver_faults.h"
#include "cuda_sim/modules.h"
#include "hsa_sim/kernel_bodies.h"

namespace perflab::cuda_sim {
namespace {

// Where a kernel of this thread goes on when it touches what is no memory.
thread_local sigjmp_buf* way_out = nullptr;
struct sigaction before{};

void on_fault(int signal, siginfo_t* info, void* context) {
  if (way_out != nullptr) siglongjmp(*way_out, 1);
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr)
    return before.sa_sigaction(signal, info, context);
  std::signal(signal, SIG_DFL);
}

void watch_faults() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action{};
    action.sa_sigaction = &on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, &before);
    sigaction(SIGBUS, &action, nullptr);
  });
}

constexpr std::uint32_t kMultiprocessors = 132;  // as cuDeviceGetAttribute says

struct Run {
  FunctionState* function;
  Launch shape;
  std::vector<std::byte> arguments;
  LaunchFault fault;
};

std::uint64_t product(const Dimensions& a) {
  return static_cast<std::uint64_t>(a.x) * static_cast<std::uint64_t>(a.y) *
         static_cast<std::uint64_t>(a.z);
}

// The library's function of the kernel; false: it has none.
bool run_in_library(const Run& run, Outcome& outcome) {
  void* const library = run.function->module->library;
  if (library == nullptr) return false;
  using Call = void (*)(const void*, const std::uint32_t*, const std::uint32_t*);
  const auto call =
      reinterpret_cast<Call>(dlsym(library, ("hsa_sim_call_" + run.function->image->body).c_str()));
  if (call == nullptr) return false;
  const auto& [grid, block] = std::tie(run.shape.grid, run.shape.block);
  const std::uint32_t items[] = {static_cast<std::uint32_t>(grid.x * block.x),
                                 static_cast<std::uint32_t>(grid.y * block.y),
                                 static_cast<std::uint32_t>(grid.z * block.z)};
  const std::uint32_t group[] = {static_cast<std::uint32_t>(block.x),
                                 static_cast<std::uint32_t>(block.y),
                                 static_cast<std::uint32_t>(block.z)};
  using Work = std::uint64_t (*)();
  const auto work = reinterpret_cast<Work>(dlsym(library, "hsa_sim_work"));
  const std::uint64_t before_it = work == nullptr ? 0 : work();
  call(run.arguments.data(), items, group);
  if (work != nullptr) outcome.nanoseconds = work() - before_it;
  return true;
}

void* variable_of(const ModuleState& module, std::string_view name, std::uint64_t bytes) {
  const auto at = module.variables.find(std::string(name));
  if (at == module.variables.end() || at->second.second < bytes) return nullptr;
  return reinterpret_cast<void*>(at->second.first);  // NOLINT(performance-no-int-to-ptr)
}

void run_function(const Run& run, const std::atomic<bool>& stop, Outcome& outcome) {
  if (run_in_library(run, outcome)) return;
  const ImageKernel& image = *run.function->image;
  const bool found = test::run_body(
      image.body, {.arguments = run.arguments.data(),
                   .work_items = product(run.shape.grid) * product(run.shape.block),
                   .group = static_cast<std::uint64_t>(run.shape.block.x),
                   .compute_units = kMultiprocessors,
                   .group_segment_bytes = image.shared_bytes + static_cast<std::uint32_t>(
                                                                   run.shape.dynamic_shared_memory),
                   .private_segment_bytes = image.local_bytes,
                   .variable =
                       [&](std::string_view name, std::uint64_t bytes) {
                         return variable_of(*run.function->module, name, bytes);
                       },
                   .stop = stop});
  if (!found) outcome.answer = DriverResult::launch_failed;
}

Outcome guarded(const Run& run, const std::atomic<bool>& stop) {
  watch_faults();
  sigjmp_buf here;
  // What the body held is lost, as what a GPU's kernel held is.
  if (sigsetjmp(here, 1) != 0) {
    way_out = nullptr;
    return {.answer = DriverResult::illegal_address};
  }
  way_out = &here;
  Outcome outcome;
  if (run.fault == LaunchFault::fault) {
    outcome.answer = DriverResult::illegal_address;
  } else if (run.fault == LaunchFault::hang) {
    while (!stop) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } else {
    run_function(run, stop, outcome);
  }
  way_out = nullptr;
  return outcome;
}

}  // namespace

bool take_arguments(const FunctionState& function, void** parameters, void** extra,
                    std::vector<std::byte>& buffer) {
  if (function.image == nullptr) return true;
  const auto& wanted = function.image->parameters;
  const std::size_t bytes = wanted.empty() ? 0 : wanted.back().first + wanted.back().second;
  buffer.resize(bytes);
  if (bytes == 0) return true;
  if (parameters != nullptr && extra != nullptr) return false;
  if (parameters != nullptr) {
    for (std::size_t i = 0; i < wanted.size(); ++i)
      std::memcpy(buffer.data() + wanted[i].first, parameters[i], wanted[i].second);
    return true;
  }
  if (extra == nullptr) return false;
  const void* from = nullptr;
  std::size_t given = 0;
  for (void** word = extra; reinterpret_cast<std::uintptr_t>(*word) != cuda::launch_parameter::end;
       word += 2) {
    const auto what = reinterpret_cast<std::uintptr_t>(word[0]);
    if (what == cuda::launch_parameter::buffer_pointer) from = word[1];
    if (what == cuda::launch_parameter::buffer_size)
      given = *static_cast<const std::size_t*>(word[1]);
  }
  if (from == nullptr || given < bytes) return false;
  std::memcpy(buffer.data(), from, bytes);
  return true;
}

Body body_of_launch(FunctionState& function, const Launch& shape,
                    std::vector<std::byte> arguments) {
  if (function.image == nullptr) return {};
  // Bodies read whole structures: behind the last parameter there may be padding.
  constexpr std::size_t kAlignment = 16;
  arguments.resize((arguments.size() + kAlignment - 1) / kAlignment * kAlignment);
  // Kernels of replay itself are not counted among the launches.
  const bool trap = function.image->body.starts_with("left_memory_");
  const bool own = trap || function.image->body.starts_with("perflab_");
  if (trap && std::getenv("CUDA_SIM_NO_TRAP") != nullptr)
    return [](const std::atomic<bool>&) { return Outcome{}; };
  return [run = Run{.function = &function,
                    .shape = shape,
                    .arguments = std::move(arguments),
                    .fault = own ? LaunchFault::none : next_launch_fault()}](
             const std::atomic<bool>& stop) { return guarded(run, stop); };
}

}  // namespace perflab::cuda_sim
