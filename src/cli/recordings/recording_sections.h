// What --details prints of a recording: the same for analyze and profile.
#pragma once

#include <string>
#include <vector>

#include "cli/kit/present.h"
#include "report/analysis/profile_document.h"

namespace perflab::cli {

/// Sections of what there is. `analyzed` must outlive them; `all_figures`: what has the figures
/// that the roofline's text leaves out.
std::vector<Section> recording_sections(const analyze::AnalyzedTrace& analyzed,
                                        const report::ProfileData& data,
                                        const std::string& all_figures);

}  // namespace perflab::cli
