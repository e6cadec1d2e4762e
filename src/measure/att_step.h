// The thread-trace step of a profile: choose a dispatch, run the target once more under
// `rocprofv3 --att`, once again on another CU when the first saw no wave, and add what was recorded
// to the analysis.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "att/read_thread_trace.h"
#include "base/error.h"
#include "collect/collect_plan.h"
#include "measure/profile_contents.h"

namespace perflab::measure {

/// What a thread-trace run left.
struct AttContents {
  std::vector<att::Found> traces;
  bool has_instructions = false;             ///< of at least one wave
  std::map<int, std::uint64_t> waves_on_cu;  ///< waves of the kernel seen to start, on any traced
                                             ///< shader engine; gfx10 and later: by WGP
};

/// Looks into a folder. `mangled_name`: of the kernel whose waves are meant. Errors: those of
/// att::find and att::read.
Result<AttContents> look_into_att(const std::filesystem::path& folder,
                                  const std::string& mangled_name);

/// The CU to try after `tried` showed nothing: the one on which most waves were seen (the lowest of
/// equal ones), or the next number when none was seen anywhere else.
int other_cu(const std::map<int, std::uint64_t>& waves_on_cu, int tried);

/// Takes the step: the thread trace becomes a part of the representative run's analysis. A step
/// that cannot be taken leaves the profile as it is, says why in its warnings and sets its problem
/// when it has none yet. Preconditions: the profile was analysed and options.att is set.
void take_thread_trace(const collect::CollectPlan& plan, const ProfileOptions& options,
                       Profile& profile);

}  // namespace perflab::measure
