// The document `replay`: what `replay full-vm` ran and how long it took. It keeps the published
// fields kernel{name, hsaco_path}, execution{iterations, mode}, timing{unit, average, min, max} and
// environment{gpu_agent, rocm_version, pid}. Schema: schemas/replay.schema.json.
#pragma once

#include <optional>
#include <string>

#include "base/text/json.h"
#include "replay/device.h"
#include "replay/session/full_vm.h"
#include "stats/summary.h"

namespace perflab::report {

/// Everything that the document and the text are made from.
struct ReplayData {
  replay::FullVmResult result;
  std::uint64_t warmup = 0;  ///< dispatches that were not counted
  replay::DeviceFacts device;
  std::string code_object;       ///< file; relative to the capture when it is the captured one
  std::string code_object_hash;  ///< of that file
  bool original = true;          ///< it is the captured one
  std::string capture_folder;
  std::string capture_isa;  ///< of the GPU that the capture was taken on
  std::uint64_t ordinal = 0;
  int pid = 0;
};

/// Figures over the counted iterations, nanoseconds.
stats::DurationSummary replay_summary(const ReplayData& data);

/// Median of the replay through the time of the captured dispatch; missing: not measured then, or
/// another code object ran.
std::optional<double> ratio_to_captured(const ReplayData& data);

Json replay_document(const ReplayData& data);

}  // namespace perflab::report
