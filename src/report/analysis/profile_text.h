// What a person sees of a profile.
#pragma once

#include <string>

#include "report/analysis/profile_document.h"
#include "report/kit/style.h"

namespace perflab::report {

/// The profile of the selected kernel; then its thread trace and what limits it, where those are
/// there, and in a line each those of the other kernels.
std::string profile_text(const ProfileData& data, const TerminalStyle& style);

}  // namespace perflab::report
