// The command templates of autotune: parsed against a space before anything runs, and filled with
// the winner's values at the end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "tune/space/command_template.h"
#include "tune/space/space.h"

namespace perflab::measure {

/// Command templates as typed; empty: none.
struct AutotuneTemplates {
  std::string command, build, check;
  std::string code_object;  ///< path of the file that holds the built kernel
};

struct Templates {
  std::optional<tune::CommandTemplate> run, build, check, code_object;
  std::optional<tune::CommandTemplate> launched;  ///< of a capture: the file that a build leaves
};

/// Name that stands for {build_dir} in what filled_template() gives.
inline constexpr const char* kBestBuildFolder = "tuned";

/// Parameters, then derived values: what expressions may use.
std::vector<std::string> value_names(const tune::Space& space);

/// Errors (usage): an unknown name, a build that does not say where a captured launch's code goes.
Result<Templates> parse_templates(const AutotuneTemplates& texts, bool captured,
                                  const tune::Space& space);

/// Error (missing_tool): every configuration would fail, for want of the program.
Result<void> check_program(const tune::CommandTemplate& command);

/// A template with the winner's values; empty without either. `launched`: Templates::launched, of a
/// build.
Result<std::vector<std::string>> filled_template(
    const std::optional<tune::CommandTemplate>& one,
    const std::optional<tune::CommandTemplate>& launched, const tune::Space& space,
    const std::optional<tune::ConfigId>& winner);

}  // namespace perflab::measure
