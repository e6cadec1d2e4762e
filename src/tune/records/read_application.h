// The file that names the kernels of an application that are tuned together: docs/AUTOTUNE.md "A
// whole application".
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tune/space/launch_expressions.h"
#include "tune/space/space_description.h"
#include "tune/values/value.h"

namespace perflab::tune {

inline constexpr std::size_t kMostApplicationKernels = 64;

/// What measures a kernel's configurations.
enum class KernelSource {
  command,   ///< a command is run
  capture,   ///< a captured launch is replayed
  simulate,  ///< a recording of all of them is looked into
};
std::string_view to_string(KernelSource source);

/// How far the outputs of a captured launch may be off; not given: not at all.
struct ApplicationTolerance {
  std::string type;  ///< of the elements; empty: found
  std::optional<std::uint64_t> max_ulp = {};
  std::optional<double> relative = {}, absolute = {};
};

/// One kernel: members of autotune's options, as they are written there.
struct ApplicationKernel {
  std::string name;             ///< of it in the configuration file: letters, digits, '_', '-', '.'
  std::string pattern;          ///< of the names of its dispatches; the name when the file has none
  std::filesystem::path space;  ///< empty: inline, or the recorded configurations
  std::optional<SpaceDescription> described;  ///< inline
  std::vector<Binding> default_values;        ///< empty: the space's
  KernelSource source = KernelSource::command;
  std::filesystem::path capture, recording;  ///< of KernelSource::capture, of simulate
  std::string command, build, check, code_object;
  LaunchTexts launch;
  ApplicationTolerance tolerance;                      ///< of KernelSource::capture
  std::string objective, metric_pattern, metric_unit;  ///< empty: not given
  bool maximize = false;
};

struct Application {
  std::vector<ApplicationKernel> kernels;
  std::string command;  ///< of the whole application, with {config}; empty: none
  std::string metric_pattern, metric_unit;
  bool maximize = false;
};

/// The name that stands for the configuration file in Application::command.
inline constexpr std::string_view kConfigurationName = "config";

/// Files as they are written there. Error (bad_input): it is not of that form, a name that is no
/// name or there twice, members that exclude each other, a space that cannot be read.
Result<Application> parse_application(std::string_view text, std::string_view what);

}  // namespace perflab::tune
