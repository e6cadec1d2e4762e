// What of this machine rocm-perf can use, and what that means for each of its commands: tools,
// libraries, GPUs, permissions. Nothing is installed or changed; tools are asked for their
// versions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "doctor/calibration_here.h"

namespace perflab::doctor {

/// Everything that some command needs and that a machine may lack.
enum class Need : std::uint8_t {
  driver,           ///< the kernel's amdgpu driver, and the right to use it
  runtime,          ///< libhsa-runtime64, with a GPU
  profiler,         ///< rocprofv3
  decoder,          ///< librocprof-trace-decoder
  compiler,         ///< clang that compiles HIP for AMDGPU
  disassembler,     ///< llvm-objdump that knows AMDGPU
  source_reader,    ///< libclang
  network,          ///< libcurl
  capture_library,  ///< librocm_perf_isolate.so
  cluster,          ///< Slurm's commands
  sandbox,          ///< bubblewrap, and the right to make namespaces
  cuda_driver,      ///< NVIDIA's driver, with a GPU
  cupti,            ///< what records on NVIDIA's GPUs
  record_library,   ///< librocm_perf_record.so
};
/// Those that are looked for on every machine; the others where NVIDIA's driver is.
inline constexpr std::size_t kNeeds = 11;
/// "driver", "runtime", ...
std::string_view to_string(Need need);

enum class State : std::uint8_t {
  works,
  missing,
  unusable,  ///< there, but it cannot be used as it is
};
std::string_view to_string(State state);

/// One of the needs on this machine.
struct Part {
  Need need = Need::driver;
  State state = State::missing;
  std::string title{};                 ///< "rocprofv3"
  std::string version{};               ///< empty: none, or it does not say
  std::string path{};                  ///< empty: none, or not known
  std::vector<std::string> details{};  ///< sentences
  std::string problem{}, remedy{};     ///< unless it works
};

/// A GPU as the driver lists it (/sys/class/kfd), whether or not the runtime can be opened; or, in
/// a container without these files, as the runtime does; or as NVIDIA's driver does.
struct Gpu {
  std::optional<int> node;  ///< of the driver's topology; missing: only the runtime has it
  std::string processor{};  ///< "gfx942"
  std::string product{};    ///< as the runtime calls it; empty: not opened
  std::optional<int> compute_units{};
  bool known = false;                            ///< the architecture is in our tables
  bool compilable = false;                       ///< a HIP compiler of this machine knows it
  std::optional<CalibrationHere> calibration{};  ///< of its architecture; nullopt: none was made
};

/// What a command can do here.
enum class Readiness : std::uint8_t {
  ready,
  partly,  ///< it works, but for what some part would add
  not_ready,
};
std::string_view to_string(Readiness readiness);

/// Something that a command cannot do here.
struct Lack {
  Need need = Need::driver;
  std::string means;  ///< "no counters", a few words
};

struct CommandReadiness {
  std::string command;
  Readiness readiness = Readiness::ready;
  std::vector<Lack> lacks;
};

struct Examination {
  std::vector<Part> parts;  ///< one for each need, in its order; of NVIDIA's where its driver is
  std::vector<Gpu> gpus;    ///< by node
  std::vector<CommandReadiness> commands;
  std::string system, kernel;  ///< "Debian GNU/Linux 12 (bookworm)", "6.1.0-18-amd64"
};

/// Where to look; tests have folders of their own.
struct Places {
  std::filesystem::path devices = "/dev", system = "/sys", release = "/etc/os-release";
  /// Starts this program so that it prints agents_json(): the runtime may hang or crash.
  std::vector<std::string> agents_command{};
  std::filesystem::path processes = "/proc";
  /// The same for what print_cuda() prints.
  std::vector<std::string> cuda_command{};
};

/// Looks at everything; `readiness` of all commands. What is missing or broken is no error but an
/// answer. Error: interrupted.
Result<Examination> examine(const Places& places);

/// The commands that it knows, in the order of the help.
std::vector<std::string> command_names();

/// What each command can do with these parts, in the order of the help. `commands`: only these, all
/// when empty. Error (usage): no such command.
Result<std::vector<CommandReadiness>> readiness(const std::vector<Part>& parts,
                                                const std::vector<std::string>& commands);

/// `rocm-perf doctor-agents`: what the HSA runtime says of itself and of its agents, as one JSON
/// object on stdout. Returns the exit code.
int print_agents();

}  // namespace perflab::doctor
