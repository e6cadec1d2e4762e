// Settings of the tools library, read once in OnLoad.
#include "isolate/protocol/settings.h"

#include "base/system/environment.h"
#include "base/text/numbers.h"

namespace perflab::isolate {
namespace {

// A whole number from 1 on; `otherwise` when the variable is not set.
Result<std::uint64_t> positive_number(const char* variable, std::uint64_t otherwise) {
  const std::string text = environment(variable);
  if (text.empty()) return otherwise;
  const std::uint64_t value = whole_number(text).value_or(0);
  if (value == 0)
    return fail(ErrorCode::usage,
                std::string(variable) + " is not a whole number of at least 1: \"" + text + "\"");
  return value;
}

}  // namespace

Result<std::optional<Settings>> settings_from_environment() {
  Settings settings;
  settings.status = environment(kStatusVariable);
  if (settings.status.empty()) return std::nullopt;
  settings.kernel = environment(kKernelVariable);
  settings.folder = environment(kFolderVariable);
  if (settings.folder.empty())
    return fail(ErrorCode::usage, std::string(kFolderVariable) + " is not set");
  PERFLAB_TRY(settings.dispatch, positive_number(kDispatchVariable, settings.dispatch));
  PERFLAB_TRY(settings.patience_ms, positive_number(kPatienceVariable, settings.patience_ms));
  return settings;
}

}  // namespace perflab::isolate
