// The first call is made while a runtime starts, in one thread.
#include "isolate/protocol/process_state.h"

#include <utility>

#include "base/system/environment.h"

namespace perflab::isolate {
namespace {

// Leaky, and never reset: hooks can be called as long as the process lives.
ProcessState* the_process = nullptr;

}  // namespace

Result<ProcessState*> process_state() {
  if (the_process != nullptr) return the_process;
  auto settings = settings_from_environment();
  if (settings && !*settings) return nullptr;
  const std::string folder = settings ? (*settings)->status : environment(kStatusVariable);
  PERFLAB_TRY(auto opened, StatusLog::open(folder));
  StatusLog* const status = opened.release();  // lives as long as the process
  status->say("loaded");
  const auto unusable = [&](Error error) {
    status->say("unusable", {{"reason", error.message}});
    return std::unexpected(std::move(error));
  };
  if (!settings) return unusable(std::move(settings).error());
  auto pattern = Pattern::compile((*settings)->kernel);
  if (!pattern) return unusable(std::move(pattern).error());
  the_process = new ProcessState{.settings = std::move(**settings),
                                 .status = *status,
                                 .kernels = Kernels(std::move(*pattern), *status)};
  return the_process;
}

}  // namespace perflab::isolate
