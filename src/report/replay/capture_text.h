// A capture as a person sees it. Every figure here stands in the document too.
#pragma once

#include <string>

#include "report/kit/style.h"
#include "report/replay/capture_document.h"

namespace perflab::report {

/// Kernel, machine and regions; then what a check found.
std::string capture_text(const CaptureData& data, const TerminalStyle& style);

}  // namespace perflab::report
