// The profile of a command that was run here: what of its runs the documents show.
#pragma once

#include <string>
#include <vector>

#include "measure/profile.h"
#include "report/analysis/profile_document.h"
#include "report/analysis/recording_documents.h"

namespace perflab::report {

/// What profile.json is made from. `profile` must outlive it; `command`: the words that were run.
ProfileData profile_of_command(const measure::Profile& profile,
                               const std::vector<std::string>& command);

/// profile, and those of the representative recording, where there is one.
std::vector<NamedDocument> profile_documents(const ProfileData& data,
                                             const RecordingRequest& request);

}  // namespace perflab::report
